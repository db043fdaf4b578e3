"""What a wired model is asked, and what came of it. A request can be run by any engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constructions.engines import Decode, Decoded, Decoding, Respond, Tick, no_response
from constructions.wiring.wired import SpelledTokens, Wired

Tokens = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Request:
    """What a wired model is asked, in tokens.

    Decoding ends after a token of `stop`, or after `limit` tokens. guess: what should follow the prompt; no result depends on it,
    only the time that it takes. It is an array where it may be long. respond: what responds to the model, in this run alone.
    """

    wired: Wired
    prompt: Sequence[int]
    stop: set[int]
    limit: int
    guess: Sequence[int] | Tokens = ()
    respond: Respond = no_response

    def run(self, decode: Decode, tick: Tick = lambda length: None) -> Run:
        """Decodes greedily by an engine. Raises SearchError, and what the engine raises."""
        if not self.limit:
            return Run(self, np.zeros(0, np.int64), Decoded([], None, "reference"))
        return self.run_of(decode(self.decoding(tick)))

    def decoding(self, tick: Tick = lambda length: None) -> Decoding:
        """Returns the request as an engine takes it."""
        model, arithmetic = self.wired.model, self.wired.arithmetic
        return Decoding(model, arithmetic, self.prompt, self.stop, self.limit, self.guess, self.respond, tick)

    def run_of(self, decoded: Decoded) -> Run:
        """Returns the run that an engine decoded."""
        produced = decoded.produced
        return Run(self, produced if isinstance(produced, np.ndarray) else np.array(produced, np.int64), decoded)


@dataclass(frozen=True, eq=False)
class Run:
    """A request and what came of it. tokens: those after the prompt, responses included. decoded: how they came about."""

    request: Request
    tokens: Tokens
    decoded: Decoded

    @cached_property
    def prompt(self) -> SpelledTokens:
        """The words of the prompt."""
        return self.request.wired.spelled(self.request.prompt)

    @cached_property
    def produced(self) -> SpelledTokens:
        """The words after the prompt."""
        return self.request.wired.spelled(self.tokens)

    @cached_property
    def words(self) -> SpelledTokens:
        """The words of the whole sequence."""
        return SpelledTokens(self.request.wired.vocabulary, self.tokens, np.array(self.request.prompt, np.int64))
