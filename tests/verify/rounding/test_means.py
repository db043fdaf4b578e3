"""Heads that average keys of one score, and shares that are compared: on every text of a small language."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from constructions.layers import AttentionHead
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point
from tests.verify.certificates.runs import lost
from tests.verify.rounding.points import at, points
from tests.verify.rounding.small import (
    RegisterNames,
    Text,
    Unit,
    Weights,
    deviations,
    judged,
    require_certified,
    require_kept,
    texts,
)
from tests.verify.rounding.test_points import shares, states
from tests.verify.rounding.test_small_models import MANY, MANY_WORDS, by_position
from verify.algebra.domains import Domain, Integer, Reciprocal, Space, Undecided
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.document import CERTIFIED, UNMET
from verify.rounding.abstract_state import AbstractState

OF = RegisterNames(("v", "num", "s", "x", "k", "one", "a", "b", "c", "d"))
WORDS: dict[str, Weights] = {
    **{v: {"v": int(v), "num": 1, "one": 1} for v in "123"},
    "<s>": {"s": 1, "one": 1},
    "x": {"x": 1, "one": 1},
}
SPOKEN = TokenAutomaton(
    (
        State(Label("<s>"), 1, 1, (), "<s>"),
        State(Label("number"), 2, 5, (0, 1, 2), numbers=(1, 3)),
        State(Label("x"), 2, 5, (0, 1, 2), "x"),
    ),
    frozenset([Label("number"), Label("x")]),
    (4, 4),
)
EVERY = list(texts(OF.model(WORDS, {}, [], Arithmetic(fixed_point(17))), SPOKEN))
LEAD = 20.0  # more than weights that vanish ask for

ALL: Weights = {}  # scores of all keys are 0
CHOSEN: tuple[Weights, ...] = (ALL, {"num": LEAD}, {"num": LEAD, "s": LEAD}, {"x": LEAD}, {"x": -LEAD}, {"num": 1.0})
VALUES: tuple[Weights, ...] = (
    {"num": 1},
    {"v": 1},
    {"s": 1},
    {"num": 2, "x": -1},
    {"v": -1, "one": 1},
    {"num": 0.5},
    {"s": 1, "x": 1},
)
NONE: Weights = {}


def averaging(
    chosen: Sequence[Weights], values: Sequence[Weights], units: Sequence[Unit], p: int, discipline: Discipline
) -> Wired:
    """Heads that read `values` of the keys whose `chosen` is largest into a and b; then units; then one that asks for c."""
    heads = [
        OF.head([({"one": 1.0}, keys)] if keys else [({"one": 1.0}, {})], value, into)
        for keys, value, into in zip(chosen, values, "ab", strict=False)
    ]
    blocks = [OF.block(*units, heads=heads), OF.block(({"c": 1, "a": 1}, 0, NONE, 1, {"d": 1}))]
    return OF.model(WORDS, {"k": 1}, blocks, Arithmetic(fixed_point(p), discipline))


def threshold(form: Weights, slope: float, bias: float) -> Iterator[Unit]:
    """0 up to −bias/slope of a form, 1 from (1 − bias)/slope on."""
    for c, off in ((1.0, 0.0), (-1.0, -1.0)):
        yield ({name: slope * w for name, w in form.items()}, bias + off, NONE, 1, {"c": c})


@pytest.mark.parametrize(("discipline", "certified"), [(Discipline.FUSED, 15), (Discipline.SEQUENTIAL, 15)])
def test_a_mean_is_compared(discipline: Discipline, certified: int) -> None:
    """With 0, by a slope that is steep enough; and with what it may be beside that, which is not told."""
    some = EVERY[:: 23 if discipline is Discipline.FUSED else 31]
    for keys, value, (slope, bias) in itertools.product(CHOSEN[:5], VALUES[1:6], [(16.0, 0.0), (8.0, -4.0)]):
        wired = averaging([keys], [value], [*threshold({"a": 1.0}, slope, bias)], 17, discipline)
        judgement = judged(wired, SPOKEN)
        if judgement.verdict == CERTIFIED:
            certified -= 1
            assert deviations(wired, SPOKEN, judgement, some) == [], (keys, value, slope, bias)
    assert certified == 0


def test_no_position_of_a_text_is_lost_behind_a_mean() -> None:
    """Where all keys win, 1/k is read: k is known."""
    for keys, value in itertools.product(CHOSEN[:3], VALUES[:5]):
        wired = averaging([keys], [value], [*threshold({"a": 1.0}, 16.0, 0.0)], 17, Discipline.FUSED)
        judgement = judged(wired, SPOKEN)
        if judgement.verdict == CERTIFIED:
            assert judgement.report is not None
            assert lost(wired, judgement.report, EVERY[::37], SPOKEN.answers) == [], (keys, value)


@pytest.mark.parametrize(
    ("one", "two"), [(ALL, {"num": LEAD, "s": LEAD}), ({"num": LEAD, "s": LEAD}, {"x": LEAD, "s": LEAD})]
)
@pytest.mark.parametrize("p", [17, 21])
def test_shares_of_two_heads_are_compared(one: Weights, two: Weights, p: int) -> None:
    """Position 1 among those of one kind, and among those of another: where as many are of both, the shares are one number."""
    units = [*threshold({"a": 1.0, "b": -1.0}, 64.0, 0.0), *threshold({"a": -1.0, "b": 1.0}, 64.0, -1.0)]
    wired = averaging([one, two], [{"s": 1}, {"s": 1}], units, p, Discipline.FUSED)
    judgement = judged(wired, SPOKEN)
    assert judgement.verdict == CERTIFIED
    assert deviations(wired, SPOKEN, judgement, EVERY[::5]) == []


SAME = TokenAutomaton(
    (State(Label("<s>"), 1, 1, (), "<s>"), State(Label("x"), 2, 6, (0, 1), "x")), frozenset([Label("x")]), (4, 4)
)


@pytest.mark.parametrize(("value", "verdict"), [(5.0, CERTIFIED), (15.0, UNMET)])
def test_a_sum_that_saturates_is_refused_though_little_of_it_is_written(value: float, verdict: str) -> None:
    """6·ROUND(1/6)·15 is 16.875, and the largest number is 15.9375; of this a 16th is written."""
    words: dict[str, Weights] = {"<s>": {"s": 1, "one": 1}, "x": {"x": 1, "one": 1}}
    head = OF.head([({"one": 1.0}, {})], {"one": value}, "a")
    head = AttentionHead(head.query, head.key, head.value, head.out / 16)
    wired = OF.model(words, {"k": 1}, [OF.block(heads=[head]), OF.block()], Arithmetic(fixed_point(9)))
    judgement = judged(wired, SAME)
    assert judgement.finding == verdict
    assert judgement.verdict != CERTIFIED or deviations(wired, SAME, judgement) == []


PARTLY = RegisterNames(("v", "v²", "num", "s", "x", "k", "one", "a", "b", "c", "d"))
PARTLY_WORDS: dict[str, Weights] = {
    **{v: {"v": int(v), "v²": int(v) ** 2, "num": 1, "one": 1} for v in "123"},
    "<s>": {"s": 1, "one": 1},
    "x": {"x": 1, "one": 1},
}


def test_not_all_keys_of_a_kind_win() -> None:
    """Numbers other than 2 lose, so that fewer than k keys are averaged, though some of each kind are."""
    scores: list[tuple[Weights, Weights]] = [({"one": 40.0}, {"v": 1}), ({"one": -10.0}, {"v²": 1})]
    head = PARTLY.head([*scores, ({"one": -40.0}, {"num": 1})], {"one": 1}, "a")
    blocks = [PARTLY.block(*threshold({"a": 1.0}, 16.0, 0.0), heads=[head]), PARTLY.block()]
    wired = PARTLY.model(PARTLY_WORDS, {"k": 1}, blocks, Arithmetic(fixed_point(17)))
    require_kept(wired, SPOKEN, judged(wired, SPOKEN), EVERY[::29])


FIRST, NUMBER = State(Label("<s>"), 1, 1, (), "<s>"), State(Label("number"), 2, 2, (0,), numbers=(1, 3))
OTHER = State(Label("b"), 2, 2, (0,), "b")
EITHER = TokenAutomaton(
    (FIRST, NUMBER, OTHER, State(Label("x"), 3, 4, (1, 2, 3), "x")), frozenset([Label("x")]), (4, 4)
)
PERHAPS = TokenAutomaton((FIRST, NUMBER, State(Label("x"), 2, 3, (0, 1), "x")), frozenset([Label("x")]), (4, 4))


def numbers_first(of_b: Weights) -> Wired:
    """A head that reads the numbers, if there are any, and a word that embeds so."""
    head = OF.head([({"one": 1.0}, {"num": LEAD})], {"v": 1}, "a")
    blocks = [OF.block(heads=[head]), OF.block(({"a": 1}, 0, NONE, 1, {"c": 1}))]
    return OF.model({**WORDS, "b": of_b}, {"k": 1}, blocks, Arithmetic(fixed_point(17)))


@pytest.mark.parametrize("spoken", [EITHER, PERHAPS], ids=["something else may stand there", "nothing may stand there"])
def test_the_best_key_may_not_stand_at_its_only_position(spoken: TokenAutomaton) -> None:
    """A number wins if there is one; else all tie."""
    wired = numbers_first({"one": 1})
    require_kept(wired, spoken, judged(wired, spoken))


def test_one_of_two_kinds_stands_at_a_position() -> None:
    """After it, the worse one of both is known to be there: so what scores less than either is never read."""
    require_certified(numbers_first({"one": 1, "v": 1, "num": 1}), EITHER)


@pytest.mark.parametrize("back", [1, 2])
def test_each_of_few_positions_is_looked_at(back: int) -> None:
    """Where every key stands at one position, so that its score is a function of the query's."""
    spoken = TokenAutomaton(
        (State(Label("<s>"), 1, 1, (), "<s>"), State(Label("number"), 2, 3, (0, 1), numbers=(1, 2))),
        frozenset([Label("number")]),
        (4, 4),
    )
    blocks = [
        MANY.block(({"k": 1}, 0, {"k": 1}, 0, {"k²": 1})),
        MANY.block(heads=[MANY.head(by_position(9.0, back, NONE), {"v": 1.0}, "a")]),
        MANY.block(({"a": 2}, -1, {"a": 3}, 1, {"b": 1})),
        MANY.block(({"b": 1, "a": 1}, 0, NONE, 1, {"c": 1})),
    ]
    wired = MANY.model(MANY_WORDS, {"k": 1}, blocks, Arithmetic(fixed_point(17)))
    require_certified(wired, spoken)


