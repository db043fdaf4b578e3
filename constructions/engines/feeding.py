"""Greedy decoding by machine code that takes in one token after another: what such engines share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from constructions.engines.protocol import GaveUp, Respond, Tick, no_response
from constructions.layers import Transformer
from precision.format import Arithmetic

Array = Any
PIECE = 1 << 16
FIRST_TOKENS = 1 << 28  # memory that is not used takes none


class Feeder(ABC):
    """One run of a model. length: tokens that have gone in. piece: the most tokens between two ticks.

    most: tokens of the longest text. keep: of which sublayers, from 0, the embedding, the registers of all positions are kept.
    Raises NotCovered.
    """

    piece = PIECE

    def __init__(
        self,
        model: Transformer,
        arithmetic: Arithmetic,
        most: int,
        *,
        beyond: bool = False,
        keep: frozenset[int] = frozenset(),
    ) -> None:
        self._model, self._arithmetic, self._beyond, self._kept = model, arithmetic, beyond, sorted(keep)
        self._most = most if model.longest is None or beyond else min(most, model.longest)
        self._stops = np.zeros(len(model.words), np.uint8)
        self._tokens = np.zeros(min(self._most + 1, FIRST_TOKENS), np.int32)
        self.length = 0

    @abstractmethod
    def _feed(self, known: int, end: int) -> int | str:
        """Takes in the tokens before position `end`, and writes the argmax after the known ones. Returns how many tokens have gone
        in: fewer if an argmax is a stop; or why the run is given up.
        """

    @abstractmethod
    def _take_address(self) -> None:
        """Takes note that the tokens stand elsewhere now."""

    @abstractmethod
    def registers(self, sublayer: int) -> list[list[int]]:
        """Returns the registers after a kept sublayer in quanta, by register and position."""

    def _make_room(self, end: int) -> None:
        """Makes room for the positions before `end`."""
        if end >= len(self._tokens):
            tokens = np.zeros(2 * end + 1, np.int32)
            tokens[: len(self._tokens)] = self._tokens
            self._tokens = tokens
            self._take_address()

    def produce(
        self,
        prompt: Sequence[int],
        stop: set[int],
        limit: int,
        *,
        respond: Respond = no_response,
        tick: Tick = lambda length: None,
        wanted: Array | None = None,
    ) -> Array:
        """Returns the new tokens after what has gone in and the prompt, see `Decoding`: a view of memory that another text would
        overwrite. wanted: ends after the first token of the model's own that is not the one here.

        Raises GaveUp; IndexError for a token outside the vocabulary; BeyondBound.
        """
        self._stops[:] = 0
        self._stops[list(stop)] = 1
        known = start = seen = self.length + len(prompt)
        longest = known + limit
        self._model.admit(known, beyond=self._beyond)
        self._put(self.length, prompt)
        alone = respond is no_response
        while True:
            end = min(self.length + self.piece, longest - 1 if alone else known)
            if self._model.longest is not None and not self._beyond:
                end = min(end, self._model.longest)
                self._model.admit(self.length + (end <= self.length), beyond=False)
            self._make_room(end)
            fed = self._feed(known, end)
            if isinstance(fed, str):
                raise GaveUp(self._tokens[start:known].copy(), fed)
            self.length = fed
            tick(fed)
            if fed < known:
                continue
            known = fed + 1
            last = int(self._tokens[fed])
            if wanted is not None:
                new, same = self._tokens[seen:known], wanted[seen - start : known - start]
                wrong = np.flatnonzero(new[: len(same)] != same)
                if len(wrong) or len(same) < len(new):
                    end = int(wrong[0]) if len(wrong) else len(same)
                    return self._tokens[start : seen + end + 1]
            if last in stop:
                return self._tokens[start:known]
            response = () if alone else respond(self._tokens[:known].tolist())
            if response:
                self._put(known, response)
                known += len(response)
            seen = known
            if known >= longest:
                return self._tokens[start:known]

    def decode(self, prompt: Sequence[int], stop: set[int], limit: int) -> list[int]:
        """Returns what `produce` does, in a list."""
        return self.produce(prompt, stop, limit).tolist()  # type: ignore[no-any-return]

    def append(self, token: int) -> int:
        """Takes a token in and returns the argmax. Raises as `decode` does."""
        return self.decode([token], set(), 1)[0]

    def _put(self, at: int, tokens: Sequence[int]) -> None:
        given = np.array(tokens, np.int64)
        for token in given[(given < 0) | (given >= len(self._stops))].tolist():
            raise IndexError(f"token {token} is not in the vocabulary of {len(self._stops)}")
        self._make_room(at + len(given))
        self._tokens[at : at + len(given)] = given
