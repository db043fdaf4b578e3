"""Rules about unit fractions and about cases, against every number that there is."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from constructions.language.interpreter import Input
from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Back,
    Best,
    Closest,
    Count,
    Equal,
    IsNumber,
    IsWord,
    Matching,
    Nearest,
    NumberOf,
    Positive,
    Read,
    Reciprocal,
    Sum,
    Term,
    as_term,
    term,
)
from constructions.retrieval.task import ASK, START
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.building import automaton_of
from verify.dossiers.registry import find_subject
from verify.programs import shares
from verify.programs.decisions import _under, _with
from verify.programs.facts import Facts
from verify.programs.heads import MOST_FACTOR, Among, Tied, by_key, winners
from verify.programs.normal import Normalizer
from verify.programs.products import simplified

MOST = 6
K, NUMBER = as_term(POSITION), as_term(NumberOf())
BEFORE = as_term(Read(NUMBER, Back(1)))
IS_NUMBER = as_term(IsNumber())
MARKS = as_term(Count(Matching(((as_term(IsWord(ASK)), ONE),))))
NORMAL = Normalizer(Facts.everywhere(automaton_of(find_subject("index", MOST))))
DIFFERENCE = as_term(Reciprocal(NUMBER)) - as_term(Read(as_term(Reciprocal(NUMBER)), Back(1)))
WEIGHTS = st.integers(-3, 3).map(Fraction)


def texts() -> Iterator[Input]:
    """Of the language of Index, with few different numbers."""
    for length in range(1, 5):
        for numbers in itertools.product((1, 2, 3), repeat=length):
            for query in range(1, length + 1):
                yield Input([(START, 0), *(("", v) for v in numbers), (ASK, 0), ("", query)])


def values(term: Term) -> list[int | Fraction]:
    """For every two denominators up to MOST, that of k first."""
    return [Input([("", v), ("", u)]).value(term, 2) for u, v in itertools.product(range(1, MOST + 1), repeat=2)]


def test_unit_fractions_are_compared_by_their_denominators() -> None:
    actual = shares.larger(DIFFERENCE, NORMAL)
    assert actual is not None
    assert values(actual) == values(as_term(Above(DIFFERENCE)))


def test_zero_is_a_unit_fraction_that_is_larger_than_none() -> None:
    """Denominator 0: at position 1 nothing stands before."""
    actual = shares.larger(DIFFERENCE, NORMAL)
    assert actual is not None
    for u, v in itertools.product(range(4), repeat=2):
        larger = (Fraction(1, u) if u else 0) > (Fraction(1, v) if v else 0)
        assert Input([("", v), ("", u)]).value(actual, 2) == larger


@given(
    st.lists(st.tuples(WEIGHTS, st.fractions(-1, 1, max_denominator=4)), min_size=1, max_size=3),
    st.sampled_from([Fraction(1), Fraction(3, 2)]),
    st.booleans(),
)
def test_units_over_a_difference_of_unit_fractions_are_a_step(
    units: list[tuple[Fraction, Fraction]], wide: Fraction, level: bool
) -> None:
    """Where a corner is farther than the least difference, or it ends in a slope, that is refused."""
    least = wide / (MOST * (MOST - 1))
    units = [(c, b * least) for c, b in units]
    if level:
        units.append((-sum((c for c, _ in units), Fraction(0)), Fraction(0)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "most", lambda a, normal: MOST)
        actual = shares.step(DIFFERENCE, units, NORMAL)
    if actual is not None:
        assert values(actual) == values(sum((as_term(Positive(DIFFERENCE + b)) * c for c, b in units), ZERO))


def test_the_step_that_is_wired_is_told() -> None:
    least = Fraction(1, MOST * (MOST - 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shares, "most", lambda a, normal: MOST)
        steps = [
            shares.step(DIFFERENCE, [(Fraction(1), b), (Fraction(-1), b - scale * least)], NORMAL)
            for b, scale in ((Fraction(0), 1), (least, 1), (Fraction(0), 2))
        ]
    assert [actual is None for actual in steps] == [False, False, True]


@pytest.mark.parametrize("start", [2, 4, 7])
def test_what_is_nearest_for_every_denominator_is_so_for_each(start: int) -> None:
    """1/m + a/m² + b/m³: the larger a is, the later it leaves the share's own half."""
    for a, b in itertools.product((Fraction(i, 4) for i in range(-7, 1)), (Fraction(i, 2) for i in range(-6, 30, 3))):
        each = (shares._between(m, 1 / Fraction(m) + a / m**2 + b / m**3) for m in range(start, start + 300))
        assert shares._between_from(start, {1: Fraction(1), 2: a, 3: b}) == all(each), (a, b)


