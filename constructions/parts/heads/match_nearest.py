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
from fractions import Fraction

from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import nearest_key
from constructions.parts.heads.match import (
    FINDING,
    RegisterPair,
    default_component,
    equal_positions,
    equality_components,
    equality_needs,
    match_contract,
    match_precision,
    match_scale,
    pairs_bound,
    pairs_of,
    prepare,
    sides,
)
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import POSITION, is_square
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head


def match_nearest(
    name: str,
    pairs: Sequence[RegisterPair],
    wanted: Affine,
    wanted_squared: Affine,
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """Wires register := form at the equal-keyed position nearest to `wanted`, or at position 1 if there is none."""
    scale = match_scale(setting, printed)
    shares = (1, scale.preference) if printed else split_scale(scale.preference)
    nearest: tuple[Component, ...] = nearest_key(wanted, wanted_squared, shares)
    penalty = scale.default * reg("one")
    if printed:  # + n(1 − w)² at position 1
        cancels = scale.preference * (wanted_squared - 2 * wanted + reg("one"))
        nearest += (Component(reg("first"), cancels),)
        penalty = penalty - cancels
    components = (*equality_components(pairs, scale.mismatch), *nearest, default_component(scale.default))
    source = "Lemma C.17 as printed" if printed else "Lemma C.17"
    needs = (*equality_needs(pairs), POSITION, is_square(wanted_squared, wanted))
    prefer = nearest_to(reg("position"), wanted, scale.preference)
    lookup = Lookup(sides(pairs), scale.mismatch, prefer, penalty=penalty)
    return Head(name, components, reads, source, needs, lookup)


def part(pairs: int) -> Part:
    """Returns the lemma for so many keys and queries; nothing is promised where two positions are equally near."""

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        wanted, wanted_squared, reads = reg("wanted"), squared("wanted"), {"out": reg("payload")}
        head = match_nearest(
            "match nearest", pairs_of(pairs), wanted, reg(wanted_squared), reads, setting, printed=printed
        )
        return [BlockPlan((), (*prepare(pairs), square(wanted, wanted_squared))), BlockPlan((head,), ())]

    def contract(setting: Setting) -> Contract:
        base = match_contract(setting, pairs)
        return replace(base, requires={**base.requires, "wanted": Integer(0, setting.length)})

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload, out = columns["payload"], list[Fraction | None]()
        for k, wanted in enumerate(columns["wanted"]):
            distance = {h: abs(h + 1 - wanted) for h in equal_positions(columns, pairs, k) or [0]}
            nearest = [h for h, d in distance.items() if d == min(distance.values())]
            out.append(payload[nearest[0]] if len(nearest) == 1 else None)
        return {"out": out}

    return Part(
        id="C.17",
        name="match nearest",
        source="Lemmas C.11 and C.17",
        statement="One head reads from the position nearest to a wanted one among those whose keys equal the query.",
        plan=plan,
        contract=contract,
        oracle=oracle,
        least_precision=lambda n, length: match_precision(pairs_bound(n, pairs), length),
        findings=(FINDING,),
    )


PART = part(1)
