"""IsTree by in-context retrieval: a Linear RNN of two blocks that walks the graph by searches of its own text.

Source: Theorem 5.3 with Algorithm 2; Lemmas C.3, C.20, C.21; definition A.5. The paper leaves the weights out.
Idea: depth-first search from vertex 1. A turn at a vertex v starts with two vertices and a mark: `u - v` records that v is new and
u its father, `u ^ v` says that the walk comes back from u. Then come searches (searches.py), each with its result after it:
  the father of v, from its record;
  the first neighbour of v in a turn `u - v`, the next one after the edge u v in a turn `u ^ v`; once more if it is the father;
  a record of that neighbour w. If there is one, the edge closes a cycle: NO. FAILED: w is new, and `v - w` starts its turn.
If no neighbour is left, `v ^ father` starts the next turn. The root is recorded as its own father, `1 - 1`, so `1 ^ 1` is the end:
YES if n vertices are recorded. No rule reads a position or counts edges: a cycle is met, or a vertex is missed.

State: a window of the last tokens, and the number of records. Block 1 compares numbers in the window. Block 2 has no
recurrence; of its rules one fires, and writes the next token.
Length: a tree takes 64n − 43 tokens with 6n − 4 searches: 2n − 1 turns (9 tokens, a search), n first neighbours (8, a search),
2(n − 1) next ones (16, a search), n − 1 records (6, a search), `1 ^ 1` and YES. No graph takes more: a walk that ends at a cycle
spends a search for a record and NO (7 tokens) on it, and spares the ways back of at least two vertices (3 + 6 + 16 each).

ERRATUM Algorithm 2: the findings of searches.py. It records no father for the root either, so that r4 never finds it. That is
harmless: a cycle through the root makes it new once more, and then any neighbour but the father has a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from constructions.istree.base import IsTreeModel
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.searches import FINDINGS as OF_SEARCHES
from constructions.istree.searches import Ref, Searches, SearchWords, U, V, searches
from constructions.models.construction import Construction, Derived, numbers_of
from constructions.models.model import NOTHING, Ids, Planned
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting, least_odd_precision
from constructions.wiring.wire import BlockPlan
from precision.format import Discipline, Format

SOURCE = "Theorem 5.3, Algorithm 2"
STATEMENT = "A Linear RNN of two blocks decides by searches of its own text whether a graph is a tree."
FINDINGS = OF_SEARCHES
FINDING_IDS = tuple(finding.id for finding in FINDINGS)
RECORD, RETURN = "-", "^"
VERTEX = "vertex"
RECORDS, ALL_RECORDED = "records", "all recorded"
FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE = "first is father", "next is father", "nowhere"


def families(n: int) -> tuple[Family, ...]:
    """Returns the numbers: vertices."""
    return (Family(VERTEX, 1, n),)


def _words(plan: Searches, n: int) -> Words:
    """Returns the paper's tokens with its numbers, then FAILED, the marks and the pieces of searches."""
    return Words(families(n), tuple(dict.fromkeys((*PAPER.specials, FAILED, RECORD, RETURN, *plan.pieces))))


def _comparisons(plan: Searches, n: int) -> BlockPlan:
    """Plans block 1. At a <StartSearch> after a result: it stands 1 token ago, <EndSearch> 2, the end of the search 3."""
    equal = {
        FIRST_IS_FATHER: (1, len(plan.first) + 4),
        NEXT_IS_FATHER: (1, len(plan.next) + 4),
        NOWHERE: (0, 2),  # at the end of a turn's head
    }
    gadgets = [
        indicator(back(NUMBER, i) - back(NUMBER, j), 0, {name: 1}, name=f"1[{name}]") for name, (i, j) in equal.items()
    ]
    gadgets.append(indicator(reg(RECORDS) - n, 0, {ALL_RECORDED: 1}, name=f"1[{ALL_RECORDED}]"))
    return BlockPlan((), tuple(gadgets), (running_sum(RECORDS, reg(RECORD), RECORDS),))


def _vertex(ago: int) -> Write:
    return Write(back(NUMBER, ago), VERTEX)


def _mark(ago: int) -> Affine:
    return back(RECORD, ago) + back(RETURN, ago)


