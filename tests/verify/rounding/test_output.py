"""The output head in the static checker, held against logits that are added up number by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from precision.format import Arithmetic, Discipline, fixed_point
from tests.verify.rounding.points import rounded
from verify.algebra.domains import Domain, Integer, Reciprocal, Refused, Space, Undecided
from verify.algebra.polynomial import atom, constant
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import Label
from verify.rounding.abstract_state import AbstractState
from verify.rounding.model import NUMBER, ExactModel, NumberFamily
from verify.rounding.output import _unlike, require_same_argmax
from verify.trusted.growth import root

FAMILY = {0: atom(NUMBER), 1: atom(NUMBER) * atom(NUMBER), 2: constant(1)}  # v, v², 1; special words have register 3


def added(terms: Sequence[int], largest: Fraction, fused: bool) -> Fraction:
    """As the format adds them."""
    result = Fraction(0)
    for term in [sum(terms)] if fused else terms:
        result = max(min(result + term, largest), -largest)
    return result


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
    q: int, discipline: Discipline, words: tuple[int, int], numbers: tuple[int, int], written: tuple[int, int, int, int]
) -> None:
    """What is said to be the same token is it: number x is written as (factor·x, square, own), and a word beside it."""
    factor, square, own, word = written
    fmt, fused = fixed_point(2 * q + 1), discipline is Discipline.FUSED
    registers = {0: atom("x") * factor, 1: constant(square), 2: constant(own), 3: constant(word)}
    one = Integer(1, 1)
    state = AbstractState(Space(fmt), registers, {"k": one, "n": one, "x": Integer(*numbers)})
    model = ExactModel(
        ("v", "v²", "own", "word"), {"": NumberFamily(*words, FAMILY)}, {"w": ((3, 1),)}, (), (), Arithmetic(fmt)
    )
    try:
        require_same_argmax(state, model, fused)
    except Refused:
        event("refused")
        return
    cut = False
    for x in range(numbers[0], numbers[1] + 1):
        held = (factor * x, square, own, word)
        terms = [[a * b for a, b in zip(held, row, strict=True)] for row in rows(*words)]
        exact, of_format = [sum(row) for row in terms], [added(row, fmt.max_value, fused) for row in terms]
        assert exact.index(max(exact)) == of_format.index(max(of_format))
        cut |= exact != of_format
    event(f"certified, cut off: {cut}")


@example(share_in=3, factor=256, least=3, near=3, ideally=False, beside=2, more=0, shares=1)  # 85 and 256/3 beside 85
@example(share_in=3, factor=256, least=3, near=3, ideally=False, beside=4, more=0, shares=1)
@example(share_in=3, factor=6, least=6, near=6, ideally=True, beside=2, more=0, shares=1)  # 258/256 and 1 beside 1
@example(share_in=3, factor=6, least=6, near=6, ideally=True, beside=4, more=0, shares=1)
@example(share_in=4, factor=6, least=6, near=6, ideally=True, beside=3, more=0, shares=1)
@example(share_in=4, factor=256, least=3, near=3, ideally=False, beside=3, more=0, shares=1)
@example(share_in=0, factor=6, least=6, near=6, ideally=True, beside=2, more=0, shares=1)
@example(share_in=3, factor=3, least=3, near=3, ideally=True, beside=4, more=0, shares=1)  # 255/256 and 1 beside 1
@given(
    share_in=st.sampled_from([0, 3, 4]),
    factor=st.sampled_from([256, -256, 128, 6, 3, 1]),
    least=st.integers(2, 6),
    near=st.integers(2, 8),
    ideally=st.booleans(),
    beside=st.sampled_from([2, 3, 4]),
    more=st.sampled_from([0, 0, 1, -1, 256]),
    shares=st.integers(1, 3),
)
def test_a_share_in_a_logit(
    share_in: int, factor: int, least: int, near: int, ideally: bool, beside: int, more: int, shares: int
) -> None:
    """A logit has c/m in it, in the format and ideally. What is said to be the same token is it.

    Number v has the logit v·(register 0) − v² + (register 2), and the two words have registers 3 and 4. One of these registers is
    the share, another is a number near it; so the two may be equal in one reading alone.
    """
    one, steps = Integer(1, 1), factor / Fraction(near) if ideally else rounded(Fraction(1, near)) * factor
    registers = {0: Fraction(0), 1: Fraction(-1), 2: Fraction(-20), 3: Fraction(-20), 4: Fraction(-20)}
    registers |= {beside: rounded(steps) + Fraction(more, 256)}  # where both are one register, the share is in it
    box: dict[str, Domain] = {"k": one, "n": one, "m": Integer(least, least + shares - 1), "r": Reciprocal("m", 0)}
    forms = {i: constant(value) for i, value in registers.items()} | {share_in: atom("r") * factor}
    state = AbstractState(Space(fixed_point(17)), forms, box, label=Label("test"))
    words = {"w": ((3, 1),), "u": ((4, 1),)}
    names = ("v", "v²", "own", "w", "u")
    model = ExactModel(names, {"": NumberFamily(0, 2, FAMILY)}, words, (), (), Arithmetic(fixed_point(17)))
    try:
        require_same_argmax(state, model, fused=True)
    except (Refused, Undecided) as error:
        event(type(error).__name__)
        return
    for m in range(least, least + shares):
        said = set[int]()
        for r in (rounded(Fraction(1, m)), Fraction(1, m)):
            held = registers | {share_in: r * factor}
            logits = [v * held[0] - v * v + held[2] for v in range(3)] + [held[3], held[4]]
            said.add(logits.index(max(logits)))
        assert len(said) == 1
    event("certified")


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    ("own", "word", "certified"), [(0, 0, True), (40, 0, True), (0, -128, False), (40, -95, False)]
)
def test_logits_that_are_cut_off(own: int, word: int, certified: bool, fused: bool) -> None:
    """−9² − 2·7·9 is below −128; what is then added to that must not make it the largest."""
    space, one = Space(fixed_point(15)), Integer(1, 1)
    registers = {0: atom("x") * 2, 1: constant(-1), 2: constant(own), 3: constant(word)}
    state = AbstractState(space, registers, {"k": one, "n": one, "x": Integer(-7, 7)})
    family = {"": NumberFamily(-9, 9, FAMILY)}
    model = ExactModel(("v", "v²", "own", "word"), family, {"w": ((3, 1),)}, (), (), Arithmetic(space.format))
    if certified or (fused and own):  # one operator, so nothing is added to what was cut off
        require_same_argmax(state, model, fused)
    else:
        with pytest.raises(Refused):
            require_same_argmax(state, model, fused)


def nearest(value: Fraction, q: int) -> Fraction:
    """A number of the format, by Python's own rounding to even."""
    return Fraction(round(value * (1 << q)), 1 << q)


