"""Hypothesis strategies that the tests share."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from precision import FLOAT_FORMATS, Format, fixed_point

SMALL_FORMATS = tuple(fixed_point(p) for p in (5, 7, 9)) + tuple(
    f for f in FLOAT_FORMATS if f.name.startswith(("fp8_", "fp6_", "fp4_"))
)
ARRAY_FORMATS = tuple(fixed_point(p) for p in (5, 9, 17, 33, 51, 53)) + FLOAT_FORMATS


def elements(fmt: Format) -> st.SearchStrategy[Fraction]:
    """Non-negative and negative elements of a format, of every magnitude and with every number of digits."""

    def element(digits: int, step: int, negative: bool) -> Fraction:
        quanta = min(digits << step, fmt.max_quanta)
        return (-quanta if negative else quanta) * fmt.quantum

    largest_step = max(0, fmt.max_quanta.bit_length() - fmt.significand_bits)
    return st.builds(element, st.integers(0, 2**fmt.significand_bits - 1), st.integers(0, largest_step), st.booleans())


def values(fmt: Format) -> st.SearchStrategy[Fraction]:
    """Numbers that are hard to round: elements, midpoints, both shifted by very little, and numbers out of range."""

    def beside(element: Fraction, halves: int, side: int, closeness: int) -> Fraction:
        digits = (abs(element) / fmt.quantum).numerator.bit_length()
        step = fmt.quantum * 2 ** max(0, digits - fmt.significand_bits)
        return element + step * (Fraction(halves, 2) + side * Fraction(1, 2**closeness))

    near = st.builds(
        beside, elements(fmt), st.integers(-2, 2), st.sampled_from((-1, 0, 0, 1)), st.sampled_from((2, 3, 20, 60, 2000))
    )
    stretched = st.builds(lambda value, factor: value * factor, near, st.fractions(-4, 4, max_denominator=64))
    return near | stretched


def float_values(fmt: Format) -> st.SearchStrategy[float]:
    """Those of `values(fmt)` that float64 holds, and their neighbours."""
    largest = Fraction(2) ** 1023
    return values(fmt).filter(lambda value: abs(value) < largest).map(float)
