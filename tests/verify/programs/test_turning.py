"""The program of the machine whose tape turns around, and the cell of the next configuration that the rules define."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input, Spoken
from constructions.language.terms import (
    ONE,
    ZERO,
    Atom,
    Back,
    Count,
    Digits,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Named,
    NumberOf,
    Positive,
    Read,
    SayNumber,
    Term,
    as_term,
)
from constructions.turing.__main__ import main as dump
from constructions.turing.configurations import HALT, HALTED, OUT, TURN
from tests.verify.programs.wrong import unnoticed, with_one_wrong_word
from tests.verify.subjects import of_machine
from verify.algebra.domains import Undecided
from verify.algebra.interval import symbol
from verify.automata.token_automaton import Label
from verify.certificates.building import automaton_of, build, families_of, wired_of
from verify.certificates.document import CERTIFIED, UNKNOWN
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.turing.configurations import BEFORE_HEAD, LAST_TURN
from verify.explain import main
from verify.inputs.turing_machines import machines
from verify.programs.decisions import _contradicts, _with, first_mismatch
from verify.programs.document import _is_passed, explained, explanation
from verify.programs.extraction import ExtractedProgram, extract
from verify.programs.facts import Facts
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.programs.tables import extent
from verify.runs.turing_runs import digits_of, states_of


def subject_of(machine: str, cells: int, steps: int = 6, tape: str = "") -> Subject:
    return of_machine(find_subject("turing", steps, model="cot"), machine, tape).with_options(cells=cells)


SMALL = [subject_of("bb2", 2), subject_of("1RA0LA", 2, tape="01"), subject_of("1RZ1LA", 1)]


@pytest.mark.parametrize("subject", SMALL, ids=lambda s: f"{s.dossier.machine} {s.dossier.cells}")
def test_the_program_is_the_machine(subject: Subject) -> None:
    document = explanation(subject)
    assert (document["verdict"], document["what"]) == (CERTIFIED, "")
    assert document["answers"] == document["task"]
    assert document["assumed_invariants"] == ["the digit in front of the queue"]


@settings(max_examples=2)
@given(machines(1, 3), st.integers(1, 4))
def test_the_program_of_any_machine(machine: str, cells: int) -> None:
    assert explanation(subject_of(machine, cells))["verdict"] == CERTIFIED


# Runs


@cache
def program(subject: Subject) -> ExtractedProgram:
    model, automaton = build(subject)
    return extract(model, subject.dossier.compared_texts(subject, automaton), naming=True)


def run_of(subject: Subject) -> list[int]:
    """Prompt and run, by the simulator."""
    request = subject.dossier.solver.request(wired_of(subject), subject.n)
    return [*request.prompt, *map(int, request.guess)]


def input_of(subject: Any, tokens: list[int]) -> Input:
    words = digits_of(subject.dossier.solver.machine, (wired_of(subject).vocabulary[token] for token in tokens))
    return Input(words, frozenset(family.name for family in families_of(subject)))


RUNS = [
    *SMALL,
    subject_of("bb2", 5),
    subject_of("bb2", 9, 7),
    subject_of("1RA0LA", 4, 5),
    subject_of("counter", 5, 30, "31113"),
    subject_of("palindrome", 6, 9, "121"),
]


def test_runs_end_in_every_way() -> None:
    assert {wired_of(subject).vocabulary[run_of(subject)[-1]] for subject in RUNS} == {HALT, OUT, "|"}


@pytest.mark.parametrize("subject", RUNS, ids=lambda s: f"{s.dossier.machine} {s.dossier.cells}")
def test_terms_and_words_of_an_exact_run(subject: Subject) -> None:
    """At each position the terms are the registers, within their bounds; the defined word is what is said."""
    wired, found, tokens = wired_of(subject), program(subject), run_of(subject)
    names = [wired.registers.index(name) for name in found.names]
    history, following = IdealModel(wired.model).run(tokens[:-1])
    read = input_of(subject, tokens)
    for k, state in enumerate(states_of(found.facts.automaton, read.tokens[:-1]), start=1):
        due, at = (
            subject.dossier.definition(subject, state.label),
            found.facts.facts_at(frozenset([found.facts.automaton.states.index(state)])),
        )
        if due is not None:
            assert following[k - 1] == tokens[k]
            assert read.spoken(due, k) == read.tokens[k]
        for layer, stage in enumerate(found.stages):
            for i, value in stage.registers.items():
                low, high = at.bounds(value)
                held = history[k - 1][layer][names[i]]
                assert low <= read.value(value, k) == held <= high, (k, stage.where, found.names[i])


def test_an_exported_model_and_its_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    argv = ["--machine", "1RZ1LA", "--model", "cot", "--cells", "2", "--steps", "3", "--dump-weights", str(path)]
    assert dump(argv) == 0
    assert main([str(path)]) == 0
    assert "after any configurations of a run's form, each word is" in capsys.readouterr().out
    sidecar = path.with_suffix(".json")
    for cells, code in (("3", 1), ('"2"', 2), ("null", 2)):
        sidecar.write_text(sidecar.read_text().replace('"cells": 2', f'"cells": {cells}'))
        assert main([str(path)]) == code
        sidecar.write_text(sidecar.read_text().replace(f'"cells": {cells}', '"cells": 2'))


def test_many_cells_and_steps() -> None:
    """A cell so far back is read as any other; elsewhere rules follow up to 64 steps one by one."""
    subject = subject_of("1RA0LA", 66, 10**6)
    actual, (model, _) = program(subject), build(subject)
    (i,) = (i for i, state in enumerate(actual.facts.automaton.states) if state.label == Label(TURN))
    due, normal = subject.dossier.definition(subject, Label(TURN)), Normalizer(actual.facts.ending(i))
    assert due is not None
    assert first_mismatch(model, actual.stages[-1].registers, due, normal) is None


# What is refused


def test_without_the_invariant_nothing_is_told() -> None:
    subject = SMALL[2]
    model, automaton = build(subject)
    actual = explained(subject, model, replace(automaton, invariants=()))
    assert (actual["verdict"], actual["where"]) == (UNKNOWN, "block 3, recurrence")


def test_the_invariant_is_to_be_about_what_is_defined() -> None:
    subject = SMALL[2]
    actual = program(subject)
    (passed,) = actual.queues
    assert _is_passed(passed, subject, actual)
    for wrong in (replace(passed, late=passed.early), replace(passed, early=ONE), replace(passed, late=ZERO)):
        assert not _is_passed(wrong, subject, actual)


def test_a_definition_with_one_wrong_word_is_not_the_program() -> None:
    """But in a case that is met nowhere: after `:` no cell has halted."""
    subject = subject_of("1RA1LZ", 2)
    (model, _), found, same = build(subject), program(subject), 0
    for label in (Label(":"), Label(LAST_TURN)):
        (i,) = (i for i, state in enumerate(found.facts.automaton.states) if state.label == label)
        due, normal = subject.dossier.definition(subject, label), Normalizer(found.facts.ending(i))
        assert due is not None
        others = with_one_wrong_word(normal_answer(due, normal), (HALT, ":"), ("cell", "head"))
        same += len(unnoticed(model, found, normal, due, others))
    assert same == 2


# Rules


BB2 = subject_of("bb2", 3, 3)
AUTOMATON = BB2.dossier.compared_texts(BB2, automaton_of(BB2))
KINDS = ("blank", "cell", "head", "halted", "turn")


@st.composite
def texts(draw: st.DrawFn) -> list[tuple[int, Spoken]]:
    """Any that the states allow, whatever a machine would write: states and tokens."""
    result, states = [(0, ("<s>", 0))], AUTOMATON.states
    for k in range(2, draw(st.integers(2, 16))):
        behind = [i for i, state in enumerate(states) if result[-1][0] in state.after]
        allowed = [i for i in behind if (at := AUTOMATON.positions(states[i])).low <= k <= at.high]
        if not allowed:
            break
        i = draw(st.sampled_from(allowed))
        number = draw(st.integers(*map(int, states[i].numbers)))
        result.append((i, (states[i].word, 0) if states[i].word else (states[i].family, number)))
    return result


def digit() -> st.SearchStrategy[Term]:
    """A sum of numbers of several families and of words."""
    parts = st.sampled_from([*map(NumberOf, KINDS), *map(IsNumber, KINDS), IsWord(":")])
    return st.lists(st.tuples(parts, st.integers(-2, 3)), min_size=1, max_size=4).map(
        lambda items: sum((as_term(a) * c for a, c in items), as_term(0))
    )


def table(value: Term) -> st.SearchStrategy[Term]:
    """What units make of it, named."""
    bends = st.lists(st.tuples(st.integers(-3, 8), st.integers(-2, 2)), min_size=1, max_size=3)
    of = bends.map(lambda bends: sum((as_term(Positive(value - b)) * c for b, c in bends), as_term(0)))
    equal = st.integers(0, 8).map(lambda v: as_term(Equal(value, Fraction(v))))
    return (of | equal).map(lambda t: as_term(Named("t", Normalizer(Facts.everywhere(AUTOMATON)).term(t))))


def terms() -> st.SearchStrategy[Term]:
    numbers = st.sampled_from(KINDS).map(lambda kind: as_term(NumberOf(kind)))
    equal = st.tuples(numbers, st.integers(0, 3)).map(lambda p: as_term(Equal(p[0], Fraction(p[1]))))
    tokens = digit().flatmap(lambda value: st.just(value) | table(value)) | equal
    read = st.tuples(tokens, st.integers(0, 3)).map(lambda p: as_term(Read(p[0], Back(p[1]))) if p[1] else p[0])
    products = st.tuples(read, read).map(lambda p: p[0] * p[1]) | read
    added = st.tuples(products, products).map(lambda p: p[0] + p[1]) | products
    return added.flatmap(lambda t: st.just(t) | st.integers(1, 3).map(lambda n: as_term(Digits(t, 16, n))))


GIVEN = [(steps, IsNumber(kind)) for steps in range(4) for kind in KINDS] + [
    (steps, Equal(as_term(NumberOf(kind)), Fraction(v)))
    for steps in range(4)
    for kind, v in (("head", 3), ("head", 5), ("cell", 1), ("halted", 7))
]


def units(value: Term) -> st.SearchStrategy[Term]:
    """What a few units make of it, or comparisons."""
    bend = st.tuples(st.integers(-8, 4), st.integers(-2, 2)).map(lambda p: as_term(Positive(value + p[0])) * p[1])
    equal = st.integers(-3, 8).map(lambda v: as_term(Equal(value, Fraction(v))))
    return st.lists(bend | equal, min_size=1, max_size=3).map(lambda parts: sum(parts, as_term(0)))


@settings(max_examples=150)
@given(digit().flatmap(units), texts())
def test_units_over_numbers_of_several_families(value: Term, text: list[tuple[int, Spoken]]) -> None:
    normal, read = Normalizer(Facts.everywhere(AUTOMATON)), Input([token for _, token in text], frozenset(KINDS))
    assert all(read.value(normal.term(value), k) == read.value(value, k) for k in range(1, len(text) + 1))


@settings(max_examples=150)
@given(terms(), texts(), st.lists(st.sampled_from(GIVEN), max_size=4))
def test_terms_of_any_text_by_what_is_given_of_its_tokens(
    value: Term, text: list[tuple[int, Spoken]], given: list[tuple[int, Atom]]
) -> None:
    """The normal form is the term, and lies within its bounds; no state is left out at which a token stands."""
    k, read = len(text), Input([token for _, token in text], frozenset(KINDS))
    normal = Normalizer(Facts.everywhere(AUTOMATON).ending(text[-1][0]))
    for steps, a in given:
        bit = normal.term(as_term(Read(as_term(a), Back(steps))) if steps else as_term(a))
        normal = _with(normal, bit, bool(read.value(bit, k)))
    facts, due = normal.facts, read.value(value, k)
    assert read.value(normal.term(value), k) == due
    assert facts.bounds(value)[0] <= due <= facts.bounds(value)[1]
    assert not _contradicts(normal)
    for steps in range(k):
        label = AUTOMATON.states[text[k - 1 - steps][0]].label
        assert label in {facts.automaton.states[i].label for i in facts.states_back(steps)}


def test_nothing_is_told_of_tokens_that_there_may_not_be() -> None:
    """At position 2 no token is 3 steps back, so that what is read there is 0 and says nothing of others."""
    (state,) = (i for i, p in enumerate(AUTOMATON.states) if p.label == Label("cell", case=BEFORE_HEAD))
    facts = Facts.everywhere(AUTOMATON).ending(state)
    bit = Read(as_term(IsNumber("cell")), Back(3))
    known = facts.knowing(bit, Fraction(0), Fraction(0))
    assert facts.positions[0] == 2
    assert "<s>" in {known.automaton.states[i].word for i in known.states_back(1)}
    equal = Read(as_term(Equal(as_term(NumberOf("cell")), Fraction(0))), Back(3))
    assert Input([("<s>", 0), ("cell", 1)], frozenset(KINDS)).value(Normalizer(facts).term(as_term(equal)), 2) == 0


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("number", [0, 1])
def test_a_number_is_0_at_all_other_tokens(kind: str, number: int) -> None:
    read = Input([("<s>", 0), ("blank", 0), ("cell", 1), ("head", 3)], frozenset(KINDS))
    normal, equal = Normalizer(Facts.everywhere(AUTOMATON)), Equal(as_term(NumberOf("cell")), Fraction(number))
    for product in (as_term(IsNumber(kind)) * as_term(equal), as_term(equal) * as_term(IsNumber("head"))):
        assert [read.value(normal.term(product), k) for k in range(1, 5)] == [
            read.value(product, k) for k in range(1, 5)
        ]


def test_what_stands_once_is_counted_once() -> None:
    facts = Facts.everywhere(AUTOMATON)
    halted = as_term(Count(Matching(((as_term(IsNumber(HALTED)), ONE),))))
    ends = {state.label: facts.ending(i).bounds(halted) for i, state in enumerate(AUTOMATON.states)}
    assert {ends[Label(TURN)], ends[Label(LAST_TURN)], ends[Label("cell", case="right of the halted")]} == {
        (0, 0),
        (1, 1),
    }


@settings(max_examples=20)
@given(texts())
def test_the_extent_is_of_all_texts(text: list[tuple[int, Spoken]]) -> None:
    """And of no more than what tokens side by side can be."""
    found = program(subject_of("bb2", 3, 3))
    entering = found.queues[0].early
    assert extent(entering, AUTOMATON) == (0, 10)
    read = Input([token for _, token in text], frozenset(KINDS))
    assert all(0 <= read.value(entering, k) <= 10 for k in range(1, len(text) + 1))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_digits(count: int) -> None:
    read = Input([("<s>", 0), ("", 3), ("", 1), ("", 2)])
    number = Digits(as_term(IsNumber("")) * 2, 8, count)
    assert read.value(as_term(number), 4) == sum(2 * 8**i for i in range(min(count, 3)))


def test_the_digit_in_front_is_the_nearest_if_the_others_are_below_the_base() -> None:
    """Entering are digits up to 10; with 8 for 16 those after the first may add up to more than 1."""
    subject = subject_of("bb2", 3, 3)
    found, (model, _) = program(subject), build(subject)
    (state,) = (i for i, p in enumerate(AUTOMATON.states) if p.label == Label(":"))
    normal = Normalizer(found.facts.ending(state))
    normal = normal.knowing(Read(as_term(NumberOf("head")), Back(3)), Fraction(3), Fraction(3))
    number, square = (found.names.index(name) for name in ("number", "number_squared"))
    silent = replace(model, specials=dict.fromkeys(model.specials, ((square, 1),)))
    for base, is_told in ((16, True), (8, False)):
        digits = as_term(Digits(found.queues[0].early, base, 3)) * Fraction(2, base**2)
        here = {number: digits - 1 + Fraction(1, base**2), square: as_term(-1)}
        if is_told:
            assert answer_of(silent, here, normal) == SayNumber(as_term(2), "cell")
        else:
            with pytest.raises(Undecided):
                answer_of(silent, here, normal)


def test_a_number_that_may_be_equal_at_some_n_is_counted() -> None:
    n = symbol(4, 6)
    facts = Facts.everywhere(automaton_of(find_subject("counting", n)))
    assert Normalizer(facts).term(as_term(Count(Matching(((ONE, as_term(n * -1 + 5)),))))) != ZERO
