"""A float filter of scores: float64 products with an error bound that holds for every order of summation.

Source: N. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, for the bound on inner products.

A score of w components computed in float64, in any order and with or without fused multiply-add, is off by at most
(w + c)·u·Σ|k_j||q_j|, u = 2^-53, where c pays for the conversion of the operands. Rounding the exact score to the format
moves it by at most one step more; saturation moves no two scores apart. So a key whose float64 score is below the
highest one by more than G + 2·error has an exact score that trails by more than G.

Where a key matches, large terms cancel, and that bound is far above the score. So the coarse components, whose products are
multiples of one power of two and together below 2^53 of it, are added up first: without any error. The other components
are added to their sum; with C the coarse sum and R = Σ|k_j||q_j| over the others, each partial sum is at most
|C| + R ≤ |score| + 2R, so the error is at most (w + c)·u·(|score| + 2R). At the winner and at all keys that could come near it
this is small, however large the terms were.

Scores are visited twice: once to find the highest of each block of keys, and then in the few blocks that may hold a candidate.
Where all sequences have equal queries and keys, those of one sequence are visited.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch, Tile, tiles
from constructions.engines.dense.column import Column, Numbers
from constructions.engines.dense.operators import Operators
from constructions.engines.dense.repeats import Repeats

_NOTHING = -1.7e308  # below every score, above −∞
EXACT = 1 << 53  # float64 holds the integers up to this
_BLOCK = 32  # keys


class FloatFilter:
    """The scores of one head in float64, and the keys that these do not rule out.

    asked: (token,) the queries that are looked at; None if all are. groups: the batch's, from the first of these on.
    usable: whether the operands have a size that float64 can bear; otherwise every query has to be decided exactly.
    blind: (token,) queries that are asked for and that it says nothing of.
    """

    def __init__(
        self,
        operators: Operators,
        batch: Batch,
        pairs: Sequence[tuple[Column, Column]],
        decisive_gap: int,
        repeats: Repeats | None,
        asked: Tensor | None = None,
        groups: Sequence[Tile] | None = None,
    ) -> None:
        numbers = operators.numbers
        fmt = numbers.format
        self.device = numbers.device
        coarse = _coarse([(numbers.tighten(q), numbers.tighten(k)) for q, k in pairs])
        order = [*coarse, *(i for i in range(len(pairs)) if i not in coarse)]
        operands = float64_operands(numbers, [pairs[i] for i in order], batch.size)
        self.usable = operands is not None
        if operands is None:
            return
        queries, keys = operands  # (component, token)

        # A bound on Σ|k_j||q_j| for each query, over all keys, and on the part of it that may be off; then on the distance
        # of float64 from exact scores, but for what is relative to the score.
        largest_keys = keys.abs().amax(dim=1)
        magnitudes = queries.abs()
        size = (largest_keys @ magnitudes) * (1.0 + 2.0**-40)
        fine = (largest_keys[len(coarse) :] @ magnitudes[len(coarse) :]) * (1.0 + 2.0**-40)
        width = len(pairs)
        self.relative = relative_error(width) if len(coarse) < width else 0.0
        quantum = math.ldexp(1.0, fmt.quantum_exponent)
        excess = max(0, fmt.max_quanta.bit_length() - 53)
        largest = math.ldexp(float(fmt.max_quanta >> excess), fmt.quantum_exponent + excess)  # from below
        steps = 1 if operators.fused else 2 * width  # roundings on the way to a score
        error = 2.0 * fine * self.relative + steps * quantum
        self.blind = torch.zeros(batch.size, dtype=torch.bool, device=self.device)
        if not fmt.is_fixed_point:
            # Relative errors compound to less than twice their sum, given the condition below; subnormal ones grow by e.
            error = error + size * (2 * steps * 2.0 ** (1 - fmt.significand_bits)) + 2 * steps * quantum
            if not operators.fused and 2 * steps >= 2**fmt.significand_bits:
                self.blind[:] = True  # rounding errors that compound are bounded only while they are few
        # Where a term, a partial sum or the score might saturate.
        large = 2.0 * (error + size * relative_error(width)) + size >= largest
        if not operators.fused:
            self.blind |= large  # the score is no longer near the sum
        self.largest = largest if bool(large.any()) else math.inf
        gap = float((decisive_gap >> -fmt.quantum_exponent) + 1)  # rounded up to a whole number
        margin = (2.0 * error + gap) * (1.0 + 2.0**-40 + 4.0 * self.relative)  # (token,)
        margin[self.blind] = -math.inf
        if asked is not None:
            margin[~asked], self.blind = -math.inf, self.blind & asked
        groups = batch.groups if groups is None else groups
        self.groups = {group.group: _operands(group, queries, keys, margin, len(coarse), repeats) for group in groups}

    def tiles(self, area: int) -> Iterator[Tile]:
        """Yields what `candidates` is to be asked for, at most `area` pairs (or one row of each sequence) at a time."""
        return tiles((group.filtered for group in self.groups.values()), area)

    def candidates(self, tile: Tile, workspace: Workspace) -> tuple[Tensor, Tensor]:
        """Returns the pairs (query, key) of every key that may come within G of its query's highest score; none of blind queries.

        Both flat; of equal keys only the first. The pairs of one query stand together, in ascending order of keys.
        """
        first, stop = tile.first, tile.stop
        group = self.groups[tile.group]
        rows, seen_by_all, seen_by_any = stop - first, *group.columns(first, stop)
        here = slice(first - group.filtered.first, stop - group.filtered.first)
        blocks = -(-seen_by_any // _BLOCK)
        width = blocks * _BLOCK
        scores = workspace.floats((len(tile.start), rows, width))
        torch.bmm(group.coarse_query[:, here], group.coarse_key[:, :, :width], out=scores)
        if group.fine_query.shape[2]:
            scores.baddbmm_(group.fine_query[:, here], group.fine_key[:, :, :width])
        if group.visible is None:
            scores[:, :, seen_by_all:].add_(workspace.causal(rows, width - seen_by_all))
        else:
            unseen = torch.arange(seen_by_all, width, device=self.device) >= group.visible[:, first:stop, None]
            scores[:, :, seen_by_all:].masked_fill_(unseen, -math.inf)
        by_block = scores.view(-1, blocks, _BLOCK)
        highest = by_block.amax(dim=2)  # (row, block), rows of all sequences
        top = highest.amax(dim=1)
        if self.largest < math.inf:
            top.clamp_(-self.largest, self.largest)
        threshold = top - group.margin[:, here].reshape(-1)
        if self.relative:
            threshold.sub_(top.abs_(), alpha=4.0 * self.relative)
        if self.largest < math.inf:
            # Scores that the margin cannot tell from saturated ones: all keys.
            threshold.masked_fill_(threshold <= -self.largest * (1.0 - 2.0**-40), _NOTHING)
        block = (highest >= threshold[:, None]).view(-1).nonzero().squeeze(1)
        row = torch.div(block, blocks, rounding_mode="floor")
        is_candidate = by_block.view(-1, _BLOCK).index_select(0, block) >= threshold[row][:, None]
        candidates = is_candidate.view(-1).nonzero().squeeze(1)
        of_block = torch.div(candidates, _BLOCK, rounding_mode="floor")
        row = row[of_block]
        place = (block * _BLOCK)[of_block] - row * width + (candidates - of_block * _BLOCK)
        sequence = torch.div(row, rows, rounding_mode="floor")
        query, key = row - sequence * rows + (tile.start[sequence] + first), group.tokens[sequence, place]
        return (query, key) if group.alike is None else _of_each(query, key, group.alike)


def groups_of(asked: Tensor, groups: Sequence[Tile]) -> Sequence[Tile]:
    """Returns the groups, each from the first query on that is asked for in a sequence of it; without those that have none."""
    return [group for group in (_from_first(asked, group) for group in groups) if group.first < group.stop]


def _from_first(asked: Tensor, group: Tile) -> Tile:
    within = torch.arange(group.stop, device=asked.device) < group.lengths[:, None]
    columns = (asked[group.tokens] & within).any(dim=0).nonzero()
    return group._replace(first=int(columns[0]) if len(columns) else group.stop)


def float64_operands(
    numbers: Numbers, pairs: Sequence[tuple[Column, Column]], size: int
) -> tuple[Tensor, Tensor] | None:
    """Returns queries and keys, each (component, token); None if float64 cannot hold them, or the format's numbers."""
    fmt = numbers.format
    if fmt.quantum_exponent < -1074 or fmt.max_quanta.bit_length() + fmt.quantum_exponent > 1024:
        return None
    operands = []
    for columns in ([q for q, _ in pairs], [k for _, k in pairs]):
        floats = [values for values in map(numbers.floats, columns) if values is not None]
        if len(floats) < len(pairs):
            return None
        nothing = torch.zeros((0, size), dtype=torch.float64, device=numbers.device)
        operands.append(torch.stack(floats) if floats else nothing)
    return operands[0], operands[1]


