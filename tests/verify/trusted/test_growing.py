"""Numbers that depend on n calculate, at each n that is tried, as Python's own numbers do; else they say that they cannot."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.numbers_at import parity, value, values_at
from verify.trusted import growing, growth
from verify.trusted.growing import Case, Growing
from verify.trusted.growth import root
from verify.trusted.kernel import Rejected
from verify.trusted.numbers import down, larger, smaller, two_to, up

SIZES = [n for bits in (8, 9, 15, 16, 31, 40, 63, 64, 130) for n in (2 ** (bits - 1), 3 * 2 ** (bits - 2), 2**bits - 1)]
BITS_OF_BITS = 4
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": lambda a, b: operator.mod(a, 3),
    "larger": larger,
    "smaller": smaller,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
BOUNDS = {"larger", "smaller"}  # of which either is right
ONES: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "bool": bool,
    "neg": operator.neg,
}
LEAVES = [
    "n",
    "B",
    "E",
    "V",
    "v",
    0,
    1,
    2,
    -1,
    3,
    Fraction(1, 2),
    Fraction(-5, 3),
    "1/2*n^2 + -1/2*n",
    "1*E^-1",
    "1*E*V^-1",
]
TREES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(sorted(ONES)), inner), st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner)
    ),
    max_leaves=7,
)


def cases() -> list[Case]:
    return [Case(root(BITS_OF_BITS, r)) for r in (0, 1)]


def at(number: Any, n: int) -> Any:
    """What a number is at one n, read off its text."""
    if not isinstance(number, Growing):
        return number
    parts = str(number).replace("$", "").strip("()").split(")/(")
    return math.prod(value(part, values_at(n)) ** sign for part, sign in zip(parts, (1, -1), strict=False))


def run(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """Calculates a tree. leaf: what its leaves are."""
    if not isinstance(tree, tuple):
        return leaf(tree)
    name, *inner = tree
    values = [run(one, leaf) for one in inner]
    return ONES[name](*values) if name in ONES else OPERATORS[name](*values)


def on(case: Case) -> Callable[[Any], Any]:
    """The leaves of a tree in a case."""
    return lambda leaf: case.number(leaf if "*" in leaf else f"1*{leaf}") if isinstance(leaf, str) else leaf


def at_one(n: int) -> Callable[[Any], Any]:
    """The leaves of a tree at one n."""
    return lambda leaf: value(leaf, values_at(n)) if isinstance(leaf, str) else leaf


def has_bounds(tree: Any) -> bool:
    return isinstance(tree, tuple) and (tree[0] in BOUNDS or any(map(has_bounds, tree[1:])))


@settings(max_examples=300)
@given(TREES)
def test_what_is_calculated_is_right_at_each_n(tree: Any) -> None:
    for r, case in enumerate(cases()):
        try:
            found = run(tree, on(case))
        except (Rejected, ZeroDivisionError, TypeError):
            continue
        for n in SIZES if not has_bounds(tree) else ():
            if parity(n) == r:
                own = run(tree, at_one(n))
                assert at(found, n) == own, (n, found)


@given(TREES, TREES)
def test_of_two_bounds_it_takes_one(first: Any, second: Any) -> None:
    """The larger one wherever that is seen; of what is seen nowhere the first."""
    for r, case in enumerate(cases()):
        try:
            a, b = (run(tree, on(case)) for tree in (first, second))
            high, low = larger(a, b), smaller(a, b)
        except (Rejected, ZeroDivisionError, TypeError):
            continue
        for n in SIZES:
            if parity(n) == r:
                assert {at(high, n), at(low, n)} <= {at(a, n), at(b, n)}
                assert at(high, n) >= at(a, n) >= at(low, n)


CASE = cases()[0]
N, B, E, V = (CASE.number(f"1*{name}") for name in "nBEV")


def test_whole_numbers_are_seen() -> None:
    for whole in (N, N * (N - 1) / 2, E / 2, E * E / V, E / V**2, 3 * N * E / 4, E / (2 * V)):
        assert growing.is_whole(whole), whole
    for no in (N / 2, N * N / 2, 1 / E, E / 3, V / E, N / E * V, E / V**9):
        assert not growing.is_whole(no), no
    assert [up(N + Fraction(1, 3)), down(N + Fraction(7, 3)), up(N / 2)] == [N + 1, N + 2, N / 2]
    assert [(N * 6 + 5) % 3, round(N + Fraction(2, 3)), math.floor(N - 1 / E), math.ceil(N + N / E)] == [
        2,
        N + 1,
        N - 1,
        N + 1,
    ]
    with pytest.raises(Rejected):
        math.floor(N / 2)


def test_an_exponent_is_above_its_number_and_as_small_as_is_seen() -> None:
    assert [two_to(2 * B + 3), two_to(-B), two_to(5)] == [8 * E * E, 1 / E, 32]
    assert [(N - 1).bit_length(), (4 * N + 3).bit_length(), (N * N).bit_length()] == [B, B + 2, 2 * B]
    for one in (N + 5, N * N + B, 3 * E - N, V * V, CASE.number("1*n*V^2 + 7*v")):
        for n in (n for n in SIZES if parity(n) == 0):
            assert 2 ** at(one.bit_length(), n) > at(one, n)
    for power in (N, B / 2, B * B):
        with pytest.raises(Rejected):
            two_to(power)


def test_a_common_divisor_divides_all_at_each_n() -> None:
    values = [3 * E * N / 2, 6 * E * E / V, Fraction(9, 4) * E * B, 0]
    divisor = values[0].common_divisor(values)
    for n in (n for n in SIZES if parity(n) == 0):
        assert all((at(one, n) / at(divisor, n)).denominator == 1 for one in values)
    assert at(divisor, 200) == Fraction(3, 4) * 256 / 4


def test_what_fails_at_one_n_is_not_answered() -> None:
    """n ≤ E − 2 at all n but E − 1."""
    for ask in (lambda: E - 2 >= N, lambda: N == E - 1, lambda: bool(E - 1 - N), lambda: larger(E - 2, N) < N):
        with pytest.raises(Rejected, match="needs a split"):
            ask()
    assert [E - 1 >= N, E <= N, N > 127, N == E] == [True, False, True, False]


def test_a_part_of_a_case_knows_what_the_case_knows() -> None:
    """And what its own box shows; never what a part beside it shows."""
    split = {"of": "n", "question": ["3 + -1*E + 1*n", ">="], "from": "-3 + 1*E", "to": "-4 + 1*E", "rises": True}
    parts = [Case(box, CASE) for box in growth.parts_of(CASE.box, split)]
    near, far = (part.number("1*n") - part.number("-3 + 1*E") for part in parts)
    assert [near >= 0, far >= 0] == [True, False]
    assert all(part.number("1*n") > 100 for part in parts)


def test_an_answer_that_no_bound_of_n_tells_is_known_in_its_part() -> None:
    """2·n² + 1 ≥ E², or E² − 2·n² − 1 > 0 and so ≥ 1, as it is whole. What is one more is not known."""
    split = {"of": "n", "question": ["1 + -1*E^2 + 2*n^2", ">="], "from": "45/64*E", "to": "183/256*E", "rises": True}
    yes, no = CASE.parts(split)
    for case, text, most in ((yes, "1 + -1*E^2 + 2*n^2", 0), (no, "-1 + 1*E^2 + -2*n^2", 1)):
        known, (e, v) = case.number(text), (case.number("1*E"), case.number("1*V"))
        assert [known >= most, known * e > most * e - 1 / v, 3 * known + 1 / e > 3 * most] == [True] * 3
        with pytest.raises(Rejected, match="needs a split"):
            assert known >= most + 1
        for n in (n for bits in (8, 9, 12, 15) for n in range(2 ** (bits - 1), 2**bits)):
            here = value(text, values_at(n))
            assert here < 0 or here >= most


def test_numbers_of_two_cases_never_meet() -> None:
    with pytest.raises(Rejected):
        N + cases()[1].number("1*n")


@pytest.mark.parametrize(
    "ask", [float, int, hash, list, lambda one: [1, 2][one], lambda one: range(one), lambda one: 2**one]
)
def test_nothing_else_is_asked(ask: Callable[[Any], Any]) -> None:
    """A hash is one of how it is written: equal numbers that are written otherwise may be missed, and never are mistaken."""
    if ask is hash:
        assert {N: 1}.get(N + 1 - 1) == 1
        return
    with pytest.raises(TypeError):
        ask(N)


@pytest.mark.parametrize(
    "text", ["1*f0", "1*x", "", "1*n^99", "(1*n)/(0)", "(1)/(-1*E + 2*n)", "1*n/2", "9" * 6000, 1.5, None]
)
def test_a_text_that_is_no_number_is_rejected(text: Any) -> None:
    with pytest.raises((Rejected, ValueError)):
        CASE.number(text)
