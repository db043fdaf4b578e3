"""The nine blocks of IsTree's Transformer: a depth-first search, a vertex a token.

Source: appendix C.6.2; Algorithm 1.
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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from constructions.istree import printed
from constructions.istree.graphs import TokenLayout
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.parts.gadgets.product import square
from constructions.parts.gadgets.threshold import FINDING as THRESHOLD
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.heads.copy import copy
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.count import count
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import RegisterPair, match, pair
from constructions.parts.heads.match_next import match_next
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.part import Setting
from constructions.wiring.register import copied, register, squared
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Head, Unit, constant, linear

TIED_HEAD = Finding(
    id="tied-head",
    source="section 3 (embedding) and C.6.2, layer 9",
    printed="with number i embedded as i·w1 and the embedding as output head, some output makes any number v the likeliest, such as"
    " n[−v, 1, −1, …, −1] (C.6.2)",
    used="number i embeds as (i, i²); the output (4v, −2), twice (2v, −1), gives number i the logit 2v² − 2(v − i)²",
    why="a tied head that is linear in i is largest at an end of the vocabulary, never at v in between: it fails as"
    " soon as one token stands for each of three numbers",
)
LAYER_7 = Finding(
    id="layer-7",
    source="C.6.2, layers 7 and 8",
    printed="two MatchNext heads, one over first and one over second endpoints; the feed-forward after them takes the next edge",
    used="one MatchNext head over incidence records, two to an edge",
    why="if either end of an edge may stand first, each head sees only some of a vertex's counts, against the precondition of Lemma"
    " C.18. Counts 1/3 and 1/6 are equally near to 1/4, so the head that lacks 1/4 returns their average, which looks like a next"
    " edge. Two stars leave the same numbers and go on to different vertices. If each edge is written smaller end first, v_l and"
    " v_(l−1) tell which head found the walked edge, and with more than one feed-forward after the heads this is enough",
)
EDGE_COUNT = Finding(
    id="edge-count",
    source="C.6.2, layer 9 and |Tokenize(G)| = 3n − 2",
    printed="a full chain of thought is recognised by ending at position 5n − 3; the print does not say what other lengths of"
    " prompt answer",
    used="the chain of thought starts only after a prompt of 3n − 2 tokens; otherwise the answer is NO",
    why="a prompt of m edges has 3m + 1 tokens, and another search can end at 5n − 3: first where n = 7, vertex 1 is alone and the"
    " others have 10 edges. Lemma C.29 itself asks for n − 1 edges, and |Tokenize(G)| = 3n − 2 may promise them",
)


@dataclass(frozen=True)
class BlockNames:
    """The names that the blocks share while they are written."""

    setting: Setting
    layout: TokenLayout
    printed: frozenset[str]

    def says(self, finding: Finding) -> bool:
        """Returns whether the blocks are as printed where this finding repairs them."""
        return finding.id in self.printed

    @property
    def n(self) -> int:
        return self.setting.n

    @property
    def resolution(self) -> int:
        """A power of two that takes the difference of two unit fractions down to 1/(n + 1), rounded, above 1."""
        return 2 * (1 << (self.n + 1).bit_length()) ** 2

    def is_(self, x: Affine, value: Number, into: Mapping[str, Number], **rest: object) -> Gadget:
        return indicator(x, value, into, printed=self.says(INDICATOR), **rest)  # type: ignore[arg-type]

    def reaches(self, x: Affine, at: Number, into: Mapping[str, Number], **rest: object) -> Gadget:
        return threshold(x, at, into, printed=self.says(THRESHOLD), **rest)  # type: ignore[arg-type]


def embedding_of(plan: BlockNames, vertices: int) -> Embedding:
    """Returns the fixed embedding for this many vertices."""
    layout = plan.layout
    names = ("vertex",) if plan.says(TIED_HEAD) else ("vertex", squared("vertex"))
    powers = {name: (1, exponent) for exponent, name in enumerate(names, start=1)}
    words = Numbered((Powers(1, vertices, powers),), tuple({word: 1} for word in layout.specials))
    return Embedding(layout.vocabulary(vertices), words, "position")


def blocks_of(plan: BlockNames) -> tuple[BlockPlan, ...]:
    """Returns all of them, in order; the print of layers 7 and 8 takes a few more."""
    if plan.says(LAYER_7):
        blocks = printed.search_blocks(plan.setting, plan.resolution, plan.says(SCORE_RANGE))
        # candidate2 counts where candidate1 is the father.
        another = reg("candidate2") + (plan.n + 1) * (reg("skip") - 1)
        search = (*blocks, BlockPlan((), _choice(plan, "candidate2", another)))
    else:
        search = (_block_7(plan), _block_8(plan))
    prompt = (_block_1(plan), _block_2(plan), _block_3(plan), _block_4(plan))
    return (*prompt, _block_5(plan), _block_6(plan), *search, _block_9(plan))


def _times(gate: Affine, up: str, into: str) -> Unit:
    return Unit(gate, reg(up), {into: 1})


def _block_1(plan: BlockNames) -> BlockPlan:
    position, n = reg("position"), plan.n
    gadgets = [
        constant("1", {"one": 1}),
        plan.is_(position, 1, {"first": 1}, name="1[position = 1]"),
        square(position, squared("position")),
    ]
    if plan.layout.end_of_prompt is None:
        gadgets += [
            plan.reaches(position, 3 * n - 1, {"after_prompt": 1}, name="after a prompt of n − 1 edges"),
            plan.reaches(position, 3 * n, {"after_root": 1}, name="after the first vertex of the chain of thought"),
        ]
    if plan.says(TIED_HEAD):
        gadgets.append(square(reg("vertex"), squared("vertex")))
    return BlockPlan((), tuple(gadgets))


def _block_2(plan: BlockNames) -> BlockPlan:
    heads = [
        count("occurrences", reg("vertex"), reg(squared("vertex")), "count", plan.setting, printed=plan.says(COUNT))
    ]
    gadgets = []
    if plan.layout.end_of_prompt is not None:
        end = reg(plan.layout.end_of_prompt)
        heads.append(
            match(
                "end of prompt",
                (RegisterPair(end, reg("one"), end, reg("one")),),
                {"prompt_end": reg("position")},
                plan.setting,
                printed=plan.says(SCORE_RANGE),
            )
        )
        gadgets = [
            plan.reaches(reg("prompt_end"), 2, {"after_prompt": 1, "after_root": 1}, name="after the end of the prompt")
        ]
    return BlockPlan(tuple(heads), tuple(gadgets))


def _copies(names: Iterable[str], by: int) -> dict[str, Affine]:
    return {copied(name, by): reg(name) for name in names}


def _block_3(plan: BlockNames) -> BlockPlan:
    names = ("vertex", squared("vertex"), "count", plan.layout.joint)
    return BlockPlan((copy("@1", 1, _copies(names, 1), plan.setting),), ())


def _block_4(plan: BlockNames) -> BlockPlan:
    joint, last = plan.layout.joint, copied("vertex", 1)
    values = (last, squared(last), copied("count", 1))
    heads = [copy("@2", 1, _copies((*values, copied(joint, 1)), 1), plan.setting)]
    second, after_second = reg(copied(joint, 1)), reg(copied(joint, 2))  # 1 at a second endpoint; at the token after it
    records: list[Unit] = []
    if plan.says(LAYER_7):
        records = printed.edge_units(second)
    else:
        heads.append(copy("@3", 2, _copies(values, 2), plan.setting))
        first = copied("vertex", 2)
        for here, own, own_count, other in (
            (second, "vertex", "count", first),
            (after_second, copied("vertex", 3), copied("count", 3), last),
        ):
            records += [
                *(_times(here, of(own), of("self")) for of in (register, squared)),
                *(_times(here, of(other), of("other")) for of in (register, squared)),
                _times(here, own_count, "edge_count"),
                # count − 1 + here is count at a record and not positive elsewhere, so the unit is here·count².
                _times(reg(own_count) - 1 + here, own_count, squared("edge_count")),
            ]
    # An edge's second endpoint is never a chain-of-thought vertex, wherever it stands.
    walk, come = reg("after_prompt") - second, reg("after_root") - second
    if plan.says(EDGE_COUNT) and plan.layout.end_of_prompt is None:
        come -= after_second  # v_0 = 0 as printed, also where a longer prompt puts v_1 after position 3n − 1
    chain = (
        *(_times(walk, of("vertex"), of("current")) for of in (register, squared)),
        *(_times(come, of(last), of("previous")) for of in (register, squared)),
    )
    gadgets = (Gadget("incidence records", tuple(records)), Gadget("chain-of-thought vertices", chain))
    return BlockPlan(tuple(heads), gadgets)


def _block_5(plan: BlockNames) -> BlockPlan:
    if plan.says(LAYER_7):
        heads = printed.walked_heads(plan.setting, plan.says(SCORE_RANGE))
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


def _block_6(plan: BlockNames) -> BlockPlan:
    head = match(
        "father",
        (pair("current", "current"),),
        {"father": reg("previous"), squared("father"): reg(squared("previous"))},
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


def _next_head(plan: BlockNames, name: str, target: str, number: int) -> Head:
    next_ = f"next{number}"
    reads = {next_: reg("other"), squared(next_): reg(squared("other")), f"count{number}": reg("edge_count")}
    return match_next(
        name,
        (pair("self", "current"),),
        reg("edge_count"),
        reg(squared("edge_count")),
        reg(target),
        reads,
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )


def _block_7(plan: BlockNames) -> BlockPlan:
    head = _next_head(plan, "next edge", "target", 1)
    step = Fraction(1) / plan.resolution
    edges_left = reg("walked") - reg("count1")  # at least one step if there is a next edge, otherwise 0
    gadgets = (
        plan.reaches(
            edges_left, step, {"candidate1": 1}, margin=step, times=reg("next1"), name="next1, if there is an edge left"
        ),
        plan.reaches(
            edges_left, step, {squared("candidate1"): 1}, margin=step, times=reg(squared("next1")), name="its square"
        ),
        plan.is_(reg("next1") - reg("father"), 0, {"skip": 1}, name="next1 is the father"),
        next_fraction(reg("count1"), "target2"),
    )
    return BlockPlan((head,), gadgets)


def _block_8(plan: BlockNames) -> BlockPlan:
    head = _next_head(plan, "edge after the next", "target2", 2)
    scale = plan.resolution
    # At least 1 if next1 is the father and there is an edge after it, otherwise not positive.
    another = scale * (reg("count1") - reg("count2")) - scale * (1 - reg("skip"))
    return BlockPlan((head,), _choice(plan, "next2", another))


def _choice(plan: BlockNames, second: str, another: Affine) -> tuple[Gadget, ...]:
    """Wires next := candidate1; the father if that is 0; `second` if that is the father and `another` ≥ 1, else ≤ 0."""
    gadgets = []
    for of in (register, squared):
        into, candidate, father, beyond = of("next"), of("candidate1"), of("father"), of(second)
        past = reg(beyond) - reg(father)
        gadgets += [
            linear(f"{into} := {candidate}", reg(candidate), into),
            Gadget(f"{father}, if no edge is left", (_times(1 - reg("candidate1"), father, into),)),
            Gadget(
                f"{beyond} in place of the father",
                (Unit(another, past, {into: 1}), Unit(another - 1, past, {into: -1})),
            ),
        ]
    fresh, one = reg("candidate1") - (plan.n + 1) * reg("skip"), as_affine(1)
    units = [Unit(form - i, one, {"onward": 1 - 2 * i}) for form in (fresh, another) for i in (0, 1)]
    return (*gadgets, Gadget("next is neither the father nor 0", tuple(units)))


def _block_9(plan: BlockNames) -> BlockPlan:
    head = match(
        "seen before",
        (pair("current", "next"),),
        {"seen": reg("position")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    return BlockPlan((head,), tuple(_output(plan)))


def _output(plan: BlockNames) -> list[Gadget]:
    """Returns what the last feed-forward writes over the embedding registers, where the tied output head reads it."""
    n, layout = plan.n, plan.layout
    word_registers = ["vertex", *([] if plan.says(TIED_HEAD) else [squared("vertex")]), *layout.specials]
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
        gadgets.append(constant("output −2", {squared("vertex"): -2}))
        gadgets.append(Gadget(f"{stop} after the last vertex", (Unit(1 - following, reg("one"), {stop: 1}),)))
        start_logit = 4
    gadgets.append(closing)

    if layout.end_of_prompt is None:
        if plan.says(EDGE_COUNT):
            after_prompt = reg(layout.start if n == 1 else copied(layout.joint, 1))
            gadgets.append(
                Gadget("vertex 1 after any edge", (Unit(after_prompt, start_logit * reg("one"), {"vertex": 1}),))
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