def relative_error(width: int) -> float:
    """Returns what a score of `width` components in float64 is off by at most, as a part of Σ|k_j||q_j|."""
    return (width + 16) * 2.0**-52


def _coarse(pairs: Sequence[tuple[Column, Column]]) -> list[int]:
    """Returns the coarsest components, as many as float64 sums exactly whatever their products; best if columns are tight."""
    by_exponent = sorted(range(len(pairs)), key=lambda i: -_exponent(pairs[i]))
    components: list[int] = []
    bound, unit = 0, 0
    for i in by_exponent:
        q, k = pairs[i]
        exponent = _exponent(pairs[i])
        widened = (bound << (unit - exponent) if bound else 0) + q.bound * k.bound
        if widened > EXACT or max(q.bound, k.bound) > EXACT:
            break
        components.append(i)
        bound, unit = widened, exponent
    return components


def _exponent(pair: tuple[Column, Column]) -> int:
    """Returns an exponent of two that bounds the products of the pair."""
    return pair[0].exponent + pair[1].exponent


@dataclass(frozen=True)
class _Operands:
    """What a group of sequences needs; keys come in whole blocks, those after a sequence's end repeat its last one.

    coarse_query, fine_query: (sequence, query, component), from `filtered.first` on. coarse_key, fine_key: (sequence, component,
    key). margin: (sequence, query), also from there on, what a score may trail by; −∞ for queries that are left out: blind ones,
    those that nobody asks for, and positions after a sequence's end.
    tokens: (sequence, key) flat. visible: (sequence, query) how many of the keys are not after the query; None if all tokens
    are keys. least, most: the smallest and the largest `visible` at each position.
    filtered: the sequences that are looked at; the longest alone where `alike`, all sequences of the group, are so.
    """

    coarse_query: Tensor
    coarse_key: Tensor
    fine_query: Tensor
    fine_key: Tensor
    margin: Tensor
    tokens: Tensor
    visible: Tensor | None
    least: list[int]
    most: list[int]
    filtered: Tile
    alike: Tile | None

    def columns(self, first: int, stop: int) -> tuple[int, int]:
        """Returns how many keys each of the queries sees, and how many at least one of them does."""
        if self.visible is None:
            return first, stop
        return self.least[first], self.most[stop - 1]


