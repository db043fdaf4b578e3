"""Numbers above 2^64 by a part of their bit length: what it leaves is known, so halves and fourths are rounded as at each n."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.certificates.test_above import SIZES, at, walk_of
from tests.verify.numbers_at import root_at
from tests.verify.test_growth import accepted, inside, some_n
from verify.certificates.growing import least_of, n_of
from verify.certificates.nodes import Node
from verify.certificates.quotients import divided
from verify.growth import Polynomial, plus, root, times
from verify.kernel import Rejected

QUESTIONS: list[Callable[[Any], Any]] = [
    lambda n: -(-n.bit_length() // 2),
    lambda n: (n.bit_length() + 3) // 2 + 5 * n.bit_length() // 2,
    lambda n: n.bit_length() % 2,
    lambda n: (3 * n.bit_length() // 2, 7 * n.bit_length() % 2),
    lambda n: (3 * n * n + n).bit_length() // 2,
    lambda n: (n > 3 * 2 ** (n.bit_length() - 2), 5 * n.bit_length() > 2 ** n.bit_length().bit_length()),
    lambda n: math.ceil(Fraction(23, 32) * n.bit_length()) * 0 + n.bit_length(),
]


@settings(max_examples=20)
@given(st.sampled_from(QUESTIONS), SIZES, st.sampled_from([2, 4]))
def test_answers_are_those_at_each_n(question: Callable[[Any], Any], n: int, divisor: int) -> None:
    _, found = walk_of(n, lambda walk: question(n_of(walk)), 8 - divisor.bit_length(), divisor)
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, question(n)))
    assert [at(x, n) for x in got] == list(wanted)


TERMS = st.tuples(
    st.fractions(-9, 9, max_denominator=4).filter(bool),
    st.dictionaries(st.sampled_from("BEVnv"), st.integers(1, 3), max_size=3),
)
POLYNOMIALS = st.lists(TERMS, min_size=1, max_size=3).map(
    lambda terms: {tuple(sorted(powers.items())): c for c, powers in terms}
)


@given(POLYNOMIALS, POLYNOMIALS, POLYNOMIALS)
def test_a_quotient_that_is_a_polynomial_is_found(first: Polynomial, second: Polynomial, rest: Polynomial) -> None:
    """And nothing else is taken for one."""
    assert divided(times(first, second), second) == first
    found = divided(plus(times(first, second), rest), second)
    assert found is None or plus(times(found, second), plus(times(first, second), rest), -1) == {}


@given(SIZES, st.lists(st.integers(-3, 3), min_size=1, max_size=4))
def test_the_least_of_some_numbers(n: int, shifts: list[int]) -> None:
    """Or what is enough, where all are seen to be as much: no case is split then."""
    walk, found = walk_of(n, lambda walk: least_of([n_of(walk) * 2 + s for s in shifts], n_of(walk)))
    assert at(found, n) == n
    assert not walk.forks
    _, found = walk_of(n, lambda walk: least_of([n_of(walk) + s for s in shifts], n_of(walk)))
    assert at(found, n) == n + min(0, *shifts)


def test_what_cannot_be_split_so_is_said_again() -> None:
    """When a program is run once more, the part has another split."""
    node = Node(root(7, 0))
    no_root = {"of": "n", "question": ["1*n + -3/4*E", ">="], "from": "1/2*E", "to": "1/2*E", "rises": True}
    with pytest.raises(Rejected):
        node.divided(no_root)
    node.divided("v")
    with pytest.raises(Rejected):
        node.divided(no_root)


@pytest.mark.parametrize("bits_of_bits", [2, 3, 4])
@pytest.mark.parametrize("divisor", [1, 2, 3, 4])
def test_each_n_is_in_one_root(bits_of_bits: int, divisor: int) -> None:
    """And those below the first one in none."""
    boxes = [root(bits_of_bits, r, s, divisor) for r in (0, 1) for s in range(divisor)]
    first = 2 ** (divisor * 2 ** (bits_of_bits - 1) - 1)
    for n in [*some_n(bits_of_bits, divisor), first, first - 1, first // 2, 1]:
        found = [inside(box, n, divisor) for box in boxes]
        assert found == [n >= first and i == root_at(n, divisor) for i in range(2 * divisor)]


def test_a_theorem_about_no_n_is_rejected() -> None:
    empty: dict[str, Any] = {"bits_of_bits": 7, "inequalities": [], "cases": []}
    for wrong in ({}, {"divisor": 0}, {"divisor": "1"}, {"divisor": -1}, {"bits_of_bits": 1}, {"bits_of_bits": 65}):
        assert not accepted({**empty, **wrong})
