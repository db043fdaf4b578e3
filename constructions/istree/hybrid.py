"""IsTree by a hybrid RNN: one Linear RNN block and one Transformer block decide whether a graph is a tree.

Source: Theorem 5.7; Lemmas C.15, C.17, C.20 and C.21. The paper gives the idea and no weights.
Idea: every edge leaves two *incidence records* (self, other) in the prompt, made by a shift register. The chain of thought is a
depth-first search in frames of tokens, each of which ends in a vertex v and two positions, a base and a target:

  1 @1 @2                  the search starts at vertex 1
  - v w @1 @2              go down from v to w
  ^ v f @r @r+1            v has no edge left: go up to its father f; r is the record (self = f, other = v)
  / v @r @r+1              the next edge of v, at record r, leads to its father: pass over it
  > v @base @(base + 2d)   no record of v is as near as the target base + d: look twice as far

At a target one head finds the record of v nearest to target + 1/4. It is either the one at the base, so that nothing is found yet,
or the next one, which decides where to go; another head finds the father. After n − 1 times down and a search that ends at 1,
the answer is YES; a vertex that was visited before, or a prompt of another length than 3n − 2, means NO.

Derivation of "the next one": let the next record of v be g after the base. It is nearer to base + d + 1/4 than the base is iff
g < 2d + 1/2. The first d = 2^i with g ≤ 2d has d = 1 or g > d, so target ≤ base + g, and every other record of v is further away.
Base 1 holds no record, so from there the first record of v is found at once. If target ≥ 3n − 1, the last record's position,
and only the base was found, there is no next record. Two records of one vertex are at least 2 apart, so the nearest one leads by
G·2·1/2 = G. Each record is a base once, so there are O(n log n) tokens (`limit`).

ERRATUM Theorem 5.7: paper says, we use and why stand in each finding below.

Registers, by the block that writes them:
  embedding  number, number_squared, vertex, place, one per special token, position
  1          …-j: what stood j tokens before; downs: how many tokens - so far; one, first, position_squared; self, other: the
             records; child, parent: each time down; asked, target, came_from: what the heads look for; at_target
  2          next, found: the nearest record; father, visited; edge: the record of the edge gone up; then the output

Size: 2 blocks, 3 heads, 32 numbers of state, a width that does not depend on n, p = O(log n) bits (`least_precision`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.istree.base import IsTreeModel
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.words import scale_constants
from constructions.models.construction import Construction, Derived, lead_of, numbers_of
from constructions.models.model import NOTHING, Ids, Planned
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import position_square_precision
from constructions.parts.heads.match import match, match_precision, pair, spelled_out
from constructions.parts.heads.match_close import match_close
from constructions.parts.heads.match_nearest import match_nearest
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import Affine, as_affine, reg, total
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting, least_odd_precision
from constructions.wiring.register import register, squared
from constructions.wiring.wire import BlockPlan, Gadget, Head, Unit, constant
from precision.format import Discipline, Format

SOURCE = "Theorem 5.7"
STATEMENT = (
    "A hybrid RNN of two blocks decides whether a graph is a tree, by a depth-first search in its chain of thought."
)
VERTEX, PLACE = "vertex", "place"
ONE = as_affine(1)
START, JOINT, YES, NO = PAPER.start, PAPER.joint, PAPER.yes, PAPER.no
DOWN, UP, PASS, FURTHER = MARKS = ("-", "^", "/", ">")

NEAREST_TIE = Finding(
    id="nearest-tie",
    source="Theorem 5.7, next neighbour; Lemma C.17",
    printed="the edge with v closest to pos + 2^i",
    used="the record of v nearest to pos + 2^i + 1/4",
    why="our one head reads two records of each edge, one after the other: a record 2^(i+1) after pos is as close as the one at"
    " pos, and the head reads an average of both. The print has two heads; with one key an edge in each, three tokens apart,"
    " nothing ties",
)
SEARCH_RANGE = Finding(
    id="search-range",
    source="Theorem 5.7, next neighbour",
    printed="until the edge differs or i = log2 n",
    used="until the record differs or the target is at or after 3n − 1, where the last record stands",
    why="an edge takes three tokens: from pos + n on, nothing is found that lies 2n or more after pos; log2(3n) is enough",
)
PARENT = Finding(
    id="parent",
    source="Theorem 5.7, parent",
    printed="MatchClose: the state keeps each vertex's predecessor",
    used="Match: the predecessor where the search went down to the vertex, which happens once",
    why="if a return from a child counts as a visit, the predecessor of the vertex's last visit is this child. Over records of"
    " vertices that were just reached, as in Theorem 5.3, MatchClose is right too",
)
FINDINGS: tuple[Finding, ...] = (NEAREST_TIE, SEARCH_RANGE, PARENT)
FINDING_IDS = tuple(finding.id for finding in FINDINGS)

VOTES: Mapping[str, Mapping[str, int]] = {
    "at a target": {FURTHER: 8, PASS: -4, NO: -2, YES: -3},
    "a next record": {DOWN: 16, PASS: 16},
    "it leads to the father": {PASS: 8},
    "nothing further away": {UP: 12, NO: 12, YES: 12},
    "no father": {NO: 4, YES: 4},
    "went down n − 1 times": {YES: 2},
}
"""What each comparison at a target adds to the logits of the next token; so no comparison needs to know another's result."""


