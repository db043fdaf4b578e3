"""A recurrent model without a chain of thought after 0^(n − m)x, as one circuit of x.

Source: Theorem 4.1, the proof that a model without a chain of thought is not enough.
Idea: the state after the zeros does not depend on x, so its bits are written into the circuit: they are its advice. The m steps
after it are m copies of the step's circuit, one after the other. What comes out are the bits of the output's numbers.
"""

from __future__ import annotations

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.lanes import number_bits
from circuits.models import Rnn
from circuits.runs import embed


def unroll(rnn: Rnn, words: tuple[str, str], zeros: int, bits: int) -> Circuit:
    """Returns the circuit of x_1 … x_bits. words: those of the bits 0 and 1."""
    zero, one = map(rnn.vocabulary.index, words)
    builder, p, output = Builder(), rnn.step.precision_bits, list[Bit]()
    states = [builder.constant(bit) for bit in rnn.step.circuit.initial]
    x = [builder.input(f"x{i}") for i in range(1, bits + 1)]
    for place in range(1, zeros + bits + 1):
        read = x[place - zeros - 1] if place > zeros else builder.zero
        at = [[b for number in embed(rnn, word, place) for b in number_bits(number, p)] for word in (zero, one)]
        inputs = [builder.constant(low) ^ (builder.constant(low ^ high) & read) for low, high in zip(*at, strict=True)]
        output, states = builder.add(rnn.step.circuit, inputs, states)
    return builder.circuit({f"o{i}": bit for i, bit in enumerate(output, start=1)})
