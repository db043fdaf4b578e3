"""Operations of R_p on codes, by precision/ and float64: shares nothing with the circuits but what a code is."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from circuits.lanes import pack, unpack
from precision.format import Format, fixed_point
from precision.rounding_array import round_values

Codes = NDArray[np.int64]
BATCH = 1 << 16


def values(codes: Codes, fmt: Format) -> NDArray[np.float64]:
    """Returns the numbers that codes are: all bits but the last are the magnitude, the last is 1 for a number ≥ 0."""
    magnitude = (codes >> 1) * float(fmt.quantum)
    return np.where(codes % 2 == 1, magnitude, -magnitude)


def codes(numbers: NDArray[np.float64], fmt: Format) -> Codes:
    """Returns the codes of elements; 0 is +0."""
    quanta = (np.abs(numbers) / float(fmt.quantum)).astype(np.int64)
    return quanta * 2 + (numbers >= 0)


EXPECTED: dict[str, Callable[..., NDArray[np.float64]]] = {
    "negate": lambda a: -a,
    "relu": lambda a: np.maximum(a, 0.0),
    "compare": lambda a, b: a < b,
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
}


def expected_codes(name: str, fmt: Format, *operands: Codes) -> Codes:
    """Returns what an operation should give, as codes; one bit for `compare`. Products must fit float64: p ≤ 27."""
    exact = EXPECTED[name](*(values(x, fmt) for x in operands))
    return exact.astype(np.int64) if name == "compare" else codes(round_values(exact, fmt), fmt)


def computed_codes(circuit: Circuit, precision_bits: int, *operands: Codes) -> Codes:
    """Returns what a circuit gives on these codes, as codes."""
    lanes = [lane for x in operands for lane in pack(x, precision_bits)]
    outputs, _ = circuit.run(lanes, (), len(operands[0]))
    return unpack(outputs, len(operands[0]))


def all_codes(precision_bits: int, operands: int) -> itertools.chain[tuple[Codes, ...]]:
    """Returns every combination of codes, −0 included, in batches."""
    count = 1 << (precision_bits * operands)
    size = 1 << precision_bits

    def batch(start: int) -> tuple[Codes, ...]:
        index = np.arange(start, min(count, start + BATCH), dtype=np.int64)
        return tuple(index // size**i % size for i in range(operands))

    return itertools.chain(map(batch, range(0, count, BATCH)))


def run_on_every_input(name: str, circuit: Circuit, precision_bits: int) -> tuple[tuple[int, ...] | None, int]:
    """Returns the first codes that differ, and on how many inputs circuit and operation agree before."""
    fmt, operands = fixed_point(precision_bits), 1 if name in ("negate", "relu") else 2
    ran = 0
    for batch in all_codes(precision_bits, operands):
        wrong = computed_codes(circuit, precision_bits, *batch) != expected_codes(name, fmt, *batch)
        if wrong.any():
            return tuple(int(x[np.argmax(wrong)]) for x in batch), ran
        ran += len(wrong)
    return None, ran
