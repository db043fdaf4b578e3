"""Each operation is that of precision/: on all inputs for small p, on many beyond; its size is its formula; its mutants die."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from circuits.circuit import Circuit, Gate, GateKind
from circuits.equivalence import find_difference
from circuits.lanes import pack, unpack
from circuits.obvious import obvious
from circuits.operations import OPERATIONS
from precision import fixed_point, round_shifted
from verify.oracles.circuits import computed_codes, expected_codes, run_on_every_input

NAMES = tuple(OPERATIONS)
EXHAUSTIVE = [(name, p) for name in NAMES for p in (5, 7, 9)]


@pytest.mark.parametrize(("name", "p"), EXHAUSTIVE)
def test_every_input(name: str, p: int) -> None:
    assert run_on_every_input(name, OPERATIONS[name].circuit(p), p)[0] is None


@pytest.mark.parametrize("name", NAMES)
def test_the_obvious_circuit_is_right_on_every_input(name: str) -> None:
    assert run_on_every_input(name, obvious(name, 7), 7)[0] is None


@pytest.mark.parametrize("p", [13, 17, 27])
@pytest.mark.parametrize("name", NAMES)
def test_many_inputs(name: str, p: int) -> None:
    """Uniform codes, and small ones, whose products are mostly rounded."""
    rng = np.random.default_rng(p)
    operands = [
        rng.integers(0, 1 << p, 1 << 16) >> rng.integers(0, p, 1 << 16) for _ in range(OPERATIONS[name].operands)
    ]
    actual = computed_codes(OPERATIONS[name].circuit(p), p, *operands)
    assert np.array_equal(actual, expected_codes(name, fixed_point(p), *operands))


def test_ties_saturation_and_negative_zero_occur() -> None:
    """Ties go to even, the sum of large numbers is the largest, and 0 is never written as −0."""
    p, multiply, add = 5, OPERATIONS["multiply"].circuit(5), OPERATIONS["add"].circuit(5)

    def product(a: int, b: int) -> int:
        """Of codes: 2·|x| in quanta of 1/4, plus 1 for a number that is not negative."""
        return int(computed_codes(multiply, p, np.array([a]), np.array([b]))[0])

    half, quarter, three_quarters, negative_zero, zero = 2 * 2 + 1, 2 * 1 + 1, 2 * 3 + 1, 0, 1
    assert product(half, quarter) == zero  # 1/8 is half a step: down to even
    assert product(half, three_quarters) == 2 * 2 + 1  # 3/8: up to even
    assert product(half, quarter - 1) == zero  # −1/8
    assert product(negative_zero, three_quarters) == zero
    assert int(computed_codes(add, p, np.array([negative_zero]), np.array([negative_zero]))[0]) == zero
    assert int(computed_codes(add, p, np.array([30]), np.array([30]))[0]) == 30  # −15 − 15 quanta


@pytest.mark.parametrize("p", [*range(5, 35, 2), 53])
@pytest.mark.parametrize("name", NAMES)
def test_the_formula_counts_the_gates(name: str, p: int) -> None:
    circuit = OPERATIONS[name].circuit(p)
    assert circuit.operations == OPERATIONS[name].gates(p)
    assert circuit.operations < obvious(name, p).operations


def test_wide_products_are_rounded_exactly() -> None:
    """p = 53, where float64 would round: by exact integers."""
    p, fmt = 53, fixed_point(53)
    rng = np.random.default_rng(53)
    a, b = (rng.integers(0, 1 << 53, 500) >> rng.integers(0, 40, 500) for _ in "ab")
    lanes = [lane for x in (a, b) for lane in pack(x, p)]
    found = unpack(OPERATIONS["multiply"].circuit(p).run(lanes, (), 500)[0], 500)

    def quanta(code: int) -> int:
        return code >> 1 if code & 1 else -(code >> 1)

    for x, y, z in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        assert quanta(z) == round_shifted(quanta(x) * quanta(y), 26, fmt).quanta


def mutants(circuit: Circuit) -> list[tuple[int, Circuit]]:
    """Each gate that computes, taken for the other kind."""
    made = []
    for i, gate in enumerate(circuit.gates):
        if gate.computes:
            other = Gate(GateKind.XOR if gate.kind is GateKind.AND else GateKind.AND, gate.left, gate.right)
            made.append((i, replace(circuit, gates=(*circuit.gates[:i], other, *circuit.gates[i + 1 :]))))
    return made


@pytest.mark.parametrize("name", ["negate", "compare", "add", "relu"])
def test_every_flipped_gate_is_caught(name: str) -> None:
    flipped = mutants(OPERATIONS[name].circuit(9))
    assert len(flipped) == OPERATIONS[name].gates(9)
    assert [i for i, mutant in flipped if run_on_every_input(name, mutant, 9)[0] is None] == []


def test_every_flipped_gate_of_a_product_is_caught_or_changes_nothing() -> None:
    """At p = 7 one of 220 changes nothing: it is read only where bits below a half are asked for, and never alone."""
    survivors = [
        m for _, m in mutants(OPERATIONS["multiply"].circuit(7)) if not run_on_every_input("multiply", m, 7)[0]
    ]
    assert len(survivors) == 1
    assert find_difference(survivors[0], obvious("multiply", 7)) is None
