"""Building: folding, sharing, the order of gates, and circuits that are none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit, Gate, GateKind
from circuits.sums import BitHeap, all_of, full_adder, half_adder, none_of, plus_one, signed_digits


def made(bit: Bit) -> Circuit:
    return bit.builder.circuit({"o": bit})


def test_constants_and_equal_bits_need_no_gate() -> None:
    b = Builder()
    x = b.input("x")
    for bit, same in (
        (x & b.one, x),
        (x & b.zero, b.zero),
        (x & x, x),
        (x & ~x, b.zero),
        (x ^ x, b.zero),
        (x ^ b.zero, x),
        (x ^ ~x, b.one),
        (~~x, x),
        (x | b.one, b.one),
        (~b.one, b.zero),
    ):
        assert bit == same
    assert made(x).operations == 0


def test_equal_gates_are_one() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    assert x & y == y & x
    assert x ^ y == y ^ x
    assert ~x ^ ~y == x ^ y
    assert x & (x & y) == x & y


def test_what_no_output_reads_is_left_out() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    assert (x & y).id  # made, and not read
    circuit = made(x ^ y)
    assert circuit.gates == (Gate(GateKind.INPUT, 0), Gate(GateKind.INPUT, 1), Gate(GateKind.XOR, 0, 1))


def test_constants_can_be_read_outside() -> None:
    b = Builder()
    circuit = b.circuit({"zero": b.zero, "one": b.one})
    assert circuit.run([]) == ([0, 1], [])
    assert circuit.run([], (), 3) == ([0, 0b111], [])


def test_in_order_outputs_and_next_state_come_last() -> None:
    b = Builder()
    s, x = b.state("s"), b.input("x")
    both = s & x
    circuit = b.circuit({"both": both, "again": both, "not": ~both, "x": x}, [s], in_order=True)
    count = len(circuit.gates)
    assert circuit.gates[:2] == (Gate(GateKind.STATE, 0), Gate(GateKind.INPUT, 0))
    assert (*circuit.outputs, *circuit.next_state) == tuple(range(count - 5, count))
    assert circuit.run([1], [1]) == ([1, 1, 0, 1], [1])
    assert circuit.run([1], [0]) == ([0, 0, 1, 1], [0])


def test_bits_of_two_circuits_do_not_mix() -> None:
    with pytest.raises(ValueError, match="another circuit"):
        Builder().input("x") & Builder().input("x")
    b = Builder()
    b.input("x")
    with pytest.raises(ValueError, match="two bits are called 'x'"):
        b.state("x")


@pytest.mark.parametrize(
    ("gates", "outputs", "message"),
    [
        ((Gate(GateKind.INPUT, 0), Gate(GateKind.AND, 0, 1)), (1,), "gate 1 reads gates 0 and 1"),
        ((Gate(GateKind.INPUT, 1),), (0,), "gate 0 reads bit 1 of 1 input bits"),
        ((Gate(GateKind.STATE, 0),), (0,), "gate 0 reads bit 0 of 0 state bits"),
        ((Gate(GateKind.INPUT, 0),), (1,), "there is no gate 1 among 1"),
    ],
)
def test_what_is_no_circuit_is_refused(gates: tuple[Gate, ...], outputs: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit(gates, ("x",), outputs, ("o",))


def test_wrong_numbers_of_bits_are_refused() -> None:
    b = Builder()
    circuit = made(b.input("x"))
    with pytest.raises(ValueError, match="2 input and 0 state bits for a circuit with 1 and 0"):
        circuit.run([0, 1])


@pytest.mark.parametrize(
    ("adder", "bits", "extra", "gates"), [(half_adder, 2, 0, 2), (full_adder, 3, 0, 5), (plus_one, 2, 1, 4)]
)
def test_adders(adder: object, bits: int, extra: int, gates: int) -> None:
    b = Builder()
    total, carry = adder(*[b.input(f"x{i}") for i in range(bits)])
    circuit = b.circuit({"sum": total, "carry": carry})
    assert circuit.operations == gates
    for case in itertools.product((0, 1), repeat=bits):
        low, high = circuit.run(case)[0]
        assert low + 2 * high == sum(case) + extra


@given(st.integers(-(2**40), 2**40))
def test_signed_digits(number: int) -> None:
    digits = signed_digits(number)
    assert sum(digit << exponent for exponent, digit in digits) == number
    exponents = [exponent for exponent, _ in digits]
    assert all(b - a >= 2 for a, b in itertools.pairwise(exponents))  # no two neighbours, hence the fewest
    assert {digit for _, digit in digits} <= {-1, 1}


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), max_size=12), st.integers(-100, 100), st.integers(1, 9)
)
def test_heaps_sum(terms: list[tuple[int, int]], constant: int, width: int) -> None:
    """Any weighted bits, and a constant: the sum, modulo 2^width."""
    b = Builder()
    heap = BitHeap(b, width)
    heap.add_constant(constant)
    for i, (_, exponent) in enumerate(terms):
        heap.add_bit(b.input(f"x{i}"), exponent)
    circuit = b.circuit({str(i): bit for i, bit in enumerate(heap.total())})
    actual = sum(bit << i for i, bit in enumerate(circuit.run([bit for bit, _ in terms])[0]))
    assert actual == (constant + sum(bit << exponent for bit, exponent in terms)) % 2**width


def test_all_and_none() -> None:
    b = Builder()
    bits = [b.input(f"x{i}") for i in range(3)]
    circuit = b.circuit({"all": all_of(bits, b.one), "none": none_of(bits, b.one)})
    for case in itertools.product((0, 1), repeat=3):
        assert circuit.run(case)[0] == [int(all(case)), int(not any(case))]
