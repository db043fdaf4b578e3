"""Read from the position nearest to a wanted one, among those whose keys equal the query.

Source: Lemmas C.11 and C.17.
Derivation: as Lemma C.15, with the preference −G(w − k')², w the wanted position, 0 ≤ w < L. Two positions at the same
distance tie, so the contract asks that the nearest one be unique.

OPEN in Lemma C.17
paper says: factors n^(4c+1), n and n^(2c+2), position 1's own preference cancelled; an argmin, and nothing about ties.
we use: the scale of Lemma C.15; a unique nearest position.
why: as for Lemma C.15; at equal distance on both sides the softmax halves and the result is an average of two positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import nearest_key
from constructions.parts.heads.match import (
    FINDING,
    TEST_PAIR,
    Pair,
    default_component,
    equal_positions,
    equality_components,
    equality_needs,
    match_contract,
    match_precision,
    match_scale,
    prepare,
)
from constructions.wiring.affine import Affine, reg
from constructions.wiring.needs import POSITION, is_square
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head


def match_nearest(
    name: str,
    pairs: Sequence[Pair],
    wanted: Affine,
    wanted_squared: Affine,
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """register := form at the equal-keyed position nearest to `wanted`, or at position 1 if there is none."""
    scale = match_scale(setting, printed)
    shares = (1, scale.preference) if printed else split_scale(scale.preference)
    nearest: tuple[Component, ...] = nearest_key(wanted, wanted_squared, "w", shares)
    if printed:  # + n(1 − w)² at position 1
        cancels = scale.preference * (wanted_squared - 2 * wanted + reg("one"))
        nearest += (Component(reg("first"), cancels, "+n(1 − w)² at k' = 1"),)
    components = (*equality_components(pairs, scale.mismatch), *nearest, default_component(scale.default))
    source = "Lemma C.17 as printed" if printed else "Lemma C.17"
    needs = (*equality_needs(pairs), POSITION, is_square(wanted_squared, wanted))
    return Head(name, components, reads, source, needs)


def _contract(setting: Setting) -> Contract:
    base = match_contract(setting)
    return replace(base, requires={**base.requires, "wanted": Integer(0, setting.length)})


def _oracle(setting: Setting, columns: Columns) -> Expected:
    payload, out = columns["payload"], []
    for k in range(len(payload)):
        equal = equal_positions(columns, k)
        distances = [abs(h + 1 - columns["wanted"][k]) for h in equal]
        best = [h for h, d in zip(equal, distances, strict=True) if d == min(distances)]
        out.append(payload[best[0]] if len(best) == 1 else payload[0] if not best else None)
    return {"out": out}


PART = Part(
    id="C.17",
    name="match nearest",
    source="Lemmas C.11 and C.17",
    statement="One head reads from the position nearest to a wanted one among those whose keys equal the query.",
    plan=lambda setting, printed: [
        BlockPlan((), (*prepare(), square(reg("wanted"), squared("wanted")))),
        BlockPlan(
            (
                match_nearest(
                    "match nearest",
                    (TEST_PAIR,),
                    reg("wanted"),
                    reg(squared("wanted")),
                    {"out": reg("payload")},
                    setting,
                    printed=printed,
                ),
            ),
            (),
        ),
    ],
    contract=_contract,
    oracle=_oracle,
    least_precision=match_precision,
    findings=(FINDING,),
)
