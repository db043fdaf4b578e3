"""A row and a residual addition of a kind give what the reference engine's operators give, at each of its positions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from precision.format import fixed_point
from precision.rounding import round_fraction
from verify.algebra.domains import Integer, Reciprocal, Refused, Rounded, Space
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.rounding.kinds import Kind
from verify.rounding.operators import added, dot

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


def at(kind: Kind, value: Polynomial, known: dict[str, Fraction]) -> Fraction:
    """What the kind's value is where a and r are these numbers."""
    inexact = {name: domain for name in value.atoms if isinstance(domain := kind.box[name], Rounded)}
    numbers = {name: constant(known[name]) for name in value.atoms - inexact.keys()}
    numbers |= {name: constant(rounded(at(kind, domain.exact, known))) for name, domain in inexact.items()}
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
    kind = Kind(Space(FORMAT), {0: VALUES[old]}, box, name="test")
    try:
        after, change = dot(kind, [(w, VALUES[i]) for w, i in row], bias, "here", fused)
        after = added(after, 0, change, "here")
    except Refused:
        return
    for number, m in itertools.product(range(a.low, a.high + 1), SHARES):
        known = {"a": Fraction(number), "r": rounded(Fraction(1, m))}
        values = [at(kind, VALUES[i], known) for _, i in row]
        due = operators([w for w, _ in row], values, Fraction(bias), at(kind, VALUES[old], known), fused)
        assert at(after, after.register(0), known) == due