def _heads(plan: Searches) -> Iterator[WriteRule]:
    """Yields the heads of turns, and the verdict."""
    root, unrecorded = Write(as_affine(1), VERTEX), 1 - reg(RECORDS)
    yield WriteRule("the root", (unrecorded, back(PAPER.joint, 1) + reg(PAPER.start)), root)
    yield WriteRule("the root's record: its mark", (unrecorded, back(PAPER.joint, 2) + back(PAPER.start, 1)), RECORD)
    yield WriteRule("the root's record: its vertex", (reg(RECORD), back(PAPER.joint, 3) + back(PAPER.start, 2)), root)

    size = len(plan.record)
    unknown = (plan.record.began(size + 2), back(FAILED, 1), back(END_SEARCH, size + 5))
    yield WriteRule("a new vertex: its mark", unknown, RECORD)
    yield WriteRule("a new vertex", (plan.record.began(size + 3), reg(RECORD)), _vertex(size + 5))
    for name, search in _neighbours(plan):
        size = len(search)
        yield WriteRule(f"no {name} neighbour: the mark", (search.began(size + 2), back(FAILED, 1)), RETURN)
        yield WriteRule(f"no {name} neighbour: the father", (search.began(size + 3), reg(RETURN)), _vertex(size + 5))

    ended = (back(RETURN, 1), reg(NOWHERE))
    yield WriteRule("a turn at a new vertex", (back(RECORD, 1),), START_SEARCH)
    yield WriteRule("a turn at a vertex again", (back(RETURN, 1), 1 - reg(NOWHERE)), START_SEARCH)
    yield WriteRule("the end, every vertex recorded", (*ended, reg(ALL_RECORDED)), PAPER.yes)
    yield WriteRule("the end, a vertex missing", (*ended, 1 - reg(ALL_RECORDED)), PAPER.no)


def _neighbours(plan: Searches) -> tuple[tuple[str, SearchWords], tuple[str, SearchWords]]:
    return ("first", plan.first), ("next", plan.next)


def _choices(plan: Searches) -> Iterator[WriteRule]:
    """Yields the rules at <StartSearch>: each writes the first token of a search."""
    start, size = reg(START_SEARCH), len(plan.father)
    yield WriteRule("search for the father", (start, _mark(2)), plan.father.first)
    father_result = (start, plan.father.began(size + 2))
    yield WriteRule("search for the first neighbour", (*father_result, back(RECORD, size + 5)), plan.first.first)
    yield WriteRule("search for the next neighbour", (*father_result, back(RETURN, size + 5)), plan.next.first)
    for (name, search), is_father in zip(_neighbours(plan), (FIRST_IS_FATHER, NEXT_IS_FATHER), strict=True):
        neighbour_result = (start, search.began(len(search) + 2))
        yield WriteRule(
            f"the {name} neighbour is the father: search on", (*neighbour_result, reg(is_father)), plan.next.first
        )
        yield WriteRule(
            f"the {name} neighbour is not: search for a record",
            (*neighbour_result, 1 - reg(is_father)),
            plan.record.first,
        )


def _results(plan: Searches) -> Iterator[WriteRule]:
    """Yields the rules at the result of a search."""
    size, failed = len(plan.father), reg(FAILED)
    yield WriteRule("the father is known", (plan.father.began(size + 1), _mark(size + 4)), START_SEARCH)
    for name, search in _neighbours(plan):
        here = search.began(len(search) + 1)
        yield WriteRule(f"a {name} neighbour", (here, 1 - failed), START_SEARCH)
        yield WriteRule(f"no {name} neighbour: the vertex", (here, failed), _vertex(2 + search.last_vertex))
    size = len(plan.record)
    here, behind_neighbour = plan.record.began(size + 1), back(END_SEARCH, size + 4)
    father = _vertex(size + 5 + plan.next.last_vertex)
    yield WriteRule("a new vertex: its father", (here, behind_neighbour, failed), father)
    yield WriteRule("a cycle", (here, behind_neighbour, 1 - failed), PAPER.no)


def _spelling(plan: Searches) -> Iterator[WriteRule]:
    """Yields the other tokens of each search."""
    size = len(plan.father)
    turn, again = 3 + plan.father.last_vertex, 3 + plan.next.last_vertex
    places: dict[SearchWords, Mapping[Ref, tuple[int, int]]] = {
        plan.father: {V: (1, 1)},
        plan.record: {V: (1, 1)},
        plan.first: {V: (turn, turn)},
        plan.next: {V: (turn, again), U: (size + 6, 1)},
    }
    for search, vertices in places.items():
        yield from _spell(search, vertices, size + 5)


def _spell(search: SearchWords, vertices: Mapping[Ref, tuple[int, int]], head: int) -> Iterator[WriteRule]:
    """Yields the other tokens. vertices: how long before <StartSearch> each stands, early or late in a turn. head: its mark."""
    spelled: dict[Ref, int] = {}
    for j, item in enumerate(search.script[1:], start=1):
        here, name = search.began(j - 1), f"{search.first} … token {j + 1}"
        if isinstance(item, str):
            yield WriteRule(f"{name}: {item}", (here,), item)
        elif item in spelled:
            yield WriteRule(f"{name}: {item.value} again", (here,), _vertex(j - 1 - spelled[item]))
        else:
            early, late = vertices[item]
            if early == late:
                yield WriteRule(f"{name}: {item.value}", (here,), _vertex(early + j))
            else:
                returned = back(RETURN, head + j)
                yield WriteRule(f"{name}: {item.value} of the turn's head", (here, returned), _vertex(early + j))
                yield WriteRule(f"{name}: {item.value}, the father", (here, 1 - returned), _vertex(late + j))
            spelled[item] = j
    yield WriteRule(f"{search.first} … end", (search.began(len(search) - 1),), END_SEARCH)