def test_less_its_square_a_share_is_nearest_to_the_next_from_a_quarter_on() -> None:
    def near(m: int, value: Fraction) -> bool:
        return min(range(2, 50), key=lambda t: abs(Fraction(1, t) - value)) == m + 1

    less_square = {1: Fraction(1), 2: Fraction(-1)}
    assert [shares._between_from(start, less_square) for start in (2, 3, 4, 5)] == [False, False, True, True]
    assert not shares._between_from(2, {1: Fraction(1)})  # nearest to itself
    assert not shares._between_from(2, {2: Fraction(1)})
    halfway_at_2 = {1: Fraction(1), 2: Fraction(-3, 4), 3: Fraction(5, 6)}
    assert [shares._between_from(start, halfway_at_2) for start in (2, 3)] == [False, True]
    for m, value in itertools.product(range(2, 8), (Fraction(i, 240) for i in range(1, 200))):
        if shares._between(m, value):
            assert near(m, value)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("slope", [-2, -1, 1, 3])
@pytest.mark.parametrize("offset", [Fraction(i, 2) for i in range(-9, 10)])
def test_a_case_bounds_a_number_by_what_it_says(slope: int, offset: Fraction, holds: bool) -> None:
    low, high = NORMAL.facts.bounds(NUMBER)
    numbers = range(int(low), int(high) + 1)
    above = Above(NUMBER * slope + offset)
    equal = Equal(NUMBER * slope, -offset)
    for atom, compare in ((above, operator.gt), (equal, operator.eq)):
        left = [x for x in numbers if compare(slope * x + offset, 0) == holds]
        bit = NORMAL.term(as_term(atom))
        if bit.is_constant:
            assert left == (list(numbers) if bit.constant == holds else [])
            continue
        least, most = _with(NORMAL, bit, holds).facts.bounds(NUMBER)
        assert all(least <= x <= most for x in left)
        if atom is above or holds:
            assert (least, most) == (left[0], left[-1])


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("scale", [-2, 1, Fraction(1, 2)])
@pytest.mark.parametrize("offset", [-3, 0, 2])
def test_a_comparison_of_two_numbers_bounds_what_is_parallel_to_it(holds: bool, scale: Fraction, offset: int) -> None:
    above = Above(NUMBER * 2 - BEFORE + offset)
    facts = NORMAL.facts.knowing(above, Fraction(int(holds)), Fraction(int(holds)))
    value = (NUMBER * 2 - BEFORE) * scale + 1
    low, high = facts.bounds(value)
    every = zip(values(as_term(above)), values(value), strict=True)
    there = [v for bit, v in every if bit == holds]
    assert low <= min(there) <= max(there) <= high
    assert (low if (scale > 0) == holds else high) == (min if (scale > 0) == holds else max)(there)


