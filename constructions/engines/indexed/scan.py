"""Linear recurrences over whole sequences: as parallel scans where that provably gives the same bits, else step by step.

Source: definition 3.4, h_t = A·h_{t−1} + B·X_t.
Derivation: order the rows of A so that each depends on itself and on earlier ones. A row without itself is a shift of
columns already known, one operator a position. A row with itself, coefficient 1, is a running sum; if every term is a
multiple of the quantum and the bound of the sum stays within the format, no step rounds or saturates, so any order of
addition gives the same bits. A row with itself and another integer coefficient, or with sums that no such bound covers, is
iterated on exact integers; as long as they stay within the format, induction over positions shows that no step has rounded or
saturated. All other recurrences are run by definition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from constructions.engines.indexed.column import Column, combine, dyadic, of_integers, rounded, zeros
from constructions.engines.indexed.mantissas import Mantissas, concatenate, from_integers, running_sums
from constructions.engines.indexed.operators import Operators
from constructions.engines.weights import ZERO
from constructions.rows import Recurrent, coordinates
from precision.format import Discipline


def states(
    operators: Operators,
    recurrence: Recurrent,
    stream: Sequence[Column],
    length: int,
    held: Mapping[int, Fraction] | None = None,
) -> tuple[dict[int, Column], bool]:
    """h_1 … h_length of each state register, and whether a scan gave them. held: h_0, where it is not 0."""
    state_of = _scan(operators, recurrence, stream, length, held or {})
    if state_of is not None:
        return state_of, True
    return _step_by_step(operators, recurrence, stream, length, held or {}), False


def _scan(
    operators: Operators, recurrence: Recurrent, stream: Sequence[Column], length: int, held: Mapping[int, Fraction]
) -> dict[int, Column] | None:
    if any(len(group) > 1 for group in recurrence.groups):
        return None
    arithmetic, fmt = operators.arithmetic, operators.arithmetic.format
    rows = {register: (carry, feed) for register, carry, feed in recurrence.states()}
    state_of: dict[int, Column] = {}
    for (register,) in recurrence.groups:
        carry, feed = rows[register]
        own, before = operators.weight(dict(carry).get(register, ZERO)), held.get(register, Fraction(0))
        terms = [
            (operators.weight(w), _delay(state_of[j], held.get(j, Fraction(0))))
            for j, w in carry
            if j != register and j in state_of
        ]
        terms += [(operators.weight(w), stream[j]) for j, w in feed]
        total = combine(terms, Fraction(0), length)
        reach = sum((abs(w) * column.reach for w, column in terms), Fraction(0))
        exact = all(combine([term], Fraction(0), length).e >= fmt.quantum_exponent for term in terms)
        exact = exact and fmt.is_fixed_point
        if own == 0:
            if not (exact and reach <= fmt.max_value) and arithmetic.discipline is Discipline.SEQUENTIAL:
                return None
            state_of[register] = rounded(total, arithmetic)[0]
        elif own == 1 and exact and abs(before) + reach * length <= fmt.max_value:
            state_of[register] = _running_sum(total, before)
        elif own.denominator == 1 and exact:
            # Under `sequential` each partial sum must lie within the format, and none exceeds |own|·|h| + reach.
            fused = arithmetic.discipline is Discipline.FUSED
            iterated = _iterate(int(own), total, before, fmt.max_value if fused else (fmt.max_value - reach) / abs(own))
            if iterated is None:
                return None
            state_of[register] = iterated
        else:
            return None
    return state_of


def _running_sum(inputs: Column, before: Fraction) -> Column:
    """h_t = h_{t−1} + the input at t, exactly."""
    first, m, bound, e = _align(before, inputs)
    sums = Column(running_sums(m, bound), e, bound * len(m))
    return combine([(Fraction(1), sums)], first * Fraction(2) ** e, len(m))


def _iterate(factor: int, inputs: Column, before: Fraction, largest: Fraction) -> Column | None:
    """h_t = factor·h_{t−1} + the input at t, exactly; None as soon as |h_t| exceeds `largest`."""
    value, m, _, e = _align(before, inputs)
    bound = math.floor(largest / Fraction(2) ** e)
    values = []
    for x in m.tolist():
        value = factor * value + x
        if not -bound <= value <= bound:
            return None
        values.append(value)
    return of_integers(values, e)


def _delay(column: Column, before: Fraction) -> Column:
    """Returns the column one position later, `before` first."""
    if not len(column):
        return column
    first, m, bound, e = _align(before, column)
    return Column(concatenate([from_integers(np.array([first], object)), m[:-1]]), e, max(abs(first), bound))


def _align(before: Fraction, column: Column) -> tuple[int, Mantissas, int, int]:
    """Returns the mantissa of a dyadic value, those of a column, a bound of these, and the exponent that serves both."""
    mantissa, e = dyadic(before)
    if not mantissa:
        return 0, column.m, column.bound, column.e
    if column.is_zero:
        return mantissa, column.m, 0, e
    low = min(e, column.e)
    return mantissa << (e - low), column.scaled_to(low), column.bound << (column.e - low), low


def _step_by_step(
    operators: Operators, recurrence: Recurrent, stream: Sequence[Column], length: int, held: Mapping[int, Fraction]
) -> dict[int, Column]:
    """Computes the recurrence by definition, position by position, on integers in quanta."""
    fmt = operators.arithmetic.format
    inputs = {j: stream[j].to_quanta(fmt.quantum_exponent) for j in coordinates(row for _, row in recurrence.feed)}
    rows = [
        (register, [j for j, _ in carry], [j for j, _ in feed], [weight.quanta for _, weight in (*carry, *feed)])
        for register, carry, feed in recurrence.states()
    ]
    state = {register: int(held.get(register, 0) / fmt.quantum) for register, *_ in rows}
    history: dict[int, list[int]] = {register: [] for register in state}
    for t in range(length):
        state = {
            register: operators.dot(weights, [state.get(j, 0) for j in carry] + [inputs[j][t] for j in feed])
            for register, carry, feed, weights in rows
        }
        for register, value in state.items():
            history[register].append(value)
    return {r: of_integers(h, fmt.quantum_exponent) if h else zeros(0) for r, h in history.items()}
