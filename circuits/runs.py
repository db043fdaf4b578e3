"""Running an RNN through its circuit: what it writes, and what each gate is on the way. The oracle of the simulation.

Source: definition 3.3; A.4 (chain of thought). Operators round as those of the engines do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuits.lanes import number_bits, number_quanta
from circuits.models import Rnn
from precision.format import Discipline
from precision.rounding import round_fraction, round_shifted


@dataclass(frozen=True)
class RnnStep:
    """One step. word: the one that was read. values: of all gates. written: the argmax of the output."""

    word: int
    values: tuple[int, ...]
    written: int


def run_rnn(rnn: Rnn, prompt: Sequence[int], words: int) -> list[RnnStep]:
    """The steps over a prompt and until the RNN has written so many words behind it. Raises ValueError for no prompt."""
    if not prompt:
        raise ValueError("an RNN needs at least one word to read")
    circuit, p = rnn.step.circuit, rnn.step.precision_bits
    bits = list(circuit.initial)
    steps: list[RnnStep] = []
    for a in range(len(prompt) + words - 1):
        word = prompt[a] if a < len(prompt) else steps[-1].written
        inputs = [bit for x in embedded(rnn, word, a + 1) for bit in number_bits(x, p)]
        values = circuit.values(inputs, bits)
        output = [values[i] for i in circuit.outputs]
        numbers = [number_quanta(output[i : i + p]) for i in range(0, len(output), p)]
        steps.append(RnnStep(word, tuple(values), next_word(rnn, numbers)))
        bits = [values[i] for i in circuit.next_state]
    return steps


def embedded(rnn: Rnn, word: int, place: int) -> list[int]:
    """What the RNN reads for a word at a place, counted from 1, in quanta."""
    fmt = rnn.arithmetic.format
    numbers = zip(rnn.words[word], rnn.position, strict=True)
    return [round_fraction(Fraction(float(x)) + place * Fraction(float(slope)), fmt).quanta for x, slope in numbers]


def next_word(rnn: Rnn, output: Sequence[int]) -> int:
    """The argmax of the logits, the first of equals; output in quanta."""
    fmt, fused = rnn.arithmetic.format, rnn.arithmetic.discipline is Discipline.FUSED
    shift = -fmt.quantum_exponent

    def logit(products: Iterable[int]) -> int:
        if fused:
            return round_shifted(sum(products), shift, fmt).quanta
        result = 0
        for product in products:
            result = round_shifted(result + round_shifted(product, shift, fmt).quanta, 0, fmt).quanta
        return result

    rows = ([round_fraction(Fraction(float(w)), fmt).quanta for w in row] for row in rnn.unembed)
    logits = [logit(w * x for w, x in zip(row, output, strict=True)) for row in rows]
    return logits.index(max(logits))
