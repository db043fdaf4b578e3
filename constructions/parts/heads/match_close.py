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
    Pair,
    default_component,
    equality_components,
    equality_needs,
    match_scale,
    part_that_reads,
    sides,
)
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import POSITION
from constructions.wiring.part import Part, Setting, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import Component, Head


def match_close(
    name: str,
    pairs: Sequence[Pair],
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """Wires register := form at the last position with equal keys, or at position 1 if there is none. Queries must not all be 0."""
    scale = match_scale(setting, printed)
    k, k_squared = reg("position"), reg(squared("position"))
    shares = (1, scale.preference) if printed else split_scale(scale.preference)
    latest: tuple[Component, ...] = nearest_key(k, k_squared, shares)
    penalty = scale.default * reg("one")
    if printed:  # + n(k − 1)² at position 1
        cancels = scale.preference * (k_squared - 2 * k + reg("one"))
        latest += (Component(reg("first"), cancels),)
        penalty = penalty - cancels
    components = (
        *equality_components(pairs, scale.mismatch),
        *latest,
        default_component(scale.default),
    )
    source = "Lemma C.16 as printed" if printed else "Lemma C.16"
    lookup = Lookup(sides(pairs), scale.mismatch, nearest_to(k, k, scale.preference), penalty=penalty)
    return Head(name, components, reads, source, (*equality_needs(pairs), POSITION), lookup)


def part(pairs: int) -> Part:
    """Returns the lemma for so many keys and queries."""
    statement = "One head reads from the last position whose keys equal the query, or from position 1 if there is none."
    return part_that_reads("match close", "C.16", "Lemmas C.10 and C.16", statement, match_close, max, pairs)


PART = part(1)