def counting(
    q: int, least: int, most: int, held: Sequence[tuple[int, int]], word: int, numbers: tuple[int, int]
) -> str:
    """The verdict of both disciplines on registers c + d·r, r = ROUND(1/m): held are c and d of those that meet v, v² and 1."""
    one, r = Integer(1, 1), atom("r")
    box: dict[str, Domain] = {"k": one, "n": one, "m": Integer(least, most), "r": Reciprocal("m", 0)}
    registers = {i: constant(c) + r * d for i, (c, d) in enumerate(held)} | {3: constant(word)}
    fmt = fixed_point(2 * q + 1)
    state = AbstractState(Space(fmt), registers, box, label=Label("test"))
    model = ExactModel(
        ("v", "v²", "own", "w"), {"": NumberFamily(*numbers, FAMILY)}, {"w": ((3, 1),)}, (), (), Arithmetic(fmt)
    )
    try:
        for fused in (True, False):
            require_same_argmax(state, model, fused)
    except Refused as error:
        return type(error).__name__
    return "certified"


COUNTED = [(2, -2), (0, -1), (2, -1)]  # (2·w − r·w²), w = v + 1


@example(q=9, scale=1, b=1, more=0, least=1, count=0, low=0, word=0, at=0, by=(0, 0))
@given(
    q=st.integers(8, 12),
    scale=st.integers(1, 3),
    b=st.integers(-2, 2),
    more=st.integers(-2, 6),
    least=st.integers(1, 20),
    count=st.integers(0, 12),
    low=st.integers(0, 3),
    word=st.integers(-9, 1),
    at=st.integers(0, 2),
    by=st.sampled_from([(0, 0), (0, 0), (0, 0), (0, 1), (0, -1), (1, 0)]),
)
def test_a_count_that_is_said(
    q: int, scale: int, b: int, more: int, least: int, count: int, low: int, word: int, at: int, by: tuple[int, int]
) -> None:
    """What is said to be the same token is it, if a coefficient is changed too."""
    own = 2 * scale * b + scale * (low + b - 1) ** 2 + more  # so number `low` has more + scale at least
    held = [(2 * scale, -2 * scale * b), (0, -scale), (own, -scale * b * b)]
    held[at] = held[at][0] + by[0], held[at][1] + by[1]
    verdict = counting(q, least, least + count, held, word, (low, low + 12))
    event(verdict)
    if verdict != "certified":
        return
    for m in range(least, least + count + 1):
        said = set[int]()
        for r in (nearest(Fraction(1, m), q), Fraction(1, m)):
            line, square, rest = (c + d * r for c, d in held)
            logits = [line * v + square * v * v + rest for v in range(low, low + 13)] + [Fraction(word)]
            assert logits.count(max(logits)) == 1
            said.add(logits.index(max(logits)))
        assert len(said) == 1


