"""Memories of a fixed size that a Transformer reads: StreamingLLM's window, TOVA, RMT.

Source: Xiao et al. 2023; Oren et al. 2024; Bulatov et al. 2022. Of one layer, the keys and values of a cache are functions of its
tokens, so the state is the tokens: 8 bits each, with 0 where there is none yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from circuits.architectures.cell import HALF, TOKENS, Array, Cell

TOKEN_BITS = 8


class Cache(Cell):
    """Some tokens, of which an answer attends to all. 8·d bits; d: how many tokens."""

    units = 4  # numbers of a key

    @property
    def STATE_BITS(self) -> int:
        """8 bits for each token."""
        return TOKEN_BITS * self.d

    def all_shapes(self) -> dict[str, tuple[int, ...]]:
        d = self.units
        return {"embedding": (TOKENS, d), "query": (d, d), "key": (d, d), "value": (d, d), "answer": (d, TOKENS)}

    def start(self) -> tuple[Array, ...]:
        return (np.zeros(self.d, np.uint8),)

    def attention(self, tokens: Array, row: int) -> tuple[Array, Array]:
        """Returns the scores of some tokens, and what the query of a row of the embedding reads of them."""
        o, w = self.operators, self.weights
        rows = w["embedding"][tokens % HALF]
        query = o.round(w["embedding"][row] @ w["query"])
        scores = o.round(o.round(rows @ w["key"]) @ query)
        weights = o.exp(o.round(scores - scores.max()))
        return scores, o.round(o.round(weights @ o.round(rows @ w["value"])) / weights.sum())

    def answer(self, state: tuple[Array, ...], query: tuple[int, ...]) -> int:
        """Returns the likeliest token after what the last of the query reads of the cache."""
        (tokens,) = state
        row = HALF + query[-1] % HALF if query else int(tokens[-1]) % HALF
        return int(np.argmax(self.attention(tokens, row)[1] @ self.weights["answer"]))


class Window(Cache):
    """The first tokens, the sinks, and the last ones."""

    name = "StreamingLLM"
    sinks = 2

    def step(self, state: tuple[Array, ...], token: int, position: int) -> tuple[Array, ...]:
        (tokens,) = state
        if 0 in tokens:
            place = int(np.argmin(tokens))
            return (np.concatenate([tokens[:place], [np.uint8(token % 256)], tokens[place + 1 :]]),)
        sinks = min(self.sinks, self.d - 1)
        return (np.concatenate([tokens[:sinks], tokens[sinks + 1 :], [np.uint8(token % 256)]]),)


class Tova(Cache):
    """All tokens but those to which a later one attended least when the cache was full."""

    name = "TOVA"

    def step(self, state: tuple[Array, ...], token: int, position: int) -> tuple[Array, ...]:
        (tokens,) = state
        if 0 in tokens:
            place = int(np.argmin(tokens))
            return (np.concatenate([tokens[:place], [np.uint8(token % 256)], tokens[place + 1 :]]),)
        longer = np.concatenate([tokens, [np.uint8(token % 256)]])
        return (np.delete(longer, int(np.argmin(self.attention(longer, token % HALF)[0]))),)


class Rmt(Cell):
    """Two memory vectors, which attend to each other and to the next token. 2·d·p bits."""

    name = "RMT"
    vectors = 2

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        return {"place": (self.vectors, d), "query": (d, d), "key": (d, d), "value": (d, d)}

    def parts(self, d: int) -> list[tuple[int, ...]]:
        return [(self.vectors, d)]

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        (memory,) = state
        rows = np.concatenate([o.round(memory + w["place"]), x[None]])
        scores = o.round(o.round(rows[:-1] @ w["query"]) @ o.round(rows @ w["key"]).T)
        weights = o.exp(o.round(scores - scores.max(axis=-1, keepdims=True)))
        read = o.round(o.round(weights @ o.round(rows @ w["value"])) / weights.sum(axis=-1, keepdims=True))
        return (o.tanh(o.round(memory + read)),)


window = Window(6, 5)
tova = Tova(6, 5)
rmt = Rmt(2, 5)
