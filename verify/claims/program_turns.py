"""The ideal Linear RNN of Theorem 5.3 is Algorithm 2, step by step: its program, what its searches find, and where that leads."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Edge, Graph, is_tree
from constructions.istree.rag import RECORD, RETURN
from constructions.language.interpreter import Input, Spoken
from constructions.language.terms import Answer, Term
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH, retrieve
from verify.automata.token_automaton import State, TokenAutomaton
from verify.certificates.building import automaton_of
from verify.claims.found import DOCUMENTED, as_documented
from verify.claims.models import ISTREE_RAG
from verify.claims.program import ARGUED
from verify.claims.standard import ALGORITHM_2, explained
from verify.dossiers.dossier import LEAST
from verify.dossiers.istree import turns
from verify.dossiers.istree.lemmas.turns import defined, theory
from verify.dossiers.istree.searches import FOUND, OF_TURNS, of_turns
from verify.dossiers.istree.texts import PROMPT
from verify.dossiers.istree.turns import Items, TurnVertex
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.oracles.counts import ordered_graphs
from verify.programs.witness import tokens_of
from verify.runs.istree_walks import on_small_graphs

NAMES = (1, 11, 12)  # vertices of which one is another's first or last digit


@cache
def compared(n: int) -> tuple[TokenAutomaton, tuple[Answer | None, ...]]:
    """Returns the texts that are compared, and the due answers at their states."""
    subject = find_subject("istree", n, model="rag")
    texts = subject.dossier.compared_texts(subject, automaton_of(subject))
    return texts, tuple(subject.dossier.definition(subject, state.label) for state in texts.states)


def states_after(texts: TokenAutomaton, here: frozenset[int], tokens: Sequence[Spoken], k: int) -> frozenset[int]:
    """Returns the states where token k, from 1, can stand if the one before stands at one of `here`; at 1, after none."""
    name, number = tokens[k - 1]

    def fits(state: State) -> bool:
        if state.word:
            return state.word == name
        (low, _), (_, high) = map(texts.range, state.numbers)
        copied = not state.same or tokens[k - 1 - state.same] == tokens[k - 1]
        return state.family == name and low <= number <= high and copied

    found = (i for i, state in enumerate(texts.states) if not (state.after or here) or not here.isdisjoint(state.after))
    return frozenset(i for i in found if fits(texts.states[i]))


def as_algorithm_2(graph: Graph) -> Counterexample | None:
    """Returns where the defined step is not what comes next in Algorithm 2's text, or where that text stands at no state."""
    texts, due = compared(graph.n)
    prompt = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
    words = [*prompt, *rag.RAG.expected(graph)]
    tokens, here = tokens_of(words, rag.VERTEX), frozenset[int]()
    read = Input(tokens, frozenset([rag.VERTEX]))
    for k in range(1, len(words)):
        here = frozenset(i for i in states_after(texts, here, tokens, k) if (i < PROMPT) == (k <= len(prompt)))
        if not here:
            return Counterexample(position=k, found=words[k - 1], due="another token")
        for answer in map(due.__getitem__, here if k >= len(prompt) and words[k - 1] != END_SEARCH else ()):
            said = answer and read.word_at(answer, k)
            if said != words[k]:
                return Counterexample(position=k, expected=words[k], due=said)
    return None


def found_by(
    search: Items, term: Term, vertices: Mapping[TurnVertex, int], words: Sequence[str]
) -> Counterexample | None:
    """Returns where a search after these words finds something else than the term says."""
    text = [*words, *(item if isinstance(item, str) else str(vertices[item]) for item in search)]
    right, said = retrieve(text), Input(tokens_of(text)).value(term, len(text))
    return None if right == [str(said) if said else FAILED] else Counterexample(text=text, expected=right, found=said)


def edges_as_found(edges: tuple[Edge, ...]) -> Counterexample | None:
    """Returns both searches for a neighbour, of each vertex and after each other one, which need not be a neighbour."""
    prompt = [PAPER.start, *(word for a, b in edges for word in (str(a), PAPER.joint, str(b))), "1", RECORD, "1"]
    for v in NAMES:
        given = {turns.V: v}
        cases = [(turns.FIRST, FOUND.first, given)]
        cases += [(turns.NEXT, FOUND.next, {**given, turns.U: u}) for u in NAMES if u != v]
        if result := next(filter(None, (found_by(*case, prompt) for case in cases)), None):
            return result
    return None


