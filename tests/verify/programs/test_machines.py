"""The program of a Turing machine's model, and the step that the rules define."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import ONE, Count, IsNumber, IsWord, Matching, SayNumber, Term, as_term
from tests.verify.programs.wrong import certified_changes, unnoticed, with_one_wrong_word
from tests.verify.subjects import of_machine
from verify.algebra.polynomial import atom, constant
from verify.certificates.building import automaton_of, build, families_of, wired_of
from verify.certificates.document import CERTIFIED, REFUSED
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.turing.models import walk
from verify.dossiers.turing.tapes import copied
from verify.inputs.turing_machines import machines
from verify.programs.document import explanation
from verify.programs.extraction import ExtractedProgram, extract
from verify.programs.facts import Facts
from verify.programs.intervals import intervals
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.rounding.model import NumberFamily
from verify.runs.turing_runs import states_of, tokens_of

FAMILIES = frozenset(["cell", "symbol", "state", "place"])


def subject_of(machine: str, n: int, tape: str = "", model: str = "hybrid", printed: tuple[str, ...] = ()) -> Subject:
    return of_machine(find_subject("turing", n, model=model, printed=printed), machine, tape)


SMALL = [subject_of("bb2", 5), subject_of("bb2x3", 3, "12"), subject_of("bb2x3", 2, "1", "rag")]


@pytest.mark.parametrize("n", [1, 10**12])
@pytest.mark.parametrize(("machine", "tape"), [("bb2", ""), ("bb5", ""), ("bb2x3", "1221")])
def test_the_program_is_the_machine(machine: str, tape: str, n: int) -> None:
    document = explanation(subject_of(machine, n, tape))
    assert (document["verdict"], document["what"]) == (CERTIFIED, "")
    assert document["answers"] == document["task"]


@settings(max_examples=5)
@given(machines(3, 3), st.integers(1, 9), st.integers(0, 3))
def test_the_program_of_any_machine(machine: str, n: int, length: int) -> None:
    """The word of the tape is no part of the weights, but its length is part of the texts."""
    assert explanation(subject_of(machine, n, "1" * length))["verdict"] == CERTIFIED


def test_every_n() -> None:
    actual = list(intervals(replace(subject_of("bb2", 8, "10"), last=12)))
    assert [n for i in actual for n in range(i.low, i.high + 1)] == list(range(8, 13))
    assert all(interval.document["verdict"] == CERTIFIED for interval in actual)
    assert any(i.high - i.low >= 2 for i in actual)


# Runs


@cache
def program(subject: Any) -> ExtractedProgram:
    model, automaton = build(subject)
    return extract(model, copied(automaton, len(subject.dossier.tape)), naming=True)


def texts(subject: Any) -> Iterator[list[int]]:
    """The machine's own run, and texts with any numbers."""
    wired, rng = wired_of(subject), random.Random(0)
    automaton = copied(automaton_of(subject), len(subject.dossier.tape))
    request = subject.dossier.solver.request(wired, subject.n)
    yield [*request.prompt, *map(int, request.guess)][:-1]
    for _ in range(3):
        yield walk(automaton, wired, families_of(subject), rng)


@cache
def told(subject: Subject, state: int) -> list[dict[int, tuple[Term, Fraction, Fraction]]]:
    """What the registers hold that are not 0, and bounds of that, at a state."""
    found = program(subject)
    normal = Normalizer(found.facts.ending(state))
    return [
        {i: (normal.term(value), *normal.facts.bounds(value)) for i, value in stage.registers.items()}
        for stage in found.stages
    ]


