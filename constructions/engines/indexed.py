"""The indexed engine: the same bits as `reference`, in O(l log l) for models whose heads are match-like.

It runs a whole sequence at once (teacher forcing). Each register is one exact column (see column.py), so affine rows and ReGLU
products are a few numpy operations each. A softmax column is replaced by its winner, found by sorting and certified (see
nearest.py); a column that fails its certificate is computed densely, by definition. The counts of both are in the result.
The output head is searched the same way: the logits are scores of the vocabulary's rows.

What the certificate gives: the winners' rounded scores lead by γ with l·e^−γ < 2^−(q + 2), 2^−q the quantum. Under `fused` a
loser's weight, below half a quantum, rounds to 0, and each of m tied winners has a weight 1/(m + ε), 0 ≤ ε < 2^−(q + 2), with
ε = 0 only if there are no losers. No element or midpoint but 1/m itself lies that close to 1/m, so the weight rounds like 1/m, or
like numbers just below 1/m. Under `sequential` a loser's exponential rounds to 0 and a winner's is 1. There, scores are certified
only if no partial sum of theirs can saturate, and ties only if no product in them needs rounding; the columns' bounds show both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from constructions.engines.column import (
    SMALL,
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
from constructions.engines.output_head import find_argmax
from constructions.engines.scan import states
from constructions.layers import AttentionHead, FeedForward, Matrix, Recurrence, Transformer
from precision.enclosure import round_beside_reciprocal
from precision.format import Arithmetic, Discipline, Rounding
from precision.rounding import round_fraction, round_ratio, round_shifted
from precision.softmax import softmax

Observer = Callable[[int, str, Sequence[Column]], None]
"""Called after each sublayer with the block (0: embedding), "embedding", "attention" or "feed-forward", and all registers."""


@dataclass
class Columns:
    """How softmax columns were decided: by certificate, or densely after a failed one.

    certified, dense: softmax columns, over all heads. dense_by_head: those of each head that has any. dense_logits: positions
    whose argmax was taken over all logits. saturations: how many, by site; those of dense columns are not counted.
    """

    certified: int = 0
    dense: int = 0
    dense_by_head: dict[str, int] = field(default_factory=dict)
    dense_logits: int = 0
    saturations: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexedRun:
    """The result for one sequence.

    next_tokens: the argmax at each position, the first of equals. registers: after the last block. columns: how it came about.
    """

    next_tokens: Array
    registers: Sequence[Column]
    columns: Columns


def run(
    model: Transformer, arithmetic: Arithmetic, tokens: Sequence[int], *, observe: Observer | None = None
) -> IndexedRun:
    """Runs the model on a whole sequence.

    Raises IndexError for an empty sequence or a token outside the vocabulary; ValueError for stochastic rounding, and for a format
    that does not hold 1.
    """
    return _Run(model, arithmetic, np.asarray(tokens), observe).result()


def first_mismatch(
    model: Transformer, arithmetic: Arithmetic, prompt: Sequence[int], answer: Sequence[int]
) -> tuple[int | None, IndexedRun]:
    """Whether greedy decoding of `prompt` gives `answer`: the index of the first other token, or None if all agree.

    The answer is fed in as if it had been decoded. If the argmax at every position is the next token of the answer, induction over
    positions shows that decoding gives just this sequence, since the model is causal. Raises IndexError for an empty prompt.
    """
    if not prompt:
        raise IndexError("a prompt needs at least one token")
    result = run(model, arithmetic, [*prompt, *answer[:-1]])
    produced = result.next_tokens[len(prompt) - 1 :]
    wrong = np.flatnonzero(produced != np.asarray(answer))
    return (int(wrong[0]) if len(wrong) else None), result


def vanishing_lead(length: int, fraction_bits: int) -> Fraction:
    """A lead γ with length·e^−γ < 2^−(fraction_bits + 2). Derivation: log2 e > 1.442."""
    return Fraction(1000 * (fraction_bits + 2 + length.bit_length()), 1442)


class _Run:
    def __init__(self, model: Transformer, arithmetic: Arithmetic, tokens: Array, observe: Observer | None) -> None:
        if len(tokens) == 0 or tokens.dtype.kind not in "iu" or tokens.min() < 0 or tokens.max() >= len(model.words):
            raise IndexError(
                f"a sequence needs at least one token, all of them integers from 0 to {len(model.words) - 1}"
            )
        fmt = arithmetic.format
        if arithmetic.rounding is Rounding.STOCHASTIC:
            raise ValueError(
                "the indexed engine cannot round stochastically: it skips most of what would need a random number"
            )
        if fmt.quantum_exponent > 0 or fmt.max_value < 1:
            raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
        self.model, self.arithmetic, self.tokens = model, arithmetic, tokens.astype(np.int64)
        self.length = len(tokens)
        self.fused = arithmetic.discipline is Discipline.FUSED
        self.columns = Columns()
        self.observe = observe or (lambda block, sublayer, registers: None)
        self.fraction_bits = -fmt.quantum_exponent
        self.stream: list[Column] = []

    def result(self) -> IndexedRun:
        self._embed()
        self.observe(0, "embedding", tuple(self.stream))
        for number, block in enumerate(self.model.blocks, start=1):
            self._attend(number, block.heads)
            if block.recurrence is not None:
                self._recur(number, block.recurrence)
            self.observe(number, "attention", tuple(self.stream))
            self._feed_forward(number, block.feed_forward)
            self.observe(number, "feed-forward", tuple(self.stream))
        return IndexedRun(self._decode(), self.stream, self.columns)

    # Operators

    def _round(self, column: Column, site: str) -> Column:
        result, saturated = rounded(column, self.arithmetic)
        if saturated is not None:
            self.columns.saturations[site] = self.columns.saturations.get(site, 0) + len(saturated)
        return result

    def _row(self, weights: Matrix, columns: Sequence[Column], bias: float, length: int, site: str) -> Column:
        """One row of an affine map under the discipline."""
        terms = [(self._weight(weights[j]), columns[j]) for j in np.flatnonzero(weights).tolist()]
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
            gate = positive_part(
                self._row(ffn.gate[i], self.stream, ffn.gate_bias[i], self.length, f"{number}.gate[{i}]")
            )
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

    def _recur(self, number: int, recurrence: Recurrence) -> None:
        rows = {}
        for register in range(self.model.width):
            carry, feed = (
                {int(j): self._weight(matrix[register, j]) for j in np.flatnonzero(matrix[register])}
                for matrix in (recurrence.carry, recurrence.feed)
            )
            if carry or feed:
                rows[register] = (carry, feed)
        found, _ = states(rows, self.stream, self.length, self.arithmetic)
        for register, state in found.items():
            self._add(register, state, f"{number}.residual[{register}]")

    def _head(self, site: str, head: AttentionHead) -> list[Column]:
        rows = range(len(head.query))
        query = [self._row(head.query[c], self.stream, 0.0, self.length, f"{site}.query[{c}]") for c in rows]
        key = [self._row(head.key[c], self.stream, 0.0, self.length, f"{site}.key[{c}]") for c in rows]
        value = [
            self._row(row, self.stream, 0.0, self.length, f"{site}.value[{j}]") for j, row in enumerate(head.value)
        ]
        visible = np.arange(1, self.length + 1)
        # Under `sequential` each exponential rounds to 0 by itself, so nothing adds up.
        lead = vanishing_lead(self.length if self.fused else 1, self.fraction_bits)
        winners = self._winners(head.key, query, key, self.stream, visible, lead)
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
            outputs = self._dense(failed, query, key, value, outputs)
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
        """Winners of the scores Σ_c key_c·query_c, seen as a bilinear form in the registers that the key weights read.

        lead: what the winners' rounded scores must lead by. Rounding moves a score by a quantum at most for each operation that is
        rounded: one under `fused`, the products under `sequential`, where sums are exact, since nothing saturates.
        """
        fmt = self.arithmetic.format
        if not fmt.is_fixed_point:
            return None  # a float format may round scores by much more than a quantum
        used: list[int] = np.flatnonzero(np.any(weights != 0, axis=0)).tolist()
        if not all(self._is_linear(weights[c], used, registers, key[c]) for c in range(len(key))):
            return None  # a rounded key is no longer the linear form that the structure is read from
        operations = 1 if self.fused else len(query)
        if not self.fused:
            reach = sum((_reach(k) * _reach(q) for k, q in zip(key, query, strict=True)), operations * fmt.quantum)
            # A difference of scores saturates too; at −max_value it must be out of the softmax just the same.
            if reach > fmt.max_value or lead > fmt.max_value:
                return None
        coefficients = [
            combine(
                [(self._weight(weights[c, i]), query[c]) for c in np.flatnonzero(weights[:, i]).tolist()],
                Fraction(0),
                len(visible),
            )
            for i in used
        ]
        exact_lead = lead + 2 * operations * fmt.quantum
        keys = [registers[i] for i in used]
        size = len(key[0]) if key else self.length
        return find_winners(keys, coefficients, registers, size, visible, exact_lead, fmt.max_value)

    def _is_linear(self, weights: Matrix, used: Sequence[int], registers: Sequence[Column], row: Column) -> bool:
        """Whether `row` is what the weights make of the registers, without any rounding."""
        exact = combine([(self._weight(weights[i]), registers[i]) for i in used], Fraction(0), len(row))
        return exact.e == row.e and np.array_equal(exact.m, row.m)

    def _exact_scores(self, query: Sequence[Column], key: Sequence[Column]) -> bool:
        """Whether no product of a score needs rounding."""
        return all(q.is_zero or k.is_zero or q.e + k.e >= -self.fraction_bits for q, k in zip(query, key, strict=True))

    def _read(self, value: Column, winners: Winners, certified: Array, site: str) -> Column:
        """The attention-weighted sum of one value row; `certified` loses the queries for which several terms get rounded."""
        if value.is_zero:
            return value
        result = value.take(winners.one_of_them)
        number = winners.number
        losers = number <= np.arange(self.length)
        one = 1 << self.fraction_bits
        mixed = np.flatnonzero(certified & ((number > 1) | (losers & (self._share(1, losers=True) != one))))
        if len(mixed) == 0:
            return result
        total, terms = _sums(value, winners, mixed)
        if not self.fused:  # each product is rounded
            certified[mixed[terms > 1]] = False
        places = np.flatnonzero(total != 0)
        kinds, kind = np.unique(2 * number[mixed][places] + losers[mixed][places], return_inverse=True)
        shares = np.array([self._share(k // 2, losers=bool(k % 2)) for k in kinds.tolist()] + [0], object)
        products = np.zeros(len(mixed), object)
        products[places] = total[places].astype(object) * shares[kind]
        sums = self._round(normalised(products, value.e - self.fraction_bits), site)
        low_e = min(sums.e, result.e)
        merged = result.scaled_to(low_e).astype(object)
        merged[mixed] = sums.scaled_to(low_e)
        return normalised(merged, low_e)

    def _share(self, winners: int, *, losers: bool) -> int:
        """The weight of each of so many tied winners, in quanta; `losers`: whether other keys are there that vanish."""
        fmt, rounding = self.arithmetic.format, self.arithmetic.rounding
        one = 1 << self.fraction_bits
        if not self.fused:
            total = min(winners * one, fmt.max_quanta)  # 1 + 1 + …, which may saturate
            return round_ratio(one * one, total, fmt, rounding).quanta
        if losers:
            return round_beside_reciprocal(winners, -1, fmt, rounding).quanta
        return round_ratio(one, winners, fmt, rounding).quanta

    def _dense(
        self,
        failed: Array,
        query: Sequence[Column],
        key: Sequence[Column],
        value: Sequence[Column],
        outputs: Sequence[Column],
    ) -> list[Column]:
        """`outputs` with the softmax columns of the queries that have no certificate computed by definition."""
        e = self.arithmetic.format.quantum_exponent
        keys = np.array([column.scaled_to(e) for column in key], object).reshape(len(key), self.length)
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

    def _dot(self, pairs: Iterable[tuple[Any, Any]]) -> int:
        """Σ a·b in quanta, rounded under the discipline."""
        fmt, rounding, shift = self.arithmetic.format, self.arithmetic.rounding, self.fraction_bits
        if self.fused:
            return round_shifted(sum(int(a) * int(b) for a, b in pairs), shift, fmt, rounding).quanta
        result = 0
        for a, b in pairs:
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
        certified, result = self._find_argmax(rows, wishes)
        e = self.arithmetic.format.quantum_exponent
        failed = np.flatnonzero(~certified)
        self.columns.dense_logits = len(failed)
        if len(failed):
            table = np.array([row.scaled_to(e) for row in rows], object).reshape(len(rows), size).T
            for k in failed.tolist():
                wish = [int(column.m[k]) << (column.e - e) for column in wishes]
                logits = [self._dot(zip(wish, row, strict=True)) for row in table]
                result[k] = logits.index(max(logits))
        return result

    def _find_argmax(self, rows: Sequence[Column], wishes: Sequence[Column]) -> tuple[Array, Array]:
        """Where the argmax is certified, and the argmax there. Rounding moves a logit by a quantum for each rounded operation."""
        fmt = self.arithmetic.format
        none = np.zeros(self.length, bool), np.zeros(self.length, np.int64)
        if not fmt.is_fixed_point or not rows:
            return none
        operations = 1 if self.fused else len(rows)
        if not self.fused:
            reach = sum((_reach(r) * _reach(w) for r, w in zip(rows, wishes, strict=True)), operations * fmt.quantum)
            if reach > fmt.max_value:
                return none
        # Any lead at all decides an argmax; ties are decided by definition: the first of equals.
        return find_argmax(rows, wishes, (1 + 2 * operations) * fmt.quantum, fmt.max_value)


def _reach(column: Column) -> Fraction:
    """At least every magnitude."""
    return column.bound * Fraction(2) ** column.e


def _sums(value: Column, winners: Winners, queries: Array) -> tuple[Array, Array]:
    """The sum of the winners' values, in mantissas, and how many of them are not 0."""
    wide = value.m.dtype == object or value.bound * (len(value) + 1) >= SMALL
    m = value.m.astype(object) if wide else value.m
    low, high = winners.low[queries], winners.high[queries]
    total = _range_sums(m[winners.order], low, high)
    terms = _range_sums((m[winners.order] != 0).astype(np.int64), low, high)
    for wins, place in zip(winners.special_wins[:, queries], winners.special, strict=True):
        total = total + np.where(wins, m[[place]], 0)
        terms = terms + (wins & bool(m[place] != 0))
    return total, terms


def _range_sums(values: Array, low: Array, high: Array) -> Array:
    """Σ values[low:high] for each range."""
    cumulative = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values)])
    sums: Array = cumulative[high] - cumulative[low]
    return sums
