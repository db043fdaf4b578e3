"""The indexed engine: the same bits as `reference`, in O(l log l) for models whose heads are match-like.

It runs a whole sequence at once (teacher forcing), or a chunk of positions at a time. Each register is one exact column (see
column.py), so affine rows and ReGLU products are a few numpy operations each. A softmax column is replaced by its winner, found by
sorting and certified (see head.py, nearest.py); a column that fails its certificate is computed densely, by definition.
The counts of both are in the result. The output head is searched the same way: the logits are scores of the vocabulary's rows.

Between chunks a model is a `State`: what recurrences hold, and the keys of each head. A head may forget keys that no later query
can read (see forgetting.py), so that a run of any length fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from constructions.engines.indexed.chunk import Chunk, Columns, HeadObserver, IndexedRun, Observer, State
from constructions.engines.indexed.head import KeysForgotten, Memory
from constructions.engines.indexed.loaded import Loaded
from constructions.engines.indexed.mantissas import Array
from constructions.layers import Transformer
from precision.format import Arithmetic, Rounding

FEW_TIMES = 8  # that a token occurs, of a vocabulary whose keys are hardly forgotten
CHUNK = 1 << 19  # positions of a run that forgets: many beside the keys that are sorted anew, little memory
# Positions at a time: enough that numpy's calls cost little beside its loops, few enough to stay in the caches.
PART = 1 << 16


@dataclass(frozen=True)
class Followed:
    """How a model followed an answer. written: the first token of its own, None if there is none. columns: how it came about."""

    written: int | None
    columns: Columns


def run(
    model: Transformer,
    arithmetic: Arithmetic,
    tokens: Sequence[int],
    *,
    observe: Observer | None = None,
    observe_head: HeadObserver | None = None,
    beyond: bool = False,
) -> IndexedRun:
    """Runs the model on a whole sequence.

    beyond: read more tokens than the model is certified for, instead of raising BeyondBound.
    Raises IndexError for an empty sequence or a token outside the vocabulary; ValueError for stochastic rounding, and for a format
    that does not hold 1.
    """
    engine = Indexed(model, arithmetic, beyond=beyond)
    return engine.advance(engine.start, tokens, observe=observe, observe_head=observe_head, remember=False)[1]


def first_mismatch(
    model: Transformer,
    arithmetic: Arithmetic,
    prompt: Sequence[int],
    answer: Sequence[int] | Array,
    *,
    chunk: int | None = None,
    tick: Callable[[int], None] = lambda length: None,
    beyond: bool = False,
) -> tuple[int | None, Followed]:
    """Returns whether greedy decoding of `prompt` gives `answer`: the index of the first other token, or None if all agree.

    The answer is fed in as if it had been decoded. If the argmax at every position is the next token of the answer, induction over
    positions shows that decoding gives just this sequence, since the model is causal.

    chunk: how many positions at a time; by default a few if every head can forget keys, else all. tick: told how many are done.
    Keys that nothing can read any more are forgotten on the way; a run that turns out to need them starts again and keeps all.
    Raises IndexError for an empty prompt, and as `run` does.
    """
    if not len(prompt):
        raise IndexError("a prompt needs at least one token")
    engine = Indexed(model, arithmetic, beyond=beyond)
    model.admit(len(prompt) + len(answer) - 1, beyond=beyond)
    prompt_array, answer_array = _in_few_bits(prompt), _in_few_bits(answer)
    try:
        return engine.follow(prompt_array, answer_array, chunk, tick, forget=True)
    except KeysForgotten:
        return engine.follow(prompt_array, answer_array, chunk, tick, forget=False)


def _in_few_bits(tokens: Sequence[int] | Array) -> Array:
    """Returns the tokens in 32 bits, or as they are if they take less. Raises IndexError for a token that does not fit."""
    array, most = np.asarray(tokens), np.iinfo(np.int32)
    if len(array) and (array.dtype.kind not in "iu" or array.min() < most.min or array.max() > most.max):
        raise IndexError("tokens are integers of 32 bits")
    return array if array.dtype.kind in "iu" and array.itemsize < most.bits // 8 else array.astype(np.int32, copy=False)


class Indexed:
    """A model under one arithmetic, that reads a sequence in chunks. beyond: as in `run`. Raises ValueError as `run` does."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic, *, beyond: bool = False) -> None:
        fmt = arithmetic.format
        if arithmetic.rounding is Rounding.STOCHASTIC:
            raise ValueError(
                "the indexed engine cannot round stochastically: it skips most of what would need a random number"
            )
        if fmt.quantum_exponent > 0 or fmt.max_value < 1:
            raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
        self.model, self.loaded, self.beyond = model, Loaded(model, arithmetic), beyond

    @property
    def start(self) -> State:
        """Nothing was read."""
        blocks = self.model.blocks
        return State(0, tuple((Memory(),) * len(block.heads) for block in blocks), ({},) * len(blocks))

    def advance(
        self,
        state: State,
        tokens: Sequence[int] | Array,
        *,
        observe: Observer | None = None,
        observe_head: HeadObserver | None = None,
        remember: bool = True,
        forget: bool = False,
    ) -> tuple[State, IndexedRun]:
        """Reads further tokens: the state after them, and what happened at them.

        remember: False if nothing follows; the state after is then of no use. forget: heads drop keys that no later query can
        win, as far as one can tell; a later `advance` raises KeysForgotten if that was wrong. Raises IndexError as `run` does.
        """
        self.model.admit(state.length + len(tokens), beyond=self.beyond)
        array = np.asarray(tokens)
        size = len(self.model.words)
        if len(array) == 0 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= size:
            raise IndexError(f"a sequence needs at least one token, all of them integers from 0 to {size - 1}")
        observers = (
            observe or (lambda block, sublayer, registers: None),
            observe_head or (lambda block, head, attention: None),
        )
        size = PART if observe is None and observe_head is None else len(array)  # what is observed is in one part
        return Chunk(self.loaded, state, array, size, *observers).advance(remember=remember, forget=forget)

    def follow(
        self, prompt: Array, answer: Array, chunk: int | None, tick: Callable[[int], None], *, forget: bool
    ) -> tuple[int | None, Followed]:
        """Returns where the first token of the answer is that is not the argmax before it.

        chunk: how many positions to read at a time. If None, a few, until these show that some head keeps most of its keys, then
        all that are left, as each chunk sorts the keys that are kept. Few are enough that sorting the vocabulary costs no more;
        all are, of a vocabulary so large that a token occurs a few times, as keys that differ are hardly forgotten.
        """
        prompt_length = len(prompt)
        state, columns, last, begin = self.start, Columns(), prompt_length + len(answer) - 1, 0
        size = chunk or max(CHUNK, len(self.model.words))
        if chunk is None and last <= max(2 * size, FEW_TIMES * len(self.model.words)):
            size = last
        while begin < last:
            end = min(begin + size, last)
            fed = np.concatenate(
                [prompt[begin:end], answer[max(begin - prompt_length, 0) : max(end - prompt_length, 0)]]
            )
            state, chunk_run = self.advance(state, fed, remember=end < last, forget=forget)
            columns.add(chunk_run.columns)
            first = max(prompt_length - 1, begin)
            expected = answer[first + 1 - prompt_length : max(end + 1 - prompt_length, 0)]
            wrong = np.flatnonzero(chunk_run.next_tokens[first - begin :] != expected)
            if len(wrong):
                place = first + int(wrong[0])
                return place + 1 - prompt_length, Followed(int(chunk_run.next_tokens[place - begin]), columns)
            del chunk_run  # before the next chunk is made
            tick(end)
            if chunk is None and any(2 * memory.kept > size for memories in state.heads for memory in memories):
                size = last
            begin = end
        return None, Followed(None, columns)
