"""What the circuit of somebody's own RNN should be, written in the most obvious way: words are compared, one by one.

It shares with `circuits.transition` the gates of the builder, and the names of bits. A word's number is written in numbers 1 and −1
of R_p, its lowest bit first, so that the sign of number j says bit j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.lanes import number_bits
from circuits.models import Rnn
from verify.inputs.step_circuits import Words

Make = Callable[[Builder, Sequence[Bit], Sequence[Bit]], tuple[list[Bit], list[Bit]]]


def steps(circuit: Circuit, words: Words, rnn: Rnn) -> tuple[Circuit, Circuit]:
    """Returns the RNN's step, and what it should be, over the state and the number of a word that is read."""
    p = rnn.step.precision_bits
    number_of = {word: number for number, word in enumerate(rnn.vocabulary)}
    one = number_bits(1 << (p - 1) // 2, p)[:-1]

    def ours(builder: Builder, word: Sequence[Bit], states: Sequence[Bit]) -> tuple[list[Bit], list[Bit]]:
        numbers = [[*map(builder.constant, one), bit] for bit in word]
        return builder.add(rnn.step.circuit, [bit for number in numbers for bit in number], states)

    def obvious(builder: Builder, word: Sequence[Bit], states: Sequence[Bit]) -> tuple[list[Bit], list[Bit]]:
        of_input = [
            [number_of[text] for text, bits in words["inputs"].items() if bits[i] == "1"]
            for i in range(len(circuit.inputs))
        ]
        read = [_any(builder, (_is(builder, word, number) for number in numbers)) for numbers in of_input]
        outputs, following = builder.add(circuit, read, states[: len(circuit.states)])
        said = {int("0" + bits[::-1], 2): number_of[text] for bits, text in words["outputs"].items()}
        result = list[Bit]()
        for j in range(len(rnn.step.outputs)):
            codes = [code for code, number in said.items() if number >> j & 1]
            sign = _any(builder, (_is(builder, outputs, code) for code in codes))
            result += [*map(builder.constant, one), sign]
        return result, [*following, *[builder.zero] * (len(states) - len(following))]

    return _make_step(rnn, len(words["inputs"]), ours), _make_step(rnn, len(words["inputs"]), obvious)


def _make_step(rnn: Rnn, read: int, make: Make) -> Circuit:
    """Returns a circuit of what is made of a word and a state. read: how many words are; a number beyond stands for the last."""
    builder, step = Builder(), rnn.step.circuit
    states = [builder.state(name, value) for name, value in zip(step.states, step.initial, strict=True)]
    free = [builder.input(f"word.{i}") for i in range((read - 1).bit_length())]
    cases = range(1 << len(free))
    word = [
        _any(builder, (_is(builder, free, case) for case in cases if min(case, read - 1) >> j & 1))
        for j in range(len(rnn.step.inputs))
    ]
    outputs, following = make(builder, word, states)
    return builder.circuit(dict(zip(step.output_names, outputs, strict=True)), following)


def _is(builder: Builder, bits: Sequence[Bit], code: int) -> Bit:
    """Returns whether bits are those of a number, the lowest first."""
    result = builder.one
    for i, bit in enumerate(bits):
        result &= bit if code >> i & 1 else ~bit
    return result


def _any(builder: Builder, bits: Iterable[Bit]) -> Bit:
    result = builder.zero
    for bit in bits:
        result |= bit
    return result
