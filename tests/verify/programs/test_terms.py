"""Terms are what they say: each register's against exact runs, and any term's normal form against the term itself."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from constructions.istree.graphs import LAYOUTS, Graph, Layout, expected_answer
from constructions.language.interpreter import Input
from constructions.language.terms import (
    ONE,
    POSITION,
    Above,
    At,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Equal,
    IsWord,
    Matching,
    Nearest,
    Next,
    NumberOf,
    Pick,
    Positive,
    Read,
    Reciprocal,
    Sum,
    Term,
    as_term,
)
from constructions.retrieval.task import ASK, START, Question
from verify.automata.token_automaton import Label
from verify.certificates.building import automaton_of, build, families_of, wired_of
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import Subject
from verify.dossiers.istree.texts import FIRST_THOUGHT, IN_PROMPT, IN_THOUGHT, MORE, SECOND, THOUGHT, searched
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS, RETRIEVERS
from verify.programs.extraction import ExtractedProgram, extract
from verify.programs.facts import Facts
from verify.programs.forms import at_first, unresolved
from verify.programs.heads import by_key, winners
from verify.programs.normal import Normalizer
from verify.programs.output import _is_share, _sign
from verify.programs.text import TermPrinter
from verify.programs.witness import tokens_of

N = 4
TRANSFORMERS = [key for key in MODELS if key[1] != "rag"]


def subject_of(name: str, model: str, printed: Sequence[str] = ()) -> Subject:
    return find_subject(name, N, model=model, printed=tuple(printed))


@cache
def program(subject: Subject) -> ExtractedProgram:
    return extract(*build(subject))


def contradictions(subject: Subject, questions: Sequence[Question]) -> list[str]:
    """Where a term is not the register of the exact run, here or as it is told at its state."""
    found, wired, automaton = program(subject), wired_of(subject), automaton_of(subject)
    ideal = IdealModel(wired.model)
    names = [wired.registers.index(name) for name in found.names]
    wrong = []
    for question in questions:
        words = question.words()
        history, _ = ideal.run(wired.tokens(words))
        told = Input(tokens_of(words))
        last = next(
            i for i, p in enumerate(automaton.states) if p.label in automaton.answers and p.word in ("", words[-1])
        )
        here = at_state(subject, last if words[-1] != "0" else len(automaton.states) - 1)
        for k, layer in itertools.product(range(1, len(words) + 1), range(len(found.stages))):
            for i, name in enumerate(found.names):
                value = history[k - 1][layer][names[i]]
                if told.value(found.stages[layer].registers.get(i, as_term(0)), k) != value:
                    wrong.append(f"{words}, position {k}, {found.stages[layer].where}, {name}")
                if k == len(words) and told.value(here[layer].get(i, as_term(0)), k) != value:
                    wrong.append(f"{words}, as told at its place, {found.stages[layer].where}, {name}")
    return wrong


@cache
def at_state(subject: Subject, state: int) -> list[dict[int, Term]]:
    found = program(subject)
    normal = Normalizer(found.facts.facts_at(frozenset([state])))
    return [{i: normal.term(value) for i, value in stage.registers.items()} for stage in found.stages]


def questions(name: str, most: int) -> list[Question]:
    """Short ones, and some of each length."""
    task, asked = MODELS[name, "transformer"].task, MODELS[name, "transformer"].query_length
    every = [
        Question(sequence, query)
        for length in range(N + 1)
        for sequence in itertools.product(range(1, N + 1), repeat=length)
        for query in itertools.product(*[range(1, N + 1)] * (asked - 1), range(0 if task.zero else 1, N + 1))
    ]
    sensible = [question for question in every if not task.wrong(question)]
    return random.Random(name).sample(sensible, min(most, len(sensible)))


def test_atoms_are_told_in_the_order_of_the_term() -> None:
    """Not in that of their hashes, which differ from process to process, and with them the order of all that is asked."""
    atoms = [Read(as_term(IsWord(word)), Back(1)) for word in "abcdefgh"]
    value = sum((as_term(a) * i for i, a in enumerate(atoms, 1)), ONE)
    assert list(value.atoms) == [a for monomial, _ in value.items for a in monomial]
    assert value.atoms == set(atoms)


@pytest.mark.parametrize(("name", "model"), TRANSFORMERS)
def test_registers_of_an_exact_run(name: str, model: str) -> None:
    assert not contradictions(subject_of(name, model), questions(name, 5))


@pytest.mark.parametrize(
    ("name", "model", "finding"),
    [(name, model, finding.id) for name, model in TRANSFORMERS for finding in MODELS[name, model].findings],
)
def test_registers_with_a_finding_put_back(name: str, model: str, finding: str) -> None:
    assert not contradictions(subject_of(name, model, [finding]), questions(name, 1))


@pytest.mark.parametrize("name", RETRIEVERS)
def test_registers_of_a_search(name: str) -> None:
    subject = subject_of(name, "rag")
    retriever: Any = subject.dossier.solver
    found, wired = program(subject), wired_of(subject)
    families = families_of(subject)
    numbers = [(family.name, family.low + i) for family in families for i in range(len(family))]
    told = dict(enumerate([*numbers, *((word, 0) for word in wired.vocabulary[len(numbers) :])]))
    ideal = IdealModel(wired.model)
    for question in questions(name, 3):
        tokens = wired.tokens([*question.words(), *retriever.thoughts(question, frozenset())])
        history, _ = ideal.run(tokens)
        run = Input([told[token] for token in tokens], frozenset(family.name for family in families))
        for k, (layer, stage) in itertools.product(range(1, len(tokens) + 1), enumerate(found.stages)):
            for i, register in enumerate(found.names):
                value = run.value(stage.registers.get(i, as_term(0)), k)
                assert value == history[k - 1][layer][wired.registers.index(register)], (k, stage.where, register)


GRAPHS = [Graph(N, edges) for edges in (((2, 1), (3, 2), (2, 4)), ((3, 1), (4, 3), (4, 1)))]
LONG = Graph(N, ((2, 1), (3, 2), (2, 4), (4, 1), (1, 3)))


@pytest.mark.parametrize(("layout", "is_lean"), [("paper", False), ("paper", True), ("eos", True)])
def test_registers_of_istree(layout: Layout, is_lean: bool) -> None:
    """At every position, and as told at the prompt's end and in the search: there alone if a head's scores are in it elsewhere."""
    subject = find_subject("istree", N, layout=layout, lean=is_lean)
    model, automaton = build(subject)
    automaton = searched(automaton, N, longer=not is_lean)
    found, wired, words = extract(model, automaton, naming=True), wired_of(subject), LAYOUTS[layout]
    ideal, last = IdealModel(wired.model), {state.label: i for i, state in enumerate(automaton.states)}
    at = {label: cache(Normalizer(found.facts.ending(i)).term) for label, i in last.items()}
    for graph in [*GRAPHS[: 1 + (is_lean and layout == "paper")], *([] if is_lean else [LONG])]:
        prompt = words.prompt(graph)
        tokens = [words.vocabulary(N)[token] for token in [*prompt, *expected_answer(graph, words)[:-1]]]
        history, _ = ideal.run(wired.tokens(tokens))
        run = Input(tokens_of(tokens))
        for k, (layer, stage) in itertools.product(range(1, len(tokens) + 1), enumerate(found.stages)):
            label = THOUGHT if k > len(prompt) + 1 else FIRST_THOUGHT
            if k == len(prompt) or tokens[k - 1] == words.end_of_prompt:
                of = IN_PROMPT if k == len(prompt) else IN_THOUGHT
                label = Label(words.end_of_prompt, of) if words.end_of_prompt else SECOND
                label = replace(label, case=MORE) if graph == LONG else label
            here = at.get(label) if k >= len(prompt) else None
            for i, name in enumerate(found.names):
                term, value = stage.registers.get(i, as_term(0)), history[k - 1][layer][wired.registers.index(name)]
                assert (at and unresolved(term) is not None) or run.value(term, k) == value, (k, stage.where, name)
                assert here is None or run.value(here(term), k) == value, (k, label, stage.where, name)


AUTOMATON = automaton_of(find_subject("counting", N))
NUMBERS = st.integers(-3, 3).map(Fraction)
QUARTERS = [Fraction(0), Fraction(1, 4), Fraction(-1, 4)]


def sums(atoms: st.SearchStrategy[Atom]) -> st.SearchStrategy[Term]:
    """Polynomials of few terms."""
    monomials = st.lists(atoms, max_size=2).map(lambda found: _product(found))
    parts = st.lists(st.tuples(monomials, NUMBERS), min_size=1, max_size=3)
    return parts.map(lambda found: sum((value * c for value, c in found), as_term(0)))


def _product(atoms: Sequence[Atom]) -> Term:
    value = ONE
    for a in atoms:
        value = value * as_term(a)
    return value


def deeper(inner: st.SearchStrategy[Atom]) -> st.SearchStrategy[Atom]:
    terms = sums(inner)
    pairs = st.lists(st.tuples(terms, terms), min_size=1, max_size=2).map(tuple)
    matching = pairs.map(Matching)
    whole = st.builds(lambda value, c: value + c, sums(st.sampled_from([POSITION, NumberOf()])), NUMBERS)
    where = st.one_of(
        st.integers(1, 3).map(Back),
        whole.map(Nearest),
        st.integers(0, 2).map(lambda c: Nearest(as_term(POSITION) - c)),
        st.builds(Pick, matching, st.booleans()),
        st.builds(Closest, matching, st.builds(lambda target, c: target + c, whole, st.sampled_from(QUARTERS))),
        st.lists(st.tuples(terms, terms), min_size=1, max_size=3).map(lambda rows: Best(tuple(rows))),
    )
    return st.one_of(
        terms.map(Positive),
        terms.map(Above),
        terms.map(Sum),
        st.builds(Comb, terms, st.integers(1, 3), st.sampled_from([1, -1])),
        matching.map(Count),
        matching.map(lambda found: Reciprocal(ONE + as_term(Count(found)))),
        st.builds(Equal, terms, NUMBERS),
        st.builds(Read, terms, where),
    )


BASE: st.SearchStrategy[Atom] = st.sampled_from(
    [POSITION, NumberOf(), IsWord(START), IsWord(ASK), IsWord("0"), Equal(as_term(POSITION), Fraction(1))]
)
ATOMS = st.recursive(BASE, deeper, max_leaves=8)


@st.composite
def prompts(draw: st.DrawFn) -> list[str]:
    number = st.integers(1, N)
    sequence = draw(st.lists(number, max_size=N))
    return Question(tuple(sequence), (draw(number), draw(st.integers(0, N)))).words()


@settings(max_examples=25)
@given(sums(ATOMS), prompts())
def test_a_normal_form_is_equal(value: Term, words: list[str]) -> None:
    facts = Facts.everywhere(AUTOMATON)
    normal, run = Normalizer(facts).term(value), Input(tokens_of(words))
    for k in range(1, len(words) + 1):
        assert run.value(normal, k) == run.value(value, k)
    last = next(i for i, p in enumerate(AUTOMATON.states) if p.label == Label("threshold", "0" * (words[-1] == "0")))
    here = facts.facts_at(frozenset([last]))
    k = len(words)
    assert run.value(Normalizer(here).term(value), k) == run.value(value, k)
    low, high = here.bounds(value)
    assert low <= run.value(value, k) <= high
    assert run.value(value, 1) == at_first(value, START)


@pytest.mark.parametrize("of", [as_term(NumberOf()) * 2 - 3, as_term(IsWord(START)), ONE], ids=str)
def test_a_comb_and_its_bounds(of: Term) -> None:
    facts, run = Facts.everywhere(AUTOMATON), Input(tokens_of([START, "4", "1", "4", "4", ASK, "4", "2"]))
    for steps, sign in [(1, -1), (2, 1), (2, -1), (3, 1), (3, -1)]:
        value = as_term(Comb(of, steps, sign))
        normal, (low, high) = Normalizer(facts).term(value), facts.bounds(Normalizer(facts).term(value))
        actual = [run.value(value, k) for k in range(1, 9)]
        assert [run.value(normal, k) for k in range(1, 9)] == actual
        assert all(low <= x <= high for x in actual)
        if (of, sign) in [(ONE, -1), (as_term(IsWord(START)), 1)]:  # seen to be bits
            assert {*actual} == {0, 1} == {low, high}


def test_a_comb_in_words() -> None:
    number = as_term(NumberOf())
    assert TermPrinter().term(as_term(Comb(number, 1, -1))) == "Σ_{j = k, k − 1, …} (−1)^(k − j)·number[j]"
    assert TermPrinter().term(as_term(Comb(number, 2, -1))) == "Σ_{j = k, k − 2, …} (−1)^((k − j)/2)·number[j]"
    assert TermPrinter().term(as_term(Comb(number + 1, 2, 1))) == "Σ_{j = k, k − 2, …} (number[j] + 1)"


@st.composite
def scores(draw: st.DrawFn) -> Best:
    """−S(x − y)² for some keys, −G(j − f)², and a default at position 1: near to what heads are wired as, and off it."""
    number, k, first = as_term(NumberOf()), as_term(POSITION), as_term(Equal(as_term(POSITION), Fraction(1)))
    before = as_term(Read(number, Back(1)))
    marked = as_term(IsWord(ASK))
    asked = Equal(as_term(Count(Matching(((marked, ONE),)))), Fraction(0))
    rows, squares = list[tuple[Term, Term]](), as_term(0)
    keys = [
        (number, number),
        (before, number),
        (number, before),
        (as_term(asked) * number, before),
        (marked, ONE),
        (number, number + 1),
    ]
    for key, query in draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)):
        cost = draw(st.sampled_from([8, 400, 400]))
        rows += [(key * key, as_term(-cost)), (key, query * (2 * cost))]
        squares = squares + query * query * cost
    weight = draw(st.sampled_from([0, 0, 1, 2]))
    target = draw(st.sampled_from([as_term(0), k, ONE, number + 1, k - 2, number + Fraction(1, 4), k - Fraction(3, 2)]))
    rows += [(k * k, as_term(-weight)), (k, target * (2 * weight))]
    default = draw(st.sampled_from([0, 0, -50, -150, -200, -500, 1]))
    whole = draw(st.sampled_from([True, True, True, False]))
    return Best(
        (*rows, (first, (squares if whole else as_term(0)) + (target * target * weight if whole else 0) + default))
    )


@settings(max_examples=25)
@given(scores(), st.sampled_from([as_term(Equal(as_term(POSITION), Fraction(1))), as_term(NumberOf())]), prompts())
def test_who_wins(best: Best, value: Term, words: list[str]) -> None:
    facts = Facts.everywhere(AUTOMATON)
    read, run = as_term(Read(value, best)), Input(tokens_of(words))
    told = Normalizer(facts).term(read)
    last = next(i for i, p in enumerate(AUTOMATON.states) if p.label == Label("threshold", "0" * (words[-1] == "0")))
    event("kept" if any(isinstance(getattr(a, "where", None), Best) for a in told.atoms) else "told")
    assert all(run.value(told, k) == run.value(read, k) for k in range(1, len(words) + 1))
    here = Normalizer(facts.facts_at(frozenset([last]))).term(read)
    event("kept there" if any(isinstance(getattr(a, "where", None), Best) for a in here.atoms) else "told there")
    assert run.value(here, len(words)) == run.value(read, len(words))


def test_a_score_that_no_rule_tells_is_kept() -> None:
    k, number = as_term(POSITION), as_term(NumberOf())
    normal = Normalizer(Facts.everywhere(AUTOMATON))
    kept = normal.term(as_term(Read(number, Best(((number, k),)))))
    assert kept == as_term(Read(number, Best(((number, k),))))
    halfway = Best(((k * k, as_term(-2)), (k, number * 2 + 1)))  # nearest to (2·number + 1)/4
    assert isinstance(next(iter(normal.term(as_term(Read(number, halfway))).atoms)).where, Best)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("default", "is_told"), [(-49, False), (-50, True), (-400, True), (-401, False), (-500, False)]
)
def test_position_1_wins_only_between_matches_and_mismatches(default: int, is_told: bool) -> None:
    """At most 7 positions after the first, so that a match has −49 at least, and a mismatch −401 at most.

    k itself matches only in the second part: then no default is too low.
    """
    number, k = as_term(NumberOf()), as_term(POSITION)
    facts = Facts.everywhere(AUTOMATON)
    assert facts.positions == (1, 8)
    for asked, told in ((number + 1, is_told), (number, default <= -50)):
        rows = [(number * number, as_term(-400)), (number, asked * 800), (k * k, as_term(-1)), (k, as_term(2))]
        rows.append((as_term(Equal(k, Fraction(1))), asked * asked * 400 + default))
        assert isinstance(winners(by_key(tuple(rows)), Normalizer(facts)), Pick) == told


def test_a_sign_is_told_of_whole_numbers_and_less_than_one_besides() -> None:
    number, normal = as_term(NumberOf()), Normalizer(Facts.everywhere(AUTOMATON))
    assert _sign(number - Fraction(3, 2), normal) == as_term(Above(number - 1))
    assert _sign(number * Fraction(2, 3) - 2, normal) is None  # 0 at 3, where number − 2 is 1
    assert _sign(number * Fraction(4, 3) - 4, normal) is None
    half = as_term(Positive(number * Fraction(1, 2)))
    assert _sign(half - Fraction(3, 4), normal) is None  # below 0 at 1/2


def test_a_share_is_a_positive_one() -> None:
    value = as_term(NumberOf()) * 2 - 4
    assert _is_share(value * Fraction(3, 2), value)
    assert not _is_share(value * -1, value)
    assert not _is_share(value + 1, value)


@pytest.mark.parametrize(("asked", "position"), [(1, 4), (2, 3), (4, 2), (3, 2), (6, 2)])
def test_the_next_one_is_of_the_next_number_else_of_the_largest(asked: int, position: int) -> None:
    number, said = as_term(NumberOf()), as_term(Equal(as_term(NumberOf()), ONE))
    run = Input(tokens_of([START, "5", "3", "2", ASK]))
    for matching, at in ((Matching(()), position), (Matching(((said, ONE),)), 1)):
        some = Next(matching, number, as_term(asked))
        assert run.value(as_term(Read(as_term(POSITION), some)), 4) == at


def test_a_position_that_is_not_there_is_refused() -> None:
    run = Input(tokens_of([START, "2", ASK, "2"]))
    with pytest.raises(ValueError, match="position 4 is told to read 9"):
        run.value(as_term(Read(ONE, At(as_term(9)))), 4)
    assert replace(run, known={}).value(as_term(Read(as_term(NumberOf()), At(as_term(2)))), 4) == 2