def families(n: int) -> tuple[Family, ...]:
    """Returns the numbers: vertices, and positions up to the largest target."""
    return Family(VERTEX, 1, n), Family(PLACE, 1, 6 * n - 4, lambda i: f"@{i}")


def words(n: int) -> Words:
    return Words(families(n), (*PAPER.specials, *MARKS))


def _linear_block(n: int, attention: BlockPlan, printed: frozenset[str]) -> BlockPlan:
    second, after_second = back(JOINT, 1), back(JOINT, 2)  # 1 at a second endpoint; at the token after it
    down, up = back(DOWN, 2), back(UP, 2)  # 1 at the vertex gone down to; gone up to
    vertex, at_target = reg(VERTEX), reg(PLACE) + back(PLACE, 1) - 1
    start = {"child": 1, squared("child"): 1}
    visits = [down, up] if PARENT.id in printed else []
    if visits:
        start |= {"visit": 1, squared("visit"): 1}

    def moved(gate: Affine, by: int, into: str) -> Iterator[Unit]:
        """Wires into += the number `by` tokens before, and its square, where the gate is 1."""
        for of in (register, squared):
            yield Unit(gate, back(of(NUMBER), by), {of(into): 1})

    gadgets = (
        constant("1", {"one": 1}),
        indicator(reg("position"), 1, {"first": 1}, name="1[position = 1]"),
        square(reg("position"), squared("position")),
        Gadget(
            "incidence records",
            (
                *moved(second, 0, "self"),
                *moved(second, 2, "other"),
                *moved(after_second, 3, "self"),
                *moved(after_second, 1, "other"),
            ),
        ),
        Gadget("down from parent to child", (*moved(down, 0, "child"), Unit(down, back(NUMBER, 1), {"parent": 1}))),
        # Where the chain of thought starts; a longer prompt has another token there, but it is refused anyway.
        indicator(reg("position"), 3 * n - 1, start, name="down to vertex 1, from nowhere"),
        Gadget("the vertex in question", (*moved(vertex, 0, "asked"), *moved(at_target, 2, "asked"))),
        Gadget("the target", (*moved(vertex, 2, "target"), *moved(at_target, 0, "target"))),
        Gadget("the child at whose father the search is", tuple(moved(up, 1, "came_from"))),
        Gadget("1 at a target", (Unit(at_target, ONE, {"at_target": 1}),)),
        *(
            Gadget("visits as printed", (*moved(visit, 0, "visit"), Unit(visit, back(NUMBER, 1), {"predecessor": 1})))
            for visit in visits
        ),
    )
    alone = BlockPlan((), gadgets)
    units = (*window([alone, attention]), running_sum("how often the search went down", reg(DOWN), "downs"))
    return BlockPlan((), gadgets, units)


def _heads(setting: Setting, printed: frozenset[str]) -> Iterator[Head]:
    target, target_squared, one = reg("target"), reg(squared("target")), reg("one")
    shift = Fraction(0 if NEAREST_TIE.id in printed else 1, 4)
    yield match_nearest(
        "nearest record",
        (pair("self", "asked"),),
        target + shift * one,
        target_squared + 2 * shift * target + shift * shift * one,
        {"next": reg("other"), "found": reg("position")},
        setting,
    )
    first_visit = {"father": reg("parent"), "visited": reg("position")}
    if PARENT.id in printed:
        del first_visit["father"]
        reads = {"father": reg("predecessor")}
        yield match_close("predecessor of the last visit", (pair("visit", "asked"),), reads, setting)
    yield match("first time down", (pair("child", "asked"),), first_visit, setting)
    pairs = (pair("self", "asked"), pair("other", "came_from"))
    yield match("record of the edge gone up", pairs, {"edge": reg("position")}, setting)


