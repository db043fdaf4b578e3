"""Models of a few registers, wired by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Recurrence, Transformer
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from precision.format import Arithmetic
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.document import Judged, judge
from verify.rounding.model import described

Weights = Mapping[str, float]
Unit = tuple[Weights, float, Weights, float, Weights]  # gate and its bias, up and its bias, what is written


class RegisterNames(tuple[str, ...]):
    """The names of the coordinates."""

    def rows(self, *rows: Weights) -> Matrix:
        """Returns a matrix of which each row is a form of the registers."""
        matrix = np.zeros((len(rows), len(self)))
        for i, row in enumerate(rows):
            for name, weight in row.items():
                matrix[i, self.index(name)] += weight
        return matrix

    def head(self, scores: Sequence[tuple[Weights, Weights]], value: Weights, written: str) -> AttentionHead:
        """Returns a head by its score, a sum of products of forms of the query and of the key, and by what it reads and where
        to.
        """
        query, key = (self.rows(*(pair[i] for pair in scores)) for i in (0, 1))
        return AttentionHead(query, key, self.rows(value), self.rows({written: 1}).T)

    def feed_forward(self, *units: Unit) -> FeedForward:
        """Returns a feed-forward sublayer; its rows have no bias."""
        gate, up = self.rows(*(unit[0] for unit in units)), self.rows(*(unit[2] for unit in units))
        down = self.rows(*(unit[4] for unit in units))
        biases = np.array([unit[1] for unit in units], float), np.array([unit[3] for unit in units], float)
        return FeedForward(gate, biases[0], up, biases[1], down.T, np.zeros(len(self)))

    def block(self, *units: Unit, heads: Sequence[AttentionHead] = (), recurrence: Recurrence | None = None) -> Block:
        """Returns a block of these heads or a recurrence, and of these units."""
        return Block(tuple(heads), self.feed_forward(*units), recurrence)

    def recurrence(self, carry: Mapping[str, Weights], feed: Mapping[str, Weights]) -> Recurrence:
        """Returns the recurrence, by the rows of the registers that it keeps."""
        return Recurrence(*(self.rows(*(rows.get(name, {}) for name in self)) for rows in (carry, feed)))

    def model(
        self, words: Mapping[str, Weights], position: Weights, blocks: Sequence[Block], arithmetic: Arithmetic
    ) -> Wired:
        """Returns a model of these words; those that are numbers come first."""
        rows = self.rows(*words.values())
        model = Transformer(rows, self.rows(position)[0], tuple(blocks), rows)
        return Wired("small", "", "repaired", (), 4, arithmetic, model, self, tuple(words), ())


def judged(wired: Wired, automaton: TokenAutomaton) -> Judged:
    """Returns what the checker says."""
    numbers = sum(word.isdecimal() for word in wired.vocabulary)
    listed = [Family("", 1, numbers)] if numbers else []
    return judge(described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, listed), automaton)
