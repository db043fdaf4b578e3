"""IsTree once more, our own wiring: five blocks, no counts, every register an integer, at about half of the bits.

Source: Theorem 4.7 (upper bound); Algorithm 1 and Lemma C.29. The weights are not the paper's.
Idea: each chain-of-thought token is the next vertex of the search. Every edge leaves two *incidence records* (self, other) in the
prompt, and each record knows `before`: the other end of the edge that comes before it at `self`, 0 at the first. So the edge after
(v, w) is the record with self = v and before = w: two equal integers. No position and no count is compared with another one.

Registers, by the block that writes them; numbers are in units of u = 2^−b, squares in units of u² (heads/match_last.py):
  embedding  vertex, vertex_squared, one per special token, position
  1          one, first, place = min(position, K); (layout paper) after_prompt, after_root, late: edge number n
  2          …@1 to …@4: what stood so many positions before; (paper) overlong; (eos) prompt_end, after_prompt
             self, other: the records, at the two tokens from an edge's second endpoint on
             left, left_other: the same one token later, so that no record finds itself; current, previous: the chain of thought
  3          before: `left_other` of the last earlier record with left = self; father: from where `current` was reached first
             goal: the neighbour after which to go on, 0 for the first edge: `previous`, unless that is the father
  4          next1: after `goal`; past: after the father's edge; next: next1, or past if next1 is the father, or 0
  5          seen: whether `next` has been visited; then the output: next, the father if that is 0, or a verdict

The root's father and its first `previous` are −1: no record lies after −1, so the root has nothing in place of the father's edge.
A prompt of more than n − 1 edges has the joint ~ of its edge number n at position 3n. From there on `overlong` is 1 and nothing is
`current`, so its answer is NO, however long it is: places above K = 5n need not be told apart.

Size: 5 blocks, at most 5 heads in one, a width that does not depend on n.
Bits: p = 3·log2 n + O(log log n) in the paper's layout, where the square of a vertex and a preference over 5n places must
fit 2q = p − 1 digits together. In the layout `eos` a prompt of any number of edges is searched, so places go up to 1.5·n², and
p = 4·log2 n + O(log log n). The floor of any such model in R_p is near 2·log2 n: vertices and positions are integers up to 2^q.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache

from constructions.istree import lean_words
from constructions.istree.base import TourModel
from constructions.istree.graphs import TokenLayout, sequence_length
from constructions.models.construction import Construction, Derived
from constructions.models.model import NOTHING, Ids, Planned
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.heads.match import RegisterPair, pair
from constructions.parts.heads.match_last import Scale, places
from constructions.parts.heads.tight import single
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.part import Setting
from constructions.wiring.register import copied, register, squared
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Head, Unit, constant, linear
from precision.format import Discipline, Format, fixed_point

SOURCE = "Theorem 4.7"
PLACE_DIGITS = 5  # of K: one K, and so one set of scores, serves an interval of n


@dataclass(frozen=True)
class _Plan:
    """The names that the blocks share while they are written."""

    setting: Setting
    layout: TokenLayout

    @property
    def n(self) -> int:
        return self.setting.n

    @cached_property
    def scale(self) -> Scale:
        return scale_of(self.setting, self.layout)

    @property
    def counted(self) -> bool:
        """Returns whether the prompt's end is told by its length, as nothing marks it."""
        return self.layout.end_of_prompt is None


