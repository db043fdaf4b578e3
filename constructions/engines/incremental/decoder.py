"""Greedy decoding token by token with an indexed key store: the same bits as `reference`, O(log l) for a token of match-like heads.

What is compiled: fixed-point formats under `fused`, by numba. There, the model is a flat program of exact integer rows
(program.py), run token by token (kernel.py) on fixed-width integers (limbs.py). Each head keeps an index of its keys (index.py)
under a structure that is guessed from the keys (structure.py) and checked at each of them; a softmax column is replaced by its
winners where a certificate says so (certificate.py), and computed densely, by definition, elsewhere; likewise, a few logits stand
for all (vocabulary.py). Both ways are counted. Everything else, and all where there is no numba, is decoded by the reference
engine (decode_by_incremental of constructions/engines/decoding.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from constructions.engines.incremental.observed import Columns, Observer
from constructions.engines.protocol import Respond, Tick, no_response
from constructions.layers import Transformer
from precision.format import Arithmetic, Discipline, Rounding

if TYPE_CHECKING:
    from constructions.engines.incremental.machine import CompiledMachine

MOST_COMPILED_BITS = 257
PIECE = 1000  # tokens between two ticks; whoever comes back from Python finds its caches cold


def is_compiled(arithmetic: Arithmetic) -> bool:
    """Whether decoding is compiled under this arithmetic, where there is numba."""
    fmt = arithmetic.format
    return (
        arithmetic.discipline is Discipline.FUSED
        and fmt.is_fixed_point
        and max(fmt.significand_bits, -2 * fmt.quantum_exponent) <= MOST_COMPILED_BITS
    )


def compiled_machine(arithmetic: Arithmetic) -> type[CompiledMachine] | None:
    """What takes tokens in under this arithmetic; None if it is not compiled, and the first time is told where numba fails.

    Raises ValueError for stochastic rounding, and for a format that does not hold 1.
    """
    fmt = arithmetic.format
    if arithmetic.rounding is Rounding.STOCHASTIC:
        raise ValueError("incremental decoding cannot round stochastically: it skips what would need a random number")
    if fmt.quantum_exponent > 0 or fmt.max_value < 1:
        raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
    if not is_compiled(arithmetic):
        return None
    try:
        from constructions.engines.incremental.machine import CompiledMachine
    except ImportError as error:  # numba is not there, or has changed inside
        _say_once(f"incremental decoding is not compiled, which is far slower: {error}")
        return None
    return CompiledMachine


@cache
def _say_once(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


class IncrementalDecoder:
    """One run of a model: tokens go in one at a time, or are decoded greedily; earlier keys are kept in the heads' indices.

    beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    Raises ValueError where there is no compiled machine.
    """

    def __init__(
        self, model: Transformer, arithmetic: Arithmetic, *, observe: Observer | None = None, beyond: bool = False
    ) -> None:
        machine = compiled_machine(arithmetic)
        if machine is None:
            raise ValueError("incremental decoding is compiled for fused fixed point alone, and needs numba")
        self.columns = Columns()
        self._vocabulary = len(model.words)
        self._model, self._beyond = model, beyond
        self._machine = machine(model, arithmetic, self.columns, observe)

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
