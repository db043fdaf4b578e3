"""Many sequences of unequal length laid end to end, and the tiles in which their pairs of positions are visited."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

_ROWS = 16  # of each sequence of a group, at least, in a tile


class Tile(NamedTuple):
    """Queries `first` … `stop` − 1 (0-based) of a group of sequences, against the keys before `stop`.

    group: number of the group. tokens: (sequence, position) → flat token; after a sequence's end, its last token.
    start: (sequence,) flat token at which it starts. lengths: (sequence,).
    """

    group: int
    tokens: Tensor
    start: Tensor
    lengths: Tensor
    first: int
    stop: int


@dataclass(frozen=True)
class Batch:
    """Tokens of all sequences, flat, sequence by sequence.

    tokens: (tokens,). position: (tokens,) 1-based within the sequence. start: (tokens,) flat index of the sequence's first
    token. offsets: where each sequence starts; the last entry is the number of tokens. order: place among the sequences
    given → place here (sorted by length, so that sequences tiled together are about equally long).
    """

    tokens: Tensor
    position: Tensor
    start: Tensor
    offsets: tuple[int, ...]
    order: tuple[int, ...]
    groups: tuple[Tile, ...]

    @property
    def size(self) -> int:
        """The number of tokens of all sequences."""
        return self.offsets[-1]

    @property
    def longest(self) -> int:
        """The length of the longest sequence."""
        return max((b - a for a, b in zip(self.offsets, self.offsets[1:], strict=False)), default=0)

    def span(self, sequence: int) -> slice:
        """Returns the flat positions of the sequence that was given as number `sequence`."""
        place = self.order[sequence]
        return slice(self.offsets[place], self.offsets[place + 1])


def tiles(groups: Iterable[Tile], area: int) -> Iterator[Tile]:
    """Tiles of at most `area` pairs (or one row of each sequence) that cover every causal pair of the groups' queries."""
    for group in groups:
        sequences, length = group.tokens.shape
        first = group.first
        while first < length:
            # The most rows r with sequences · r · (first + r) ≤ area.
            rows = max(1, (math.isqrt(first * first + 4 * area // sequences) - first) // 2)
            stop = min(length, first + rows)
            yield group._replace(first=first, stop=stop)
            first = stop


def batch(sequences: Sequence[Sequence[int]], area: int, device: torch.device) -> Batch:
    """Lays out the sequences, none of them empty; `area` bounds the pairs of positions of a tile."""
    by_length = sorted(range(len(sequences)), key=lambda i: (len(sequences[i]), i))
    place = [0] * len(sequences)
    for here, i in enumerate(by_length):
        place[i] = here
    lengths = np.array([len(sequences[i]) for i in by_length], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    start = np.repeat(offsets[:-1], lengths)
    position = np.arange(offsets[-1], dtype=np.int64) - start + 1
    tokens = np.array([token for i in by_length for token in sequences[i]], dtype=np.int64)

    groups: list[Tile] = []
    begin = 0
    while begin < len(lengths):
        end = begin + 1
        while end < len(lengths) and _fits(int(lengths[begin]), int(lengths[end]), end + 1 - begin, area):
            end += 1
        longest = int(lengths[end - 1])
        within = np.minimum(np.arange(longest)[None, :], lengths[begin:end, None] - 1)  # (sequence, position)
        groups.append(
            Tile(
                group=len(groups),
                tokens=torch.from_numpy(offsets[begin:end, None] + within).to(device),
                start=torch.from_numpy(offsets[begin:end]).to(device),
                lengths=torch.from_numpy(lengths[begin:end]).to(device),
                first=0,
                stop=longest,
            )
        )
        begin = end
    return Batch(
        tokens=torch.from_numpy(tokens).to(device),
        position=torch.from_numpy(position).to(device),
        start=torch.from_numpy(start).to(device),
        offsets=tuple(offsets.tolist()),
        order=tuple(place),
        groups=tuple(groups),
    )


def _fits(shortest: int, longest: int, sequences: int, area: int) -> bool:
    """Returns whether these sequences are tiled together: not much padding, and several rows of each in one tile."""
    return 4 * longest <= 5 * shortest + 4 * _ROWS and sequences * _ROWS * longest <= area
