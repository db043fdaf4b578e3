"""Every n from 2^63 on at once: a case has the program of each of its n; weights that are right up to some n are not certified."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import Term, fraction
from tests.verify.certificates.test_above import TURING
from tests.verify.certificates.walks import SIZES, at, inputs_at, require_shown, surveyed, values_in, walk_of, weights
from tests.verify.numbers_at import holds, shown_at, values_at
from tests.verify.programs.test_intervals import changed
from tests.verify.programs.test_terms import ATOMS, sums
from verify.algebra.polynomial import is_whole
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import common_divisor, is_never_whole, nearest, span
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.above import Judge, rounding, survey, whole
from verify.certificates.building import automaton_of, build
from verify.certificates.document import CERTIFIED, UNKNOWN, judge
from verify.dossiers.dossier import ENDLESS, LEAST, Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS
from verify.explain import main
from verify.programs.document import explained
from verify.programs.facts import Facts
from verify.programs.intervals import as_defined, explanations
from verify.programs.normal import Normalizer
from verify.programs.witness import tokens_of
from verify.rounding.model import ExactModel

SUBJECTS = [find_subject(name, LEAST, model=model) for name, model in MODELS]


@settings(max_examples=6)
@given(st.sampled_from([*SUBJECTS, *TURING]), SIZES)
def test_a_case_says_what_each_of_its_n_does(subject: Subject, n: int) -> None:
    """Of the same weights, whose rounding is asked for as well; and what is shown is so at n."""

    def both(walk: Walk) -> tuple[ExactModel, Any, str]:
        growing = replace(subject, n=n_of(walk))
        model, automaton = build(growing)
        return model, explained(growing, model, automaton), judge(model, automaton).verdict

    walk, (model, actual, verdict) = walk_of(n, both)
    one = replace(subject, n=n)
    own = explained(one, *build(one))
    assert weights(model, n) == weights(build(one)[0], n)
    assert actual["verdict"] == own["verdict"] == verdict == CERTIFIED
    assert actual["answers"] == own["answers"] == own["task"]
    require_shown(walk, n)


@settings(max_examples=3)
@given(SIZES)
def test_texts_in_pieces_are_those_of_each_n(n: int) -> None:
    one = find_subject("istree", n, model="rag")

    def pieces(subject: Subject) -> TokenAutomaton:
        return subject.dossier.compared_texts(subject, build(subject)[1])

    _, texts = walk_of(n, lambda walk: pieces(replace(one, n=n_of(walk))))
    assert inputs_at(texts, n) == inputs_at(pieces(one), n)


@pytest.mark.parametrize("name", ["index", "recall"])
def test_all_cases_are_one_theorem(name: str) -> None:
    actual = explanations(find_subject(name, 2**64, model="rag", last=ENDLESS))
    assert (actual["verdict"], actual["n"], len(actual["intervals"])) == (CERTIFIED, [str(2**64), None], 1)
    theorem = actual["above"]["theorem"]
    for n in (2**63, 2**64 + 1, 2**200 - 3):
        values = values_at(n)
        assert all(holds(theorem["inequalities"][i], values) for i in shown_at(theorem, n))


def with_scores(model: ExactModel, n: Any, factor: Callable[[Any], Any]) -> ExactModel:
    """What the last head asks for, but for the position that is preferred, times this."""
    *others, layer = model.layers
    (head,) = layer.heads
    query = tuple(tuple((i, w * factor(n) if abs(w) >= n else w) for i, w in row) for row in head.query)
    return replace(model, layers=(*others, replace(layer, heads=(replace(head, query=query),))))


FACTORS: dict[str, tuple[Callable[[Any], Any], list[bool]]] = {
    "as wired": (lambda n: 1, [True, True, True]),
    "an eighth": (lambda n: Fraction(1, 8), [False, False, False]),
    "enough below 2^400": (lambda n: 2**400 * (Fraction(1) / 2 ** n.bit_length()), [True, True, False]),
}


@pytest.mark.parametrize("name", FACTORS)
def test_scores_that_are_large_enough_up_to_some_n_only(name: str) -> None:
    factor, expected = FACTORS[name]

    def scaled(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Any:
        return as_defined(subject, with_scores(model, subject.n, factor), automaton)

    actual = surveyed(find_subject("recall", LEAST), scaled)
    ends = [replace(actual.subject, n=n) for n in (2**64, 2**100, 2**1000)]
    assert [scaled(one, *build(one))["verdict"] == CERTIFIED for one in ends] == expected
    assert (actual.about["verdict"] == CERTIFIED) == all(expected)
    assert (actual.theorem is not None) == all(expected)


def refusing(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Any:
    return {"verdict": "refused", "where": "here", "what": "it is asked for", "assumed_invariants": []}


@pytest.mark.parametrize("judges", [(as_defined, refusing), (refusing, rounding)])
def test_one_walk_is_certified_only_if_all_that_is_asked_of_it_is(judges: tuple[Judge, ...]) -> None:
    """What is refused of a case may be so of no n of it."""
    subject = find_subject("index", 2**64, model="rag", last=ENDLESS)
    found = {"verdict": CERTIFIED, "where": "", "what": "", "intervals": []}
    document = whole(found, subject, *judges)
    assert (document["verdict"], document["where"], document["what"]) == (UNKNOWN, "n ≥ 2^7, here", "it is asked for")
    assert survey(subject, *judges).theorem is None


def test_a_case_has_the_names_of_what_is_assumed_and_of_its_program() -> None:
    def assuming(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Any:
        return {**as_defined(subject, model, automaton), "assumed_invariants": ["of runs"]}

    actual = surveyed(find_subject("recall", LEAST, model="rag"), rounding, assuming)
    assert {case["program_sha256"] for case in actual.cases} == {actual.cases[0]["program_sha256"]}
    assert all(case["assumed_invariants"] == ["of runs"] for case in actual.cases)


NUMBERS: list[Callable[[Any], Any]] = [
    lambda n: n,
    lambda n: n * Fraction(1, 2) - 1,
    lambda n: n * Fraction(1, 2) + Fraction(1, 2),
    lambda n: 6 * n - 4 * 2 ** n.bit_length(),
    lambda n: n.bit_length() + 3,
    lambda n: (
        2 - 1 / Fraction(2) / 2 ** n.bit_length()
        if isinstance(n, int)
        else 2 - Fraction(1, 2) * (1 / 2 ** n.bit_length())
    ),
    lambda n: Fraction(7, 3),
    lambda n: 5,
]


def told(question: Callable[[], Any]) -> Any:
    """None where nothing is said."""
    try:
        return question()
    except Unanswered:
        return None


@settings(max_examples=30)
@given(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), SIZES)
def test_numbers_that_grow(one: Callable[[Any], Any], other: Callable[[Any], Any], n: int) -> None:
    """What is said of them is so at n."""

    def asked(walk: Walk) -> tuple[list[Any], list[Any]]:
        x, y = (fraction(of(n_of(walk))) for of in (one, other))
        ways = (lambda: math.floor(x), lambda: math.ceil(x), lambda: nearest(x), lambda: common_divisor([x, y]))
        return [x, y, *map(told, ways)], [is_whole(x), is_never_whole(x)]

    walk, (found, (always, never)) = walk_of(n, asked)
    values = values_in(walk, n)
    x, y, *others = (None if c is None else at(c, n, values) for c in found)
    below, above, near, factor = others
    assert [x, y] == [one(n), other(n)]
    assert below in (None, math.floor(x))
    assert above in (None, math.ceil(x))
    assert near is None or (near.denominator == 1 and abs(near - x) <= Fraction(1, 2))
    assert factor is None or (factor > 0 and (x / factor).denominator == (y / factor).denominator == 1)
    assert not always or x.denominator == 1
    assert not never or x.denominator > 1


def test_how_many_there_are_is_no_number_where_it_grows() -> None:
    def asked(walk: Walk) -> object:
        return span(1, n_of(walk))

    with pytest.raises(Unanswered):
        walk_of(2**64, asked)


LARGE = {3: lambda n: n, -3: lambda n: n * Fraction(1, 2) - 1, 2: lambda n: n.bit_length() * 3 - 2, -2: lambda n: 5 - n}
PROMPTS = ("<s> 2 3 2 ? 2 1", "<s> ? 1 0", "<s> 1 1 1 1 1 ? 1 4", "<s> 3 1 2 ? 2 0")


@settings(max_examples=20)
@given(sums(ATOMS), SIZES)
def test_a_normal_form_is_equal_in_each_case(term: Term, n: int) -> None:
    def asked(walk: Walk) -> Any:
        size = n_of(walk)
        symbolic = changed(term, lambda c: LARGE[int(c)](size) if c in LARGE else c)
        facts = Facts.everywhere(automaton_of(find_subject("counting", size)))
        return symbolic, Normalizer(facts).term(symbolic), facts.bounds(symbolic)

    try:
        walk, (symbolic, normal, ends) = walk_of(n, asked)
    except Unanswered as error:
        event(f"not told: {str(error)[:20]}")
        return
    values = values_in(walk, n)

    def at_n(c: Any) -> Fraction:
        return at(c, n, values)

    before, behind = changed(symbolic, at_n), changed(normal, at_n)
    for words in map(str.split, PROMPTS):
        run = Input(tokens_of(words))
        for k in range(1, len(words) + 1):
            assert run.value(behind, k) == run.value(before, k)
            assert at_n(ends[0]) <= run.value(before, k) <= at_n(ends[1])


def test_a_stored_explanation_of_every_n(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--model", "rag", "--all-n", "--n", str(2**64), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    path = tmp_path / "index.json"
    path.write_text(json.dumps(document))
    assert main(["--replay", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()[-3:]
    assert [line[:27] for line in said[1:]] == ["  n ≤ 18446744073709551616:", "  n ≥ 2^7: in 6 cases of n "]
    above = document["above"]
    fewer = {**above["theorem"], "cases": above["theorem"]["cases"][:1]}
    for other, fields in (
        ({"above": {**above, "theorem": fewer}}, "above"),
        ({"above": {**above, "cases": above["cases"][:1]}}, "above"),
        ({"n": [str(2**64), str(2**64)]}, "above, weights_sha256"),
    ):
        path.write_text(json.dumps(document | other))
        assert main(["--replay", str(path)]) == 1
        assert capsys.readouterr().out == f"{path}: differs from what the weights say: {fields}\n"
