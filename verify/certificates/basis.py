"""Another basis of the residual stream: a model in other coordinates and back, exactly, and what rounding does to it there.

Let x be the registers at a position, and B an invertible matrix. The model in the basis B keeps y = B·x in its stream. Matrices
that read the stream are multiplied by B⁻¹ from the right, and those that write it by B from the left. In exact arithmetic both
models are one function.

`misfit` asks the same of the p-bit machine, under `fused`. There a query, a key, a value, a gate and a logit are one sum each,
rounded once, and the exact sum over y is the exact sum over x. So while y = B·x holds, all of them have the same bits in both
models, and so has what each head reads and each unit holds. y = B·x goes on to hold if each coordinate is rounded as B·x is:

- A coordinate that is one register, or its negative, is rounded as the register is: rounding is symmetric.
- Any other coordinate must be a sum of whole multiples of registers. No operator rounds it if three facts hold, by the certificate
  of the model over x. The embedding cuts none of these registers off. Nothing that is written to them is rounded, so only whole
  multiples of the step are added. And no sum of these is beyond the largest number.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constructions.exports.weights import tensors
from constructions.layers import AttentionHead, Block, Matrix, Recurrence, Transformer
from constructions.places import ATTENTION, FEED_FORWARD, name_place
from precision.format import Format
from verify.algebra.domains import Rounded
from verify.rounding.checker import Report
from verify.rounding.model import ExactModel

FIELD = "basis"  # of a sidecar
UNTRIED = "not tried in this basis"
CLAIM = (
    "rounded, the stream is exactly matrix · registers, so each query, key, value, gate and logit has the bits that it has over "
    "registers"
)
LONGEST_ENTRY = 100  # characters
Rows: TypeAlias = Sequence[Sequence[Fraction]]
Ends: TypeAlias = tuple[Fraction, Fraction]
NOTHING: Ends = (Fraction(0), Fraction(0))


@dataclass(frozen=True, eq=False)
class Basis:
    """Coordinates y = matrix·x over registers x, and x = inverse·y. Raises ValueError unless the two are inverse to each other.

    The matrix has whole numbers.
    """

    matrix: Rows
    inverse: Rows

    def __post_init__(self) -> None:
        width = len(self.matrix)
        for name, rows in (("matrix", self.matrix), ("inverse", self.inverse)):
            if len(rows) != width or any(len(row) != width for row in rows):
                raise ValueError(f"the {name} is not square, of width {width}")
        for i, row in enumerate(self.matrix):
            if odd := [x for x in row if x.denominator != 1]:
                raise ValueError(f"row {i} of the matrix has {odd[0]}; whole numbers are due")
        (a, _), (b, of) = _whole(self.matrix), _whole(self.inverse)
        product = a @ b if width else a
        wrong = np.argwhere(product != of * np.identity(width, int).astype(object))
        if len(wrong):
            i, j = wrong[0].tolist()
            value = Fraction(product[i, j], of)
            raise ValueError(f"matrix · inverse has {value} in row {i}, column {j}, and {int(i == j)} is due")

    @property
    def document(self) -> dict[str, list[list[int | str]]]:
        """Returns both matrices as a sidecar has them."""
        return {
            "matrix": [[int(x) for x in row] for row in self.matrix],
            "inverse": [[int(x) if x.denominator == 1 else str(x) for x in row] for row in self.inverse],
        }

    def apply(self, model: Transformer) -> Transformer:
        """Returns the model over y for one over x. Raises ValueError if a weight would need more digits than float64 has."""
        return _move(model, self.matrix, self.inverse)

    def undo(self, model: Transformer) -> Transformer:
        """Returns the model over x for one over y. Raises ValueError if a weight would need more digits than float64 has."""
        return _move(model, self.inverse, self.matrix)

    def registers(self, stream: Sequence[Sequence[int]]) -> list[list[Fraction]]:
        """Returns what the registers hold at each position. stream: what each coordinate holds there, in quanta."""
        rows, of = _whole(self.inverse)
        values = rows @ np.array(stream, object)
        return [[Fraction(x, of) for x in row] for row in values.tolist()]


def read_basis(document: object, width: int) -> Basis:
    """Returns the basis of a sidecar or a file. Raises ValueError for what is none, or is of another width."""
    if not isinstance(document, dict) or document.keys() != {"matrix", "inverse"}:
        raise ValueError("a basis has a matrix and its inverse")
    basis = Basis(*(_entries(document[name], name) for name in ("matrix", "inverse")))
    if len(basis.matrix) != width:
        raise ValueError(f"the matrix has {len(basis.matrix)} rows, and the model has {width} coordinates")
    return basis


def _entries(rows: object, name: str) -> Rows:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"the {name} is no list of rows")
    result = []
    for i, row in enumerate(rows):
        if odd := [x for x in row if type(x) is not int and not (isinstance(x, str) and len(x) <= LONGEST_ENTRY)]:
            raise ValueError(
                f"row {i} of the {name} has {str(odd[0])[:40]!r}; a whole number is due, or a fraction as text"
            )
        try:
            result.append([Fraction(x) for x in row])
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"row {i} of the {name} has what is no number") from None
    return result


def signed_permutation(width: int, rng: random.Random) -> Basis:
    """Returns a basis whose coordinates are the registers in a random order, each with a random sign."""
    places, signs = rng.sample(range(width), width), rng.choices((1, -1), k=width)
    rows = [[Fraction(sign * (j == place)) for j in range(width)] for place, sign in zip(places, signs, strict=True)]
    return Basis(rows, [*zip(*rows, strict=True)])


def hadamard(width: int) -> Basis:
    """Returns a basis of Sylvester's Hadamard matrices, one for each power of two that `width` is the sum of, the largest first."""
    matrix = [[Fraction(0)] * width for _ in range(width)]
    inverse = [[Fraction(0)] * width for _ in range(width)]
    start = 0
    for size in (1 << b for b in reversed(range(width.bit_length())) if width >> b & 1):
        for i in range(size):
            for j in range(size):
                sign = Fraction(-1 if (i & j).bit_count() % 2 else 1)
                matrix[start + i][start + j], inverse[start + i][start + j] = sign, sign / size
        start += size
    return Basis(matrix, inverse)