@pytest.mark.parametrize("slopes", [(1, 1), (1, -1), (-1, 2), (2, 3)], ids=str)
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("offset", [Fraction(i, 2) for i in range(-15, 16, 3)])
def test_a_case_bounds_each_of_two_numbers_by_the_other(slopes: tuple[int, int], holds: bool, offset: Fraction) -> None:
    above = Above(NUMBER * slopes[0] + BEFORE * slopes[1] + offset)
    ranges = [range(int(low), int(high) + 1) for low, high in map(NORMAL.facts.bounds, (NUMBER, BEFORE))]
    left = [xy for xy in itertools.product(*ranges) if (slopes[0] * xy[0] + slopes[1] * xy[1] + offset > 0) == holds]
    facts = _with(NORMAL, as_term(above), holds).facts
    for value, slope, actual in zip((NUMBER, BEFORE), slopes, zip(*left, strict=True), strict=bool(left)):
        low, high = facts.bounds(value)
        assert low <= min(actual) <= max(actual) <= high
        if abs(slope) == 1:
            assert (low, high) == (min(actual), max(actual))


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("scale", [-3, 2])
@pytest.mark.parametrize("times", [1, -2])
def test_a_comparison_bounds_what_has_it_as_a_part(holds: bool, scale: int, times: int) -> None:
    above, more = Above(NUMBER * 2 - BEFORE), NUMBER * BEFORE * times
    facts = NORMAL.facts.knowing(above, Fraction(int(holds)), Fraction(int(holds)))
    value = (NUMBER * 2 - BEFORE) * scale + more
    low, high = facts.bounds(value)
    there = [v for bit, v in zip(values(as_term(above)), values(value), strict=True) if bit == holds]
    assert low <= min(there) <= max(there) <= high
    least, most = NORMAL.facts.bounds(more)
    assert (low == least + scale * holds) if (scale > 0) == holds else (high == most + scale * holds)


@pytest.mark.parametrize(
    ("of", "told"), [(NUMBER - BEFORE, True), (NUMBER * NUMBER - BEFORE, False), (NUMBER * BEFORE - BEFORE, False)]
)
def test_numbers_are_one_where_they_are_equal_and_not_where_products_are(of: Term, told: bool) -> None:
    normal = _with(NORMAL, as_term(Equal(of, Fraction(0))), True)
    assert (normal.term(NUMBER) == normal.term(BEFORE)) == told
    for value in (NUMBER, BEFORE):
        every = zip(values(of), values(value), values(normal.term(value)), strict=True)
        assert all(x == y for off, x, y in every if not off)


@pytest.mark.parametrize(("of", "told"), [(MARKS, True), (NUMBER - BEFORE, False), (NUMBER - 2, False)])
def test_what_is_not_above_0_is_0_if_it_is_never_below(of: Term, told: bool) -> None:
    value = as_term(Count(Matching(((as_term(Above(of)), ZERO), (BEFORE, NUMBER)))))
    normal = NORMAL.term(value)
    (count,) = normal.atoms
    assert isinstance(count, Count)
    assert ((of, ZERO) in count.where.pairs) is told
    for text in texts():
        for k in range(1, len(text.tokens) + 1):
            assert text.value(normal, k) == text.value(value, k)


def test_an_integer_is_not_bounded_by_what_it_is_not_between_two_integers() -> None:
    half = as_term(Equal(NUMBER, Fraction(1, 2)))
    low, high = NORMAL.facts.knowing(next(iter(NUMBER.atoms)), Fraction(0), Fraction(1)).bounds(half - NUMBER)
    assert low <= -1 < 0 <= high
    facts = NORMAL.facts.knowing(next(iter(NUMBER.atoms)), Fraction(1, 2), Fraction(7, 2))
    assert facts.bounds(NUMBER) == (Fraction(1, 2), Fraction(7, 2))
    for end in facts.bounds(NUMBER):
        low, high = _with(Normalizer(facts), as_term(Equal(NUMBER, end)), False).facts.bounds(NUMBER)
        assert low <= 1 < 3 <= high


