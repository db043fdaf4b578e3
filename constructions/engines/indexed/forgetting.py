"""Which keys of a head no later query can read, so that a long sequence needs no memory of them.

The score of a key is linear in its registers, Σ_i Q_i·x_i. Let two keys differ in two registers only, a root x and a square s
(what they are called does not matter), and let the later key have the larger x: Δx > 0. Its score is higher by

    Q_x·Δx + Q_s·Δs ≥ Δx·(Q_x + Q_s·t)    for every t ≥ Δs/Δx, if Q_s ≤ 0.

So with t the largest Δs/Δx of all pairs of a dropped key and the next one like it, and Δ the least Δx, a query with Q_s ≤ 0 and
Δ·(Q_x + Q_s·t) ≥ γ > 0 gives every dropped key a score that lies γ or more below that of the next one like it, which is kept, or
dropped for a third one that lies higher still: the best of all keys is one that is kept, and each dropped one lies γ or more below
it. A query that does not say so cannot be answered without the dropped keys. Nothing here trusts a guess about later queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.engines.indexed.column import Column, at_most, classes, combine
from constructions.engines.indexed.mantissas import Array, Digits, integers
from constructions.engines.indexed.ordering import stable_order


@dataclass(frozen=True)
class Dropped:
    """What later queries have to fulfil. root, square: registers. gap: the least Δx. slope: at least each Δs/Δx."""

    root: int
    square: int
    gap: Fraction
    slope: Fraction

    def is_beaten(self, coefficients: Mapping[int, Column], lead: Fraction) -> Array:
        """Returns a mask of the queries at which each dropped key lies `lead` > 0 or more below the best kept one. coefficients:
        Q_i by register.
        """
        curvature = coefficients[self.square]
        pull = combine([(Fraction(1), coefficients[self.root]), (self.slope, curvature)], Fraction(0), len(curvature))
        return at_most(curvature, Fraction(0)) & ~at_most(pull, lead / self.gap)

    def joined(self, other: Dropped) -> Dropped | None:
        """Returns what asks for both; None if they are about other registers, which no single condition is."""
        if (self.root, self.square) != (other.root, other.square):
            return None
        return Dropped(self.root, self.square, min(self.gap, other.gap), max(self.slope, other.slope))


def drop(
    registers: Mapping[int, Column], root: int, square: int, alike: tuple[Array, Array] | None = None
) -> tuple[Array, Dropped] | None:
    """Returns a mask of the keys to keep, and what that asks of later queries; None if all keys must be kept.

    registers: all that the head's scores read, at its keys in order of position. alike: if known, keys in an order in which those
    that agree in all other registers stand side by side, in order of position, and a number for each of them, its kind; keys that
    are left out are kept.
    """
    if alike is None:
        kind = classes([column for i, column in registers.items() if i not in (root, square)], len(registers[root]))
        order = stable_order(kind, len(kind))
        alike = order, kind[order]
    order, kind = alike
    x, s = registers[root], registers[square]
    e = min(s.e, 2 * x.e)  # where s = x², the quotients below are exact
    xs, squares = x.m[order], s.scaled_to(e)[order]
    beaten = np.flatnonzero((kind[1:] == kind[:-1]) & (xs[1:] > xs[:-1]))
    if len(beaten) == 0:
        return None
    ends = [xs[beaten + 1], xs[beaten], squares[beaten + 1], squares[beaten]]
    if any(isinstance(m, Digits) for m in ends):
        ends = [integers(m) for m in ends]
    run, rise = ends[0] - ends[1], ends[2] - ends[3]
    slope = int((-(-rise // run)).max())
    keep = np.ones(len(x), bool)
    keep[order[beaten]] = False
    scale = Fraction(2)
    return keep, Dropped(root, square, int(run.min()) * scale**x.e, slope * scale ** (e - x.e))
