"""A row and a residual addition of a state give what the reference engine's operators give, at each of its positions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from constructions.rows import Sublayer, UnitRows
from precision.format import fixed_point
from precision.rounding import round_fraction
from tests.verify.rounding.points import Number, contents
from tests.verify.rounding.points import rounded as cut
from verify.algebra.domains import Integer, Reciprocal, Refused, Rounded, Space
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.automata.token_automaton import Label
from verify.rounding.abstract_state import AbstractState
from verify.rounding.operators import added, dot, feed_forward, loosened

FORMAT = fixed_point(17)
LARGEST = FORMAT.max_value
VALUES = [atom("a"), atom("r"), atom("a") * 40, constant(0), constant(Fraction(3, 256))]  # elements, for a from −6 to 6
SHARES = range(2, 6)
weights = st.sampled_from([1, -1, 2, -2, 3, Fraction(1, 2), Fraction(-5, 8)])
indices = st.integers(0, len(VALUES) - 1)


def rounded(value: Fraction) -> Fraction:
    if abs(value) > LARGEST:
        raise OverflowError
    return round_fraction(value, FORMAT).quanta * FORMAT.quantum


def operators(weights: list[Fraction], values: list[Fraction], bias: Fraction, old: Fraction, fused: bool) -> Fraction:
    """By the definition of the two disciplines: Σ weight·value + bias, and that added to a register."""
    products = [w * x for w, x in zip(weights, values, strict=True)]
    if fused:
        row = rounded(sum(products, bias))
    else:
        row = Fraction(0)
        for product in products:
            row = rounded(row + rounded(product))
        row = rounded(row + bias)
    return rounded(old + row)


def at(state: AbstractState, value: Polynomial, known: dict[str, Fraction]) -> Fraction:
    """What the state's value is where a and r are these numbers."""
    inexact = {name: domain for name in value.atoms if isinstance(domain := state.box[name], Rounded)}
    numbers = {name: constant(known[name]) for name in value.atoms - inexact.keys()}
    numbers |= {name: constant(rounded(at(state, domain.exact, known))) for name, domain in inexact.items()}
    return Fraction(value.substitute(numbers).constant)


@pytest.mark.parametrize("fused", [True, False])
@settings(max_examples=40)
@given(
    st.lists(st.tuples(weights, indices), max_size=3),
    st.one_of(st.just(0), weights),
    indices,
    st.tuples(st.integers(-6, 6), st.integers(0, 3)),
)
@example([(-1, 2)], 0, 2, (3, 3))
@example([(2, 2)], 0, 3, (3, 1))
def test_a_row_and_a_residual_addition(
    fused: bool, row: list[tuple[Fraction, int]], bias: Fraction, old: int, ends: tuple[int, int]
) -> None:
    a = Integer(ends[0], min(6, ends[0] + ends[1]))
    box = {"n": Integer(4, 4), "k": Integer(1, 1), "a": a, "m": Integer(SHARES[0], SHARES[-1]), "r": Reciprocal("m", 0)}
    state = AbstractState(Space(FORMAT), {0: VALUES[old]}, box, label=Label("test"))
    try:
        after, change = dot(state, [(w, VALUES[i]) for w, i in row], bias, "here", fused)
        after = added(after, 0, change, "here")
    except Refused:
        return
    for number, m in itertools.product(range(a.low, a.high + 1), SHARES):
        known = {"a": Fraction(number), "r": rounded(Fraction(1, m))}
        values = [at(state, VALUES[i], known) for _, i in row]
        due = operators([w for w, _ in row], values, Fraction(bias), at(state, VALUES[old], known), fused)
        assert at(after, after.register(0), known) == due


# A sublayer

SHARED = {0: atom("a"), 1: atom("b"), 2: atom("r"), 3: atom("a") * atom("r"), 4: constant(1)}
few = st.sampled_from([1, -1, 1, -2, 3, Fraction(1, 2), Fraction(-3, 256)])
rows = st.dictionaries(st.integers(0, 4), few, max_size=3).map(lambda row: tuple(sorted(row.items())))
biases = st.sampled_from([0, 0, 1, -1, 2, Fraction(-1, 2), Fraction(3, 2)])
units = st.builds(UnitRows, rows, biases, rows, biases)


