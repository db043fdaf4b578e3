"""Every n from 2^63 on at once: a case has the weights and the verdict of each of its n; what holds of some n alone is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.parts.heads import match_next
from constructions.turing.library import find
from constructions.wiring import part
from precision.format import Discipline, fixed_point
from tests.verify.certificates.walks import (
    SIZES,
    at,
    inputs_at,
    require_shown,
    require_unknown,
    surveyed,
    values_in,
    walk_of,
    weights,
)
from verify.algebra.domains import Integer, Space
from verify.algebra.quotients import Unanswered
from verify.algebra.rational import Ratio, least
from verify.algebra.walks import Walk, n_of
from verify.certificates.building import build, every_n
from verify.certificates.document import CERTIFIED, judge
from verify.dossiers.dossier import ENDLESS, Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS
from verify.trusted.growth import root

TURING = [find_subject("turing", 4, model=model, machine=str(find("bb2").machine)) for model in ("hybrid", "rag")]
SUBJECTS = [
    replace(s, discipline=d)
    for s in (*(find_subject(name, 4, model=m) for name, m in MODELS), *TURING)
    for d in Discipline
]


@settings(max_examples=4)
@given(st.sampled_from(SUBJECTS), SIZES)
def test_a_case_has_the_weights_of_each_of_its_n(subject: Subject, n: int) -> None:
    """And what it shows is so at n, and the ordinary check says the same of n."""
    walk, (model, texts, judged) = walk_of(n, lambda walk: checked(replace(subject, n=n_of(walk))))
    one = replace(subject, n=n)
    own, inputs = build(one)
    assert weights(model, n) == weights(own, n)
    assert inputs_at(texts, n) == inputs_at(inputs, n)
    assert judged.verdict == judge(own, inputs).verdict == CERTIFIED
    require_shown(walk, n)


def checked(subject: Subject) -> Any:
    model, inputs = build(subject)
    return model, inputs, judge(model, inputs)


def test_the_cases_of_index_are_certified_and_so_few() -> None:
    survey = surveyed(find_subject("index", 4))
    document = survey.document()
    assert document["verdict"] == CERTIFIED
    assert document["n_from"] == "2^7"
    assert len(document["cases"]) == len(survey.cases) < 50
    assert {case["precision_bits"] for case in survey.cases} == {f"{c} + 4*B + 2*v" for c in (5, 7, 9, 11)}


def of_margin(monkeypatch: pytest.MonkeyPatch, gap: Callable[[int, int], Any]) -> list[bool]:
    """Models that are wired with this margin are not certified above; whether they are of some n."""
    monkeypatch.setattr(part, "least_gap", gap)
    assert "may differ by" in require_unknown(find_subject("index", 4))[1]
    return [certified(find_subject("index", n)) for n in (2**64, 2**70, 2**100, 2**200)]


def certified(subject: Subject) -> bool:
    return bool(checked(subject)[-1].verdict == CERTIFIED)


own_gap = part.least_gap


def test_a_margin_that_is_right_up_to_some_n_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_margin(monkeypatch, lambda q, length: min(own_gap(q, length), 256)) == [True, True, True, False]


def test_half_of_the_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_margin(monkeypatch, lambda q, length: own_gap(q, length) // 4) == [False] * 4


WHOLE = Fraction(1)
QUESTIONS: list[Callable[[Any], Any]] = [
    lambda n: (n * (n - 1)).bit_length(),
    lambda n: (n + 3).bit_length().bit_length(),
    lambda n: (7 * n).bit_length() // 2,
    lambda n: 3 * n * n > 2 ** (2 * n.bit_length()),
    lambda n: 5 * n.bit_length() // 3 * 3,
    lambda n: -(-n.bit_length() // 7),
    lambda n: max(5 * n.bit_length() + n.bit_length().bit_length(), 4 * 2 ** n.bit_length().bit_length()),
    lambda n: min(n, 2 ** n.bit_length() - 9),
    lambda n: abs(n - 3 * 2 ** (n.bit_length() - 2)),
    lambda n: math.floor(Fraction(1, 3) * n.bit_length()) + math.ceil(n / 2 ** n.bit_length()),
    lambda n: n == 2 ** (n.bit_length() - 1),
    lambda n: (n % 1, (2 * n + 3) % 2, (1 << n.bit_length()) % 8, 6 % (4 << n.bit_length())),
    lambda n: bool(n - 2 ** n.bit_length() + 7),
    lambda n: (n * (n - 1) // 2, 3 * n * (n + 1) // 2 % 3, n * (n + 1) * (n + 2) // 6),
    lambda n: WHOLE / (n + 1) - WHOLE / (n + 2) * (n * n - 3) / (1 - n),
    lambda n: (WHOLE * n / (n + 1) < WHOLE * (n + 1) / (n + 2), WHOLE / n == Fraction(2) / (n + n)),
    lambda n: WHOLE / (n - 2 ** (n.bit_length() - 1) * Fraction(3, 2) + Fraction(1, 4)) > 0,
    lambda n: max(WHOLE * 2 ** n.bit_length() / n, WHOLE * n * n / (n * n + n - 1) + Fraction(1, 3)),
    lambda n: ((WHOLE * n / (n + 1)) ** 2, abs(Fraction(5) / (3 - n)), (WHOLE * n + 1) / (n + 1)),
    lambda n: (3 * n * (n - 1) // 2 + 5 * n).bit_length(),
    lambda n: (
        round(n - Fraction(3, 4)),
        round(5 * n + Fraction(1, 4)),
        math.floor(n * (n - 1) * Fraction(1, 2) - Fraction(1, 3)),
    ),
    lambda n: (n > 2 ** n.bit_length() - 3, n - 1 >= 2 ** n.bit_length() - 3, 2 ** n.bit_length() - 3 < n),
    lambda n: (
        n * Fraction(1, 2) > 2 ** (n.bit_length() - 1) - 2,
        n * Fraction(1, 2) - 1 >= 2 ** (n.bit_length() - 1) - 2,
    ),
    lambda n: (
        WHOLE * n
        if isinstance(n, int)
        else n - 1 / (2 * (1 << n.bit_length())) + Fraction(1, 2) / (1 << n.bit_length())
    ),
]


@settings(max_examples=30)
@given(st.sampled_from(QUESTIONS), SIZES)
def test_answers_are_those_at_each_n(question: Callable[[Any], Any], n: int) -> None:
    walk, found = walk_of(n, lambda walk: question(n_of(walk)))
    got = [at(x, n, values_in(walk, n)) for x in (found if isinstance(found, tuple) else [found])]
    wanted = question(n)
    assert got == list(wanted if isinstance(wanted, tuple) else [wanted])


ENDS = st.one_of(st.integers(1, 9), st.integers(-5, 5).map(lambda shift: lambda n: n + shift))


@given(SIZES, ENDS, ENDS)
def test_bounds_of_rounded_shares(n: int, first: Any, last: Any) -> None:
    """No rounded 1/m lies outside, and they are near where m is a number."""
    first_at, last_at = (end if isinstance(end, int) else end(n) for end in (first, last))
    if first_at > last_at:
        return

    def bounds(walk: Walk) -> tuple[Any, Any]:
        size = n_of(walk)
        ends = [end if isinstance(end, int) else end(size) for end in (first, last)]
        return Space(fixed_point(4 * size.bit_length() + 1)).reciprocals(ends[0], ends[1])

    low, high = (at(end, n) for end in walk_of(n, bounds)[1])
    space = Space(fixed_point(4 * n.bit_length() + 1))
    for m in {first_at, (first_at + last_at) // 2, last_at}:
        assert low <= space.reciprocal(m) <= high
    assert not isinstance(first, int) or high <= space.reciprocal(first_at) + space.step
    assert not isinstance(last, int) or low >= space.reciprocal(last_at) - space.step


@pytest.mark.parametrize(
    "use",
    [
        int,
        float,
        range,
        math.isqrt,
        Fraction,
        lambda n: math.floor(1 / (n + 1)),
        lambda n: (n / (n + 1)).bit_length(),
        lambda n: 2 ** (n.bit_length() / n),
        lambda n: (n / (n - 1)) % 1,
        lambda n: 2**n,
        lambda n: 3 ** n.bit_length(),
        lambda n: (n.bit_length() * n).bit_length(),
        lambda n: [0] * n,
        lambda n: n.bit_length() ** 2 > 80 * 2 ** n.bit_length().bit_length(),
        lambda n: round(n / 3),
        lambda n: n.numerator,
        lambda n: divmod(n, 2),
    ],
)
def test_nothing_else_can_be_asked(use: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        use(n_of(Walk(root(7, 1))))


def test_a_program_that_asks_on_and_on_is_ended() -> None:
    def grow(walk: Walk) -> None:
        power = 1
        while power < n_of(walk).bit_length():
            power += 1

    with pytest.raises(Unanswered):
        grow(Walk(root(7, 1)))


@given(
    SIZES, st.integers(1, 9), st.sampled_from([lambda n: n + 1, lambda n: 3 * n * n // 2, lambda n: 8 * n.bit_length()])
)
def test_a_power_of_two_above(n: int, factor: int, form: Callable[[Any], Any]) -> None:
    walk, power = walk_of(n, lambda walk: (factor * form(n_of(walk))).power_above)
    assert not walk.forks
    assert factor * form(n) <= at(power, n) < 8 * factor * form(n)
    assert at(power, n).numerator.bit_count() == 1


ENDS_OF_STEPS = [lambda n: n, lambda n: 3 * n - 1, lambda n: 3 * n * (n - 1) // 2 + 1]


@given(
    st.integers(128, 600),
    st.integers(1, 4),
    st.integers(-2, 9),
    st.sampled_from(ENDS_OF_STEPS),
    st.sampled_from(ENDS_OF_STEPS),
)
def test_every_integer_between_two_bounds_is_kept(n: int, step: int, low: int, first: Any, last: Any) -> None:
    """And nothing but them that is a step away from the first, or the step is given up."""

    def narrowed(walk: Walk) -> tuple[Any, ...]:
        size = n_of(walk)
        found = Integer(2, last(size), step).within(low, first(size))
        return found.low, found.high, found.step

    start, end, by = (at(x, n) for x in walk_of(n, narrowed, 4)[1])
    kept = {m for m in range(2, last(n) + 1, step) if low <= m <= first(n)}
    assert kept <= set(range(int(start), int(end) + 1, int(by)))
    assert all(low <= m <= first(n) for m in (start, end) if kept)


RATIOS = st.lists(st.integers(-9, 9), min_size=1, max_size=4).filter(lambda c: c[-1] != 0)


@given(st.integers(128, 400), st.integers(1, 5), RATIOS, st.lists(st.integers(0, 6), min_size=1, max_size=3))
def test_the_least_of_a_ratio_up_to_n(n: int, low: int, top: list[int], shifts: list[int]) -> None:
    """Of one that rises or falls from some number on; of others nothing is said."""
    ratio = Ratio(tuple(map(Fraction, top)))
    for shift in shifts:
        ratio = ratio * Ratio((Fraction(1),), (Fraction(shift), Fraction(1)))
    exact = min(ratio.value_at(m) for m in range(low, n + 1))
    _, actual = walk_of(n, lambda walk: least(ratio, low, n_of(walk)), 4)
    assert actual is None or exact >= at(actual, n)
    if len(shifts) >= len(top):  # it falls to 0
        assert actual is not None


def test_a_ratio_that_turns_late_is_not_said_to_rise() -> None:
    turns = Ratio((Fraction(10**6), Fraction(-(10**3)), Fraction(1)))
    assert walk_of(10**5, lambda walk: least(turns, 3, n_of(walk)), 4)[1] is None
    poles = Ratio((Fraction(1),), (Fraction(-100), Fraction(1)))
    assert walk_of(10**5, lambda walk: least(poles, 3, n_of(walk)), 4)[1] is None


ISTREE = [find_subject("istree", 4, layout=layout, discipline=d) for layout in ("paper", "eos") for d in Discipline]


@settings(max_examples=4)
@given(st.sampled_from(ISTREE), SIZES)
def test_a_case_has_the_weights_of_istree(subject: Subject, n: int) -> None:
    model = walk_of(n, lambda walk: build(replace(subject, n=n_of(walk))))[1][0]
    assert weights(model, n) == weights(build(replace(subject, n=n))[0], n)


def test_istree_with_less_than_its_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance between two counts is a quotient of polynomials."""
    own = match_next.next_scale
    monkeypatch.setattr(match_next, "next_scale", lambda gap, n: own(gap, n) // 64)
    where, what = require_unknown(find_subject("istree", 4))
    assert "block 7" in where
    assert "may differ by" in what


def test_what_goes_on_without_end() -> None:
    """All but lean; rounding and program at once only as it has been looked at."""
    hybrids = [find_subject("istree", 4, model="hybrid", discipline=discipline) for discipline in Discipline]
    assert {every_n(of).last for of in (*SUBJECTS, *ISTREE, *hybrids)} == {ENDLESS}
    assert {every_n(of, theorem=True).last for of in (*SUBJECTS, ISTREE[0], ISTREE[2], hybrids[0])} == {ENDLESS}
    ends = [every_n(of, theorem=True) for of in (ISTREE[1], ISTREE[3], hybrids[1])]
    assert {end.last for end in (*ends, every_n(find_subject("istree", 4, lean=True)))} == {2**64}


def test_models_that_are_not_reached_are_not_certified() -> None:
    for subject in (
        find_subject("istree", 4, lean=True),
        find_subject("index", 4, precision_bits=301),
        find_subject("index", 4, printed=("tied-head",)),
    ):
        assert require_unknown(subject)[1]
