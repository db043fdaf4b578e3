"""A step that relies on what it reads, as a circuit that relies on nothing: so that SAT can judge it.

The inputs become the bits of a word's number, and every input bit a function of these. Outputs count only where each number of the
state is within its range: elsewhere they are 0. `stays` is 1 where a step that started within the ranges ends there too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.cones import Table, synthesize
from circuits.lanes import number_bits
from circuits.ranges import Range, Reads
from circuits.step import Step

STAYS = "stays"


def self_reliant(step: Step, reads: Reads, *, assured: bool = False) -> Circuit:
    """Returns the circuit. Its outputs: those of the step, its next state as `then …`, and `stays`.

    assured: `stays` is 1, without a look. A circuit that equals such a one proves its ranges by induction.
    Raises ValueError for reads without a number of the step.
    """
    b, p = Builder(), step.precision_bits
    names, states = list(step.circuit.inputs), [b.state(name, x) for name, x in _starts(step)]
    if missing := [x for x in step.inputs if x not in reads.inputs] + [x for x in step.states if x not in reads.states]:
        raise ValueError(f"nothing is said of {missing[0]!r}")
    words = max((len(v) for v in reads.inputs.values() if not isinstance(v, Range)), default=1)
    which = [b.input(f"word.{i}") for i in range((words - 1).bit_length())]
    cases = np.arange(1 << len(which))
    bits: list[Bit] = []
    within = b.one
    for i, name in enumerate(step.inputs):
        values = reads.inputs[name]
        if isinstance(values, Range):
            free = [b.input(x) for x in names[i * p : (i + 1) * p]]
            within &= _is_in_range(b, free, values)
            bits += free
            continue
        codes = [number_bits(values[min(word, words - 1)], p) for word in cases.tolist()]
        for column in zip(*codes, strict=True):
            bits += synthesize(b, Table(tuple(which), cases, np.array(column)), 1)
    state_bits: list[Bit] = []
    for i, name in enumerate(step.states):
        number, allowed = states[i * p : (i + 1) * p], reads.states[name]
        within &= _is_in_range(b, number, allowed)
        state_bits += _range_bits(b, number, allowed)
    outputs, following = b.add(step.circuit, bits, state_bits)
    stays = b.one
    for i, name in enumerate(step.states):
        stays &= _is_in_range(b, following[i * p : (i + 1) * p], reads.states[name])
    named = zip(
        (*step.circuit.output_names, *(f"then {name}" for name in step.circuit.states)),
        (*outputs, *following),
        strict=True,
    )
    return b.circuit(
        {name: bit & within for name, bit in named} | {STAYS: b.one if assured else stays | ~within}, states
    )


def _starts(step: Step) -> Sequence[tuple[str, int]]:
    return list(zip(step.circuit.states, step.circuit.initial, strict=True))


def _range_bits(b: Builder, bits: Sequence[Bit], within: Range) -> list[Bit]:
    """Returns the bits of a number in a range: those that are the same in all of it are constants."""
    top = max(-within.low, within.high).bit_length()
    weights = reversed(range(len(bits) - 1))
    free = [bit if within.step <= i < top else b.zero for i, bit in zip(weights, bits[:-1], strict=True)]
    return [*free, bits[-1] if within.low else b.one]


def _is_in_range(b: Builder, bits: Sequence[Bit], within: Range) -> Bit:
    """Returns whether the number of these bits, the sign last, is in a range and not −0."""
    *magnitude, positive = reversed(bits[:-1]), bits[-1]
    digits = list(magnitude[0])
    result = b.one
    for bit in digits[: within.step]:
        result &= ~bit
    some = b.zero
    for bit in digits:
        some |= bit
    above = _at_most(b, digits, within.high), _at_most(b, digits, -within.low)
    return result & ((positive & above[0]) | (~positive & above[1] & some))


def _at_most(b: Builder, digits: Sequence[Bit], most: int) -> Bit:
    """Returns whether a number, its least significant bit first, is at most this one."""
    result = b.one
    for i, bit in enumerate(digits):
        result = (~bit | result) if most >> i & 1 else (~bit & result)
    return result
