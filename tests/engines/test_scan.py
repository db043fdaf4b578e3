"""Linear recurrences: the scan gives the same bits as running them by definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import indexed
from constructions.engines.column import Column, normalised
from constructions.engines.reference import ReferenceEngine
from constructions.engines.scan import states
from constructions.layers import Block, FeedForward, Recurrence, Transformer
from precision.format import BF16, Arithmetic, Discipline, Format, fixed_point

WIDTH, VOCABULARY = 4, 5
NOTHING = FeedForward(
    np.zeros((0, WIDTH)), np.zeros(0), np.zeros((0, WIDTH)), np.zeros(0), np.zeros((WIDTH, 0)), np.zeros(WIDTH)
)
FORMATS = (fixed_point(9), fixed_point(33), fixed_point(129), BF16)


def model(carry: np.ndarray, feed: np.ndarray, words: np.ndarray) -> Transformer:
    """One Linear RNN block."""
    return Transformer(words, np.zeros(WIDTH), (Block((), NOTHING, Recurrence(carry, feed)),), words)


def same_bits(machine: Transformer, arithmetic: Arithmetic, tokens: list[int]) -> None:
    """Compares every register after the recurrence, and the argmax."""
    seen: list[list[Column]] = []
    run = indexed.run(
        machine, arithmetic, tokens, observe=lambda block, sublayer, registers: seen.append(list(registers))
    )
    quantum = arithmetic.format.quantum_exponent
    columns = [[column.to_quanta(quantum) for column in registers] for registers in seen]
    engine = ReferenceEngine(machine, arithmetic)
    for k, token in enumerate(tokens):
        step = engine.append(token)
        assert [tuple(column[k] for column in registers) for registers in columns] == list(step.registers)
        assert run.next_tokens[k] == step.next_token


@st.composite
def matrices(draw: st.DrawFn, shape: tuple[int, int], values: tuple[float, ...]) -> np.ndarray:
    cells = draw(st.lists(st.sampled_from(values), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(cells).reshape(shape)


@given(
    carry=matrices((WIDTH, WIDTH), (0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 2.0)),
    feed=matrices((WIDTH, WIDTH), (0.0, 1.0, -2.0, 0.25)),
    words=matrices((VOCABULARY, WIDTH), (0.0, 1.0, -1.0, 3.0, 0.0625)),
    tokens=st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=30),
    fmt=st.sampled_from(FORMATS),
    discipline=st.sampled_from(list(Discipline)),
)
@settings(max_examples=150, deadline=None)
def test_any_recurrence(
    carry: np.ndarray, feed: np.ndarray, words: np.ndarray, tokens: list[int], fmt: Format, discipline: Discipline
) -> None:
    same_bits(model(carry, feed, words), Arithmetic(fmt, discipline), tokens)


@pytest.mark.parametrize("discipline", list(Discipline))
def test_shift_registers_and_integer_sums_are_scanned(discipline: Discipline) -> None:
    rows = {0: ({}, {3: 1}), 1: ({0: 1}, {}), 2: ({2: 1}, {3: 1})}
    exact = {
        r: ({j: Fraction(w) for j, w in a.items()}, {j: Fraction(w) for j, w in b.items()})
        for r, (a, b) in rows.items()
    }
    values = normalised(np.arange(1, 1001), 0)
    found, scanned = states(exact, [values] * 4, 1000, Arithmetic(fixed_point(65), discipline))
    assert scanned
    assert found[2].to_quanta(0)[-1] == 500500
    assert found[1].to_quanta(0)[:3] == [0, 1, 2]


def test_a_sum_that_saturates_is_run_by_definition() -> None:
    values = normalised(np.full(40, 3), 0)
    found, scanned = states({0: ({0: Fraction(1)}, {1: Fraction(1)})}, [values] * 2, 40, Arithmetic(fixed_point(9)))
    assert not scanned
    assert found[0].to_quanta(-4)[-1] == 255  # the largest element of R_9
