"""Who can win a head, and by how much: held against every key that there may be, listed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from precision.format import fixed_point
from tests.verify.rounding.points import STEPS, Number, StatePoint, at, points
from tests.verify.rounding.test_points import affine, anything, few, integers, states
from verify.algebra.domains import Domain, Integer, Reciprocal, Refused, Space, Undecided
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.automata.token_automaton import Label
from verify.rounding.abstract_state import AbstractState
from verify.rounding.candidates import QUERY, SCORE, Candidate, Keys, steps_back
from verify.rounding.nearest import Key, NearestCount, nearest_count_of
from verify.rounding.scores import Score, complete_squares, lattice
from verify.rounding.winners import Winners, scored, winning_part

SPACE = Space(fixed_point(17))
many = settings(max_examples=100)


away = affine(("a", "b", "k"), st.sampled_from([-1, 1])).map(lambda form: form - Fraction(form.constant, 2))
squared = st.builds(
    lambda form, c, d: form * form * -c + d, away, st.sampled_from([1, 3, Fraction(1, 2)]), affine("ab", few)
)


@many
@given(
    states(), st.lists(st.one_of(anything, squared), min_size=1, max_size=3), st.permutations("abklmn"), st.booleans()
)
def test_squares_bound_a_score(state: AbstractState, some: list[Polynomial], order: list[str], fractions: bool) -> None:
    for p in some:
        score = complete_squares(state, p, order, fractions=fractions)
        assert all(square.cost > 0 for square in score.squares)
        assert sum((square.form * square.form * square.cost for square in score.squares), p) == score.rest
    whole = [p for p in some if all(isinstance(state.box[name], Integer) for name in p.atoms)]
    assume(whole)
    score = complete_squares(state, whole[0], order, fractions=fractions)
    every, step = [*points(state)], lattice(whole)
    event(f"{len(score.squares)} squares")
    for point in every:
        value = at(whole[0], point.rounded)
        assert score.lower(state) <= value <= score.upper(state)
        assert value == at(score.rest, point.rounded) - sum(
            s.cost * at(s.form, point.rounded) ** 2 for s in score.squares
        )
        assert all(at(p, point.rounded) % step == 0 if step else not at(p, point.rounded) for p in whole)
    for square in score.squares:
        values = {at(square.form, point.rounded) for point in every}
        assert square.can_vanish == all(value.denominator == 1 for value in values)
        for a, b in itertools.combinations(values, 2):
            if a * a != b * b or square.asymmetry:
                assert abs(a * a - b * b) >= abs(a - b) * square.asymmetry > 0 or not square.asymmetry


@pytest.mark.parametrize("off", [Fraction(i, 12) for i in (-3, 0, 3, 4, 6, 9)])
@pytest.mark.parametrize("low", [-2, 1])
def test_bounds_of_a_square_are_reached(low: int, off: Fraction) -> None:
    """A default that is as large as the largest score on a line ties with it or leads by what the line leads by, no less."""
    state = AbstractState(SPACE, {}, {"n": Integer(4, 4), "k": Integer(9, 9), "a": Integer(low, low + 3)})
    score = complete_squares(state, (atom("a") - off) * (atom("a") - off) * -3 + 5, ["a"], fractions=True)
    values = [5 - 3 * (a - off) ** 2 for a in range(low, low + 4)]
    assert (score.lower(state), score.upper(state)) == (min(values), max(values))


# By key


@dataclass(frozen=True)
class One:
    """A key that there may be: of which candidate, for which query, its score and its position."""

    of: int
    query: tuple[Number, ...]
    score: Number
    place: Number


def listed(candidates: list[Candidate]) -> list[tuple[One, StatePoint]]:
    result = []
    for i, candidate in enumerate(candidates):
        for point in points(candidate.joint):
            query = point.rounded["n"], point.rounded["k"], at(candidate.joint.register(0), point.rounded)
            one = One(i, query, at(candidate.exact, point.rounded), at(candidate.place, point.rounded))
            result.append((one, point))
    return result


costs = st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 2), Fraction(5)])
targets = st.sampled_from(
    [
        atom("t"),
        atom("k") - 1,
        atom("k") - Fraction(1, 2),
        atom("k") - atom("t"),
        *map(constant, (0, 2, 3, Fraction(5, 2), Fraction(9, 4))),
    ]
)
rests = st.sampled_from([Fraction(0), Fraction(0), Fraction(-1), Fraction(-2), Fraction(1), Fraction(-9, 2)])


SHAPES = ["line", "line", "number", "both", "any", "bit", "rest"]


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    """Of one query: keys with squares of their position, or of a number, or both; and defaults."""
    query: dict[str, Domain] = {"n": Integer(4, 4), "k": draw(integers(6, 2)), "t": draw(integers(0, 3))}
    cost, target, result = draw(costs), draw(targets), list[Candidate]()
    bends, slope_of_all = (
        draw(st.booleans()),
        draw(st.sampled_from([-1, 1])) * cost,
    )  # the position's share of every score
    same = draw(st.sampled_from([0, 0, 20]))  # what the scores of all keys have in common
    for i in range(draw(st.integers(1, 3))):
        place, number = f"p{i}", f"a{i}"
        own: dict[str, Integer] = {place: draw(integers(1, 3)), number: draw(integers(0, 3))}
        if draw(st.integers(0, 3)) == 0:
            own[place] = Integer(1, 1)
        away, shape = atom(place) - target, draw(st.sampled_from(SHAPES))
        off = atom(number) - draw(st.sampled_from([atom("t"), constant(1), constant(Fraction(1, 2))]))
        line, equal = away * away * -cost if bends else atom(place) * slope_of_all, off * off * -draw(costs)
        slope = atom(place) * draw(rests)
        score = {
            "line": line,
            "number": equal + slope,
            "both": line + equal,
            "any": slope + atom(number),
            "bit": line + (atom(number) - own[number].high) * 20,
            "rest": constant(0),
        }[shape] + (draw(rests) + same)
        where = constant(1) if own[place] == Integer(1, 1) and draw(st.booleans()) else atom(place)
        registers = {SCORE: score, SCORE - 1: where, 0: atom("t"), QUERY: atom("k"), QUERY - 1: atom("t")}
        joint: AbstractState | None = AbstractState(SPACE, registers, {**query, **own}, label=Label("test"))
        if draw(st.integers(0, 2)) == 0:  # only queries that keep a relation meet this key
            relation = draw(st.sampled_from([atom("k") - atom("t"), atom("k") - atom(place)]))
            joint = joint and joint.restricted(relation, Fraction(low := draw(st.integers(1, 5))), Fraction(low))
        if joint is not None:
            joint = joint.with_registers({SCORE - 1: joint.fixed(joint.register(SCORE - 1))})
            empty = Score((), constant(0))
            result.append(scored(Candidate(frozenset([i]), joint, frozenset(own), empty, asked=("k", "t"))))
    assume(result)
    return result


@settings(max_examples=300)
@given(candidates(), st.lists(st.booleans(), min_size=3, max_size=3), st.integers(0, 2), st.sampled_from([1, 1, 2, 3]))
def test_winners(some: list[Candidate], several: list[bool], sure: int, apart: int) -> None:
    """One candidate has a key whatever the input. several: whether a candidate may have several keys."""
    winning, lost = some[sure % len(some)].lower, list[Fraction]()
    found = [
        (c, m) for c, m in zip(some, several, strict=False) if (part := winning_part(c, winning, lost)) or not part
    ]
    parts = [(winning_part(c, winning, lost), m) for c, m in found]
    kept = [(part, m) for part, m in parts if part is not None]
    able = Winners([part for part, _ in kept], [m for _, m in kept], apart)
    on_line, _ = able.line()
    inside: dict[One, bool] = {}
    for i, (part, _) in enumerate(parts):
        left = {(one.query, one.score, one.place) for one, _ in listed([part])} if part is not None else set()
        for one, _ in listed([some[i]]):
            inside[replace(one, of=i)] = (one.query, one.score, one.place) in left
    for one, is_left in inside.items():
        assert is_left or (one.score < winning and one.score <= winning - min(lost))
    line = {
        i for (i, _), on in zip([(i, p) for i, (p, _) in enumerate(parts) if p is not None], on_line, strict=True) if on
    }
    unique, margin = able.unique(), able.margin(lost)
    event(f"unique {unique}, margin {margin > 0}, on a line {len(line)}")
    for x, y in itertools.permutations(inside, 2):
        if (
            x.query != y.query
            or x.place == y.place
            or (x.of == y.of and not several[x.of])
            or x.score < max(winning, y.score)
        ):
            continue
        if inside[x] and inside[y] and {x.of, y.of} <= line and abs(x.place - y.place) < apart:
            continue
        if not (inside[x] and x.score >= winning):
            continue
        assert x.score != y.score or not unique
        assert x.score == y.score or x.score - y.score >= margin
    for (part, _), rank in zip(kept, able.ranks(), strict=True):
        scores = [[at(other.exact, p.rounded) for p in points(other.joint)] for other, _ in kept]
        least = min(at(part.exact, p.rounded) for p in points(part.joint))
        assert rank <= sum(max(theirs) < least for theirs in scores)


@pytest.mark.parametrize("is_self", [True, False])
@pytest.mark.parametrize("cost", [3, 40])
def test_a_key_whose_bit_loses_is_left_out(cost: int, is_self: bool) -> None:
    """−c·(1 − b) − (p − 6)² where −20 surely wins: with c = 40 keys with b = 0 lose by 20 or more, with c = 3 they may win."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "p": Integer(2, 5), "b": Integer(0, 1)}
    off = atom("p") - 6
    score = off * off * -1 - (constant(1) - atom("b")) * cost
    joint = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("p")}, box, label=Label("test"))
    lost: list[Fraction] = []
    ids, own = (frozenset[int](), frozenset[str]()) if is_self else (frozenset([0]), frozenset("pb"))
    part = winning_part(scored(Candidate(ids, joint, own, Score((), constant(0)))), Fraction(-20), lost)
    assert part is not None
    left = {at(part.exact, point.rounded) for point in points(part.joint)}
    assert left == {at(score, {"p": p, "b": b}) for p in range(2, 6) for b in ((0, 1) if cost == 3 else (1,))}
    assert lost == ([] if cost == 3 else [-20 - at(score, {"p": 5, "b": 0})])


