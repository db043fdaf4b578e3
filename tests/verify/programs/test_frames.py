"""The program of IsTree's hybrid, and the search in frames that is defined."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings

from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.hybrid import PLACE, VERTEX
from constructions.language.interpreter import ANYTHING, Input, Spoken
from constructions.language.terms import ZERO, Answer
from tests.verify.programs.wrong import unnoticed, with_one_wrong_word
from verify.automata.token_automaton import Apart, Label
from verify.certificates.building import automaton_of, build, families_of, wired_of
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN
from verify.certificates.ideal import IdealModel
from verify.claims.hybrid_program import as_defined
from verify.dossiers.istree.frames import OWN, definition
from verify.dossiers.istree.texts import FIRST_FRAME, SECOND
from verify.dossiers.istree.walks_in_frames import FAMILIES, labels, tokens_of
from verify.dossiers.registry import find_subject
from verify.dossiers.turing.models import walk
from verify.inputs.strategies import graphs
from verify.programs.document import explanation
from verify.programs.extraction import ExtractedProgram, extract
from verify.programs.forms import expanded
from verify.programs.intervals import intervals
from verify.programs.normal import Normalizer

SMALL = find_subject("istree", 4, model="hybrid")
GRAPHS = [Graph(4, edges) for edges in (((2, 1), (3, 2), (2, 4)), ((3, 1), (4, 3), (4, 1)), ((4, 3), (3, 2), (2, 4)))]


@pytest.mark.parametrize("n", [4, 10**12])
def test_the_program_is_the_search(n: int) -> None:
    document = explanation(replace(SMALL, n=n))
    assert (document["verdict"], document["what"], document["assumed_invariants"]) == (CERTIFIED, "", [])
    assert document["answers"] == document["task"]


def test_every_n() -> None:
    actual = list(intervals(replace(SMALL, n=50, last=52)))
    assert [n for i in actual for n in range(i.low, i.high + 1)] == list(range(50, 53))
    assert all(interval.document["verdict"] == CERTIFIED for interval in actual)
    assert any(i.high - i.low >= 1 for i in actual)


@pytest.mark.parametrize("finding", hybrid.FINDING_IDS)
def test_a_print_is_not_the_search(finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends too early does so nowhere on 4 vertices, or not seen to."""
    monkeypatch.setattr("verify.dossiers.istree.models.GRAPHS", 20)
    document = explanation(replace(SMALL, printed=(finding,)))
    assert document["verdict"] == (UNKNOWN if finding == "search-range" else REFUSED)
    where = {"nearest-tie": "block 2, head 1 (nearest record)", "search-range": "the answer at the first frame, 3"}
    assert document["where"] == where.get(finding, "the answer at a frame -, 5")


# Runs


@cache
def program() -> ExtractedProgram:
    return extract(*build(SMALL), naming=True)


def test_what_is_apart_is_the_vertex_of_a_record() -> None:
    """The register that an invariant of certificates is about, which lemmas show of records."""
    (invariant,) = build(SMALL)[1].invariants
    assert isinstance(invariant, Apart)
    found, normal = program(), Normalizer(program().facts)
    behind_first_block = found.stages[2].registers[found.names.index(invariant.group)]
    assert normal.term(expanded(behind_first_block)) == normal.term(expanded(OWN))


def texts() -> Iterator[list[int]]:
    """Searches, and texts with any numbers."""
    wired, rng = wired_of(SMALL), random.Random(0)
    for graph in GRAPHS:
        prompt, right = tokens_around(graph)
        yield [*prompt, *right[:-1]]
    for _ in range(7):
        yield walk(automaton_of(SMALL), wired, families_of(SMALL), rng)[:70]


def tokens_around(graph: Graph) -> tuple[list[int], list[int]]:
    """A prompt, and what a search says after it."""
    wired, spelled = wired_of(SMALL), PAPER.vocabulary(SMALL.n)
    return wired.tokens(spelled[token] for token in PAPER.prompt(graph)), wired.tokens(hybrid.HYBRID.expected(graph))


def labels_of(tokens: Sequence[Spoken]) -> list[Label]:
    """Their states: those of the search are after the vertex before the first position."""
    search = next((i for i, (family, _) in enumerate(tokens) if family == PLACE), len(tokens) + 1) - 1
    edges = itertools.cycle((Label("first endpoint"), Label("~"), SECOND))
    said = [f"@{number}" if family == PLACE else family for family, number in tokens[search:]]
    return [Label(PAPER.start), *itertools.islice(edges, min(search, len(tokens)) - 1), *labels(said)]


@cache
def due_at(label: Label) -> Answer | None:
    return definition(SMALL.n, label)


def test_terms_and_words_of_an_exact_run() -> None:
    """At each position: the terms, as they are and as told at its state, are the registers; the defined word is what is said."""
    wired, found, automaton = wired_of(SMALL), program(), automaton_of(SMALL)
    names = [wired.registers.index(name) for name in found.names]
    number = {state.label: i for i, state in enumerate(automaton.states)}
    normals = [Normalizer(found.facts.ending(i)) for i in range(len(automaton.states))]
    told = cache(lambda state, term: normals[state].term(term))  # the same at each position of a state
    due_words = left_open = 0
    for tokens in texts():
        history, following = IdealModel(wired.model).run(tokens)
        words = tokens_of([wired.vocabulary[token] for token in tokens])
        read = Input(words, FAMILIES)
        for k, label in enumerate(labels_of(words), start=1):
            due = due_at(label)
            if due is not None and read.word_at(due, k) != ANYTHING:
                due_words += 1
                assert [read.spoken(due, k)] == tokens_of([wired.vocabulary[following[k - 1]]])
            left_open += due is not None and read.word_at(due, k) == ANYTHING
            for layer, stage in enumerate(found.stages):
                for i in range(len(names)):
                    term, value = stage.registers.get(i, ZERO), history[k - 1][layer][names[i]]
                    assert read.value(term, k) == value
                    assert read.value(told(number[label], term), k) == value
    assert due_words > 300
    assert left_open > 30


@settings(max_examples=20)
@given(graphs(range(5, 12)))
def test_the_defined_words_are_those_of_larger_searches(graph: Graph) -> None:
    assert as_defined(graph) is None


def test_a_definition_with_one_wrong_word_is_not_the_program() -> None:
    """But where no text leads: no prompt ends at its start, and no vertex has a father, or is the last one, before all frames."""
    (model, automaton), found = build(SMALL), program()
    same = dict[Label, int]()
    for i, state in enumerate(automaton.states):
        due, normal = due_at(state.label), Normalizer(found.facts.ending(i))
        if due is not None:
            others = with_one_wrong_word(due, ("-", ">"), (VERTEX, PLACE))
            if some := unnoticed(model, found, normal, due, others):
                same[state.label] = len(some)
    assert same == {Label("<s>"): 2, replace(FIRST_FRAME, number=3): 2}
