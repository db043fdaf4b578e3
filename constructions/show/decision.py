"""Which head decided a word: the last one without whose match the model writes another word.

Holds what each head reads at one position, but lets one head read position 1 alone, where a head looks that finds no match. Then
runs the feed-forwards and the output head of this position again, with the rounding of the engines. So a head is named for its
direct effect, by weights and registers alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constructions.rows import HeadRows, Layer, Recurrent, Row
from constructions.walk import Domain, Values, feed_forward, mix
from precision.format import Arithmetic, Discipline
from precision.rounding import round_shifted

if TYPE_CHECKING:
    from constructions.show.steps import Steps


@dataclass(frozen=True)
class Decision:
    """The head that decided a word. block, number: from 1. otherwise: the token that follows if it reads position 1."""

    block: int
    number: int
    otherwise: int


def decide(steps: Steps, position: int) -> Decision | None:
    """Returns the last head whose match changes the word there; None if no head changes it alone. position: from 1."""
    word = steps.next_tokens[position - 1]
    for block in range(len(steps.layers), 0, -1):
        heads = steps.layers[block - 1].heads
        for number in range(len(heads), 0, -1):
            rest = _Rest(steps, position, block, number)
            if (otherwise := rest.word()) != word:
                return Decision(block, number, otherwise)
    return None


class _Rest(Domain[int]):
    """One position's way from a block on, in quanta. moved: the head of this block, from 1, that reads position 1 alone."""

    def __init__(self, steps: Steps, position: int, first: int, moved: int) -> None:
        self.steps, self.place, self.first, self.moved = steps, position - 1, first, moved
        self.arithmetic = steps.weights.arithmetic
        self.stream: list[int] = self._before(2 * first - 2)

    def word(self) -> int:
        """Returns the token with the largest logit, the first of equals."""
        for sublayer, _ in enumerate(self._sublayers(), start=2 * self.first - 1):
            if self.stream == self._before(sublayer):  # from here on, all is as it was
                return self.steps.next_tokens[self.place]
        return self.steps.argmax(self.stream)

    def _sublayers(self) -> Iterator[Layer]:
        for number, layer in enumerate(self.steps.layers[self.first - 1 :], start=self.first):
            self.block = number
            mix(self, layer)
            yield layer
            feed_forward(self, layer)
            yield layer

    def row(self, row: Row, bias: int, values: Values[int]) -> int:
        return dot([(weight, values[i]) for i, weight in row], self.arithmetic, bias)

    def unit(self, gate: int, up: int) -> int:
        return dot([(gate, up)], self.arithmetic) if gate > 0 and up else 0

    def read(self, head: HeadRows, number: int) -> Sequence[int]:
        moved = (self.block, number + 1) == (self.first, self.moved)
        return self.steps.reading(self.block, number + 1, 1 if moved else self.place + 1)

    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, int]]:
        """Yields what the recurrence added in the run."""
        before, after = self._before(2 * self.block - 2), self._before(2 * self.block - 1)
        return [(register, after[register] - before[register]) for register, _, _ in recurrence.states()]

    def write(self, changes: Iterable[tuple[int, int]]) -> None:
        most = self.arithmetic.format.max_quanta
        for register, change in changes:
            self.stream[register] = max(-most, min(most, self.stream[register] + change))

    def _before(self, sublayer: int) -> list[int]:
        return [register[self.place] for register in self.steps.streams[sublayer]]


def dot(terms: Sequence[tuple[int, int]], arithmetic: Arithmetic, bias: int = 0) -> int:
    """Returns Σ a·b + bias in quanta, rounded as the engines do: once, or after every operation."""
    fmt, shift = arithmetic.format, -arithmetic.format.quantum_exponent

    def rounded(value: int, by: int = 0) -> int:
        return round_shifted(value, by, fmt, arithmetic.rounding).quanta

    if arithmetic.discipline is Discipline.FUSED:
        return rounded(sum(a * b for a, b in terms) + (bias << shift), shift)
    result = 0
    for a, b in terms:
        result = rounded(result + rounded(a * b, shift))
    return rounded(result + bias)
