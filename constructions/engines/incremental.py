"""Greedy decoding token by token with an indexed key store: the same bits as `reference`, O(log l) for a token of match-like heads.

What is compiled: fixed-point formats under `fused`, by numba. There, the model is a flat program of exact integer rows
(incremental_program.py), run token by token (incremental_kernel.py) on fixed-width integers (incremental_limbs.py). Each head keeps
an index of its keys (incremental_index.py) under a structure that is guessed from the keys (incremental_structure.py)
and checked at each of them; a softmax column is replaced by its winners where a certificate says so
(incremental_certificate.py), and computed densely, by definition, elsewhere. Both are counted. Everything else, and a
machine without numba, goes the plain way, that of the reference engine, with all columns dense.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constructions.engines.reference import ReferenceEngine
from constructions.layers import Transformer
from precision.format import Arithmetic, Discipline, Rounding

if TYPE_CHECKING:
    from constructions.engines.incremental_machine import Machine

Observer = Callable[[int, str, Sequence[int]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and all
registers in quanta."""

MOST_COMPILED_BITS = 257


@dataclass
class Columns:
    """How softmax columns were decided: by certificate, or densely.

    dense_by_head: those of each head that has any. dense_logits: tokens whose argmax was taken over all logits.
    searches: how often a structure was looked for.
    """

    certified: int = 0
    dense: int = 0
    dense_by_head: dict[str, int] = field(default_factory=dict)
    dense_logits: int = 0
    searches: int = 0


def is_compiled(arithmetic: Arithmetic) -> bool:
    """Whether tokens go the compiled way under this arithmetic, on this machine."""
    fmt = arithmetic.format
    return (
        arithmetic.discipline is Discipline.FUSED
        and arithmetic.rounding is not Rounding.STOCHASTIC
        and fmt.is_fixed_point
        and fmt.quantum_exponent <= 0
        and fmt.max_value >= 1
        and max(fmt.significand_bits, -2 * fmt.quantum_exponent) <= MOST_COMPILED_BITS
        and importlib.util.find_spec("numba") is not None
    )


class IncrementalDecoder:
    """One run of a model: tokens go in one at a time, or are decoded greedily; earlier keys are kept in the heads' indices.

    plain: go the plain way in any case. Raises ValueError for stochastic rounding, and for a format that does not hold 1.
    """

    def __init__(
        self, model: Transformer, arithmetic: Arithmetic, *, observe: Observer | None = None, plain: bool = False
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
        self._heads = [f"{b}.attn.{i}" for b, block in enumerate(model.blocks, 1) for i in range(len(block.heads))]
        self._observe = observe
        self._machine: Machine | None = None
        self._engine: ReferenceEngine | None = None
        self._registers: Sequence[int] = ()
        if plain or not is_compiled(arithmetic):
            self._engine = ReferenceEngine(model, arithmetic)
        else:
            from constructions.engines.incremental_machine import Machine

            self._machine = Machine(model, arithmetic, self.columns, observe)

    @property
    def length(self) -> int:
        """How many tokens have gone in."""
        if self._machine is not None:
            return self._machine.length
        return self._engine.length if self._engine is not None else 0

    @property
    def registers(self) -> Sequence[int]:
        """The residual stream of the latest token after the last block, in quanta."""
        return self._registers if self._machine is None else self._machine.registers()

    def append(self, token: int) -> int:
        """Feeds a token and returns the argmax. Raises IndexError for a token outside the vocabulary."""
        self._check([token])
        if self._machine is not None:
            return self._machine.run([token])
        assert self._engine is not None
        step = self._engine.append(token)
        self._registers = step.registers[-1]
        self.columns.dense += len(self._heads)
        self.columns.dense_logits += 1
        for name in self._heads:
            self.columns.dense_by_head[name] = self.columns.dense_by_head.get(name, 0) + 1
        for index, registers in enumerate(step.registers if self._observe is not None else ()):
            self._report(index, registers)
        return step.next_token

    def decode(self, prompt: Sequence[int], stop: set[int], limit: int) -> list[int]:
        """Feeds the prompt, then each argmax, until a token of `stop` or `limit` tokens; returns the new tokens.

        Raises IndexError for an empty prompt, and for a token outside the vocabulary.
        """
        if not prompt:
            raise IndexError("a prompt needs at least one token")
        self._check(prompt)
        if self._machine is not None:
            return self._machine.decode(prompt, stop, limit)
        for token in prompt[:-1]:
            self.append(token)
        token, produced = prompt[-1], list[int]()
        while len(produced) < limit:
            token = self.append(token)
            produced.append(token)
            if token in stop:
                break
        return produced

    def _check(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            if not 0 <= token < self._vocabulary:
                raise IndexError(f"token {token} is not in the vocabulary of {self._vocabulary}")

    def _report(self, sublayer: int, registers: Sequence[int]) -> None:
        assert self._observe is not None
        self._observe((sublayer + 1) // 2, sublayer_name(sublayer), registers)


def sublayer_name(sublayer: int) -> str:
    """The kind of a sublayer, counted from the embedding."""
    return "embedding" if sublayer == 0 else ("attention" if sublayer % 2 else "feed-forward")
