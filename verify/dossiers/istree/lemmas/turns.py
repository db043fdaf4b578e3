"""Algorithm 2, as the Linear RNN writes it turn by turn, ends with YES if and only if the graph is a tree, for every n.

The text is a prompt, the edges of a simple graph, and after it words that are due by `istree.turns`, each after those
before, and after each search what it finds by `istree.results`. k is where a turn's head ends, `u - v` or `u ^ v`. The
words after it, up to the end of the next head, or to YES or NO, are read off the texts that certificates are of: at which state
which word is due, and which states stand behind that one. So a turn goes one of finitely many ways (`ways`), and lemmas say of it:
  a word is due at each state, and each search is one of those of which it is defined what they find (never-open, root-due);
  it is a step of the walk that search.smt2 has in common with Algorithm 1: down along the next edge but the father's, with a
  record, up to the father if there is none, or it ends as it should (turn-down, turn-up, turn-yes, turn-no, in searched.smt2);
  there are as many records as vertices were seen, and no more words than the model is wired for (words.smt2).

What is introduced exists, as in search.py; `passed` counts vertices, by recursion. What a person argues and no solver checks is the
induction over turns itself, and, as in search.py, what ranks and closed sets say of cycles and of connected graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, combinations, starmap
from typing import TypeAlias

from constructions.istree import rag
from constructions.istree.graphs import PAPER
from constructions.istree.rag import RECORD, RETURN, VERTEX
from constructions.language.terms import ONE, ZERO, Answer, Count, If, IsWord, Matching, Say, SayNumber, as_term
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from verify.automata.token_automaton import Label, State
from verify.dossiers.dossier import LEAST
from verify.dossiers.istree import turns
from verify.dossiers.istree.lemmas.search import PARTS, N, edges_behind, macro, text_of
from verify.dossiers.istree.results import SearchResult
from verify.dossiers.istree.texts import PROMPT, PROMPT_ENDS, TURN, of_rag
from verify.dossiers.istree.turns import Items, TurnVertex
from verify.induction.theory import Theory
from verify.induction.translation import Translation, apply, head
from verify.programs.pieces import by_way, copied_from

States: TypeAlias = "frozenset[int]"
Script: TypeAlias = "tuple[tuple[str, str], ...]"  # words from <StartSearch> on, and where each stands
OPEN = "open"  # no word is due, or none that can stand there
NAMES = {PAPER.joint: "|is ~|", RECORD: "|is -|", RETURN: "|is ^|", VERTEX: "|is a vertex|"}
ENDS = {"goes-down": RECORD, "goes-up": RETURN, "answers-yes": PAPER.yes, "answers-no": PAPER.no, "left-open": OPEN}
FINDS = ("recorded", "first-found", "next-found")  # what the texts call that which each of the searches finds


@dataclass(frozen=True)
class TurnWay:
    """From a position to the next head, or as far as it has come, if no word is due there.

    holds: formulas, of the words that stand on it and of the cases in which they do. words: how many. end: one of `ENDS`, what a
    head's mark is, a verdict that is due, or open. script: of the search that is being written. searches: where those that it has
    come to are told; the same one again is left open. vertices: which of its words are known to be vertices.
    """

    holds: tuple[str, ...] = ()
    words: int = 0
    end: str = ""
    script: Script = ()
    searches: tuple[States, ...] = ()
    vertices: frozenset[int] = frozenset()

    def where(self, *holds: str) -> TurnWay:
        """Returns the way in one of its cases."""
        return replace(self, holds=(*self.holds, *holds))

    def to(self, end: str) -> Iterator[TurnWay]:
        """Yields this way alone, with its end."""
        yield replace(self, end=end)

    @property
    def length(self) -> int:
        """Up to the end of a head, or to a verdict."""
        return self.words + (self.end in (PAPER.yes, PAPER.no))

    @property
    def formula(self) -> str:
        """Returns the formula that the text goes this way."""
        return apply("and", *self.holds)


@dataclass(frozen=True)
class Text:
    """The ways that turns take from one head to the next. due: in each state of a text. found: what the searches do."""

    due: Callable[[Label], Answer | None]
    found: SearchResult

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Returns the states of the texts that are certified; they are the same for every n."""
        return by_way(of_rag(LEAST, LEAST, frozenset(), limited=False)).states

    @cached_property
    def kinds(self) -> dict[str, int]:
        """A number for each word."""
        words = [VERTEX, PAPER.start, *(state.word for state in self.states)]
        return {word: i for i, word in enumerate(dict.fromkeys(filter(None, words)))}

    @cached_property
    def words(self) -> Translation:
        """The terms of the definition, with the names by which the texts call their functions."""
        words = Translation(functions={IsWord(word): name for word, name in NAMES.items() if word != VERTEX})
        for name, term in (("own", self.found.own), ("other", self.found.other)):
            words.define(name, term)
        for named in (self.found.current, self.found.came_to):
            words.value(named, "k")
        words.picked(head(self.found.recorded), "father-at")
        edges_behind(words, self.found, ZERO, self.found.come_from)
        words.count_function(Count(Matching(((as_term(IsWord(RECORD)), ONE),))), "records-to")
        return words

    def heads(self, mark: str) -> States:
        """Returns where a head with this mark ends."""
        return frozenset(i for i, state in enumerate(self.states) if _mark(state) == mark)

    @property
    def prompts(self) -> States:
        """Returns where a prompt may end."""
        return frozenset(i for i, state in enumerate(self.states) if state.label in PROMPT_ENDS)

    def ways(self, here: States, base: str, way: TurnWay) -> Iterator[TurnWay]:
        """Yields all that go on from one of these states, where this one has come to. base: the position that it begins after."""
        at, there = f"(+ {base} {way.words})", f"(+ {base} {way.words + 1})"
        token = self.states[min(here)].word or VERTEX
        way = replace(way, script=((token, at),) if token == START_SEARCH else (*way.script, (token, at)))
        if len(way.script) == 2:  # which tells the search
            if here in way.searches:
                return way.to(OPEN)
            way = replace(way, searches=(*way.searches, here))
        following = [i for i, state in enumerate(self.states) if i >= PROMPT and not here.isdisjoint(state.after)]

        def to(way: TurnWay, word: str, *more: str) -> Iterator[TurnWay]:
            states = frozenset(i for i in following if (self.states[i].word or VERTEX) == word)
            if not states:
                return way.to(OPEN)
            vertices = way.vertices | ({way.words + 1} if word == VERTEX else set())
            further = replace(
                way.where(f"(= (kind {there}) {self.kinds[word]})", *more), words=way.words + 1, vertices=vertices
            )
            return self.ways(states, base, further)

        def to_vertex(way: TurnWay, value: str, is_known: bool = False) -> Iterator[TurnWay]:
            stands, bounds = f"(= (number {there}) {value})", f"(<= 1 {value} n)"
            if is_known:
                return to(way, VERTEX, stands)
            return chain(to(way.where(bounds), VERTEX, stands), way.where(f"(not {bounds})").to(OPEN))

        def said(way: TurnWay, answer: Answer | None) -> Iterator[TurnWay]:
            match answer:
                case If(bit, first, second):
                    holds = self.words.holds(bit, at)
                    return chain(said(way.where(holds), first), said(way.where(f"(not {holds})"), second))
                case SayNumber(value, family) if family == VERTEX:
                    steps = copied_from(answer)
                    return to_vertex(
                        way, self.words.value(value, at), steps is not None and way.words - steps in way.vertices
                    )
                case Say(word) if word in (PAPER.yes, PAPER.no):
                    return way.to(word)
                case Say(word):
                    mark = _mark(self.states[min(here)]) if way.words else ""
                    return way.to(mark) if mark else to(way, word)
            return way.to(OPEN)

        if token != END_SEARCH:
            due = {self.due(self.states[i].label) for i in here}
            return said(way, due.pop()) if len(due) == 1 else way.to(OPEN)
        for name, (items, _) in zip(FINDS, self.found.searches.values(), strict=True):
            if (as_defined := _is_search(items, way.script)) is not None:
                value = f"({name} {at})"
                nothing, hit = (way.where(*as_defined, holds) for holds in (f"(= {value} 0)", f"(not (= {value} 0))"))
                other = (way.where(f"(not {holds})").to(OPEN) for holds in as_defined)
                return chain(to(nothing, FAILED), to_vertex(hit, value), *other)
        return way.to(OPEN)