def _is_sign(row: Sequence[Fraction]) -> bool:
    return [abs(x) for x in row if x] == [1]


def sidecar_in(basis: Basis, sidecar: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the sidecar of a model in this basis, for that of the model over registers."""
    return {**sidecar, **in_any_basis(sidecar), FIELD: basis.document}


def in_any_basis(sidecar: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a sidecar that a basis changes: in it nobody tried to compute without rounding."""
    return {"float_formats": dict.fromkeys(sidecar["float_formats"], UNTRIED)}


# Matrices


def _move(model: Transformer, matrix: Rows, inverse: Rows) -> Transformer:
    """Returns the model over matrix·x for one over x."""

    def read(weights: Matrix) -> Matrix:
        return _product(weights, inverse)

    def written(weights: Matrix) -> Matrix:
        return _product(weights.T, [*zip(*matrix, strict=True)]).T

    def block(old: Block) -> Block:
        heads = tuple(AttentionHead(read(h.query), read(h.key), read(h.value), written(h.out)) for h in old.heads)
        ffn, recurrence = old.feed_forward, old.recurrence
        if recurrence is not None:
            recurrence = Recurrence(read(written(recurrence.carry)), read(written(recurrence.feed)))
        down, bias = written(ffn.down), written(ffn.down_bias[:, None])[:, 0]
        return Block(heads, replace(ffn, gate=read(ffn.gate), up=read(ffn.up), down=down, down_bias=bias), recurrence)

    words, unembed = written(model.words.T).T, read(model.unembed)
    return replace(
        model,
        words=words,
        position=written(model.position[:, None])[:, 0],
        blocks=tuple(map(block, model.blocks)),
        unembed=words if np.array_equal(words, unembed) else unembed,
        said=None,
    )


def _product(weights: Matrix, rows: Rows) -> Matrix:
    """Returns weights · rows. Raises ValueError if float64 does not hold it exactly."""
    if all(map(_is_sign, rows)):  # the columns in another order, in a thousandth of the time
        result = np.zeros(weights.shape)
        for j, row in enumerate(rows):
            place = next(i for i, x in enumerate(row) if x)
            result[:, place] = weights[:, j] if row[place] > 0 else 0 - weights[:, j]
        return result
    if 0 in weights.shape:
        return weights
    (a, of_a), (b, of_b) = _whole(weights.tolist()), _whole(rows)
    of, result = of_a * of_b, np.zeros((len(a), b.shape[1]))
    for i, line in enumerate((a @ b).tolist()):
        for j, number in enumerate(line):
            if number:
                exact = Fraction(number, of)
                result[i, j] = float(exact)
                if Fraction(float(result[i, j])) != exact:
                    raise ValueError(f"in this basis a weight is {exact}, and float64 does not hold it")
    return result


def _whole(rows: Iterable[Sequence[Fraction | float]]) -> tuple[NDArray[Any], int]:
    """Returns whole numbers, and the one that they are divided by."""
    ratios = [[x.as_integer_ratio() for x in row] for row in rows]
    of = lcm(*{d for row in ratios for _, d in row})
    return np.array([[n * (of // d) for n, d in row] for row in ratios], object), of


# What rounding does


@dataclass(frozen=True)
class Misfit:
    """Why rounding may differ in a basis. precision_bits: the p from which on it does not for this reason; 0 if there is none.

    is_weight: a weight is no number of the format, which is a fact; everything else is a bound that may be wide. is_covered: a
    rule covers the place.
    """

    where: str
    what: str
    precision_bits: int
    is_weight: bool = False
    is_covered: bool = True


def misfit(basis: Basis, moved: Transformer, model: ExactModel, report: Report) -> Misfit | None:
    """Returns the first reason for which the p-bit machine may hold another y than B·x; None if there is none.

    moved: the matrices over y. model: over x, with the report of its certificate.
    """
    if (found := _no_element(moved, model.arithmetic.format)) is not None:
        return found
    mixed = [i for i, row in enumerate(basis.matrix) if not _is_sign(row)]
    if mixed and any(layer.recurrence is not None for layer in model.layers):
        return Misfit(
            "the basis", "there is no rule for a recurrence whose states are sums of registers", 0, is_covered=False
        )
    ends = _ends(report) if mixed else {}
    for i in mixed:
        row = {j: x for j, x in enumerate(basis.matrix[i]) if x}
        if (found := _round(i, row, model, report) or _exceeds(i, row, model, ends)) is not None:
            return found
    return None


def _no_element(model: Transformer, held: Format) -> Misfit | None:
    """Returns the first weight that is no number of the format, with the p for all weights."""
    first, bits = "", 0
    for name, array in tensors(model).items():
        for weight in map(Fraction, np.unique(array).tolist()):
            if abs(weight) > held.max_value or (weight / held.quantum).denominator > 1:
                first = first or f"{name}: {weight}"
                bits = max(bits, _bits_for(abs(weight)), 2 * weight.denominator.bit_length() - 1)
    name, _, what = first.partition(": ")
    return (
        Misfit(f"the weights, {name}", f"in this basis {what} is no element of {held.name}", bits, True)
        if first
        else None
    )


def _round(coordinate: int, row: Iterable[int], model: ExactModel, report: Report) -> Misfit | None:
    """Returns why a register that is part of a coordinate may be rounded when it is written."""
    for state in report.entries[0].states:
        for j in row:
            rounded = {name for name in state.register(j).atoms if isinstance(state.box[name], Rounded)}
            if rounded:
                ends = max(map(abs, state.bounds(state.ideal(state.register(j)))))
                return Misfit(
                    f"the embedding, register {model.registers[j]}",
                    f"saturates, and is part of coordinate {coordinate}",
                    _bits_for(ends),
                )
    space = report.entries[0].states[0].space
    inexact = {
        where for where, low, high in space.inexact if low != high or Fraction(low * space.steps).denominator > 1
    }
    for number, layer in enumerate(model.layers, start=1):
        written = [(ATTENTION, j) for j, _ in layer.out] + [(FEED_FORWARD, j) for j, _, _ in layer.feed_forward.down]
        for part, j in written:
            where = f"{name_place(number, part)}, register {model.registers[j]}"
            if j in row and where in inexact:
                return Misfit(where, f"what is written may be rounded, and is part of coordinate {coordinate}", 0)
    return None


def _exceeds(
    coordinate: int, row: Mapping[int, Fraction], model: ExactModel, ends: Mapping[int, Ends]
) -> Misfit | None:
    """Returns a misfit if a coordinate, or a sum added to it at once, may exceed the largest number of the format; else None."""
    held = [(j, x, *ends.get(j, NOTHING)) for j, x in row.items()]
    low = sum(min(x * low, x * high) for _, x, low, high in held)
    high = sum(max(x * low, x * high) for _, x, low, high in held)
    most = Fraction(max(-low, high))
    for layer in model.layers:
        for written in ({j for j, _ in layer.out}, {j for j, _, _ in layer.feed_forward.down}):
            most = max(most, sum((abs(x) * (high - low) for j, x, low, high in held if j in written), Fraction(0)))
    largest = model.arithmetic.format.max_value
    if most <= largest:
        return None
    widest = max(held, key=lambda item: abs(item[1]) * max(-item[2], item[3]))[0]
    what = f"a sum of {len(held)} registers, of which {model.registers[widest]} is the largest, may reach {float(most):.6g}"
    return Misfit(f"coordinate {coordinate}", f"{what}; the largest number is {float(largest):.6g}", _bits_for(most))


def _ends(report: Report) -> dict[int, Ends]:
    """Returns the least and the largest number of each register, 0 among them, after each sublayer of every text."""
    ends: dict[int, Ends] = {}
    for state in report.met:
        for j, held in state.registers.items():
            if j >= 0:
                low, high = state.reach(held)
                old = ends.get(j, NOTHING)
                ends[j] = min(low, old[0]), max(high, old[1])
    return ends


def _bits_for(most: Fraction) -> int:
    """Returns the least p whose R_p reaches so far: its largest number is 2^q − 2^−q, q = (p − 1)/2."""
    digits = math.floor(most).bit_length()
    return 2 * digits + (3 if most > (1 << digits) - Fraction(1, 1 << digits) else 1)
