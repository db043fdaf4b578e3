"""Runs weights as a stranger to the project would, who has them by name and the forward rule in words.

Each formula of the rule in a dump's sidecar is looked up here. One that is not known word for word is an error, so the text cannot
change without what it says. Numbers are Python integers (how many quanta), exp is mpmath's; nothing of the project is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

Tensors = Mapping[str, np.ndarray[Any, np.dtype[Any]]]
Row = list[tuple[int, int]]  # (coordinate, weight) without zeros
Vector = list[int]
MORE_BITS = 200  # than a number has, for what is rounded to one

FUSED = "each R(…) takes the exact value of what stands in it, sums over any number of terms included, and rounds once"
SEQUENTIAL = (
    "in each R(…) every product is rounded, and every partial sum from left to right, in the order of indices; "
    "a product that is 0 changes nothing, and the bias is added last"
)
SAID = {
    "position": {"l = 1, 2, …: the first token of a sequence, whichever it is, stands at position 1"},
    "operators": {FUSED, SEQUENTIAL},
    "embedding": {
        "x_l = R(embed.words[token_l] + l·embed.position)",
        "x_l = R(embed.words[token_l] + R(l·embed.position))",
    },
    "block": {"for i = 0, 1, …: the attention or the recurrence of block i if it has one, then its feed-forward"},
    "projections": {"for head h: q_l = R(W_Q x_l), k_l = R(W_K x_l), v_l = R(W_V x_l)"},
    "scores": {"s_m = R(k_m · q_l) for m = 1 … l: causal, the position itself included; nothing is divided by √d"},
    "softmax": {
        "w_m = R(exp(s_m) / Σ_{m'=1…l} exp(s_m'))",
        "e_m = R(exp(R(s_m − max s))), w_m = R(e_m / R(e_1 + … + e_l))",
    },
    "read": {"r_h = R(Σ_{m=1…l} w_m·v_m)"},
    "attention": {"x_l ← R(x_l + R(Σ_h W_O r_h)), one sum over all heads of the block, each with its own W_O"},
    "recurrence": {"h_0 = 0, h_l = R(A h_{l−1} + B x_l), x_l ← R(x_l + h_l)"},
    "feed-forward": {
        "g = R(W_gate x_l + b_gate), u = R(W_up x_l + b_up), z = R(ReLU(g) ⊙ u), x_l ← R(x_l + R(W_down z + b_down))"
    },
    "logits": {"y = R(unembed · x_l) after the last block"},
    "next token": {"the row of the largest logit, the first one of equals"},
}
ROUNDING = (
    "R(y) is the element of the format nearest to y, of two the one with an even number of quanta; beyond the largest element "
    "it is that one, with the sign of y. All weights are elements of the format"
)


def stranger_of(tensors: Tensors, sidecar: Mapping[str, Any]) -> Stranger:
    """Runs a dump, by what its sidecar says of it."""
    forward = dict(sidecar["forward"])
    assert forward.pop("rounding") == ROUNDING
    assert list(forward) == ["operators", *(step for step in SAID if step != "operators")]
    for step, formula in forward.items():
        assert formula in SAID[step], f"{step}: {formula} is not what this interpreter does"
    sequential = forward["operators"] == SEQUENTIAL
    assert sequential == ("R(l·" in forward["embedding"]) == ("max s" in forward["softmax"])
    bits, top = -sidecar["format"]["quantum_exponent"], int(sidecar["format"]["max_quanta"])
    stranger = Stranger(tensors, bits=bits, digits=top.bit_length(), top=top, sequential=sequential)
    for name, tensor in tensors.items():
        assert [value / 2**bits for value in stranger.tensors[name].ravel()] == tensor.ravel().tolist()
    assert stranger.blocks == len(sidecar["blocks"])
    return stranger


class Stranger:
    """Weights by their exported names.

    bits: of a number after the point, and digits: its binary digits from the first one on, both at most. top: the largest number,
    in quanta. sequential: whether each product and partial sum is rounded.
    """

    def __init__(self, tensors: Tensors, *, bits: int, digits: int, top: int, sequential: bool) -> None:
        self.bits, self.digits, self.top, self.sequential = bits, digits, top, sequential
        self.tensors = {name: self.rounded(tensor) for name, tensor in tensors.items()}
        self.rows = {name: [self.sparse(row) for row in t] for name, t in self.tensors.items() if t.ndim == 2}
        self.blocks = sum(name.endswith(".ffn.W_gate") for name in tensors)
        self.heads = [sum(name.startswith(f"blocks.{i}.attn.") for name in tensors) // 4 for i in range(self.blocks)]

    def rounded(self, tensor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        ratios = [float(x).as_integer_ratio() for x in tensor.ravel()]
        quanta = [self.round(n << self.bits, d.bit_length() - 1) for n, d in ratios]
        return np.array([*quanta, None], dtype=object)[:-1].reshape(tensor.shape)

    @staticmethod
    def sparse(row: Sequence[int]) -> Row:
        return [(j, w) for j, w in enumerate(row) if w]

    def round(self, value: int, shift: int = 0) -> int:
        """value / 2^shift to the nearest element, of two the one with an even last digit, at most ±top."""
        coarse = max(0, abs(value).bit_length() - shift - self.digits)
        places = shift + coarse
        whole, rest = value >> places, value & ((1 << places) - 1)
        half = (1 << places) >> 1
        up = places > 0 and (rest > half or (rest == half and whole % 2 == 1))
        return max(-self.top, min(self.top, (whole + up) << coarse))

    def nearest(self, quanta: mpmath.mpf) -> int:
        """The same of a number that has any digits."""
        return self.round(int(mpmath.floor(mpmath.ldexp(quanta, MORE_BITS))), MORE_BITS)

    def dot(self, pairs: Sequence[tuple[int, int]], bias: int = 0) -> int:
        """R(Σ a·b + bias)."""
        if not self.sequential:
            return self.round(sum(a * b for a, b in pairs) + (bias << self.bits), self.bits)
        total = 0
        for a, b in pairs:
            total = self.round(total + self.round(a * b, self.bits))
        return self.round(total + bias)

    def affine(self, name: str, x: Vector, bias: str = "") -> Vector:
        rows = self.rows[name]
        biases = self.tensors[bias] if bias else [0] * len(rows)
        return [self.dot([(w, x[j]) for j, w in row], b) for row, b in zip(rows, biases, strict=True)]

    def added(self, x: Vector, change: Vector) -> Vector:
        return [self.round(a + b) for a, b in zip(x, change, strict=True)]

    def softmax(self, scores: Vector) -> Vector:
        best = max(scores)
        with mpmath.workprec(4 * self.bits + MORE_BITS):
            one = mpmath.mpf(2) ** self.bits
            if not self.sequential:
                powers = [mpmath.exp((s - best) / one) for s in scores]
                total = mpmath.fsum(powers)
                return [self.nearest(power / total * one) for power in powers]
            powers = [self.nearest(mpmath.exp(self.round(s - best) / one) * one) for s in scores]
            sum_ = 0
            for power in powers:
                sum_ = self.round(sum_ + power)
            return [self.nearest(power * one / sum_) for power in powers]

    def next_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The argmax at each position."""
        return [vectors[-1].index(max(vectors[-1])) for vectors in self.vectors(tokens)]

    def vectors(self, tokens: Sequence[int]) -> list[list[Vector]]:
        """At each position: the residual vector after the embedding and after each sublayer, and the logits."""
        seen: dict[tuple[int, int], list[tuple[Vector, Vector]]] = {}
        state: dict[int, Vector] = {}
        result = []
        for place, token in enumerate(tokens, start=1):
            slope = [self.round(place * s) if self.sequential else place * s for s in self.tensors["embed.position"]]
            x = self.added(list(self.tensors["embed.words"][token]), slope)
            vectors = [x]
            for i in range(self.blocks):
                if self.heads[i]:
                    x = self.added(x, self.attention(i, x, seen))
                elif f"blocks.{i}.recurrence.A" in self.rows:
                    state[i] = self.recurrence(i, state.get(i, [0] * len(x)), x)
                    x = self.added(x, state[i])
                vectors.append(x)
                at = f"blocks.{i}.ffn"
                gate, up = (self.affine(f"{at}.W_{side}", x, f"{at}.b_{side}") for side in ("gate", "up"))
                hidden = [self.round(max(g, 0) * u, self.bits) for g, u in zip(gate, up, strict=True)]
                x = self.added(x, self.affine(f"{at}.W_down", hidden, f"{at}.b_down"))
                vectors.append(x)
            result.append([*vectors, self.affine("unembed", x)])
        return result

    def attention(self, i: int, x: Vector, seen: dict[tuple[int, int], list[tuple[Vector, Vector]]]) -> Vector:
        pairs: list[list[tuple[int, int]]] = [[] for _ in x]
        for h in range(self.heads[i]):
            query, key, value = (self.affine(f"blocks.{i}.attn.{h}.W_{m}", x) for m in "QKV")
            past = seen.setdefault((i, h), [])
            past.append((key, value))
            parts = [j for j, q in enumerate(query) if q]
            column = self.softmax([self.dot([(query[j], k[j]) for j in parts if k[j]]) for k, _ in past])
            read = [
                self.dot([(w, v[j]) for w, (_, v) in zip(column, past, strict=True) if w]) for j in range(len(value))
            ]
            for register, row in enumerate(self.rows[f"blocks.{i}.attn.{h}.W_O"]):
                pairs[register] += [(w, read[j]) for j, w in row]
        return [self.dot(both) for both in pairs]

    def recurrence(self, i: int, state: Vector, x: Vector) -> Vector:
        carry, feed = self.rows[f"blocks.{i}.recurrence.A"], self.rows[f"blocks.{i}.recurrence.B"]
        return [
            self.dot([(w, state[j]) for j, w in a] + [(w, x[j]) for j, w in b])
            for a, b in zip(carry, feed, strict=True)
        ]
