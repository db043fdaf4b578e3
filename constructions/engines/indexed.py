"""The indexed engine: the same bits as `reference`, in O(l log l) for models whose heads are match-like.

It runs a whole sequence at once (teacher forcing). Each register is one exact column (see column.py), so affine rows and ReGLU
products are a few numpy operations each. A softmax column is replaced by its winner, found by sorting and certified (see
nearest.py); a column that fails its certificate is computed densely, by definition. The counts of both are in the result.
The output head is searched the same way: the logits are scores of the vocabulary's rows.

What the certificate gives: the winner leads by γ with l·e^−γ < 2^−(q+2), 2^−q the quantum. Then each loser's weight rounds to 0, and each of m
tied winners has a weight 1/(m + ε), ε < m·2^−(q+1), which rounds as 1/m does, since no midpoint is that close to 1/m.
Under `sequential` the same holds if no partial sum of a score is rounded or saturates, which the columns' bounds show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from constructions.engines.column import (
    Array,
    Column,
    combine,

    from_floats,
    multiply,
    normalised,
    positive_part,
    rounded,
    zeros,
)
from constructions.engines.nearest import Winners, find_winners
from constructions.layers import AttentionHead, FeedForward, Matrix, Transformer
from precision.format import Arithmetic, Discipline
from precision.rounding import round_fraction, round_shifted
from precision.softmax import softmax

Observer = Callable[[int, str, Sequence[Column]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and the registers."""


@dataclass
class Columns:
    """How softmax columns were decided: by certificate, or densely after a failed one; the same for logits; saturations by site."""

    certified: int = 0
    dense: int = 0
    dense_by_head: dict[str, int] = field(default_factory=dict)
    dense_logits: int = 0
    saturations: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexedRun:
    """The result for one sequence. next_tokens: the argmax at each position, the first of equals. registers: after the last block."""

    next_tokens: Array
    registers: Sequence[Column]
    columns: Columns


def run(model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int], *, observe: Observer | None = None) -> IndexedRun:
    """Runs the model on a whole sequence. Raises IndexError for a token outside the vocabulary."""
    return _Run(model, arithmetic, np.asarray(tokens, np.int64), observe).result()


def first_mismatch(
    model: Transformer, arithmetic: Arithmetic, prompt: Sequence[int], answer: Sequence[int]
) -> tuple[int | None, IndexedRun]:
    """Whether greedy decoding of `prompt` gives `answer`: the index of the first other token, or None if all agree.

    The answer is fed in as if it had been decoded. If the argmax at every position is the next token of the answer, induction over
    positions shows that decoding gives just this sequence, since the model is causal.
    """
    result = run(model, arithmetic, [*prompt, *answer[:-1]])
    produced = result.next_tokens[len(prompt) - 1 :]
    wrong = np.flatnonzero(produced != np.asarray(answer))
    return (int(wrong[0]) if len(wrong) else None), result


