"""The walk over layers, in exact arithmetic: it leaves at each sublayer what the ideal model, which walks by itself, has there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import pytest

from constructions.layers import Transformer
from constructions.models.registry import find_constructions
from constructions.rows import HeadRows, Recurrent, Row, block_rows
from constructions.walk import Domain, Values, walk
from verify.certificates.ideal import IdealModel


class Exact(Domain[Fraction]):
    """One run in exact arithmetic, where attention averages the winners. visited: blocks that computed a row."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.layers = [block_rows(block, Fraction) for block in model.blocks]
        self.keys: dict[tuple[int, int], list[tuple[list[Fraction], list[Fraction]]]] = {}
        self.state: dict[tuple[int, int], Fraction] = {}
        self.visited: set[int] = set()

    def embed(self, token: int, position: int) -> None:
        pairs = zip(self.model.words[token].tolist(), self.model.position.tolist(), strict=True)
        self.stream: list[Fraction] = [Fraction(word) + position * Fraction(slope) for word, slope in pairs]

    def row(self, row: Row, bias: Fraction, values: Values[Fraction]) -> Fraction:
        self.visited.add(self.block)
        return sum((w * values[j] for j, w in row), Fraction(bias))

    def unit(self, gate: Fraction, up: Fraction) -> Fraction:
        return max(gate, Fraction(0)) * up

    def read(self, head: HeadRows, number: int) -> Sequence[Fraction]:
        query, key, value = (
            [self.row(row, Fraction(0), self.stream) for row in rows] for rows in (head.query, head.key, head.value)
        )
        pairs = self.keys.setdefault((self.block, number), [])
        pairs.append((key, value))
        scores = [sum((a * b for a, b in zip(query, one, strict=True)), Fraction(0)) for one, _ in pairs]
        winners = [pair[1] for pair, score in zip(pairs, scores, strict=True) if score == max(scores)]
        return [sum(column, Fraction(0)) / len(winners) for column in zip(*winners, strict=True)]

    def states(self, recurrence: Recurrent) -> Iterable[tuple[int, Fraction]]:
        before = {j: value for (block, j), value in self.state.items() if block == self.block}
        for i, carry, feed in recurrence.states():
            kept = sum((w * before.get(j, Fraction(0)) for j, w in carry), Fraction(0))
            self.state[self.block, i] = kept + self.row(feed, Fraction(0), self.stream)
            yield i, self.state[self.block, i]

    def write(self, changes: Iterable[tuple[int, Fraction]]) -> None:
        for register, change in list(changes):
            self.stream[register] += change


@pytest.mark.parametrize(
    ("name", "model", "text"),
    [
        ("recall", "transformer", "<s> 5 2 5 9 ? 5"),
        ("index", "hybrid", "<s> 5 2 5 9 ? 2"),
        ("counting", "rag", "<s> 1 1 ? 1 2"),
        ("istree", "transformer", "<s> 1 2 1 3 ~ 2"),
        ("istree", "hybrid", "<s> 1 2 1 3 ~ 2"),
    ],
)
def test_it_is_the_ideal_model(name: str, model: str, text: str) -> None:
    wired = next(item for item in find_constructions() if item.names == (name, model)).build(9)
    tokens = wired.tokens(text.split())
    domain, (expected, _) = Exact(wired.model), IdealModel(wired.model).run(tokens)
    for position, (token, history) in enumerate(zip(tokens, expected, strict=True), start=1):
        domain.embed(token, position)
        left = [list(domain.stream), *(list(domain.stream) for _ in walk(domain, domain.layers))]
        assert left == [list(row) for row in history]
    assert domain.visited == {*range(1, len(wired.model.blocks) + 1)}