def _mark(state: State) -> str:
    """Returns the mark of the head that ends at this state; nothing if none does."""
    return str(state.label.which) if state.label.part == TURN and state.label.number == 3 else ""


def _is_search(items: Items, script: Script) -> list[str] | None:
    """States that in these words each vertex of the search is one, and no two are the same; None if they are not its words."""
    if [item if isinstance(item, str) else VERTEX for item in items] != [word for word, _ in script]:
        return None
    places: dict[TurnVertex, list[str]] = {}
    for item, (_, at) in zip(items, script, strict=True):
        if isinstance(item, TurnVertex):
            places.setdefault(item, []).append(f"(number {at})")
    same = [f"(= {first} {other})" for first, *others in places.values() for other in others]
    firsts = [first for first, *_ in places.values()]
    return [*same, *(f"(not (= {first} {other}))" for first, other in combinations(firsts, 2))]


def theory(text: Text) -> Theory:
    """Returns all lemmas on these turns, of size N."""
    words = text.words
    terms = {"beyond": ZERO, "beyond2": text.found.come_from}
    terms |= dict(zip(FINDS, (term for _, term in text.found.searches.values()), strict=True))
    macros = {f"{name} ((k Int)) Int": words.value(term, "k") for name, term in terms.items()}
    macros |= {"limit () Int": words.value(as_term(rag.RAG.limit(N)), "k")}
    first = list(text.ways(text.prompts, "E", TurnWay()))
    turn = [
        way
        for mark in (RECORD, RETURN)
        for way in text.ways(text.heads(mark), "k", TurnWay((f"({NAMES[mark]} (- k 1))",)))
    ]
    ways_of = {name: [way for way in turn if way.end == end] for name, end in ENDS.items()}
    ways_of |= {
        "begins": [way for way in first if way.end == RECORD],
        "begins-otherwise": [way for way in first if way.end != RECORD],
    }
    lines = [f"(define {name} Bool {apply('or', *(way.formula for way in ways))})" for name, ways in ways_of.items()]
    length = "0"
    for way in turn:
        length = length if way.end == OPEN else f"(ite {way.formula} {way.length} {length})"
    lines.append(f"(define end Int (+ k {length}))")
    kinds = {f"{name} ((j Int)) Bool": f"(= (kind j) {text.kinds[word]})" for word, name in NAMES.items()}
    parts = {"text": "turns", "step": "searched", "edges": "edges", "length": "words"}
    lemmas = Theory(
        {
            **PARTS,
            **{part: text_of(name) for part, name in parts.items()},
            "kinds": "\n".join(starmap(macro, kinds.items())),
            "defined-terms": "\n".join([*words.lines, *starmap(macro, macros.items()), *lines]),
        }
    )
    lemmas.add(text_of("search"))
    lemmas.runs = ("verify.dossiers.istree.runs.turns",)
    return lemmas


def defined() -> Text:
    """Returns what rag writes and finds, of size N."""
    return Text(partial(turns.definition, N), SearchResult(N, PAPER))