class _Run:
    def __init__(self, model: Transformer, arithmetic: Arithmetic, tokens: Array, observe: Observer | None) -> None:
        if len(tokens) == 0 or tokens.min() < 0 or tokens.max() >= len(model.words):
            raise IndexError(f"a sequence needs at least one token, all below {len(model.words)}")
        self.model, self.arithmetic, self.tokens = model, arithmetic, tokens
        self.length = len(tokens)
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.columns = Columns()
        self.observe = observe or (lambda block, sublayer, registers: None)
        fmt = arithmetic.format
        self.fraction_bits = -fmt.quantum_exponent
        # l·e^−(lead − 1) < 2^−(q + 2); the 1 is room for the rounding of two scores. log2 e > 1.442.
        self.lead = Fraction(1000 * (self.fraction_bits + 2 + (self.length + len(model.words)).bit_length()), 1442) + 1
        self.stream: list[Column] = []

    def result(self) -> IndexedRun:
        self._embed()
        self.observe(0, "embedding", self.stream)
        for number, block in enumerate(self.model.blocks, start=1):
            self._attend(number, block.heads)
            self.observe(number, "attention", self.stream)
            self._feed_forward(number, block.feed_forward)
            self.observe(number, "feed-forward", self.stream)
        return IndexedRun(self._decode(), self.stream, self.columns)

    # Operators

    def _round(self, column: Column, site: str) -> Column:
        result, saturated = rounded(column, self.arithmetic)
        if saturated is not None:
            self.columns.saturations[site] = self.columns.saturations.get(site, 0) + len(saturated)
        return result

    def _row(self, weights: Matrix, columns: Sequence[Column], bias: float, length: int, site: str) -> Column:
        """One row of an affine map under the discipline."""
        terms = [(self._weight(weights[j]), columns[j]) for j in np.flatnonzero(weights)]
        offset = self._weight(bias)
        if self.fused:
            return self._round(combine(terms, offset, length), site)
        result = zeros(length)
        for weight, column in terms:
            product = self._round(combine([(weight, column)], Fraction(0), length), site)
            result = self._round(combine([(Fraction(1), result), (Fraction(1), product)], Fraction(0), length), site)
        return self._round(combine([(Fraction(1), result)], offset, length), site) if offset else result

    def _weight(self, weight: float) -> Fraction:
        fmt = self.arithmetic.format
        return round_fraction(Fraction(float(weight)), fmt, self.arithmetic.rounding).quanta * fmt.quantum

    def _add(self, register: int, change: Column, site: str) -> None:
        if not change.is_zero:
            total = combine([(Fraction(1), self.stream[register]), (Fraction(1), change)], Fraction(0), self.length)
            self.stream[register] = self._round(total, site)

    # Sublayers

    def _embed(self) -> None:
        positions = Column(np.arange(1, self.length + 1, dtype=np.int64), 0, self.length)
        for i in range(self.model.width):
            word = self._round(from_floats(self.model.words[:, i]), "words").take(self.tokens)
            slope = self._weight(self.model.position[i])
            offset = combine([(slope, positions)], Fraction(0), self.length)
            if not self.fused:
                offset = self._round(offset, f"embedding[{i}]")
            total = combine([(Fraction(1), word), (Fraction(1), offset)], Fraction(0), self.length)
            self.stream.append(self._round(total, f"embedding[{i}]"))

    def _feed_forward(self, number: int, ffn: FeedForward) -> None:
        hidden = []
        for i in range(len(ffn.gate)):
            gate = positive_part(self._row(ffn.gate[i], self.stream, ffn.gate_bias[i], self.length, f"{number}.gate[{i}]"))
            up = self._row(ffn.up[i], self.stream, ffn.up_bias[i], self.length, f"{number}.up[{i}]")
            hidden.append(self._round(multiply(gate, up), f"{number}.product[{i}]"))
        for register in range(self.model.width):
            if np.any(ffn.down[register]) or ffn.down_bias[register]:
                site = f"{number}.down[{register}]"
                change = self._row(ffn.down[register], hidden, ffn.down_bias[register], self.length, site)
                self._add(register, change, f"{number}.residual[{register}]")

    def _attend(self, number: int, heads: Sequence[AttentionHead]) -> None:
        outputs: list[Column] = []
        for index, head in enumerate(heads):
            outputs += self._head(f"{number}.attn.{index}", head)
        for register in range(self.model.width):
            row = np.concatenate([head.out[register] for head in heads]) if heads else np.zeros(0)
            if np.any(row):
                change = self._row(row, outputs, 0.0, self.length, f"{number}.out[{register}]")
                self._add(register, change, f"{number}.residual[{register}]")

    def _head(self, site: str, head: AttentionHead) -> list[Column]:
        rows = range(len(head.query))
        query = [self._row(head.query[c], self.stream, 0.0, self.length, f"{site}.query[{c}]") for c in rows]
        key = [self._row(head.key[c], self.stream, 0.0, self.length, f"{site}.key[{c}]") for c in rows]
        value = [self._row(row, self.stream, 0.0, self.length, f"{site}.value[{j}]") for j, row in enumerate(head.value)]
        winners = self._winners(head.key, query, key, self.stream, np.arange(1, self.length + 1), self.lead)
        if winners is None:
            outputs, certified = [zeros(self.length) for _ in value], np.zeros(self.length, bool)
        else:
            certified = winners.certified.copy()
            if not self.fused:
                certified &= (winners.number == 1) | self._exact_scores(query, key)
            outputs = [self._read(column, winners, certified, f"{site}.sum[{j}]") for j, column in enumerate(value)]
        failed = np.flatnonzero(~certified)
        self.columns.certified += self.length - len(failed)
        self.columns.dense += len(failed)
        if len(failed):
            self.columns.dense_by_head[site] = len(failed)
            outputs = self._dense(failed, query, key, value, outputs, site)
        return outputs

    def _winners(
        self,
        weights: Matrix,
        query: Sequence[Column],
        key: Sequence[Column],
        registers: Sequence[Column],
        visible: Array,
        lead: Fraction,
    ) -> Winners | None:
        """Winners of the scores Σ_c key_c·query_c, seen as a bilinear form in the registers that the key weights read."""
        fmt = self.arithmetic.format
        if not fmt.is_fixed_point:
            return None  # scores of a float format may be rounded by more than the lead allows for
        length = len(registers[0])
        used = np.flatnonzero(np.any(weights != 0, axis=0))
        for c, row in enumerate(weights):
            exact = combine([(self._weight(row[i]), registers[i]) for i in used], Fraction(0), length)
            if exact.e != key[c].e or not np.array_equal(exact.m, key[c].m):
                return None  # a rounded key is no longer the linear form that the structure is read from
        if not self.fused:
            reach = sum((k.bound * Fraction(2) ** k.e * q.bound * Fraction(2) ** q.e for k, q in zip(key, query, strict=True)), Fraction(0))
            if reach > fmt.max_value or len(query) > 1 << (self.fraction_bits - 1):
                return None
        coefficients = [
            combine([(self._weight(weights[c, i]), query[c]) for c in np.flatnonzero(weights[:, i])], Fraction(0), len(visible))
            for i in used
        ]
        return find_winners([registers[i] for i in used], coefficients, registers, visible, lead, fmt.max_value)

    def _exact_scores(self, query: Sequence[Column], key: Sequence[Column]) -> bool:
        """Whether no product of a score needs rounding."""
        return all(q.is_zero or k.is_zero or q.e + k.e >= -self.fraction_bits for q, k in zip(query, key, strict=True))

    def _read(self, value: Column, winners: Winners, certified: Array, site: str) -> Column:
        """The attention-weighted sum of one value row; `certified` loses the queries whose sum is not plain."""
        number = winners.number
        single = np.where(winners.high > winners.low, winners.order[np.minimum(winners.low, len(winners.order) - 1)], 0)
        for s, place in enumerate(winners.special):
            single = np.where(winners.special_wins[s] & (winners.high == winners.low), place, single)
        result = value.take(single)
        several = np.flatnonzero(certified & (number > 1))
        if len(several) == 0 or value.is_zero:
            return result
        ordered = value.take(winners.order)
        wide = ordered.bound * (len(ordered) + 1) >= 1 << 62 or ordered.m.dtype == object
        low, high = winners.low[several], winners.high[several]
        total = _range_sums(ordered.m.astype(object) if wide else ordered.m, low, high)
        terms = _range_sums((ordered.m != 0).astype(np.int64), low, high)
        for s, place in enumerate(winners.special):
            wins = winners.special_wins[s][several]
            total = total + np.where(wins, value.m[place], 0)
            terms = terms + (wins & bool(value.m[place] != 0))
        if not self.fused:  # partial sums of several rounded products are order-dependent
            certified[several[terms > 1]] = False
        weights = {m: self._unit_fraction(m) for m in np.unique(number[several]).tolist()}
        places = np.flatnonzero(total != 0)
        sums = np.zeros(len(several), object)
        sums[places] = [int(total[i]) * weights[int(number[several[i]])] for i in places]
        mixed = self._round(normalised(sums, value.e - self.fraction_bits), site)
        low_e = min(mixed.e, result.e)
        merged = result.scaled_to(low_e).astype(object)
        merged[several] = mixed.scaled_to(low_e)
        return normalised(merged, low_e)

    def _unit_fraction(self, m: int) -> int:
        """ROUND(1/m), in quanta."""
        return round_fraction(Fraction(1, m), self.arithmetic.format, self.arithmetic.rounding).quanta

    def _dense(
        self,
        failed: Array,
        query: Sequence[Column],
        key: Sequence[Column],
        value: Sequence[Column],
        outputs: Sequence[Column],
        site: str,
    ) -> list[Column]:
        """Softmax columns by definition, for the queries that have no certificate."""
        e = self.arithmetic.format.quantum_exponent
        keys = np.array([column.scaled_to(e).astype(object) for column in key])  # (score width, positions)
        values = [column.scaled_to(e).astype(object) for column in value]
        results = np.zeros((len(value), len(failed)), object)
        for i, k in enumerate(failed.tolist()):
            wish = [int(column.m[k]) << (column.e - e) for column in query]
            scores = [self._dot(zip(wish, keys[:, h], strict=True)) for h in range(k + 1)]
            weights = [(h, w) for h, w in enumerate(softmax(scores, self.arithmetic).weights) if w]
            for j, row in enumerate(values):
                results[j, i] = self._dot((w, row[h]) for h, w in weights)
        merged = []
        for j, output in enumerate(outputs):
            m = output.scaled_to(min(output.e, e)).astype(object)
            m[failed] = results[j]
            merged.append(normalised(m, min(output.e, e)))
        return merged

    def _dot(self, pairs: object) -> int:
        """Σ a·b in quanta, rounded under the discipline."""
        fmt, rounding, shift = self.arithmetic.format, self.arithmetic.rounding, self.fraction_bits
        if self.fused:
            return round_shifted(sum(int(a) * int(b) for a, b in pairs), shift, fmt, rounding).quanta  # type: ignore[attr-defined]
        result = 0
        for a, b in pairs:  # type: ignore[attr-defined]
            if a and b:
                product = round_shifted(int(a) * int(b), shift, fmt, rounding).quanta
                result = round_shifted(result + product, 0, fmt, rounding).quanta
        return result

    # Output head

    def _decode(self) -> Array:
        """The argmax of the logits at each position; the vocabulary's rows are the keys."""
        unembed = self.model.unembed
        used = np.flatnonzero(np.any(unembed != 0, axis=0))
        rows = [self._round(from_floats(unembed[:, i]), "unembed") for i in used]
        wishes = [self.stream[i] for i in used]
        size = len(unembed)
        visible = np.full(self.length, size)
        identity = np.eye(len(used))
        # Rounding moves a logit by at most half a quantum, under `sequential` by one per term.
        lead = (2 * len(used) + 2) * self.arithmetic.format.quantum
        winners = self._winners(identity, wishes, rows, rows, visible, lead)
        result = np.zeros(self.length, np.int64)
        if winners is None:
            certified = np.zeros(self.length, bool)
        else:
            # Ties are decided by definition: the first of equals.
            certified = winners.certified & (winners.number == 1)
            result = np.where(winners.high > winners.low, winners.order[np.minimum(winners.low, len(winners.order) - 1)], 0)
            for s, place in enumerate(winners.special):
                result = np.where(winners.special_wins[s], place, result)
        e = self.arithmetic.format.quantum_exponent
        failed = np.flatnonzero(~certified)
        self.columns.dense_logits = len(failed)
        if len(failed):
            table = np.array([row.scaled_to(e).astype(object) for row in rows]).T
            for k in failed.tolist():
                wish = [int(column.m[k]) << (column.e - e) for column in wishes]
                logits = [self._dot(zip(wish, row, strict=True)) for row in table]
                result[k] = logits.index(max(logits))
        return result


def _range_sums(values: Array, low: Array, high: Array) -> Array:
    """Σ values[low:high] for each range."""
    cumulative = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values)])
    sums: Array = cumulative[high] - cumulative[low]
    return sums



