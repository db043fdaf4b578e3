"""Affine forms: arithmetic, and how they are written."""

from fractions import Fraction

import pytest

from constructions.wiring.affine import Affine, reg, show_number, total

x, y = reg("x"), reg("y")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Affine(), "0"),
        (Affine({}, Fraction(-3)), "−3"),
        (x, "x"),
        (-x, "−x"),
        (2 * x, "2·x"),
        (-2 * x, "−2·x"),
        (x + y, "x + y"),
        (x - y, "x − y"),
        (-x - y, "−x − y"),
        (-x + y, "−x + y"),
        (x - 3, "x − 3"),
        (x + Fraction(1, 2), "x + 1/2"),
        (1 - x, "1 − x"),
        (1 - x - y, "1 − x − y"),
        (-x - 1, "−x − 1"),
        (Fraction(5, 16) - x, "5/16 − x"),
        (Fraction(-1, 3) * x, "−1/3·x"),
        (2**20 * x - 3 * 2**30 * y, "2^20·x − 3·2^30·y"),
        (x - Fraction(1, 2**12), "x − 2^−12"),
        (reg("~@1") - reg("-@1"), "~@1 − '-@1'"),
    ],
)
def test_a_form_reads_as_a_person_writes_it(form: Affine, text: str) -> None:
    assert str(form) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-7, "−7"),
        (1023, "1023"),
        (1024, "2^10"),
        (-3 * 2**11, "−3·2^11"),
        (1000, "1000"),
        (Fraction(3, 8), "3/8"),
        (Fraction(-1, 2**10), "−2^−10"),
        (Fraction(5, 2**40), "5·2^−40"),
        (Fraction(1, 1024 * 3), "1/3072"),
    ],
)
def test_long_powers_of_two_are_written_as_powers(value: int | Fraction, text: str) -> None:
    assert show_number(value) == text


def test_zero_coefficients_are_dropped_and_order_is_kept() -> None:
    assert list((y + x + 2 * y).terms) == ["y", "x"]
    assert (x - x).terms == {}
    assert total([x, y, -x]) == y
    assert total([]) == Affine()