BLOCKS: Mapping[int, str] = {
    1: "keeps the last tokens, counts records, and compares numbers among the last tokens",
    2: "writes the next token by the one rule that fires",
}
GLOSSARY: Mapping[str, str] = {
    NUMBER: "the number of this token's vertex, 0 at other tokens; at the end, the output",
    "position": "this token's position, from 1; no rule reads it",
    VERTEX: "1 at a vertex",
    RECORDS: "how many records `father - vertex` there are, one for each vertex seen",
    ALL_RECORDED: "1 if n vertices are recorded",
    FIRST_IS_FATHER: "1 if the first neighbour just found is the father",
    NEXT_IS_FATHER: "1 if the next neighbour just found is the father",
    NOWHERE: "1 if both vertices of a turn's head are the same, the root",
    PAPER.start: "1 at the start of the prompt",
    PAPER.joint: "1 between the two ends of an edge",
    **dict.fromkeys((PAPER.yes, PAPER.no), "a verdict: the output writes it, no token of a prompt has it"),
    START_SEARCH: "1 at the token that starts a search",
    END_SEARCH: "1 at the token that ends a search",
    FAILED: "1 at the result of a search that found nothing",
    RECORD: "1 at the mark of a record, father - vertex",
    RETURN: "1 at the mark of a way back, vertex ^ father",
}


@dataclass(frozen=True)
class IsTreeRag(IsTreeModel):
    """The Linear RNN that searches, for the token layout of the paper."""

    searches = True
    construction = Construction(
        name="istree",
        source=SOURCE,
        statement=STATEMENT,
        model="rag",
        findings=FINDINGS,
        precision="p = 2q + 1: 3n(n − 1)/2 + 64n, the longest sequence, must fit q digits",
        glossary=GLOSSARY,
    )
    block_texts = BLOCKS

    def limit(self, n: int) -> int:
        """Returns the most tokens after a prompt, search results included."""
        return 64 * n - 43

    def length(self, n: int) -> int:
        return 3 * (n * (n - 1) // 2) + 1 + self.limit(n)

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        """Returns the least p that suffices for every simple graph on n vertices.

        Every number is an integer, so nothing is rounded if all fit (p − 1)/2 digits: positions; logits 2v·i − i² + 1, of which
        `sequential` forms 2v·i ≤ 2n² by itself; and the indicators' 2(n + 1).
        """
        largest = n * n + 1 if discipline is Discipline.FUSED else 2 * n * n
        return least_odd_precision(lambda q: max(largest, self.length(n), 2 * n + 2).bit_length())

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return families(n)

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        written = searches(printed)
        words, compare = _words(written, n if listed is None else listed), _comparisons(written, n)
        rules = (*_heads(written), *_choices(written), *_results(written), *_spelling(written))
        write = BlockPlan((), decide(rules, words))
        remember = BlockPlan((), compare.gadgets, (*window((compare, write)), *compare.linear_units))
        return words.embedding(), (remember, write)

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        return numbers_of(setting.format, ": above n² + 1 and every position")

    def expected(self, graph: Graph) -> list[str]:
        """Runs Algorithm 2 in plain Python, without a search."""
        around: dict[int, dict[int, None]] = {v: {} for v in range(1, graph.n + 1)}
        for a, b in graph.edges:
            around[a][b] = around[b][a] = None
        following = {
            v: dict(zip((0, *near), (*near, 0), strict=True)) for v, near in around.items()
        }  # 0: before, and none
        father, before, v, text = {1: 1}, 1, 1, ["1 - 1"]

        def search(pattern: str, result: int) -> None:
            text.append(f"<StartSearch> {pattern} <EndSearch> {result or 'FAILED'}")

        while True:
            search(rf"(?x)(\d+)\s-\s {v} \b", father[v])
            neighbour_pattern = rf"(?:(?<=\b {v} \s~\s)|(?=\d+\s~\s {v} \b))(\d+)"
            walked = 0 if before == father[v] else before
            while True:
                edge = rf"\b(?: {walked} \s~\s {v} | {v} \s~\s {walked} )\b[^-]*?" if walked else ""
                walked = following[v][walked]
                search(f"(?x){edge}{neighbour_pattern}", walked)
                if walked != father[v]:
                    break
            if walked == 0:
                text.append(f"{v} ^ {father[v]}")
                if v == 1:
                    return " ".join((*text, "YES" if len(father) == graph.n else "NO")).split()
                before, v = v, father[v]
                continue
            search(rf"(?x)(\d+)\s-\s {walked} \b", father.get(walked, 0))
            if walked in father:
                return " ".join((*text, "NO")).split()
            father[walked] = v
            text.append(f"{v} - {walked}")
            before, v = v, walked


RAG = IsTreeRag()