def most_places(n: int, layout: TokenLayout) -> int:
    """Returns K, the number of positions that the weights can distinguish, rounded up to few digits."""
    most = 5 * n if layout.end_of_prompt is None else sequence_length(n)
    step = 1 << max(0, most.bit_length() - PLACE_DIGITS)
    return -(-most // step) * step


def scale_of(setting: Setting, layout: TokenLayout) -> Scale:
    """Returns the units of the model. Blocks 3 and 4 multiply a difference of vertices, up to n + 2, by a square, up to n²·u²."""
    n = setting.n
    return Scale(setting, most_places(n, layout), area=(n + 2) * n * n)


def fitting(n: int, bits: int, layout: TokenLayout, discipline: Discipline = Discipline.FUSED) -> bool:
    """Returns whether every weight, entry and product of the model fits R_bits and is exact."""
    scale = scale_of(Setting(n, sequence_length(n), fixed_point(bits)), layout)
    # The logit that overrides a vertex's; the gates that compare with a place.
    override, gate = 2 * (1 << n.bit_length()) ** 2 * scale.unit**2, 3 * scale.places + 3 * n
    most = 1 << scale.fraction_bits
    first = layout.end_of_prompt is not None
    fits = scale.fits(2, first=first, sequential=discipline is Discipline.SEQUENTIAL)
    return fits and override < most and gate < most


def _searched_precision(n: int, discipline: Discipline, layout: TokenLayout) -> int:
    fits = cache(lambda fraction_bits: fitting(n, 2 * fraction_bits + 1, layout, discipline))
    bits = n.bit_length()
    if type(bits) is int and (type(n) is not int or n > 1 << bits - 1):  # n of one bit length take nearly the same p
        near = _least_precision_of(1 << bits - 1, discipline, layout) // 2
        while not fits(near):
            near += 1
        while fits(near - 1):
            near -= 1
        return 2 * near + 1
    enough = 4
    while not fits(enough):
        enough *= 2
    return 2 * bisect_left(range(enough), True, lo=2, key=fits) + 1


_least_precision_of = lru_cache(maxsize=1024)(_searched_precision)


def _times(gate: Affine, up: str, into: str) -> Unit:
    return Unit(gate, reg(up), {into: 1})


def _embedding(plan: _Plan, n: int) -> Embedding:
    u = plan.scale.unit
    vertices: Mapping[str, tuple[Number, int]] = {"vertex": (u, 1), squared("vertex"): (u * u, 2)}
    words = Numbered((Powers(1, n, vertices),), tuple({word: 1} for word in plan.layout.specials))
    return Embedding(plan.layout.vocabulary(n), words, "position")


def _block_1(plan: _Plan) -> BlockPlan:
    position, n = reg("position"), plan.n
    gadgets = [
        constant("1", {"one": 1}),
        indicator(position, 1, {"first": 1}, name="1[position = 1]"),
        places(plan.scale),
    ]
    if plan.counted:
        gadgets += [
            threshold(position, 3 * n - 1, {"after_prompt": 1}, name="after a prompt of n − 1 edges"),
            threshold(position, 3 * n, {"after_root": 1}, name="after the first vertex of the chain of thought"),
            indicator(position, 3 * n, {"late": 1}, times=reg(plan.layout.joint), name="the joint of edge number n"),
        ]
    return BlockPlan((), tuple(gadgets))


def _block_2(plan: _Plan) -> BlockPlan:
    layout, scale = plan.layout, plan.scale
    vertex = {"vertex": reg("vertex"), squared("vertex"): reg(squared("vertex"))}
    joint = {layout.joint: reg(layout.joint)}
    end = {} if layout.end_of_prompt is None else {layout.end_of_prompt: reg(layout.end_of_prompt)}

    def back(offset: int, reads: Mapping[str, Affine]) -> Head:
        return scale.copy(f"@{offset}", offset, {copied(name, offset): form for name, form in reads.items()})

    heads = [
        back(1, {**vertex, **joint, **end}),
        back(2, {**vertex, **joint}),
        back(3, {**vertex, **joint}),
        back(4, vertex),
    ]
    if layout.end_of_prompt is None:
        late = reg("late")
        heads.append(single("too many edges", late, {"overlong": late}, scale.lead))
    else:
        (flag,) = end.values()
        reads = {"prompt_end": reg("place"), "after_prompt": flag}
        u, one = scale.unit, reg("one")
        sought = (RegisterPair(u * flag, u * one, u * u * flag, u * u * one),)
        heads.append(scale.match("end of prompt", sought, reads, prefer="first"))
    return BlockPlan(tuple(heads), (_records(plan), _chain(plan)))


def _records(plan: _Plan) -> Gadget:
    """Returns a gadget that writes, after an edge a ~ b, the records of b and of a, and both again at the next token."""
    joints = [reg(copied(plan.layout.joint, offset)) for offset in (1, 2, 3)]
    second, after, third = (joint - reg("overlong") for joint in joints) if plan.counted else joints
    vertex = {0: "vertex", **{offset: copied("vertex", offset) for offset in (1, 2, 3, 4)}}
    rows = (
        (second, "self", 0, "other", 2),
        (after, "self", 3, "other", 1),
        (after, "left", 1, "left_other", 3),
        (third, "left", 4, "left_other", 2),
    )
    units = [
        _times(here, of(vertex[at]), of(into))
        for here, own, own_at, other, other_at in rows
        for into, at in ((own, own_at), (other, other_at))
        for of in (register, squared)
    ]
    return Gadget("incidence records", tuple(units))


def _chain(plan: _Plan) -> Gadget:
    u, one = plan.scale.unit, as_affine(1)
    vertex = one if plan.layout.end_of_prompt is None else one - reg(plan.layout.end_of_prompt)
    if plan.layout.end_of_prompt is None:
        walk, come = reg("after_prompt") - reg("overlong"), reg("after_root") - reg("overlong")
        root = walk - come
    else:
        walk, root = reg("after_prompt"), reg(copied(plan.layout.end_of_prompt, 1))
        come = walk - root
    return Gadget(
        "chain-of-thought vertices",
        (
            Unit(walk, vertex, {"visited": 1}),
            _times(walk, "vertex", "current"),
            _times(walk, squared("vertex"), squared("current")),
            _times(come, copied("vertex", 1), "previous"),
            _times(come, squared(copied("vertex", 1)), squared("previous")),
            Unit(root, one, {"previous": -u, squared("previous"): u * u}),
        ),
    )


def _read(**forms: str) -> dict[str, Affine]:
    """Reads of registers with their squares."""
    return {of(into): reg(of(name)) for into, name in forms.items() for of in (register, squared)}


def _block_3(plan: _Plan) -> BlockPlan:
    scale = plan.scale
    heads = (
        scale.match("edge before", (pair("left", "self"),), _read(before="left_other")),
        scale.match("father", (pair("current", "current"),), _read(father="previous"), prefer="first", default=False),
    )
    came_down = scale.whole(reg("previous") - reg("father"))
    gadgets = [
        part
        for goal, previous in (("goal", "previous"), (squared("goal"), squared("previous")))
        for part in (
            linear(f"{goal} := {previous}", reg(previous), goal),
            indicator(came_down, 0, {goal: -1}, times=reg(previous), name=f"reached from the father: {goal} := 0"),
        )
    ]
    return BlockPlan(heads, tuple(gadgets))


def _block_4(plan: _Plan) -> BlockPlan:
    scale = plan.scale

    def edge_head(name: str, edge: str, into: str) -> Head:
        sought = (pair("self", "current"), pair("before", edge))
        return scale.match(name, sought, _read(**{into: "other"}))

    heads = (edge_head("next edge", "goal", "next1"), edge_head("edge after the father's", "father", "past"))
    up_again = scale.whole(reg("next1") - reg("father"))
    gadgets = [
        part
        for of in (register, squared)
        for into, next1, past in [(of("next"), of("next1"), of("past"))]
        for part in (
            linear(f"{into} := {next1}", reg(next1), into),
            indicator(
                up_again, 0, {into: 1}, times=reg(past) - reg(next1), name=f"next1 is the father: {into} := {past}"
            ),
        )
    ]
    return BlockPlan(heads, tuple(gadgets))


def _block_5(plan: _Plan) -> BlockPlan:
    head = plan.scale.match("seen before", (pair("current", "next"),), {"seen": reg("visited")})
    return BlockPlan((head,), tuple(_output(plan)))


def _output(plan: _Plan) -> list[Gadget]:
    """Returns what the tied output head reads: (2v, −1) in units gives number i the logit (v² − (v − i)²)·u²; the others have 0."""
    n, layout, scale = plan.n, plan.layout, plan.scale
    u, whole, one = scale.unit, scale.whole, as_affine(1)
    following, father, place = reg("next"), reg("father"), whole(reg("place"))
    stop = layout.no if layout.end_of_prompt is None else layout.end_of_prompt
    start = {"vertex": 2 * u}
    clear = ["vertex", squared("vertex"), *layout.specials]
    gadgets = [
        Gadget("clear the embedding", tuple(linear("", -reg(name), name).units[0] for name in clear)),
        linear("output 2·next", 2 * following, "vertex"),
        Gadget("output 2·father, if no edge is left", (Unit(1 - whole(following), 2 * father, {"vertex": 1}),)),
        constant("output −1", {squared("vertex"): -1}),
        # Half of the least logit of a vertex that is to be written.
        Gadget(f"{stop} after the last vertex", (Unit(1 - whole(following + father), one, {stop: u * u / 2}),)),
        Gadget(
            f"{stop} at a vertex seen before, not the father",
            (Unit(reg("seen"), one, {stop: (1 << n.bit_length()) ** 2 * u * u}),),
        ),
    ]
    if layout.end_of_prompt is None:
        # 1 after 2n − 1 vertices, if the last one is 1 and none follows; at a token of the prompt at most 0.
        done = place - (5 * n - 4) - whole(following + reg("current")) + 1 - scale.places * (1 - reg("visited"))
        gadgets += [
            indicator(place, 3 * n - 2, start, name="vertex 1 after n − 1 edges"),
            Gadget("tour complete", (Unit(done, one, {layout.yes: 2}),)),
        ]
    else:
        behind = place - whole(reg("prompt_end"))
        ended = behind - scale.places * (1 - reg(layout.end_of_prompt))
        gadgets += [
            indicator(behind, 0, start, name="vertex 1 after the prompt"),
            threshold(ended, 1, {layout.no: 2}, name="verdict after the closing token"),
            Gadget("tour of 2n − 1 vertices", (Unit(ended - 2 * n + 1, one, {layout.yes: 4}),)),
        ]
    return gadgets


@dataclass(frozen=True)
class Lean(TourModel):
    """The Transformer of five blocks."""

    prompt_registers = ("self", "other", "before")
    construction = Construction(
        name="istree",
        source=SOURCE,
        statement=lean_words.STATEMENT,
        model="transformer",
        findings=(),
        precision=lean_words.PRECISION,
        glossary=lean_words.GLOSSARY,
        variants=("lean",),
    )
    block_texts = lean_words.BLOCKS

    def put_back(self, printed: Iterable[str]) -> Ids:
        """Raises ValueError for anything to be put back: there is no print of it."""
        if finding_ids := tuple(printed):
            raise ValueError(f"the variant lean has nothing as printed, so no finding {finding_ids[0]!r}")
        return NOTHING

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p that suffices for every simple graph on n vertices."""
        # A symbol for many n is asked anew: its comparisons say for which of them the answer holds.
        return (_least_precision_of if type(n) is int else _searched_precision)(n, discipline, self.layout)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        plan = _Plan(self.setting(n, fmt), self.layout)
        blocks = (_block_1(plan), _block_2(plan), _block_3(plan), _block_4(plan), _block_5(plan))
        return _embedding(plan, n if listed is None else listed), blocks

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return lean_words.constants(scale_of(setting, self.layout))

    def narrate(self, values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
        return lean_words.narrate(values, produced, verdict)


LEAN = Lean()
