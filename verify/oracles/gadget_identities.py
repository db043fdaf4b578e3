"""Lemmas C.1 to C.6: the gadgets' identities for all arguments, in exact arithmetic and case by case."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy

from constructions.parts.gadgets import indicator, interval, linear_map, lookup, product, threshold
from constructions.wiring.affine import reg
from verify.oracles.proofs import Case, free, nonnegative, reproduces


def product_is_right() -> bool:
    t, y = nonnegative("t"), free("y")
    gadget = product.product(reg("x"), reg("y"), {"out": 1})
    return reproduces(gadget, "out", [Case({"x": t, "y": y}, t * y), Case({"x": -t, "y": y}, -t * y)])


def linear_map_is_right() -> bool:
    x, y = free("x"), free("y")
    gadget = linear_map.linear_map({"out": 2 * reg("x") - 3 * reg("y")})
    return reproduces(gadget, "out", [Case({"x": x, "y": y}, 2 * x - 3 * y)])


def indicator_is_right() -> bool:
    t, b, f, zero = nonnegative("t"), free("B"), free("f"), sympy.Integer(0)
    gadget = indicator.indicator(reg("x") - reg("B"), 0, {"out": 1}, times=reg("f"))
    cases = [(b - 1 - t, zero), (b, f), (b + 1 + t, zero)]
    return reproduces(gadget, "out", [Case({"x": x, "B": b, "f": f}, result) for x, result in cases])


def lookup_is_right() -> bool:
    """The output is linear in the table, so tables with a single 1 suffice; the key is any of the finitely many."""
    size = lookup.TEST_BASE**2
    for marked in range(size):
        table = [int(i == marked) for i in range(size)]
        gadget = lookup.lookup([reg("x"), reg("y")], lookup.TEST_BASE, table, "out")
        cases = [
            Case({"x": sympy.Integer(i % 3), "y": sympy.Integer(i // 3)}, sympy.Integer(table[i])) for i in range(size)
        ]
        if not reproduces(gadget, "out", cases):
            return False
    return True


def threshold_is_right() -> bool:
    t, u, f = nonnegative("t"), free("u"), free("f")
    for margin in (Fraction(1, 2**e) for e in range(64)):
        gadget = threshold.threshold(reg("x") - reg("u"), 0, {"out": 1}, margin=margin, times=reg("f"))
        below = u - sympy.Rational(1, margin.denominator) - t
        cases = [Case({"x": below, "u": u, "f": f}, sympy.Integer(0)), Case({"x": u + t, "u": u, "f": f}, f)]
        if not reproduces(gadget, "out", cases):
            return False
    return True


def interval_is_right() -> bool:
    t, low, f = nonnegative("t"), free("u"), free("f")
    for span, offset in ((s, o) for s in range(16) for o in range(s + 1)):
        gadget = interval.interval(reg("x") - reg("u"), 0, span, {"out": 1}, times=reg("f"))
        places = [(low - 1 - t, sympy.Integer(0)), (low + offset, f), (low + span + 1 + t, sympy.Integer(0))]
        if not reproduces(gadget, "out", [Case({"x": x, "u": low, "f": f}, result) for x, result in places]):
            return False
    return True


IDENTITIES: dict[str, tuple[Callable[[], bool], str, str]] = {
    "C.1": (product_is_right, "all real x and y, before rounding", "the signs of x"),
    "C.2": (linear_map_is_right, "all real x and y, before rounding", "the gate is the constant 1"),
    "C.3": (indicator_is_right, "all integers x and B, before rounding", "x < B, x = B, x > B"),
    "C.4": (
        lookup_is_right,
        "all tables over two digits below 3, before rounding",
        "linearity in the table, every key",
    ),
    "C.5": (threshold_is_right, "all real x and u, margins 1 … 2^−63, before rounding", "x ≤ u − ε, x ≥ u"),
    "C.6": (interval_is_right, "all integers x and u ≤ v < u + 16, before rounding", "below, each point inside, above"),
}
"""By lemma: the proof, what it covers, and which cases it tells apart."""
