"""Models and texts for the dense engine, and its comparison with the reference engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from constructions.engines import dense
from constructions.engines.reference import ReferenceEngine, Step
from constructions.layers import AttentionHead, Block, FeedForward, Matrix, Transformer
from precision.format import FLOAT_FORMATS, Arithmetic, Rounding, fixed_point

DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
VOCABULARY = 4
FORMATS = (*(fixed_point(p) for p in (5, 9, 17, 33, 53, 65, 129, 255)), *FLOAT_FORMATS)
ROUNDINGS = (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY, Rounding.TOWARD_ZERO)


def reference_steps(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int]) -> list[Step]:
    engine = ReferenceEngine(model, arithmetic)
    return [engine.append(token) for token in tokens]


def assert_same(model: Transformer, arithmetic: Arithmetic, sequences: Sequence[Sequence[int]], tile: int = 64) -> None:
    """Every register of every position after every sublayer, every logit and every next token, on each device there is."""
    expected = [reference_steps(model, arithmetic, tokens) for tokens in sequences]
    for device in DEVICES:
        outcome = dense.run(model, arithmetic, sequences, device=device, tile=tile, keep_registers=True)
        assert_ran(model, outcome, expected)


def assert_ran(model: Transformer, outcome: dense.DenseRun, expected: Sequence[Sequence[Step]]) -> None:
    """The run is these steps, sequence by sequence."""
    assert outcome.registers is not None
    assert outcome.logits is not None
    for number, steps in enumerate(expected):
        assert outcome.logits[number].tolist() == [list(step.logits) for step in steps]
        assert outcome.next_tokens[number].tolist() == [step.next_token for step in steps]
        sublayers = outcome.registers[number]
        assert len(sublayers) == 2 * len(model.blocks) + 1
        for sublayer, table in enumerate(sublayers):
            at_sublayer = [list(step.registers[sublayer]) for step in steps]
            assert table.tolist() == at_sublayer, f"sequence {number}, sublayer {sublayer}"


def weights(rng: np.random.Generator, shape: tuple[int, ...], scale: int, dyadic: bool) -> Matrix:
    """Small integers or dyadic fractions, four in ten of them zero."""
    numbers = rng.integers(-scale, scale + 1, size=shape).astype(np.float64)
    if dyadic:
        numbers *= 2.0 ** rng.integers(-6, 3, size=shape)
    numbers *= rng.random(shape) < 0.6
    return numbers


def random_model(rng: np.random.Generator, scale: int, dyadic: bool, width: int = 5) -> Transformer:
    """No structure: up to two heads and three units a block, near-ties, saturation, fractions of every size."""

    def draw(*shape: int) -> Matrix:
        return weights(rng, shape, scale, dyadic)

    def head() -> AttentionHead:
        score_width, value_width = int(rng.integers(0, 4)), int(rng.integers(1, 3))
        return AttentionHead(
            draw(score_width, width), draw(score_width, width), draw(value_width, width), draw(width, value_width)
        )

    blocks = []
    for _ in range(2):
        heads = tuple(head() for _ in range(int(rng.integers(0, 3))))
        units = int(rng.integers(0, 4))
        ffn = FeedForward(
            draw(units, width), draw(units), draw(units, width), draw(units), draw(width, units), draw(width)
        )
        blocks.append(Block(heads, ffn))
    return Transformer(draw(VOCABULARY, width), draw(width), tuple(blocks), draw(VOCABULARY, width))


def random_sequences(rng: np.random.Generator, count: int = 3, longest: int = 12) -> list[list[int]]:
    return [rng.integers(0, VOCABULARY, size=int(rng.integers(0, longest + 1))).tolist() for _ in range(count)]


def one_head(query: Matrix, key: Matrix) -> Transformer:
    """Scores from the given weights; reads register 0 into register 2. Register 0: word; 1: position."""
    value, out = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0], [0.0], [1.0]])
    empty = FeedForward(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0), np.zeros((3, 0)), np.zeros(3))
    words = np.array([[float(i), 0.0, 0.0] for i in range(VOCABULARY)])
    head = AttentionHead(np.asarray(query, dtype=float), np.asarray(key, dtype=float), value, out)
    return Transformer(words, np.array([0.0, 1.0, 0.0]), (Block((head,), empty),), np.eye(VOCABULARY, 3))


TOKENS = [[3, 1, 1, 2, 0, 1, 3, 3, 2, 0, 0, 1, 2, 2, 3, 1], [1, 2], [0] * 9, [1] * 20]
