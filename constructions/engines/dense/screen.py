"""Screening of scores: float64 products with an error bound that holds for every order of summation.

Source: N. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, for the bound on inner products.

A score of w components computed in float64, in any order and with or without fused multiply-add, is off by at most
(w + c)·u·Σ|k_j||q_j|, u = 2^-53, where c pays for the conversion of the operands. Rounding the exact score to the format
moves it by at most one step more; saturation moves no two scores apart. So a key whose screened score is below the
highest one by more than G + 2·error has an exact score that trails by more than G.

Where a key matches, large terms cancel, and that bound is far above the score. So the coarse components, whose products are
multiples of one power of two and together below 2^53 of it, are added up first: without any error. The other components
are added to their sum; with C the coarse sum and R = Σ|k_j||q_j| over the others, each partial sum is at most
|C| + R ≤ |score| + 2R, so the error is at most (w + c)·u·(|score| + 2R). At the winner and at all keys that could come near it
this is small, however large the terms were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch, Tile
from constructions.engines.dense.column import Column, Numbers
from constructions.engines.dense.operators import Operators

_NOTHING = -1.7e308  # below every score, above −∞
_EXACT = 1 << 53  # float64 holds the integers up to this


class Screen:
    """The screened scores of one head.

    usable: whether the operands have a size that float64 can bear; otherwise every query has to be decided exactly.
    """

    def __init__(
        self, operators: Operators, batch: Batch, pairs: Sequence[tuple[Column, Column]], decisive_gap: int
    ) -> None:
        numbers = operators.numbers
        fmt = numbers.format
        self.batch = batch
        self.device = numbers.device
        self._known: dict[int, _Operands] = {}  # by group; two workers may both compute the same
        coarse = _coarse([(numbers.tighten(q), numbers.tighten(k)) for q, k in pairs])
        order = [*coarse, *(i for i in range(len(pairs)) if i not in coarse)]
        self.coarse = len(coarse)  # components, in front
        operands = float64_operands(numbers, [pairs[i] for i in order], batch.size)
        self.usable = operands is not None
        if operands is None:
            return
        self.query, self.key = operands  # (token, component)

        # A bound on Σ|k_j||q_j| for each query, over all keys, and on the part of it that may be off; then on the distance
        # of screened from exact scores, but for what is relative to the score.
        size = torch.zeros(batch.size, dtype=torch.float64, device=self.device)
        fine = torch.zeros_like(size)
        for place, (q, k) in enumerate(zip(self.query.unbind(1), self.key.unbind(1), strict=True)):
            terms = q.abs() * float(k.abs().max())
            size += terms
            if place >= self.coarse:
                fine += terms
        size *= 1.0 + 2.0**-40
        fine *= 1.0 + 2.0**-40
        width = len(pairs)
        self.relative = relative_error(width)
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
        if not operators.fused:
            # Where a single term or partial sum might saturate, the score is no longer near the sum.
            self.blind |= 2.0 * (error + size * self.relative) + size >= largest
        self.largest = largest
        gap = float((decisive_gap >> -fmt.quantum_exponent) + 1)  # rounded up to a whole number
        self.margin = (2.0 * error + gap) * (1.0 + 2.0**-40 + 4.0 * self.relative)  # (token,)

    def candidates(self, tile: Tile, workspace: Workspace) -> tuple[Tensor, Tensor, Tensor]:
        """Pairs (query, key) with every key that may come within G of its query's highest score; and the blind queries.

        All flat; the pairs of one query stand together, in ascending order of keys. Blind queries have no pairs.
        """
        first, stop = tile.first, tile.stop
        operands = self._operands(tile)
        shape = (len(tile.start), stop - first, stop)  # (sequence, query, key)
        scores = workspace.floats(shape)
        query, key = operands.query[:, first:stop], operands.key[:, :, :stop]
        coarse = self.coarse
        torch.bmm(query[:, :, :coarse], key[:, :coarse], out=scores)
        if coarse < query.shape[2]:
            scores.baddbmm_(query[:, :, coarse:], key[:, coarse:])
        scores[:, :, first:].masked_fill_(workspace.triangle(stop - first), -math.inf)
        threshold = scores.amax(dim=2).clamp_(-self.largest, self.largest)  # (sequence, query)
        threshold -= operands.margin[:, first:stop] + threshold.abs() * (4.0 * self.relative)
        # Scores that the margin cannot tell from saturated ones: all keys.
        threshold.masked_fill_(threshold <= -self.largest * (1.0 - 2.0**-40), _NOTHING)
        threshold.masked_fill_(operands.left_out[:, first:stop], math.inf)
        chosen = workspace.flags(shape)
        torch.ge(scores, threshold[:, :, None], out=chosen)
        return *pairs_chosen(chosen, tile), tile.tokens[:, first:stop][operands.blind[:, first:stop]]

    def _operands(self, tile: Tile) -> _Operands:
        known = self._known.get(tile.group)
        if known is None:
            present = torch.arange(tile.tokens.shape[1], device=self.device)[None, :] < tile.lengths[:, None]
            blind = self.blind[tile.tokens] & present
            known = _Operands(
                self.query[tile.tokens],
                self.key[tile.tokens].transpose(1, 2).contiguous(),
                self.margin[tile.tokens],
                blind,
                blind | ~present,
            )
            self._known[tile.group] = known
        return known


def float64_operands(
    numbers: Numbers, pairs: Sequence[tuple[Column, Column]], size: int
) -> tuple[Tensor, Tensor] | None:
    """Queries and keys, each (token, component); None if they, or the format, have a size that float64 cannot bear."""
    fmt = numbers.format
    if fmt.quantum_exponent < -1074 or fmt.max_quanta.bit_length() + fmt.quantum_exponent > 1024:
        return None
    operands = []
    for columns in ([q for q, _ in pairs], [k for _, k in pairs]):
        floats = [values for values in map(numbers.floats, columns) if values is not None]
        if len(floats) < len(pairs):
            return None
        nothing = torch.zeros((size, 0), dtype=torch.float64, device=numbers.device)
        operands.append(torch.stack(floats, dim=1) if floats else nothing)
    return operands[0], operands[1]


def relative_error(width: int) -> float:
    """What a score of `width` components in float64 is off by at most, as a part of Σ|k_j||q_j|."""
    return (width + 16) * 2.0**-52


def pairs_chosen(chosen: Tensor, tile: Tile) -> tuple[Tensor, Tensor]:
    """Flat queries and keys where `chosen`, (sequence, query, key), holds."""
    first, stop = tile.first, tile.stop
    found = _flat_nonzero(chosen)
    row = torch.div(found, stop, rounding_mode="floor")  # over all sequences
    place = found - row * stop
    if len(tile.start) == 1:
        start = tile.start
    else:
        sequence = torch.div(row, stop - first, rounding_mode="floor")
        row -= sequence * (stop - first)
        start = tile.start[sequence]
    return row + (start + first), place + start


def _coarse(pairs: Sequence[tuple[Column, Column]]) -> list[int]:
    """Components of which float64 adds up any products exactly: as many of the coarsest as there can be; best if tight."""
    by_exponent = sorted(range(len(pairs)), key=lambda i: -_exponent(pairs[i]))
    chosen: list[int] = []
    bound, unit = 0, 0
    for i in by_exponent:
        q, k = pairs[i]
        exponent = _exponent(pairs[i])
        widened = (bound << (unit - exponent) if bound else 0) + q.bound * k.bound
        if widened > _EXACT or max(q.bound, k.bound) > _EXACT:
            break
        chosen.append(i)
        bound, unit = widened, exponent
    return chosen


def _exponent(pair: tuple[Column, Column]) -> int:
    """Of the products of the pair."""
    return pair[0].exponent + pair[1].exponent


class _Operands(NamedTuple):
    """What a group of sequences needs.

    query: (sequence, query, component). key: (sequence, component, key). margin: (sequence, query), what a score may trail
    by. blind: (sequence, query), those that cannot be screened. left_out: those, and positions behind a sequence's end.
    """

    query: Tensor
    key: Tensor
    margin: Tensor
    blind: Tensor
    left_out: Tensor


class Workspace:
    """Memory that one worker uses again for every tile: fresh pages cost more than the arithmetic."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._floats = torch.empty(0, dtype=torch.float64, device=device)
        self._flags = torch.empty(0, dtype=torch.bool, device=device)
        self._triangles: dict[int, Tensor] = {}

    def floats(self, shape: tuple[int, ...]) -> Tensor:
        """Uninitialised float64 numbers; the previous ones are lost."""
        if math.prod(shape) > len(self._floats):
            self._floats = torch.empty(math.prod(shape), dtype=torch.float64, device=self.device)
        return self._floats[: math.prod(shape)].view(shape)

    def flags(self, shape: tuple[int, ...]) -> Tensor:
        """Uninitialised truth values; the previous ones are lost."""
        if math.prod(shape) > len(self._flags):
            self._flags = torch.empty(math.prod(shape), dtype=torch.bool, device=self.device)
        return self._flags[: math.prod(shape)].view(shape)

    def triangle(self, rows: int) -> Tensor:
        """(query, key): the keys behind the query, on the diagonal of a tile."""
        if rows not in self._triangles:
            self._triangles[rows] = torch.ones((rows, rows), dtype=torch.bool, device=self.device).triu(1)
        return self._triangles[rows]


def _flat_nonzero(mask: Tensor) -> Tensor:
    """Flat indices of the true entries, ascending."""
    if mask.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(mask.numpy()))  # several times faster than torch's on few entries
    return mask.reshape(-1).nonzero().squeeze(1)
