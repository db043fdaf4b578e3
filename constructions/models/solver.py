"""A model that one can prompt, run and judge: what commands and claims need to know of any of them.

A solver is a value: a model with all that its wiring fixes besides n, such as a token layout, the length of queries, or a machine.
Its builder wires it for n, and makes a request of each input; a request can be run by any engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from constructions.engines import Decode, Decoded, Respond, Tick, no_response
from constructions.models.construction import Construction
from constructions.wiring.wired import Spelled, Wired
from precision.format import Discipline

Tokens = NDArray[np.integer]
Input = TypeVar("Input", contravariant=True)
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Request:
    """What a wired model is asked, in tokens.

    Decoding ends behind a token of `stop`, or after `limit` tokens. guess: what should follow the prompt; no result depends on it,
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
        guess = self.guess.tolist() if isinstance(self.guess, np.ndarray) else self.guess
        model, arithmetic = self.wired.model, self.wired.arithmetic
        decoded = decode(
            model, arithmetic, self.prompt, self.stop, self.limit, guess=guess, respond=self.respond, tick=tick
        )
        return Run(self, np.array(decoded.produced, np.int64), decoded)


@dataclass(frozen=True, eq=False)
class Run:
    """A request and what came of it. tokens: those behind the prompt, responses included. decoded: how they came about."""

    request: Request
    tokens: Tokens
    decoded: Decoded

    @cached_property
    def prompt(self) -> Spelled:
        """The words of the prompt."""
        return self.request.wired.spelled(self.request.prompt)

    @cached_property
    def produced(self) -> Spelled:
        """The words behind the prompt."""
        return self.request.wired.spelled(self.tokens)

    @cached_property
    def words(self) -> Spelled:
        """The words of the whole sequence."""
        return Spelled(self.request.wired.vocabulary, self.tokens, np.array(self.request.prompt, np.int64))


class Solver(Protocol[Input, Answer]):
    """A model and how it is run on inputs of its task."""

    @property
    def construction(self) -> Construction:
        """What people are told of it; its least precision, its findings."""

    def build(
        self,
        n: int,
        precision_bits: int | None = None,
        *,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
    ) -> Wired:
        """The wired model. printed: ids of findings to put back. Raises ValueError with one line."""

    def request(self, wired: Wired, given: Input) -> Request:
        """Asks a model that this solver built. Raises ValueError for an input that it is not wired for."""

    def read(self, run: Run) -> Answer:
        """What the words of a run say, and nothing else."""

    def judge(self, given: Input, run: Run, answer: Answer) -> str:
        """What is wrong with what was read from a run, in a sentence; "" if it holds up."""
