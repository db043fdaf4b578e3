"""Recurrences that go on from a value, against the definition, step by step."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.engines.indexed.column import of_integers, zeros
from constructions.engines.indexed.operators import Operators
from constructions.engines.indexed.scan import _delay, _step_by_step, states
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines.test_scan import recurrent

HELD = (Fraction(0), Fraction(1, 4), Fraction(-127, 8), Fraction(7), Fraction(2**62 - 1), Fraction(2**100 + 1, 2**40))


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("precision_bits", [9, 33, 129, 255])
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("own", [0, 1, -1, 2])
def test_a_recurrence_goes_on_from_what_it_holds(own, held, precision_bits, discipline):
    operators = Operators(Arithmetic(fixed_point(precision_bits), discipline))
    fmt = operators.arithmetic.format
    start = max(-fmt.max_value, min(fmt.max_value, Fraction(held // fmt.quantum) * fmt.quantum))
    recurrence = recurrent({0: {0: own}, 1: {0: 1}}, {0: {2: 1}}, fmt)
    for values in ([3, -1, 0, 2], [0, 0, 0], [1], [2**61, -(2**60), 2**61]):
        if max(values) <= fmt.max_value:
            inputs = of_integers(values, 0)
            stream, before = [zeros(len(values)), zeros(len(values)), inputs], {0: start, 1: -start}
            actual, _ = states(operators, recurrence, stream, len(values), before)
            expected = _step_by_step(operators, recurrence, stream, len(values), before)
            for register, column in expected.items():
                ours = actual[register]
                assert [ours.at(t) for t in range(len(ours))] == [column.at(t) for t in range(len(values))]
                assert all(abs(int(m)) <= ours.bound for m in ours.m)


@pytest.mark.parametrize("held", HELD)
def test_what_is_delayed_stays_within_its_bound(held):
    """Whether a sum can leave the format is told from bounds."""
    delayed = _delay(of_integers([2**40, -(2**44), 3], 0), held)
    assert delayed.at(0) == held
    assert all(abs(int(m)) <= delayed.bound for m in delayed.m)
