"""The least p fits all that is required, and two bits less do not; what is required covers what registers and units come to."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.language.passes.gates import gadgets_of
from constructions.language.passes.requirements import Requirements
from precision.format import Discipline, fixed_point
from tests.language.passes.passed import PROGRAMS, form_value, passed
from tests.language.programs import Written


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("written", PROGRAMS[::2], ids=lambda written: written.says[:60])
def test_the_least_bits_fit_and_no_fewer(written: Written, discipline: Discipline) -> None:
    one = passed(written)
    weights = one.weights
    required = Requirements(weights.facts, weights.registers, weights.blocks, weights.needs, discipline)

    def fits(q: int) -> bool:
        return all(value < 2**q for _, value in required.all(weights.setting(fixed_point(2 * q + 1))))

    least = (weights.least_precision(discipline) - 1) // 2
    assert [fits(q) for q in range(2, least + 2)] == [False] * (least - 2) + [True, True]


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("written", PROGRAMS, ids=lambda written: written.says[:60])
def test_what_is_required_is_not_less_than_what_there_is(written: Written, discipline: Discipline) -> None:
    one = passed(written)
    weights = one.weights
    required = Requirements(weights.facts, weights.registers, weights.blocks, weights.needs, discipline)
    most: dict[str, Fraction] = {}
    for name, value in required.all(weights.setting(fixed_point(weights.least_precision(discipline)))):
        most[name] = max(most.get(name, Fraction(0)), Fraction(value))
    for text, k in one.positions:
        values = one.register_values(text, k)
        for name in values.keys() - {"position"}:  # which may saturate where nothing reads it
            assert abs(values[name]) <= most[f"register {name}"]
        for number in one.schedule.blocks:
            for gadget in gadgets_of(one.schedule, one.registers, number):
                for unit in gadget.units:
                    if [*unit.gate.terms] == ["position"]:
                        continue  # as above
                    product = max(Fraction(0), form_value(unit.gate, values)) * form_value(unit.up, values)
                    assert abs(product) <= most[f"block {number}, {gadget.name}"]
