"""The lemmas' parts at any value of their parameters, each with an oracle in plain Python.

constructions/parts/ lists each lemma at one value; here the same gadgets, heads and recurrences stand at all of them. A parameter
is a tuple of integers, so that a witness can be stored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.parts.gadgets import indicator as indicator_gadget
from constructions.parts.gadgets import interval, linear_map, lookup, product, threshold
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.parts.gadgets.product import square
from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.parts.recurrences import first_positions, recent, recite, running_sum
from constructions.wiring.affine import reg, total
from constructions.wiring.part import (
    Columns,
    Contract,
    Domain,
    Expected,
    Integer,
    Part,
    Setting,
    UnitFraction,
    least_gap,
    least_odd_precision,
)
from constructions.wiring.wire import BlockPlan, Gadget, Head, constant

Parameter = tuple[int, ...]
Make = Callable[[Parameter], Part]


def copy_part(parameter: Parameter) -> Part:
    """C.13 for s = parameter[0].

    At k = 1 the winner is k' = 1 with the score −G·s², which must not saturate: for a small s, as the shipped part has one, the
    registers need more than that.
    """
    (offset,) = parameter

    def oracle(setting: Setting, columns: Columns) -> Expected:
        x = columns["x"]
        return {"out": [x[max(k - offset, 0)] for k in range(len(x))]}

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        before = BlockPlan((), (constant("1", {"one": 1}), square(reg("position"), "position_squared")))
        return [before, BlockPlan((copy.copy("copy", offset, {"out": reg("x")}, setting),), ())]

    def least(n: int, length: int) -> int:
        winner = least_odd_precision(lambda q: (least_gap(q, length) * (offset**2 + 1)).bit_length())
        return max(winner, copy.position_square_precision(n, max(length, offset)))

    return replace(copy.PART, plan=plan, oracle=oracle, least_precision=least)


# Several pairs of keys and queries


def _pairs(pairs: int) -> tuple[match.Pair, ...]:
    names = [(f"key {i}", f"query {i}") for i in range(1, pairs + 1)]
    return tuple(match.Pair(reg(k), reg(q), reg(f"{k} squared"), reg(f"{q} squared")) for k, q in names)


def _prepared(pairs: int) -> tuple[Gadget, ...]:
    sides = [f"{side} {i}" for i in range(1, pairs + 1) for side in ("key", "query")]
    first = indicator(reg("position"), 1, {"first": 1}, name="1[position = 1]")
    common = (constant("1", {"one": 1}), square(reg("position"), "position_squared"), first)
    return (*common, *(square(reg(side), f"{side} squared") for side in sides))


def _pairs_contract(setting: Setting, pairs: int) -> Contract:
    """Keys may be 0, of the queries all but the first; the keys of position 1 are."""
    n = setting.n
    inputs: dict[str, Domain] = {}
    for i in range(1, pairs + 1):
        inputs |= {f"key {i}": Integer(0, n), f"query {i}": Integer(int(i == 1), n)}
    inputs["payload"] = Integer(-n, n)
    zeros = {f"key {i}": Fraction(0) for i in range(1, pairs + 1)}
    return Contract(inputs, {"out": Integer(-n, n)}, zeros)


def _tuples(columns: Columns, side: str) -> list[tuple[Fraction, ...]]:
    names = sorted(name for name in columns if name.startswith(f"{side} "))
    return list(zip(*(columns[name] for name in names), strict=True))


def _equal(columns: Columns, k: int) -> list[int]:
    """0-based places up to k where every key equals k's query."""
    keys, queries = _tuples(columns, "key"), _tuples(columns, "query")
    return [h for h in range(k + 1) if keys[h] == queries[k]]


def _pairs_precision(pairs: int) -> Callable[[int, int], int]:
    """Σ of so many squares of numbers up to n is at most (⌈√pairs⌉·n)²."""
    widened = math.isqrt(pairs - 1) + 1
    return lambda n, length: match.match_precision(widened * n, length)


def _positional(part: Part, head: Callable[[Setting, int], Head], pick: Callable[[Sequence[int]], int]) -> Make:
    def make(parameter: Parameter) -> Part:
        (pairs,) = parameter

        def oracle(setting: Setting, columns: Columns) -> Expected:
            payload = columns["payload"]
            return {"out": [payload[pick(_equal(columns, k) or [0])] for k in range(len(payload))]}

        return replace(
            part,
            plan=lambda setting, printed: [BlockPlan((), _prepared(pairs)), BlockPlan((head(setting, pairs),), ())],
            contract=lambda setting: _pairs_contract(setting, pairs),
            oracle=oracle,
            least_precision=_pairs_precision(pairs),
        )

    return make


