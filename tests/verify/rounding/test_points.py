"""Each operation on states, against all that the states stand for: no input is lost, and what is said holds of each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from precision.format import fixed_point
from tests.verify.rounding.points import LARGEST, STEPS, StatePoint, at, contents, points, rounded
from verify.algebra.domains import Domain, Integer, Reciprocal, Refused, Rounded, Space, Undecided
from verify.algebra.polynomial import Form, Polynomial, atom, constant, form_polynomial
from verify.automata.token_automaton import Label
from verify.rounding.abstract_state import AbstractState
from verify.rounding.join import hull, instance, join, linked

REGISTERS = range(5)
WHOLE = ("a", "b", "k", "l", "m", "n")
SHARES = ("r", "s")
few = st.integers(-3, 3)
shift = st.integers(0, 2)
margin = st.integers(0, 2)
slopes = st.sampled_from([1, -1, -1, 2, -3])
pairs = st.sampled_from([*itertools.combinations(WHOLE, 2)])


def space() -> Space:
    return Space(fixed_point(17))


def polynomial(terms: dict[tuple[str, ...], Fraction]) -> Polynomial:
    return Polynomial({tuple(sorted(m)): c for m, c in terms.items() if c})


def affine(names: Sequence[str], coefficients: st.SearchStrategy[int]) -> st.SearchStrategy[Polynomial]:
    monomials = st.one_of(st.just(()), st.sampled_from(names).map(lambda name: (name,)))
    return st.dictionaries(monomials, coefficients.map(Fraction), min_size=1, max_size=4).map(polynomial)


forms = affine(WHOLE, few)
coefficients = st.sampled_from([Fraction(c) for c in (-3, -1, 1, 2)] + [Fraction(1, 2), Fraction(-5, 8)])
monomials = st.lists(st.sampled_from(WHOLE + SHARES), max_size=3).map(lambda names: tuple(sorted(names)))
anything = st.dictionaries(monomials, coefficients, min_size=1, max_size=4).map(polynomial)
shares = st.builds(
    lambda x, y, c, d, m: polynomial({(x,): c, (y,): -c, (): d} if m else {(x,): c, (): d}),
    st.sampled_from(SHARES),
    st.sampled_from(SHARES),
    coefficients,
    st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(-1, 3), Fraction(-1), Fraction(1)]),
    st.booleans(),
)
ratios = st.builds(
    lambda form, share, c, d: form * atom(share) * c + d,
    affine(("a", "b", "m", "l"), few),
    st.sampled_from(SHARES),
    coefficients,
    st.sampled_from([0, 1, -1, 2, Fraction(-1, 2)]),
)
judged = st.one_of(forms, anything, shares, ratios)


def integers(least: int, most: int) -> st.SearchStrategy[Integer]:
    """Up to so many numbers, one step apart or several."""
    return st.builds(
        lambda low, step, count: Integer(low, low + step * count, step),
        st.integers(least, least + 3),
        st.sampled_from([1, 1, 2, 3]),
        st.integers(0, most - 1),
    )


@st.composite
def states(draw: st.DrawFn, held: st.SearchStrategy[Polynomial] = forms) -> AbstractState:
    """Two shares, some numbers, and what is known of several of them together; at least one point."""
    box: dict[str, Domain] = {"n": draw(integers(4, 2)), "k": draw(integers(1, 2))}
    box |= {name: draw(integers(-2, 3)) for name in "ab"} | {"m": draw(integers(1, 3)), "l": draw(integers(1, 2))}
    box |= {"r": Reciprocal("m", draw(shift)), "s": Reciprocal(draw(st.sampled_from("lm")), draw(shift))}
    there = {
        name: draw(st.sampled_from(range(d.low, d.high + 1, d.step)))
        for name, d in box.items()
        if isinstance(d, Integer)
    }
    known: dict[Form, tuple[int, int]] = {}
    for (first, second), c, below, above in draw(st.lists(st.tuples(pairs, slopes, margin, margin), max_size=2)):
        value = there[first] + c * there[second]
        known[(first, 1), (second, c)] = value - below, value + above
    registers = {i: draw(held) for i in range(draw(st.integers(1, 3)))} | {3: atom("r"), 4: atom("s")}
    return AbstractState(space(), {i: p for i, p in registers.items() if p.terms}, box, known, "test", frozenset([0]))


many = settings(max_examples=60)


@settings(max_examples=100)
@given(states(), judged)
def test_what_is_said_of_a_polynomial_holds_at_each_point(state: AbstractState, asked: Polynomial) -> None:
    every = [*points(state)]
    event(f"sign {state.sign(asked)}, {len(state.forms)} forms")
    _holds(state, asked, every)
    for form in state.forms:
        low, high = state.form_bounds(form)
        values = [sum(c * point.rounded[name] for name, c in form) for point in every]
        assert low <= min(values) <= max(values) <= high
    for form, two in state._bits(WHOLE):
        assert {sum(c * point.rounded[name] for name, c in form) for point in every} <= {*two}
        low, high = state._by_values(asked, form, two)
        assert all(low <= point.both(asked)[0] <= high for point in every)
    # What is known of several atoms: multiples of the forms, of position and n, squares, differences and ratios of shares.
    for form, c in itertools.product(state.forms, (-2, Fraction(1, 3))):
        _holds(state, form_polynomial(form) * c + 1, every)
    for c, d in ((1, -1), (-2, 1), (1, 2)):
        _holds(state, atom("k") * c + atom("n") * d, every)
        _holds(state, (atom("r") - atom("s")) * c - Fraction(d, 2), every)
        _holds(state, atom("a") * atom("a") * c + atom("b") * atom("b") * d, every)
        _holds(state, (atom("l") * c + atom("a") * d) * atom("r") - 1, every)


def _holds(state: AbstractState, asked: Polynomial, every: Sequence[StatePoint]) -> None:
    bounds, ideal, error = state.bounds(asked), state.bounds(asked, ideal=True), state.error(asked)
    sign, on_grid, fixed, reached = state.sign(asked), state.on_grid(asked), state.fixed(asked), state.reach(asked)
    assert float not in map(type, (*bounds, *ideal))
    for point in every:
        here, his = point.both(asked)
        assert bounds[0] <= here <= bounds[1]
        assert ideal[0] <= his <= ideal[1]
        assert reached[0] <= here <= reached[1]
        assert abs(here - his) <= error
        assert sign == 0 or min(sign * here, sign * his) >= 0
        assert not on_grid or (here * STEPS).denominator == 1
        assert point.both(fixed) == (here, his)


@pytest.mark.parametrize("step", [1, 3])
def test_an_atom_that_has_two_values_is_a_bit(step: int) -> None:
    """400·(high − b)·a + b, b one of two values: as numbers by themselves both products reach farther than the format."""
    box: dict[str, Domain] = {
        "n": Integer(4, 4),
        "k": Integer(1, 1),
        "a": Integer(0, 1),
        "b": Integer(2, 2 + step, step),
    }
    state = AbstractState(space(), {}, box)
    asked = (constant(2 + step) - atom("b")) * atom("a") * Fraction(400, step) + atom("b")
    actual = [at(asked, point.rounded) for point in points(state)]
    assert not state.space.covers(*state.bounds(asked))
    assert state.reach(asked) == (min(actual), max(actual))


@pytest.mark.parametrize("values", [(0, 1), (-1, 0), (3, 4)])
@pytest.mark.parametrize("others", [(0, 5), (1, 3)])
def test_a_bit_times_a_number_reaches_no_farther_than_the_number(
    values: tuple[int, int], others: tuple[int, int]
) -> None:
    """300·(1 − b)·a + a with b = k − a − least, which is 0 or 1: term by term it reaches twice as far."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(0, 9), "a": Integer(*others)}
    state = AbstractState(space(), {}, box).restricted(atom("k") - atom("a"), *map(Fraction, values))
    assert state is not None
    bit = atom("k") - atom("a") - values[0]
    asked = (constant(1) - bit) * atom("a") * 300 + atom("a")
    actual = [at(asked, point.rounded) for point in points(state)]
    low, high = state.bounds(asked)
    assert not state.space.covers(low, high)
    assert state.reach(asked) == (min(actual), max(actual))