def _rules() -> Iterator[WriteRule]:
    """Yields the rules that say which token stands next within a frame."""
    number = reg(NUMBER)
    at_first_vertex, at_first_base = back(JOINT, 2) + back(START, 1), back(JOINT, 3) + back(START, 2)
    yield WriteRule("the vertex again", (total(map(reg, MARKS)),), Write(back(NUMBER, 3), VERTEX))
    yield WriteRule("down to the next vertex", (back(DOWN, 1),), Write(reg("next"), VERTEX))
    yield WriteRule("base 1, after down or at the start", (back(DOWN, 2) + at_first_vertex,), Write(ONE, PLACE))
    yield WriteRule("up to the father", (back(UP, 1),), Write(reg("father"), VERTEX))
    yield WriteRule("base: the edge gone up", (back(UP, 2),), Write(reg("edge"), PLACE))
    yield WriteRule("base: the edge to the father", (back(PASS, 1),), Write(reg("found"), PLACE))
    yield WriteRule("the same base", (back(FURTHER, 1),), Write(back(NUMBER, 3), PLACE))
    begins = back(DOWN, 3) + back(UP, 3) + back(PASS, 2) + at_first_base
    yield WriteRule("target after a new base", (begins,), Write(number + 1, PLACE))
    yield WriteRule("target twice as far", (back(FURTHER, 2),), Write(2 * back(NUMBER, 3) - number, PLACE))


def _output(n: int, printed: frozenset[str]) -> Iterator[Gadget]:
    at_target, base, target = reg("at_target"), back(NUMBER, 1), reg(NUMBER)
    beyond = target - base - (n - 1) if SEARCH_RANGE.id in printed else target - (3 * n - 2)
    units = {
        "at a target": (Unit(at_target, ONE, {}),),
        # These two may be more than 1. If there is a next record, it stands at the target or after it, so the first is not less.
        "a next record": (Unit(reg("found") - base, at_target, {}),),
        "it leads to the father": indicator(reg("next") - reg("father"), 0, {"": 1}, times=at_target).units,
        "nothing further away": (Unit(beyond, at_target, {}),),
        "no father": (Unit(1 - reg("father"), at_target, {}),),
        "went down n − 1 times": (Unit(reg("downs") - (n - 2), at_target, {}),),
    }
    for name, votes in VOTES.items():
        yield Gadget(
            name,
            tuple(
                Unit(unit.gate, unit.up, {word: weight * unit.into.get("", 1) for word, weight in votes.items()})
                for unit in units[name]
            ),
        )
    since_visit = reg("position") - reg("visited")
    yield Gadget(f"{NO} at a vertex visited before", (Unit(since_visit, back(DOWN, 2), {NO: 4}),))
    end = reg(START) + back(JOINT, 1)  # of a prompt, perhaps
    yield Gadget(f"{NO} after a prompt", (Unit(end, ONE, {NO: 1}),))
    yield indicator(reg("position"), 3 * n - 2, {NUMBER: 2, VERTEX: 1}, times=end, name="vertex 1 after n − 1 edges")


def _blocks(setting: Setting, listed: Words, printed: frozenset[str]) -> tuple[BlockPlan, ...]:
    gadgets = (*decide(tuple(_rules()), listed), *_output(setting.n, printed))
    attention = BlockPlan(tuple(_heads(setting, printed)), gadgets)
    return _linear_block(setting.n, attention, printed), attention


BLOCKS: Mapping[int, str] = {
    1: "keeps the last tokens and counts the times down; writes records, and what the heads are to look for",
    2: "finds the nearest record, the father, the edge gone up; writes the next token of the frame",
}
GLOSSARY: Mapping[str, str] = {
    NUMBER: "the number of this token's vertex or position, 0 at other tokens; at the end, the output",
    VERTEX: "1 at a vertex",
    PLACE: "1 at a position such as @5",
    DOWN: "1 at the token that goes down to a vertex",
    UP: "1 at the token that goes up to the father",
    PASS: "1 at the token that passes over the edge to the father",
    FURTHER: "1 at the token that looks further away",
    START: "1 at the start of the prompt",
    JOINT: "1 between the two ends of an edge",
    **dict.fromkeys((YES, NO), "a verdict: the output writes it, no token of a prompt has it"),
    "position": "this token's position, from 1",
    "one": "1 everywhere",
    "first": "1 at position 1, else 0",
    "downs": "how often the search has gone down",
    "self": "incidence record: the vertex whose edge this is",
    "other": "incidence record: the vertex at the other end",
    "child": "the vertex gone down to, 0 elsewhere",
    "parent": "the vertex that it was reached from, 0 for vertex 1",
    "asked": "the vertex whose records or father are looked for",
    "target": "the position that the record is to be nearest to",
    "came_from": "after ^ v f: v",
    "at_target": "1 at the second position of a frame",
    "next": "the other end of the nearest record's edge",
    "found": "the position of the nearest record, 1 if there is none",
    "father": "the vertex from which the one asked for was reached, 0 for vertex 1",
    "visited": "where the vertex asked for was reached, 1 if it never was",
    "edge": "after ^ v f: the position of the record (f, v)",
    "visit": "as printed: the vertex where the search is, down or up",
    "predecessor": "as printed: the vertex where it was before",
}