@pytest.mark.parametrize("times", [1, 2])
def test_a_factor_is_left_out_only_if_it_is_1(times: int) -> None:
    (is_number,) = as_term(Read(as_term(IsNumber()) * times, Back(1))).atoms
    (number,) = BEFORE.atoms
    product = term(simplified((is_number, number), Fraction(1), NORMAL))
    assert values(product) == values(BEFORE * times)
    assert (product == BEFORE) == (times == 1)


@example(Fraction(1), {1: Fraction(3), 6: Fraction(-3)}, 1, 6)
@given(
    WEIGHTS, st.dictionaries(st.integers(-1, MOST + 2), WEIGHTS, max_size=4), st.integers(1, MOST), st.integers(1, MOST)
)
def test_a_line_with_exceptions_is_bounded_by_its_values(
    slope: Fraction, more: dict[int, Fraction], low: int, high: int
) -> None:
    low, high = sorted((low, high))
    (x,) = NUMBER.atoms
    facts = NORMAL.facts.knowing(x, Fraction(low), Fraction(high))
    value = sum((as_term(Equal(NUMBER, Fraction(v))) * c for v, c in more.items()), NUMBER * slope)
    least, most = facts.bounds(value)
    actual = [slope * i + more.get(i, 0) for i in range(low, high + 1)]
    assert least <= min(actual) <= max(actual) <= most
    if slope:
        assert (least, most) == (min(actual), max(actual))


@pytest.mark.parametrize("offset", [Fraction(i, 12) for i in (-6, 0, 3, 4, 5, 6, 12)])
def test_the_nearest_match_is_told_where_no_two_are_as_near(offset: Fraction) -> None:
    """Its position is asked for by the number at k; a position matches if it has the number before k."""
    target = NUMBER + offset
    rows = (
        (NUMBER * NUMBER, as_term(-400)),
        (NUMBER, BEFORE * 800),
        (K * K, as_term(-1)),
        (K, target * 2),
        (as_term(Equal(K, Fraction(1))), BEFORE * BEFORE * 400 - 200),
    )
    told = winners(by_key(rows), NORMAL)
    assert isinstance(told, Closest) == ((2 * offset).denominator != 1)
    halves = sum(text.chosen(Best(rows), k)[1:] != [] for text in texts() for k in range(1, len(text.tokens) + 1))
    if isinstance(told, Closest):
        assert not halves
        for text in texts():
            assert all(text.chosen(told, k) == text.chosen(Best(rows), k) for k in range(1, len(text.tokens) + 1))
    else:
        assert halves


def test_what_is_nearest_may_be_halfway_at_some_numbers_alone() -> None:
    """(x + 1)/4 is halfway between two integers where x is 1, and nowhere else up to 4."""
    target = NUMBER * Fraction(1, 4) + Fraction(1, 4)
    first = as_term(Equal(K, Fraction(1))), BEFORE * BEFORE * 400 - 200
    rows = ((NUMBER * NUMBER, as_term(-400)), (NUMBER, BEFORE * 800), (K * K, as_term(-1)), (K, target * 2), first)
    assert winners(by_key(rows), NORMAL) is None


@pytest.mark.parametrize(("default", "is_told"), [(-60, False), (-100, True), (-300, True), (-500, False)])
def test_the_nearest_match_is_told_where_position_1_is_between_matches_and_mismatches(
    default: int, is_told: bool
) -> None:
    target = NUMBER + Fraction(1, 4)
    first = BEFORE * BEFORE * 400 + default
    rows = ((NUMBER * NUMBER, as_term(-400)), (NUMBER, BEFORE * 800), (K * K, as_term(-1)), (K, target * 2))
    assert isinstance(winners(by_key((*rows, (as_term(Equal(K, Fraction(1))), first))), NORMAL), Closest) == is_told


