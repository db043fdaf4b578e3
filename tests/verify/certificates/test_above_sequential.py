"""Every n from 2^63 on: what is rounded where the numbers of the format grow, as partial sums are under `sequential`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from precision.format import Discipline, Format, fixed_point
from precision.rounding import round_fraction
from tests.verify.certificates.walks import SIZES, at, require_unknown, walk_of
from tests.verify.numbers_at import parity
from verify.algebra.domains import SIZE, Integer, Reciprocal, Rounded, Space
from verify.algebra.polynomial import Polynomial, atom, constant
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import Label
from verify.certificates.building import build
from verify.certificates.document import CERTIFIED, judge
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import Report
from verify.rounding.operators import dot
from verify.trusted.growth import root

WHOLE = Fraction(1)
SHARES = st.tuples(st.fractions(-9, 9, max_denominator=8), st.integers(0, 1), st.integers(1, 3))


@given(SIZES, SHARES, SHARES)
@example(2**70 - 1, (Fraction(1, 3), 0, 2), (Fraction(1, 3), 1, 2))
@example(2**70, (Fraction(-1, 3), 0, 3), (Fraction(1, 3), 0, 3))
def test_bounds_of_what_is_rounded(n: int, first: tuple[Any, ...], last: tuple[Any, ...]) -> None:
    """No number between two ends is rounded to one outside; an end that is no number of the format moves by half a step."""

    def share(size: Any, of: tuple[Any, ...]) -> Any:
        c, power, twos = of
        return WHOLE * size**power * c / (1 << (twos * size.bit_length()))

    first, last = sorted((first, last), key=lambda of: share(n, of))
    low, high = share(n, first), share(n, last)

    def bounds(walk: Walk) -> tuple[Any, Any]:
        size = n_of(walk)
        return Space(fixed_point(4 * size.bit_length() + 1)).rounded_bounds(share(size, first), share(size, last))

    _, found = walk_of(n, bounds)
    least, largest = (at(end, n) for end in found)
    space = Space(fixed_point(4 * n.bit_length() + 1))
    for x in (low, (2 * low + high) / 3, high):
        assert least <= space.rounded(x) <= largest
    assert (low >= 0) <= (least >= 0)
    assert (high <= 0) <= (largest <= 0)
    for end, moved, (c, _, twos) in ((low, least, first), (high, largest, last)):
        assert moved in (0, end, end - space.half_step, end + space.half_step)
        assert moved == end or twos > 1 or 8 % c.denominator


def test_bounds_of_what_has_no_one_sign_in_a_case() -> None:
    """From (n − 3/4·E)/3E² on, which is below 0 up to three quarters of the case, and up to that: neither end is taken for 0."""

    def bounds(walk: Walk) -> tuple[Any, Any]:
        size = n_of(walk)
        power = 1 << size.bit_length()
        end = (size - WHOLE * 3 * power / 4) / (3 * power * power)
        assert end.oracle.known_answer(end.top, ">=") is None
        space = Space(fixed_point(4 * size.bit_length() + 1))
        return space.rounded_bounds(end, WHOLE), space.rounded_bounds(-WHOLE, end)

    for n in (2**66, 2**67 - 1):
        walk, ((least, _), (_, largest)) = walk_of(n, bounds)
        assert walk.forks == []
        end = (n - Fraction(3, 4) * 2**67) / (3 * Fraction(2) ** 134)
        assert at(least, n) <= Space(fixed_point(4 * 67 + 1)).rounded(end) <= at(largest, n)


WEIGHTS = st.sampled_from([1, -1, 3, Fraction(-5, 8), "1/E", "-3E", "n/8E", "n"])
VALUES = [atom("a"), atom("r"), atom("a") * 40, constant(Fraction(3, 64))]


def weight(of: Any, size: Any) -> Any:
    power = 1 << size.bit_length()
    named = {"1/E": WHOLE / power, "-3E": -3 * power, "n/8E": WHOLE * size / (8 * power), "n": size}
    return named.get(of, of)


def format_of(size: Any) -> Format:
    return fixed_point(6 * size.bit_length() + 1)


def value_at(polynomial: Polynomial, n: int, known: dict[str, Fraction]) -> Fraction:
    return Fraction(sum(at(c, n) * product(known[name] for name in m) for m, c in polynomial.terms.items()))


def product(factors: Any) -> Fraction:
    result = WHOLE
    for factor in factors:
        result *= factor
    return result


@given(
    SIZES,
    st.lists(st.tuples(WEIGHTS, st.integers(0, 3)), max_size=4),
    st.sampled_from([0, 1, "1/E"]),
    st.fractions(0, 1),
)
@example(2**70 - 1, [(Fraction(-5, 8), 1), (3, 1)], 0, Fraction(1))
@example(2**80, [("1/E", 1), ("-3E", 1), ("n/8E", 0)], "1/E", Fraction(1, 2))
def test_a_row_of_rounded_products_and_sums(n: int, row: Sequence[tuple[Any, int]], bias: Any, part: Fraction) -> None:
    """At n, whatever the numbers: each operator's result lies between its bounds, as near to the ideal one as is said."""

    def program(walk: Walk) -> tuple[AbstractState, Polynomial]:
        size = n_of(walk)
        places = {SIZE: Integer(size, size), "a": Integer(1, size), "m": Integer(2, size + 1)}
        state = AbstractState(Space(format_of(size)), {}, {**places, "r": Reciprocal("m", 0)}, label=Label("test"))
        return dot(state, [(weight(w, size), VALUES[i]) for w, i in row], weight(bias, size), "here", fused=False)

    state, result = walk_of(n, program)[1]
    fmt = format_of(n)

    def rounded(x: Fraction) -> Fraction:
        return round_fraction(x, fmt).quanta * fmt.quantum

    for a, m in ((1, n + 1), (n, 2), (1 + int(part * (n - 1)), 2 + int(part * (n - 1)))):
        known = {"a": Fraction(a), "m": Fraction(m), "r": rounded(Fraction(1, m))}
        ideal = known | {"r": Fraction(1, m)}
        due = Fraction(0)
        for w, i in row:
            due = rounded(due + rounded(at(weight(w, n), n) * value_at(VALUES[i], n, known)))
        for name, domain in state.box.items():  # in the order in which they came
            if isinstance(domain, Rounded):
                known[name] = rounded(value_at(domain.exact, n, known))
                ideally = value_at(domain.ideal, n, ideal)
                assert at(domain.low, n) <= known[name] <= at(domain.high, n)
                assert abs(known[name] - ideally) <= at(domain.error, n)
        assert value_at(result, n, known) == rounded(due + at(weight(bias, n), n))