@pytest.mark.parametrize("winning", [Fraction(w, 4) for w in range(-12, 1)])
def test_a_form_is_its_value_nearest_to_0_where_others_lose(winning: Fraction) -> None:
    """−4·(a − t + 1/4)² is −1/4 at a = t, and −9/4 at a = t − 1."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(1, 9), "t": Integer(1, 3), "a": Integer(1, 3)}
    off = atom("a") - atom("t") + Fraction(1, 4)
    joint = AbstractState(SPACE, {SCORE: off * off * -4, SCORE - 1: atom("k"), 0: atom("t")}, box, label=Label("test"))
    lost: list[Fraction] = []
    part = winning_part(scored(Candidate(frozenset([0]), joint, frozenset("a"), Score((), constant(0)))), winning, lost)
    scores = sorted({at(joint.register(SCORE), p.rounded) for p in points(joint)})
    left = sorted({at(part.joint.register(SCORE), p.rounded) for p in points(part.joint)}) if part else []
    assert left == (scores if winning <= Fraction(-9, 4) else [Fraction(-1, 4)] if winning <= Fraction(-1, 4) else [])
    assert all(winning - score >= min(lost) for score in scores if score not in left)


@pytest.mark.parametrize(("shift", "is_told"), [(0, True), (1, True), (0, False)])
def test_a_query_that_is_equal_to_what_it_asks_for_is_on_the_line_of_its_keys(shift: int, is_told: bool) -> None:
    """−4·(p − t + 1/4)², at the query's own position k with t = k + shift: there t is no atom any more, but known to be that."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(2, 5), "t": Integer(1, 6)}
    query, empty = {QUERY: atom("k"), QUERY - 1: atom("t")}, Score((), constant(0))
    asked = ("k", "t") if is_told else ()

    def candidate(place: Polynomial, own: dict[str, Domain]) -> Candidate:
        off = place - atom("t") + Fraction(1, 4)
        registers = {**query, SCORE: off * off * -4, SCORE - 1: place}
        return Candidate(
            frozenset(own), AbstractState(SPACE, registers, {**box, **own}, label=Label("test")), frozenset(own), empty
        )

    mine, key = candidate(atom("k"), {}), candidate(atom("p"), {"p": Integer(1, 4)})
    equal = mine.joint.restricted(atom("t") - atom("k") - shift, Fraction(0), Fraction(0))
    before = key.joint.restricted(atom("p") - atom("k"), None, Fraction(-1))
    assert equal is not None
    assert before is not None
    assert "t" not in equal.box
    some = [scored(replace(mine, joint=equal, asked=asked)), scored(replace(key, joint=before, asked=asked))]
    on, least = Winners(some, [False, True]).line()
    assert on == [is_told, True]
    assert least > 0
    assert Winners(some, [False, True]).unique() == is_told