@pytest.mark.parametrize(("default", "told"), [(-1, None), (0, Tied), (1, Nearest), (Fraction(1, 8), Nearest)])
def test_position_1_wins_alone_above_all_matches(default: Fraction, told: type | None) -> None:
    """Without a preference a match has 0, and what does not match has less."""
    first = as_term(Equal(K, Fraction(1))), BEFORE * BEFORE * 4 + as_term(default)
    rows = (NUMBER * NUMBER, as_term(-4)), (NUMBER, BEFORE * 8), first
    actual = winners(by_key(rows), NORMAL)
    assert (None if actual is None else type(actual)) == told
    for text in texts() if isinstance(actual, Nearest) else ():
        assert all(text.chosen(actual, k) == text.chosen(Best(rows), k) for k in range(1, len(text.tokens) + 1))


@pytest.mark.parametrize(("default", "told"), [(1, Nearest(ONE)), (-1, None)])
def test_position_1_alone_is_told_apart(default: int, told: Nearest | None) -> None:
    """If it scores less than all others, these tie, and no rule is about that."""
    assert winners(by_key(((as_term(Equal(K, Fraction(1))), as_term(default)),)), NORMAL) == told


@pytest.mark.parametrize("times", [1, 2, 3, MOST_FACTOR, MOST_FACTOR + 1])
@pytest.mark.parametrize("offset", [Fraction(0), Fraction(1), Fraction(1, 7)])
def test_a_multiple_of_a_number_is_compared_with_an_integer(times: int, offset: Fraction) -> None:
    """−S(x − y/m)² is −S/m²·(m·x − y)²; with a seventh added, m would have to be 7 times as large."""
    query = (BEFORE + as_term(offset)) * Fraction(1, times)
    first = as_term(Equal(K, Fraction(1))), query * query * 4
    actual = winners(by_key(((NUMBER * NUMBER, as_term(-4)), (NUMBER, query * 8), first)), NORMAL)
    told = times <= MOST_FACTOR if offset.denominator == 1 else times == 1
    if not told:
        assert actual is None
        return
    m = times * offset.denominator
    assert actual == Tied(Matching(((NUMBER * m, (BEFORE + as_term(offset)) * offset.denominator),)))


# What is given of k, and of what is read back


@pytest.mark.parametrize("place", range(1, 6))
@pytest.mark.parametrize("steps", range(1, 6))
def test_what_is_read_back_from_a_position_that_is_known(place: int, steps: int) -> None:
    facts = NORMAL.facts.knowing(next(iter(K.atoms)), Fraction(place), Fraction(place))
    for value in (NUMBER + 1, IS_NUMBER, K, as_term(IsWord(START))):
        low, high = facts.bounds(as_term(Read(value, Back(steps))))
        actual = {text.value(as_term(Read(value, Back(steps))), place) for text in texts() if place <= len(text.tokens)}
        assert low <= min(actual) <= max(actual) <= high
        if place <= steps + 1:
            assert low == high


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("offset", range(-4, 1))
def test_a_bit_that_is_read_back_bounds_what_it_compares(holds: bool, steps: int, offset: int) -> None:
    """Where nothing stands so many steps back, it is 0 whatever it compares: then nothing is learnt of it."""
    bit, number = as_term(Read(as_term(Above(NUMBER + offset)), Back(steps))), as_term(Read(NUMBER, Back(steps)))
    normal = _with(NORMAL, NORMAL.term(bit), holds)
    low, high = normal.facts.bounds(NORMAL.term(number))
    actual = [
        text.value(number, k) for text in texts() for k in range(1, len(text.tokens) + 1) if text.value(bit, k) == holds
    ]
    assert not actual or low <= min(actual) <= max(actual) <= high
    if holds and actual and offset:
        assert low == 1 - offset


