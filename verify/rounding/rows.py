"""The exact layers of a model by its matrices, and weights as a certificate calculates with them.

A plan's numbers need not fit into float64. A weight is a number, or an affine form of the size n where one model stands for an
interval of sizes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from constructions.layers import Block, Matrix
from constructions.rows import Layer, Row, Weight, block_rows, matrix_rows
from verify.algebra.interval import as_form
from verify.algebra.polynomial import Number, Polynomial, constant
from verify.algebra.symbolic import grows, is_sized


def exact(value: float | Number) -> Any:
    """Returns the number, an int where it is one: those calculate ten times as fast."""
    if type(value) is int:  # before what takes longer to ask
        return value
    if type(value) is Fraction and type(value.numerator) is int:
        return value.numerator if value.denominator == 1 else value
    if is_sized(value):
        weight = as_form(value)
        return weight if isinstance(weight, Polynomial) else exact(weight)
    if grows(value):
        return value
    number = Fraction(value)
    if is_sized(number.numerator):
        raise TypeError(f"{number.numerator} has become part of a number")
    return number.numerator if number.denominator == 1 else number


def as_polynomial(weight: Weight) -> Polynomial:
    """Returns the weight as a polynomial in n."""
    return weight if isinstance(weight, Polynomial) else constant(weight)


def sparse(row: Matrix) -> Row:
    """Returns the entries of a matrix row that are not zero."""
    return matrix_rows(row[None], exact)[0]


def of_matrices(block: Block) -> Layer:
    """Returns a block's rows."""
    return block_rows(block, exact)