@pytest.mark.parametrize("nearest", [Fraction(i, 4) for i in range(16)])
@pytest.mark.parametrize("its_positions", [(3, 3), (2, 5), (5, 5)])
def test_two_keys_of_one_query_are_apart(nearest: Fraction, its_positions: tuple[int, int]) -> None:
    """The query's own position has −2 where t = k, of k = 2 or 3; the key at 1 has −32·(t − c)², of k = 3 alone or of others."""
    own, off = atom("k") - atom("t"), atom("t") - nearest
    query, empty = {QUERY: atom("k"), QUERY - 1: atom("t")}, Score((), constant(0))
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(2, 3), "t": Integer(0, 3)}
    mine = AbstractState(SPACE, {**query, SCORE: own * own * -4 - 2, SCORE - 1: atom("k")}, box, label=Label("test"))
    equal = mine.restricted(own, Fraction(0), Fraction(0))
    assert equal is not None
    assert "t" not in equal.box
    registers = {**query, SCORE: off * off * -32, SCORE - 1: constant(1)}
    other = AbstractState(SPACE, registers, {**box, "k": Integer(*its_positions)}, label=Label("test"))
    some = [
        scored(Candidate(frozenset(), equal, frozenset(), empty, asked=("k", "t"))),
        scored(Candidate(frozenset([0]), other, frozenset(), empty, asked=("k", "t"))),
    ]
    scores = [-2 + 32 * (k - nearest) ** 2 for k in (2, 3) if its_positions[0] <= k <= its_positions[1]]
    for parts in (some, some[::-1]):
        able = Winners(parts, [False, False])
        assert all(able.margin([]) <= abs(score) for score in scores)
        assert not able.unique() or 0 not in scores
        if len(scores) < 2:  # else bounds hold for both values of k at once
            assert able.unique() == (0 not in scores)
            assert able.margin([]) > 0 or {*scores} <= {0}