@st.composite
def sublayers(draw: st.DrawFn) -> Sublayer:
    chosen = tuple(draw(st.lists(units, min_size=1, max_size=3)))
    written = st.dictionaries(st.integers(0, len(chosen) - 1), few, min_size=1).map(
        lambda row: tuple(sorted(row.items()))
    )
    return Sublayer(
        chosen, tuple((i, draw(written), draw(biases)) for i in draw(st.sampled_from([(5,), (5, 6), (1, 5)])))
    )


def row_at(row: tuple[tuple[int, Number], ...], bias: Number, x: list[Number], fused: bool, exactly: bool) -> Number:
    """One row, as the format has it or ideally."""
    one = (lambda value: value) if exactly else cut
    if fused:
        return one(sum((w * x[i] for i, w in row), bias))
    found: Number = 0
    for i, w in row:
        found = one(found + one(w * x[i]))
    return one(found + bias)


def behind(layer: Sublayer, x: list[Number], fused: bool, exactly: bool) -> list[Number]:
    """By the definition of the engine."""
    one = (lambda value: value) if exactly else cut
    hidden = []
    for unit in layer.units:
        gate, up = (
            row_at(row, bias, x, fused, exactly) for row, bias in ((unit.gate, unit.gate_bias), (unit.up, unit.up_bias))
        )
        hidden.append(one(max(gate, 0) * up))
    result = [*x]
    for i, row, bias in layer.down:
        result[i] = one(x[i] + row_at(row, bias, hidden, fused, exactly))
    return result


# The sign of the last gate asks for parts, and what the one before it holds is kept.
KEPT = Sublayer(tuple(UnitRows(((i, 1),), 0, ((4, 1),), 0) for i in (2, 1, 0)), ((5, ((0, 1), (1, 2), (2, 3)), 0),))

# −max(a, 0): 0 where the gate is shut, and less where it is open.
LESS = Sublayer((UnitRows(((0, 1),), 0, ((4, -1),), 0),), ((5, ((0, 1),), 0),))


@pytest.mark.parametrize("fused", [True, False])
@settings(max_examples=60)
@given(sublayers(), st.tuples(st.integers(-2, 2), st.integers(0, 3)), st.tuples(st.integers(1, 3), st.integers(0, 2)))
@example(KEPT, (-2, 3), (1, 1))
@example(LESS, (-2, 3), (1, 1))
def test_a_sublayer_loses_no_input(
    fused: bool, layer: Sublayer, ends: tuple[int, int], counts: tuple[int, int]
) -> None:
    """In both readings, whatever parts it is taken apart in; and with a register of which only the bounds are kept."""
    box = {"n": Integer(4, 4), "k": Integer(1, 2), "a": Integer(ends[0], sum(ends)), "b": Integer(0, 2)}
    box |= {"m": Integer(counts[0], sum(counts))}
    state = AbstractState(Space(FORMAT), SHARED, {**box, "r": Reciprocal("m", 0)}, label=Label("test"))
    due = set()
    for place in contents([state], range(7)):
        columns = [*zip(*place[2:], strict=True)]
        after = [
            behind(layer, [*column], fused, exactly) for column, exactly in zip(columns, (False, True), strict=True)
        ]
        due.add((*place[:2], *zip(*after, strict=True)))
    names = [str(i) for i in range(7)]
    try:
        actual = [*feed_forward(state, layer, "here", names, fused)]
    except Refused as error:
        event(type(error).__name__)
    else:
        event(f"{len(actual)} parts")
        assert due <= contents(actual, range(7))
    loose = frozenset([5])
    try:
        one, _ = loosened(state, layer, loose, "here", names, fused)
        rest, done = layer.without(loose)
        actual = [*feed_forward(one, rest, "here", names, fused, done)]
    except Refused as error:
        event(f"loose: {type(error).__name__}")
        return
    event("loose")
    assert due <= contents(actual, range(7))
