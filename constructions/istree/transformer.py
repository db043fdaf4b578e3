"""IsTree: a Transformer of nine blocks that decides by depth-first search whether a graph is a tree.

Source: Theorem 4.7 (upper bound), appendix C.6.2; Algorithm 1 and Lemma C.29. Its blocks are in blocks.py, and what the paper
prints in place of some of them in printed.py.

Size: 9 blocks, at most 2 heads in one, a width that does not depend on n, p = O(log n) bits (`least_precision`).
"""

from __future__ import annotations

from collections.abc import Iterable

from constructions.istree import words
from constructions.istree.blocks import EDGE_COUNT, LAYER_7, TIED_HEAD, Plan, blocks_of, embedding_of
from constructions.istree.graphs import LAYOUTS, Layout, sequence_length
from constructions.models.building import chosen_of, format_of, wired_of
from constructions.models.construction import Construction
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.threshold import FINDING as THRESHOLD
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match_next import match_next_precision
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, printed_precision
from constructions.wiring.wire import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Format

SOURCE = "Theorem 4.7, appendix C.6.2"

FINDINGS: tuple[Finding, ...] = (TIED_HEAD, LAYER_7, EDGE_COUNT, SCORE_RANGE, COUNT, INDICATOR, THRESHOLD)
FINDING_IDS = tuple(finding.id for finding in FINDINGS)


def least_precision(n: int, discipline: Discipline = Discipline.FUSED) -> int:
    """The least p of R_p for which the repaired weights' derivation holds, for every simple graph on n vertices.

    At most 8·bits(n) + 23 for n ≤ 10^6 under `fused`: T·(t − c')² of Lemma C.18 needs a range of n⁴·G. Under `sequential` the
    single terms of a score must fit as well, which costs another factor of n² in range.
    """
    length = sequence_length(n)
    bits = (n + 1).bit_length()
    # Vertex logits and override in block 9; the resolution times a vertex in blocks 7 and 8; span·(next + current − 1).
    own = 2 * max(5 + 2 * bits, 2 + 3 * bits, 3 + length.bit_length() + bits) + 1
    fused = max(own, match_next_precision(n, length))  # room for −G·k² as well, which is less than a match needs
    return fused if discipline is Discipline.FUSED else fused + 4 * (n.bit_length() + 1)


def plan(
    n: int, fmt: Format, *, layout: Layout = "paper", printed: frozenset[str] = frozenset(), vertices: int | None = None
) -> tuple[Embedding, tuple[BlockPlan, ...]]:
    """The embedding and the blocks for graphs on n vertices, not yet matrices; vertices: how many of them the embedding lists."""
    plan = Plan(Setting(n, sequence_length(n), fmt), LAYOUTS[layout], printed)
    return embedding_of(plan, n if vertices is None else vertices), blocks_of(plan)


def build(
    n: int,
    precision_bits: int | None = None,
    *,
    layout: Layout = "paper",
    printed: Iterable[str] = (),
    discipline: Discipline = Discipline.FUSED,
    forced: bool = False,
    listed: int | None = None,
) -> Wired:
    """The wired Transformer for graphs on n vertices.

    printed: ids of findings to put back to print; all of them give the variant `printed`.
    precision_bits: by default `least_precision`, or `printed_precision` where the printed score factors are used.
    forced: take fewer bits than that, and round what does not fit.
    listed: how many vertices the embedding lists, by default all; where a table of all would be too large.
    Raises ValueError if p is even, or too small for a model without printed score factors; the message names the least p.
    """
    finding_ids = chosen_of(FINDINGS, printed)
    if n < 1:
        raise ValueError(f"a graph needs at least 1 vertex, got n = {n}")
    as_printed = SCORE_RANGE.id in finding_ids
    least = printed_precision(n) if as_printed else least_precision(n, discipline)
    bits = least if precision_bits is None else precision_bits
    fmt = format_of(0 if as_printed or forced else least, bits, f"n = {n} ({discipline.value})")
    embedding, blocks = plan(n, fmt, layout=layout, printed=finding_ids, vertices=listed)
    arithmetic, longest, exact = Arithmetic(fmt, discipline), sequence_length(n), not (finding_ids or forced)
    return wired_of("istree", SOURCE, FINDINGS, finding_ids, n, embedding, blocks, arithmetic, longest, exact=exact)


def _lean() -> Construction:
    from constructions.istree import lean

    return lean.CONSTRUCTION


CONSTRUCTION = Construction(
    name="istree",
    source=SOURCE,
    statement=words.STATEMENT,
    model="transformer",
    variants=("repaired", "printed", "lean"),
    findings=FINDINGS,
    build=lambda n, findings: build(n, printed=findings),
    precision=words.PRECISION,
    least_precision=least_precision,
    setting=lambda n, fmt: Setting(n, sequence_length(n), fmt),
    constants=lambda setting, printed: words.constants(
        setting, Plan(setting, LAYOUTS["paper"], printed).resolution, printed
    ),
    blocks=words.BLOCKS,
    glossary=words.GLOSSARY,
    lean=_lean,
)
