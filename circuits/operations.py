"""The operations of R_p as circuits of their own, with the number of their gates as a formula in p.

Source: appendix A.2. Inputs are `a1` … `ap`, `b1` … `bp`, outputs `o1` … `op`, in the paper's numbering: bits 1 … p − 1
from the most significant magnitude bit (weight 2^(q−1)) down to 2^−q, bit p is 1 for a number that is not negative.
`compare` has the one output `o1`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.numbers import Number, NumberBuilder
from precision.format import fixed_point

OPERANDS = "ab"
Bits = Sequence[Bit]


@dataclass(frozen=True)
class Operation:
    """One operation. gates(p): the AND and XOR gates of its circuit; formula: the same, for people. operator: that makes them."""

    name: str
    meaning: str
    operands: int
    formula: str
    gates: Callable[[int], int]
    operator: Callable[..., Number | Bit]

    def circuit(self, precision_bits: int) -> Circuit:
        """Returns its circuit over R_p. Raises ValueError for a p that is even or below 5."""
        fmt = fixed_point(precision_bits)

        def make(builder: Builder, *numbers: Bits) -> Bits:
            to = NumberBuilder(builder, fmt)
            result = self.operator(to, *map(to.from_bits, numbers))
            return (result,) if isinstance(result, Bit) else to.bits(result)

        return bitwise(self.operands, precision_bits, make)


def bitwise(operands: int, precision_bits: int, make: Callable[..., Bits]) -> Circuit:
    """Returns the circuit with these inputs and outputs; make(builder, bits of a, bits of b): the bits of the output."""
    builder = Builder()
    numbers = [[builder.input(f"{x}{i + 1}") for i in range(precision_bits)] for x in OPERANDS[:operands]]
    return builder.circuit({f"o{i}": bit for i, bit in enumerate(make(builder, *numbers), start=1)})


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("negate", "o = −a", 1, "2p", lambda p: 2 * p, NumberBuilder.negate),
        Operation("compare", "o1 = 1 if a < b, else 0", 2, "6p", lambda p: 6 * p, NumberBuilder.less),
        Operation(
            "add", "o = a + b, at most the largest number", 2, "12p − 4", lambda p: 12 * p - 4, NumberBuilder.add
        ),
        Operation(
            "multiply",
            "o = a·b, rounded to the nearest number, ties to even",
            2,
            "6p² − 12p + 10",
            lambda p: 6 * p * p - 12 * p + 10,
            NumberBuilder.multiply,
        ),
        Operation("relu", "o = max(a, 0)", 1, "p − 1", lambda p: p - 1, NumberBuilder.relu),
    )
}
