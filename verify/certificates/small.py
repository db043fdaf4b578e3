"""Models of a few registers, wired by name, and every text of their language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from constructions.wiring.wired import Wired
from precision.format import Arithmetic
from verify.certificates.document import Judged, judge
from verify.certificates.language import Language
from verify.certificates.model import Listed, described

Weights = Mapping[str, float]
Unit = tuple[Weights, float, Weights, float, Weights]  # gate and its bias, up and its bias, what is written
Text = tuple[tuple[int, str], ...]  # tokens, and the names of their places


class Registers(tuple[str, ...]):
    """The names of the coordinates."""

    def rows(self, *rows: Weights) -> Matrix:
        """A matrix of which each row is a form of the registers."""
        found = np.zeros((len(rows), len(self)))
        for i, row in enumerate(rows):
            for name, weight in row.items():
                found[i, self.index(name)] += weight
        return found

    def head(self, scores: Sequence[tuple[Weights, Weights]], value: Weights, written: str) -> AttentionHead:
        """A head by its score, a sum of products of forms of the query and of the key, and by what it reads and where to."""
        query, key = (self.rows(*(pair[i] for pair in scores)) for i in (0, 1))
        return AttentionHead(query, key, self.rows(value), self.rows({written: 1}).T)

    def feed_forward(self, *units: Unit) -> FeedForward:
        """A feed-forward sublayer; its rows have no bias."""
        gate, up, down = (self.rows(*(unit[i] for unit in units)) for i in (0, 2, 4))
        biases = (np.array([float(unit[i]) for unit in units]) for i in (1, 3))
        return FeedForward(gate, next(biases), up, next(biases), down.T, np.zeros(len(self)))

    def block(self, *units: Unit, heads: Sequence[AttentionHead] = (), recurrence: Recurrence | None = None) -> Block:
        """A block of these heads or a recurrence, and of these units."""
        return Block(tuple(heads), self.feed_forward(*units), recurrence)

    def recurrence(self, carry: Mapping[str, Weights], feed: Mapping[str, Weights]) -> Recurrence:
        """By the rows of the registers that it keeps."""
        return Recurrence(*(self.rows(*(rows.get(name, {}) for name in self)) for rows in (carry, feed)))

    def model(
        self, words: Mapping[str, Weights], position: Weights, blocks: Sequence[Block], arithmetic: Arithmetic
    ) -> Wired:
        """A model of these words; those that are numbers come first."""
        rows = self.rows(*words.values())
        model = Transformer(rows, self.rows(position)[0], tuple(blocks), rows)
        return Wired("small", "", "repaired", (), 4, arithmetic, model, self, tuple(words), ())


def judged(wired: Wired, language: Language) -> Judged:
    """What the checker says."""
    numbers = sum(word.isdigit() for word in wired.vocabulary)
    listed = [Listed("", 1, numbers)] if numbers else []
    return judge(described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, listed), language)


def texts(wired: Wired, language: Language) -> Iterator[Text]:
    """Every text that cannot go on."""

    def behind(text: Text, place: int) -> Iterator[Text]:
        here = language.places[place]
        for token in (here.word,) if here.word else map(str, range(here.numbers[0], here.numbers[1] + 1)):
            longer = (*text, (wired.token[token], here.name))
            following = [
                i
                for i, one in enumerate(language.places)
                if place in one.after and one.low <= len(longer) + 1 <= one.high
            ]
            if not following:
                yield longer
            for i in following:
                yield from behind(longer, i)

    yield from behind((), 0)
