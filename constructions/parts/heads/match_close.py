"""Read from the last position whose keys equal the query.

Source: Lemmas C.10 and C.16.
Derivation: as Lemma C.15, with the preference −G(k − k')² = −G·k'² + 2G·k·k' − G·k². Position 1 costs D = 2GL² on top of
its preference, so it lies at −3GL² or above, and unequal keys lie at −4GL² or below.

OPEN in Lemma C.16
paper says: factors n^(4c+1), n and n^(2c+2), position 1's own preference cancelled.
we use: the scale of Lemma C.15, position 1's preference kept.
why: as for Lemma C.15, the printed factors are right where they fit, from n = 46 on as far as tried, and take more bits. Keeping
the preference saves a term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constructions.parts.heads.copy import nearest_key
from constructions.parts.heads.match import (
    FINDING,
    Pair,
    default_component,
    equal_positions,
    equality_components,
    equality_needs,
    match_contract,
    match_precision,
    match_scale,
    pairs_of,
    prepare,
    widened,
)
from constructions.wiring.affine import Affine, reg
from constructions.wiring.needs import POSITION
from constructions.wiring.part import Columns, Expected, Part, Setting, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head


def match_close(
    name: str,
    pairs: Sequence[Pair],
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """register := form at the last position with equal keys, or at position 1 if there is none. Queries must not all be 0."""
    scale = match_scale(setting, printed)
    k, k_squared = reg("position"), reg(squared("position"))
    shares = (1, scale.preference) if printed else split_scale(scale.preference)
    latest: tuple[Component, ...] = nearest_key(k, k_squared, "k", shares)
    if printed:  # + n(k − 1)² at position 1
        cancels = scale.preference * (k_squared - 2 * k + reg("one"))
        latest += (Component(reg("first"), cancels, "+n(k − 1)² at k' = 1"),)
    components = (
        *equality_components(pairs, scale.mismatch),
        *latest,
        default_component(scale.default),
    )
    source = "Lemma C.16 as printed" if printed else "Lemma C.16"
    return Head(name, components, reads, source, (*equality_needs(pairs), POSITION))


def part(pairs: int) -> Part:
    """The lemma for so many keys and queries."""

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        head = match_close("match close", pairs_of(pairs), {"out": reg("payload")}, setting, printed=printed)
        return [BlockPlan((), prepare(pairs)), BlockPlan((head,), ())]

    def oracle(setting: Setting, columns: Columns) -> Expected:
        payload = columns["payload"]
        return {"out": [payload[max(equal_positions(columns, pairs, k), default=0)] for k in range(len(payload))]}

    return Part(
        id="C.16",
        name="match close",
        source="Lemmas C.10 and C.16",
        statement="One head reads from the last position whose keys equal the query, or from position 1 if there is none.",
        plan=plan,
        contract=lambda setting: match_contract(setting, pairs),
        oracle=oracle,
        least_precision=lambda n, length: match_precision(widened(n, pairs), length),
        findings=(FINDING,),
    )


PART = part(1)
