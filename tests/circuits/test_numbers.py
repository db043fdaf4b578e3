"""Forms: dot products and the other operators, under both disciplines and within ranges, against exact integers."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from circuits.builder import Builder
from circuits.circuit import Circuit
from circuits.forms import Form, FormBuilder
from circuits.lanes import number_bits, number_quanta
from circuits.numbers import NumberBuilder
from circuits.ranges import Range, Reads
from precision import FP8_E4M3, Discipline, Format, fixed_point, round_shifted


def dot_circuit(p: int, weights: list[int], bias: int, discipline: Discipline, *, relu: bool = False) -> Circuit:
    to = FormBuilder(NumberBuilder(Builder(), fixed_point(p)), discipline, Reads())
    numbers = [to.input(f"x{i}") for i in range(len(weights))]
    if relu:
        numbers = [to.relu(x) for x in numbers]
    return circuit_of(to, to.dot(list(zip(weights, numbers, strict=True)), bias))


def circuit_of(to: FormBuilder, result: Form) -> Circuit:
    bits = to.numbers.bits(to.numbers.canonical(to.number(result)))
    return to.numbers.builder.circuit({f"o{i}": bit for i, bit in enumerate(bits)})


def expected(fmt: Format, weights: list[int], xs: list[int], bias: int, discipline: Discipline) -> int:
    q = -fmt.quantum_exponent
    if discipline is Discipline.FUSED:
        exact = sum(w * x for w, x in zip(weights, xs, strict=True)) + (bias << q)
        return round_shifted(exact, q, fmt).quanta
    result = 0
    for w, x in zip(weights, xs, strict=True):
        result = round_shifted(result + round_shifted(w * x, q, fmt).quanta, 0, fmt).quanta
    return round_shifted(result + bias, 0, fmt).quanta


def run(circuit: Circuit, p: int, xs: list[int]) -> int:
    return number_quanta(circuit.run([bit for x in xs for bit in number_bits(x, p)])[0])


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("weight", range(-15, 16))
def test_every_product_with_a_constant(weight: int, discipline: Discipline) -> None:
    """p = 5: every weight, every number, with no bias, a positive and a negative one."""
    fmt = fixed_point(5)
    for bias in (0, 5, -15):
        circuit = dot_circuit(5, [weight], bias, discipline)
        for x in range(-15, 16):
            assert run(circuit, 5, [x]) == expected(fmt, [weight], [x], bias, discipline)


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize(("weights", "bias"), [([4, -4], 0), ([4, 4], 3), ([-3, 7], 0), ([15, 15], -15), ([2, -8], 1)])
def test_every_sum_of_two_products(weights: list[int], bias: int, discipline: Discipline) -> None:
    fmt = fixed_point(5)
    for relu in (False, True):
        circuit = dot_circuit(5, weights, bias, discipline, relu=relu)
        for xs in itertools.product(range(-15, 16), repeat=2):
            inside = [max(x, 0) for x in xs] if relu else list(xs)
            assert run(circuit, 5, list(xs)) == expected(fmt, weights, inside, bias, discipline)


@st.composite
def _dots(draw: st.DrawFn) -> tuple[int, list[int], list[int], int]:
    p = draw(st.sampled_from([7, 11, 17, 33]))
    top = fixed_point(p).max_quanta
    powers = st.builds(lambda e, s: s << e, st.integers(0, p - 2), st.sampled_from([1, -1]))
    number = st.one_of(st.integers(-top, top), powers, st.sampled_from([0, top, -top]))
    weights = draw(st.lists(number, min_size=1, max_size=5))
    xs = draw(st.lists(number, min_size=len(weights), max_size=len(weights)))
    return p, weights, xs, draw(number)


@example((7, [1, 1], [4, 0], 0))  # half a quantum: a tie
@example((7, [1, -1], [-4, 8], 1))
@given(_dots())
def test_dot_products(case: tuple[int, list[int], list[int], int]) -> None:
    p, weights, xs, bias = case
    for discipline in Discipline:
        circuit = dot_circuit(p, weights, bias, discipline)
        assert run(circuit, p, xs) == expected(fixed_point(p), weights, xs, bias, discipline)


def test_one_rounding_is_cheaper_than_many() -> None:
    weights = [64, -32, 96, 160, 16]
    fused, sequential = (dot_circuit(13, weights, 0, discipline).operations for discipline in Discipline)
    assert fused < sequential


# What forms make of ranges


@st.composite
def _ranged(draw: st.DrawFn) -> tuple[int, list[Range], list[list[int]]]:
    """p, ranges of two states, and numbers within them."""
    p = draw(st.sampled_from([5, 7, 9]))
    top, ranges, drawn = fixed_point(p).max_quanta, list[Range](), list[list[int]]()
    for _ in range(2):
        step = draw(st.integers(0, 3))
        low, high = (draw(st.integers(0, top >> step)) << step for _ in range(2))
        low *= draw(st.booleans())
        ranges.append(Range(-low, high, step))
        drawn.append(draw(st.lists(st.integers(-low >> step, high >> step), min_size=1, max_size=8)))
        drawn[-1] = [x << step for x in drawn[-1]]
    return p, ranges, drawn


@given(
    _ranged(), st.integers(0, 3), st.sampled_from(Discipline), st.lists(st.integers(-24, 24), min_size=5, max_size=5)
)
def test_operators_within_ranges(
    case: tuple[int, list[Range], list[list[int]]], operator: int, discipline: Discipline, weights: list[int]
) -> None:
    """Every operator on numbers within their ranges, and the range of its result."""
    p, ranges, drawn = case
    fmt = fixed_point(p)
    weights = [max(-fmt.max_quanta, min(fmt.max_quanta, w)) for w in weights]
    to = FormBuilder(NumberBuilder(Builder(), fmt), discipline, Reads({}, {"x0": ranges[0], "x1": ranges[1]}))
    a, b = to.input("x0"), to.input("x1")
    c = to.dot([(weights[0], a), (weights[1], b)], weights[2])
    result = [to.add(c, a), to.relu(c), to.multiply(c, b), to.multiply(to.relu(c), to.dot([(weights[3], a)], 0))][
        operator
    ]
    within, circuit = to.range(result), circuit_of(to, result)
    q = -fmt.quantum_exponent
    for x, y in itertools.product(*drawn):
        z = expected(fmt, weights[:2], [x, y], weights[2], discipline)
        if operator == 3:
            right = round_shifted(max(z, 0) * round_shifted(weights[3] * x, q, fmt).quanta, q, fmt).quanta
        else:
            right = [round_shifted(z + x, 0, fmt).quanta, max(z, 0), round_shifted(z * y, q, fmt).quanta][operator]
        bits = [bit for number in (x, y) for bit in number_bits(number, p)]
        assert number_quanta(circuit.run(bits)[0]) == right
        assert right in within


def test_what_cancels_costs_nothing() -> None:
    """x + (−x + y) is y, whose bits are there."""
    to = FormBuilder(
        NumberBuilder(Builder(), fixed_point(9)), Discipline.FUSED, Reads({}, {"x": Range(0, 48), "y": Range(0, 48)})
    )
    x, y, unit = to.input("x"), to.input("y"), 16
    result = to.add(x, to.dot([(-unit, x), (unit, y)], 0))
    assert (result.terms, result.constant) == (y.terms, 0)
    assert circuit_of(to, result).operations == 1  # the constant 0


def test_formats_that_circuits_are_not_for() -> None:
    with pytest.raises(ValueError, match="built over R_p, not over fp8_e4m3"):
        NumberBuilder(Builder(), FP8_E4M3)


def test_numbers_outside_the_format() -> None:
    with pytest.raises(ValueError, match="16 quanta are more than R_5 has"):
        number_bits(16, 5)
