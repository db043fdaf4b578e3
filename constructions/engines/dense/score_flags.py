"""Flags of all causal scores, though the dense engine computes few of them: float64 counts those that surely saturate.

Source: constructions/engines/reference.py, which computes each score; float_filter.py for the error bound of float64 products.

FUSED: a score computed in float64 is off by at most `relative` · Σ|k_j||q_j|. Beyond the largest element L and one step by more
    than that, the score saturates, and is no tie. Below L by more than that it does not saturate.
SEQUENTIAL: nothing saturates where Σ|k_j||q_j| is below L, as this bounds all products and partial sums.
Where the digits of the operands show besides that no digit is ever rounded away, scores below L have no flags. All other scores
are computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch, Tile, tiles
from constructions.engines.dense.column import Column
from constructions.engines.dense.flags import Site
from constructions.engines.dense.float_filter import Workspace, float64_operands, relative_error
from constructions.engines.dense.operators import Operators
from constructions.engines.dense.workers import Workers


def note_scores(
    operators: Operators,
    batch: Batch,
    pairs: Sequence[tuple[Column, Column]],
    site: Site,
    area: int,
    workers: Workers,
) -> None:
    """Flags every causal score of a head. pairs: queries and keys by component. area: the most scores held at a time."""
    exact = operators.dot_exactness(pairs)
    if exact.everything:
        return
    numbers = operators.numbers
    sieve = _Sieve(operators, batch, pairs, exact.digits)
    for tile, sifted in workers.map(lambda tile, space: (tile, sieve.sift(tile, space)), tiles(batch.groups, area)):
        queries = tile.tokens[:, tile.first : tile.stop].reshape(-1)
        site.restrict(queries).mark("saturation", sifted.saturated.reshape(-1))
        if len(sifted.query):
            components = [(numbers.gather(q, sifted.query), numbers.gather(k, sifted.key)) for q, k in pairs]
            operators.dot(components, len(sifted.query), site.restrict(sifted.query))


class _Sifted(NamedTuple):
    """Scores of a tile. saturated: (sequence, query), how many surely are. query, key: the open ones, flat."""

    saturated: Tensor
    query: Tensor
    key: Tensor


class _Sieve:
    """Tells in float64 which scores of a head surely saturate, and which surely have no flags."""

    def __init__(
        self, operators: Operators, batch: Batch, pairs: Sequence[tuple[Column, Column]], digits_are_exact: bool
    ) -> None:
        numbers, fmt = operators.numbers, operators.numbers.format
        self.fused = operators.fused
        self.digits_are_exact = digits_are_exact
        operands = float64_operands(numbers, pairs, batch.size)
        self.usable = operands is not None and (self.fused or digits_are_exact)
        if operands is None:
            return
        self.query, self.key = operands
        if not self.fused:
            self.query, self.key = self.query.abs(), self.key.abs()
        size = self.key.abs().amax(dim=1) @ self.query.abs()  # (token,), of Σ|k_j||q_j| over all keys
        self.error = size * (2.0 * relative_error(len(pairs)))
        step = max(0, fmt.max_quanta.bit_length() - fmt.significand_bits) + fmt.quantum_exponent
        largest = float(fmt.max_value)
        self.below = largest * (1.0 - 2.0**-40)
        self.beyond = (largest + math.ldexp(1.0, step)) * (1.0 + 2.0**-40)

    def sift(self, tile: Tile, workspace: Workspace) -> _Sifted:
        """Returns the scores of one tile."""
        first, stop = tile.first, tile.stop
        rows, columns = tile.tokens[:, first:stop], tile.tokens[:, :stop]
        shape = (len(tile.start), stop - first, stop)  # (sequence, query, key)
        place = torch.arange(stop, device=workspace.device)
        within = place[None, first:] < tile.lengths[:, None]  # (sequence, query)
        open_ = workspace.flags(shape)
        open_[:] = within[:, :, None]
        open_[:, :, first:] &= workspace.causal(stop - first, stop - first) == 0
        if not self.usable:
            return _Sifted(torch.zeros_like(rows), *_pairs(open_, tile))
        scores = workspace.floats(shape)
        torch.bmm(self.query[:, rows].permute(1, 2, 0), self.key[:, columns].transpose(0, 1), out=scores).abs_()
        error = self.error[rows][:, :, None]
        saturated = torch.zeros_like(rows)
        if self.fused:
            surely = (scores > self.beyond + error) & open_
            saturated = surely.sum(dim=2)
            open_ &= ~surely
        if self.digits_are_exact:
            open_ &= scores >= self.below - error
        return _Sifted(saturated, *_pairs(open_, tile))


def _pairs(chosen: Tensor, tile: Tile) -> tuple[Tensor, Tensor]:
    """Returns the flat queries and keys at which `chosen`, (sequence, query, key), holds."""
    sequence, row, key = chosen.nonzero().unbind(1)
    start = tile.start[sequence]
    return row + (start + tile.first), key + start
