"""A number that stands for n: what it would get wrong at some n it does not answer; a builder that asks is not certified."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.wiring import part
from tests.verify.certificates.walks import SIZES, at, require_unknown, surveyed, walk_of
from tests.verify.numbers_at import values_at
from verify.algebra.quotients import Unanswered, interned, negated
from verify.algebra.samples import some_n
from verify.algebra.symbolic import Symbolic, at_most, common_divisor, grows
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk, n_of
from verify.dossiers.registry import find_subject
from verify.trusted.growth import check, plus, root

own_gap = part.least_gap


def walk() -> Walk:
    return Walk(root(7, 1))


@pytest.mark.parametrize(
    "use",
    [
        hash,
        str,
        lambda n: n in {2**70, 2**80},
        lambda n: {2**70: 1}.get(n),
        lambda n: cache(lambda x: x + 1)(n),
        lambda n: f"{n:b}",
        lambda n: n == 2.0**70,
        lambda n: n & 1,
        lambda n: n.as_integer_ratio(),
        lambda n: (n / 3).bit_length(),
        lambda n: 1 << (100 - n.bit_length()),
        lambda n: 2 ** (100 - n.bit_length()),
        lambda n: common_divisor([n % 3, n]),
    ],
)
def test_what_would_be_wrong_at_some_n_is_not_answered(use: Callable[[Any], object]) -> None:
    """In one case at least."""
    with pytest.raises(Unanswered):
        theorem_of(lambda walk: use(n_of(walk)), 7)


def bits(x: Any) -> Any:
    if not grows(x) and (x <= 0 or x != int(x)):
        raise Unanswered("the bit length of no positive whole number")
    return x.bit_length() if grows(x) else int(x).bit_length()


def power(x: Any) -> Any:
    if not grows(x) and (x != int(x) or abs(x) > 5000):
        raise Unanswered("a power that is too long")
    return Fraction(2) ** x


ONE_ARGUMENT: list[Callable[[Any], Any]] = [
    bits,
    power,
    abs,
    math.floor,
    math.ceil,
    bool,
    lambda x: x * x,
    lambda x: -x,
]
TWO_ARGUMENTS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x * Fraction(1) / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    max,
    min,
    lambda x, y: 1 if x < y else 2,
    lambda x, y: 1 if x <= y else 2,
    lambda x, y: 1 if x >= y else 2,
    lambda x, y: 3 if x == y else 5,
]
PROGRAMS: st.SearchStrategy[Callable[[Any], Any]] = st.recursive(
    st.sampled_from([lambda n: n, lambda n: n + 3, bits, lambda n: bits(bits(n)), lambda n: power(bits(n))])
    | st.sampled_from([-2, 1, 2, 3, 7, Fraction(1, 2), Fraction(-5, 3)]).map(lambda c: lambda n: c),
    lambda inner: (
        st.tuples(st.sampled_from(ONE_ARGUMENT), inner).map(lambda of: lambda n: of[0](of[1](n)))
        | st.tuples(st.sampled_from(TWO_ARGUMENTS), inner, inner).map(lambda of: lambda n: of[0](of[1](n), of[2](n)))
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(PROGRAMS, SIZES | st.sampled_from([2**64, 2**127, 2**200, 3 * 2**80]))
def test_what_a_program_makes_of_it_is_what_it_makes_of_each_n(program: Callable[[Any], Any], n: int) -> None:
    try:
        walk, actual = walk_of(n, lambda walk: program(n_of(walk)))
    except (Unanswered, ZeroDivisionError):
        return
    values = values_at(n)
    for i, floor in enumerate(walk.floors):  # the first ones first: others may be of them
        values[f"f{i}"] = at(Symbolic(floor, walk), n, values) % 1
    assert at(actual, n, values) == program(n)


def test_a_number_is_asked_in_its_own_case_alone() -> None:
    kept: list[Any] = []

    def program(walk: Walk) -> None:
        kept.append(n_of(walk))
        assert kept[-1] > 7

    theorem_of(program, 7)
    for use in (lambda: kept[0] > 5, lambda: kept[0] > 7):  # the second one was asked, and answered, in time
        with pytest.raises(Unanswered, match="is done with"):
            use()
    one, other = n_of(walk()), n_of(walk())
    for use in (
        lambda: one + other,
        lambda: one * other,
        lambda: one == other,
        lambda: one < other,
        lambda: one / other,
    ):
        with pytest.raises(Unanswered, match="of another case"):
            use()


@pytest.mark.parametrize("asks", [True, False])
def test_a_program_that_asks_something_else_or_nothing_when_it_is_run_again(asks: bool) -> None:
    """If nothing, the other part would be a case of which nothing was asked."""
    runs: list[Any] = []

    def program(walk: Walk) -> None:
        runs.append(walk)
        n, again = n_of(walk), len(runs) > 1
        assert (again and not asks) or (n > 3 * 2 ** (n.bit_length() - 2) + again) in (True, False)

    with pytest.raises(Unanswered, match="asked before"):
        theorem_of(program, 7)


def test_what_is_not_seen_may_be_seen_behind_a_split() -> None:
    n = n_of(walk())
    eighth = 2 ** (n.bit_length() - 3)
    assert not at_most(n, 6 * eighth)
    assert not at_most(5 * eighth, n)
    if n <= 5 * eighth:
        assert at_most(n, 6 * eighth)
    else:
        assert at_most(5 * eighth, n)


def test_what_is_rounded_down_again_and_again_is_whole() -> None:
    n = n_of(walk())
    for divisor in (3, 5, 7, 11, 13):
        n = n // divisor
        assert n.is_whole
    assert not (n / 3).is_whole


WRONG: dict[str, Callable[[Any], Any]] = {
    "at one n": lambda length: length == 2**70,
    "at some n of a table": lambda length: length in {2**70, 3**70},
    "from some n on": lambda length: length > 10**100,
    "up to some n": lambda length: length < 2**65,
    "where the bit length is a power of two": lambda length: (
        2 ** (length.bit_length().bit_length() - 1) == length.bit_length()
    ),
    "at every third n": lambda length: length % 3 == 0,
    "at every other bit length": lambda length: length.bit_length() % 2,
    "by its decimal digits": lambda length: str(length).endswith("7"),
    "by its hash": lambda length: hash(length) % 5 == 0,
    "just below a power of two": lambda length: length > 2 ** length.bit_length() - 3,
}


@pytest.mark.parametrize("where", WRONG.values(), ids=WRONG.keys())
def test_a_margin_that_is_wrong_at_some_n_is_not_certified(
    where: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "least_gap", lambda q, length: own_gap(q, length) // (4 if where(length) else 1))
    require_unknown(find_subject("index", 4))


def test_an_error_of_a_builder_is_not_taken_for_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def gap(q: Any, length: Any) -> Any:
        raise AttributeError("a slip")

    monkeypatch.setattr(part, "least_gap", gap)
    with pytest.raises(AttributeError, match="a slip"):
        surveyed(find_subject("index", 4))


KINDS: dict[str, Callable[[Any], Any]] = {
    "isinstance": lambda length: isinstance(length, int),
    "type": lambda length: type(length) is int,
    "a name": lambda length: f"{length}".isdecimal(),
    "a float": lambda length: length / 3 * 3 != length,
}


@pytest.mark.parametrize("is_number", KINDS.values(), ids=KINDS.keys())
def test_a_builder_that_tells_a_number_from_what_stands_for_it(
    is_number: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "least_gap", lambda q, length: own_gap(q, length) // (4 if is_number(length) else 1))
    assert "has other weights than what stands for it" in require_unknown(find_subject("index", 4))[1]


def test_what_holds_of_all_n_is_shown_once_for_all_cases() -> None:
    """After a split it is asked in both parts; what holds in one of them alone stands there."""

    def program(walk: Walk) -> None:
        n = n_of(walk)
        wide = n >= 3 * 2 ** (n.bit_length() - 2)
        assert n * n > 7 * n
        assert not wide or 4 * n > 2 * 2 ** n.bit_length() + n.bit_length()

    theorem = theorem_of(program, 7)
    check(json.loads(json.dumps(theorem)), {})
    places = {text: i for i, (text, _) in enumerate(theorem["inequalities"])}
    for case in theorem["cases"]:
        assert places["-7 + 1*n"] in case["shown"]
        assert [part["shown"] for part in case["parts"]] == [[places["-1*B + -2*E + 4*n"]], []]


@given(
    st.lists(
        st.tuples(st.sampled_from("nBEVv"), st.integers(-2, 2), st.fractions(-3, 3, max_denominator=3)), max_size=4
    )
)
def test_equal_polynomials_are_one_object(terms: list[tuple[str, int, Fraction]]) -> None:
    """In whatever order their terms come; so what was made of one is found for the other."""
    made: list[Any] = [
        reduce(plus, ({((name, power),) if power else (): c} for name, power, c in some), {})
        for some in (terms, terms[::-1])
    ]
    one, other = map(interned, made)
    assert one is other
    assert negated(negated(one)) is one
    assert dict(one) == made[0]


def test_one_n_of_a_narrow_case_is_found() -> None:
    """It has an n at every third bit length or so."""
    actual = list[int | None]()

    def program(walk: Walk) -> None:
        n = n_of(walk)
        most = 2 * (1 << 2 * n.bit_length())
        if 3 * n * n > most and 3 * n * n - 2 * n <= most:
            actual.append(some_n(walk.box, walk.forks))

    theorem_of(program, 7)
    assert actual
    for n in actual:
        assert n is not None
        assert 3 * n * n - 2 * n <= 2 * 4 ** n.bit_length() < 3 * n * n


def test_what_depends_on_the_bits_of_a_bit_length_alone() -> None:
    """It has a power of two above it, or none that is seen; no number of as many bits as it may tell is made for that."""

    def program(walk: Walk) -> None:
        bits = n_of(walk).bit_length().bit_length()
        assert (bits + 10 - bits) == 10
        with pytest.raises(Unanswered, match="a power of two above"):
            assert bits.power_above
        power = (2**bits * 3).power_above
        assert power >= 2**bits * 3
        assert power <= 2**bits * 16

    theorem_of(program, 7)
    far = Walk(replace(root(32, 0), fixed=True))
    with pytest.raises(Unanswered):
        assert (n_of(far) + 3).bit_length()


def test_no_n_of_very_many_bits_is_looked_for() -> None:
    """B has 2v bits: at v = 16 an n would have two thousand million, and take as long as memory lasts."""
    box = replace(root(32, 0), fixed=True)
    assert box.start == 16
    assert some_n(box, []) is None
    assert some_n(replace(root(7, 0), fixed=True), []) is not None