@pytest.mark.parametrize("off", [Fraction(i, 8) for i in range(-12, 13)])
def test_two_keys_whose_scores_cross_between_whole_numbers(off: Fraction) -> None:
    """−32·(3 − t + c)² and −32·(2 − t + c)², of t from 0 to 3: they are equal at t = c + 5/2 alone."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(3, 3), "t": Integer(0, 3)}
    query, empty = {QUERY: atom("k"), QUERY - 1: atom("t")}, Score((), constant(0))
    some, scores = list[Candidate](), list[list[Number]]()
    for place in (3, 2):
        away = atom("t") - place - off
        registers = {**query, SCORE: away * away * -32, SCORE - 1: constant(place)}
        joint = AbstractState(SPACE, registers, box, label=Label("test"))
        some.append(scored(Candidate(frozenset([place - 2]), joint, frozenset(), empty, asked=("k", "t"))))
        scores.append([at(registers[SCORE], {"t": t}) for t in range(4)])
    differences = [abs(x - y) for x, y in zip(*scores, strict=True)]
    least = min(abs(64 * (t - off) - 160) for t in range(-9, 13))  # of every whole t
    able = Winners(some, [False, False])
    assert able.unique() or not least
    assert not able.unique() or 0 not in differences
    assert least <= able.margin([]) <= min(differences)


@pytest.mark.parametrize("slope", [Fraction(1), Fraction(-1), Fraction(1, 2)])
def test_the_square_of_a_query_and_its_position_is_whole(slope: Fraction) -> None:
    """−8·(x − k)² + c·k: with the position first, x − k + c/16 would be what is squared."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(2, 5), "x": Integer(1, 5)}
    off = atom("x") - atom("k")
    score = off * off * -8 + atom("k") * slope
    mine = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("k")}, box, label=Label("test"))
    actual = scored(Candidate(frozenset(), mine, frozenset(), Score((), constant(0))))
    ((cost, form),) = ((square.cost, square.form) for square in actual.score.squares)
    assert form * form * -cost + actual.score.rest == score
    assert actual.score.squares[0].can_vanish


