"""The lemmas with a parameter, at any value of it.

Most stand in constructions/parts/ as they are. C.2 and C.4, whose values there are a matrix and a table of their own, stand here.
A parameter is a tuple of integers, so that a witness can be stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from constructions.parts.gadgets import indicator, interval, linear_map, lookup, product, threshold
from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.parts.recurrences import first_positions, recent, recite, running_sum
from constructions.wiring.affine import reg, total
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.wire import BlockPlan

Parameter = tuple[int, ...]

# Feed-forwards

NOTHING = Integer(0, 0)  # in a register before it is written: a row or a table of zeros would not make it


def recite_part(*numbers: int) -> Part:
    """Returns C.23, where the register stands there before."""
    part = recite.part(*numbers)

    def contract(setting: Setting) -> Contract:
        base = part.contract(setting)
        return replace(base, requires={**base.requires, "out": NOTHING})

    return replace(part, contract=contract)


def digits(*largest: int) -> int:
    """Returns the least p at which integers of these sizes are elements; positions are among them."""
    return 2 * max(2, *(number.bit_length() for number in largest)) + 1


def lookup_part(base: int, inputs: int, *table: int) -> Part:
    """Returns C.4 for the base B, k inputs, and a table of B^k entries."""
    names = [f"digit {j}" for j in range(1, inputs + 1)]
    largest = max(map(abs, table))

    def oracle(setting: Setting, columns: Columns) -> Expected:
        rows = zip(*(columns[name] for name in names), strict=True)
        return {"out": [Fraction(table[sum(int(x) * base**j for j, x in enumerate(row))]) for row in rows]}

    return replace(
        lookup.PART,
        plan=lambda setting, printed: [BlockPlan((), (lookup.lookup([reg(n) for n in names], base, table, "out"),))],
        contract=lambda setting: Contract(
            {**dict.fromkeys(names, Integer(0, base - 1)), "out": NOTHING}, {"out": Integer(-largest, largest)}, {}
        ),
        oracle=oracle,
        least_precision=lambda n, length: digits(length, 4 * largest, base**inputs + 1),
    )


def linear_map_part(*entries: int) -> Part:
    """Returns C.2 for the square matrix W of these entries, row by row."""
    size = math.isqrt(len(entries))
    rows = [entries[i * size : (i + 1) * size] for i in range(size)]
    names = [f"x {j}" for j in range(1, size + 1)]
    widest = max(sum(map(abs, row)) for row in rows)

    def oracle(setting: Setting, columns: Columns) -> Expected:
        inputs = list(zip(*(columns[name] for name in names), strict=True))
        return {
            f"y {i}": [sum((w * x for w, x in zip(row, xs, strict=True)), Fraction(0)) for xs in inputs]
            for i, row in enumerate(rows, 1)
        }

    forms = {f"y {i}": total(w * reg(x) for w, x in zip(row, names, strict=True)) for i, row in enumerate(rows, 1)}
    return replace(
        linear_map.PART,
        plan=lambda setting, printed: [BlockPlan((), (linear_map.linear_map(forms),))],
        contract=lambda setting: Contract(
            {**dict.fromkeys(names, Integer(-setting.n, setting.n)), **dict.fromkeys(forms, NOTHING)},
            {name: Integer(-widest * setting.n, widest * setting.n) for name in forms},
            {},
        ),
        oracle=oracle,
        least_precision=lambda n, length: digits(length, n, widest, widest * n),
    )


@dataclass(frozen=True)
class Room:
    """By how much p grows where every product and partial sum has to fit: from the parameter and n. text: that as a formula."""

    bits: Callable[[Parameter, int], int]
    text: str


LITTLE = Room(lambda parameter, n: 2, "2")
COPIES = Room(lambda parameter, n: 6, "6")
# A score's terms are at most 2·S·r·n² with r ≤ 4 pairs; under `fused`, S alone has to fit.
SCORES = Room(lambda parameter, n: 4 * n.bit_length() + 8, "4·bits(n) + 8")
# Σ bend·gate over the first units of a table runs up to 6·B^k times its largest entry before the last ones bring it back.
TABLES = Room(lambda parameter, n: 2 * (6 * (parameter[0] ** parameter[1] + 2)).bit_length(), "2·bits(6·B^k + 12)")


@dataclass(frozen=True)
class LemmaFamily:
    """A lemma. part: makes it from the integers of its parameter. room: what `sequential` takes beyond the least p of `fused`."""

    statement: str
    part: Callable[..., Part]
    room: Room = LITTLE


FAMILIES: Mapping[str, LemmaFamily] = {
    "C.2": LemmaFamily(
        "A feed-forward of width d computes a linear map W of d numbers, d = 1, 2, 3, entries up to 9.", linear_map_part
    ),
    "C.4": LemmaFamily("A feed-forward computes a table of k integers below B, up to 27 entries.", lookup_part, TABLES),
    "C.13": LemmaFamily("One head copies a register from s positions before, s = 0 … 40.", copy.part, COPIES),
    "C.15": LemmaFamily("The first position whose r keys equal r queries, r = 1 … 4.", match.part, SCORES),
    "C.16": LemmaFamily("The last position whose r keys equal r queries, r = 1 … 4.", match_close.part, SCORES),
    "C.17": LemmaFamily(
        "The position nearest to a wanted one whose r keys equal r queries, r = 1 … 4.", match_nearest.part, SCORES
    ),
    "C.18": LemmaFamily(
        "The next count among the positions whose r keys equal r queries, counts to n^A, r and A = 1, 2, 3.",
        match_next.part,
        SCORES,
    ),
    "C.20": LemmaFamily(
        "A recurrence keeps two registers of the last k inputs, k = 1 … 20.", partial(recent.part, ("x", "y"))
    ),
    "C.22": LemmaFamily("A recurrence keeps a register of the positions 1 to k, k = 1 … 12.", first_positions.part),
    "C.23": LemmaFamily(
        "A feed-forward recites k numbers from −9 to 9 at the positions 1 to k, k = 0 … 12.", recite_part
    ),
}


def _alone(part: Part) -> LemmaFamily:
    return LemmaFamily(part.statement, lambda: part)


ALONE: Mapping[str, LemmaFamily] = {
    "C.1": _alone(product.PART),
    "C.3": _alone(indicator.PART),
    "C.5": _alone(threshold.PART),
    "C.6": _alone(interval.PART),
    "C.14": replace(_alone(count.PART), room=SCORES),
    "C.21": _alone(running_sum.PART),
}
"""Lemmas without a parameter, or with one that is any number already; theirs is the empty one."""
