"""Bounds contain every value; splits lose none; margins suffice."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from precision.format import fixed_point
from tests.verify.rounding.points import points
from verify.algebra.domains import Integer, Reciprocal, Refused, Space
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.algebra.rational import evaluate, least, never_negative, unit
from verify.automata.token_automaton import Label
from verify.rounding.abstract_state import AbstractState
from verify.rounding.attention import _span
from verify.rounding.candidates import SCORE, Candidate, Keys, needed_margin
from verify.rounding.scores import complete_squares
from verify.rounding.winners import Winners

SPACE = Space(fixed_point(17))


@pytest.mark.parametrize("fraction_bits", [2, 8, 20, 100])
@pytest.mark.parametrize("keys", [2, 3, 1000, 10**12])
def test_the_margin_that_is_asked_for_suffices(fraction_bits: int, keys: int) -> None:
    margin = needed_margin(fraction_bits, keys)
    with ctx.workprec(200):
        assert keys * (-arb(margin)).exp() < arb(2) ** -(fraction_bits + 1)


@given(
    st.lists(st.integers(-50, 50).map(Fraction), min_size=1, max_size=5).map(tuple),
    st.integers(1, 20),
    st.integers(65, 400),
)
def test_never_negative(coefficients: tuple[Fraction, ...], low: int, width: int) -> None:
    if never_negative(coefficients, low, low + width):
        assert all(evaluate(coefficients, m) >= 0 for m in range(low, low + width + 1))


def test_least_of_a_rational_function() -> None:
    ratio = unit(0) - unit(1)
    bound = least(ratio, 3, 10**12)
    assert bound is not None
    assert Fraction(1, 10**24) * Fraction(99, 100) < bound <= ratio.value_at(10**12)


@pytest.mark.parametrize(("other", "unique"), [(6, True), (7, False), (8, False)])
def test_a_parabola_is_monotone_on_one_side_only(other: int, unique: bool) -> None:
    """−(k' − 6)² at 1 … 5 and at one more position, where it may be the same again."""
    place = atom("p")
    box = {"n": Integer(9, 9), "k": Integer(20, 20), "p": Integer(1, 5)}

    def candidate(at: Polynomial) -> Candidate:
        score = (at - 6) * (at - 6) * -1
        joint = AbstractState(SPACE, {SCORE: score, SCORE - 1: at}, box, label=Label("test"))
        return Candidate(frozenset([0]), joint, frozenset("p"), complete_squares(joint, score, ("p",)))

    assert Winners([candidate(place), candidate(constant(other))], [True, False]).unique() is unique


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_equal_shares_are_one_atom(shift: int) -> None:
    """Where m = l + shift, 1/m and 1/(l + shift) are rounded to one number; elsewhere they are two."""
    box: dict[str, Any] = {"k": Integer(1, 1), "m": Integer(1, 4), "l": Integer(1, 4)}
    box |= {"r": Reciprocal("m", 0), "s": Reciprocal("l", shift)}
    registers = {0: atom("r") * 3 - atom("s") * 3, 1: (atom("r") - atom("s")) * atom("k"), 2: atom("s"), 3: atom("m")}
    whole = AbstractState(SPACE, registers, box, label=Label("test"))
    less, equal, more = whole.parts(atom("r") * -8 + atom("s") * 8)
    assert equal.register(0) == equal.register(1) == constant(0)
    assert less.register(0).atoms == more.register(0).atoms == {"r", "s"}
    for part in (less, equal, more):
        ranges = [range(part.box[name].low, part.box[name].high + 1) for name in "ml"]
        for m, other in itertools.product(*ranges):
            at = {"m": constant(m), "l": constant(other), "k": constant(1)}
            at |= {
                "r": constant(SPACE.rounded(Fraction(1, m))),
                "s": constant(SPACE.rounded(Fraction(1, other + shift))),
            }
            if (part is equal) == (m == other + shift):
                assert all(part.register(i).substitute(at) == p.substitute(at) for i, p in registers.items())


@pytest.mark.parametrize(("of", "shift"), [("m", 1), ("m", 0), ("l", 1)])
def test_shares_of_one_number_are_one_atom(of: str, shift: int) -> None:
    """1/(m + 1) twice is one number; 1/m, and 1/(l + 1) where l is another number, are not that."""
    box: dict[str, Any] = {"n": Integer(1, 1), "k": Integer(1, 1), "m": Integer(1, 4), "l": Integer(1, 4)}
    box |= {"r": Reciprocal("m", 1), "s": Reciprocal(of, shift)}
    whole = AbstractState(SPACE, {0: (atom("r") - atom("s")) * 512, 1: atom("r")}, box, label=Label("test"))
    part = whole.simplified()
    assert (part.register(0) == constant(0)) == ((of, shift) == ("m", 1))
    assert {point.registers(whole, (0, 1)) for point in points(whole)} == {
        point.registers(part, (0, 1)) for point in points(part)
    }


@pytest.mark.parametrize("is_mean", [True, False])
def test_a_mean_times_a_number_is_bounded_as_that(is_mean: bool) -> None:
    """s/m is at most 4, if s is at most 4·m, so 8·(s/m)·a at most 160, and else 640: that saturates."""
    box = {"k": Integer(1, 1), "s": Integer(0, 16), "m": Integer(1, 4), "a": Integer(0, 5), "r": Reciprocal("m", 0)}
    whole = AbstractState(SPACE, {0: atom("a")}, box, label=Label("test"))
    if is_mean:
        whole = whole.not_below_0(atom("m") * 4 - atom("s"))
    product = atom("s") * atom("r") * atom("a") * 8 + atom("a")
    if is_mean:
        low, high = whole.reach(product)
        assert low <= 0 < 165 <= high < SPACE.largest
        assert whole.round(product, "here")[1] == product
    else:
        with pytest.raises(Refused, match="saturates"):
            whole.round(product, "here")


def test_what_is_affine() -> None:
    a, b = atom("a"), atom("b")
    assert (a + b * 2 + 1).is_affine
    assert constant(3).is_affine
    assert not any(p.is_affine for p in (a * a, a * a + 1, a * b + a, a * a + a + 1))


@given(
    st.lists(st.frozensets(st.integers(0, 3)), min_size=4, max_size=4),
    st.frozensets(st.integers(0, 3), min_size=1),
    st.frozensets(st.integers(0, 3)),
)
def test_what_stands_before_every_position(
    before: list[frozenset[int]], beginnings: frozenset[int], ids: frozenset[int]
) -> None:
    """Against all ways from a beginning, which may come by each state once."""
    states = [
        AbstractState(SPACE, {}, {"k": Integer(1 if i in beginnings else 2, 9)}, label=Label("test"), before=before[i])
        for i in range(4)
    ]
    without: set[int] = set()
    for length in range(1, 6):
        for way in itertools.product(range(4), repeat=length):
            follows = all(earlier in before[later] for earlier, later in itertools.pairwise(way))
            if way[0] in beginnings and follows and not ids & {*way[:-1]}:
                without.add(way[-1])
    keys = Keys(states)
    assert [keys.sure(start, ids) for start in range(4)] == [start not in without for start in range(4)]


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("largest", [3, 9, 200])
def test_a_number_times_a_share_that_it_is_not_below(shift: int, largest: int) -> None:
    """A·ROUND(1/M) with A ≥ M + shift: the bound is that of A = M + shift, whatever the largest A is; none is outside."""
    space = Space(fixed_point(21))
    box = {
        "k": Integer(1, 1),
        "n": Integer(1, 1),
        "a": Integer(1, 2000),
        "m": Integer(1, largest),
        "r": Reciprocal("m", 0),
    }
    product, behind = (
        atom("a") * atom("r"),
        AbstractState(space, {}, box).restricted(atom("a") - atom("m"), Fraction(shift), None),
    )
    assert behind is not None
    low = behind.bounds(product)[0]
    actual = [
        a * space.rounded(Fraction(1, m)) for m in range(1, largest + 1) for a in (m + shift, m + shift + 1, 2000)
    ]
    assert low <= min(actual)
    assert low >= 1 + Fraction(shift, 2 * largest) - (largest + shift) * space.step / 2
    before = AbstractState(space, {}, box).restricted(atom("a") - atom("m"), Fraction(-1), None)
    assert before is not None
    assert before.bounds(product)[0] <= Fraction(1, 2)  # A = 1 of M = 2


def test_what_a_square_reaches_whose_root_lies_between_whole_numbers() -> None:
    """−(2a − 2b + 1)²: its terms each for themselves reach much farther."""
    space = Space(fixed_point(17))
    box = {"k": Integer(1, 1), "a": Integer(4, 14), "b": Integer(3, 13)}
    whole = AbstractState(space, {}, box).restricted(atom("a") - atom("b"), Fraction(1), Fraction(6))
    assert whole is not None
    root = (atom("a") - atom("b")) * 2 + constant(1)
    square = root * root * Fraction(-1)
    assert not space.covers(*whole.bounds(square))
    assert whole.reach(square) == (-169, -9)


def test_no_more_positions_than_from_the_first_to_the_last() -> None:
    def spans(*pairs: tuple[int, int]) -> int | None:
        return _span([(Fraction(low), Fraction(high)) for low, high in pairs])

    assert spans((1, 1), (2, 9), (2, 9), (2, 9)) == 9
    assert spans((3, 5)) == 3
    assert spans((3, 5), (9, 9)) == 7  # what lies between is not left out


@given(
    shift=st.integers(-3, 3).filter(bool),
    ends=st.tuples(st.integers(-4, 0), st.integers(0, 4)),
    more=st.sampled_from(["", "also", "beside"]),
)
def test_an_atom_of_its_own_keeps_what_forms_tell(shift: int, ends: tuple[int, int], more: str) -> None:
    """Registers hold a + shift, and a too, or a multiple of both atoms; the form is of the position and a."""
    box = {"n": Integer(1, 1), "k": Integer(3, 7), "a": Integer(1, 5)}
    registers = {0: atom("a") + constant(shift), 1: (atom("a") + constant(shift)) * (atom("a") + constant(shift))}
    registers |= {2: atom("a")} if more == "also" else {2: atom("a") * atom("k")} if more == "beside" else {}
    whole = AbstractState(SPACE, registers, box, {(("a", 1), ("k", -1)): ends}, Label("test"))
    cleaned = whole.cleaned(frozenset(registers))
    (name,) = cleaned.register(0).atoms
    assert cleaned.register(0) == atom(name)
    kept = {(p.rounded["k"], *p.registers(cleaned, registers)) for p in points(cleaned)}
    every = {(p.rounded["k"], *p.registers(whole, registers)) for p in points(whole)}
    assert every <= kept
    assert more or every == kept  # a itself is not read: nothing is forgotten
    low, high = whole.bounds(registers[0] - atom("k"))
    assert cleaned.bounds(atom(name) - atom("k")) == (low, high)
