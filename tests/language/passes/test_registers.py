"""Each register holds what it is said to hold, within its bound, and has a name of its own."""

from __future__ import annotations

from dataclasses import replace

from constructions.language.passes.operations import Multiply, PlacedComputation
from constructions.language.values import number
from tests.language.passes.passed import PROGRAMS, Passed, form_value, passed, value_of
from tests.language.programs import Written


def check(one: Passed) -> None:
    registers = one.registers
    for text, k in one.positions:
        values = one.register_values(text, k)
        for term, same in one.equals:
            assert form_value(registers.form(term), values) == value_of(term, text, k), same
        for name, value in values.items():
            assert abs(value) <= registers.largest[name], name
            assert value >= 0 or name not in registers.positive, name
        for operation in (op for _, op in one.operations if isinstance(op, Multiply)):
            for form in (registers.form(side) for unit in operation.units for side in unit):
                assert abs(form_value(form, values)) <= registers.reach(form), form
                assert form_value(form, values) <= registers.reach(form, above=True), form


def test_no_register_has_two_values() -> None:
    """But squares of one register; and what a program calls its values, they are called."""
    for written in PROGRAMS:
        registers = passed(written).registers
        names = [
            str(form)
            for value, form in registers.forms.items()
            if isinstance(passed(written).schedule.values.get(value), PlacedComputation)
        ]
        assert len({*names}) == len(names)


def test_a_value_is_called_as_in_the_program() -> None:
    bit, other = (number == 2).term, (number == 3).term
    program = Written('choose((number == 2) | (number == 3), "yes", "no")', "some(numbers())").program
    one = Passed(replace(program, names={bit: "two", other: "number"}))
    assert [str(one.registers.form(term)) for term in (bit, other)] == [
        "two",
        "number_1",
    ]  # `number` is the embedding's
    assert one.registers.meanings["two"] == bit
