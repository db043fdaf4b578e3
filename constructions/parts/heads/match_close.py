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
from dataclasses import replace

from constructions.parts.heads.match import RegisterPair, equality_needs, part_that_reads
from constructions.parts.heads.match_nearest import match_nearest
from constructions.wiring.affine import Affine, reg
from constructions.wiring.needs import POSITION
from constructions.wiring.part import Part, Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import Head


def match_close(
    name: str,
    pairs: Sequence[RegisterPair],
    reads: Mapping[str, Affine],
    setting: Setting,
    *,
    printed: bool = False,
) -> Head:
    """Wires register := form at the last position with equal keys, or at position 1 if there is none. Queries must not all be 0.

    It is the one nearest to the query's own.
    """
    k, k_squared = reg("position"), reg(squared("position"))
    nearest = match_nearest(name, pairs, k, k_squared, reads, setting, printed=printed)
    source = "Lemma C.16 as printed" if printed else "Lemma C.16"
    return replace(nearest, source=source, needs=(*equality_needs(pairs), POSITION))


def part(pairs: int) -> Part:
    """Returns the lemma for so many keys and queries."""
    statement = "One head reads from the last position whose keys equal the query, or from position 1 if there is none."
    return part_that_reads("match close", "C.16", "Lemmas C.10 and C.16", statement, match_close, max, pairs)


PART = part(1)
