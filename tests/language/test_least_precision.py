"""The p that a model is wired for: what is certified of it and of the next smaller one, of numbers n and of symbols for n."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from constructions.language.compiler import Compiler
from constructions.language.digits import LEADING, are_below, least_exponent, round_up
from constructions.language.files import names_of_gallery
from precision.format import Discipline
from tests.gallery import PAGE, rows_of
from tests.language.compiled import Compiled
from tests.language.programs import Written
from verify.algebra.interval import symbol, values
from verify.algebra.samples import some_n
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk, n_of
from verify.certificates.building import part_of
from verify.certificates.document import CERTIFIED, certificate
from verify.dossiers.dossier import Subject
from verify.dossiers.written import find_program

MORE_THAN_LEAST = {("addition", 7)}
MANY_CASES = {"tree", "dyck_bounded"}  # a certificate takes seconds: test_gallery.py has their theorems at n = 6
FAR_ABOVE_FAILURES = {"post"}  # its texts have room for more steps than its runs take


def certified(name: str, n: int, p: int, discipline: Discipline) -> bool:
    """Whether the checker certifies the rounding at this p."""
    dossier = find_program(name)
    assert dossier is not None
    return bool(certificate(Subject(dossier, n, None, p, discipline))["verdict"] == CERTIFIED)


def wired(name: str, n: int, discipline: Discipline = Discipline.FUSED) -> int:
    dossier = find_program(name)
    assert dossier is not None
    return dossier.least_precision(Subject(dossier, n, None, None, discipline))


@pytest.mark.parametrize("name", names_of_gallery())
def test_the_wired_p_is_certified_and_two_bits_less_are_not(name: str) -> None:
    for n in (4, 7, 20, 1000):
        p = wired(name, n)
        assert name in MANY_CASES or certified(name, n, p, Discipline.FUSED), n
        if p > 5 and (name, n) not in MORE_THAN_LEAST:
            assert not certified(name, n, p - 2, Discipline.FUSED), n


@pytest.mark.parametrize("name", names_of_gallery())
def test_the_wired_p_under_sequential_is_certified_and_four_bits_less_are_not(name: str) -> None:
    for n in (100,) if name in MANY_CASES else (8, 100):
        p = wired(name, n, Discipline.SEQUENTIAL)
        assert certified(name, n, p, Discipline.SEQUENTIAL), n
        assert p == 5 or not certified(name, n, p - 4, Discipline.SEQUENTIAL), n


def test_prompts_fail_nearly_as_high_as_the_page_says_what_is_certified() -> None:
    """From the wired p on, and below it at most 4 bits."""
    rows = rows_of(PAGE.read_text(encoding="utf-8"))
    for name, (*_, p, certified_from, fails_at, _) in rows.items():
        assert p == certified_from, name
        if fails_at == "none":
            assert int(p) == 5
        elif name not in FAR_ABOVE_FAILURES:
            assert int(p) <= int(fails_at) + 4, name


@pytest.mark.parametrize("name", ["induction", "reverse", "sorting", "first", "dyck"])
@pytest.mark.parametrize("discipline", Discipline)
def test_a_symbol_has_the_p_of_each_n(name: str, discipline: Discipline) -> None:
    dossier = find_program(name)
    assert dossier is not None

    def least(n: int) -> int:
        return Compiler(dossier.written, n).least_precision(discipline)  # type: ignore[attr-defined]

    actual = [*values(least, 4, 1 << 40)]
    assert [p for _, p in actual] == sorted(p for _, p in actual)
    ends = [(low, p) for low, p in actual] + [(low - 1, p) for (_, p), (low, _) in itertools.pairwise(actual)]
    assert [(n, p) for n, p in ends if least(n) != p] == []


def test_beyond_so_many_digits_weights_are_of_n_itself() -> None:
    """p alone is that of n rounded up: the weights of a symbol are held against those of three n."""
    dossier = find_program("copying")
    assert dossier is not None
    assert part_of(Subject(dossier, 65535), 10**6).high > 65536


def test_p_is_due_to_something() -> None:
    def due(name: str, n: int) -> tuple[str, ...]:
        dossier = find_program(name)
        assert dossier is not None
        return Compiler(dossier.written, n).binding()  # type: ignore[attr-defined]

    assert due("induction", 8) == ("block 3, last where number@1 = number",)
    assert due("first", 8) == ("block 2, at the start",)
    assert due("trigram_search", 8)[:2] == ("register number_squared", "the logits of numbers")


@pytest.mark.parametrize("says", ["select(position, number + 1).first(select(position, number + 1).first(number))"])
@pytest.mark.parametrize("n", [5, 6, 20])
def test_two_heads_that_ask_for_one_position(says: str, n: int) -> None:
    """A second head knows, as the first one did, that the position which is asked for lies before the query."""
    compiled = Compiled(Written(says, "some(numbers(0))").program, n)
    assert compiled.certified, compiled.report
    assert not Compiled(compiled.program, n, p=compiled.compiler.least_precision() - 2).certified


# Numbers that depend on n


def test_n_is_rounded_up_to_its_first_digits() -> None:
    assert [round_up(n) for n in (1, 2**LEADING - 1, 2**LEADING, 2**LEADING + 1)] == [1, 65535, 65536, 65538]
    assert round_up((1 << 70) + 1) == (1 << 70) + (1 << 55)
    assert are_below(8, [255, 1], 8)
    assert not are_below(8, [256], 8)
    assert least_exponent(8, [3, 256]) == 9


def test_an_interval_is_cut_to_where_numbers_are_below() -> None:
    n = symbol(4, 1 << 70)
    assert not are_below(n, [n * n], 4)
    assert n.oracle.high == 1 << 70  # nor are they below it anywhere after it
    assert are_below(n, [n * n, n + 100], 10)
    assert n.oracle.high == 31
    n = symbol(1 << 20, 1 << 70)
    assert are_below(n, [n], 30)
    assert round_up(n.oracle.high) < 1 << 30 <= round_up(n.oracle.high + 1)
    with pytest.raises(TypeError):
        n.are_at_most([100 - n], 1, LEADING)


@pytest.mark.parametrize(("factor", "shift"), [(1, 0), (3, 0), (4, 2), (5, 1)])
def test_a_number_that_grows_is_below_where_numbers_are(factor: int, shift: int) -> None:
    """All cases of n from 2^63 on, at one n of each."""
    answers = []

    def value(n: Any) -> Any:
        return (n + 2) * (n + 2) * factor

    def asked(walk: Walk) -> None:
        n = n_of(walk)
        exponent = 2 * n.bit_length() + shift
        answer, least = are_below(n, [value(n)], exponent), least_exponent(n, [value(n)])
        one = some_n(walk.box, walk.forks)
        assert one is not None
        number = value(round_up(one))
        answers.append(answer)
        assert are_below(one, [number], 2 * one.bit_length() + shift) == answer
        assert least.value_at({"B": one.bit_length()}) <= least_exponent(one, [number]) if answer else True

    theorem_of(asked, 7)
    assert {*answers} == {True, False} if factor != 4 else {True}


# Positions that may saturate


def test_a_position_that_is_compared_alone_may_saturate() -> None:
    third = Written('choose(position == 3, "yes", "no")', 'some(words("a", "b"))')
    for n in (4, 1000):
        compiled = Compiled(third.program, n)
        assert (compiled.compiler.least_precision(), compiled.certified) == (7, True)
        assert not Compiled(third.program, n, p=5).certified  # the number 4, the next one, is above all that there are
    under_sequential = Compiled(third.program, 1000, Discipline.SEQUENTIAL)
    assert (under_sequential.compiler.least_precision(Discipline.SEQUENTIAL), under_sequential.certified) == (23, True)


@pytest.mark.parametrize("says", ["position == number", "number.back(1) == 1"])
def test_other_positions_must_fit(says: str) -> None:
    """Beside a register, and as a key."""
    compiled = Compiled(Written(f'choose({says}, "yes", "no")', "some(numbers(0, 3))").program, 1000)
    assert compiled.compiler.least_precision() >= 21
    assert compiled.certified