def test_bounds_of_powers() -> None:
    """Of every short interval: none is left out, and both ends are reached."""
    for low, high, x, y in itertools.product(range(-2, 3), range(-2, 3), range(4), range(3)):
        if low <= high and x + y:
            box = {"n": Integer(4, 4), "k": Integer(1, 1), "a": Integer(low, high), "b": Integer(-high, -low)}
            values = [a**x * b**y for a in range(low, high + 1) for b in range(-high, -low + 1)]
            actual = AbstractState(space(), {}, box).bounds(Polynomial({("a",) * x + ("b",) * y: Fraction(1)}))
            assert actual == (min(values), max(values))


@many
@given(states(), forms, st.tuples(st.one_of(st.none(), st.integers(-6, 6)), st.one_of(st.none(), st.integers(-6, 6))))
def test_a_restriction_loses_nothing_of_its_part(
    state: AbstractState, form: Polynomial, ends: tuple[int | None, int | None]
) -> None:
    low, high = ends
    due = set()
    for p in points(state):
        if (low is None or low <= at(form, p.rounded)) and (high is None or at(form, p.rounded) <= high):
            due.add(tuple((p.rounded[x], p.rounded[x]) for x in "kn") + p.registers(state, REGISTERS))
    try:
        part = state.restricted(form, *(None if end is None else Fraction(end) for end in ends))
    except Undecided:  # 1/m, where m is no other atom plus a number
        event("undecided")
        return
    event(f"left: {len(due) > 0}")
    actual = contents([] if part is None else [part], REGISTERS)
    assert due <= actual <= contents([replace(state, forms={})], REGISTERS)