@dataclass(frozen=True)
class IsTreeHybrid(IsTreeModel):
    """The hybrid RNN, for the token layout of the paper."""

    prompt_registers = ("self", "other")
    construction = Construction(
        name="istree",
        source=SOURCE,
        statement=STATEMENT,
        model="hybrid",
        findings=FINDINGS,
        precision="p ≤ 8·bits(n) + 27 for n ≤ 10^6: n⁴ and a lead of O(log n) must fit (p − 1)/2 digits",
        glossary=GLOSSARY,
    )
    block_texts = BLOCKS

    def limit(self, n: int) -> int:
        """Returns the most tokens after a prompt.

        Each of the n − 1 edges: down, up and past the father, 14 tokens. Each of the 2(n − 1) records is a base once, after which
        the target doubles at most ⌈log2 3n⌉ times, 4 tokens each. The first frame has 3 tokens, and the verdict is one.
        """
        return 3 + 14 * (n - 1) + 4 * 2 * (n - 1) * (3 * n).bit_length() + 1

    def length(self, n: int) -> int:
        return max(3 * (n * (n - 1) // 2) + 2, 3 * n - 2 + self.limit(n))

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p that suffices for every simple graph on n vertices.

        The heads match keys up to n, in one case two of them, over a sequence of O(n²) tokens, which takes
        8·bits(n) + O(log log n); the logits 2v·i − i² of positions up to 6n, and the squares that they come from, take less.
        """
        length = self.length(n)
        largest = (1 << n.bit_length()) - 1  # of as many digits as one key that is as large as two together
        if largest * largest < 2 * n * n:
            largest = 2 * largest + 1
        own = least_odd_precision(lambda q: 2 * (6 * n).bit_length() + 1)
        fused = max(own, position_square_precision(n, length), match_precision(largest, length))
        return spelled_out(fused, discipline, largest, length)

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return families(n)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        known = words(n if listed is None else listed)
        return known.embedding(), _blocks(self.setting(n, fmt), known, printed)

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return (
            *numbers_of(setting.format, "; a score too negative for it saturates"),
            lead_of(setting),
            *scale_constants(setting),
            Derived("last", Fraction(3 * setting.n - 1), "3n − 1: the position of the last record"),
        )

    def expected(self, graph: Graph) -> list[str]:
        """Writes the expected words from lists of records alone."""
        n = graph.n
        if len(graph.edges) != n - 1:
            return [NO]
        records: dict[int, dict[int, int]] = {v: {} for v in range(1, n + 1)}  # vertex → position → other end, rising
        for e, (u, v) in enumerate(graph.edges, start=1):
            records[v][3 * e + 1] = u
            records[u][3 * e + 2] = v
        at = {v: {other: position for position, other in record.items()} for v, record in records.items()}
        places = {v: list(record) for v, record in records.items()}
        father, v, base = {1: 0}, 1, 1
        text = ["1", "@1", "@2"]
        while True:
            behind = bisect_right(places[v], base)
            following = places[v][behind] if behind < len(places[v]) else None
            offset = 1
            while base + offset < 3 * n - 1 if following is None else base > 1 and 2 * offset < following - base:
                offset *= 2
                text += [FURTHER, f"{v}", f"@{base}", f"@{base + offset}"]
            if following is None:
                if father[v] == 0:
                    return [*text, YES if len(father) == n else NO]
                text += [UP, f"{v}", f"{father[v]}"]
                v, base = father[v], at[father[v]][v]
            elif records[v][following] == father[v]:
                text += [PASS, f"{v}"]
                base = following
            else:
                text += [DOWN, f"{v}", f"{records[v][following]}"]
                if records[v][following] in father:
                    return [*text, NO]
                father[records[v][following]], v, base = v, records[v][following], 1
            text += [f"@{base}", f"@{base + 1}"]


HYBRID = IsTreeHybrid()