@pytest.mark.parametrize("shift", [Fraction(0), Fraction(1, 4), Fraction(-1, 2)])
@pytest.mark.parametrize("cost", [2, 3, 32])
def test_two_squares_of_one_position(cost: int, shift: Fraction) -> None:
    """−8192·(p − 1)² − c·(p − k + shift)²: together they are no square of an integer form of p."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(4, 8), "p": Integer(2, 5)}
    off, far = atom("p") - atom("k") + shift, atom("p") - 1
    score = far * far * -8192 - off * off * cost
    joint = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("p")}, box, label=Label("test"))
    actual = scored(Candidate(frozenset([0]), joint, frozenset("p"), Score((), constant(0))))
    values = [at(score, {"p": p, "k": k}) for p in range(2, 6) for k in range(4, 9)]
    assert actual.lower <= min(values)
    assert max(values) <= actual.upper <= -8192


def test_a_default_between_two_numbers_of_the_line() -> None:
    """k − n + 1 is −1 at most, of 2k − n ≤ 1. Bounds of that form alone are −1/2, where −(k − n + 1)² is no value but −1/4.

    The default is −1/4: it leads by 3/4, not by what the line does from there on, which is 2.
    """
    box: dict[str, Domain] = {"n": Integer(4, 5), "k": Integer(1, 9)}
    off, known = atom("k") - atom("n") + 1, {(("k", 2), ("n", -1)): (-9, 1)}
    mine = AbstractState(SPACE, {SCORE: off * off * -1, SCORE - 1: atom("k")}, box, known, "test")
    default = mine.with_registers({SCORE: constant(Fraction(-1, 4)), SCORE - 1: constant(1)})
    empty = Score((), constant(0))
    some = [
        scored(Candidate(frozenset(), mine, frozenset(), empty)),
        scored(Candidate(frozenset([0]), default, frozenset(), empty)),
    ]
    margins = [Fraction(-1, 4) - at(some[0].exact, point.rounded) for point in points(mine)]
    assert min(margins) == Fraction(3, 4)
    assert Winners(some, [False, False]).margin([]) <= min(margins)


@pytest.mark.parametrize("apart", [1, 2])
def test_a_line_and_a_default_lead_by_no_more_than_they_do(apart: int) -> None:
    """−2(k' − f)² at 2 … 5, of which two keys are that far apart; the default is near one of its values, or is one."""
    empty, told = Score((), constant(0)), 0
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "p": Integer(2, 5)}
    for f, near, more in itertools.product(range(4, 25), range(2, 7), (-2, Fraction(-1, 8), 0, Fraction(1, 8), 2)):
        off = atom("p") - Fraction(f, 4)
        score = off * off * -2 + 40 * (near % 2)  # which all keys share
        line = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("p")}, box, label=Label("test"))
        default = at(line.register(SCORE), {"p": near}) + more
        one = line.with_registers({SCORE: constant(Fraction(default)), SCORE - 1: constant(1)})
        some = [scored(Candidate(frozenset([0]), line, frozenset("p"), empty))]
        some.append(scored(Candidate(frozenset([1]), one, frozenset(), empty)))
        values = {place: at(line.register(SCORE), {"p": place}) for place in range(2, 6)}
        pairs = [(values[i], values[j]) for i, j in itertools.permutations(values, 2) if abs(i - j) >= apart]
        for parts, many in ((some, [True, False]), (some[::-1], [False, True])):
            able = Winners(parts, many, apart)
            first = apart + 1 if all(able.line()[0]) else 2  # a default that is on the line is apart too
            every = [*pairs, *((value, default) for place, value in values.items() if place >= first)]
            told += able.margin([]) > 0
            assert able.margin([]) <= min(abs(x - y) for x, y in every if x != y)
            assert not able.unique() or all(abs(x - y) > 0 for x, y in every)
    assert told > 100


