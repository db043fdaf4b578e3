"""Causal attention of the dense engine: all pairs of positions are filtered in float64, what is left is decided exactly.

Source: section 3, definition 3.1; appendix A.2; the winner's-lead argument of appendix C and precision/softmax.py.

Per query, with scores s and m winners:
1. float_filter.py finds a superset of the keys within G of the highest score. All other keys weigh below half a quantum, so
   0, and their sum ε is too small to move the winners' weight 1/(m + ε) past the next rounding boundary below 1/m.
   Equal keys of one sequence are one key there (repeats.py).
2. One key left: it is the winner, m = 1. Otherwise the exact scores of the keys that are left tell the winners; if all the others
   trail by G, the winners' weight is the rounding of a number just below 1/m (of 1/m itself, if there are no others).
3. Queries with a key in between, or that the filter says nothing of, are given their exact column of scores and the
   softmax of precision/.

Every step is either exact or has an error bound that holds for any order of summation: no result depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch, Tile
from constructions.engines.dense.column import Column
from constructions.engines.dense.float_filter import FloatFilter, groups_of
from constructions.engines.dense.operators import Operators
from constructions.engines.dense.repeats import Repeats, find_repeats
from constructions.engines.dense.workers import Workers
from precision.format import Format
from precision.rounding_array import require_float64_format
from precision.softmax import softmax
from precision.softmax_array import softmax_array
from precision.winners import decisive_gap, winners_share

# Entries whose scores are compared exactly at a time: they may be Python integers, which take much memory.
_ENTRIES = 1 << 16


class AttentionPattern(NamedTuple):
    """Attention weights of some queries.

    queries: (queries,) flat. segment: (entries,) number of the entry's query. key: (entries,) flat.
    weight: in quanta; (queries,) if `uniform`, all entries of a query having the same, otherwise (entries,).
    largest: the most entries of a query. spans: None, or where the keys that each entry stands for begin and end in
    the `order` of the head's repeats, and that order.
    """

    queries: Tensor
    segment: Tensor
    key: Tensor
    weight: Column
    uniform: bool
    largest: int
    spans: tuple[Tensor, Tensor, Tensor] | None = None


class Attention:
    """Heads over one batch."""

    def __init__(self, operators: Operators, batch: Batch, area: int, workers: Workers) -> None:
        self.workers = workers
        self.operators = operators
        self.numbers = operators.numbers
        self.batch = batch
        self.area = area
        self.decisive_gap = decisive_gap(batch.longest, operators.arithmetic)
        self._uniform: dict[tuple[int, bool], int] = {}
        self._repeats: Repeats | None = None  # of the head at hand
        self._columns: dict[tuple[int, ...], list[int]] = {}
        self._float64 = _float64_holds(operators.arithmetic.format)
        self._asked: tuple[Tensor, Sequence[Tile]] | None = None

    def read(
        self,
        query: Sequence[Column],
        key: Sequence[Column],
        value: Sequence[Column],
        asked: Tensor | None = None,
    ) -> list[Column]:
        """Returns what every token reads: one column per column of `value`.

        asked: (token,) which of them read; the others are given 0. By default all do.
        """
        size = self.batch.size
        pairs = [(q, k) for q, k in zip(query, key, strict=True) if q.bound and k.bound]
        queries: list[Tensor] = []
        results: list[list[Column]] = []
        for pattern in self._patterns(pairs, asked):
            if not len(pattern.queries):
                continue
            queries.append(pattern.queries)
            results.append([self._weigh(pattern, column) for column in value])
        everyone = torch.cat(queries) if queries else torch.zeros(0, dtype=torch.int64, device=self.numbers.device)
        joined = [self.numbers.concatenate(parts) for parts in zip(*results, strict=True)]
        if asked is not None:
            joined = joined or [self.numbers.zero(0)] * len(value)
            return [self.numbers.scatter(column, everyone, size) for column in joined]
        if not bool((everyone[1:] > everyone[:-1]).all()):
            place = torch.empty_like(everyone)
            place[everyone] = torch.arange(size, device=everyone.device)
            joined = [self.numbers.gather(column, place) for column in joined]
        return joined

    def _weigh(self, pattern: AttentionPattern, value: Column) -> Column:
        segments = len(pattern.queries)
        if value.bound == 0:
            return self.numbers.zero(segments)
        weight = pattern.weight
        if pattern.spans is not None:
            begin, end, order = pattern.spans
            sums = self.numbers.prefix_sums(self.numbers.gather(value, order))
            entries = self.numbers.subtract(self.numbers.gather(sums, end), self.numbers.gather(sums, begin))
        else:
            entries = self.numbers.gather(value, pattern.key)
        if pattern.uniform and self.operators.fused:
            total = self.numbers.segment_sum(entries, pattern.segment, segments, pattern.largest)
            return self.operators.product(weight, total)
        if pattern.uniform:
            weight = self.numbers.gather(weight, pattern.segment)
        return self.operators.weighted_sum(weight, entries, pattern.segment, segments, pattern.largest)

    def _patterns(self, pairs: Sequence[tuple[Column, Column]], asked: Tensor | None) -> Iterator[AttentionPattern]:
        """Yields patterns that together contain every query that is asked for once. Each is freed before the next one is made."""
        open_queries: list[Tensor] = []
        float_filter = None
        if self.decisive_gap is not None:
            self._repeats = find_repeats(self.numbers, self.batch, [key for _, key in pairs])
            groups = None if asked is None else self._groups_of(asked)
            float_filter = FloatFilter(
                self.operators, self.batch, pairs, self.decisive_gap, self._repeats, asked, groups
            )
        if float_filter is None or not float_filter.usable:
            everyone = torch.arange(self.batch.size, device=self.numbers.device)
            open_queries.append(everyone if asked is None else everyone[asked])
        else:
            waiting: list[tuple[Tensor, Tensor]] = []
            amount = 0
            if bool(float_filter.blind.any()):
                open_queries.append(float_filter.blind.nonzero().squeeze(1))
            for query, key in self.workers.map(float_filter.candidates, float_filter.tiles(self.area)):
                if len(query):
                    waiting.append((query, key))
                    amount += len(query)
                if amount > self.area:
                    yield from self._spread(self._decide(pairs, waiting, open_queries))
                    waiting, amount = [], 0
            if waiting:
                yield from self._spread(self._decide(pairs, waiting, open_queries))
        if open_queries:
            yield from self._exact_patterns(pairs, torch.cat(open_queries).sort().values)

    def _groups_of(self, asked: Tensor) -> Sequence[Tile]:
        """Returns `groups_of`, made once, as all heads of a batch are asked for the same queries."""
        if self._asked is None or self._asked[0] is not asked:
            self._asked = asked, groups_of(asked, self.batch.groups)
        return self._asked[1]

    # Step 2

    def _decide(
        self,
        pairs: Sequence[tuple[Column, Column]],
        candidates: Sequence[tuple[Tensor, Tensor]],
        open_queries: list[Tensor],
    ) -> AttentionPattern:
        """Returns the weights of the queries that their candidates decide, and appends the other queries to `open_queries`."""
        query = torch.cat([q for q, _ in candidates])
        key = torch.cat([k for _, k in candidates])
        queries, segment, counts = torch.unique_consecutive(query, return_inverse=True, return_counts=True)
        if len(query) > len(queries):
            keep = torch.ones(len(query), dtype=torch.bool, device=query.device)
            several = (counts > 1)[segment].nonzero().squeeze(1)
            keep[several], near = self._compare(pairs, query[several], key[several])
            # A key between the winners and G leaves its query to step 3.
            undecided = torch.zeros(len(queries), dtype=torch.bool, device=query.device)
            undecided[segment[several[near]]] = True
            if bool(undecided.any()):
                open_queries.append(queries[undecided])
                keep &= ~undecided[segment]
            query, key = query[keep], key[keep]
            queries, segment, counts = torch.unique_consecutive(query, return_inverse=True, return_counts=True)
        largest, winners, spans = int(counts.max()) if len(counts) else 0, counts, None
        if self._repeats is not None:
            begin, end = self._repeats.spans(query, key)
            spans = begin, end, self._repeats.order
            winners = torch.zeros_like(counts).index_add_(0, segment, end - begin)
        kind = 2 * winners + (self.batch.position[queries] > winners)
        weights = np.zeros(int(kind.max()) + 1 if len(kind) else 0, dtype=object)
        for number in torch.bincount(kind).nonzero().squeeze(1).tolist():
            weights[number] = self._uniform_weight(number >> 1, bool(number & 1))
        weight = self.numbers.gather(self.numbers.from_objects(weights), kind)
        return AttentionPattern(queries, segment, key, weight, uniform=True, largest=largest, spans=spans)

    def _spread(self, pattern: AttentionPattern) -> Iterator[AttentionPattern]:
        """Yields the same with an entry for each key, ascending for each query, where sums are rounded key by key."""
        if pattern.spans is None or self.operators.fused or not len(pattern.queries):
            yield pattern
            return
        begin, end, order = pattern.spans
        ends = torch.cumsum(torch.zeros_like(pattern.queries).index_add_(0, pattern.segment, end - begin), 0)
        query = 0
        for total in _cuts(ends, self.area):
            stop = int(torch.searchsorted(ends, total, right=True))
            here = (pattern.segment >= query) & (pattern.segment < stop)
            times = (end - begin)[here]
            segment = torch.repeat_interleave(pattern.segment[here] - query, times)
            place = torch.arange(len(segment), device=segment.device) - torch.repeat_interleave(
                torch.cumsum(times, 0) - times - begin[here], times
            )
            code = (segment * self.batch.size + order[place]).sort().values
            weight = self.numbers.part(pattern.weight, slice(query, stop))
            counts = torch.bincount(segment)
            key = code - segment * self.batch.size
            queries = pattern.queries[query:stop]
            yield AttentionPattern(queries, segment, key, weight, uniform=True, largest=int(counts.max()))
            query = stop

    def _compare(self, pairs: Sequence[tuple[Column, Column]], query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Returns a mask of the entries with the highest exact score of their query, and one of those that trail it by less than
        G.
        """
        if self.decisive_gap is None:
            raise TypeError("there is no self.decisive_gap")
        numbers = self.numbers
        _, counts = torch.unique_consecutive(query, return_counts=True)
        parts, begin = [], 0
        for end in _cuts(torch.cumsum(counts, 0), _ENTRIES):
            scores = self._scores(pairs, query[begin:end], key[begin:end])
            queries, segment = torch.unique_consecutive(query[begin:end], return_inverse=True)
            top = numbers.segment_max(scores, segment, len(queries))
            gap = numbers.subtract(numbers.gather(top, segment), scores)
            loses = numbers.at_least(gap, 1)
            parts.append((~loses, loses & ~numbers.at_least(gap, self.decisive_gap)))
            begin = end
        return torch.cat([wins for wins, _ in parts]), torch.cat([near for _, near in parts])

    def _scores(self, pairs: Sequence[tuple[Column, Column]], query: Tensor, key: Tensor) -> Column:
        gather = self.numbers.gather
        return self.operators.dot([(gather(q, query), gather(k, key)) for q, k in pairs], len(query))

    def _uniform_weight(self, winners: int, losers: bool) -> int:
        """Returns the weight of each of `winners` tied keys, all others (if any) trailing by G or more; in quanta."""
        if (winners, losers) not in self._uniform:
            self._uniform[winners, losers] = winners_share(winners, self.operators.arithmetic, losers=losers)
        return self._uniform[winners, losers]

    # Step 3

    def _exact_patterns(self, pairs: Sequence[tuple[Column, Column]], queries: Tensor) -> Iterator[AttentionPattern]:
        """Yields the patterns of queries, computed from whole columns of exact scores."""
        columns = self.batch.position[queries]  # the number of keys of each query
        ends = torch.cumsum(columns, 0)
        begin = 0
        while begin < len(queries):
            done = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(torch.searchsorted(ends, done + self.area, right=True)))
            yield self._exact_pattern(pairs, queries[begin:end], columns[begin:end])
            begin = end

    def _exact_pattern(
        self, pairs: Sequence[tuple[Column, Column]], queries: Tensor, columns: Tensor
    ) -> AttentionPattern:
        segment = torch.repeat_interleave(torch.arange(len(queries), device=queries.device), columns)
        before = torch.cumsum(columns, 0) - columns
        within = torch.arange(len(segment), device=queries.device) - before[segment]
        key = self.batch.start[queries][segment] + within
        weight = self._softmax(self._scores(pairs, queries[segment], key), columns.tolist())
        attended = self.numbers.at_least(weight, 1)
        if not bool(attended.all()):
            segment, key, weight = (
                segment[attended],
                key[attended],
                self.numbers.gather(weight, attended.nonzero().squeeze(1)),
            )
        counts = torch.bincount(segment, minlength=len(queries))
        return AttentionPattern(queries, segment, key, weight, uniform=False, largest=int(counts.max()))

    def _softmax(self, scores: Column, columns: Sequence[int]) -> Column:
        """Returns correctly rounded weights of columns that are laid end to end, by the softmax of precision/."""
        arithmetic = self.operators.arithmetic
        values = self.numbers.floats(scores) if self._float64 else None
        if values is not None:
            mask = np.arange(max(columns))[:, None] < np.array(columns)[None, :]  # (key, query)
            by_query = np.zeros(mask.T.shape)
            by_query[mask.T] = values.cpu().numpy()
            weights = softmax_array(by_query.T, mask, arithmetic, axis=0).weights  # (key, query)
            return self.numbers.from_floats(weights.T[mask.T])
        flat = scores.quanta().tolist()
        quanta: list[int] = []
        begin = 0
        for length in columns:
            column = tuple(flat[begin : begin + length])
            if column not in self._columns:
                self._columns[column] = softmax(column, arithmetic).weights
            quanta += self._columns[column]
            begin += length
        return self.numbers.from_objects(np.array(quanta, dtype=object))


def _float64_holds(fmt: Format) -> bool:
    """Returns whether float64 holds the elements of the format."""
    try:
        require_float64_format(fmt)
    except ValueError:
        return False
    return True


def _cuts(ends: Tensor, limit: int) -> Iterator[int]:
    """Yields some of the ascending `ends`, the last one among them, at most `limit` apart where single steps allow it."""
    begin = 0
    while begin < int(ends[-1]):
        place = int(torch.searchsorted(ends, begin + limit, right=True)) - 1
        if place < 0 or int(ends[place]) <= begin:
            place += 1  # a single step beyond the limit
        begin = int(ends[place])
        yield begin
