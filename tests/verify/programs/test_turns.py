"""Algorithm 2's steps: the texts that they make, the numbers that stand there twice, and programs that are not quite theirs."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph
from constructions.language.interpreter import Input, Spoken
from constructions.language.terms import ONE, Answer, Back, Count, Matching, NumberOf, Read, Say, SayNumber, as_term
from constructions.models.search import END_SEARCH, FAILED
from tests.verify.programs.wrong import unnoticed, with_one_wrong_word
from verify.algebra.domains import Integer
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.building import automaton_of, build
from verify.claims.program_turns import as_searched, states_after
from verify.dossiers.istree import turns
from verify.dossiers.istree.texts import FATHER, PROMPT_ENDS, TURN
from verify.dossiers.registry import find_subject
from verify.explain import main
from verify.inputs.strategies import graphs
from verify.programs.extraction import ExtractedProgram, extract
from verify.programs.facts import Facts
from verify.programs.normal import Normalizer
from verify.programs.pieces import as_due, by_way
from verify.rounding.model import ExactModel

N = 5
SUBJECT = find_subject("istree", N, model="rag")


@cache
def program() -> tuple[ExactModel, TokenAutomaton, ExtractedProgram]:
    model, automaton = build(SUBJECT)
    texts = SUBJECT.dossier.compared_texts(SUBJECT, automaton)
    return model, texts, extract(model, texts, naming=True)


@cache
def both() -> tuple[TokenAutomaton, TokenAutomaton]:
    """The texts, and again with a state for each way."""
    return automaton_of(SUBJECT), by_way(automaton_of(SUBJECT))


@cache
def normal_at(i: int) -> Normalizer:
    return Normalizer(program()[2].facts.ending(i))


def due(label: Label) -> Answer | None:
    return turns.definition(N, label)


@st.composite
def ways(draw: st.DrawFn, automaton: TokenAutomaton) -> tuple[list[int], list[Spoken]]:
    """States of a text, and its tokens; numbers that stand twice are copied, any others drawn."""
    following = [[i for i, p in enumerate(automaton.states) if j in p.after] for j in range(len(automaton.states))]
    length, choose = draw(st.integers(1, 90)), random.Random(draw(st.integers(0, 2**32)))
    here, at, tokens = 0, list[int](), list[Spoken]()
    while True:
        state = automaton.states[here]
        low, high = (automaton.range(end)[0] for end in state.numbers)
        number = choose.randint(low, high) if not state.same else tokens[-state.same][1]
        at.append(here)
        tokens.append((state.word, 0) if state.word else (state.family, number))
        if not following[here] or len(at) == length:
            return at, tokens
        here = choose.choice(following[here])


def stands(automaton: TokenAutomaton, tokens: list[Spoken]) -> bool:
    """Whether some way through the states has these tokens."""
    here = frozenset[int]()
    return all(here := states_after(automaton, here, tokens, k) for k in range(1, len(tokens) + 1))


def test_each_piece_is_defined() -> None:
    texts = by_way(automaton_of(SUBJECT))
    pieces = {state.label.piece for state in texts.states if state.label.number}
    heads = {
        piece for piece in pieces if piece.part == TURN and piece.which == rag.RECORD and piece.behind in PROMPT_ENDS
    }
    dead_ends = {piece for piece in pieces if piece.part == FATHER and piece.result == FAILED}
    assert (len(heads), len(dead_ends)) == (2, 2)
    assert pieces == {*turns.PIECES, *turns.RESULTS, *heads, *dead_ends}
    undefined = [state for state in texts.states if due(state.label) is None]
    assert {state.word for state in undefined} == {"", PAPER.joint, "FAILED", END_SEARCH}
    assert {state.label for state in undefined if not state.word} == {Label("first endpoint")}


@given(st.data())
def test_a_state_for_each_way_leaves_the_texts_as_they_are(data: st.DataObject) -> None:
    one, other = data.draw(st.permutations(both()))
    _, tokens = data.draw(ways(one))
    assert stands(other, tokens)


@given(st.data())
def test_a_term_at_its_state_is_what_it_is_everywhere(data: st.DataObject) -> None:
    """On texts with numbers that stand twice, whatever else they say."""
    _, texts, found = program()
    at, tokens = data.draw(ways(texts))
    given_text, k = Input(tokens, frozenset([rag.VERTEX])), len(at)
    positions = texts.positions(texts.states[at[-1]])
    assert positions.low <= k <= positions.high
    for stage in found.stages:
        for value in stage.registers.values():
            assert given_text.value(normal_at(at[-1]).term(value), k) == given_text.value(value, k)


@given(graphs(range(5, 9)))
def test_searches_in_turns_of_larger_graphs_find_what_is_defined(graph: Graph) -> None:
    assert as_searched(graph) is None


def test_a_definition_with_one_wrong_word_is_not_the_program() -> None:
    model, texts, found = program()
    refused = 0
    for i, state in enumerate(texts.states):
        if (right := due(state.label)) is None:
            continue
        others = list(with_one_wrong_word(right, (PAPER.no, PAPER.yes), exchanged=True))
        assert unnoticed(model, found, normal_at(i), right, others) == [], state.label
        refused += len(others)
    assert refused > len(texts.states)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["istree", "--model", "rag", "--n", "6"]) == 0
    said = capsys.readouterr().out
    assert "vertex[k − 9]" in said
    assert "at a record: a vertex, 1, k: NO" in said
    assert "whatever a search finds, each word is the defined step of Algorithm 2, for every input" in said
    assert main(["istree", "--model", "rag", "--n", "6", "--printed", "edge-group"]) == 1
    assert "it says neither within 341 words; the right answer is YES" in capsys.readouterr().out


def test_a_number_is_a_copy_only_if_all_texts_have_it_so() -> None:
    start, two = State(Label("s"), 1, 1, (), "s"), (1, 2)
    one, other = (State(Label(name, number=1), 2, 2, (0,), numbers=two, family="v") for name in ("one", "other"))
    texts = TokenAutomaton(
        (start, one, other, State(Label("both", number=1), 3, 3, (1, 2), numbers=two, family="v")), frozenset(), (4, 4)
    )
    number = as_term(NumberOf("v"))
    again, no_copy = SayNumber(number, "v"), SayNumber(number + 1, "v")

    def same(at_one: Answer | None, at_other: Answer | None) -> State:
        return as_due(texts, 1, {one.label: at_one, other.label: at_other}.get).states[3]

    assert same(again, again).same == 1
    back = SayNumber(as_term(Read(number, Back(1))), "v")
    assert same(back, back).same == 2
    of_none = SayNumber(ONE, "w")
    for at_one, at_other in ((again, back), (again, None), (again, Say("s")), (no_copy, no_copy), (of_none, of_none)):
        assert same(at_one, at_other) == texts.states[3]
    assert same(SayNumber(ONE, "v"), SayNumber(ONE, "v")).numbers == (1, 1)


def test_nothing_is_counted_where_nothing_can_be() -> None:
    normal = Normalizer(program()[2].facts)
    never, always = (as_term(Count(Matching(((as_term(c), ONE),)))) for c in (0, 1))
    assert normal.term(never).is_constant
    assert Input([("<s>", 0), ("~", 0)]).value(normal.term(always), 2) == 1


def test_a_number_is_a_copy_of_its_own_family_alone() -> None:
    """Where a number of another family stands, this one has none."""
    states = (
        State(Label("s"), 1, 1, (), "s"),
        State(Label("first"), 2, 2, (0,), numbers=(1, 2), family="w"),
        State(Label("of none"), 3, 3, (1,), numbers=(0, 2), family="v", same=1),
        State(Label("of the first"), 4, 4, (2,), numbers=(1, 2), family="w", same=2),
    )
    facts = Facts.everywhere(TokenAutomaton(states, frozenset(), (4, 4)))
    text, number = Input([("s", 0), ("w", 2), ("v", 0), ("w", 2)], frozenset("vw")), as_term(NumberOf("w"))
    told = [Normalizer(facts.facts_at(frozenset([i]))).term(number) for i in range(4)]
    assert [text.value(term, k) for k, term in enumerate(told, start=1)] == [0, 2, 0, 2]
    assert told[3] == as_term(Read(number, Back(2)))


def test_the_positions_of_a_way_are_among_those_of_its_state() -> None:
    states = (
        State(Label("s"), 1, 1, (), "s"),
        State(Label("x"), 2, 4, (0, 1), "x"),
        State(Label("each third"), 2, 8, (1,), "y", every=3),
    )
    actual = by_way(TokenAutomaton(states, frozenset(), (4, 4)))
    assert actual.positions(actual.states[2]) == Integer(5, 5, 3)