@pytest.mark.parametrize("slope", [-2, 2])
@pytest.mark.parametrize("at_start", [0, 1, -1])
def test_a_straight_line_has_no_value_twice(slope: int, at_start: int) -> None:
    """c·k' at 2 … 5, and a default at position 1 that is on the line or beside it."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "p": Integer(2, 5)}
    empty, score = Score((), constant(0)), atom("p") * slope
    line = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("p")}, box, label=Label("test"))
    default = line.with_registers({SCORE: constant(slope + at_start), SCORE - 1: constant(1)})
    some = [scored(Candidate(frozenset([0]), line, frozenset("p"), empty))]
    some.append(scored(Candidate(frozenset([1]), default, frozenset(), empty)))
    able, scores = Winners(some, [True, False]), [slope + at_start, *(slope * p for p in range(2, 6))]
    assert able.line() == ([True, not at_start], 2)
    assert able.unique()
    assert len({*scores}) == len(scores)
    assert 0 < able.margin([]) <= min(abs(a - b) for a, b in itertools.combinations(scores, 2))


@pytest.mark.parametrize(
    "score", [atom("p") * atom("b"), atom("p") * 2 + atom("b"), atom("k") * 2, atom("p") * atom("k")]
)
def test_what_is_no_straight_line_of_the_position(score: Polynomial) -> None:
    """Another number of the key, none of it, or a slope that may be 0."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(0, 9), "p": Integer(2, 5), "b": Integer(0, 1)}
    state = AbstractState(SPACE, {SCORE: score, SCORE - 1: atom("p")}, box, label=Label("test"))
    one = scored(Candidate(frozenset([0]), state, frozenset("pb"), Score((), constant(0))))
    able = Winners([one], [True])
    assert able.line() == ([False], 0)
    assert not able.unique()


