"""What the registers of a head's keys are to one another: constants, squares, and keys that stand apart.

A score is Σ_i Q_i·x_i over the registers that the key matrix reads. A register that is another's square, x_s = x_j² or its
rounding, with a negative constant coefficient −S, makes with it a *dimension*: −S·(x_j − v_j)² but for a constant, v_j = Q_j/(2S).
Registers that are constant but for a few keys are *flat*, and these keys *special*. All of it is read off the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.engines.indexed.column import Column, combine, multiply, normalised, zeros
from constructions.engines.indexed.mantissas import Array, Mantissas, least_and_most, where

MOST_SPECIAL = 16  # special keys are scored one by one; more of them means that the keys have another structure
MOST_EXCEPTIONS = MOST_SPECIAL // 2  # of one register


@dataclass(frozen=True)
class Dimension:
    """Keys at 2S·x, queries at Q: the distance costs (2S·x − Q)²/(4S). defect: x_s − x², 0 where x_s is the exact square.

    root, square: which of the registers x and x_s are; −1 for a root that is none of them.
    """

    root: int
    square: int
    scale: Fraction
    keys: Column
    queries: Column
    defect: Column

    @property
    def granularity(self) -> Fraction:
        """Keys 2S·x are multiples of this; so a mismatch of a query that is one, too, costs at least granularity²/(4S)."""
        return Fraction(2) ** self.keys.e

    @property
    def least_cost(self) -> Fraction:
        """What any key's distance from any query costs at least: all keys may lie on one side of the queries."""
        (low, high), (first, last) = (
            [end * Fraction(2) ** c.e for end in least_and_most(c.m)] for c in (self.keys, self.queries)
        )
        return max(low - last, first - high, Fraction(0)) ** 2 / (4 * self.scale)


def split_special(registers: Sequence[Column], length: int) -> tuple[list[int], Array]:
    """The registers that are constant but for a few keys, and those keys. At all other keys each of these registers is constant."""
    flat: list[int] = []
    special: set[int] = set()
    for i, register in enumerate(registers):
        different = np.flatnonzero(register.m != _common(register.m))
        if len(different) <= MOST_EXCEPTIONS and 2 * len(different) < length:
            flat.append(i)
            special.update(int(k) for k in different)
    return flat, np.array(sorted(special), np.int64)


def _common(values: Mantissas) -> int:
    """The value of all but MOST_EXCEPTIONS places, if there is one: then most of any 2·MOST_EXCEPTIONS + 1 places hold it."""
    places = np.linspace(0, len(values) - 1, min(len(values), 2 * MOST_EXCEPTIONS + 1)).astype(np.int64)
    (value, _) = Counter(values[places[::-1]].tolist()).most_common(1)[0]
    return int(value)


def complete_squares(
    registers: Sequence[Column],
    coefficients: Sequence[Column],
    flat: Sequence[int],
    pool: Sequence[Column],
    ordinary: Array,
    queries: int,
) -> list[Dimension] | None:
    """The dimensions x_j with their squares x_s, together all registers that are not flat; None if some register is neither."""
    varying = [i for i in range(len(registers)) if i not in flat]
    # square → root, defect, scale, and which of the registers the root is, −1 if none
    roots: dict[int, tuple[Column, Column, Fraction, int]] = {}
    for s in varying:
        coefficient = coefficients[s]
        if any(j == s for *_, j in roots.values()):
            continue  # 0 and 1 are squares of each other
        if not np.all(coefficient.m == coefficient.m[0]) or coefficient.m[0] >= 0:
            continue
        candidates = [(registers[j], j) for j in varying if j != s] + [(column, -1) for column in pool]
        for root, j in candidates:
            defect = _square_defect(root, registers[s], ordinary)
            if defect is not None:
                roots[s] = (root, defect, -coefficient.at(0), j)
                break
    linear = [i for i in varying if i not in roots]
    dimensions = []
    used: set[int] = set()
    for s, (root, defect, scale, j) in roots.items():
        if j in used or j in roots:
            return None
        if j >= 0:
            used.add(j)
        keys = combine([(2 * scale, root)], Fraction(0), len(root))
        dimensions.append(Dimension(j, s, scale, keys, coefficients[j] if j >= 0 else zeros(queries), defect))
    if any(i not in used and not coefficients[i].is_zero for i in linear):
        return None
    return dimensions


def _square_defect(root: Column, square: Column, ordinary: Array) -> Column | None:
    """square − root² if it is zero, or as small as a rounding, at all ordinary keys; otherwise None."""
    probe = ordinary[:: max(1, len(ordinary) // 8)]
    for places in (probe, None):
        if places is None:
            chosen_root, chosen_square = root, square
        else:
            chosen_root, chosen_square = root.take(places), square.take(places)
        exact = multiply(chosen_root, chosen_root)
        defect = combine([(Fraction(1), chosen_square), (Fraction(-1), exact)], Fraction(0), len(chosen_square))
        if places is None:
            rest = np.zeros(len(root), bool)
            rest[ordinary] = True
            defect = normalised(where(rest, defect.m, 0), defect.e)
        if not defect.is_zero and (
            square.e <= 2 * root.e or defect.bound * Fraction(2) ** defect.e > Fraction(2) ** square.e
        ):
            return None
    return defect


def choose_preference(dimensions: Sequence[Dimension], ordinary: Array) -> Dimension | None:
    """The dimension to be searched, not matched: of those that rise from key to key, or else of all, the cheapest to miss."""
    rising = [d for d in dimensions if _rises(d.keys.m[ordinary])]
    inexact = [d for d in rising or dimensions if not d.defect.is_zero]
    if not rising and not inexact and len(dimensions) < 2:
        return None
    return min(inexact or rising or dimensions, key=lambda d: d.granularity**2 / d.scale)


def _rises(values: Mantissas) -> bool:
    return len(values) > 1 and bool(np.all(values[1:] > values[:-1]))


def possible_roots(registers: Sequence[Column], pool: Sequence[Column]) -> list[int]:
    """Which columns of the pool may be the root of a register that has none among the registers, as far as these keys tell."""
    length = len(registers[0]) if registers else 0
    if length <= MOST_SPECIAL:
        return list(range(len(pool)))  # so few keys do not tell
    flat, special = split_special(registers, length)
    ordinary = np.delete(np.arange(length), special)

    def has_root(square: Column, roots: Sequence[Column]) -> bool:
        return any(root is not square and _square_defect(root, square, ordinary) is not None for root in roots)

    varying = [register for i, register in enumerate(registers) if i not in flat]
    rootless = [register for register in varying if not has_root(register, varying)]
    return [place for place, root in enumerate(pool) if any(has_root(square, [root]) for square in rootless)]
