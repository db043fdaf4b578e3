"""What the small checker knows of a position is true: of small states every position that they may stand for is listed.

The list shares no code with the checker. A world has a value of each atom in each machine: the p-bit one, and the exact one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from verify.trusted.abstract_state import BESIDE, Domain, Format, Integer, Rounded, Score, Share, State
from verify.trusted.polynomials import Polynomial

World = Mapping[str, tuple[Fraction, Fraction]]
PBIT, EXACT = 0, 1
NAMES = ("a", "b", "c", "k")


def rounded(value: Fraction, q: int) -> Fraction:
    """Returns the multiple of 2^−q that is nearest, of two the even one."""
    return Fraction(round(value * 2**q), 2**q)


def value(polynomial: Polynomial, world: World, machine: int) -> Fraction:
    total = Fraction(0)
    for monomial, c in polynomial.items():
        product = Fraction(c)
        for name in monomial:
            product *= world[name][machine]
        total += product
    return total


def worlds(state: State) -> Iterator[World]:
    """Yields each choice of atoms that the state allows."""
    q = state.format.q
    whole = {name: domain for name, domain in state.box.items() if isinstance(domain, Integer)}
    for values in itertools.product(*(range(d.low, d.high + 1, d.step) for d in whole.values())):
        world = {name: (Fraction(v), Fraction(v)) for name, v in zip(whole, values, strict=True)}
        if any(
            not low <= sum(c * world[name][PBIT] for name, c in form) <= high
            for form, (low, high) in state.forms.items()
        ):
            continue
        for name, domain in state.box.items():
            if isinstance(domain, Share):
                exact = 1 / (world[domain.of][EXACT] + domain.shift)
                world[name] = rounded(exact, q), exact
            elif isinstance(domain, Rounded):
                world[name] = rounded(value(domain.exact, world, PBIT), q), value(domain.ideal, world, EXACT)
        yield world


def seen(state: State, world: World) -> object:
    """Returns all registers in both machines."""
    return tuple(tuple(value(state.register(i), world, machine) for i in range(9)) for machine in (PBIT, EXACT))


class Case(NamedTuple):
    state: State
    worlds: list[World]


@st.composite
def polynomials(draw: Any, names: tuple[str, ...], degree: int = 2, whole: bool = False) -> Polynomial:
    size = st.integers(-5, 5) if whole else st.one_of(st.integers(-5, 5), st.fractions(-3, 3, max_denominator=4))
    terms: Polynomial = {}
    for _ in range(draw(st.integers(1, 4))):
        monomial = tuple(sorted(draw(st.lists(st.sampled_from(names), max_size=degree))))
        c = draw(size)
        if c:
            terms[monomial] = c.numerator if isinstance(c, Fraction) and c.denominator == 1 else c
    return terms


@st.composite
def cases(draw: Any, shares: int = 2) -> Case:
    """Draws a state of a few whole numbers, forms, shares, and registers that are these atoms, with all its worlds."""
    box: dict[str, Domain] = {"n": Integer(3, 3)}
    for name in NAMES:
        low, step = draw(st.integers(1 if name == "k" else -4, 4)), draw(st.sampled_from((1, 1, 1, 2, 3)))
        box[name] = Integer(low, low + step * draw(st.integers(0, 3)), step)
    forms = {}
    for _ in range(draw(st.integers(0, 3))):
        some = sorted(draw(st.sets(st.sampled_from(NAMES), min_size=2, max_size=3)))
        form = tuple((name, draw(st.sampled_from((1, -1, 2, -3)))) for name in some)
        if form[0][1] > 0 and gcd(*(c for _, c in form)) == 1:
            ends = sorted(draw(st.tuples(*[st.integers(-12, 12)] * 2)))
            forms[form] = ends[0], ends[1]
    for i in range(draw(st.integers(0, shares))):
        of = draw(st.sampled_from(NAMES))
        box[f"s{i}"] = Share(of, draw(st.integers(0, 3)) + max(0, 1 - box[of].low))
    registers: dict[int, Polynomial] = {i: {(name,): 1} for i, name in enumerate(box) if name != "n"}
    state = State(Format(draw(st.sampled_from((9, 13, 25)))), box, registers, forms)
    found = list(worlds(state))
    assume(found)
    return Case(state, found)


def of_all(draw: st.DataObject, state: State, **options: Any) -> Polynomial:
    return draw.draw(polynomials(tuple(state.box), **options))


@given(cases(), st.data())
def test_bounds_hold_in_each_world(case: Case, data: st.DataObject) -> None:
    state, some = case
    polynomial = of_all(data, state)
    for machine, ideal in ((PBIT, False), (EXACT, True)):
        low, high = state.bounds(polynomial, ideal=ideal)
        assert all(low <= value(polynomial, world, machine) <= high for world in some)
    low, high = state.reach(polynomial, state.bounds(polynomial))
    assert all(low <= value(polynomial, world, PBIT) <= high for world in some)
    off = state.error(polynomial)
    assert all(abs(value(polynomial, world, PBIT) - value(polynomial, world, EXACT)) <= off for world in some)
    sign = state.sign(polynomial)
    assert all(value(polynomial, world, machine) * sign >= 0 for world in some for machine in (PBIT, EXACT))
    if state.on_grid(polynomial):
        assert all(value(polynomial, world, PBIT) * 2**state.format.q % 1 == 0 for world in some)


@given(cases(), st.data())
def test_forms_have_bounds_by_two_others(case: Case, data: st.DataObject) -> None:
    polynomial = data.draw(polynomials(NAMES, degree=1))
    low, high = case.state.by_two_forms(polynomial)
    assert all(low <= value(polynomial, world, PBIT) <= high for world in case.worlds)


@given(cases(), st.data())
def test_two_that_are_the_same_are_equal(case: Case, data: st.DataObject) -> None:
    first, second = of_all(data, case.state, whole=True), of_all(data, case.state, whole=True)
    if case.state.same(first, second):
        for world in case.worlds:
            assert all(value(first, world, machine) == value(second, world, machine) for machine in (PBIT, EXACT))


def require_kept(case: Case, part: State | None, where: Callable[[World], bool]) -> None:
    """Checks that a part of the state still allows each world of a kind, as far as registers tell."""
    due = {seen(case.state, world) for world in case.worlds if where(world)}
    found = set() if part is None else {seen(part, world) for world in worlds(part)}
    assert due <= found


@given(cases(), st.data())
def test_part_has_each_world_between_its_ends(case: Case, data: st.DataObject) -> None:
    form = data.draw(polynomials(NAMES, degree=1))
    low, high = (data.draw(st.one_of(st.none(), st.integers(-9, 9))) for _ in range(2))

    def where(world: World) -> bool:
        here = value(form, world, PBIT)
        return (low is None or here >= low) and (high is None or here <= high)

    require_kept(case, case.state.restrict(form, low, high), where)


@given(cases(), st.data())
def test_equal_atoms_leave_each_world(case: Case, data: st.DataObject) -> None:
    """Two whole numbers at a distance are one atom afterwards, or as many as before."""
    one, other = data.draw(st.permutations(NAMES))[:2]
    form: Polynomial = {(one,): 1, (other,): data.draw(st.sampled_from((1, -1)))}
    apart = data.draw(st.integers(-3, 3))
    require_kept(case, case.state.restrict(form, apart, apart), lambda world: value(form, world, PBIT) == apart)


@given(cases(), st.data())
def test_halves_are_the_whole(case: Case, data: st.DataObject) -> None:
    form, last = data.draw(polynomials(NAMES, degree=1, whole=True)), data.draw(st.integers(-6, 6))
    found = {seen(part, world) for part in case.state.halves(form, last) for world in worlds(part)}
    assert {seen(case.state, world) for world in case.worlds} <= found


@given(cases(), st.data())
def test_operator_rounds_once(case: Case, data: st.DataObject) -> None:
    """What an operator returns is rounded in the one machine, exact in the other, and no further apart than is said."""
    state = case.state
    for _ in range(2):
        polynomial = of_all(data, state)
        low, high = state.reach(polynomial, state.bounds(polynomial))
        assume(state.format.covers((low, high)))
        state, result = state.round(polynomial, "here")
        for world in worlds(state):
            assert value(result, world, PBIT) == rounded(value(polynomial, world, PBIT), state.format.q)
            assert value(result, world, EXACT) == value(polynomial, world, EXACT)
        for name, domain in state.box.items():
            if isinstance(domain, Rounded):
                for world in worlds(state):
                    there, exact = world[name]
                    assert domain.low <= there <= domain.high
                    assert abs(there - exact) <= domain.error


@given(cases(shares=1), st.data())
def test_score_is_its_squares_and_rest(case: Case, data: st.DataObject) -> None:
    """Squares take away what they say: the form is least where it is said, and more by the gap at any other value."""
    state, polynomial = case.state, of_all(data, case.state)
    score = Score.complete(state, polynomial, data.draw(st.permutations(list(state.box))))
    for world in case.worlds:
        total = value(score.rest, world, PBIT)
        for square in score.squares:
            form = value(square.form, world, PBIT)
            total -= square.cost * form**2
            assert square.cost > 0
            assert abs(form) >= abs(square.least)
            if form != square.least:
                assert square.cost * (form**2 - square.least**2) >= square.gap
        assert total == value(polynomial, world, PBIT)
        assert score.lower(state) <= total <= score.upper(state)
    for square in score.squares:
        forms = {value(square.form, world, PBIT) for world in case.worlds}
        for x, y in itertools.combinations(forms, 2):
            assert x**2 == y**2 or abs(x**2 - y**2) >= abs(x - y) * square.asymmetry


@given(cases(), cases())
def test_two_positions_beside_each_other_keep_theirs(one: Case, other: Case) -> None:
    format_ = one.state.format
    key = replace(other.state, format=format_).as_other()
    joint = one.state.pair_with(key)
    assert joint is not None
    mine = {tuple(world[name] for name in NAMES) for world in one.worlds}
    its = {tuple(world[name] for name in NAMES) for world in other.worlds}
    some = [*itertools.islice(itertools.product(mine, its), 200)]
    box = [domain for name, domain in joint.box.items() if isinstance(domain, Integer) and name != "n"]
    assume(len(box) == 8)
    for first, second in some:
        both = dict(zip((*NAMES, *(name + BESIDE for name in NAMES)), (*first, *second), strict=True))
        for name, (v, _) in both.items():
            domain = joint.integer(name)
            assert domain.low <= v <= domain.high
            assert (v - domain.low) % domain.step == 0
        for form, (low, high) in joint.forms.items():
            assert low <= sum(c * both[name][PBIT] for name, c in form) <= high


@given(cases(), st.data())
def test_needed_atoms_have_all_worlds(case: Case, data: st.DataObject) -> None:
    names = data.draw(st.sets(st.sampled_from(sorted(case.state.box))))
    some = {i: p for i, p in case.state.registers.items() if not {name for m in p for name in m} - names}
    state = replace(case.state, registers=some)
    assert {seen(state, world) for world in case.worlds} <= {seen(state, world) for world in worlds(state.needed())}
