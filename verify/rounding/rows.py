"""The exact layers of a model by its matrices, and weights as a certificate calculates with them.

A plan's numbers need not fit into float64. A weight is a number, or an affine form of the size n where one model stands for an
interval of sizes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from constructions.layers import Block, FeedForward, Matrix
from constructions.wiring.exact import HeadRows, Layer, Recurrent, Row, Sublayer, Unit, Weight, Written
from verify.algebra.growing import Growing
from verify.algebra.polynomial import Number, Polynomial, constant
from verify.algebra.symbolic import Size, as_weight


def exact(value: float | Number) -> Any:
    """The number, an int where it is one: those calculate ten times as fast."""
    if type(value) is int:  # before what takes longer to ask
        return value
    if type(value) is Fraction and type(value.numerator) is int:
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, Size):
        weight = as_weight(value)
        return weight if isinstance(weight, Polynomial) else exact(weight)
    if isinstance(value, Growing):
        return value
    number = Fraction(value)
    if isinstance(number.numerator, Size):
        raise TypeError(f"{number.numerator} has become part of a number")
    return number.numerator if number.denominator == 1 else number


def as_polynomial(weight: Weight) -> Polynomial:
    """The weight as a polynomial in n."""
    return weight if isinstance(weight, Polynomial) else constant(weight)


def sparse(row: Matrix) -> Row:
    """The entries of a matrix row that are not zero."""
    return tuple((int(i), exact(float(row[i]))) for i in np.flatnonzero(row))


def of_matrices(block: Block) -> Layer:
    """A block's rows."""
    heads = tuple(
        HeadRows(*(tuple(map(sparse, matrix)) for matrix in (head.query, head.key, head.value))) for head in block.heads
    )
    out = np.concatenate([head.out for head in block.heads], axis=1) if block.heads else np.zeros((0, 0))
    recurrence = None
    if block.recurrence is not None:
        recurrence = Recurrent(_written(block.recurrence.carry), _written(block.recurrence.feed))
    return Layer(heads, _written(out), _sublayer(block.feed_forward), recurrence)


def _written(matrix: Matrix) -> Written:
    return tuple((int(i), sparse(matrix[i])) for i in np.flatnonzero(matrix.any(axis=1)))


def _sublayer(weights: FeedForward) -> Sublayer:
    units = tuple(
        Unit(sparse(gate), exact(float(a)), sparse(up), exact(float(b)))
        for gate, a, up, b in zip(weights.gate, weights.gate_bias, weights.up, weights.up_bias, strict=True)
    )
    written = np.flatnonzero(weights.down.any(axis=1) | (weights.down_bias != 0)).tolist()
    down = tuple((i, sparse(weights.down[i]), exact(float(weights.down_bias[i]))) for i in written)
    return Sublayer(units, down)