# Anything of this form

forms = st.dictionaries(
    st.sampled_from(["num", "s", "x", "v"]), st.sampled_from([1.0, 1.0, -1.0, 2.0]), min_size=1, max_size=2
)
chosen = st.sampled_from(CHOSEN[:5])
read = st.dictionaries(st.sampled_from("ab"), st.sampled_from([1.0, -1.0, 1.0, 3.0]), min_size=1)


@st.composite
def averages(draw: st.DrawFn) -> Wired:
    """Two heads and up to three units over both."""
    units: list[Unit] = []
    for _ in range(draw(st.integers(1, 3))):
        slope, bias = draw(st.sampled_from([1.0, 8.0, 32.0])), draw(st.sampled_from([0.0, 1.0, -1.0, -8.0, 0.5]))
        gate = {name: slope * w for name, w in draw(read).items()}
        up = draw(st.sampled_from([NONE, NONE, NONE, {"v": 1.0}, {"k": 1.0}]))
        units.append((gate, bias, up, float(not up), {"c": draw(st.sampled_from([1.0, -1.0, 2.0]))}))
    p, discipline = draw(st.sampled_from([15, 17, 21])), draw(st.sampled_from(Discipline))
    return averaging([draw(chosen), draw(chosen)], [draw(forms), draw(forms)], units, p, discipline)


