"""One verdict for every n of an interval, against each n by itself, and against exact runs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import Atom, Equal, IsWord, Term, as_term, fraction, term
from constructions.retrieval.task import Question
from tests.verify.programs.test_terms import ATOMS, sums
from verify.algebra.interval import symbol
from verify.algebra.polynomial import Polynomial, atom, constant, is_whole
from verify.algebra.symbolic import is_never_whole, is_sized
from verify.certificates.building import automaton_of, model_of, part_of
from verify.certificates.document import CERTIFIED, REFUSED
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS
from verify.programs.document import explained, explanation
from verify.programs.facts import Facts
from verify.programs.intervals import at_one, intervals, pieces
from verify.programs.normal import Normalizer
from verify.programs.witness import tokens_of
from verify.rounding.model import ExactModel, first_difference

LARGEST = 16
WIDE = (("index", "transformer"), ("recall", "transformer"))


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_every_n_is_in_one_interval_that_says_what_this_n_says(name: str, model: str) -> None:
    least = 4 if (name, model) in WIDE else 11
    actual = list(intervals(find_subject(name, least, model=model, last=LARGEST)))
    assert [n for i in actual for n in range(i.low, i.high + 1)] == list(range(least, LARGEST + 1))
    assert any(i.high - i.low >= 2 for i in actual)
    for interval in actual:
        assert interval.document["verdict"] == CERTIFIED
        if interval.low < interval.high:
            own = explanation(find_subject(name, interval.high, model=model))
            assert own["answers"] == interval.document["answers"] == interval.document["task"]


def test_an_interval_ends_where_the_weights_do() -> None:
    """Those of recall are numbers. At n = 16 another p is needed, and the weights stay; at 29 they do not."""
    actual = list(intervals(find_subject("recall", 13, last=60)))
    assert [(i.low, i.high) for i in actual] == [(13, 28), (29, 60)]
    for interval in actual:
        assert not first_difference(*(model_of(find_subject("recall", n)) for n in (interval.low, interval.high)))
    assert first_difference(*(model_of(find_subject("recall", n)) for n in (28, 29)))


def test_what_an_input_refutes_is_refused_of_its_n_alone() -> None:
    subject = find_subject("counting", 8, printed=("count-query",))
    (actual,) = pieces(subject, model_of(subject), 8, 12)
    assert (actual.low, actual.high, actual.document["verdict"]) == (8, 8, REFUSED)


def verdicts(subject: Subject, model: ExactModel, last: int) -> dict[int, bool]:
    """Whether each n is certified, up to the first that is not: the least one of its interval."""
    told: dict[int, bool] = {}
    for interval in pieces(subject, model, subject.n, last):
        holds = interval.document["verdict"] == CERTIFIED
        told |= dict.fromkeys(range(interval.low, interval.high + 1) if holds else [interval.low], holds)
    return told


def test_what_only_large_n_break_is_certified_up_to_there() -> None:
    """The scores that a small n needs are wired for more: a mismatch costs too little, first of all at the largest n."""
    subject = find_subject("recall", 4)
    model, far = model_of(subject), 64
    told = verdicts(subject, model, far)
    first_wrong = max(told)
    assert 4 < first_wrong < far
    assert not told[first_wrong]
    for n in (first_wrong - 1, first_wrong):
        one = replace(subject, n=n)
        own = explained(one, at_one(model, one), automaton_of(one))
        assert (own["verdict"] == CERTIFIED) == told[n] == (n < first_wrong)


@pytest.mark.parametrize("name", ["index", "recall"])
def test_a_weight_that_is_right_at_the_least_n_alone_is_refused_behind_it(name: str) -> None:
    """(n − 7)·c in place of a c, from n = 8 on; if only scores are larger for it, nothing is wrong."""
    subject, refused = find_subject(name, 8), 0
    part = part_of(subject, 12)
    model, high = part.model, part.high
    many = sum(1 for layer in model.layers for _ in layer.weights())
    for which in random.Random(name).sample(range(many), 3):
        places = iter(range(many))
        grown = [lambda w: (atom("n") - 7) * w if next(places) == which else w]  # noqa: B023
        changed = replace(model, layers=tuple(layer.changed(grown[0]) for layer in model.layers))
        told = verdicts(subject, changed, high)
        refused += not all(told.values())
        for n in (n for n, holds in told.items() if holds):
            one = replace(subject, n=n)
            assert explained(one, at_one(changed, one), automaton_of(one))["verdict"] == CERTIFIED, (which, n)
    assert refused


def test_a_threshold_of_istree_that_is_right_at_the_least_n_alone_is_refused() -> None:
    subject = find_subject("istree", 26, lean=True)
    part = part_of(subject, 30)
    model = part.model
    assert part.high == 27
    fixed = constant(1) - atom("n") * 3
    assert fixed in [w for layer in model.layers for w in layer.weights() if isinstance(w, Polynomial)]
    changed = replace(
        model, layers=tuple(layer.changed(lambda w: 1 - 3 * 26 if w == fixed else w) for layer in model.layers)
    )
    assert not verdicts(subject, changed, part.high)[26]


POLYNOMIALS = st.lists(st.fractions(-4, 4, max_denominator=2), min_size=1, max_size=3)


@settings(max_examples=25)
@given(POLYNOMIALS, POLYNOMIALS, st.integers(4, 9))
def test_numbers_that_depend_on_n(top: list[Fraction], under: list[Fraction], low: int) -> None:
    n = symbol(low, 12)
    one, other = (sum((n**i * c for i, c in enumerate(actual)), n * 0) for actual in (top, under))
    if not other:
        return
    quotient, floors = one / other, dict[Any, Any].fromkeys((math.floor, math.ceil))
    told = is_whole(quotient), is_never_whole(quotient), fraction(quotient)
    for way in floors if not is_sized(quotient) or quotient.under == {(): 1} else ():
        floors[way] = way(quotient)
    for m in range(low, n.oracle.high + 1):
        value = at(quotient, m)
        assert value == at(told[2], m)
        assert not told[0] or value.denominator == 1
        assert not told[1] or value.denominator > 1
        assert all(actual is None or at(actual, m) == way(value) for way, actual in floors.items())


def at(value: Any, n: int) -> Fraction:
    """Of a number that may depend on n."""
    if not is_sized(value):
        return Fraction(value)
    return value.value_at({"n": n})


def changed(part: Any, change: Callable[[Fraction], Fraction]) -> Any:
    """A term with other numbers."""
    match part:
        case Term(items):
            return term((changed(monomial, change), change(c)) for monomial, c in items)
        case Atom():
            return type(part)(*(changed(getattr(part, name), change) for name in part.__dataclass_fields__))
        case tuple():
            return tuple(changed(one, change) for one in part)
        case Fraction():
            return change(part)
    return part


LAST = 6
NUMBERS = {3: lambda n: n, -3: lambda n: n * Fraction(1, 2) - 1, 2: lambda n: n * 3 - 2, -2: lambda n: 5 - n}


@st.composite
def prompts(draw: st.DrawFn) -> tuple[int, list[str]]:
    n = draw(st.integers(4, LAST))
    number = st.integers(1, n)
    return n, Question(tuple(draw(st.lists(number, max_size=n))), (draw(number), draw(st.integers(0, n)))).words()


@settings(max_examples=20)
@given(sums(ATOMS), st.lists(prompts(), min_size=4, max_size=4))
@example(as_term(Equal(as_term(IsWord("<s>")) * 2, Fraction(0))), [(4, ["<s>", "?", "1", "0"])])  # 3n − 2 times a bit
def test_a_normal_form_is_equal_for_each_n(value: Term, texts: list[tuple[int, list[str]]]) -> None:
    n = symbol(4, LAST)
    symbolic = changed(value, lambda c: NUMBERS[int(c)](n) if c in NUMBERS else c)
    facts = Facts.everywhere(automaton_of(find_subject("counting", n)))
    normal, ends = Normalizer(facts).term(symbolic), facts.bounds(symbolic)
    event(f"up to {n.oracle.high}")
    for size, words in texts:
        if size <= n.oracle.high:
            run = Input(tokens_of(words))
            before, behind = (changed(found, lambda c: at(c, size)) for found in (symbolic, normal))  # noqa: B023
            for k in range(1, len(words) + 1):
                assert run.value(behind, k) == run.value(before, k)
                assert at(ends[0], size) <= run.value(before, k) <= at(ends[1], size)
