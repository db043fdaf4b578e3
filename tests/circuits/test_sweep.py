"""SAT sweeping against every case of small circuits, drawn at random."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.sums import all_of
from circuits.sweep import SPARSE, BitCase, Equality, sweep

LEAVES = 4
Recipe = list[tuple[bool, bool, int, int]]
RECIPES = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 30), st.integers(0, 30)), max_size=24)


def circuit(recipe: Recipe) -> Circuit:
    """Gates over two inputs and two state bits, all of them outputs: XOR or AND of two earlier ones, the first negated or not."""
    b = Builder()
    bits: list[Bit] = [b.zero, b.one, *(b.input(f"x{i}") for i in range(2)), *(b.state(f"s{i}") for i in range(2))]
    for xor, negated, i, j in recipe:
        left, right = bits[i % len(bits)], bits[j % len(bits)]
        left = ~left if negated else left
        bits.append(left ^ right if xor else left & right)
    return b.circuit({f"o{i}": bit for i, bit in enumerate(bits)}, bits[-2:])


def in_every_case(made: Circuit) -> dict[BitCase, list[int]]:
    """The value of each gate."""
    cases = (BitCase(bits[:2], bits[2:]) for bits in itertools.product((0, 1), repeat=LEAVES))
    return {case: made.values(case.inputs, case.states) for case in cases}


@given(RECIPES, st.booleans())
def test_gates_are_equal_if_they_are_in_every_case(recipe: Recipe, blind: bool) -> None:
    """blind: no case is run first, so that all is left to the solver."""
    made = circuit(recipe)
    values = in_every_case(made)
    columns = list(zip(*values.values(), strict=True))
    pairs = list(itertools.combinations(made.outputs, 2))
    equal = [(x, y) for x, y in pairs if columns[x] == columns[y]]
    drawn = () if blind else SPARSE
    assert isinstance(sweep(made, equal, drawn, proof=False), Equality)
    for x, y in pairs[:: 1 + len(pairs) // 8]:
        actual = sweep(made, [*equal, (x, y)], drawn, proof=False)
        assert isinstance(actual, Equality) == (columns[x] == columns[y])
        if not isinstance(actual, Equality):
            pair, case = actual
            assert (pair, values[case][x] != values[case][y]) == (len(equal), True)


@pytest.mark.parametrize("sparse", [(), SPARSE])
@pytest.mark.parametrize("above", [False, True])
def test_gates_that_differ_in_one_case_of_a_million(above: bool, sparse: tuple[int, ...]) -> None:
    """One of the two implies the other; which one, and what was run first, makes no difference."""
    b = Builder()
    bits = [b.input(f"x{i}") for i in range(20)]
    every = all_of(bits, b.one)
    first = bits[0] ^ bits[1] if above else bits[0] & bits[1]
    second = first | every if above else first & ~every
    made = b.circuit({"first": first, "second": second})
    actual = sweep(made, [(made.outputs[0], made.outputs[1])], sparse, proof=False)
    assert actual == (0, BitCase((1,) * 20, ()))


@pytest.mark.parametrize("bound", [0x55555, 0x2AAAA])
@pytest.mark.parametrize("less", [0, 1])
def test_thresholds_that_differ_at_one_number(less: int, bound: int) -> None:
    """No gate of a comparison is rarely 1, and of two bounds one implies the other: each direction has to be asked about."""
    b = Builder()
    bits = [b.input(f"x{i}") for i in range(20)]
    at_least = {}
    for limit in (bound + less, bound + 1 - less):
        carry = b.one
        for i, x in enumerate(bits):  # the carry of the number plus what is missing to 2^20
            carry = x & carry if limit >> i & 1 else ~(~x & ~carry)
        at_least[limit] = carry
    made = b.circuit({str(limit): bit for limit, bit in at_least.items()})
    actual = sweep(made, [(made.outputs[0], made.outputs[1])], proof=False)
    assert actual == (0, BitCase(tuple(bound >> i & 1 for i in range(20)), ()))
