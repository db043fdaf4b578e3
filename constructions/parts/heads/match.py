"""Read from the first position whose keys equal the query.

Source: Lemmas C.9 and C.15.
Notation: x' are the key registers at position k', x the query registers at position k, L a power of two above every position.
Derivation: score −S·Σ(x' − x)² − G·k'², and at position 1, where all x' are 0, −D − G instead. Equal keys lie in
[−G·L², −G] and the first one leads by at least 3G; position 1 lies at −D − G = −2GL² − G; unequal keys at most at −S =
−4GL². A score too negative for the format saturates, which leaves it below position 1 as long as 2^q ≥ 4GL².

OPEN in Lemma C.15
paper says: factors n^(4c+1), n and n^(2c+2) − n, at p = O(log n) bits. "p > 10A log n" is printed for Lemma C.18 alone.
we use: the least powers of two with the same order of winners, S = 4GL², D = 2GL², which take fewer bits.
why: the printed factors are right, as far as tried, where they fit, which takes about (8c + 6)·log2 n bits, and from some n on:
up to n = 3 the lead is too small.
The lemma also needs non-zero queries: a query 0 equals position 1's key, which the print then penalises as the default. Whether it
asks for them, as Lemma C.8 does, we cannot see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, reg, total
from constructions.wiring.finding import Finding
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import FIRST, ONE, POSITION, Need, is_square, is_zero_at_first
from constructions.wiring.part import (
    Columns,
    Contract,
    Domain,
    Expected,
    Integer,
    Part,
    Setting,
    least_gap,
    least_odd_precision,
    log2,
    roomy_precision,
    smallest_gap,
    split_scale,
)
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Gadget, Head, constant
from precision.format import Discipline

FINDING = Finding(
    id="score-range",
    source="Lemmas C.15 to C.18",
    printed="score factors n^(4c+1), n^(2c+2) and n, at p = O(log n); in C.18 n^(4A+3), n^(4A+2), n^(4A+1), at p > 10A·log n",
    used="powers of two derived from the sequence length, with 2^q above the largest distinction that matters",
    why="the printed factors are right from some n on, where they fit, as far as tried; C.18's need more than 10·log2 n bits at"
    " A = 1. Ours need fewer than the printed ones",
)
PRINTED_POSITION_POWER = (
    2  # c with every position at most n^c, which the print leaves open; an IsTree sequence has over n tokens
)


class RegisterPair(NamedTuple):
    """One key register to be compared with one query register, and their squares."""

    key: Affine
    query: Affine
    key_squared: Affine
    query_squared: Affine


def pair(key: str, query: str) -> RegisterPair:
    """Returns two registers beside those of their squares."""
    return RegisterPair(reg(key), reg(query), reg(squared(key)), reg(squared(query)))


PRINTED_FACTOR_POWER = 4 * PRINTED_POSITION_POWER + 1  # of n, the highest of the printed factors


class MatchScale(NamedTuple):
    """S: what a unit of key distance costs. D: what position 1 costs as the default. G: the unit of preference."""

    mismatch: int
    default: int
    preference: int


def printed_room(n: int) -> int:
    """Returns the p at which every entry of a printed head fits, positions up to 2n: O(log n); the print has no constant."""
    return roomy_precision(n, PRINTED_FACTOR_POWER)


def match_scale(setting: Setting, printed: bool) -> MatchScale:
    """Returns the factors of the heads that prefer among equal keys by position."""
    if printed:
        n, c = setting.n, PRINTED_POSITION_POWER
        return MatchScale(n ** (4 * c + 1), n ** (2 * c + 2) - n, n)
    area = setting.gap * setting.length_bound**2
    return MatchScale(4 * area, 2 * area, setting.gap)


def equality_components(pairs: Sequence[RegisterPair], scale: int, key_share: int = 1) -> tuple[Component, ...]:
    """Returns −scale·Σ(x' − x)², and 0 at position 1. Needs `one` and `first`, and x' = 0 at position 1.

    key_share: the divisor of a printed factor that keys take; the print gives scores and leaves open how K and Q share them.
    """
    one, first = reg("one"), reg("first")
    if scale == 1 << (scale.bit_length() - 1):
        key_scale, query_scale = split_scale(scale)
    else:  # a printed power of n
        key_scale, query_scale = key_share, scale // key_share
    return (
        Component(key_scale * total(p.key_squared for p in pairs), -query_scale * one),
        *(Component(key_scale * p.key, 2 * query_scale * p.query) for p in pairs),
        Component(key_scale * (one - first), -query_scale * total(p.query_squared for p in pairs)),
    )


def equality_needs(pairs: Sequence[RegisterPair]) -> tuple[Need, ...]:
    """Returns what the equality of keys needs: 1, 1[k' = 1], squares of keys and queries, and keys that are 0 at position 1."""
    squares = [(p.key_squared, p.key) for p in pairs] + [(p.query_squared, p.query) for p in pairs]
    zeros = (is_zero_at_first(p.key) for p in pairs)
    return (ONE, *FIRST, *(is_square(square, root) for square, root in squares), *zeros)


def default_component(cost: int) -> Component:
    """Returns −cost at position 1."""
    return Component(reg("first"), -cost * reg("one"))


def sides(pairs: Sequence[RegisterPair]) -> tuple[tuple[Affine, Affine], ...]:
    """Returns the keys with their queries, without the squares."""
    return tuple((p.key, p.query) for p in pairs)


def match(
    name: str,
    pairs: Sequence[RegisterPair],
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """Wires register := form at the first position with equal keys, at position 1 if there is none. Queries must not all be 0."""
    scale = match_scale(setting, printed)
    one = reg("one")
    earliest = Component(reg(squared("position")), -scale.preference * one)
    components = (
        *equality_components(pairs, scale.mismatch),
        earliest,
        default_component(scale.default),
    )
    prefer = nearest_to(reg("position"), Affine(), scale.preference)
    lookup = Lookup(sides(pairs), scale.mismatch, prefer, penalty=scale.default * one)
    source = "Lemma C.15 as printed" if printed else "Lemma C.15"
    return Head(name, components, reads, source, (*equality_needs(pairs), POSITION), lookup)


def match_precision(n: int, length: int) -> int:
    """Returns the least p for the heads that match integers up to n and prefer by position."""
    start = match_room(smallest_gap(length), n, length)
    return least_odd_precision(lambda q: match_room(least_gap(q, length), n, length), start)


def match_room(gap: int, n: int, length: int) -> int:
    """Returns the fraction bits that these heads need with this gap."""
    area = gap * (1 << length.bit_length()) ** 2
    key_scale, query_scale = split_scale(4 * area)
    # The default stays above saturated non-matches; the scaled squares of keys, queries and positions fit.
    return max(log2(4 * area), log2(max(key_scale, query_scale)) + 2 * n.bit_length(), log2(area) + 1)


def spelled_out_position_precision(length: int) -> int:
    """Returns the least p for a head on positions under `sequential`: the term 2G·k·k' of a score must fit by itself."""
    start = 2 * length.bit_length()
    return least_odd_precision(lambda q: log2(least_gap(q, length)) + start + 1, start)


def spelled_out_key_precision(n: int, length: int, *, by_position: bool) -> int:
    """Returns the least p for keys up to n under `sequential`: the term 2S·x'·x must fit, S = 4GL², or G where all keys tie."""

    def bits(q: int) -> int:
        gap = least_gap(q, length)
        scale = 4 * gap * (1 << length.bit_length()) ** 2 if by_position else gap
        return log2(scale) + 2 * n.bit_length() + 1

    return least_odd_precision(bits, 2 * n.bit_length())


def spelled_out(fused: int, discipline: Discipline, largest: int, length: int, *, by_position: bool = True) -> int:
    """Returns the least p of a model with heads on positions and on keys up to `largest`. fused: that under `fused`."""
    if discipline is Discipline.FUSED:
        return fused
    keys = spelled_out_key_precision(largest, length, by_position=by_position)
    return max(fused, keys, spelled_out_position_precision(length))


def key_pairs(pairs: int) -> Sequence[tuple[str, str]]:
    """Returns the registers of so many keys, each with the register of its query."""
    return [("key", "query")] if pairs == 1 else [(f"key {i}", f"query {i}") for i in range(1, pairs + 1)]


def pairs_of(pairs: int) -> tuple[RegisterPair, ...]:
    """Returns so many keys and queries, with the registers of their squares."""
    return tuple(pair(key, query) for key, query in key_pairs(pairs))


def prepare(pairs: int = 1) -> tuple[Gadget, ...]:
    """Returns the feed-forward units that a head of this family needs before it: 1, position², 1[position = 1], squares of keys."""
    return (
        constant("1", {"one": 1}),
        square(reg("position"), squared("position")),
        indicator(reg("position"), 1, {"first": 1}, name="1[position = 1]"),
        *(square(reg(side), squared(side)) for sides in key_pairs(pairs) for side in sides),
    )


def match_contract(setting: Setting, pairs: int) -> Contract:
    """Assumes keys and queries in 0 … n, the first query not 0, zero keys at position 1, any integer to read."""
    n = setting.n
    inputs: dict[str, Domain] = {}
    for i, (key, query) in enumerate(key_pairs(pairs)):
        inputs |= {key: Integer(0, n), query: Integer(1 if i == 0 else 0, n)}
    inputs["payload"] = Integer(-n, n)
    return Contract(inputs, {"out": Integer(-n, n)}, {key: Fraction(0) for key, _ in key_pairs(pairs)})


def equal_positions(columns: Columns, pairs: int, k: int) -> list[int]:
    """Returns 0-based positions up to k where every key equals k's query."""
    return [h for h in range(k + 1) if all(columns[key][h] == columns[query][k] for key, query in key_pairs(pairs))]


def pairs_bound(n: int, pairs: int) -> int:
    """Returns a number whose square is not below the sum of so many squares of numbers up to n: ⌈√pairs⌉·n."""
    return (math.isqrt(pairs - 1) + 1) * n


def part_that_reads(
    name: str, id: str, source: str, statement: str, head: Callable[..., Head], pick: Callable[..., int], pairs: int
) -> Part:
    """Returns a lemma whose head reads from one position with equal keys, or from position 1 if there is none.

    head: makes the head, as `match` does. pick: which of several positions, min or max.
    """

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        reading = head(name, pairs_of(pairs), {"out": reg("payload")}, setting, printed=printed)
        return [BlockPlan((), prepare(pairs)), BlockPlan((reading,), ())]

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload = columns["payload"]
        return {"out": [payload[pick(equal_positions(columns, pairs, k), default=0)] for k in range(len(payload))]}

    return Part(
        id=id,
        name=name,
        source=source,
        statement=statement,
        plan=plan,
        contract=lambda setting: match_contract(setting, pairs),
        oracle=oracle,
        least_precision=lambda n, length: match_precision(pairs_bound(n, pairs), length),
        findings=(FINDING,),
    )


def part(pairs: int) -> Part:
    """Returns the lemma for so many keys and queries."""
    statement = (
        "One head reads from the first position whose keys equal the query, or from position 1 if there is none."
    )
    return part_that_reads("match", "C.15", "Lemmas C.9 and C.15", statement, match, min, pairs)


PART = part(1)