EOS = find_subject("istree", 4, layout="eos", discipline=Discipline.SEQUENTIAL)


def report_of(subject: Subject) -> Report:
    judged = judge(*build(subject))
    assert judged.verdict == CERTIFIED
    assert judged.report is not None
    return judged.report


def told(report: Report, n: int) -> tuple[dict[object, Fraction], dict[object, Fraction]]:
    """At n, the least and the largest number in each register after each block, and the largest error of each."""
    ends, errors = dict[object, Fraction](), dict[object, Fraction]()

    def widen(found: dict[object, Fraction], place: object, value: Any) -> None:
        found[place] = max(at(value, n), found.get(place, at(value, n)))

    for block, state, live in report.behind:
        for register in live:
            low, high = state.bounds(state.register(register))
            widen(ends, (block, register, "down to"), -low)
            widen(ends, (block, register, "up to"), high)
    for state in report.met:
        for register, value in state.registers.items():
            widen(errors, register, state.error(value))
    return ends, errors


def test_a_case_says_no_more_than_the_check_of_one_of_its_n() -> None:
    """Of IsTree in the layout eos, by partial sums that are rounded one by one."""
    n = 2**127 - 1
    walk, _ = walk_of(n, lambda walk: build(replace(EOS, n=n_of(walk))))
    case = Walk(root(7, parity(n)), [fork.answer for fork in walk.forks])
    of_case, own = (told(report_of(replace(EOS, n=size)), n) for size in (n_of(case), n))
    for wide, narrow in zip(of_case, own, strict=True):
        assert wide.keys() == narrow.keys()
        assert all(wide[place] >= narrow[place] for place in wide)


def test_fewer_bits_than_partial_sums_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a score one term reaches beyond the largest number, though the sum does not."""
    own = type(EOS.dossier).least_precision
    monkeypatch.setattr(type(EOS.dossier), "least_precision", lambda dossier, subject: own(dossier, subject) - 8)
    where, what = require_unknown(EOS)
    assert where.endswith("score")
    assert what.startswith("saturates")