@settings(max_examples=40)
@given(averages(), st.lists(st.sampled_from(EVERY), min_size=4, max_size=4))
def test_means_that_are_certified_are_so_on_a_text(wired: Wired, some: list[Text]) -> None:
    judgement = judged(wired, SPOKEN)
    event(judgement.verdict)
    assert judgement.verdict != CERTIFIED or deviations(wired, SPOKEN, judgement, some) == []


# The two splits


@given(states(), shares)
@settings(max_examples=60)
def test_shares_are_compared_by_their_denominators(state: AbstractState, asked: Polynomial) -> None:
    ends = state.compared_shares(asked)
    assert (ends is not None) == (len(asked.atoms) == 2)
    if ends is not None:
        first = next(c for m, c in asked.terms.items() if m)
        sign = 1 if first > 0 else -1
        for point in points(state):
            apart, compared = at(ends, point.ideal), (at(asked, point.ideal) - asked.constant) * sign
            assert (apart > 0) == (compared > 0)
            assert (apart < 0) == (compared < 0)
        event(f"{len(state.parts(asked))} parts")


def test_two_shares_are_told_apart_in_three_parts() -> None:
    """ROUND(1/m) − ROUND(1/l) times 64: of m and l up to 4 its sign is known where m < l, m = l and m > l, and beside these."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(1, 4), "m": Integer(1, 4), "l": Integer(1, 3)}
    box |= {"r": Reciprocal("m", 0), "s": Reciprocal("l", 1)}
    state = AbstractState(Space(fixed_point(17)), {}, box)
    for bias in (-1, 0, 1):
        asked = (atom("r") - atom("s")) * 64 + bias
        parts = state.parts(asked)
        signs = [part.sign(asked) for part in parts]
        assert sorted(signs) == ([-1, -1, 1] if bias < 1 else [-1, 1, 1])
        for part, sign in zip(parts, signs, strict=True):
            assert all(min(sign * end for end in point.both(asked)) >= 0 for point in points(part))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 4), (2, 3)])
@pytest.mark.parametrize("shift", [0, 1])
def test_a_numerator_is_split_where_the_quotient_is_a_number(low: int, high: int, shift: int) -> None:
    """c·A/(m + shift) + d: below A = j it has one sign, from A = j + 1 on the other one, ideally and whatever m is."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(1, 2), "m": Integer(low, high), "a": Integer(-3, 3)}
    state = AbstractState(Space(fixed_point(17)), {}, box | {"r": Reciprocal("m", shift)})
    known, offsets = 0, (Fraction(0), Fraction(1), Fraction(1, 2))
    for c, d, off in itertools.product((-16, -1, 1, 2, 16), (-2, -1, 0, 1, Fraction(1, 2)), offsets):
        asked = (atom("a") + constant(off)) * atom("r") * c + d
        root = state.root_of_ratio(asked)
        if root is None:
            continue
        known += 1
        form, last = root
        assert (off - int(off)) == 0
        for point in points(state):
            a, value = at(form, point.ideal), at(asked, point.ideal) * (1 if c > 0 else -1)
            assert value <= 0 if a <= last else value >= 0
        try:
            parts = state.split(asked, "here")
        except Undecided:
            continue
        assert sum(sum(1 for _ in points(part)) for part in parts) == sum(1 for _ in points(state))
    assert known >= 20


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 1), (-2, 0), (1, 3)])
@pytest.mark.parametrize("c", [1, -4, Fraction(5, 2)])
def test_a_mean_lies_between_the_least_and_the_largest_of_its_numbers(low: int, high: int, c: Fraction) -> None:
    """S/m of m numbers from low to high, 1/m rounded: bounds contain every value, and are no wider than rounding asks for."""
    space = Space(fixed_point(17))
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(1, 1), "m": Integer(1, 12), "r": Reciprocal("m", 0)}
    state = AbstractState(space, {}, {**box, "s": Integer(min(low, 0) * 12, max(high, 0) * 12)})
    s, m = atom("s"), atom("m")
    told = state.not_below_0(s - m * low).not_below_0(m * high - s)
    every = [*points(told)]
    assert {(p.rounded["s"], p.rounded["m"]) for p in every} == {
        (x, y) for y in range(1, 13) for x in range(low * y, high * y + 1)
    }
    mean = s * atom("r") * c + 1
    slack = abs(c) * max(-low, high) * 12 * space.step / 2
    for ideal in (False, True):
        values = [at(mean, p.ideal if ideal else p.rounded) for p in every]
        ends = told.bounds(mean, ideal=ideal)
        assert ends[0] <= min(values) <= max(values) <= ends[1]
        wanted = sorted((1 + c * low, 1 + c * high))
        assert ends[0] >= wanted[0] - slack * (not ideal)
        assert ends[1] <= wanted[1] + slack * (not ideal)
    more = state.not_below_0(s - m * low + 1).not_below_0(m * high - s + 1)  # one more than the mean of such numbers
    values, ends = [at(mean, p.rounded) for p in points(more)], more.bounds(mean)
    assert ends[0] <= min(values) <= max(values) <= ends[1]
