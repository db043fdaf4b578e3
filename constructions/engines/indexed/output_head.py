"""The argmax over a vocabulary, for many positions at once, with a certificate.

The logit of token t is Σ_i x_i·W[t, i]. Vocabularies hold families of numbers, alike but for a number and its square, and special
words. So tokens are split into parts that agree in every register of few values; within a part, the winner is found as the
winner of a softmax column is (nearest.py), or is the only token there. The exact logits of the parts' winners are then compared. A
position at which some part has no certified winner, or the best of which has a rival, is left to be computed by definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column, at_most, classes, combine, multiply
from constructions.engines.indexed.mantissas import Array, difference, less, where
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.ordering import unique

FEW_VALUES = 4  # of a register that tells kinds of tokens apart
MOST_PARTS = 256


class OutputHead:
    """The rows of an output head in parts. rows: its registers over the vocabulary, at least one."""

    def __init__(self, rows: Sequence[Column]) -> None:
        kinds = [row for row in rows if len(unique(row.m)[0]) <= FEW_VALUES]
        part = classes(kinds, len(rows[0]))
        self.rows = rows
        self.numbers = [i for i, row in enumerate(rows) if not any(row is kind for kind in kinds)]
        few = len(part) and part.max() < MOST_PARTS
        self.parts = [np.flatnonzero(part == p) for p in range(int(part.max()) + 1)] if few else []
        self.keys = [Keys([rows[i].take(tokens) for i in self.numbers], (), len(tokens)) for tokens in self.parts]

    def argmax(self, wishes: Sequence[Column], lead: Fraction, largest: Fraction) -> tuple[Array, Array]:
        """Returns a mask of the positions that are certified, and their argmax. Other entries of the argmax mean nothing.

        wishes: the registers over the positions. lead: what an exact logit must lead by, to lead when rounded as well, not 0.
        largest: logits beyond ±largest saturate.
        """
        positions = len(wishes[0])
        none = np.zeros(positions, bool), np.zeros(positions, np.int64)
        certified = np.ones(positions, bool)
        leader: _Leader | None = None
        for part, keys in zip(self.parts, self.keys, strict=True):
            if len(part) == 1:
                alone = np.ones(positions, bool)
                winner = np.full(positions, part[0])
                terms = [(row.at(int(part[0])), wish) for wish, row in zip(wishes, self.rows, strict=True)]
            else:
                visible = np.full(positions, len(part))
                winners = keys.winners([wishes[i] for i in self.numbers], visible, lead, largest)
                if winners is None:
                    return none
                certified &= winners.certified
                alone = winners.number == 1
                winner = part[winners.one_of_them]
                terms = [(Fraction(1), multiply(w, row.take(winner))) for w, row in zip(wishes, self.rows, strict=True)]
            logit = combine(terms, Fraction(0), positions)
            candidate = _Leader(winner, logit, alone)
            leader = candidate if leader is None else _race(leader, candidate, lead)
        if leader is None:
            return none
        certified &= leader.clear & at_most(leader.logit, largest) & ~at_most(leader.logit, lead - largest)
        return certified, leader.token


class _Leader(NamedTuple):
    """The best token so far at each position, its logit, and whether it leads all others by the lead that is asked for."""

    token: Array
    logit: Column
    clear: Array


def _race(leader: _Leader, candidate: _Leader, lead: Fraction) -> _Leader:
    """Returns the leader after the best of one more part at each position."""
    e = min(leader.logit.e, candidate.logit.e)
    old, new = leader.logit.scaled_to(e), candidate.logit.scaled_to(e)
    higher = less(old, new)
    bound = max(side.logit.bound << (side.logit.e - e) if side.logit.bound else 0 for side in (leader, candidate))
    gap = difference(new, old, bound)
    margin = ceil(lead / Fraction(2) ** e)
    # Whoever was too close to an earlier leader is as far behind the new one as that leader is.
    clear = np.where(higher, candidate.clear & ~less(gap, margin), leader.clear & ~less(-margin, gap))
    token = np.where(higher, candidate.token, leader.token)
    return _Leader(token, Column(where(higher, new, old), e, bound), clear)