@pytest.mark.parametrize("holds", [*itertools.product([True, False], repeat=3)])
@pytest.mark.parametrize("steps", [0, 1])
def test_cases_that_exclude_each_other_are_seen_to_and_no_other_ones(holds: Sequence[bool], steps: int) -> None:
    """x > 1, x = 3 and x + b > 3, of a number and whether a mark stands before it; here, or one step back."""
    bits = [as_term(a) for a in (Above(NUMBER - 1), Equal(NUMBER, Fraction(3)), Above(NUMBER + BEFORE - 3))]
    bits = [as_term(Read(bit, Back(steps))) if steps else bit for bit in bits]
    cases = tuple(zip(bits, holds, strict=True))
    there = any(
        all(text.value(bit, k) == value for bit, value in cases)
        for text in texts()
        for k in range(1, len(text.tokens) + 1)
    )
    normal = _under(cases, NORMAL)
    assert normal is not None or not there
    if holds[:2] == (False, True):
        assert normal is None


@pytest.mark.parametrize("steps", [0, 1])
def test_cases_that_exclude_each_other_only_all_together(steps: int) -> None:
    """m + b > 0, b = 0 and m = 0, of the marks m up to there and whether a number b stands there: any two of them are possible."""
    bits = [as_term(Above(MARKS + IS_NUMBER)), IS_NUMBER, as_term(Equal(MARKS, Fraction(0)))]
    bits = [as_term(Read(bit, Back(steps))) if steps else bit for bit in bits]
    cases = [(bits[0], True), (bits[1], False), (bits[2], True)]
    for order in itertools.permutations(cases):
        assert _under(order, NORMAL) is None
        assert _under(order[:2], NORMAL) is not None
    assert _under(((bits[0], True), (bits[1], True), (bits[2], True)), NORMAL) is not None


@pytest.mark.parametrize("low", range(1, 5))
def test_a_sum_is_bounded_by_what_stands_at_each_position(low: int) -> None:
    (position,) = K.atoms
    for of in (NUMBER, NUMBER * -2 + 3, as_term(IsWord(START)), IS_NUMBER):
        facts = NORMAL.facts.knowing(position, Fraction(low), Fraction(low + 1))
        least, most = facts.bounds(as_term(Sum(of)))
        actual = {text.value(as_term(Sum(of)), k) for text in texts() for k in (low, low + 1) if k <= len(text.tokens)}
        assert least <= min(actual) <= max(actual) <= most


def test_a_sum_of_what_is_nowhere_less_is_at_least_as_often_that() -> None:
    facts = EACH_K.facts.knowing(next(iter(K.atoms)), Fraction(3), Fraction(4))
    assert facts.bounds(as_term(Sum(NUMBER))) == (2, 9)
    assert ANY_K.facts.bounds(as_term(Sum(NUMBER)))[0] == 0  # k may be 1


# Who wins, of scores of the rules' form with numbers that fit or do not


SHORT = TokenAutomaton(
    (State(Label(START), 1, 1, (), START), State(Label("number"), 2, 4, (0, 1), numbers=(1, 3))),
    frozenset([Label("number")]),
    (4, 4),
)
PREFIXES = [
    Input([(START, 0), *(("", v) for v in numbers)])
    for length in range(4)
    for numbers in itertools.product((1, 2, 3), repeat=length)
]
ANY_K, EACH_K = (
    Normalizer(facts) for facts in (Facts.everywhere(SHORT), Facts.everywhere(SHORT).facts_at(frozenset([1])))
)
QUARTER = as_term(Fraction(1, 4))
PLACES = [
    ZERO,
    ONE,
    ONE * 2,
    ONE * 3,
    K,
    K + 1,
    K - 1,
    NUMBER,
    K + QUARTER,
    NUMBER + QUARTER,
    QUARTER * 9,
    QUARTER * 10,
]


