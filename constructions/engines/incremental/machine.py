"""The compiled decoder's memory, and what the kernel leaves to Python: growing, structures, dense columns, shares of ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from constructions.engines.incremental import fields, kernel
from constructions.engines.incremental.entries import load
from constructions.engines.incremental.index import Index
from constructions.engines.incremental.limbs import (
    NEAREST_AWAY,
    NEAREST_EVEN,
    SHARES,
    TOWARD_ZERO,
    shape_of,
)
from constructions.engines.incremental.observed import Columns, Observer, report
from constructions.engines.incremental.program import compile_model
from constructions.engines.incremental.structure import Keys, Structure, search
from constructions.engines.incremental.vocabulary import arrange
from constructions.engines.weights import Weights
from constructions.layers import Transformer
from precision.format import Arithmetic, Rounding
from precision.rounding import round_shifted
from precision.softmax import softmax
from precision.winners import winners_share

Array = Any
MODES = {
    Rounding.NEAREST_EVEN: NEAREST_EVEN,
    Rounding.NEAREST_AWAY: NEAREST_AWAY,
    Rounding.TOWARD_ZERO: TOWARD_ZERO,
}
FIRST_CAPACITY = 256
GROWTH = 4  # times as many tokens: indexing anew is dearer than memory that is never touched
MOST_EXPECTED = 1 << 17  # tokens that there is room for before they come
STORE_GROWTH = 16  # by one part in so many: new room is touched at once
FIRST_SEARCH = 3  # keys
FREE_SEARCHES = 24  # of one head; after these, one each time the sequence has grown by an eighth


class CompiledMachine:
    """The state of one run. The store has a row for each token; other growable arrays, one stretch for each head."""

    def __init__(self, model: Transformer, arithmetic: Arithmetic, columns: Columns, observe: Observer | None) -> None:
        self.arithmetic, self.columns, self.observe = arithmetic, columns, observe
        self.width = model.width
        weights = Weights(model, arithmetic)
        program = compile_model(weights)
        self.plans, self.limbs = program.heads, program.limbs
        self.entries = load(self.limbs)
        self.size, self.fraction_bits = 2 * self.limbs + 1, -arithmetic.format.quantum_exponent
        self.code = np.array(program.code, np.int64)
        self.vec = np.zeros(program.slots * self.limbs, np.uint64)
        most = max((len(plan.used) for plan in self.plans), default=0)
        self.t = np.zeros(
            fields.FREE + most * (self.size + self.limbs) + (fields.MOST_SPECIAL + 4) * self.size, np.uint64
        )
        self.t[fields.LARGEST : fields.LARGEST + self.limbs] = self._words([arithmetic.format.max_quanta])
        self.vec[self.width * self.limbs : (self.width + 1) * self.limbs] = self._words([1 << self.fraction_bits])
        self.state = np.zeros(kernel.STATE_FIELDS, np.int64)
        self.state[kernel.OBSERVED] = observe is not None
        words, registers = np.nonzero(model.words)
        quanta, places = weights.distinct(model.words[words, registers])
        self.words = (
            np.searchsorted(words, np.arange(len(model.words) + 1)),
            np.ascontiguousarray(registers),
            self._words(quanta).reshape(-1, self.limbs)[places].reshape(-1),
        )
        self.vocabulary, self.capacity = arrange(weights), 0
        self.index = self._empty_index()
        self._reserve(FIRST_CAPACITY)

    @property
    def length(self) -> int:
        """How many tokens have gone in."""
        return int(self.state[kernel.LENGTH])

    def registers(self) -> list[int]:
        """The residual stream of the latest token after the last block, in quanta."""
        return self._numbers(self.vec[: self.width * self.limbs])

    def expect(self, tokens: int) -> None:
        """About so many tokens will go in, at most. Room that is not touched takes no memory."""
        tokens = min(tokens, MOST_EXPECTED)
        if self.length == 0:  # in huge pages, which what is resized does not have
            row = max(self.index.heads[:, fields.STRIDE].tolist(), default=0)
            self.index = self.index._replace(store=np.zeros(max(tokens * row, len(self.index.store)), np.uint64))
        if self.capacity < tokens:
            self._index_anew(tokens)

    def feed(self, tokens: Sequence[int], more: int = 0, stop: Collection[int] = ()) -> list[int]:
        """Takes tokens in, at least one; returns the argmax at the last.

        more: that goes in as well and the argmax there is returned, and so on, so many times, or until one is in `stop`.
        """
        capacity = self.length + len(tokens) + more
        self._reserve(capacity)
        buffer = np.zeros(len(tokens) + more, np.int64)
        buffer[: len(tokens)] = tokens
        ends = np.array(sorted(stop), np.int64)
        self.state[kernel.TAKEN], self.state[kernel.GIVEN] = 0, len(tokens)
        while True:
            why = self.entries.advance(
                self.code,
                self.vec,
                self.t,
                self.index,
                self.state,
                buffer,
                ends,
                self.words,
                self.vocabulary,
                self.width,
            )
            if why == kernel.FINISHED:
                break
            self._help(why, int(self.state[kernel.HEAD]))
        self.columns.certified = int(self.state[kernel.COUNT_CERTIFIED])
        self.columns.screened = int(self.state[kernel.COUNT_SCREENED])
        self.columns.dense_logits = int(self.state[kernel.COUNT_DENSE_LOGITS])
        return [*buffer[len(tokens) : self.state[kernel.GIVEN]].tolist(), int(self.state[kernel.NEXT])]

    def _help(self, why: int, head: int) -> None:
        if why == kernel.SEARCH_STRUCTURE:
            self._search(head)
        elif why == kernel.DENSE_COLUMN:
            self._dense_column(head)
        elif why == kernel.MORE_SHARES:
            self._more_shares(int(self.index.found[fields.WINNERS]))
        else:
            report(self.observe, head, self.registers())

    # Numbers

    def _words(self, numbers: Sequence[int]) -> Array:
        size = 8 * self.limbs
        raw = b"".join(number.to_bytes(size, "little", signed=True) for number in numbers)
        return np.frombuffer(raw, np.uint64).copy()

    def _numbers(self, words: Array, limbs: int | None = None) -> list[int]:
        raw, size = words.tobytes(), 8 * (limbs or self.limbs)
        return [int.from_bytes(raw[i : i + size], "little", signed=True) for i in range(0, len(raw), size)]

    # Memory

    def _empty_index(self) -> Index:
        limbs, fmt = self.limbs, self.arithmetic.format
        heads = np.zeros((len(self.plans), fields.FIELDS), np.int64)
        lists, row = list[int](), 0
        for h, plan in enumerate(self.plans):
            heads[h, fields.USED : fields.ROWS + 1] = (
                len(plan.used),
                plan.score_width,
                plan.value_width,
                plan.query,
                plan.value,
                plan.output,
                plan.coefficients,
                plan.rows,
            )
            heads[h, fields.STORE_AT] = row
            row += (len(plan.used) + plan.value_width) * limbs
            heads[h, fields.LISTS_AT] = len(lists)
            heads[h, fields.NEXT_TRY] = FIRST_SEARCH
            lists += [*plan.used, *[0] * (5 * len(plan.used) + 2 * fields.MOST_SPECIAL)]
        heads[:, fields.STRIDE] = row
        mode = MODES[self.arithmetic.rounding]
        return Index(
            heads=heads,
            lists=np.array(lists, np.int64),
            store=np.zeros(0, np.uint64),
            groups=np.zeros(0, np.int32),
            runs=np.zeros(0, np.int32),
            sums=np.zeros(0, np.uint64),
            table=np.zeros(0, np.int32),
            arena=np.zeros(0, np.int32),
            reals=np.zeros(0),
            arena_reals=np.zeros(0),
            shares=np.zeros(0, np.uint64),
            found=np.zeros(fields.FOUND_FIELDS, np.int64),
            shape=shape_of(limbs, self.fraction_bits, mode),
            largest=np.array([float(fmt.max_value)]),
        )

    def _reserve(self, tokens: int) -> None:
        """Room for so many tokens."""
        store, row = self.index.store, max(self.index.heads[:, fields.STRIDE].tolist(), default=0)
        if tokens * row > len(store):
            # In place, as it is the largest by far: a copy would need as much again. No view of it is left.
            store.resize(max(tokens * row, len(store) + len(store) // STORE_GROWTH), refcheck=False)
        if tokens > self.capacity:
            self._index_anew(max(tokens, GROWTH * self.capacity))

    def _index_anew(self, capacity: int) -> None:
        """All structured heads, with room for so many tokens."""
        heads, self.capacity = self.index.heads, capacity
        groups = runs = sums = table = arena = reals = 0
        for h, plan in enumerate(self.plans):
            slots = 1 << (2 * capacity - 1).bit_length()  # at most half full
            heads[h, fields.TABLE_MASK] = slots - 1
            heads[h, fields.GROUPS_AT], heads[h, fields.RUNS_AT] = groups, runs
            heads[h, fields.SUMS_AT], heads[h, fields.TABLE_AT], heads[h, fields.ARENA_AT] = sums, table, arena
            heads[h, fields.REALS_AT], heads[h, fields.ARENA_REALS_AT] = reals, arena
            groups, runs, table, arena = groups + capacity, runs + capacity, table + slots, arena + 4 * capacity + 4
            sums += capacity // 2 * plan.value_width * (self.limbs + 1)  # of runs of several keys
            reals += fields.WISH_REALS + 2 * len(plan.used) + capacity * (len(plan.used) // 2)
        # The old arrays go before the new ones come.
        self.index = self.index._replace(
            groups=None, runs=None, sums=None, table=None, arena=None, reals=None, arena_reals=None
        )
        self.index = self.index._replace(
            groups=np.zeros(groups * fields.GROUP_FIELDS, np.int32),
            runs=np.zeros(runs * fields.RUN_FIELDS, np.int32),
            sums=np.zeros(sums, np.uint64),
            table=np.zeros(table, np.int32),
            arena=np.zeros(arena, np.int32),
            reals=np.zeros(reals),
            arena_reals=np.zeros(arena),
        )
        for h in range(len(self.plans)):
            if heads[h, fields.STRUCTURED] and not self.entries.rebuild(self.index, h, self.length, self.t):
                heads[h, fields.STRUCTURED] = 0

    # Structures

    def _search(self, h: int) -> None:
        head, index, used, keys = self.index.heads[h], self.index, len(self.plans[h].used), self.length
        head[fields.TRIES] += 1
        self.columns.searches += 1
        stride, at = int(head[fields.STRIDE]), int(head[fields.STORE_AT])
        registers = index.store[: keys * stride].reshape(keys, stride)[:, at : at + used * self.limbs]
        specials = int(head[fields.LISTS_AT]) + fields.SPECIAL_KEYS * used
        inexact = index.lists[
            specials + fields.MOST_SPECIAL : specials + fields.MOST_SPECIAL + int(head[fields.INEXACT])
        ].tolist()
        coefficients = self._numbers(self.t[fields.FREE : fields.FREE + used * self.size], self.size)

        def fits(structure: Structure, root: int, square: int) -> int:
            self._set_specials(h, structure.specials)
            return int(self.entries.squares_fit(index, h, keys, root, square))

        structure = search(Keys(registers.reshape(keys, used, self.limbs), coefficients, inexact, fits))
        if structure is not None:
            self._adopt(h, structure)
            index.table[head[fields.TABLE_AT] :][: head[fields.TABLE_MASK] + 1] = 0
            head[fields.STRUCTURED] = self.entries.rebuild(index, h, keys, self.t)
        # Searching again at the very next key is right where a new phase begins, and ruinous where there is no structure.
        often = head[fields.TRIES] > FREE_SEARCHES
        head[fields.NEXT_TRY] = keys + (keys // 8 if often else 0) + (1 if structure is not None else keys // 4) + 1

    def _set_specials(self, h: int, specials: Sequence[int]) -> None:
        head = self.index.heads[h]
        at = int(head[fields.LISTS_AT]) + fields.SPECIAL_KEYS * len(self.plans[h].used)
        self.index.lists[at : at + len(specials)] = specials
        head[fields.SPECIALS] = len(specials)

    def _adopt(self, h: int, structure: Structure) -> None:
        head, used = self.index.heads[h], len(self.plans[h].used)
        self._set_specials(h, structure.specials)
        lists = self.index.lists[int(head[fields.LISTS_AT]) :][: fields.SPECIAL_KEYS * used].reshape(
            fields.SPECIAL_KEYS, used
        )
        lists[fields.FLAT] = 0
        lists[fields.EXCEPTIONS] = 0
        for register, exceptions in structure.exceptions.items():
            lists[fields.FLAT, register], lists[fields.EXCEPTIONS, register] = 1, exceptions
        for d, (root, square) in enumerate(structure.matching):
            lists[fields.ROOTS, d], lists[fields.SQUARES, d] = root, square
        head[fields.ORDINARY], head[fields.MATCHING] = structure.ordinary, len(structure.matching)
        head[fields.PREFERENCE], head[fields.ROOT], head[fields.SQUARE] = structure.preference
        head[fields.LOOSE] = structure.loose

    # Columns

    def _dense_column(self, h: int) -> None:
        """One softmax column by definition."""
        plan, head, length, limbs = self.plans[h], self.index.heads[h], self.length, self.limbs
        self.columns.dense += 1
        self.columns.dense_by_head[plan.name] = self.columns.dense_by_head.get(plan.name, 0) + 1
        if self.length >= FIRST_SEARCH:
            self.columns.uncertified[plan.name] = self.columns.uncertified.get(plan.name, 0) + 1
        scores = np.zeros(length * limbs, np.uint64)
        self.entries.dense_scores(self.index, h, length, self.code, self.vec, self.t, scores)
        weights = [(key, w) for key, w in enumerate(softmax(self._numbers(scores), self.arithmetic).weights) if w]
        outputs = [0] * plan.value_width
        start = int(head[fields.STORE_AT]) + len(plan.used) * limbs
        for key, weight in weights if outputs else ():
            at = start + key * int(head[fields.STRIDE])
            for j, value in enumerate(self._numbers(self.index.store[at : at + plan.value_width * limbs])):
                outputs[j] += weight * value
        fmt, rounding = self.arithmetic.format, self.arithmetic.rounding
        rounded = [round_shifted(total, self.fraction_bits, fmt, rounding).quanta for total in outputs]
        self.vec[plan.output * limbs : (plan.output + plan.value_width) * limbs] = self._words(rounded)
        self.state[kernel.RESUMED] = kernel.ANSWERED

    def _more_shares(self, wanted: int) -> None:
        """The weights of m tied winners, for m up to twice as many as wanted."""
        numbers = [0, 0] if not len(self.index.shares) else []
        first = max(1, int(self.index.shape.numbers[SHARES]))
        for m in range(first, 2 * wanted + 2):
            numbers += [winners_share(m, self.arithmetic, losers=losers) for losers in (False, True)]
        self.index = self.index._replace(shares=np.concatenate([self.index.shares, self._words(numbers)]))
        self.index.shape.numbers[SHARES] = 2 * wanted + 2
