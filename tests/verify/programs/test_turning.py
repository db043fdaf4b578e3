"""The program of the machine whose tape turns around, and the cell of the next configuration that the rules define."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.turing.configurations import HALT, HALTED, OUT
from tests.verify.programs.wrong import with_one_wrong_word
from verify.certificates.building import Subject, build, families_of, language_of, of_machine
from verify.certificates.document import CERTIFIED, UNKNOWN
from verify.certificates.hard_inputs import wired_of
from verify.certificates.ideal import IdealModel
from verify.certificates.language import Language
from verify.certificates.model import described
from verify.certificates.mutants import CHANGES, mutant, places
from verify.inputs.turing_machines import machines
from verify.programs.decisions import first_mismatch
from verify.programs.document import _is_passed, explained, explanation
from verify.programs.extraction import Program, extract
from verify.programs.facts import Facts
from verify.programs.interpreter import Input
from verify.programs.normal import Normalizer
from verify.programs.output import normal_answer
from verify.programs.tasks import definition, inputs
from verify.programs.terms import ONE, ZERO, Count, Digits, IsNumber, Matching, as_term
from verify.runs.turing_runs import digits_of, places_of


def subject_of(machine: str, cells: int, steps: int = 6, tape: str = "") -> Subject:
    return replace(of_machine(Subject("turing", steps, model="cot"), machine, tape), cells=cells)


SMALL = [subject_of("bb2", 3), subject_of("1RA0LA", 2, tape="01"), subject_of("1RZ1LA", 1)]


@pytest.mark.parametrize("subject", SMALL, ids=lambda s: f"{s.machine} {s.cells}")
def test_the_program_is_the_machine(subject: Subject) -> None:
    document = explanation(subject)
    assert (document["verdict"], document["what"]) == (CERTIFIED, "")
    assert document["answers"] == document["task"]
    assert document["assumed_invariants"] == ["the digit in front of the queue"]


@settings(max_examples=2)
@given(machines(2, 3), st.integers(1, 4))
def test_the_program_of_any_machine(machine: str, cells: int) -> None:
    assert explanation(subject_of(machine, cells))["verdict"] == CERTIFIED


def test_many_cells_and_steps() -> None:
    """A cell so far back is read as any other; the rules follow up to 64 steps one by one elsewhere."""
    assert explanation(subject_of("1RA0LA", 66, 10**6))["verdict"] == CERTIFIED


# Runs


@cache
def program(subject: Subject) -> Program:
    model, language = build(subject)
    return extract(model, inputs(subject, language), naming=True)


def run_of(subject: Subject) -> list[int]:
    """Prompt and run, by the simulator."""
    request = subject.turing.request(wired_of(subject), subject.n)
    return [*request.prompt, *map(int, request.guess)]


def input_of(subject: Subject, tokens: list[int]) -> Input:
    words = digits_of(subject.turing.machine, (wired_of(subject).vocabulary[token] for token in tokens))
    return Input(words, frozenset(family.family for family in families_of(subject, 1)))


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


@pytest.mark.parametrize("subject", RUNS, ids=lambda s: f"{s.machine} {s.cells}")
def test_terms_and_words_of_an_exact_run(subject: Subject) -> None:
    """At each position the terms are the registers, within their bounds; the defined word is what is said."""
    wired, found, tokens = wired_of(subject), program(subject), run_of(subject)
    names = [wired.registers.index(name) for name in found.names]
    history, following = IdealModel(wired.model).run(tokens[:-1])
    read = input_of(subject, tokens)
    for k, place in enumerate(places_of(found.facts.language, read.tokens[:-1]), start=1):
        due, at = definition(subject, place.name), found.facts.at(frozenset([found.facts.language.places.index(place)]))
        if due is not None:
            assert following[k - 1] == tokens[k]
            assert read.spoken(due, k) == read.tokens[k]
        for layer, stage in enumerate(found.stages):
            for i, value in stage.registers.items():
                low, high = at.bounds(value)
                held = history[k - 1][layer][names[i]]
                assert low <= read.value(value, k) == held <= high, (k, stage.where, found.names[i])


def changed(subject: Subject, count: int) -> Iterator[tuple[object, dict[str, object], list[int]]]:
    """Some single weights changed: which, what is explained then, and what such a model says behind each word of the run."""
    wired, language, rng = wired_of(subject), language_of(subject), random.Random(subject.machine)
    every = [(place, change) for place in places(wired.model) for change in CHANGES]
    for place, change in rng.sample(every, count):
        weights = mutant(wired.model, place, change, float(wired.arithmetic.format.quantum))
        model = described(weights, wired.arithmetic, wired.registers, wired.vocabulary, families_of(subject, subject.n))
        yield (place, change), explained(subject, model, language), IdealModel(weights).run(run_of(subject)[:-1])[1]


def test_a_changed_weight_is_certified_only_if_no_word_changes() -> None:
    subject, kept, count = SMALL[1], 0, 8
    due, prompt = run_of(subject), 4
    for where, document, following in changed(subject, count):
        if document["verdict"] == CERTIFIED:
            kept += 1
            assert following[prompt - 1 :] == due[prompt:], where
    assert kept < count


# What is refused


def test_without_the_invariant_nothing_is_told() -> None:
    subject = SMALL[2]
    model, language = build(subject)
    found = explained(subject, model, replace(language, invariants=()))
    assert (found["verdict"], found["where"]) == (UNKNOWN, "block 2, recurrence")


def test_the_invariant_is_to_be_about_what_is_defined() -> None:
    subject = SMALL[2]
    found = program(subject)
    (passed,) = found.queues
    assert _is_passed(passed, subject, found)
    for wrong in (replace(passed, late=passed.early), replace(passed, early=ONE), replace(passed, late=ZERO)):
        assert not _is_passed(wrong, subject, found)


def test_a_definition_with_one_wrong_word_is_not_the_program() -> None:
    """But in a case that is met nowhere: behind `:` no cell has halted."""
    subject = subject_of("1RA1LZ", 2)
    (model, _), found, same = build(subject), program(subject), 0
    for name in (":", "the last turn"):
        (i,) = (i for i, place in enumerate(found.facts.language.places) if place.name == name)
        due, normal = definition(subject, name), Normalizer(found.facts.ending(i))
        assert due is not None
        here = {r: normal.term(value) for r, value in found.stages[-1].registers.items()}
        for wrong in with_one_wrong_word(normal_answer(due, normal), (HALT, ":"), ("cell", "head")):
            same += first_mismatch(model, here, wrong, normal) is None
    assert same == 2


# Rules


def language() -> Language:
    subject = subject_of("bb2", 3, 3)
    return inputs(subject, language_of(subject))


def test_what_stands_once_is_counted_once() -> None:
    facts = Facts.everywhere(language())
    halted = as_term(Count(Matching(((as_term(IsNumber(HALTED)), ONE),))))
    ends = {place.name: facts.ending(i).bounds(halted) for i, place in enumerate(facts.language.places)}
    assert {ends["turn"], ends["the last turn"], ends["cell, right of the halted"]} == {(0, 0), (1, 1)}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_digits(count: int) -> None:
    read = Input([("<s>", 0), ("", 3), ("", 1), ("", 2)])
    number = Digits(as_term(IsNumber("")) * 2, 8, count)
    assert read.value(as_term(number), 4) == sum(2 * 8**i for i in range(min(count, 3)))
