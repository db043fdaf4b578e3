"""Equal keys of one sequence, taken together: whatever the query, they have equal scores, so they win together or not at all.

A head compares queries with different keys only. What the equal ones carry together is a difference of prefix sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from constructions.engines.dense.batch import Batch
from constructions.engines.dense.column import Column, Numbers


class Repeats(NamedTuple):
    """Which keys are equal. A kind is the tokens of one sequence whose keys are; kinds are numbered as they appear.

    first: (kind,) its first token. order: (token,) the tokens kind by kind, ascending in each. begin: (kind,) where it begins
    there. codes: (token,) kind · tokens + token, in that order. fresh: (token + 1,) how many kinds appear before each token.
    kind: (token,) that of each.
    """

    first: Tensor
    order: Tensor
    begin: Tensor
    codes: Tensor
    fresh: Tensor
    kind: Tensor

    def spans(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Returns where in `order` the keys that are equal to `key` and not after `query` begin and end."""
        kind = self.kind[key]
        return self.begin[kind], torch.searchsorted(self.codes, kind * len(self.kind) + query, right=True)


def find_repeats(numbers: Numbers, batch: Batch, keys: Sequence[Column]) -> Repeats | None:
    """Returns the equal keys, given by component; None if in no sequence two keys are equal."""
    if any(_ascends(column, batch) for column in keys):
        return None
    size, device = batch.size, numbers.device
    tokens = torch.arange(size, device=device)
    code, same = torch.unique(numbers.kinds([numbers.from_tensor(batch.start, size), *keys], size), return_inverse=True)
    if len(code) == size:
        return None
    first = torch.full_like(code, size).scatter_reduce_(0, same, tokens, "amin")[same]  # (token,)
    is_first = first == tokens
    fresh = torch.nn.functional.pad(torch.cumsum(is_first, 0), (1, 0))
    kind = fresh[first]
    order = torch.argsort(kind, stable=True)
    counts = torch.bincount(kind)
    return Repeats(
        first=is_first.nonzero().squeeze(1),
        order=order,
        begin=torch.cumsum(counts, 0) - counts,
        codes=kind[order] * size + order,
        fresh=fresh,
        kind=kind,
    )


def _ascends(column: Column, batch: Batch) -> bool:
    """Returns whether each sequence's entries ascend or each one's descend, which takes no sorting to see."""
    if column.narrow is None:
        return False
    before, after = column.narrow[:-1], column.narrow[1:]
    starts = batch.position[1:] == 1
    return bool((starts | (after > before)).all()) or bool((starts | (after < before)).all())
