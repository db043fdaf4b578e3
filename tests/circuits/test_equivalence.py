"""Equality by SAT: with the obvious form, up to p = 33; differences are found and shown; ABC agrees where it is installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from circuits.berkeley_abc import equivalent, find_abc
from circuits.builder import Builder
from circuits.circuit import GateKind
from circuits.equivalence import Difference, find_difference, named_values
from circuits.obvious import obvious
from circuits.operations import OPERATIONS
from tests.circuits.test_operations import mutants

LINEAR = ("negate", "compare", "add", "relu")


@pytest.mark.parametrize("p", range(5, 35, 4))
@pytest.mark.parametrize("name", LINEAR)
def test_equal_to_the_obvious_form(name: str, p: int) -> None:
    assert find_difference(OPERATIONS[name].circuit(p), obvious(name, p)) is None


@pytest.mark.parametrize("p", [5, 7])
def test_products_are_equal_to_the_obvious_form(p: int) -> None:
    assert find_difference(OPERATIONS["multiply"].circuit(p), obvious("multiply", p)) is None


@pytest.mark.parametrize("name", ["add", "compare"])
def test_every_flipped_gate_of_wide_circuits_is_caught(name: str) -> None:
    circuit, plain = OPERATIONS[name].circuit(17), obvious(name, 17)
    for _, mutant in mutants(circuit)[::7]:
        actual = find_difference(mutant, plain)
        assert actual is not None
        values = tuple(named_values(c, actual.inputs, actual.states)[actual.output] for c in (mutant, plain))
        assert values == actual.values
        assert values[0] != values[1]


def test_a_difference_is_shown() -> None:
    b = Builder()
    x, s = b.input("x"), b.state("s", 1)
    first = b.circuit({"o": x}, [s & x])
    second = b.circuit({"o": x}, [s])
    assert find_difference(first, second) == Difference({"x": 0}, {"s": 1}, "next s", (0, 1))
    assert str(find_difference(first, second)) == "next s is 0 in the first and 1 in the second at x=0 s=1"


def test_the_order_of_inputs_and_outputs_does_not_matter() -> None:
    circuit = OPERATIONS["add"].circuit(5)
    order = tuple(reversed(range(len(circuit.inputs))))
    gates = tuple(g._replace(left=order[g.left]) if g.kind is GateKind.INPUT else g for g in circuit.gates)
    other = replace(
        circuit,
        gates=gates,
        inputs=circuit.inputs[::-1],
        outputs=circuit.outputs[::-1],
        output_names=circuit.output_names[::-1],
    )
    assert find_difference(circuit, other) is None


def test_different_interfaces_are_refused() -> None:
    with pytest.raises(ValueError, match="the first circuit has no input 'b1'"):
        find_difference(OPERATIONS["negate"].circuit(5), OPERATIONS["add"].circuit(5))
    with pytest.raises(ValueError, match="the second circuit has no output 'o2'"):
        find_difference(OPERATIONS["add"].circuit(5), OPERATIONS["compare"].circuit(5))
    starts = []
    for start in (0, 1):
        b = Builder()
        s = b.state("s", start)
        starts.append(b.circuit({}, [s]))
    with pytest.raises(ValueError, match="starts as 0 in the first circuit"):
        find_difference(*starts)


@pytest.mark.skipif(find_abc() is None, reason="Berkeley ABC is not installed")
@pytest.mark.parametrize("name", list(OPERATIONS))
def test_abc_agrees(name: str) -> None:
    p = 7 if name == "multiply" else 17
    circuit, program = OPERATIONS[name].circuit(p), str(find_abc())
    assert equivalent(circuit, obvious(name, p), program)
    assert not equivalent(mutants(circuit)[-1][1], obvious(name, p), program)