@pytest.mark.parametrize("q", range(7, 15))
def test_a_count_is_said_as_far_as_the_step_reaches(q: int) -> None:
    """And one farther it is not, nor with another coefficient."""
    most = max(m for m in range(1, 200) if m * (2 * m + 1) < 2 << q)
    assert counting(q, 1, most, COUNTED, 0, (0, most // 2)) == "certified"
    assert counting(q, 1, most + 1, COUNTED, 0, (0, most // 2)) == "Refused"
    for i, held in enumerate(COUNTED):
        for changed in ((held[0] + 1, held[1]), (held[0], held[1] - 1)):
            off = [*COUNTED[:i], changed, *COUNTED[i + 1 :]]
            right = (i, changed) == (2, (3, -1))  # what each number has more changes nothing
            assert (counting(q, 1, most, off, 0, (0, most // 2)) == "certified") == right


@given(m=st.integers(1, 1 << 40), off=st.integers(-(1 << 42), 1 << 42), up=st.booleans())
def test_the_largest_logit_of_a_share_that_is_half_a_step_off(m: int, off: int, up: bool) -> None:
    """The lemma at the head of output.py; with twice that step, the next number may have as much."""
    step = Fraction(1, 1 << (m * (2 * m + 1) // 2).bit_length())
    assert 1 <= m * (2 * m + 1) * step < 2

    def logit(w: int, r: Fraction) -> Fraction:
        return 2 * w - r * w * w

    r = Fraction(1, m) + (step / 2 if up else -step / 2)
    for w in {m + off, m - 1, m + 1} - {m}:
        assert logit(w, r) < logit(m, r)
    assert logit(m + 1, Fraction(1, m) - step) >= logit(m, Fraction(1, m) - step)


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), max_size=6))
def test_each_logit_is_looked_at_once(numbers: list[tuple[int, int]]) -> None:
    logits = {f"word {i}": atom("x") * slope + constant(rest) for i, (slope, rest) in enumerate(numbers)}
    unlike = dict(_unlike(logits))
    assert all(logits[word] == logit for word, logit in unlike.items())
    assert {*map(str, unlike.values())} == {*map(str, logits.values())}
    assert len(unlike) == len({*numbers})


def test_logits_that_grow_with_n_are_not_compared() -> None:
    """A comparison would be a question of the theorem."""
    walk = Walk(root(7, 0))
    logits = {"a": atom("x") * n_of(walk), "b": atom("x") * (n_of(walk) * 2), "c": atom("x") * n_of(walk)}
    asked = {*walk.answers}
    assert [word for word, _ in _unlike(logits)] == [*logits]
    assert {*walk.answers} == asked