def test_a_number_at_the_end_of_what_is_on_no_line() -> None:
    """−8(k' − 10)² is the line, and the default at 1 is on it: −648, as is the last of the third state, 3 above the one before."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "p": Integer(2, 5), "o": Integer(2, 8)}
    near, far = atom("o") - 9, atom("p") - 10
    scores = [
        (near * near * -1 - 647, atom("o"), "o"),
        (constant(Fraction(-648)), constant(1), ""),
        (far * far * -8, atom("p"), "p"),
    ]
    some = [
        scored(
            Candidate(
                frozenset([i]),
                AbstractState(SPACE, {SCORE: score, SCORE - 1: place}, box, label=Label("test")),
                frozenset(own),
                Score((), constant(0)),
            )
        )
        for i, (score, place, own) in enumerate(scores)
    ]
    for parts in (some, [some[1], some[0], some[2]]):
        able = Winners(parts, [False] * 3)
        assert able.line()[0] == [part is not some[0] for part in parts]
        assert able.margin([]) <= 3
        assert not able.unique()


# By count


@st.composite
def nearest_counts(draw: st.DrawFn) -> tuple[NearestCount | None, list[Key], Integer, Integer, Fraction, Polynomial]:
    """A query with a share r = 1/m and a number q, keys of number g and count 1/w, and perhaps a default."""
    m, q = draw(integers(1, 3)), draw(integers(1, 2))
    shift = draw(st.integers(0, 3))
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "m": m, "q": q, "r": Reciprocal("m", shift)}
    r, scale = atom("r"), Fraction(draw(st.sampled_from([64, 1000, 1000])))
    target = draw(
        st.sampled_from(
            [r, r - r * r, r - r * r * Fraction(1, 2), *map(constant, (Fraction(2, 5), Fraction(1, 4), 0, 2))]
        )
    )
    query = AbstractState(SPACE, {}, box, label=Label("query"))
    last, cost = draw(st.integers(2, 6)), Fraction(draw(st.sampled_from([0, 1, 8000, 8000])))
    own: dict[str, Domain] = {"w": Integer(2, last), "y": Reciprocal("w", 0)}
    own |= {"g": draw(integers(1, 3))} if cost else {}
    held = {0: atom("m"), 1: atom("q")}
    joint = AbstractState(SPACE, {**held, 2: atom("w")}, {**box, **own}, label=Label("query"))
    away, y = atom("g") - atom("q"), atom("y")
    score = away * away * -cost + (target * y * 2 - y * y) * scale
    group = atom("g") if cost else atom("q")
    found = [Key(joint, score, draw(st.booleans()), frozenset(own), False, group, y, True, "equal")]
    default, several = draw(st.sampled_from([None, -600, -600, -30, 1])), draw(st.integers(0, 3)) == 0
    zero = constant(0)
    one = AbstractState(SPACE, held, {**box, "i": Integer(1, 1)}, label=Label("query"))
    if default is not None:
        found.append(Key(one, constant(default), True, frozenset("i"), True, zero, zero, several, "the default"))
    else:
        found[0] = replace(found[0], sure=True)
    return nearest_count_of(query, found, 1), found, m, Integer(2, last), scale, target


def read(key: Key, point: StatePoint) -> tuple[Number, Number]:
    """A score in both readings; whether it saturates is asked elsewhere."""
    mine, ideal = point.both(key.exact)
    return mine if key.on_grid else Fraction(round(mine * STEPS), STEPS), ideal


@settings(max_examples=400)
@given(nearest_counts(), st.integers(0, 6))
def test_a_nearest_count(
    given: tuple[NearestCount | None, list[Key], Integer, Integer, Fraction, Polynomial], needed: int
) -> None:
    """Of a run in which the keys of each number have the counts 1/2, …, each once, in both readings."""
    nearest, keys, _, counts, _, _ = given
    assume(nearest is not None)
    assert nearest is not None
    try:
        actual = nearest.run(needed, "here")
    except (Refused, Undecided) as error:
        event(type(error).__name__)
        return
    winners = {
        tuple(at(state.register(i), p.rounded) for i in range(3)) for state in actual.winners for p in points(state)
    }
    every = {key.text: [*points(key.joint)] for key in keys}
    lows = dict(zip([key.text for key in keys], nearest.lowest(), strict=True))
    for key in keys:
        for point in every[key.text]:
            assert lows[key.text] <= min(read(key, point))
    queries = sorted({(p.rounded["m"], p.rounded["q"]) for p in every["equal"]})
    for (m, q), most in itertools.product(queries, range(1, counts.high)):
        here = [p for p in every["equal"] if (p.rounded["m"], p.rounded["q"]) == (m, q) and p.rounded["w"] <= most + 1]
        run = [(keys[0], p) for p in here]
        defaults = [p for p in every.get("the default", ()) if (p.rounded["m"], p.rounded["q"]) == (m, q)]
        run += [(key, p) for key in keys[1:] for p in defaults * (1 + key.many)]
        if len(keys) == 1 and not any(at(keys[0].group, p.rounded) == q for p in here):
            continue  # such a key is sure to be there
        scores = []
        for key, p in run:
            mine, ideal = read(key, p)
            scores.append((ideal, mine, p))
        best = max(score for score, _, _ in scores)
        first = [(mine, p) for ideal, mine, p in scores if ideal == best]
        assert best >= actual.winning
        if actual.tied:
            continue
        assert len(first) == 1, "two tie"
        ((mine, p),) = first
        assert (m, q, p.rounded.get("w", 0)) in winners
        others = [(ideal, rest) for ideal, rest, other in scores if other is not p]
        for ideal, rest in others:
            assert actual.margin <= min(best - ideal, mine - rest)
    event("told")


# What stands before


graphs = st.lists(st.tuples(st.booleans(), st.frozensets(st.integers(0, 4))), min_size=2, max_size=5)


@given(graphs, st.frozensets(st.integers(0, 4), min_size=1), st.integers(0, 3))
def test_which_keys_there_are(graph: list[tuple[bool, frozenset[int]]], ids: frozenset[int], steps: int) -> None:
    """Against every way of up to eight positions through the states; a state that stands first may stand elsewhere too."""
    low = {i: 1 if first or not before else 2 for i, (first, before) in enumerate(graph)}
    some = [
        AbstractState(
            SPACE,
            {},
            {"n": Integer(4, 4), "k": Integer(low[i], 9)},
            before=frozenset(j for j in before if j < len(graph)),
        )
        for i, (_, before) in enumerate(graph)
    ]
    keys, ids = Keys(some), frozenset(i for i in ids if i < len(graph))
    ways = [[i] for i in range(len(some)) if low[i] == 1]
    every = [*ways]
    for _ in range(5):
        ways = [[*way, i] for way in ways for i, state in enumerate(some) if way[-1] in state.before]
        ways = [*{tuple(way): way for way in ways}.values()][:400]
        every += ways
    for way in every:
        start, before = way[-1], way[:-1]
        assert set(before) <= keys.earlier[start]
        assert not keys.sure(start, ids) or ids & set(before)
        assert start not in keys.single or start not in before
        if steps < len(way):
            assert way[-1 - steps] in steps_back(some, start, steps)


@pytest.mark.parametrize("several", [False, True])
def test_a_default_wins_alone(several: bool) -> None:
    """No key has the number 1: for it the default wins, of which there must be one only."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9), "m": Integer(1, 1), "q": Integer(1, 2)}
    query = AbstractState(SPACE, {}, {**box, "r": Reciprocal("m", 1)}, label=Label("query"))
    joint = replace(query, box={**query.box, "g": Integer(2, 3), "w": Integer(2, 5), "y": Reciprocal("w", 0)})
    away, y, zero = atom("g") - atom("q"), atom("y"), constant(0)
    score = away * away * -8000 + (atom("r") * y * 2 - y * y) * 1000
    equal = Key(joint, score, False, frozenset("gwy"), False, atom("g"), y, True, "equal")
    default = Key(query, constant(-600), True, frozenset(), True, zero, zero, several, "the default")
    nearest = nearest_count_of(query, [equal, default], 1)
    assert nearest is not None
    if several:
        with pytest.raises(Undecided, match="several keys of query may be the default"):
            nearest.run(1, "here")
    else:
        assert len(nearest.run(1, "here").winners) > 1
