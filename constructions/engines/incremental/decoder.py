"""Greedy decoding token by token with an indexed key store: the same bits as `reference`, O(log l) for a token of match-like heads.

What is compiled: fixed-point formats under `fused`, by numba. There, the model is a flat program of exact integer rows
(program.py), run token by token (kernel.py) on fixed-width integers (limbs.py). Each head keeps an index of its keys (index.py)
under a structure that is guessed from the keys (structure.py) and checked at each of them; a softmax column is replaced by its
winners where a certificate says so (certificate.py), and computed densely, by definition, elsewhere; likewise, a few logits stand
for all (vocabulary.py). Both ways are counted. Everything else, and a machine without numba, goes the plain way, that
of the reference engine, with all columns dense.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from constructions.engines.incremental.observed import Columns, Observer, report
from constructions.engines.protocol import Respond, Tick, no_response
from constructions.engines.reference import ReferenceEngine
from constructions.layers import Transformer
from precision.format import Arithmetic, Discipline, Rounding

MOST_COMPILED_BITS = 257
PIECE = 1000  # tokens between two ticks; whoever comes back from Python finds its caches cold


class Machine(Protocol):
    """What takes tokens in: the compiled way or the plain one."""

    @property
    def length(self) -> int:
        """How many tokens have gone in."""

    def registers(self) -> list[int]:
        """The residual stream of the latest token after the last block, in quanta."""

    def expect(self, tokens: int) -> None:
        """About so many tokens will go in, at most."""

    def feed(self, tokens: Sequence[int], more: int = 0, stop: Collection[int] = ()) -> list[int]:
        """Takes tokens in, at least one; returns the argmax at the last.

        more: that goes in as well and the argmax there is returned, and so on, so many times, or until one is in `stop`.
        """


def is_compiled(arithmetic: Arithmetic) -> bool:
    """Whether tokens go the compiled way under this arithmetic, where there is numba."""
    fmt = arithmetic.format
    return (
        arithmetic.discipline is Discipline.FUSED
        and fmt.is_fixed_point
        and max(fmt.significand_bits, -2 * fmt.quantum_exponent) <= MOST_COMPILED_BITS
    )


class PlainMachine:
    """By the reference engine: every column is dense."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic, columns: Columns, observe: Observer | None) -> None:
        self._engine = ReferenceEngine(model, arithmetic)
        self._heads = [f"{b}.attn.{i}" for b, block in enumerate(model.blocks, 1) for i in range(len(block.heads))]
        self._columns, self._observe = columns, observe
        self._registers: list[int] = []

    @property
    def length(self) -> int:
        """See Machine."""
        return self._engine.length

    def registers(self) -> list[int]:
        """See Machine."""
        return self._registers

    def expect(self, tokens: int) -> None:
        """See Machine."""

    def feed(self, tokens: Sequence[int], more: int = 0, stop: Collection[int] = ()) -> list[int]:
        """See Machine."""
        fresh = [[self._append(token) for token in tokens][-1]]
        while len(fresh) <= more and fresh[-1] not in stop:
            fresh.append(self._append(fresh[-1]))
        return fresh

    def _append(self, token: int) -> int:
        step = self._engine.append(token)
        self._registers = list(step.registers[-1])
        self._columns.dense += len(self._heads)
        self._columns.dense_logits += 1
        for name in self._heads:
            self._columns.dense_by_head[name] = self._columns.dense_by_head.get(name, 0) + 1
        for sublayer, registers in enumerate(step.registers if self._observe is not None else ()):
            report(self._observe, sublayer, registers)
        return step.next_token


class IncrementalDecoder:
    """One run of a model: tokens go in one at a time, or are decoded greedily; earlier keys are kept in the heads' indices.

    plain: go the plain way in any case. beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    Raises ValueError for stochastic rounding, and for a format that does not hold 1.
    """

    def __init__(
        self,
        model: Transformer,
        arithmetic: Arithmetic,
        *,
        observe: Observer | None = None,
        plain: bool = False,
        beyond: bool = False,
    ) -> None:
        fmt = arithmetic.format
        if arithmetic.rounding is Rounding.STOCHASTIC:
            raise ValueError(
                "incremental decoding cannot round stochastically: it skips what would need a random number"
            )
        if fmt.quantum_exponent > 0 or fmt.max_value < 1:
            raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
        self.columns = Columns()
        self._vocabulary = len(model.words)
        self._model, self._beyond = model, beyond
        find = PlainMachine if plain or not is_compiled(arithmetic) else _compiled_machine()
        self._machine = find(replace(model, longest=None), arithmetic, self.columns, observe)  # asked here

    @property
    def length(self) -> int:
        """How many tokens have gone in."""
        return self._machine.length

    @property
    def registers(self) -> Sequence[int]:
        """The residual stream of the latest token after the last block, in quanta."""
        return self._machine.registers()

    def append(self, token: int) -> int:
        """Takes a token in and returns the argmax. Raises IndexError for a token outside the vocabulary."""
        self._check([token])
        self._admit(1)
        return self._machine.feed([token])[0]

    def decode(
        self,
        prompt: Sequence[int],
        stop: set[int],
        limit: int,
        *,
        respond: Respond = no_response,
        tick: Tick = lambda length: None,
    ) -> list[int]:
        """Greedy decoding behind what has gone in, see `Decode`. The last token produced does not go in.

        Raises IndexError for an empty prompt, and for a token outside the vocabulary.
        """
        if not prompt:
            raise IndexError("a prompt needs at least one token")
        self._check(prompt)
        self._admit(len(prompt))
        sequence, fed, longest = list(prompt), 0, len(prompt) + limit
        self._machine.expect(self.length + longest)
        while True:
            piece = sequence[fed : fed + PIECE]
            room = self._admit(len(piece))
            fed += len(piece)
            alone = fed == len(sequence) and respond is no_response
            fresh = self._machine.feed(piece, max(0, min(PIECE, room, longest - fed - 1)) if alone else 0, stop)
            if fed < len(sequence):
                tick(fed)
                continue
            fed += len(fresh) - 1
            tick(fed)
            sequence.extend(fresh)
            if fresh[-1] in stop:
                return sequence[len(prompt) :]
            response = respond(sequence)
            self._check(response)
            sequence.extend(response)
            if len(sequence) >= longest:
                return sequence[len(prompt) :]

    def _admit(self, more: int) -> int:
        """How many tokens may follow so many more, at most a piece. Raises BeyondBound."""
        self._model.admit(self.length + more, beyond=self._beyond)
        longest = self._model.longest
        return PIECE if longest is None or self._beyond else min(PIECE, longest - self.length - more)

    def _check(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            if not 0 <= token < self._vocabulary:
                raise IndexError(f"token {token} is not in the vocabulary of {self._vocabulary}")


def _compiled_machine() -> Callable[[Transformer, Arithmetic, Columns, Observer | None], Machine]:
    """The plain one where numba is not there, or has changed inside."""
    try:
        from constructions.engines.incremental.machine import CompiledMachine
    except ImportError as error:
        _say_once(f"incremental decoding is not compiled, which is far slower: {error}")
        return PlainMachine
    return CompiledMachine


@cache
def _say_once(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
