"""IsTree: a Transformer of nine blocks that decides by depth-first search whether a graph is a tree.

Source: Theorem 4.7 (upper bound), appendix C.6.2; Algorithm 1 and Lemma C.29.
Idea: each chain-of-thought token is the next vertex of the search. Every edge leaves two *incidence records* (self,
other, count) in the prompt: count = ROUND(1/(1 + i)) for the i-th edge of `self`. At vertex `current`, reached from
`previous`, the model finds the edge just walked, then the record of `current` with the next count, once more if that
leads to the father, and says NO if it leads to any other vertex seen before.

Registers, by the block that writes them:
  embedding  vertex, vertex_squared, one per special token, position
  1          one, first, position_squared; after_prompt, after_root
  2          count: 1/(1 + occurrences of this vertex so far); (layout eos) prompt_end
  3, 4       …@1, …@2, …@3: what stood 1, 2 and 3 positions before
  4          self, other, edge_count (and squares) at the two tokens of each record; current, previous at chain-of-thought tokens
  5          walked: the count of the edge just walked; target: the count to look for next
  6          father: the vertex from which `current` was reached first
  7          next1, count1: the next record; candidate1: next1, or 0 if all edges are used up; skip: whether next1 is the father
  8          next2, count2: the record after that; next: where the search goes; onward: whether that is away from the father
  9          seen: the first position of `next`, 1 if there is none; then the output

Size: 9 blocks, at most 2 heads in one, a width that does not depend on n, p = O(log n) bits (`least_precision`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from constructions.istree import lean, words
from constructions.istree.graphs import LAYOUTS, Layout, TokenLayout, sequence_length
from constructions.models.construction import Construction
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.parts.gadgets.product import square
from constructions.parts.gadgets.threshold import FINDING as THRESHOLD
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.count import count
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import Pair, match, match_precision
from constructions.parts.heads.match_next import match_next, match_next_precision
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, printed_precision
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Unit, constant, linear, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, Format, fixed_point

SOURCE = "Theorem 4.7, appendix C.6.2"

TIED_HEAD = Finding(
    id="tied-head",
    source="section 3 (embedding) and C.6.2, layer 9",
    printed="number i embeds as i·w1 and the output n[−v, 1, −1, …, −1] decodes to v",
    used="number i embeds as (i, i²); the output (4v, −2) gives number i the logit 2v² − 2(v − i)²",
    why="a tied head that is linear in i is largest at an end of the vocabulary, never at v in between",
)
LAYER_7 = Finding(
    id="layer-7",
    source="C.6.2, layers 7 and 8",
    printed="two MatchNext heads, one over first and one over second endpoints",
    used="one MatchNext head over incidence records, two to an edge",
    why="each printed head sees only some of a vertex's counts; two that lie around the wanted one tie and are averaged",
)
EDGE_COUNT = Finding(
    id="edge-count",
    source="C.6.2, layer 9 and |Tokenize(G)| = 3n − 2",
    printed="the chain of thought starts after any prompt, and a full one is recognised by ending at position 5n − 3",
    used="the chain of thought starts only after a prompt of 3n − 2 tokens; otherwise the answer is NO",
    why="a graph with m ≠ n − 1 edges shifts the positions, and a search of another length can end at 5n − 3",
)
FINDINGS: tuple[Finding, ...] = (TIED_HEAD, LAYER_7, EDGE_COUNT, SCORE_RANGE, COUNT, INDICATOR, THRESHOLD)
FINDING_IDS = tuple(finding.id for finding in FINDINGS)


@dataclass(frozen=True)
class _Plan:
    """The names that the blocks share while they are written."""

    setting: Setting
    layout: TokenLayout
    printed: frozenset[str]

    def says(self, finding: Finding) -> bool:
        """Whether this finding is put back to what is printed."""
        return finding.id in self.printed

    @property
    def n(self) -> int:
        return self.setting.n

    @property
    def resolution(self) -> int:
        """A power of two that takes the difference of two unit fractions down to 1/(n + 1), rounded, above 1."""
        return 2 * (1 << (self.n + 1).bit_length()) ** 2

    @property
    def prompt_end(self) -> Affine | int:
        """Position of the last prompt token of a graph with n − 1 edges."""
        return 3 * self.n - 2 if self.layout.end_of_prompt is None else reg("prompt_end")

    def is_(self, x: Affine, value: Number, into: Mapping[str, Number], **rest: object) -> Gadget:
        return indicator(x, value, into, printed=self.says(INDICATOR), **rest)  # type: ignore[arg-type]

    def reaches(self, x: Affine, at: Number, into: Mapping[str, Number], **rest: object) -> Gadget:
        return threshold(x, at, into, printed=self.says(THRESHOLD), **rest)  # type: ignore[arg-type]


def squared(name: str) -> str:
    """The register that holds the square of `name`."""
    return f"{name}_squared"


def pair(key: str, query: str) -> Pair:
    """Key register `key` against query register `query`."""
    return Pair(reg(key), reg(query), reg(squared(key)), reg(squared(query)))


def times(gate: Affine, up: str | Affine, into: str) -> Unit:
    """into += ReLU(gate)·up."""
    return Unit(gate, reg(up) if isinstance(up, str) else up, {into: 1})


def _embedding(plan: _Plan, n: int) -> Embedding:
    layout = plan.layout
    if plan.says(TIED_HEAD):
        vertices: list[Mapping[str, Number]] = [{"vertex": i} for i in range(1, n + 1)]
    else:
        vertices = [{"vertex": i, "vertex_squared": i * i} for i in range(1, n + 1)]
    specials: list[Mapping[str, Number]] = [{word: 1} for word in layout.specials]
    return Embedding(layout.vocabulary(n), (*vertices, *specials), "position")


def _block_1(plan: _Plan) -> BlockPlan:
    position, n = reg("position"), plan.n
    gadgets = [
        constant("1", {"one": 1}),
        plan.is_(position, 1, {"first": 1}, name="1[position = 1]"),
        square(position, "position_squared"),
    ]
    if plan.layout.end_of_prompt is None:
        gadgets += [
            plan.reaches(position, 3 * n - 1, {"after_prompt": 1}, name="behind a prompt of n − 1 edges"),
            plan.reaches(position, 3 * n, {"after_root": 1}, name="behind the first vertex of the chain of thought"),
        ]
    if plan.says(TIED_HEAD):
        gadgets.append(square(reg("vertex"), "vertex_squared"))
    return BlockPlan((), tuple(gadgets))


def _block_2(plan: _Plan) -> BlockPlan:
    heads = [
        count("occurrences", reg("vertex"), reg("vertex_squared"), "count", plan.setting, printed=plan.says(COUNT))
    ]
    gadgets = []
    if plan.layout.end_of_prompt is not None:
        end = reg(plan.layout.end_of_prompt)
        heads.append(
            match(
                "end of prompt",
                (Pair(end, reg("one"), end, reg("one")),),
                {"prompt_end": reg("position")},
                plan.setting,
                printed=plan.says(SCORE_RANGE),
            )
        )
        gadgets = [
            plan.reaches(
                reg("prompt_end"), 2, {"after_prompt": 1, "after_root": 1}, name="behind the end of the prompt"
            )
        ]
    return BlockPlan(tuple(heads), tuple(gadgets))


def _shift(names: Iterable[str], by: int) -> dict[str, Affine]:
    """Reads that copy each register; `x@1` copied from 2 positions before becomes `x@3`."""

    def shifted(name: str) -> str:
        base, _, offset = name.partition("@")
        return f"{base}@{int(offset or 0) + by}"

    return {shifted(name): reg(name) for name in names}


def _block_3(plan: _Plan) -> BlockPlan:
    names = ("vertex", "vertex_squared", "count", plan.layout.joint)
    return BlockPlan((copy("@1", 1, _shift(names, 1), plan.setting),), ())


def _block_4(plan: _Plan) -> BlockPlan:
    joint = plan.layout.joint
    values = ("vertex@1", "vertex_squared@1", "count@1")
    heads = (
        copy("@2", 1, _shift((*values, f"{joint}@1"), 1), plan.setting),
        copy("@3", 2, _shift(values, 2), plan.setting),
    )
    second, after_second = reg(f"{joint}@1"), reg(f"{joint}@2")  # 1 at a second endpoint; at the token after it
    records: list[Unit] = []
    if plan.says(LAYER_7):
        from constructions.istree.printed import edge_units

        records = edge_units(second)
    else:
        for here, suffix_self, suffix_other in ((second, "", "@2"), (after_second, "@3", "@1")):
            own_count = reg(f"count{suffix_self}")
            records += [
                times(here, f"vertex{suffix_self}", "self"),
                times(here, f"vertex_squared{suffix_self}", "self_squared"),
                times(here, f"vertex{suffix_other}", "other"),
                times(here, f"vertex_squared{suffix_other}", "other_squared"),
                times(here, own_count, "edge_count"),
                # count − 1 + here is count at a record and not positive elsewhere, so the unit is here·count².
                times(own_count - 1 + here, own_count, "edge_count_squared"),
            ]
    # An edge's second endpoint is never a chain-of-thought vertex, wherever it stands.
    walk, come = reg("after_prompt") - second, reg("after_root") - second
    chain = (
        times(walk, "vertex", "current"),
        times(walk, "vertex_squared", "current_squared"),
        times(come, "vertex@1", "previous"),
        times(come, "vertex_squared@1", "previous_squared"),
    )
    gadgets = (Gadget("incidence records", tuple(records)), Gadget("chain-of-thought vertices", chain))
    return BlockPlan(heads, gadgets)


def _block_5(plan: _Plan) -> BlockPlan:
    if plan.says(LAYER_7):
        from constructions.istree.printed import walked_heads

        heads = walked_heads(plan.setting, plan.says(SCORE_RANGE))
    else:
        heads = (
            match(
                "edge just walked",
                (pair("self", "current"), pair("other", "previous")),
                {"walked": reg("edge_count")},
                plan.setting,
                printed=plan.says(SCORE_RANGE),
            ),
        )
    return BlockPlan(heads, (next_fraction(reg("walked"), "target"),))


def _block_6(plan: _Plan) -> BlockPlan:
    head = match(
        "father",
        (pair("current", "current"),),
        {"father": reg("previous"), "father_squared": reg("previous_squared")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    came_down = reg("previous") - reg("father")
    return BlockPlan(
        (head,),
        (
            plan.is_(came_down, 0, {"walked": 1}, times=1 - reg("walked"), name="reached from the father: walked := 1"),
            plan.is_(
                came_down,
                0,
                {"target": 1},
                times=Fraction(1, 2) - reg("target"),
                name="reached from the father: target := 1/2",
            ),
        ),
    )


def _next_head(plan: _Plan, name: str, target: str, number: int) -> tuple[BlockPlan, ...]:
    reads = {
        f"next{number}": reg("other"),
        f"next{number}_squared": reg("other_squared"),
        f"count{number}": reg("edge_count"),
    }
    head = match_next(
        name,
        (pair("self", "current"),),
        reg("edge_count"),
        reg("edge_count_squared"),
        reg(target),
        reads,
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    return (BlockPlan((head,), ()),)


def _block_7(plan: _Plan) -> BlockPlan:
    (block,) = _next_head(plan, "next edge", "target", 1)
    step = Fraction(1, plan.resolution)
    left = reg("walked") - reg("count1")  # at least one step if there is a next edge, otherwise 0
    gadgets = (
        plan.reaches(
            left, step, {"candidate1": 1}, margin=step, times=reg("next1"), name="next1, if there is an edge left"
        ),
        plan.reaches(left, step, {"candidate1_squared": 1}, margin=step, times=reg("next1_squared"), name="its square"),
        plan.is_(reg("next1") - reg("father"), 0, {"skip": 1}, name="next1 is the father"),
        next_fraction(reg("count1"), "target2"),
    )
    return BlockPlan(block.heads, gadgets)


def _block_8(plan: _Plan) -> BlockPlan:
    (block,) = _next_head(plan, "edge after the next", "target2", 2)
    scale = plan.resolution
    # At least 1 if next1 is the father and there is an edge after it, otherwise not positive.
    another = scale * (reg("count1") - reg("count2")) - scale * (1 - reg("skip"))
    gadgets = []
    for suffix in ("", "_squared"):
        into = "next" + suffix
        father = reg("father" + suffix)
        past = reg("next2" + suffix) - father
        gadgets += [
            linear(f"{into} := candidate1{suffix}", reg("candidate1" + suffix), into),
            Gadget(f"father{suffix}, if no edge is left", (times(1 - reg("candidate1"), father, into),)),
            Gadget(
                f"next2{suffix} in place of the father",
                (Unit(another, past, {into: 1}), Unit(another - 1, past, {into: -1})),
            ),
        ]
    fresh = reg("candidate1") - (plan.n + 1) * reg("skip")
    gadgets.append(
        Gadget(
            "next is neither the father nor 0",
            (
                Unit(fresh, as_affine(1), {"onward": 1}),
                Unit(fresh - 1, as_affine(1), {"onward": -1}),
                Unit(another, as_affine(1), {"onward": 1}),
                Unit(another - 1, as_affine(1), {"onward": -1}),
            ),
        )
    )
    return BlockPlan(block.heads, tuple(gadgets))


def _block_9(plan: _Plan) -> BlockPlan:
    head = match(
        "seen before",
        (pair("current", "next"),),
        {"seen": reg("position")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    return BlockPlan((head,), tuple(_output(plan)))


def _output(plan: _Plan) -> list[Gadget]:
    """What the last feed-forward writes over the embedding registers, where the tied output head reads it."""
    n, layout = plan.n, plan.layout
    word_registers = ["vertex", *([] if plan.says(TIED_HEAD) else ["vertex_squared"]), *layout.specials]
    clear = tuple(linear("", -reg(name), name).units[0] for name in word_registers)
    gadgets = [Gadget("clear the embedding", clear)]
    following = reg("next")
    position, span = reg("position"), 4 * plan.setting.length_bound
    stop = layout.no if layout.end_of_prompt is None else layout.end_of_prompt

    # A power of two above every vertex logit: the closing token wins if an edge that is not the father's leads to a seen vertex.
    override = 8 * (1 << n.bit_length()) ** 2
    closing = plan.reaches(
        reg("seen"), 2, {stop: override}, times=reg("onward"), name=f"{stop} at a vertex seen before, not the father"
    )
    if plan.says(TIED_HEAD):
        # The print's n[−v, 1, −1, …, −1]; the second coordinate belongs to no token of this vocabulary.
        gadgets.append(linear("output −n·next", -n * following, "vertex"))
        gadgets.append(constant("−n on specials", dict.fromkeys(layout.specials, -n)))
        gadgets.append(Gadget(f"{stop} after the last vertex", (Unit(1 - following, reg("one"), {stop: 2 * n}),)))
        start_logit = -n
    else:
        gadgets.append(linear("output 4·next", 4 * following, "vertex"))
        gadgets.append(constant("output −2", {"vertex_squared": -2}))
        gadgets.append(Gadget(f"{stop} after the last vertex", (Unit(1 - following, reg("one"), {stop: 1}),)))
        start_logit = 4
    gadgets.append(closing)

    if layout.end_of_prompt is None:
        if plan.says(EDGE_COUNT):
            after_prompt = reg(layout.start) if n == 1 else reg(f"{layout.joint}@1")
            gadgets.append(
                Gadget("vertex 1 after any edge", (times(after_prompt, start_logit * reg("one"), "vertex"),))
            )
        else:
            gadgets.append(plan.is_(position, 3 * n - 2, {"vertex": start_logit}, name="vertex 1 after n − 1 edges"))
        # All of: no vertex follows, the current one is 1, and 2n − 1 have been written.
        done = position - (5 * n - 3) + span * (following + reg("current") - 1)
        gadgets.append(plan.is_(done, 0, {layout.yes: 4 * n}, name="tour complete"))
    else:
        ended = reg(layout.end_of_prompt)
        behind = position - reg("prompt_end")
        gadgets += [
            plan.is_(behind, 0, {"vertex": start_logit}, name="vertex 1 after the prompt"),
            plan.reaches(behind - span * (1 - ended), 1, {layout.no: 2}, name="verdict after the closing token"),
            plan.is_(behind - 2 * n + span * (1 - ended), 0, {layout.yes: 4 * n}, name="tour of 2n − 1 vertices"),
        ]
    return gadgets


def least_precision(n: int, discipline: Discipline = Discipline.FUSED) -> int:
    """The least p of R_p for which the repaired weights' derivation holds, for every simple graph on n vertices.

    At most 8·bits(n) + 23 for n ≤ 10^6 under `fused`: T·(t − c')² of Lemma C.18 needs a range of n⁴·G. Under `sequential` the
    single terms of a score must fit as well, which costs another factor of n² in range.
    """
    length = sequence_length(n)
    bits = (n + 1).bit_length()
    # Vertex logits and override in block 9; the resolution times a vertex in blocks 7 and 8; span·(next + current − 1).
    own = 2 * max(5 + 2 * bits, 2 + 3 * bits, 3 + length.bit_length() + bits) + 1
    fused = max(own, position_square_precision(n, length), match_precision(n, length), match_next_precision(n, length))
    return fused if discipline is Discipline.FUSED else fused + 4 * (n.bit_length() + 1)


def plan(
    n: int, fmt: Format, *, layout: Layout = "paper", printed: frozenset[str] = frozenset(), vertices: int | None = None
) -> tuple[Embedding, list[BlockPlan]]:
    """The embedding and the blocks for graphs on n vertices, not yet matrices; vertices: how many of them the embedding lists."""
    plan = _Plan(Setting(n, sequence_length(n), fmt), LAYOUTS[layout], printed)
    if plan.says(LAYER_7):
        from constructions.istree.printed import search_blocks

        search = search_blocks(plan.setting, plan.resolution, plan.says(SCORE_RANGE))
    else:
        search = [_block_7(plan), _block_8(plan)]
    blocks = [_block_1(plan), _block_2(plan), _block_3(plan), _block_4(plan), _block_5(plan), _block_6(plan), *search]
    return _embedding(plan, n if vertices is None else vertices), [*blocks, _block_9(plan)]


def build(
    n: int,
    precision_bits: int | None = None,
    *,
    layout: Layout = "paper",
    printed: Iterable[str] = (),
    discipline: Discipline = Discipline.FUSED,
) -> Wired:
    """The wired Transformer for graphs on n vertices.

    printed: ids of findings to put back to print; all of them give the variant `printed`.
    precision_bits: by default `least_precision`, or `printed_precision` where the printed score factors are used.
    Raises ValueError if p is even, or too small for a model without printed score factors; the message names the least p.
    """
    chosen = frozenset(printed)
    if unknown := chosen - set(FINDING_IDS):
        raise ValueError(f"unknown finding {min(unknown)!r}; known: {', '.join(FINDING_IDS)}")
    if n < 1:
        raise ValueError(f"a graph needs at least 1 vertex, got n = {n}")
    as_printed = SCORE_RANGE.id in chosen
    least = least_precision(n, discipline)
    default = printed_precision(n) if as_printed else least
    bits = default if precision_bits is None else precision_bits
    fmt: Format = fixed_point(bits)
    if bits < least and not as_printed:
        raise ValueError(
            f"p = {bits} is too small for n = {n} ({discipline.value}); the least p it is wired for is {least}"
        )
    embedding, blocks = plan(n, fmt, layout=layout, printed=chosen)
    model, registers = wire(embedding, blocks, embedding.words, fmt, exact=not chosen, longest=sequence_length(n))
    return Wired(
        construction="istree",
        source=SOURCE,
        variant="printed" if chosen == set(FINDING_IDS) else "repaired",
        printed=tuple(i for i in FINDING_IDS if i in chosen),
        n=n,
        arithmetic=Arithmetic(fmt, discipline),
        model=model,
        registers=registers,
        vocabulary=embedding.vocabulary,
        blocks=tuple(blocks),
    )


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
        setting, _Plan(setting, LAYOUTS["paper"], printed).resolution, printed
    ),
    blocks=words.BLOCKS,
    glossary=words.GLOSSARY,
    lean=lean.CONSTRUCTION,
)
