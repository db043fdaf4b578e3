"""The whole quotient by a rounded product, and the periodic table of such units: every small case, hard ones, one bit less."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference, dense
from constructions.engines.known import Stream, read_text
from constructions.layers import Transformer
from constructions.parts.gadgets.periodic import periodic, periodic_room, table_scale
from constructions.parts.gadgets.quotient import quotient, quotient_room, quotient_shift
from constructions.wiring.affine import as_affine, reg
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Unit, wire
from precision.format import Arithmetic, Discipline, Format, fixed_point
from verify.oracles.division_theorems import rounds_to_the_quotient, units_of_a_period
from verify.trusted.kernel import Rejected, check


def nearest(value: Fraction) -> int:
    """To even at a tie."""
    whole, rest = divmod(value.numerator, value.denominator)
    return whole + (2 * rest > value.denominator or (2 * rest == value.denominator and whole % 2 == 1))


def by_shift(x: int, d: int, s: int) -> int:
    """What the unit is in steps, by its definition, with any s."""
    return nearest(max(Fraction(0), x - Fraction(d - 1, 2)) / 2**s * nearest(Fraction(2**s, d)))


def model_of(gadget: Gadget, fmt: Format) -> tuple[Transformer, list[str]]:
    """The gadget over `position`, after one word."""
    embedding = Embedding(("token",), ({},), "position")
    model, registers = wire(embedding, (BlockPlan((), (gadget,)),), ({},), fmt)
    return model, list(registers)


def last_registers(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> Stream:
    """Each register after the last block, in quanta."""
    (stream,) = read_text(model, arithmetic, tokens, [2 * len(model.blocks)]).streams
    return stream


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 10, 31, 56])
def test_every_small_quotient_at_the_least_precision(d: int, discipline: Discipline) -> None:
    """x = −20 … 236, at the least q for that bound, by the engine that `auto` takes, and by `dense`."""
    largest, behind = 236, 21
    fmt = fixed_point(2 * max(9, quotient_room(d, largest)) + 1)
    model, registers = model_of(quotient(reg("position") - behind, d, {"out": 1}, largest, fmt), fmt)
    tokens = np.zeros(largest + behind, np.int64)
    arithmetic = Arithmetic(fmt, discipline)
    actual = last_registers(model, arithmetic, tokens)[registers.index("out")]
    wanted = [max(0, x) // d << -fmt.quantum_exponent for x in range(1 - behind, largest + 1)]
    assert list(actual) == wanted
    kept = dense.run(model, arithmetic, [tokens], keep_registers=True).registers
    assert kept is not None
    assert [int(row[registers.index("out")]) for row in kept[0][-1]] == wanted


@given(st.integers(1, 10**6), st.integers(0, 10**9), st.integers(-2, 2))
def test_hard_inputs(d: int, m: int, off: int) -> None:
    """Multiples of d and their neighbours are the ends of each quotient; here the largest x is one of them."""
    x = max(0, m * d + off)
    assert by_shift(x, d, quotient_shift(d, x)) == x // d


@pytest.mark.parametrize(
    ("d", "largest", "x"),
    [(5, 50, 39), (7, 70, 48), (56, 560, 391), (133, 399, 399), (10, 3000, 2060), (31, 1000, 588)],
)
def test_one_bit_less_fails(d: int, largest: int, x: int) -> None:
    """With s − 1 in place of s a quotient is wrong, by its definition and in an engine; with s all are right."""
    s = quotient_shift(d, largest)
    assert all(by_shift(y, d, s) == y // d for y in range(largest + 1))
    assert next(y for y in range(largest + 1) if by_shift(y, d, s - 1) != y // d) == x
    fmt = fixed_point(2 * max(quotient_room(d, largest), largest.bit_length()) - 1)  # p − 2, or what holds the position
    gate = Fraction(1, 1 << s) * (2 * reg("position") - 2 - (d - 1))
    constant = nearest(Fraction(2 ** (s - 1), d)) * fmt.quantum
    model, registers = model_of(Gadget("one bit less", (Unit(gate, as_affine(constant), {"out": 1}),)), fmt)
    found = last_registers(model, Arithmetic(fmt), np.zeros(x + 1, np.int64))[registers.index("out")]
    steps = [int(q) for q in found]
    assert steps[:x] == [y // d for y in range(x)]
    assert steps[x] != x // d


def test_what_cannot_be_divided() -> None:
    with pytest.raises(ValueError, match="a divisor is at least 1, not 0"):
        quotient(reg("x"), 0, {"out": 1}, 9, fixed_point(21))
    least = quotient_room(6, 100)
    quotient_plan = quotient(reg("position"), 6, {"out": 1}, 100, fixed_point(2 * least - 1))
    with pytest.raises(ValueError, match="is not an element of R_"):
        model_of(quotient_plan, fixed_point(2 * least - 1))
    with pytest.raises(ValueError, match=r"have one length, not \[2, 3\]"):
        periodic(reg("x"), {"a": [1, 2], "b": [1, 2, 3]}, "count", 9, fixed_point(41))


TABLES = st.integers(1, 9).flatmap(
    lambda d: st.lists(st.lists(st.integers(-9, 9), min_size=d, max_size=d), min_size=1, max_size=2)
)


@given(TABLES, st.integers(0, 60))
def test_any_table_over_the_rest(rows: list[list[int]], largest: int) -> None:
    """At the least q, in steps, with as many units as the period has entries and one more."""
    tables = {f"table {i}": row for i, row in enumerate(rows)}
    period = len(rows[0])
    fmt = fixed_point(2 * max(periodic_room(tables, largest), (largest + 1).bit_length(), 2) + 1)
    gadget = periodic(reg("position") - 1, tables, "period", largest, fmt)
    assert len(gadget.units) <= period + 1
    model, registers = model_of(gadget, fmt)
    columns = last_registers(model, Arithmetic(fmt), np.zeros(largest + 1, np.int64))
    for name in registers[1:]:
        row = tables.get(name)
        wanted = [x // period if row is None else row[x % period] for x in range(largest + 1)]
        actual = columns[registers.index(name)]
        assert [table_scale(tables) * int(q) * fmt.quantum for q in actual] == wanted


def test_the_reference_engine_divides() -> None:
    """The next token is 1 iff the position is a multiple of 3, by the table of 3 entries."""
    fmt = fixed_point(31)
    gadget = periodic(reg("position"), {"out": [1, -1, -1]}, "period", 30, fmt)
    embedding = Embedding(("0", "1"), ({}, {}), "position")
    model, _ = wire(embedding, (BlockPlan((), (gadget,)),), ({}, {"out": 1}), fmt)
    produced = decode_by_reference(Decoding(model, Arithmetic(fmt), [0], set(), 29)).produced
    assert produced == [int(k % 3 == 0) for k in range(1, 30)]


@pytest.mark.parametrize("shown", [*rounds_to_the_quotient(), *units_of_a_period()])
def test_a_theorem_that_says_more_is_rejected(shown: tuple[dict[str, object], dict[str, object]]) -> None:
    """The proof of each theorem is none of a sharper one, nor of one from which something given is missing."""
    stated, proof = shown
    check(stated, proof)
    text = str(stated["show"])
    for sharper in (text.replace("1/2", "1/3"), text.replace("> 0", "> d"), text.replace("+ d ==", "==")):
        if sharper != text:
            with pytest.raises(Rejected):
                check({**stated, "show": sharper}, proof)
    given_facts = stated["given"]
    assert isinstance(given_facts, list)
    for i in range(len(given_facts)):
        with pytest.raises(Rejected):
            check({**stated, "given": [*given_facts[:i], *given_facts[i + 1 :]]}, proof)
