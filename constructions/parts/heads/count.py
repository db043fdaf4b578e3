"""Count how often a key has occurred.

Source: Lemmas C.8 and C.14.
Notation: x' and x are the key's and the query's value of the register, first' marks position 1.
Derivation: score −G(x' − x)² for k' > 1 and 0 at position 1, where x' = 0 and the term x² is left out by the key entry
1 − first'. So the m equal keys and position 1 tie at exactly 0, all others lie at −G or below, and the value read,
first', has weight ROUND(1/(m + 1)).

ERRATUM C.14, a slip in one of two forms
paper says: K = n[1 + 1[k' = 1], X, X²], Q = [X², −X, 1] for the score −n(X' − X)² + n·1[k' = 1]X² that stands beside it.
we use: K = √G[X², X, 1 − 1[k' = 1]], Q = √G[−1, 2X, −X²], which gives that score.
why: the score is right; the printed product is n(X'² − X'X + (1 + 1[k' = 1])X²), which grows with X'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.lookup import Lookup
from constructions.wiring.needs import FIRST, ONE, is_square, is_zero_at_first
from constructions.wiring.part import (
    Columns,
    Contract,
    Expected,
    Integer,
    Part,
    Setting,
    UnitFraction,
    least_gap,
    least_odd_precision,
    log2,
    split_scale,
)
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head, constant

FINDING = Finding(
    id="C.14",
    source="Lemma C.14",
    printed="K = n[1 + 1[k'=1], X, X²], Q = [X², −X, 1]",
    used="K = √G[X², X, 1 − 1[k'=1]], Q = √G[−1, 2X, −X²]",
    why="the printed product has the wrong sign and lacks a factor 2; the score −n(X' − X)² printed beside it is right",
)


def count(
    name: str,
    x: Affine,
    x_squared: Affine,
    into: str,
    setting: Setting,
    *,
    query: tuple[Affine, Affine] | None = None,
    printed: bool = False,
) -> Head:
    """Wires into := ROUND(1/(m + 1)), m the number of positions up to here, this one included, with the same x ≠ 0.

    query: a form other than x to compare x with, never 0, and its square.
    Needs x = 0 at position 1, and the registers `first` and `one`.
    """
    reads: Mapping[str, Affine] = {into: reg("first")}
    one, first = reg("one"), reg("first")
    sought, sought_squared = query or (x, x_squared)
    needs = (ONE, *FIRST, is_square(x_squared, x), is_square(sought_squared, sought), is_zero_at_first(x))
    if printed:
        n = setting.n
        components = (
            Component(n * (one + first), sought_squared),
            Component(n * x, -sought),
            Component(n * x_squared, one),
        )
        # The score that is printed beside these keys and queries. They have another one, which is the finding.
        return Head(name, components, reads, "Lemma C.14 as printed", needs, Lookup(((x, sought),), n))
    key_scale, query_scale = split_scale(setting.gap)
    components = (
        Component(key_scale * x_squared, -query_scale * one),
        Component(key_scale * x, 2 * query_scale * sought),
        Component(key_scale * (one - first), -query_scale * sought_squared),
    )
    return Head(name, components, reads, "Lemma C.14", needs, Lookup(((x, sought),), setting.gap))


def _oracle(setting: Setting, columns: Columns) -> Expected:
    tally: Counter[Fraction] = Counter()
    out: list[Fraction | None] = []
    for x in columns["x"]:
        tally[x] += 1
        out.append(Fraction(1, tally[x] + 1) if x else None)
    return {"out": out}


def _least_precision(n: int, length: int) -> int:
    start = 2 * n.bit_length()
    return least_odd_precision(
        lambda q: max(length.bit_length(), log2(split_scale(least_gap(q, length))[1]) + start + 1), start
    )


PART = Part(
    id="C.14",
    name="count",
    source="Lemmas C.8 and C.14",
    statement="One head computes 1/(1 + the number of occurrences of this key so far).",
    plan=lambda setting, printed: [
        BlockPlan(
            (),
            (constant("1", {"one": 1}), indicator(reg("position"), 1, {"first": 1}), square(reg("x"), squared("x"))),
        ),
        BlockPlan((count("count", reg("x"), reg(squared("x")), "out", setting, printed=printed),), ()),
    ],
    contract=lambda setting: Contract(
        {"x": Integer(0, setting.n)}, {"out": UnitFraction(1, setting.length + 1)}, {"x": Fraction(0)}
    ),
    oracle=_oracle,
    least_precision=_least_precision,
    findings=(FINDING,),
)