@pytest.mark.parametrize("subject", SMALL, ids=lambda s: f"{s.model} {s.dossier.machine}")
def test_terms_and_words_of_an_exact_run(subject: Subject) -> None:
    """At each position: the terms, as they are and as told at its state, are the registers; the defined word is what is said."""
    wired, found = wired_of(subject), program(subject)
    automaton = found.facts.automaton
    names = [wired.registers.index(name) for name in found.names]
    for tokens in texts(subject):
        history, following = IdealModel(wired.model).run(tokens)
        words = tokens_of(wired.vocabulary[token] for token in tokens)
        read = Input(words, FAMILIES)
        for k, state in enumerate(states_of(automaton, words), start=1):
            here = told(subject, automaton.states.index(state))
            due = subject.dossier.definition(subject, state.label)
            if due is not None:
                assert [read.spoken(due, k)] == tokens_of([wired.vocabulary[following[k - 1]]])
            for layer, stage in enumerate(found.stages):
                for i, (value, low, high) in here[layer].items():
                    held = history[k - 1][layer][names[i]]
                    assert read.value(stage.registers[i], k) == held == read.value(value, k)
                    assert low <= held <= high


def test_a_changed_weight_is_certified_only_if_no_word_changes() -> None:
    subject: Any = SMALL[0]
    before = IdealModel(wired_of(subject).model)
    for change, behind in certified_changes(subject, random.Random(subject.dossier.machine), 8):
        for tokens in texts(subject):
            assert before.run(tokens)[1] == behind.run(tokens)[1], change


@pytest.mark.parametrize("finding", ["own-record", "cell-zero"])
def test_a_print_is_not_the_machine(finding: str) -> None:
    document = explanation(subject_of("bb2", 5, printed=(finding,)))
    assert (document["verdict"], document["where"]) == (REFUSED, "the answer at a step, 3, cell")
    assert document["what"].startswith("on the word that is empty: the words say: halted in state Z after ")


@pytest.mark.parametrize("subject", SMALL, ids=lambda s: f"{s.model} {s.dossier.machine}")
def test_a_definition_with_one_wrong_word_is_not_the_program(subject: Subject) -> None:
    """But in a case that is met nowhere."""
    (model, _), found = build(subject), program(subject)
    for i, state in enumerate(found.facts.automaton.states):
        due, normal = subject.dossier.definition(subject, state.label), Normalizer(found.facts.ending(i))
        if due is not None:
            others = with_one_wrong_word(normal_answer(due, normal), ("→", "←"), ("symbol", "state"))
            assert unnoticed(model, found, normal, due, others) == [], state.label


# Rules


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_how_many_positions_match_at_most(n: int, length: int) -> None:
    """Of directions as many as there are steps, and of other words as many as one text has."""
    subject = subject_of("bb2", n, "1" * length)
    facts, wired = Facts.everywhere(automaton_of(subject)), wired_of(subject)
    counts = [Count(Matching(((as_term(bit), ONE),))) for bit in (IsWord("→"), IsNumber("cell"), IsNumber("symbol"))]
    most = [facts.bounds(as_term(count))[1] for count in counts]
    assert most == [n, 2 * n, n + length]
    for tokens in texts(subject):
        words = tokens_of(wired.vocabulary[token] for token in tokens)
        read = Input(words, FAMILIES)
        for k, state in enumerate(states_of(facts.automaton, words), start=1):
            for count in counts:
                low, high = facts.ending(facts.automaton.states.index(state)).bounds(as_term(count))
                assert low <= read.value(as_term(count), k) <= high


@pytest.mark.parametrize(("low", "high"), [(0, 0), (3, 3), (0, 1), (-1, 0), (2, 3)])
def test_one_or_two_numbers_are_said_without_a_square(low: int, high: int) -> None:
    """The embedding's square is a line on two numbers. The largest logit is by its value at each of them."""
    normal = Normalizer(Facts.everywhere(automaton_of(subject_of("bb2", 1))))
    base, rows = build(subject_of("bb2", 1))[0], {0: constant(1), 1: atom("v")}
    model = replace(base, families={"": NumberFamily(low, high, rows)}, specials={})
    for shared, slope in itertools.product((0, 2), range(-7, 8, 2)):
        logits = {v: shared + slope * v for v in range(low, high + 1)}
        actual = answer_of(model, {0: as_term(shared), 1: as_term(slope)}, normal)
        assert actual == SayNumber(as_term(max(logits, key=logits.__getitem__)))
