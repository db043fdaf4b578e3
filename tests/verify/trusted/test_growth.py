"""The checker of inequalities between powers of two and logarithms: whatever it accepts is true, at every n that is tried."""

from __future__ import annotations

import copy
import itertools
import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from constructions.wiring.part import least_gap
from tests.verify.numbers_at import holds, parity, shown_at, value, values_at
from tests.verify.trusted.checkers import accepted
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk, n_of
from verify.framework.proofs import check as check_stored
from verify.framework.proofs import sentence_of
from verify.trusted import growth
from verify.trusted.growing import text_of
from verify.trusted.growth import Box, parsed, parts_of, root
from verify.trusted.kernel import Rejected

SIZES = [n for bits in (64, 65, 66, 127, 128, 200, 255, 256, 1000, 1023, 1024) for n in (2 ** (bits - 1), 2**bits - 1)]
SIZES += [2**bits - less for bits in (65, 140, 1024) for less in (2, 3, 4, 5)]


def asked(walk: Walk) -> None:
    """Questions of all kinds: a bit length, a lead, a root that is no fraction, something that is rounded down."""
    n = n_of(walk)
    bits = (n + 3).bit_length()
    gap, double = least_gap(2 * bits, n + 3), 2 ** n.bit_length()
    for one, other in ((gap - 2, bits), (2 * n * n, double**2), (8 * n * n, 4 * double**2 - 1), (5 * bits // 3, bits)):
        assert (one < other) in (True, False)
    assert n > gap * bits**2


@cache
def small() -> Any:
    return json.loads(json.dumps(theorem_of(asked, 7)))


POWERS = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(1, 2),
        "E": st.integers(-2, 2),
        "B": st.integers(1, 3),
        "V": st.integers(-2, 3),
        "v": st.integers(1, 2),
    },
)
TERMS = st.tuples(st.fractions(-9, 9, max_denominator=4), POWERS)


def written(terms: list[tuple[Fraction, dict[str, int]]]) -> str:
    return " + ".join("*".join([str(c), *(f"{name}^{power}" for name, power in powers.items())]) for c, powers in terms)


