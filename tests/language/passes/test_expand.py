"""What expand and comparisons make of a value has that value, at every position of texts, by the meaning of the words alone."""

from __future__ import annotations

from fractions import Fraction

from constructions.language.interpreter import Input
from constructions.language.passes.comparisons import comparison
from constructions.language.passes.expand import expand, remove_doubles
from constructions.language.passes.operations import Compare, Factors, Multiply, Ramps, Same
from constructions.language.terms import Above, Equal, IsWord, NumberOf, Position, as_term
from constructions.language.values import number
from tests.language.passes.passed import Passed, passed, value_of
from tests.language.programs import Written

SPLIT = Written(
    'choose((word("?") * number.back(1) * number.back(1) + number * position) > 3, "yes", "no")', 'some(numbers()), "?"'
)
THREE = Written('choose((position > 1) * number * position > 2, "yes", "no")', "some(numbers())")


def bit_of(ramps: Ramps, text: Input, k: int) -> Fraction:
    """The sum of these units, in exact arithmetic."""
    x = value_of(ramps.x, text, k)
    gates = (max(Fraction(0), (ramps.slope * x + corner) * ramps.part) * weight for corner, weight in ramps.corners)
    return ramps.constant + sum(gates)


def check(one: Passed) -> None:
    for text, k in one.positions:
        for value, same in one.equals:
            assert sum(value_of(term, text, k) for term in same.terms) == value_of(value, text, k), (value, same)
        for value, operation in one.operations:
            due = value_of(value, text, k)
            if isinstance(operation, Multiply):
                units = ((value_of(gate, text, k), value_of(up, text, k)) for gate, up in operation.units)
                assert sum(max(Fraction(0), gate) * up for gate, up in units) == due, operation
            elif isinstance(operation, Compare):
                assert bit_of(operation.ramps, text, k) == due, operation
        for bit, ramps in ((bit, ramps) for rule in one.rules for bit, ramps in rule.late.items()):
            assert bit_of(ramps, text, k) == value_of(bit, text, k), bit


def test_the_numbers_of_a_product_are_multiplied_before_its_bits() -> None:
    kinds = [operation.kind for value, operation in passed(THREE).operations if isinstance(operation, Multiply)]
    assert kinds == ["product", "kept"]
    assert any(isinstance(atom, Factors) for value, _ in passed(THREE).operations for atom in value.atoms)


def test_a_bit_times_itself_is_that_bit() -> None:
    facts, word = passed(THREE).facts, IsWord("<s>")
    assert remove_doubles(facts, (word, word)) == (word,)
    assert remove_doubles(facts, (NumberOf(), NumberOf())) == (NumberOf(), NumberOf())


def test_a_comparison_that_never_holds_is_0_and_one_of_a_bit_is_the_bit() -> None:
    facts = passed(THREE).facts
    assert comparison(facts, Equal(number.term, Fraction(4))) == Same((), (number.term,))
    assert comparison(facts, Equal(number.term, Fraction(1, 2))) == Same(())
    assert comparison(facts, Above(as_term(IsWord("<s>")))) == Same((as_term(IsWord("<s>")),))
    assert isinstance(comparison(facts, Above(number.term - 1)), Ramps)
    assert isinstance(expand(facts, (Position(), NumberOf())), Multiply)