READS = {"out": reg("payload")}
match_part = _positional(match.PART, lambda s, r: match.match("match", _pairs(r), READS, s), min)
match_close_part = _positional(
    match_close.PART, lambda s, r: match_close.match_close("match close", _pairs(r), READS, s), max
)


def match_nearest_part(parameter: Parameter) -> Part:
    """C.17 for parameter[0] pairs; nothing is promised where two places are equally near."""
    (pairs,) = parameter

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload, wanted, out = columns["payload"], columns["wanted"], list[Fraction | None]()
        for k in range(len(payload)):
            by_distance = sorted((abs(h + 1 - wanted[k]), h) for h in _equal(columns, k) or [0])
            tied = len(by_distance) > 1 and by_distance[0][0] == by_distance[1][0]
            out.append(None if tied else payload[by_distance[0][1]])
        return {"out": out}

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        wanted, squared = reg("wanted"), reg("wanted_squared")
        head = match_nearest.match_nearest("nearest", _pairs(pairs), wanted, squared, READS, setting)
        return [BlockPlan((), (*_prepared(pairs), square(wanted, "wanted_squared"))), BlockPlan((head,), ())]

    def contract(setting: Setting) -> Contract:
        base = _pairs_contract(setting, pairs)
        return replace(base, requires={**base.requires, "wanted": Integer(0, setting.length)})

    return replace(
        match_nearest.PART, plan=plan, contract=contract, oracle=oracle, least_precision=_pairs_precision(pairs)
    )


def match_next_part(parameter: Parameter) -> Part:
    """C.18 for parameter[0] pairs and A = parameter[1]: counts down to 1/(n^A + 1)."""
    pairs, power = parameter

    def derive(columns: Columns) -> Columns:
        """A running count for each tuple of keys, and for each query a count that its keys have, or 1."""
        seen: Counter[tuple[Fraction, ...]] = Counter()
        counts, wanted = [], []
        for keys, query, wish in zip(_tuples(columns, "key"), _tuples(columns, "query"), columns["wish"], strict=True):
            seen[keys] += 1
            counts.append(Fraction(1, seen[keys] + 1) if any(keys) else Fraction(0))
            wanted.append(Fraction(1, 1 + int(wish) % (seen[query] + 1)))
        return {**columns, "count": counts, "own": wanted}

    def contract(setting: Setting) -> Contract:
        base, most = _pairs_contract(setting, pairs), setting.n**power + 1
        counts: dict[str, Domain] = {
            "wish": Integer(0, setting.length),
            "count": UnitFraction(2, most),
            "own": UnitFraction(1, most),
        }
        return Contract({**base.requires, **counts}, base.ensures, base.first, derive)

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload, out = columns["payload"], []
        for k in range(len(payload)):
            place = {columns["count"][h].denominator: h for h in _equal(columns, k)}
            wanted = columns["own"][k].denominator
            out.append(payload[place.get(wanted + 1, place.get(wanted, 0))])
        return {"out": out}

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        counts, own = reg("count"), reg("own")
        before = (*_prepared(pairs), square(counts, "count_squared"), next_fraction(own, "target"))
        wide = replace(setting, n=setting.n**power)
        head = match_next.match_next(
            "match next", _pairs(pairs), counts, reg("count_squared"), reg("target"), READS, wide
        )
        return [BlockPlan((), before), BlockPlan((head,), ())]

    def least(n: int, length: int) -> int:
        widened = (math.isqrt(pairs - 1) + 1) * n
        return match_next.match_next_precision(max(widened, n**power), length)

    return replace(match_next.PART, plan=plan, contract=contract, oracle=oracle, least_precision=least)


# Recurrences and feed-forwards

NOTHING = Integer(0, 0)  # in a register before it is written: a row or a table of zeros would not make it


def recent_part(parameter: Parameter) -> Part:
    """C.20 for the last k = parameter[0] inputs of two registers."""
    (depth,) = parameter
    names = ("x", "y")

    def oracle(setting: Setting, columns: Columns) -> Expected:
        length = len(columns["x"])
        return {
            f"{x}-{j}": [columns[x][t - j] if t >= j else Fraction(0) for t in range(length)]
            for x in names
            for j in range(depth)
        }

    return replace(
        recent.PART,
        plan=lambda setting, printed: [BlockPlan((), (), (recent.recent("recent", names, depth),))],
        contract=lambda setting: Contract(
            dict.fromkeys(names, Integer(-setting.n, setting.n)),
            {f"{x}-{j}": Integer(-setting.n, setting.n) for x in names for j in range(depth)},
            {},
        ),
        oracle=oracle,
    )


