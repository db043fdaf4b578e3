"""Flags of the dense engine: which results of a run saturated or were ties, where, how often and where first.

Source: constructions/engines/reference.py, whose `Flags` these are: the same sites, counts and first positions.

An operator is told the `Site` of its results and shows it every column that it is about to round. A site of a run without flags
is `NOWHERE`, which looks at nothing. What the engine computes more than once, or for a guess, it shows to a site once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch
from constructions.engines.dense.column import Column
from constructions.engines.dense.rounding import Rounder
from constructions.engines.reference import Flags, FlagSite


class Recorder:
    """The flags of one batch, in the order in which its sequences were given; each begins with those of the weights."""

    def __init__(self, rounder: Rounder, batch: Batch, of_weights: Flags) -> None:
        self.rounder = rounder
        self.flags = [copy_of(of_weights) for _ in batch.order]
        self._by_place = [self.flags[i] for i in np.argsort(batch.order).tolist()]
        self._offsets = np.array(batch.offsets)

    def raise_(self, kind: str, block: int, names: Sequence[str], tokens: Tensor, times: Tensor) -> None:
        """Counts occurrences of a flag at each site. tokens: flat, in any order, perhaps repeated. times: one or more for each."""
        order = torch.argsort(tokens)
        flat, number = tokens[order].cpu().numpy(), times[order].cpu().numpy()
        sequence = np.searchsorted(self._offsets, flat, side="right") - 1
        places, first = np.unique(sequence, return_index=True)
        counts = np.add.reduceat(number, first)
        positions = flat[first] - self._offsets[places] + 1
        for place, position, count in zip(places.tolist(), positions.tolist(), counts.tolist(), strict=True):
            flags = self._by_place[place]
            for name in names:
                site = FlagSite(kind, block, name)
                flags.counts[site] = flags.counts.get(site, 0) + count
                flags.first_position[site] = min(position, flags.first_position.get(site, position))

    def forget(self, block: int, names: Sequence[str]) -> None:
        """Removes all that was raised at the sites of these names."""
        for flags in self.flags:
            for of_sites in (flags.counts, flags.first_position):
                for site in [site for site in of_sites if site.block == block and site.site in names]:
                    del of_sites[site]


class Site:
    """Where an operator's results are, or several operators' whose results are equal; and whose they are.

    names: for example ("ffn.gate[3]",). tokens: the flat token of each result; None if result i is that of token i.
    recorder: None if flags are not wanted.
    """

    __slots__ = ("_block", "_names", "_recorder", "_tokens")

    def __init__(
        self, recorder: Recorder | None, block: int, names: tuple[str, ...], tokens: Tensor | None = None
    ) -> None:
        self._recorder = recorder
        self._block = block
        self._names = names
        self._tokens = tokens

    @property
    def records(self) -> bool:
        """Returns whether anything that it is shown is noted."""
        return self._recorder is not None

    def __getitem__(self, indices: int | Sequence[int]) -> Site:
        """Returns the site of row `indices` of several; of all of these rows, if they are equal."""
        if self._recorder is None:
            return self
        rows = (indices,) if isinstance(indices, int) else indices
        return Site(
            self._recorder, self._block, tuple(f"{name}[{row}]" for name in self._names for row in rows), self._tokens
        )

    def restrict(self, index: Tensor) -> Site:
        """Returns the site restricted to some of its results. index: which, as for `gather`."""
        if self._recorder is None:
            return self
        return Site(self._recorder, self._block, self._names, index if self._tokens is None else self._tokens[index])

    def note(self, column: Column) -> None:
        """Flags what rounding this column saturates, and its ties."""
        if self._recorder is None:
            return
        flagged = self._recorder.rounder.flagged(column)
        if flagged is not None:
            saturated, tie = flagged
            self.mark("saturation", saturated)
            self.mark("rounding tie", tie)

    def mark(self, kind: str, times: Tensor) -> None:
        """Flags each result as often as `times`, (results,) bool or int64, says."""
        if self._recorder is None:
            return
        index = times.nonzero().squeeze(1)
        if len(index):
            tokens = index if self._tokens is None else self._tokens[index]
            self._recorder.raise_(kind, self._block, self._names, tokens, times[index].to(torch.int64))

    def forget(self) -> None:
        """Takes back all that was flagged here."""
        if self._recorder is not None:
            self._recorder.forget(self._block, self._names)


NOWHERE = Site(None, 0, ())


def copy_of(flags: Flags) -> Flags:
    """Flags that may be added to."""
    return Flags(dict(flags.counts), dict(flags.first_position))


def in_order(flags: Flags) -> Flags:
    """Returns the same flags, those first raised first."""
    sites = sorted(flags.counts, key=lambda site: flags.first_position[site])
    return Flags({site: flags.counts[site] for site in sites}, {site: flags.first_position[site] for site in sites})
