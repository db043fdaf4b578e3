"""Softmax of many columns at once, in float64: the vectorised twin of softmax.py, with the same bits.

Source: appendix A.2, as in softmax.py.

FUSED computes each weight with an error bound and rounds both ends of the interval; a column in which any entry stays open
is decided by the definition. SEQUENTIAL repeats the definition's operations where one float64 operation followed by the
rounding gives the rounding of the exact result, and is left to the definition elsewhere.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precision.exponential_array import LIBRARY_ERROR, LIBRARY_RANGE, exp_array, to_quanta
from precision.format import Arithmetic, Discipline, Format, Rounding
from precision.libraries import FloatArray, float64_values, takes_tensors
from precision.rounding_array import (
    BoolArray,
    RoundedArray,
    require_float64_format,
    round_array,
    round_values,
)
from precision.softmax import softmax

# Columns handled together: bounds the temporaries, and keeps a slab of scores near the core.
_COLUMNS = 256


class SoftmaxArray(NamedTuple):
    """Columns of attention weights, and how they came about.

    weights: (key, query), values of the format; +0.0 where masked.
    decided_by: number of columns by the step that decided, as in `Softmax`; "float64" is mostly the step of this module.
    saturated, tie: (query,), whether some rounding on the way saturated or was a tie.
    """

    weights: FloatArray
    decided_by: Counter[str]
    saturated: BoolArray
    tie: BoolArray


@takes_tensors
def softmax_array(scores: npt.ArrayLike, mask: npt.ArrayLike | None, arithmetic: Arithmetic) -> SoftmaxArray:
    """The weights that each query gives to the keys: softmax over axis 0 of `scores`.

    scores: (key, query), elements of arithmetic.format; what stands at masked places is ignored, provided it is finite. One
        column may come as (key,); then the weights are (key,) as well, and the flags have no dimension.
    mask: as scores, true where the query attends to the key; None if each attends to all.
    Raises ValueError, naming the column, if a query attends to no key; if a score is not finite, or (where the definition
    is asked) not a whole number of quanta; if float64 does not hold the elements of the format; for STOCHASTIC, which
    only `softmax` offers.
    """
    fmt = arithmetic.format
    score_array = float64_values(scores)  # (key, query)
    attended = np.ones(score_array.shape, dtype=np.bool_) if mask is None else np.asarray(mask, dtype=np.bool_)
    if score_array.ndim == 1 and score_array.shape == attended.shape:
        one = softmax_array(score_array[:, None], attended[:, None], arithmetic)
        return SoftmaxArray(one.weights[:, 0], one.decided_by, one.saturated[0], one.tie[0])
    if score_array.ndim != 2 or score_array.shape != attended.shape:
        raise ValueError(f"scores {score_array.shape} and mask {attended.shape} must both have the shape (key, query)")
    if arithmetic.rounding is Rounding.STOCHASTIC:
        raise ValueError("stochastic rounding of a softmax is offered by `softmax` only")
    require_float64_format(fmt)
    if not np.isfinite(score_array).all():
        raise ValueError(
            f"cannot take softmax of {score_array[~np.isfinite(score_array)].flat[0]}: scores must be finite"
        )
    empty = np.flatnonzero(~attended.any(axis=0))
    if empty.size:
        raise ValueError(f"softmax of an empty column: query {empty[0]} attends to no key")

    fused = arithmetic.discipline is Discipline.FUSED
    weights = np.zeros(score_array.shape)
    saturated, tie = np.zeros(score_array.shape[1], dtype=np.bool_), np.zeros(score_array.shape[1], dtype=np.bool_)
    decided_by: Counter[str] = Counter()
    for start in range(0, score_array.shape[1], _COLUMNS):
        part = slice(start, start + _COLUMNS)
        if fused:
            slab, undecided = _fused_slab(score_array[:, part], attended[:, part], fmt, arithmetic.rounding)
        elif _operations_round_once(fmt, arithmetic.rounding):
            slab, saturated[part], tie[part] = _sequential_slab(
                score_array[:, part], attended[:, part], fmt, arithmetic.rounding
            )
            undecided = np.zeros(slab.shape[1], dtype=np.bool_)
        else:
            slab = np.zeros_like(score_array[:, part])
            undecided = np.ones(slab.shape[1], dtype=np.bool_)
        decided_by["float64"] += int(np.count_nonzero(~undecided))
        for column in np.flatnonzero(undecided).tolist():
            keys = attended[:, start + column]
            quanta = [to_quanta(score, fmt) for score in score_array[keys, start + column].tolist()]
            exact = softmax(quanta, arithmetic)
            slab[:, column] = 0.0
            slab[keys, column] = [float(weight * fmt.quantum) for weight in exact.weights]
            decided_by[exact.decided_by] += 1
            saturated[start + column], tie[start + column] = exact.saturated, exact.tie
        weights[:, part] = slab
    return SoftmaxArray(weights, +decided_by, saturated, tie)


def _fused_slab(scores: FloatArray, mask: BoolArray, fmt: Format, rounding: Rounding) -> tuple[FloatArray, BoolArray]:
    """Rounded weights (key, query), and the queries (query,) whose column is not decided.

    What is decided here is no tie: around a midpoint the ends of the interval round apart.
    """
    top = np.max(np.where(mask, scores, -np.inf), axis=0)  # (query,)
    with np.errstate(over="ignore"):  # floats near ±the largest float64; the gap is then infinite, its weight nil
        gap = np.where(mask, top - scores, np.inf)  # (key, query)
    far = gap > LIBRARY_RANGE
    power = np.where(far, 0.0, np.exp(-np.minimum(gap, LIBRARY_RANGE)))
    weight = power / np.sum(power, axis=0)
    # Relative error in units of 2^-53: exp and the sum of exps 16 each, the rounded gap one per unit of the gap itself and
    # less than one per key in the sum, additions one per key, then three more. Twice the total covers products of errors.
    units = 4 * LIBRARY_ERROR * 2.0**53 + 4.0 * scores.shape[0] + 4.0 * np.minimum(gap, LIBRARY_RANGE)
    error = units * 2.0**-53
    # A weight beyond the library's range lies below 2^-1000: nil for every format with a larger quantum.
    low = weight * (1.0 - error)
    high = np.where(far & mask, 2.0**-1000, weight * (1.0 + error))
    rounded = _round(low, fmt, rounding)
    return rounded, np.logical_or.reduce(rounded != _round(high, fmt, rounding), axis=0)


def _round(x: FloatArray, fmt: Format, rounding: Rounding) -> FloatArray:
    return round_values(x, fmt) if rounding is Rounding.NEAREST_EVEN else round_array(x, fmt, rounding).value


def _operations_round_once(fmt: Format, rounding: Rounding) -> bool:
    """Whether rounding one float64 operation (-, +, ÷) on elements rounds the exact result, for SEQUENTIAL's operands.

    Derivation: fixed point of s digits: differences and sums are exact. A quotient of elements a <= b below 1, hence at most
    2^s quanta each, that is not a multiple of half a quantum stays away from those multiples by quantum / (2 · 2^s), which
    exceeds the float64 error 2^-54 as long as s - quantum_exponent <= 52. IEEE-like formats to nearest: 53 >= 2 s + 2 digits
    make a second rounding harmless, given that subnormal results keep their full float64 accuracy.
    """
    if fmt.is_fixed_point:
        return fmt.max_quanta.bit_length() - fmt.quantum_exponent <= 52
    return rounding is Rounding.NEAREST_EVEN and fmt.significand_bits <= 25 and fmt.quantum_exponent >= -500


def _sequential_slab(
    scores: FloatArray, mask: BoolArray, fmt: Format, rounding: Rounding
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Weights (key, query) with every operation rounded, in the order of the keys; saturated and tie (query,)."""
    top = np.max(np.where(mask, scores, -np.inf), axis=0)  # (query,)
    difference = round_array(np.where(mask, scores, top) - top, fmt, rounding)  # (key, query)
    power = exp_array(difference.value, fmt, rounding)  # a masked key's is exp(0), without flags
    addend = np.where(mask, power.value, 0.0)
    total = addend[0]
    steps = [difference, power]
    for row in addend[1:]:
        addition = round_array(total + row, fmt, rounding)  # adding a masked key's 0 is exact
        total = addition.value
        steps.append(RoundedArray(total, addition.saturated[None], addition.tie[None]))
    quotient = round_array(addend / total, fmt, rounding)
    steps.append(quotient)
    saturated = np.concatenate([step.saturated for step in steps])
    tie = np.concatenate([step.tie for step in steps])
    return quotient.value, np.logical_or.reduce(saturated, axis=0), np.logical_or.reduce(tie, axis=0)
