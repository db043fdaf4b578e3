"""Running an RNN through its circuit: what it writes, and what each gate is on the way. The oracle of the simulation.

Source: definition 3.3; A.4 (chain of thought); A.5 (searches). Operators round as those of the engines do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from circuits.lanes import number_bits, number_quanta
from circuits.models import Rnn
from constructions.engines import Respond, no_response
from constructions.models.search import SearchTool
from precision.format import Discipline
from precision.rounding import round_fraction, round_shifted


@dataclass(frozen=True)
class RnnStep:
    """One step. word: the one that was read. values: of all gates. written: the argmax of the output.

    result: the word of a search's result that the surroundings put in its place, or None.
    """

    word: int
    values: tuple[int, ...]
    written: int
    result: int | None = None

    @property
    def token(self) -> int:
        """The word that stands after the gates."""
        return self.written if self.result is None else self.result


@dataclass
class Conversation:
    """What an RNN reads: the prompt, then its own words, and the result after each search that it writes (A.5).

    A word that is written while others wait to be read counts for nothing: within the prompt it stands there, after the prompt the
    next word of the result stands in its place. own: the words that count. steps: how many have ended.
    Raises ValueError for no prompt, and SearchError.
    """

    rnn: Rnn
    prompt: Sequence[int]
    read: list[int] = field(init=False)
    own: int = field(init=False, default=0)
    steps: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if not self.prompt:
            raise ValueError("an RNN needs at least one word to read")
        self.read = list(self.prompt)
        self._search: Respond = SearchTool(self.rnn.vocabulary) if self.rnn.searches else no_response

    @property
    def result(self) -> int | None:
        """The word of a result that stands after the gates of the next step, or None: then the RNN's own word does."""
        place = self.steps + 1
        return self.read[place] if len(self.prompt) <= place < len(self.read) else None

    def write(self, word: int) -> None:
        """Ends a step of the RNN with this word, which counts if nothing else waits to be read."""
        self.steps += 1
        if self.steps == len(self.read):
            self.read.append(word)
            self.own += 1
            self.read += self._search(self.read)


def surroundings(rnn: Rnn, prompt: Sequence[int]) -> Respond:
    """Returns what responds to the Transformer: each word of a search's result, after the gates of the step before it is read."""
    gates, first = len(rnn.step.circuit.gates), len(prompt)

    def respond(sequence: Sequence[int]) -> Sequence[int]:
        steps, behind = divmod(len(sequence) - first, gates + 1)
        if behind < gates:
            return ()
        conversation = Conversation(rnn, prompt)
        for step in range(1, steps + 1):
            conversation.write(sequence[first + step * (gates + 1) - 1])
        return () if conversation.result is None else (conversation.result,)

    return respond if rnn.searches else no_response


def run_rnn(rnn: Rnn, prompt: Sequence[int], words: int) -> list[RnnStep]:
    """Returns the steps over a prompt, and on until the RNN has written this many words, or one that ends the run.

    Raises ValueError for no prompt, and SearchError.
    """
    circuit, p = rnn.step.circuit, rnn.step.precision_bits
    conversation, bits, steps = Conversation(rnn, prompt), list(circuit.initial), list[RnnStep]()
    while True:
        word = conversation.read[len(steps)]
        inputs = [bit for x in embed(rnn, word, len(steps) + 1) for bit in number_bits(x, p)]
        values = circuit.values(inputs, bits)
        output = [values[i] for i in circuit.outputs]
        written = next_word(rnn, [number_quanta(output[i : i + p]) for i in range(0, len(output), p)])
        own, result = conversation.own, conversation.result
        conversation.write(written)
        steps.append(RnnStep(word, tuple(values), written, result))
        if conversation.own == words or (conversation.own > own and written in rnn.ends):
            return steps
        bits = [values[i] for i in circuit.next_state]


def embed(rnn: Rnn, word: int, place: int) -> list[int]:
    """Returns what the RNN reads for a word at a place, counted from 1, in quanta."""
    fmt = rnn.arithmetic.format
    numbers = zip(rnn.words[word], rnn.position, strict=True)
    return [round_fraction(Fraction(float(x)) + place * Fraction(float(slope)), fmt).quanta for x, slope in numbers]


def next_word(rnn: Rnn, output: Sequence[int]) -> int:
    """Returns the argmax of the logits, the first of equals; output in quanta.

    Raises ValueError if another word has the largest logit in exact arithmetic: that is the word that Theorem 4.8's weights write.
    """
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
    products = [[w * x for w, x in zip(row, output, strict=True)] for row in rows]
    word, exact = ((of := [*map(add, products)]).index(max(of)) for add in (logit, sum))
    if word != exact:
        first, second = rnn.vocabulary[word], rnn.vocabulary[exact]
        raise ValueError(f"{rnn.name}: its logits round, so it says {first!r}, and in exact arithmetic {second!r}")
    return word