def _operands(
    group: Tile, queries: Tensor, keys: Tensor, margin: Tensor, coarse: int, repeats: Repeats | None
) -> _Operands:
    length, device = group.tokens.shape[1], queries.device
    alike = group if _alike(group, queries, keys, margin, repeats) else None
    margin = margin[group.tokens].masked_fill_(torch.arange(length, device=device) >= group.lengths[:, None], -math.inf)
    if alike is not None:
        margin = margin.amax(dim=0, keepdim=True)
        group = group._replace(tokens=group.tokens[-1:], start=group.start[-1:], lengths=group.lengths[-1:])
    if repeats is None:
        place = torch.arange(-(-length // _BLOCK) * _BLOCK, device=device)
        visible, tokens = None, group.tokens[:, place.clamp_max(length - 1)]
        least, most = list[int](), list[int]()
    else:
        before = repeats.fresh[group.start][:, None]
        visible = repeats.fresh[group.tokens + 1] - before
        least, most = visible.amin(dim=0).tolist(), visible.amax(dim=0).tolist()
        place = torch.arange(-(-most[-1] // _BLOCK) * _BLOCK, device=device)
        tokens = repeats.first[before + torch.minimum(place, visible[:, -1:] - 1)]
    query = queries[:, group.tokens[:, group.first :]].permute(1, 2, 0)
    key = keys[:, tokens].transpose(0, 1)
    return _Operands(
        coarse_query=query[:, :, :coarse],
        coarse_key=key[:, :coarse],
        fine_query=query[:, :, coarse:],
        fine_key=key[:, coarse:],
        margin=margin[:, group.first :],
        tokens=tokens,
        visible=visible,
        least=least,
        most=most,
        filtered=group,
        alike=alike,
    )


def _alike(group: Tile, queries: Tensor, keys: Tensor, margin: Tensor, repeats: Repeats | None) -> bool:
    """Returns whether all sequences agree wherever they have tokens: in queries, keys, who is blind, and which keys are new.

    So it is where a head looks at positions only.
    """
    if len(group.start) == 1:
        return False
    beyond = torch.arange(group.tokens.shape[1], device=queries.device) >= group.lengths[:-1, None]
    # float64 may take keys for equal that are not, so it does not tell which of them are new.
    new = [] if repeats is None else [repeats.fresh.diff()]
    rows = [*new, margin == -math.inf, *queries, *keys]
    ends = group.tokens[[0, -1]]  # two sequences are soon compared, and are mostly not alike
    if not all(_agree(row[ends], beyond[:1]) for row in rows):
        return False
    return all(_agree(row[group.tokens], beyond) for row in rows)


def _agree(rows: Tensor, beyond: Tensor) -> bool:
    """Returns whether each row is the last one, but for what is beyond its end."""
    return bool(((rows[:-1] == rows[-1]) | beyond).all())


def _of_each(query: Tensor, key: Tensor, alike: Tile) -> tuple[Tensor, Tensor]:
    """Returns the pairs of the last sequence, and the same of the others, which may be shorter."""
    shift = (alike.start - alike.start[-1])[:, None]
    within = query - alike.start[-1] < alike.lengths[:, None]
    return (query + shift)[within], (key + shift)[within]


class Workspace:
    """Memory that one worker uses again for every tile: fresh pages cost more than the arithmetic."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._floats = torch.empty(0, dtype=torch.float64, device=device)
        self._causal = torch.zeros((0, 0), dtype=torch.float64, device=device)

    def floats(self, shape: tuple[int, ...]) -> Tensor:
        """Returns uninitialised float64 numbers, in place of those that it returned before."""
        size = math.prod(shape)
        if size > self._floats.numel():
            self._floats = torch.empty(size, dtype=torch.float64, device=self.device)
        return self._floats[:size].view(shape)

    def causal(self, rows: int, columns: int) -> Tensor:
        """Returns (query, key), −∞ for keys after the query and 0 otherwise, for a tile that meets the diagonal."""
        if rows > self._causal.shape[0] or columns > self._causal.shape[1]:
            size = (max(rows, self._causal.shape[0]), max(columns, self._causal.shape[1]))
            self._causal = torch.full(size, -math.inf, dtype=torch.float64, device=self.device).triu_(1)
        return self._causal[:rows, :columns]