@settings(max_examples=100)
@given(states(), st.one_of(forms, shares, ratios))
def test_parts_lose_no_input(state: AbstractState, asked: Polynomial) -> None:
    """Whether or not they are of use."""
    assume(not asked.is_constant)
    parts = tuple[AbstractState, ...]()
    with suppress(Undecided):
        parts = state.parts(asked)
        assert parts or not state.is_integer_affine(asked)
        parts = state.split(asked, "here")
    event(f"{len(parts)} parts")
    assert not parts or contents([state], REGISTERS) <= contents(parts, REGISTERS)


@many
@given(states(), st.lists(judged, min_size=1, max_size=3))
def test_an_operator_rounds(state: AbstractState, results: list[Polynomial]) -> None:
    """The second one is made of what the first one returns, and so on."""
    after, held, value = state, list[Polynomial](), constant(0)
    for result in results:
        result = result + value * Fraction(3, 2)
        try:
            after, value = after.round(result, "here")
        except Refused:
            reached: list[Any] = [point.both(result)[0] for point in points(after)]
            assert after.reach(result)[1] > LARGEST or after.reach(result)[0] < -LARGEST
            event(f"refused, {max(map(abs, reached)) > LARGEST}")
            return
        held.append(result)
        for point in points(after):
            here, ideal = point.both(value)
            before, exact = point.both(result)
            assert abs(before) <= LARGEST
            assert (here, ideal) == (rounded(before), exact)
            for name, domain in after.box.items():
                if isinstance(domain, Rounded):
                    assert domain.low <= point.rounded[name] <= domain.high
                    assert abs(point.rounded[name] - point.ideal[name]) <= domain.error
    event(f"{sum(isinstance(domain, Rounded) for domain in after.box.values())} rounded")
    # What was rounded goes with every part.
    indices = range(10, 10 + len(held))
    after = after.with_registers({10: value})
    for name in "abm":
        if name in state.box:
            parts = (after.restricted(atom(name), None, Fraction(2)), after.restricted(atom(name), Fraction(3), None))
            assert contents([after], indices) <= contents(filter(None, parts), indices)
            break


