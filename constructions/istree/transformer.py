"""IsTree: a Transformer of nine blocks that decides by depth-first search whether a graph is a tree.

Source: Theorem 4.7 (upper bound), appendix C.6.2; Algorithm 1 and Lemma C.29. Its blocks are in blocks.py, and what the paper
prints in place of some of them in printed.py.

Size: 9 blocks, at most 2 heads in one, a width that does not depend on n, p = O(log n) bits (`least_precision`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.istree import words
from constructions.istree.base import IsTreeModel, TourModel
from constructions.istree.blocks import EDGE_COUNT, LAYER_7, TIED_HEAD, BlockNames, blocks_of, embedding_of
from constructions.istree.graphs import sequence_length
from constructions.istree.lean import Lean
from constructions.models.construction import Construction, Derived
from constructions.models.model import NOTHING, Ids, Planned
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.threshold import FINDING as THRESHOLD
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match_next import match_next_precision
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, printed_precision
from precision.format import Discipline, Format

SOURCE = "Theorem 4.7, appendix C.6.2"

FINDINGS: tuple[Finding, ...] = (TIED_HEAD, LAYER_7, EDGE_COUNT, SCORE_RANGE, COUNT, INDICATOR, THRESHOLD)
FINDING_IDS = tuple(finding.id for finding in FINDINGS)


@dataclass(frozen=True)
class TourTransformer(TourModel):
    """The Transformer of nine blocks; in the variant `lean`, our own one of five."""

    prompt_registers = ("count", "self", "other", "edge_count")
    construction = Construction(
        name="istree",
        source=SOURCE,
        statement=words.STATEMENT,
        model="transformer",
        findings=FINDINGS,
        precision=words.PRECISION,
        glossary=words.GLOSSARY,
        variants=("repaired", "printed", "lean"),
    )
    block_texts = words.BLOCKS

    def in_variant(self, variant: str) -> IsTreeModel:
        super().in_variant(variant)
        return Lean(self.layout) if variant == "lean" else self

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p that suffices for every simple graph on n vertices.

        At most 8·bits(n) + 23 for n ≤ 10^6 under `fused`: T·(t − c')² of Lemma C.18 needs a range of n⁴·G. Under `sequential` the
        single terms of a score must fit as well, which costs another factor of n² in range.
        """
        if SCORE_RANGE.id in printed:
            return printed_precision(n)
        length = sequence_length(n)
        bits = (n + 1).bit_length()
        # Vertex logits and override in block 9; the resolution times a vertex in blocks 7 and 8; span·(next + current − 1).
        own = 2 * max(5 + 2 * bits, 2 + 3 * bits, 3 + length.bit_length() + bits) + 1
        fused = max(own, match_next_precision(n, length))  # room for −G·k² as well, which is less than a match needs
        return fused if discipline is Discipline.FUSED else fused + 4 * (n.bit_length() + 1)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        plan = BlockNames(self.setting(n, fmt), self.layout, printed)
        return embedding_of(plan, n if listed is None else listed), blocks_of(plan)

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return words.constants(setting, BlockNames(setting, self.layout, printed).resolution, printed)

    def narrate(self, values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
        return words.narrate(values, produced, verdict)


TRANSFORMER = TourTransformer()