@st.composite
def scores(draw: st.DrawFn) -> list[tuple[Term, Term]]:
    """−S(x(j) − y)² for one or two x, −G(j − f)², and at position 1 something that is near a bound of these, as rows."""
    weight = draw(st.sampled_from([0, 1, 1, 1, 2, Fraction(1, 2), -1]))
    target = draw(st.sampled_from(PLACES))
    # Of which no rule speaks: weights that depend on k, and later positions that are better as such.
    bend = draw(st.sampled_from([*[ZERO] * 9, NUMBER * -1])) - weight
    # Or a line −c·j in place of the square.
    line = draw(st.sampled_from([0, 0, 1, -1, 3, -3])) * (not weight)
    slope = draw(st.sampled_from([*[ZERO] * 5, NUMBER * -1])) * (not weight) - line
    if draw(st.integers(0, 7)) == 0:
        return [(K * K, bend), (K, target * (2 * weight) + slope)]
    usual = draw(st.sampled_from([True, True, True, False]))  # else position 1 has what the sum is there as well
    rows, cost = [(K * K, bend), (K, target * (2 * weight) + slope)], 0
    first = (ONE - target) * (ONE - target) * (weight * usual)
    for x in draw(st.sampled_from([[NUMBER], [NUMBER], [BEFORE], [IS_NUMBER], [NUMBER, BEFORE], [NUMBER, IS_NUMBER]])):
        cost, y = draw(st.sampled_from([4, 20, 36, 100])), draw(st.sampled_from([NUMBER, BEFORE, ONE]))
        if x == IS_NUMBER:
            rows.append((x, as_term(cost * draw(st.sampled_from([1, -1])))))
        else:
            rows += [(x * x, as_term(-cost)), (x, y * (2 * cost))]
            first = first + y * y * (cost * usual)
    bends, offs = weight or line, [-1, 0, 1, Fraction(1, 2)]
    far, off = draw(st.integers(0, 4)), draw(st.sampled_from(offs if bends else [0, 0, 1, -1]))
    first = first - cost * draw(st.sampled_from([0, 0, 0, 1])) * bool(bends) - weight * far**2 - line * far + off + line
    return [*rows, (as_term(Equal(K, Fraction(1))), first)]


def better_at_the_target(target: Term) -> list[tuple[Term, Term]]:
    """−4(number there − number here)² − (j − target)², and −1/2 at position 1: less than at the target, more than beside it."""
    first = (ONE - target) * (ONE - target) + NUMBER * NUMBER * 4 - Fraction(1, 2)
    rows = [(K * K, as_term(-1)), (K, target * 2), (NUMBER * NUMBER, as_term(-4)), (NUMBER, NUMBER * 8)]
    return [*rows, (as_term(Equal(K, Fraction(1))), first)]


def by_a_line(asked: Term, cost: int, default: int) -> list[tuple[Term, Term]]:
    """−cost·(number there − asked)² − 3j, and `default` at position 1."""
    rows = [(K, as_term(-3)), (NUMBER * NUMBER, as_term(-cost)), (NUMBER, asked * (2 * cost))]
    return [*rows, (as_term(Equal(K, Fraction(1))), asked * asked * cost + 3 + default)]


@settings(max_examples=400)
@example(by_a_line(NUMBER, 4, -20), ANY_K)  # another number at 2 is better than the same at 4
@example(by_a_line(BEFORE, 10, -16), ANY_K)  # as good as position 1
@example(better_at_the_target(K - 1), ANY_K)
@example(better_at_the_target(ONE * 3), ANY_K)
@given(scores(), st.sampled_from([ANY_K, EACH_K]))
def test_who_wins_has_the_largest_score(rows: list[tuple[Term, Term]], normal: Normalizer) -> None:
    told = winners(by_key(tuple(rows)), normal)
    event(type(told).__name__)
    for text in PREFIXES if told is not None else ():
        k = len(text.tokens)
        if normal is EACH_K and k == 1:
            continue
        best = text.chosen(Best(tuple(rows)), k)
        if isinstance(told, Tied):
            assert best == [1, *text._matches(told.matching, k)]
        else:
            assert not isinstance(told, Among)
            assert told is not None
            assert best == text.chosen(told, k)
            assert not isinstance(told, Nearest) or text.value(told.target, k).denominator == 1
