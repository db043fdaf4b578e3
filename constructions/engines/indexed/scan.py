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
from precision.format import Arithmetic, Discipline
from precision.rounding import round_shifted

Rows = Mapping[int, tuple[Mapping[int, Fraction], Mapping[int, Fraction]]]
"""State register → its weights over the state before, and over the registers now."""


def states(
    rows: Rows,
    stream: Sequence[Column],
    length: int,
    arithmetic: Arithmetic,
    held: Mapping[int, Fraction] | None = None,
) -> tuple[dict[int, Column], bool]:
    """h_1 … h_length of each state register, and whether a scan gave them. held: h_0, where it is not 0."""
    order, before = _order(rows), held or {}
    if order is not None:
        state_of = _scan(order, rows, stream, length, arithmetic, before)
        if state_of is not None:
            return state_of, True
    return _step_by_step(rows, stream, length, arithmetic, before), False


def _order(rows: Rows) -> list[int] | None:
    """The state registers, each after those that it depends on; None if some depend on each other."""
    done: list[int] = []
    waiting = list(rows)
    while waiting:
        ready = [r for r in waiting if all(j == r or j in done or j not in rows for j in rows[r][0])]
        if not ready:
            return None
        done += ready
        waiting = [r for r in waiting if r not in ready]
    return done


def _scan(
    order: Sequence[int],
    rows: Rows,
    stream: Sequence[Column],
    length: int,
    arithmetic: Arithmetic,
    held: Mapping[int, Fraction],
) -> dict[int, Column] | None:
    fmt = arithmetic.format
    state_of: dict[int, Column] = {}
    for register in order:
        carry, feed = rows[register]
        own, before = carry.get(register, Fraction(0)), held.get(register, Fraction(0))
        terms = [
            (w, _delayed(state_of[j], held.get(j, Fraction(0))))
            for j, w in carry.items()
            if j != register and j in state_of
        ]
        terms += [(w, stream[j]) for j, w in feed.items()]
        total = combine(terms, Fraction(0), length)
        reach = sum((abs(w) * column.bound * Fraction(2) ** column.e for w, column in terms), Fraction(0))
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
            iterated = _iterated(
                int(own), total, before, fmt.max_value if fused else (fmt.max_value - reach) / abs(own)
            )
            if iterated is None:
                return None
            state_of[register] = iterated
        else:
            return None
    return state_of


def _running_sum(inputs: Column, before: Fraction) -> Column:
    """h_t = h_{t−1} + the input at t, exactly."""
    first, m, bound, e = _aligned(before, inputs)
    sums = Column(running_sums(m, bound), e, bound * len(m))
    return combine([(Fraction(1), sums)], first * Fraction(2) ** e, len(m))


def _iterated(factor: int, inputs: Column, before: Fraction, largest: Fraction) -> Column | None:
    """h_t = factor·h_{t−1} + the input at t, exactly; None as soon as |h_t| exceeds `largest`."""
    value, m, _, e = _aligned(before, inputs)
    bound = math.floor(largest / Fraction(2) ** e)
    values = []
    for x in m.tolist():
        value = factor * value + x
        if not -bound <= value <= bound:
            return None
        values.append(value)
    return of_integers(values, e)


def _delayed(column: Column, before: Fraction) -> Column:
    """The column one position later, `before` first."""
    if not len(column):
        return column
    first, m, bound, e = _aligned(before, column)
    return Column(concatenate([from_integers(np.array([first], object)), m[:-1]]), e, max(abs(first), bound))


def _aligned(before: Fraction, column: Column) -> tuple[int, Mantissas, int, int]:
    """The mantissa of a dyadic value, those of a column, a bound of these, and the exponent that serves both."""
    mantissa, e = dyadic(before)
    if not mantissa:
        return 0, column.m, column.bound, column.e
    if column.is_zero:
        return mantissa, column.m, 0, e
    low = min(e, column.e)
    return mantissa << (e - low), column.scaled_to(low), column.bound << (column.e - low), low


def _step_by_step(
    rows: Rows, stream: Sequence[Column], length: int, arithmetic: Arithmetic, held: Mapping[int, Fraction]
) -> dict[int, Column]:
    """By definition, on integers in quanta."""
    fmt, rounding = arithmetic.format, arithmetic.rounding
    shift, fused = -fmt.quantum_exponent, arithmetic.discipline is Discipline.FUSED
    scale = fmt.quantum
    weights = {
        r: (
            [(j, int(w / scale)) for j, w in sorted(carry.items())],
            [(j, int(w / scale)) for j, w in sorted(feed.items())],
        )
        for r, (carry, feed) in rows.items()
    }
    used = {j for _, feed in rows.values() for j in feed}
    inputs = {j: stream[j].to_quanta(fmt.quantum_exponent) for j in used}
    state = {register: int(held.get(register, 0) / scale) for register in rows}
    history: dict[int, list[int]] = {r: [] for r in rows}
    for t in range(length):
        new = {}
        for register, (carry_row, feed_row) in weights.items():
            terms = [w * state.get(j, 0) for j, w in carry_row] + [w * inputs[j][t] for j, w in feed_row]
            if fused:
                new[register] = round_shifted(sum(terms), shift, fmt, rounding).quanta
                continue
            value = 0
            for term in terms:
                product = round_shifted(term, shift, fmt, rounding).quanta
                value = round_shifted(value + product, 0, fmt, rounding).quanta
            new[register] = value
        state = new
        for register, value in new.items():
            history[register].append(value)
    return {r: of_integers(h, fmt.quantum_exponent) if h else zeros(0) for r, h in history.items()}