@pytest.mark.parametrize("name", ["r", "z"])
@pytest.mark.parametrize(
    "result", [atom("n") * atom("x"), atom("n") - atom("x"), atom("n") * Fraction(1, 3), atom("n")]
)
def test_one_number_as_it_is_rounded_is_not_one_ideally(name: str, result: Polynomial) -> None:
    """4·ROUND(1/3) is a number, where n is 4 and m is 3; that it is ideally 4/3 was once forgotten."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(2, 2), "m": Integer(3, 3), "r": Reciprocal("m", 0)}
    state = AbstractState(space(), {}, box)
    state, rest = state.round(atom("r") * Fraction(1, 3), "here")
    result = result.substitute({"x": atom("r") if name == "r" else rest})
    after, value = state.round(result, "here")
    for point in points(after):
        before, exact = point.both(result)
        assert point.both(value) == (rounded(before), exact)


@many
@given(states(), st.frozensets(st.integers(0, 4), min_size=1))
def test_other_names_and_fewer_registers(state: AbstractState, live: frozenset[int]) -> None:
    due = contents([state], live)
    new, names = state.renamed()
    assert names["n"] == "n"
    back = new.called({new: old for old, new in names.items()})
    assert contents([back], REGISTERS) == contents([state], REGISTERS)
    assert contents([state], REGISTERS) <= contents([state.simplified()], REGISTERS)
    assert due <= contents([state.cleaned(live)], live)
    assert due <= contents([state.needed({i: state.register(i) for i in live})], live)
    assert set(state.cleaned(live).registers) <= live


@st.composite
def alike(draw: st.DrawFn) -> list[AbstractState]:
    """States that share registers, with other bounds and forms."""
    first = draw(states(st.one_of(forms, shares, ratios)))
    small = draw(few)
    of_place = st.sampled_from([atom("k") + atom("n"), atom("k") * 2 - 1, atom("n"), constant(3)])
    found = [first]
    for _ in range(draw(st.integers(1, 3))):
        other = draw(states())
        domains = {
            name: other.box[name] if isinstance(domain, Integer) else domain for name, domain in first.box.items()
        }
        state = replace(first, box=domains, forms=draw(st.sampled_from([other.forms, first.forms])))
        if draw(st.booleans()):
            equal = state.restricted(atom("m") - atom("l"), *[draw(st.sampled_from([Fraction(0), Fraction(-1)]))] * 2)
            state = equal or state
        found.append(state)
    found = [state for state in found if next(points(state), None)]
    for i, state in enumerate(found):  # what is rounded, and what depends on the place alone
        held = state.registers.get(0, constant(0)) * Fraction(small, 5) + atom("n") * Fraction(1, 3)
        state, value = state.round(held, "here")
        found[i] = state.with_registers({5: value, 6: draw(of_place)})
    return [replace(state, parents=frozenset([i])) for i, state in enumerate(found)]


@many
@given(alike(), st.frozensets(st.integers(0, 6), min_size=1))
def test_joined_states_lose_no_input(some: list[AbstractState], live: frozenset[int]) -> None:
    actual = join(some, live)
    event(f"{len(some)} → {len(actual)}")
    indices = sorted(live)
    held = [contents([state], indices) for state in actual]
    bounds = [[state.bounds(state.register(i)) for i in indices] for state in actual]
    for state in some:  # each is a part of those that have it as a parent, and its numbers lie within the bounds of one
        own = [i for i, other in enumerate(actual) if state.parents <= other.parents]
        due = contents([state], indices)
        assert due <= set().union(*(held[i] for i in own))
        for _, _, *values in due:
            ends = ([*zip(values, bounds[i], strict=True)] for i in own)
            assert any(all(low <= x <= high for (x, _), (low, high) in pairs) for pairs in ends)
    for state in actual:
        for point, (name, told) in itertools.product(points(state), inexact(state)):
            if told.low <= point.rounded[name] <= told.high:  # elsewhere no part is, since bounds are kept of each part
                assert abs(point.rounded[name] - point.ideal[name]) <= told.error


def inexact(state: AbstractState) -> list[tuple[str, Rounded]]:
    """Its Rounded atoms."""
    return [(name, domain) for name, domain in state.box.items() if isinstance(domain, Rounded)]


PRODUCTS = [atom(x) * atom(y) * Fraction(1, 2) for x in "ab" for y in SHARES]  # which are rounded
HELD = [
    *(atom("a") + atom("b") * c for c in (1, -1, 2)),
    *(atom("a") * c + atom("b") for c in (-1, 2)),
    *(atom("r") + atom("s") * c for c in (1, -1, 2)),
    *(atom(name) for name in "abrsml"),
    atom("k") - atom("a"),
    *PRODUCTS,
]


def holding(
    box: dict[str, Domain], known: dict[Form, tuple[int, int]], held: Sequence[Polynomial], twice: bool
) -> AbstractState:
    """A state in whose registers these are, rounded, and 3/2 of the last one. twice: of what that is when it is rounded."""
    state, value = AbstractState(space(), {}, box, known, "test", frozenset([0])), constant(0)
    for i, result in enumerate([*held, held[-1]]):
        again = (value if twice else result) * Fraction(3, 2)
        state, value = state.round(again if i == len(held) else result, "here")
        state = state.with_registers({i: value})
    return state.needed(state.registers)


@st.composite
def two(draw: st.DrawFn) -> tuple[AbstractState, AbstractState]:
    """A state; and that state with other bounds and some of its atoms equal, but often with a difference besides."""
    lows, counts = st.sampled_from([-1, 0, 1, 2, 60]), st.integers(1, 3)

    def numbers() -> dict[str, Domain]:
        result: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(9, 9)}
        for name in "abml":
            low = draw(lows if name in "ab" else counts)
            result[name] = Integer(low, low + draw(st.integers(0, 1)))
        return result

    def others() -> dict[str, Reciprocal]:
        return {"r": Reciprocal("m", draw(shift)), "s": Reciprocal(draw(st.sampled_from("lm")), draw(shift))}

    held = [*draw(st.lists(st.sampled_from(HELD), min_size=1, max_size=4)), draw(st.sampled_from(PRODUCTS))]
    # Atoms that stand alone first: what is made of them is compared then.
    alone = {*draw(st.sampled_from(["", "ml"])), *(name for p in held for name in p.atoms)} - {"k"}
    held = [*map(atom, sorted(alone)), *held]
    box, shares, twice = numbers(), others(), draw(st.booleans())
    known: dict[Form, tuple[int, int]] = {}
    if draw(st.booleans()):
        known[("a", 1), ("b", -1)] = draw(st.sampled_from([(0, 0), (-1, 1), (-60, 0)]))
    whole = holding({**box, **shares}, known, held, twice)
    equal = draw(st.sampled_from([{}, {}, {"b": "a"}, {"s": "r"}, {"l": "m"}, {"a": "b", "b": "a"}]))
    changed = [p.renamed({**{x: x for x in p.atoms}, **equal}) for p in held]
    change = draw(st.sampled_from(["none", "none", "shift", "of", "register", "sign", "rounding", "more"]))
    if change in ("shift", "of"):
        old, new = shares["s"], others()["s"]
        shares["s"] = replace(old, shift=new.shift) if change == "shift" else replace(old, of=new.of)
    elif change in ("register", "sign"):
        i = draw(st.integers(0, len(held) - 1))
        changed[i] = changed[i] * -1 if change == "sign" else draw(st.sampled_from(HELD))
    mine = {x: Reciprocal(equal.get(share.of, share.of), share.shift) for x, share in shares.items()}
    part = holding({**numbers(), **mine}, {}, changed, twice != (change == "rounding"))
    return whole, part.with_registers({20: part.register(0)}) if change == "more" else part


@settings(max_examples=150)
@given(two())
def test_a_state_that_is_another_one_with_equal_atoms(given: tuple[AbstractState, AbstractState]) -> None:
    """Seen as that one it has no less contents. In one state with it, what is said of what is rounded holds of both."""
    whole, part = given
    view = instance(whole, part)
    event(f"an instance: {view is not None}")
    if view is None:
        return
    assert contents([part], part.registers) <= contents([view], part.registers)
    both = hull(whole, view)
    for i, p in both.registers.items():
        for told in (domain for name, domain in both.box.items() if p == atom(name) and isinstance(domain, Rounded)):
            for here, ideal in (point.both(state.register(i)) for state in given for point in points(state)):
                assert told.low <= here <= told.high
                assert abs(here - ideal) <= told.error


@pytest.mark.parametrize("slopes", [(8, 9), (3, 5)])
def test_a_hull_keeps_what_a_form_of_one_state_says_of_the_other(slopes: tuple[int, int]) -> None:
    """s ≤ 8·k in one state and s ≤ 9·k in the other: in both s ≤ 9·k, and no more."""
    box: dict[str, Domain] = {"n": Integer(4, 4), "k": Integer(2, 5), "s": Integer(0, 40)}
    some = [
        AbstractState(space(), {0: atom("s")}, box, label=Label("test")).not_below_0(atom("k") * c - atom("s"))
        for c in slopes
    ]
    both = hull(*some)
    assert both.bounds(atom("k") * slopes[1] - atom("s"))[0] == 0
    assert contents(some, [0]) <= contents([both], [0])
    assert both.bounds(atom("k") * slopes[0] - atom("s"))[0] < 0


@many
@given(alike(), st.data())
def test_states_that_follow(some: list[AbstractState], data: st.DataObject) -> None:
    """Where a position of one state is next to one of another, at one n, that is known after a sublayer too."""
    before = [data.draw(st.frozensets(st.integers(0, len(some) - 1))) for _ in some]
    some = [replace(state, before=now) for state, now in zip(some, before, strict=True)]
    behind = linked(join(some, frozenset(REGISTERS)))
    places = [{(p.rounded["n"], p.rounded["k"]) for p in points(state)} for state in some]
    for i, j in itertools.product(range(len(some)), repeat=2):
        if j in before[i] and any((n, k - 1) in places[j] for n, k in places[i]):
            event("one follows")
            follow = [(state.parents, behind[x].parents) for state in behind for x in state.before]
            assert any(i in here and j in its for here, its in follow)
