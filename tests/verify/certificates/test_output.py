"""The output head in the static checker, held against logits that are added up number by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from precision.format import Arithmetic, Discipline, fixed_point
from verify.algebra.domains import Integer, Refused, Space
from verify.algebra.polynomial import atom, constant
from verify.rounding.kinds import Kind
from verify.rounding.model import NUMBER, Model, Numbers
from verify.rounding.output import settle_output

FAMILY = {0: atom(NUMBER), 1: atom(NUMBER) * atom(NUMBER), 2: constant(1)}  # v, v², 1; special words have register 3


def added(terms: Sequence[int], largest: Fraction, fused: bool) -> Fraction:
    """As the format adds them."""
    found = Fraction(0)
    for term in [sum(terms)] if fused else terms:
        found = max(min(found + term, largest), -largest)
    return found


def rows(low: int, high: int) -> Iterator[tuple[int, ...]]:
    """The embedding, token by token."""
    yield from ((i, i * i, 1, 0) for i in range(low, high + 1))
    yield (0, 0, 0, 1)


@given(
    q=st.integers(5, 9),
    discipline=st.sampled_from(Discipline),
    words=st.tuples(st.integers(-9, -6), st.integers(6, 9)),
    numbers=st.tuples(st.integers(-9, 0), st.integers(0, 9)),
    written=st.tuples(st.integers(1, 3), st.integers(-3, 0), st.integers(-3, 40), st.integers(-20, 20)),
)
def test_the_same_token(
    q: int,
    discipline: Discipline,
    words: tuple[int, int],
    numbers: tuple[int, int],
    written: tuple[int, int, int, int],
) -> None:
    """What is said to be the same token is it: number x is written as (factor·x, square, own), and a word beside it."""
    factor, square, own, word = written
    fmt, fused = fixed_point(2 * q + 1), discipline is Discipline.FUSED
    registers = {0: atom("x") * factor, 1: constant(square), 2: constant(own), 3: constant(word)}
    one = Integer(1, 1)
    kind = Kind(Space(fmt), registers, {"k": one, "n": one, "x": Integer(*numbers)})
    model = Model(("v", "v²", "own", "word"), {"": Numbers(*words, FAMILY)}, {"w": ((3, 1),)}, (), (), Arithmetic(fmt))
    try:
        settle_output(kind, model, fused)
    except Refused:
        event("refused")
        return
    cut = False
    for x in range(numbers[0], numbers[1] + 1):
        held = (factor * x, square, own, word)
        terms = [[a * b for a, b in zip(held, row, strict=True)] for row in rows(*words)]
        exact, rounded = [sum(row) for row in terms], [added(row, fmt.max_value, fused) for row in terms]
        assert exact.index(max(exact)) == rounded.index(max(rounded))
        cut |= exact != rounded
    event(f"certified, cut off: {cut}")


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    ("own", "word", "certified"), [(0, 0, True), (40, 0, True), (0, -128, False), (40, -95, False)]
)
def test_logits_that_are_cut_off(own: int, word: int, certified: bool, fused: bool) -> None:
    """−9² − 2·7·9 is below −128; what is then added to that must not make it the largest."""
    space, one = Space(fixed_point(15)), Integer(1, 1)
    registers = {0: atom("x") * 2, 1: constant(-1), 2: constant(own), 3: constant(word)}
    kind = Kind(space, registers, {"k": one, "n": one, "x": Integer(-7, 7)})
    family = {"": Numbers(-9, 9, FAMILY)}
    model = Model(("v", "v²", "own", "word"), family, {"w": ((3, 1),)}, (), (), Arithmetic(space.format))
    if certified or (fused and own):  # one operator, so nothing is added to what was cut off
        settle_output(kind, model, fused)
    else:
        with pytest.raises(Refused):
            settle_output(kind, model, fused)
