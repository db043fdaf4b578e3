"""The texts of IsTree's recurrent models: the edges of a graph, and after them a search in frames or turns of a few words.

Numbers are any that their family has: that a frame says what the graph has is not assumed, only its form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.istree import hybrid, rag
from constructions.istree.graphs import LAYOUTS, PAPER, Layout
from constructions.istree.hybrid import DOWN, FURTHER, PASS, PLACE, UP, VERTEX
from constructions.istree.rag import ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE, RECORD, RETURN
from constructions.istree.searches import SearchWords, searches
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.wiring.numbered import Family
from verify.algebra.domains import SIZE
from verify.algebra.polynomial import atom, constant
from verify.automata.token_automaton import Apart, Bound, Consecutive, Label, Limited, State, TokenAutomaton
from verify.programs.texts import ending

FRAMES = (  # of the hybrid
    (DOWN, VERTEX, VERTEX, PLACE, PLACE),
    (UP, VERTEX, VERTEX, PLACE, PLACE),
    (PASS, VERTEX, PLACE, PLACE),
    (FURTHER, VERTEX, PLACE, PLACE),
)
COMPARISONS = frozenset([ALL_RECORDED, FIRST_IS_FATHER, NEXT_IS_FATHER, NOWHERE])  # of the Linear RNN with search
MORE = "n edges or more"
SECOND, FIRST_THOUGHT, THOUGHT = Label("second endpoint"), Label("thought", 1), Label("thought")
PROMPT_ENDS = Label(PAPER.start), SECOND
IN_PROMPT, IN_THOUGHT = "of the prompt", "of the thought"  # an [EOS]
PROMPT = 4  # states of the edges: <s>, the first endpoint, ~, the second
FIRST_FRAME, FRAME = Label("the first frame"), "a frame"
TURN, FATHER, A_VERTEX = "a turn", "the father in a turn", "a vertex"  # and what a search returns
FIRST_NEIGHBOUR, NEXT_NEIGHBOUR, KNOWN = map(Label, ("the first neighbour", "the next neighbour", "a record"))


def records_apart() -> Apart:
    """Assumes, for a simple graph: the two records of an edge, beside each other, are of its two ends."""
    return Apart("records of one vertex", "self", 2, "two records of one vertex are at least 2 positions apart")


def records_limited(most: Bound) -> Limited:
    """Assumes, for the repaired searches: a vertex is recorded where a search for its record has failed."""
    return Limited("records", "records", most, "no more vertices are recorded than there are: n")


def edge_counts(most: Bound) -> Consecutive:
    """Assumes, for a simple graph: a vertex has at most n − 1 edges, and each is its own place among them."""
    statement = (
        "at each position, the records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1"
    )
    return Consecutive("counts of one vertex", "self", "edge_count", most, statement)


def istree(low: int, high: int, layout: Layout = "paper") -> TokenAutomaton:
    """Returns a prompt of up to n(n − 1)/2 edges `a ~ b`, and after it up to 2n − 1 vertices of a chain of thought.

    Layout `paper`: after n − 1 edges. Layout `eos`: after any number, and [EOS] after both.
    For every n from low to high, low at least 2.
    """
    words = LAYOUTS[layout]
    n = constant(low) if low == high else atom(SIZE)
    last = (n * n - n) * Fraction(3, 2)  # of the prompt, less <s>
    every = (1, n)
    states = [
        State(Label(words.start), 1, 1, (), words.start),
        State(Label("first endpoint"), 2, last - 1, (0, 3), numbers=every, every=3),
        State(Label(words.joint), 3, last, (1,), words.joint, every=3),
        State(SECOND, 4, last + 1, (2,), numbers=every, every=3),
    ]
    end = words.end_of_prompt
    if end is None:
        states += [
            State(FIRST_THOUGHT, n * 3 - 1, n * 3 - 1, (3,), numbers=every),
            State(THOUGHT, n * 3, n * 5 - 2, (4, 5), numbers=every),
        ]
    else:
        states += [
            State(Label(end, IN_PROMPT), 2, last + 2, (0, 3), end),
            State(FIRST_THOUGHT, 3, last + 3, (4,), numbers=every),
            State(THOUGHT, 4, last + n * 2 + 1, (5, 6), numbers=every),
            State(Label(end, IN_THOUGHT), 4, last + n * 2 + 2, (5, 6), end),
        ]
    answers = frozenset(state.label for state in states)
    return TokenAutomaton(tuple(states), answers, (low, high), (edge_counts(n - 1),), shown=THOUGHT)


@dataclass
class _EdgeStates:
    """States after the edges. numbers: family → bounds; what is none is a word. low, high: of positions after the edges."""

    states: list[State]
    numbers: dict[str, tuple[Bound, Bound]]
    low: Bound
    high: int

    @staticmethod
    def of(low: int, high: int, families: Callable[[Any], Sequence[Family]], start: Bound, end: int) -> _EdgeStates:
        """Returns a text that begins with up to n(n − 1)/2 edges. families: of the numbers, for any n."""
        edges = [state if state.word else replace(state, family=VERTEX) for state in istree(low, high).states[:PROMPT]]
        numbers: dict[str, tuple[Bound, Bound]] = {
            family.name: (family.low, family.high) for family in families(low if low == high else atom(SIZE))
        }
        return _EdgeStates(edges, numbers, start, end)

    def write(self, piece: Label, items: Sequence[str], *after: int) -> int:
        """Adds states for words one after the other. Returns the number of the last one."""
        for i, item in enumerate(items, start=1):
            state = State(replace(piece, number=i), self.low, self.high, after)
            if item in self.numbers:
                self.states.append(replace(state, numbers=self.numbers[item], family=item))
            else:
                self.states.append(replace(state, word=item))
            after = (len(self.states) - 1,)
        return after[0]

    def follow(self, state: int, *after: int) -> None:
        """Lets a state stand behind others, too."""
        self.states[state] = replace(self.states[state], after=(*self.states[state].after, *after))

    @property
    def labels(self) -> frozenset[Label]:
        """Returns the labels of all states."""
        return frozenset(state.label for state in self.states)


def of_hybrid(low: int, high: int) -> TokenAutomaton:
    """Returns texts of a first frame after n − 1 edges, and then any others; n from low to high."""
    n = constant(low) if low == high else atom(SIZE)
    text = _EdgeStates.of(low, high, hybrid.families, n * 3 + 2, 3 * high - 2 + hybrid.HYBRID.limit(high))
    ends = [text.write(FIRST_FRAME, (VERTEX, PLACE, PLACE), PROMPT - 1)]
    for i, state in enumerate(text.states[PROMPT:]):
        text.states[PROMPT + i] = replace(state, low=n * 3 - 1 + i, high=n * 3 - 1 + i)
    marks = []
    for frame in FRAMES:
        marks.append(len(text.states))
        ends.append(text.write(Label(FRAME, frame[0]), frame))
    for mark in marks:
        text.follow(mark, *ends)
    return TokenAutomaton(tuple(text.states), text.labels, (low, high), (records_apart(),))


def of_rag(low: int, high: int, printed: frozenset[str], *, limited: bool) -> TokenAutomaton:
    """Returns texts of any turns after any edges; what a search returns is a vertex or FAILED. n from low to high.

    limited: given that no more vertices are recorded than there are.
    """
    written, text = searches(printed), _EdgeStates.of(low, high, rag.families, 2, rag.RAG.length(high))

    def search(piece: Label, script: SearchWords, *after: int) -> tuple[int, int]:
        """Returns a search; a vertex as its result, and FAILED."""
        items = [item if isinstance(item, str) else VERTEX for item in script.script]
        end = text.write(piece, (START_SEARCH, *items, END_SEARCH), *after)
        vertex, failed = (replace(piece, result=result) for result in (A_VERTEX, FAILED))
        return text.write(vertex, (VERTEX,), end), text.write(failed, (FAILED,), end)

    def turn(mark: str, *after: int) -> tuple[int, int]:
        """Adds a turn: vertex, mark, vertex, and the search for the father. Returns the first and the last of its states."""
        begin = len(text.states)
        head = text.write(Label(TURN, mark), (VERTEX, mark, VERTEX), *after)
        father, _ = search(Label(FATHER, mark), written.father, head)
        return begin, father

    new, recorded = turn(RECORD, 0, PROMPT - 1)
    again, returned = turn(RETURN)
    first, no_first = search(FIRST_NEIGHBOUR, written.first, recorded)
    another = len(text.states)
    following, no_next = search(NEXT_NEIGHBOUR, written.next, returned, first)
    _, unknown = search(KNOWN, written.record, first, following)
    text.follow(another, following)
    text.follow(new, unknown)
    text.follow(again, no_first, no_next)
    invariants = (records_limited(constant(low) if low == high else atom(SIZE)),) if limited else ()
    return TokenAutomaton(tuple(text.states), text.labels, (low, high), invariants, COMPARISONS)


def searched(automaton: TokenAutomaton, n: int, *, longer: bool = False) -> TokenAutomaton:
    """Returns texts of the paper's layout: prompts of up to n − 1 edges, and after n − 1 a search of up to 2n − 1 vertices from
    1 on.

    That it begins with 1 is what is said at the end of such a prompt. longer: prompts of n edges or more as well, at states of
    their own.
    """
    one = (replace(state, numbers=(1, 1)) if state.label == FIRST_THOUGHT else state for state in automaton.states)
    search = replace(automaton, states=tuple(one))
    if search.states[-1].word:
        return search
    cut = ending(search, len(search.states) - 1, 5 * n - 3)[0]
    if not longer:
        return cut
    edge, number = search.states[1:4], len(cut.states)
    before = ((3, number + 2), (number,), (number + 1,))
    late = (
        replace(
            state,
            label=replace(state.label, case=MORE),
            low=3 * n - 1 + i,
            high=search.positions(state).high,
            after=before[i],
        )
        for i, state in enumerate(edge)
    )
    return replace(cut, states=(*cut.states, *late))