def some_n(bits_of_bits: int) -> list[int]:
    """From the first on, those of few bits all, of others the ends and some between."""
    first = 2 ** (bits_of_bits - 1)
    few = range(2 ** (first - 1), 2 ** (first + 3)) if first <= 4 else ()
    many = (
        (1 << bits - 1) + shift
        for bits in range(first, first + 40)
        for shift in (0, 1, (1 << bits - 2) // 3, (1 << bits - 1) - 1)
    )
    return [*few, *many, 2**200 // 3, 2**1000 // 3]


@given(st.lists(TERMS, min_size=1, max_size=4), st.sampled_from([">", ">="]), st.sampled_from([2, 3, 7]))
def test_what_is_shown_is_true(terms: list[tuple[Fraction, dict[str, int]]], relation: str, bits_of_bits: int) -> None:
    """Where it is not shown, nothing is said; half of these are not."""
    text = written(terms)
    *shown, of_all = [root(bits_of_bits, r).shows(parsed(text), relation) for r in (0, 1, None)]
    for n in some_n(bits_of_bits) if any(shown) else ():
        assert not (shown[parity(n)] or of_all) or holds((text, relation), values_at(n)), n


@pytest.mark.parametrize("bits_of_bits", range(2, 11))
def test_the_box_of_both_has_each_n_of_one_and_little_else(bits_of_bits: int) -> None:
    """Its ends of B are met at the first n, and hold at all others."""
    box, met = root(bits_of_bits, None), False
    assert box.start == min(root(bits_of_bits, r).start for r in (0, 1))
    for n in some_n(bits_of_bits) if bits_of_bits < 8 else [1 << (1 << bits_of_bits - 1) - 1]:
        values = values_at(n)
        low, high = (value(text_of(end).replace("$", ""), values) for end in box.ends["B"])
        assert values["v"] >= box.start
        assert low <= values["B"] <= high, n
        met = met or low == values["B"]
    assert met


@pytest.mark.parametrize("name", ["n", "B", "E", "V", "v", "f0"])
def test_a_power_that_is_zero_is_one(name: str) -> None:
    """However a number is written, it is one term of the polynomial."""
    for text in (f"-5 + 1*{name}^0", f"1*{name}^0 + -5", f"-5*{name}^0 + 1", f"-5 + 1*{name}^-0"):
        assert parsed(text) == parsed("-4")
        assert not root(7, 1).shows(parsed(text), ">")


@pytest.mark.parametrize(
    "text",
    [
        *("1e1000000000", "-1e1000000000*n", "1.5", "1/0", "1/2/3", "inf", "nan", "", "1*", "*n"),
        *("1*V^1000000000", "1*v^-41", "1*E^40*E^40", "1*n*V^" + "9" * 99),
    ],
)
def test_a_short_text_of_a_long_number_is_no_inequality(text: str) -> None:
    """It is rejected before anything so long is calculated."""
    case = {"shown": [0]}
    assert not accepted(growth, {"bits_of_bits": 7, "inequalities": [[text, ">="]], "cases": [case, case]}, {})


def test_a_power_of_the_bit_length_is_below_from_some_length_on() -> None:
    """2^2 is a quarter of 2^4, but 2^8 is a sixteenth of 8^4."""
    assert not root(2, 0).shows(parsed("4*E + -1*B^4"), ">=")
    assert root(5, 1).shows(parsed("1*E + -1*B^4"), ">=")


@pytest.mark.parametrize(
    ("text", "relation", "shown"),
    [
        ("1*E + -1*n", ">", True),
        ("1*E + -1*n + -1", ">=", True),
        ("1*E + -1*n + -1", ">", False),
        ("2*n + -1*E", ">=", True),
        ("1*n + -1*B^8", ">", True),
        ("1*n + -1*E*B^-1", ">", None),  # a power that is none of its symbol's
        ("2*V^2 + -1*B", ">", True),
        ("1*B + -1*v^2", ">", True),
        ("1*E^-1 + -1*n^-1", ">", None),
        ("1*n^2 + -1*E", ">", True),
        ("1*E^-1 + -1*E^-2*n", ">", True),
        ("1 + -1*f0", ">=", True),
        ("1 + -1*f0", ">", False),
        ("1*n + -1*f0*B", ">", True),
        ("1*V + -8*v + 16", ">=", True),
        ("1*V + -9*v + 19", ">=", False),  # though it is 0 at the least v
    ],
)
def test_what_is_seen(text: str, relation: str, shown: bool | None) -> None:
    box = root(7, 1)
    if shown is None:
        with pytest.raises(Rejected):
            box.shows(parsed(text), relation)
    else:
        assert box.shows(parsed(text), relation) is shown


NUMBERS = st.fractions(-5, 5, max_denominator=6)


@given(
    st.lists(NUMBERS, min_size=1, max_size=6),
    NUMBERS,
    NUMBERS,
    st.fractions(0, 1, max_denominator=7),
    st.integers(0, 8),
)
def test_bernstein_coefficients(
    powers: list[Fraction], low: Fraction, high: Fraction, share: Fraction, least_degree: int
) -> None:
    """Their mean, by the chances of so many heads, is the polynomial, times the number that they come with."""
    polynomial = growth.cleared({((("n", k),) if k else ()): c for k, c in enumerate(powers) if c})
    actual, scale = growth.bernstein(polynomial, "n", growth.number(low), growth.number(high), least_degree)
    degree, x = len(actual) - 1, low + share * (high - low)
    assert degree >= least_degree
    assert all(type(c) is int for part in actual for c in part.values())
    mean = sum(
        part.get((), 0) * math.comb(degree, i) * share**i * (1 - share) ** (degree - i) for i, part in enumerate(actual)
    )
    assert scale > 0
    assert mean == scale * sum(c * x ** dict(m).get("n", 0) for m, c in polynomial.items())


def least_by_horner(coefficients: list[tuple[int, int]], low: Fraction, high: Fraction) -> Fraction | None:
    """Of Σ (a·B + c)·E^i, by rule 3 of growth.py's docstring, in fractions: each a·B + c + h·M is least at an end of B."""
    h, b = Fraction(0), math.floor(low)
    for a, c in reversed(coefficients):
        if h < 0:
            return None
        k = 1 if a else 0
        h = min(a * end + c + h * Fraction(2**b, b**k) * end**k for end in (low, high))
    return h


LINEAR = st.lists(st.tuples(st.integers(-5, 5), st.integers(-99, 99)), min_size=1, max_size=3)


@given(LINEAR, st.fractions(8, 20, max_denominator=7), st.fractions(0, 3, max_denominator=7), st.integers(-1, 1))
def test_powers_of_two_by_horners_rule(
    coefficients: list[tuple[int, int]], low: Fraction, more: Fraction, off: int
) -> None:
    """In integers, so that the bounds on the way are fractions: what is just not below 0, and what is just not seen to be so."""
    high = low + more
    least = least_by_horner([(0, 0), *coefficients], low, high)
    if least is None:
        return
    rest = off - math.floor(least)
    polynomial = growth.number(rest)
    for i, (a, c) in enumerate(coefficients, start=1):
        polynomial |= {(("B", 1), ("E", i)): a} if a else {}
        polynomial |= {(("E", i),): c} if c else {}
    box = root(4, 0).within("B", growth.number(low), growth.number(high))
    assert box.shows(polynomial, ">=") is (least + rest >= 0)
    assert box.shows(polynomial, ">") is (least + rest > 0)


ENDS = {
    "n": ["1/2*E + 1", "1*E + -5", "3/4*E", "1/2*E + 1*B", "2/3*E"],
    "B": ["1*V^2", "3/4*V^2 + 1*v", "3/2*V^2 + -1/3"],
}
QUESTIONS = {
    "n": ["1*n + -3/4*E", "1*E + -5 + -1*n", "2*n^2 + -1*E^2", "3*n + -2*E", "1*n + -1/2*E + -1*B"],
    "B": ["1*B + -1*V^2", "3/2*V^2 + -1*B", "4*B + -3*V^2 + -4*v"],
}


def inside(box: Box, n: int) -> bool:
    values = values_at(n)
    of_v = values["v"] == box.start if box.fixed else values["v"] >= box.start
    ends = [(name, *(value(_text(end), values) for end in box.ends[name])) for name in ("B", "n")]
    return of_v and all(low <= values[name] <= high for name, low, high in ends)


def _text(polynomial: growth.Polynomial) -> str:
    return (
        " + ".join("*".join([str(c), *(f"{name}^{power}" for name, power in m)]) for m, c in polynomial.items()) or "0"
    )


@given(st.data())
def test_no_number_is_in_the_wrong_part_alone(data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(["n", "B"]))
    question = [data.draw(st.sampled_from(QUESTIONS[of])), data.draw(st.sampled_from([">", ">="]))]
    ends = [data.draw(st.sampled_from(ENDS[of])) for _ in range(2)]
    shift = data.draw(st.sampled_from(["", " + 1", " + -1", " + -1/3"]))
    r = data.draw(st.integers(0, 1))
    split = {"of": of, "question": question, "from": ends[0], "to": ends[1] + shift, "rises": data.draw(st.booleans())}
    try:
        parts = parts_of(root(3, r), split)
    except Rejected:
        return
    for n in (n for n in some_n(3) if parity(n) == r):
        assert inside(parts[0 if holds(question, values_at(n)) else 1], n)


def test_splits_that_leave_nothing_out() -> None:
    """At a whole number, at a fraction, at a root that is none; and some that leave out a number, or have the wrong parts."""
    box = root(7, 0)

    def fits(of: str, question: str, start: str, end: str, *, rises: bool = True, relation: str = ">=") -> bool:
        try:
            parts_of(box, {"of": of, "question": [question, relation], "from": start, "to": end, "rises": rises})
        except Rejected:
            return False
        return True

    assert fits("n", "1*n + 5 + -1*E", "1*E + -5", "1*E + -6")
    assert not fits("n", "1*n + 5 + -1*E", "1*E + -4", "1*E + -5")
    assert not fits("n", "1*n + 5 + -1*E", "1*E + -5", "1*E + -7")
    assert not fits("n", "1*n + 5 + -1*E", "1*E + -5", "1*E + -6", rises=False)
    assert not fits("n", "1*n + 5 + -1*E", "1*E + -5", "1*E + -6", relation=">")
    assert fits("n", "-1*n + -5 + 1*E", "1*E + -4", "1*E + -5", rises=False)
    assert fits("n", "3*n + -2*E", "2/3*E", "2/3*E + -1/3")
    assert not fits("n", "3*n + -2*E", "2/3*E + 1/3", "2/3*E + -1/3")
    assert fits("n", "2*n^2 + -1*E^2", "45/64*E", "46/64*E")
    assert not fits("n", "2*n^2 + -1*E^2", "46/64*E", "47/64*E")
    assert not fits("n", "1*n + 5 + -1*E", "1*E + -5*E^-1", "1*E + -6")
    assert not fits("B", "1*B + -3/4*V^2", "3/4*V^2 + 0*n", "1*n")


def test_all_that_a_theorem_shows_is_true() -> None:
    theorem = small()
    assert accepted(growth, theorem, {})
    met = set[int]()
    for n in SIZES:
        for fraction in (Fraction(0), Fraction(1, 3), Fraction(1)):
            values = values_at(n) | {f"f{i}": fraction for i in range(9)}
            for number in shown_at(theorem, n):
                met.add(number)
                assert holds(theorem["inequalities"][number], values), (n, theorem["inequalities"][number])
    assert len(met) > 0.8 * len(theorem["inequalities"])


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *itertools.chain.from_iterable(places(item, (*path, key)) for key, item in inner)]


def changed(leaf: Any) -> Any:
    """One change of a value."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf - 1 if leaf else 1
    if isinstance(leaf, str) and leaf in growth.OPPOSITE:
        return growth.OPPOSITE[leaf]
    if isinstance(leaf, str):
        return {"n": "B", "B": "n", "v": "n"}.get(leaf, f"{leaf} + -7")
    return leaf[:-1] if isinstance(leaf, list) else None


@settings(max_examples=30)
@given(st.data())
def test_a_tampered_theorem_is_rejected_or_true(data: st.DataObject) -> None:
    theorem = copy.deepcopy(small())
    case = theorem["cases"][data.draw(st.integers(0, 1))]
    while "parts" in case and data.draw(st.booleans()):
        case = case["parts"][data.draw(st.integers(0, 1))]
    within = theorem["inequalities"] if data.draw(st.booleans()) else case.get("split") or case["shown"]
    paths = [path for path in places(within) if path]
    assume(paths)  # a case may show nothing, and then nothing of it can be changed
    *way, last = data.draw(st.sampled_from(paths))
    inner = within
    for key in way:
        inner = inner[key]
    inner[last] = changed(inner[last])
    if not accepted(growth, theorem, {}):
        return
    for n in SIZES[::4]:
        values = values_at(n) | {f"f{i}": Fraction(1, 2) for i in range(9)}
        assert all(holds(theorem["inequalities"][number], values) for number in shown_at(theorem, n))


def test_what_is_rejected() -> None:
    theorem = small()
    assert not accepted(growth, theorem, {"trust": "me"})
    assert not accepted(growth, {**theorem, "bits_of_bits": 3}, {})  # the cases are not those of small n
    assert not accepted(growth, {**theorem, "bits_of_bits": True}, {})
    assert not accepted(growth, {**theorem, "cases": theorem["cases"][:1]}, {})
    assert not accepted(growth, {**theorem, "cases": theorem["cases"][::-1]}, {})
    assert not accepted(
        growth, {**theorem, "inequalities": [*theorem["inequalities"], ["1", ">"]]}, {}
    )  # which no case shows
    assert not accepted(growth, {**theorem, "inequalities": [["-1", ">"], *theorem["inequalities"][1:]]}, {})
    assert not accepted(growth, {**theorem, "inequalities": [["1*x", ">"], *theorem["inequalities"][1:]]}, {})
    for wrong in tuple[object, ...]((None, [], 3, {}, {"bits_of_bits": 7})):
        assert not accepted(growth, wrong, {})


def test_each_v_is_in_a_part() -> None:
    """The least is 4 and 3, after it are 5 and 4."""
    case = {"shown": [], "split": "v", "parts": [{"shown": []}, {"shown": [0]}]}
    for least, is_accepted in ((16, True), (32, False)):
        theorem = {"bits_of_bits": 7, "inequalities": [[f"1*V + -{least}", ">="]], "cases": [case, case]}
        assert accepted(growth, theorem, {}) is is_accepted


def test_an_answer_is_taken_times_what_is_not_negative() -> None:
    split = {"of": "n", "question": ["1*n + -3/4*E", ">="], "from": "3/4*E", "to": "3/4*E + -1/4", "rises": True}
    for text, factor, is_accepted in (("1*n*E + -3/4*E^2", "1*E", True), ("-1*n*E + 3/4*E^2", "-1*E", False)):
        case = {"shown": [], "split": split, "parts": [{"shown": [[0, 0, factor]]}, {"shown": []}]}
        assert (
            accepted(growth, {"bits_of_bits": 7, "inequalities": [[text, ">="]], "cases": [case, case]}, {})
            is is_accepted
        )


def test_stored_proofs_of_this_kind_find_their_checker() -> None:
    theorem = small()
    check_stored(theorem, {})
    cases = len(theorem["inequalities"])
    assert sentence_of(theorem) == f"for all n >= 2**63: {cases} inequalities, each in cases of n"
    with pytest.raises(Rejected):
        check_stored({**theorem, "inequalities": []}, {})
