"""The ideal model, as an engine of its own: exact rationals, and attention that averages the keys of largest score.

It shares nothing with the checker or with the engines but the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from constructions.layers import FeedForward, Matrix, Transformer

Vector = list[Fraction]
Rows = list[list[tuple[int, Fraction]]]


def _rows(matrix: Matrix) -> Rows:
    return [[(j, Fraction(float(w))) for j, w in enumerate(row) if w] for row in matrix]


def _times(rows: Rows, x: Sequence[Fraction]) -> Vector:
    return [sum((w * x[j] for j, w in row), Fraction(0)) for row in rows]


def _feed_forward(weights: FeedForward, x: Vector) -> Vector:
    gates = _times(_rows(weights.gate), x)
    ups = _times(_rows(weights.up), x)
    hidden = [
        max(gate + Fraction(float(a)), Fraction(0)) * (up + Fraction(float(b)))
        for gate, a, up, b in zip(gates, weights.gate_bias, ups, weights.up_bias, strict=True)
    ]
    down = _times(_rows(weights.down), hidden)
    return [value + Fraction(float(bias)) + old for value, bias, old in zip(down, weights.down_bias, x, strict=True)]


def run(model: Transformer, tokens: Sequence[int]) -> tuple[list[list[Vector]], list[int]]:
    """At each position the registers behind the embedding and each sublayer, as a Step has them; and the argmax there."""
    stream = [
        [
            Fraction(float(w)) + position * Fraction(float(p))
            for w, p in zip(model.words[token], model.position, strict=True)
        ]
        for position, token in enumerate(tokens, start=1)
    ]
    history = [[list(x)] for x in stream]
    for block in model.blocks:
        changes = [[Fraction(0)] * model.width for _ in stream]
        for head in block.heads:
            queries, keys = ([_times(_rows(m), x) for x in stream] for m in (head.query, head.key))
            values = [_times(_rows(head.value), x) for x in stream]
            out = _rows(head.out)
            for k, query in enumerate(queries):
                scores = [sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0)) for key in keys[: k + 1]]
                winners = [i for i, score in enumerate(scores) if score == max(scores)]
                read = [sum(values[i][j] for i in winners) / len(winners) for j in range(len(head.value))]
                changes[k] = [a + b for a, b in zip(changes[k], _times(out, read), strict=True)]
        stream = [[a + b for a, b in zip(x, change, strict=True)] for x, change in zip(stream, changes, strict=True)]
        for past, x in zip(history, stream, strict=True):
            past.append(list(x))
        stream = [_feed_forward(block.feed_forward, x) for x in stream]
        for past, x in zip(history, stream, strict=True):
            past.append(list(x))
    words = _rows(model.unembed)
    logits = [_times(words, x) for x in stream]
    return history, [row.index(max(row)) for row in logits]
