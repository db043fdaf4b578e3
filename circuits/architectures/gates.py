"""Recurrences whose state is vectors: GRU, LSTM, RWKV, Mamba.

Source: Cho et al. 2014; Hochreiter and Schmidhuber 1997; Peng et al. 2023 (RWKV-4, time mixing); Gu and Dao 2023 (S6, without its
convolution). Each product, sum and function is rounded to p bits; a matrix times a vector is one operator.
"""

from __future__ import annotations

from typing import Any

from circuits.architectures.cell import Array, Cell, outer

CHANNELS = 2  # Mamba's state numbers for each unit


class Gru(Cell):
    """h = (1 − z)·h + z·tanh(…). d·p bits."""

    name = "GRU"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {f"{of}_{gate}": (d, d) for of in ("x", "h") for gate in ("update", "reset", "new")}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d,)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        (h,) = state
        z, r = (o.sigmoid(o.round(x @ w[f"x_{gate}"] + h @ w[f"h_{gate}"])) for gate in ("update", "reset"))
        new = o.tanh(o.round(x @ w["x_new"] + o.round(r * h) @ w["h_new"]))
        return (o.round(o.round((1 - z) * h) + o.round(z * new)),)


class Lstm(Cell):
    """c = f·c + i·tanh(…), h = o·tanh(c). 2·d·p bits."""

    name = "LSTM"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {f"{of}_{gate}": (d, d) for of in ("x", "h") for gate in ("in", "forget", "out", "new")}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d,), (d,)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        c, h = state
        sums = {gate: o.round(x @ w[f"x_{gate}"] + h @ w[f"h_{gate}"]) for gate in ("in", "forget", "out", "new")}
        i, f, out = (o.sigmoid(sums[gate]) for gate in ("in", "forget", "out"))
        c = o.round(o.round(f * c) + o.round(i * o.tanh(sums["new"])))
        return c, o.round(out * o.tanh(c))


class Rwkv(Cell):
    """a = e^(−w)·a + e^k·v and b = e^(−w)·b + e^k, where k and v see the last token as well. 3·d·p bits."""

    name = "RWKV"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"decay": (d,), **{f"{of}_{what}": (d, d) for of in ("now", "last") for what in ("key", "value")}}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d,), (d,), (d,)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        a, b, last = state
        k, v = (o.round(x @ w[f"now_{what}"] + last @ w[f"last_{what}"]) for what in ("key", "value"))
        fade, weight = o.exp(-abs(w["decay"])), o.exp(k)
        return o.round(o.round(fade * a) + o.round(weight * v)), o.round(o.round(fade * b) + weight), x


class Mamba(Cell):
    """h = e^(−Δ·a)·h + Δ·B·x, with Δ = softplus(…) and B of the token. 2·d·p bits."""

    name = "Mamba"

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"delta": (d, d), "rate": (d, CHANNELS), "into": (d, CHANNELS)}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(d, CHANNELS)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        (h,) = state
        delta = o.softplus(o.round(x @ w["delta"]))
        fade = o.exp(-o.round(delta[..., None] * abs(w["rate"])))
        written = o.round(outer(o.round(delta * x), o.round(x @ w["into"])))
        return (o.round(o.round(fade * h) + written),)


gru = Gru(4, 5)
lstm = Lstm(2, 5)
rwkv = Rwkv(2, 5)
mamba = Mamba(3, 5)
