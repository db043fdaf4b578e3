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
    """Attention weights, and how they came about.

    weights: as the scores, values of the format; +0.0 where masked.
    decided_by: number of columns by the step that decided, as in `Softmax`; "float64" is mostly the step of this module.
    saturated, tie: as the scores without their axis, whether some rounding on the way saturated or was a tie.
    """

    weights: FloatArray
    decided_by: Counter[str]
    saturated: BoolArray
    tie: BoolArray


@takes_tensors
def softmax_array(
    scores: npt.ArrayLike, mask: npt.ArrayLike | None, arithmetic: Arithmetic, axis: int = -1
) -> SoftmaxArray:
    """Returns the correctly rounded softmax of the scores over one axis, the last by default, as numpy, scipy and torch have it.

    scores: any number of dimensions, elements of arithmetic.format; −∞ is a masked place. axis: that of the keys; with
    axis=0 the scores are (key, query). mask: as scores, true where the query attends to the key; None if each attends to all.
    What stands at masked places is ignored, provided it is no NaN and not +∞.

    Raises ValueError, naming the column, if a query attends to no key; if a score is NaN or +∞, or (where the definition is
    asked) not a whole number of quanta; if float64 does not hold the elements of the format; for STOCHASTIC, which only
    `softmax` offers.

    Example: softmax_array([[0.0, 1.0], [2.0, 2.0]], None, Arithmetic(fixed_point(9))).weights is [[0.25, 0.75], [0.5, 0.5]].
    """
    score_array = float64_values(scores)
    attended = np.ones(score_array.shape, dtype=np.bool_) if mask is None else np.asarray(mask, dtype=np.bool_)
    if score_array.shape != attended.shape:
        raise ValueError(f"scores {score_array.shape} and mask {attended.shape} must both have the shape of the scores")
    if not -score_array.ndim <= axis < score_array.ndim:
        raise ValueError(f"axis {axis} is none of scores of {score_array.ndim} dimensions")
    if arithmetic.rounding is Rounding.STOCHASTIC:
        raise ValueError("stochastic rounding of a softmax is offered by `softmax` only")
    require_float64_format(arithmetic.format)
    if (bad := score_array[np.isnan(score_array) | (score_array == np.inf)]).size:
        raise ValueError(f"cannot take softmax of {bad[0]}: scores must be finite, or −inf where masked")
    attended = attended & (score_array != -np.inf)
    keys_first = np.moveaxis(np.where(attended, score_array, 0.0), axis, 0)
    kept = np.moveaxis(attended, axis, 0)
    others = keys_first.shape[1:]
    if not (attends := kept.any(axis=0)).all():
        query = np.argwhere(~attends)[0].tolist()
        where = f"query {query[0] if len(query) == 1 else tuple(query)}" if query else "the query"
        raise ValueError(f"softmax of an empty column: {where} attends to no key")
    shape = (keys_first.shape[0], attends.size)
    by_column = _columns(keys_first.reshape(shape), kept.reshape(shape), arithmetic)
    return SoftmaxArray(
        np.moveaxis(by_column.weights.reshape(keys_first.shape), 0, axis),
        by_column.decided_by,
        by_column.saturated.reshape(others),
        by_column.tie.reshape(others),
    )


def _columns(score_array: FloatArray, attended: BoolArray, arithmetic: Arithmetic) -> SoftmaxArray:
    """Returns the weights of columns (key, query), each with a key that is attended to."""
    fmt = arithmetic.format
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
    """Returns rounded weights (key, query), and the queries (query,) whose column is not decided.

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
    """Returns whether rounding one float64 operation (-, +, ÷) on elements rounds the exact result, for SEQUENTIAL's operands.

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
    """Returns weights (key, query) with every operation rounded, in the order of the keys; saturated and tie (query,)."""
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
