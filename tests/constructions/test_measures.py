"""Classes and costs, on models whose answers are counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from constructions.layers import AttentionHead, Block, FeedForward, Recurrence, Transformer
from constructions.measures import HYBRID_RNN, LINEAR_RNN, TRANSFORMER, classes, measure, recurrent_part

EMPTY = FeedForward(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0), np.zeros((3, 0)), np.zeros(3))
HEAD = AttentionHead(np.ones((1, 3)), np.ones((1, 3)), np.ones((1, 3)), np.ones((3, 1)))
SHIFT = Recurrence(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0]]), np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]]))
ATTEND, RECUR, PLAIN = Block((HEAD,), EMPTY), Block((), EMPTY, SHIFT), Block((), EMPTY)


def model(*blocks: Block) -> Transformer:
    return Transformer(np.zeros((2, 3)), np.zeros(3), blocks, np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("blocks", "belongs"),
    [
        ((ATTEND, ATTEND), (TRANSFORMER,)),
        ((ATTEND, PLAIN), (TRANSFORMER,)),
        ((PLAIN, ATTEND), (TRANSFORMER, HYBRID_RNN)),
        ((RECUR, ATTEND), (HYBRID_RNN,)),
        ((RECUR, RECUR), (LINEAR_RNN,)),
        ((PLAIN,), (TRANSFORMER, LINEAR_RNN)),
        ((ATTEND, RECUR), ()),
        ((RECUR, ATTEND, ATTEND), ()),
        ((RECUR, ATTEND, PLAIN), ()),
    ],
)
def test_classes(blocks: tuple[Block, ...], belongs: tuple[str, ...]) -> None:
    assert classes(model(*blocks)) == belongs


def test_state_is_what_the_recurrences_keep() -> None:
    counted = measure(model(RECUR, RECUR), 9)
    assert (counted.state_numbers, counted.state_bits) == (4, 36)
    assert counted.parameters == 2 * (9 + 9 + 3)
    assert counted.parameter_bits == 9 * counted.parameters
    assert measure(model(PLAIN), 9).state_numbers == 0


def test_the_recurrent_part_of_a_hybrid() -> None:
    """What stands before the attention, with the registers that its heads, its units or the output head read, and no others."""
    ffn = FeedForward(np.eye(3)[:1], np.zeros(1), np.zeros((1, 3)), np.zeros(1), np.zeros((3, 1)), np.zeros(3))
    reads_1 = replace(HEAD, query=np.eye(3)[1:2], key=np.zeros((1, 3)), value=np.zeros((1, 3)))
    for head, units, output, read in (
        (reads_1, EMPTY, (), [1]),
        (reads_1, ffn, (), [0, 1]),
        (reads_1, EMPTY, (2,), [1, 2]),
        (HEAD, EMPTY, (), [0, 1, 2]),
    ):
        whole = replace(model(RECUR, PLAIN, Block((head,), units)), unembed=np.eye(3)[list(output)])
        part = recurrent_part(whole)
        assert part.blocks == (RECUR, PLAIN)
        assert np.array_equal(part.unembed, np.eye(3)[read])
    assert recurrent_part(model(RECUR, PLAIN)).blocks == (RECUR, PLAIN)


def test_the_circuit_grows_with_every_weight_and_every_bit() -> None:
    unit = FeedForward(np.ones((1, 3)), np.ones(1), np.ones((1, 3)), np.ones(1), np.ones((3, 1)), np.ones(3))
    less = replace(unit, gate=np.array([[1.0, 1, 0]]))
    gates = [measure(model(Block((), ffn, SHIFT)), 9).circuit_gates for ffn in (EMPTY, less, unit)]
    assert gates == sorted(set(gates))
    assert measure(model(Block((), unit, SHIFT)), 11).circuit_gates > gates[-1]
    # A row with one weight at p bits: one product, one addition of 2p + 2 bits, one rounding.
    one = Recurrence(np.zeros((3, 3)), np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]]))
    assert measure(model(Block((), EMPTY, one)), 5).circuit_gates == (6 * 25 + 8 * 12) + 8 * 12 + 16 * 6
