"""Models and texts for the dense engine, and its comparison with the reference engine."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch

from constructions.engines import dense
from constructions.layers import AttentionHead, Block, Matrix, Recurrence, Transformer
from precision.format import FLOAT_FORMATS, Arithmetic, Rounding, fixed_point
from tests.engines.cases import EngineCase, Trace, any_model, difference, no_units, reference_trace

DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
WIDTH, VOCABULARY = 5, 4  # of random models
FORMATS = (*(fixed_point(p) for p in (5, 9, 17, 33, 53, 65, 129, 255)), *FLOAT_FORMATS)
ROUNDINGS = (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY, Rounding.TOWARD_ZERO)


def assert_same(
    model: Transformer,
    arithmetic: Arithmetic,
    sequences: Sequence[Sequence[int]],
    tile: int = 64,
) -> None:
    """Every register of every position after every sublayer, every logit and next token."""
    expected = [reference_trace(EngineCase(model, arithmetic, tokens)) for tokens in sequences]
    compare(model, arithmetic, sequences, expected, tile)


def compare(
    model: Transformer,
    arithmetic: Arithmetic,
    sequences: Sequence[Sequence[int]],
    expected: Sequence[Trace],
    tile: int,
) -> None:
    """Compares runs with traces that are right, on each device there is: with registers, and of some next tokens alone."""
    first = [2 * len(sequence) // 3 for sequence in sequences]
    for device in DEVICES:
        asked = dense.run(model, arithmetic, sequences, device=device, tile=tile, first=first)
        for following, right, place in zip(asked.next_tokens, expected, first, strict=True):
            assert following.tolist() == [-1] * place + right.next_tokens[place:]
        run = dense.run(model, arithmetic, sequences, device=device, tile=tile, keep_registers=True)
        for actual, right in zip(traces(run), expected, strict=True):
            assert difference(actual, right) == ""
        run = dense.run(model, arithmetic, sequences, device=device, tile=tile)
        for following, right in zip(run.next_tokens, expected, strict=True):
            assert following.tolist() == right.next_tokens


def traces(run: dense.DenseRun) -> list[Trace]:
    """That of each sequence, where registers were kept."""
    assert run.registers is not None
    assert run.logits is not None
    return [
        Trace([table.T.tolist() for table in tables], next_tokens.tolist(), logits.tolist())
        for tables, next_tokens, logits in zip(run.registers, run.next_tokens, run.logits, strict=True)
    ]


def random_model(rng: np.random.Generator, scale: int, dyadic: bool, vocabulary: int = VOCABULARY) -> Transformer:
    """No structure."""
    return any_model(random.Random(int(rng.integers(1 << 32))), WIDTH, vocabulary, scale, dyadic)


def linear(carry: object, feed: object, words: object) -> Transformer:
    """One Linear RNN block."""
    table = np.array(words, dtype=np.float64)
    recurrence = Recurrence(np.array(carry, dtype=np.float64), np.array(feed, dtype=np.float64))
    width = table.shape[1]
    return Transformer(table, np.zeros(width), (Block((), no_units(width), recurrence),), table)


def random_linear_model(rng: np.random.Generator, scale: int, dyadic: bool) -> Transformer:
    """The blocks of a random model, some with a recurrence for their heads; rows that shift, sum, decay, rotate or grow."""
    model = random_model(rng, scale, dyadic)
    blocks = []
    for block in model.blocks:
        if rng.random() < 0.8:
            carry: Matrix = rng.choice((0.0, 0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 0.5, 2.0, 0.375), size=(WIDTH, WIDTH))
            for register in range(WIDTH):
                kind = rng.integers(0, 4)
                if kind < 2:
                    carry[register] = 0.0
                if kind == 1:
                    carry[register, register] = 1.0
                if kind == 2:
                    carry[register, register:] = 0.0
            feed = random_model(rng, scale, dyadic, WIDTH).words * (rng.random((WIDTH, 1)) < 0.7)
            block = Block((), block.feed_forward, Recurrence(carry, feed))
        blocks.append(block)
    return Transformer(model.words, model.position, tuple(blocks), model.unembed)


def random_sequences(rng: np.random.Generator, count: int = 3, longest: int = 12) -> list[list[int]]:
    return [rng.integers(0, VOCABULARY, size=int(rng.integers(0, longest + 1))).tolist() for _ in range(count)]


def one_head(query: Matrix, key: Matrix) -> Transformer:
    """Scores from the given weights; reads register 0 into register 2. Register 0: word; 1: position."""
    value, out = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0], [0.0], [1.0]])
    words = np.array([[float(i), 0.0, 0.0] for i in range(VOCABULARY)])
    head = AttentionHead(np.asarray(query, dtype=float), np.asarray(key, dtype=float), value, out)
    return Transformer(words, np.array([0.0, 1.0, 0.0]), (Block((head,), no_units(3)),), np.eye(VOCABULARY, 3))


TOKENS = [[3, 1, 1, 2, 0, 1, 3, 3, 2, 0, 0, 1, 2, 2, 3, 1], [1, 2], [0] * 9, [1] * 20]
