"""A second, independent way to run a model: rationals throughout, one function per operator, no code of the engines.

It shares nothing with the project but the layers' arrays. Rounding is written from the definition, and exp comes from mpmath
with far more digits than any test needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from constructions.layers import AttentionHead, FeedForward, Transformer

DIGITS = 200


@dataclass(frozen=True)
class Numbers:
    """m·2^e with |m| < 2^digits, e ≥ finest, at most `largest`; `fused` or every scalar operation rounded."""

    digits: int
    finest: int
    largest: Fraction
    fused: bool

    def round(self, value: Fraction) -> Fraction:
        """The nearest element, the even one of two."""
        exponent = self.finest
        while abs(value) >= Fraction(2) ** (exponent + self.digits):
            exponent += 1
        step = Fraction(2) ** exponent
        quotient = value / step
        whole = quotient.numerator // quotient.denominator
        rest = quotient - whole
        if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
            whole += 1
        return max(-self.largest, min(self.largest, whole * step))

    def sum(self, terms: Sequence[Fraction]) -> Fraction:
        """Of products that `times` made."""
        if self.fused:
            return self.round(sum(terms, Fraction(0)))
        result = Fraction(0)
        for term in terms:
            result = self.round(result + term)
        return result

    def times(self, a: Fraction, b: Fraction) -> Fraction:
        """A product that is going to be added to others."""
        return a * b if self.fused else self.round(a * b)

    def dot(self, row: Sequence[Fraction], vector: Sequence[Fraction], bias: Fraction = Fraction(0)) -> Fraction:
        """A row of an affine map, the bias last."""
        products = [self.times(a, b) for a, b in zip(row, vector, strict=True) if a and b]
        return self.sum([*products, bias])

    def softmax(self, scores: Sequence[Fraction]) -> list[Fraction]:
        """One column."""
        top = max(scores)
        with mpmath.workdps(DIGITS):
            if self.fused:
                powers = [mpmath.exp(_mp(s - top)) for s in scores]
                return [self.round(_exact(power / mpmath.fsum(powers))) for power in powers]
            exponentials = [self.round(_exact(mpmath.exp(_mp(self.round(s - top))))) for s in scores]
        total = self.sum(exponentials)
        return [self.round(e / total) for e in exponentials]


def _mp(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / mpmath.mpf(value.denominator)


def _exact(value: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def interpret(model: Transformer, numbers: Numbers, tokens: Sequence[int]) -> list[list[list[Fraction]]]:
    """Residual vectors after the embedding and after each sublayer: [sublayer][position][register]; the logits come last."""

    def matrix(array: object) -> list[list[Fraction]]:
        return [[numbers.round(Fraction(float(x))) for x in row] for row in array]  # type: ignore[attr-defined]

    def vector(array: object) -> list[Fraction]:
        return [numbers.round(Fraction(float(x))) for x in array]  # type: ignore[attr-defined]

    words, slope = matrix(model.words), vector(model.position)
    stream = []
    for position, token in enumerate(tokens, start=1):
        offsets = [numbers.times(Fraction(position), s) for s in slope]
        stream.append([numbers.round(w + o) for w, o in zip(words[token], offsets, strict=True)])
    history = [[list(x) for x in stream]]
    for block in model.blocks:
        change = _attention(block.heads, numbers, stream, matrix)
        stream = [
            [numbers.round(a + b) for a, b in zip(x, c, strict=True)] for x, c in zip(stream, change, strict=True)
        ]
        history.append([list(x) for x in stream])
        change = _feed_forward(block.feed_forward, numbers, stream, matrix, vector)
        stream = [
            [numbers.round(a + b) for a, b in zip(x, c, strict=True)] for x, c in zip(stream, change, strict=True)
        ]
        history.append([list(x) for x in stream])
    unembed = matrix(model.unembed)
    history.append([[numbers.dot(row, x) for row in unembed] for x in stream])
    return history


def _attention(heads: Sequence[AttentionHead], numbers: Numbers, stream, matrix):  # type: ignore[no-untyped-def]
    outputs: list[list[Fraction]] = [[] for _ in stream]
    out_rows: list[list[Fraction]] = [[] for _ in stream[0]]
    for head in heads:
        project = {name: matrix(getattr(head, name)) for name in ("query", "key", "value")}
        q, k, v = ([[numbers.dot(row, x) for row in project[name]] for x in stream] for name in project)
        for position in range(len(stream)):
            scores = [numbers.dot(k[other], q[position]) for other in range(position + 1)]
            weights = numbers.softmax(scores)
            for j in range(len(project["value"])):
                outputs[position].append(numbers.dot(weights, [v[other][j] for other in range(position + 1)]))
        for register, row in enumerate(matrix(head.out)):
            out_rows[register] += row
    return [[numbers.dot(row, output) for row in out_rows] for output in outputs]


def _feed_forward(ffn: FeedForward, numbers: Numbers, stream, matrix, vector):  # type: ignore[no-untyped-def]
    gate, up, down = ([*zip(matrix(w), vector(b), strict=True)] for w, b in _affine_maps(ffn))
    changes = []
    for x in stream:
        gates = [numbers.dot(row, x, bias) for row, bias in gate]
        ups = [numbers.dot(row, x, bias) for row, bias in up]
        hidden = [numbers.round(max(a, Fraction(0)) * b) for a, b in zip(gates, ups, strict=True)]
        changes.append([numbers.dot(row, hidden, bias) for row, bias in down])
    return changes


def _affine_maps(ffn: FeedForward):  # type: ignore[no-untyped-def]
    return (ffn.gate, ffn.gate_bias), (ffn.up, ffn.up_bias), (ffn.down, ffn.down_bias)