def search_as_documented(name: str) -> Counterexample | None:
    """Returns one of the searches of Algorithm 2, in every text."""
    return as_documented(of_turns(name))


def records_as_found(heads: tuple[tuple[int, str, int], ...]) -> Counterexample | None:
    """Returns the search for a record, of each vertex, after these heads of turns."""
    words = ["<s>", "11", "~", "1", *(str(word) for head in heads for word in head)]
    found = (found_by(turns.FATHER, FOUND.recorded, {turns.V: v}, words) for v in NAMES)
    return next(filter(None, found), None)


def as_searched(graph: Graph) -> Counterexample | None:
    """Returns where in Algorithm 2's text a search finds something else than is defined, or its end is not right, or too late."""
    words = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
    words, prompt = [*words, *rag.RAG.expected(graph)], len(words)
    read = Input(tokens_of(words))
    for k in (k for k, word in enumerate(words, start=1) if word == END_SEARCH):
        start = max(j for j in range(k) if words[j] == START_SEARCH)
        term = next(term for items, term in OF_TURNS.values() if items[1] == words[start + 1])
        if (found := str(read.value(term, k) or FAILED)) != words[k]:
            return Counterexample(position=k, expected=words[k], found=found)
    answer = PAPER.yes if is_tree(graph) else PAPER.no
    right = words[-1] == answer and len(words) - prompt <= rag.RAG.limit(graph.n)
    return None if right else Counterexample(expected=answer, answered=words[-1], words=len(words) - prompt)


@ISTREE_RAG.judges("program", f"IsTree, rag: {ALGORITHM_2}")
def test_step(check: Check) -> None:
    on_small_graphs(check, as_algorithm_2, "the defined steps against Algorithm 2")
    check.sizes(LEAST)
    text = "the program against the defined step: any edges, any turns after them, any results of searches"
    explained(check, find_subject("istree", LEAST, model="rag"), [LEAST], text)


FINDS = (
    "After the edges of a simple graph and any turns, of any length and any numbers, a search that does what Python documents "
    "finds what the terms say: for a first neighbour the other end of the first edge, for a next one that of the one after, for a "
    "record the father in the first one; and after small ones Python's `re` does."
)


@ISTREE_RAG.judges("found", f"IsTree, rag: {FINDS}")
def test_found(check: Check) -> None:
    pairs = list(itertools.permutations(NAMES, 2))
    check.exhaustive(
        (edges for m in range(4) for edges in itertools.permutations(pairs, m) if len({*map(frozenset, edges)}) == m),
        edges_as_found,
        count=ordered_graphs(3) * 9,
        inputs=lambda _: 9,
        range="every simple graph on 1, 11 and 12, every order and orientation of its edges; every vertex, every other one",
        size=3,
    )
    heads = list(itertools.product(NAMES, (RECORD, RETURN), NAMES))
    check.exhaustive(
        (some for m in range(3) for some in itertools.product(heads, repeat=m)),
        records_as_found,
        count=(1 + 18 + 18**2) * 3,
        inputs=lambda _: 3,
        range="up to two heads of turns, any three words in each; every vertex",
        size=3,
    )
    check.exhaustive(
        OF_TURNS,
        search_as_documented,
        count=len(OF_TURNS),
        range="the pattern of each search against its term, as automata: every text",
    )
    check.argued(DOCUMENTED)


RIGHT = (
    "After the edges of a simple graph, words that are the defined steps of Algorithm 2, and what its searches find as defined, "
    "end after 64n − 43 of them at most, with YES if and only if the graph is a tree, for every n."
)


@ISTREE_RAG.judges("search", f"IsTree, rag: {RIGHT}")
def test_ends(check: Check) -> None:
    on_small_graphs(check, as_searched, "what the searches of Algorithm 2's text find, and its end")
    text = (
        "that a word is due at each place, what searches find, invariants at the start and after each turn, how many words there "
        "are, and what they say of the answer; every n"
    )
    check.follows(theory(defined()), range=text)
    check.argued(ARGUED.replace("positions", "turns"))