def first_positions_part(parameter: Parameter) -> Part:
    """C.22 for the positions 1 … k = parameter[0]."""
    (positions,) = parameter

    def oracle(setting: Setting, columns: Columns) -> Expected:
        x, outs = columns["x"], range(1, positions + 1)
        return {f"x at {i}": [x[i - 1] if t + 1 >= i else Fraction(0) for t in range(len(x))] for i in outs}

    return replace(
        first_positions.PART,
        plan=lambda setting, printed: [
            BlockPlan((), first_positions.slots(["x"], positions)),
            BlockPlan((), (), first_positions.first_positions(["x"], positions)),
        ],
        contract=lambda setting: Contract(
            {"x": Integer(-setting.n, setting.n)},
            {f"x at {i}": Integer(-setting.n, setting.n) for i in range(1, positions + 1)},
            {},
        ),
        oracle=oracle,
        least_precision=lambda n, length: 2 * (2 * (length + positions + 1) * n).bit_length() + 1,
    )


def recite_part(parameter: Parameter) -> Part:
    """C.23 for the numbers of the parameter at positions 1, 2, …"""
    text = {i: value for i, value in enumerate(parameter, 1) if value}
    largest = max(map(abs, parameter), default=0)

    def oracle(setting: Setting, columns: Columns) -> Expected:
        return {"out": [Fraction(dict(enumerate(parameter)).get(t, 0)) for t in range(len(columns["x"]))]}

    return replace(
        recite.PART,
        plan=lambda setting, printed: [BlockPlan((), recite.recite(text, "out"))],
        contract=lambda setting: Contract(
            {"x": Integer(0, 1), "out": NOTHING}, {"out": Integer(-largest, largest)}, {}
        ),
        oracle=oracle,
        least_precision=lambda n, length: max(5, 2 * (2 * max(largest, 1) * (length + 2)).bit_length() + 1),
    )


def digits(*largest: int) -> int:
    """The least p at which integers of these sizes are elements; positions are among them."""
    return 2 * max(2, *(number.bit_length() for number in largest)) + 1


def lookup_part(parameter: Parameter) -> Part:
    """C.4 for the base B, k inputs, and a table of B^k entries: the parameter in this order."""
    base, inputs, *table = parameter
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


def linear_map_part(parameter: Parameter) -> Part:
    """C.2 for the square matrix W whose rows the parameter lists one after the other."""
    size = math.isqrt(len(parameter))
    rows = [parameter[i * size : (i + 1) * size] for i in range(size)]
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
class Family:
    """A lemma and its part for each parameter. room: what `sequential` takes beyond the least p of `fused`."""

    statement: str
    make: Make
    room: Room = LITTLE

    def part(self, parameter: Parameter) -> Part:
        """This lemma at one value of its parameter."""
        return self.make(parameter)


FAMILIES: Mapping[str, Family] = {
    "C.2": Family(
        "A feed-forward of width d computes a linear map W of d numbers, d = 1, 2, 3, entries up to 9.", linear_map_part
    ),
    "C.4": Family("A feed-forward computes a table of k integers below B, up to 27 entries.", lookup_part, TABLES),
    "C.13": Family("One head copies a register from s positions before, s = 0 … 40.", copy_part, COPIES),
    "C.15": Family("The first position whose r keys equal r queries, r = 1 … 4.", match_part, SCORES),
    "C.16": Family("The last position whose r keys equal r queries, r = 1 … 4.", match_close_part, SCORES),
    "C.17": Family(
        "The position nearest to a wanted one whose r keys equal r queries, r = 1 … 4.",
        match_nearest_part,
        SCORES,
    ),
    "C.18": Family(
        "The next count among the positions whose r keys equal r queries, counts to n^A, r and A = 1, 2, 3.",
        match_next_part,
        SCORES,
    ),
    "C.20": Family("A recurrence keeps two registers of the last k inputs, k = 1 … 20.", recent_part),
    "C.22": Family("A recurrence keeps a register of the positions 1 to k, k = 1 … 12.", first_positions_part),
    "C.23": Family("A feed-forward recites k numbers from −9 to 9 at the positions 1 to k, k = 0 … 12.", recite_part),
}


def _alone(part: Part) -> Make:
    return lambda parameter: part


ALONE: Mapping[str, Family] = {
    "C.1": Family(product.PART.statement, _alone(product.PART)),
    "C.3": Family(indicator_gadget.PART.statement, _alone(indicator_gadget.PART)),
    "C.5": Family(threshold.PART.statement, _alone(threshold.PART)),
    "C.6": Family(interval.PART.statement, _alone(interval.PART)),
    "C.14": Family(count.PART.statement, _alone(count.PART), SCORES),
    "C.21": Family(running_sum.PART.statement, _alone(running_sum.PART)),
}
"""Lemmas without a parameter, or with one that is any number already; theirs is the empty one."""
