"""Units that are looked up: the same registers as the reference engine's, and the same saturations as without looking up."""

from __future__ import annotations

import random

import numpy as np
import pytest

from constructions.engines.indexed import feed_forward, run
from constructions.engines.indexed.column import Column, from_floats
from constructions.engines.indexed.operators import Operators
from constructions.layers import Block, FeedForward, Transformer
from precision.format import Arithmetic, Discipline, fixed_point
from tests.engines.cases import Case
from tests.engines.test_indexed import assert_same

WORDS, WIDTH = 5, 6


def table(seed: int, discipline: Discipline) -> Case:
    """Twenty units over a word's first number, as many over two of them, a few over the position; rows over some or all of them."""
    rng = random.Random(seed)

    def weight() -> float:
        return rng.choice([0.0, 1.0, -1.0, 0.25, -0.75, 2.5, -3.0])

    reads = [(0,)] * 20 + [(0, 1)] * 20 + [(2,)] * 3 + [()] * 2
    gate, up = np.zeros((len(reads), WIDTH)), np.zeros((len(reads), WIDTH))
    for unit, registers in enumerate(reads):
        for register in registers:
            gate[unit, register], up[unit, register] = weight() or 1.0, weight()
    down = np.zeros((WIDTH, len(reads)))
    for register, units in ((0, range(20)), (1, range(20, 40)), (3, range(40)), (4, range(len(reads)))):
        down[register, list(units)] = [weight() for _ in units]
    biases = [np.array([weight() for _ in range(size)]) for size in (len(reads), len(reads), WIDTH)]
    ffn = FeedForward(gate, biases[0], up, biases[1], down, biases[2])
    words, position = np.zeros((WORDS, WIDTH)), np.zeros(WIDTH)
    words[:, :2] = [[weight(), weight()] for _ in range(WORDS)]
    position[2] = 0.25
    model = Transformer(words, position, (Block((), ffn), Block((), ffn)), words)
    tokens = [rng.randrange(WORDS) for _ in range(60)]
    return Case(model, Arithmetic(fixed_point(rng.choice([7, 9])), discipline), tokens)


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("seed", range(6))
def test_as_everywhere(seed: int, discipline: Discipline, monkeypatch: pytest.MonkeyPatch) -> None:
    case, short = table(seed, discipline), list[int]()
    looked_up = feed_forward._looked_up

    def noted(*given: object) -> object:
        places = looked_up(*given)  # type: ignore[arg-type]
        short.append(0 if places is None else places.length)
        return places

    monkeypatch.setattr(feed_forward, "FEWER_VALUES", 1)
    monkeypatch.setattr(feed_forward, "_looked_up", noted)
    actual = assert_same(case).saturations
    assert any(0 < places < len(case.tokens) for places in short)
    monkeypatch.setattr(feed_forward, "MANY_UNITS", 1000)
    plain = run(case.model, case.arithmetic, case.tokens).columns.saturations
    assert actual == plain
    assert sum(plain.values()) > len(plain) > 0


def test_too_many_values_are_not_looked_up() -> None:
    operators = Operators(Arithmetic(fixed_point(17)))
    few, many = from_floats(np.array([1.0, 3.0] * 20)), from_floats(np.arange(40.0))

    def look(*columns: Column) -> list[float] | None:
        places = feed_forward._looked_up(operators, columns, range(len(columns)), 40)
        if places is None:
            return None
        assert [float(x) for x in places.everywhere(places.stream[0]).to_quanta(-8)] == columns[0].to_quanta(-8)
        return [x / 256 for x in places.stream[0].to_quanta(-8)]

    assert look(few) == [1.0, 3.0]
    assert look(few, few) == [1.0, 3.0]
    assert look(many) is None
    assert look(few, many) is None
