"""Recurrences whose state is a matrix: linear attention, RetNet, xLSTM's mLSTM.

Source: Katharopoulos et al. 2020; Sun et al. 2023; Beck et al. 2024. Queries are left out: they read the state and change nothing.
State: d² numbers of p bits, and d more for the sum of keys where there is one.
"""

from __future__ import annotations

from typing import Any

from circuits.architectures.cell import Array, Cell, outer

DECAY = 0.75  # RetNet's γ


class LinearAttention(Cell):
    """S += φ(k) vᵀ and z += φ(k), with φ = exp. (d² + d)·p bits."""

    name = "linear attention"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"key": (d, d), "value": (d, d)}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d, d), (d,)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        s, z = state
        k, v = o.exp(o.round(x @ w["key"])), o.round(x @ w["value"])
        return o.round(s + o.round(outer(k, v))), o.round(z + k)


class RetNet(Cell):
    """S = γS + k vᵀ. d²·p bits."""

    name = "RetNet"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"key": (d, d), "value": (d, d)}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d, d)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        (s,) = state
        k, v = o.round(x @ w["key"]), o.round(x @ w["value"])
        return (o.round(o.round(DECAY * s) + o.round(outer(k, v))),)


class MLstm(Cell):
    """C = f C + i·v kᵀ and n = f n + i·k, with gates i = exp, f = σ. (d² + d)·p bits."""

    name = "mLSTM"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"key": (d, d), "value": (d, d), "in": (d, 1), "forget": (d, 1)}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d, d), (d,)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        c, n = state
        i, f = o.exp(o.round(x @ w["in"])), o.sigmoid(o.round(x @ w["forget"]))
        k, v = o.round(x @ w["key"]), o.round(x @ w["value"])
        written = o.round(outer(o.round(i * v), k))
        return o.round(o.round(f[..., None] * c) + written), o.round(o.round(f * n) + o.round(i * k))


linear_attention = LinearAttention(2, 5)
retnet = RetNet(2, 5)
mlstm = MLstm(2, 5)
