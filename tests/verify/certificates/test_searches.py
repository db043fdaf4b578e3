"""Certificates of IsTree's recurrent models: their texts, runs that stay within what is certified, and what is not certified."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from constructions.istree.graphs import Graph
from constructions.istree.models import MODELS
from constructions.rows import Sublayer
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.verify.certificates.runs import accepted, contradictions
from verify.algebra.polynomial import constant
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import automaton_of, build, model_of, precision_of
from verify.certificates.document import REFUSED, UNMET, certificate, judge
from verify.dossiers.istree.texts import records_apart, records_limited
from verify.dossiers.registry import find_subject
from verify.rounding.checker import Report, check
from verify.rounding.model import ExactModel

N = 4
GRAPHS = {
    "hybrid": Graph(N, ((3, 1), (1, 4), (2, 3))),
    "rag": Graph(N, ((1, 2), (3, 2), (3, 1))),  # a cycle: the run of a tree is twice as long
}
each = pytest.mark.parametrize("model", GRAPHS)


@cache
def built(model: str) -> tuple[ExactModel, TokenAutomaton, Wired, Report]:
    subject = find_subject("istree", N, model=model)
    own, automaton = build(subject)
    return own, automaton, MODELS[model].in_variant("repaired").build(N), check(own, automaton)


def tokens_of(model: str, wired: Wired, graph: Graph) -> tuple[list[int], int]:
    """What the model reads, and how long the prompt is."""
    request = MODELS[model].in_variant("repaired").request(wired, graph)
    return [*request.prompt, *map(int, request.guess)][:-1], len(request.prompt)


@each
def test_a_run_is_as_certified(model: str) -> None:
    _, _, wired, report = built(model)
    tokens, prompt = tokens_of(model, wired, GRAPHS[model])
    assert contradictions(wired, report, tokens, set(range(prompt, len(tokens) + 1))) == []


@each
def test_runs_are_texts_of_the_language(model: str) -> None:
    _, automaton, wired, _ = built(model)
    for edges in ((), ((1, 2),), ((4, 3), (1, 2)), ((2, 1), (2, 3), (2, 4)), ((1, 2), (2, 3), (3, 4), (4, 1))):
        tokens, _ = tokens_of(model, wired, Graph(N, edges))
        words = [wired.vocabulary[token] for token in tokens]
        assert accepted(automaton, words)
        assert not accepted(automaton, [*words, "~", "~"])


def test_records_that_may_be_beside_each_other() -> None:
    model, automaton, _, report = built("hybrid")
    assert list(report.invariants) == [records_apart().name]
    for known in ((), (replace(records_apart(), by=1),), (replace(records_apart(), group="other"),)):
        judgement = judge(model, replace(automaton, invariants=known))
        assert (judgement.finding, judgement.where) == (UNMET, "block 2, head 1 (nearest record)")


def test_comparisons_that_are_kept_apart() -> None:
    """What a loose register depends on is told in the trace, so that other comparisons are another function."""
    model, automaton, _, report = built("rag")
    first, second = model.layers
    units = first.feed_forward.units
    shifted = (replace(units[0], gate_bias=units[0].gate_bias + 1), *units[1:])
    changed = replace(first, feed_forward=Sublayer(shifted, first.feed_forward.down))
    judgement = judge(replace(model, layers=(changed, second)), automaton)
    assert judgement.report is None or judgement.report.first_difference(report)


def test_no_more_records_than_vertices() -> None:
    """Under `sequential` a sum over any text may saturate, and not if the invariant holds."""
    subject = find_subject("istree", 1000, discipline=Discipline.SEQUENTIAL, model="rag")
    model, automaton = build(subject)
    assert automaton.invariants == (records_limited(constant(1000)),)
    for known in ((), (records_limited(2**21),)):
        judgement = judge(model, replace(automaton, invariants=known))
        assert (judgement.finding, judgement.where) == (UNMET, "block 1, feed-forward, register all recorded")
    for other in (replace(subject, discipline=Discipline.FUSED), replace(subject, printed=("two-groups",))):
        assert not automaton_of(other).invariants


@pytest.mark.parametrize(("model", "bits"), [("hybrid", 6), ("rag", 2)])
def test_fewer_bits_are_refused(model: str, bits: int) -> None:
    subject = find_subject("istree", 1000, model=model)
    fewer = replace(subject, precision_bits=precision_of(subject) - bits)
    assert judge(model_of(fewer), automaton_of(fewer)).finding == (REFUSED if model == "hybrid" else UNMET)


@pytest.mark.parametrize(("model", "finding"), [("hybrid", "nearest-tie")])
def test_prints_are_not_certified(model: str, finding: str) -> None:
    assert certificate(find_subject("istree", 5, model=model, printed=(finding,)))["verdict"] == REFUSED
