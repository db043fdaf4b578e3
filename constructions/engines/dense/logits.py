"""Next tokens: the argmax of the logits at every position, without keeping all logits.

Source: section 3 (greedy decoding); constructions/engines/reference.py, where the first of equal logits wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from constructions.engines.dense.column import NARROW, Column
from constructions.engines.dense.flags import Site
from constructions.engines.dense.operators import Operators
from constructions.engines.weights import ZERO, Row, coordinates


def first_argmax(
    operators: Operators, unembed: Sequence[Row], stream: Sequence[Column], area: int, site: Site
) -> Tensor:
    """(token,): the first vocabulary entry of the highest logit. area: how many logits may be held at a time."""
    length = len(stream[0]) if stream else 0
    blocks = _integer_blocks(operators, unembed, stream)
    if blocks is None:
        return _one_by_one(operators, unembed, stream, length, site)
    columns = max(1, area // max(1, len(unembed)))
    device = operators.numbers.device
    number = torch.arange(len(unembed), device=device)[:, None]
    parts, ties = [], []
    for begin in range(0, length, columns):
        part = slice(begin, begin + columns)
        logits = torch.zeros((len(unembed), min(columns, length - begin)), dtype=torch.int64, device=device)
        for block in blocks:
            total = torch.zeros((len(block.rows), logits.shape[1]), dtype=torch.int64, device=device)
            for factors, data in zip(block.factors, block.columns, strict=True):
                total += factors[:, None] * data[None, part]
            logits[block.rows] = total
        top = logits.amax(dim=0)
        highest = logits == top
        parts.append(torch.where(highest, number, len(unembed)).amin(dim=0))
        if site.records:
            ties.append(highest.sum(dim=0) > 1)
    if ties:
        site.mark("logit tie", torch.cat(ties))
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64, device=device)


class _Block(NamedTuple):
    """Rows of the unembedding with the same support. factors: per coordinate (rows,); columns: per coordinate (token,)."""

    rows: Tensor
    factors: list[Tensor]
    columns: list[Tensor]


def _integer_blocks(operators: Operators, unembed: Sequence[Row], stream: Sequence[Column]) -> list[_Block] | None:
    """The unembedding over int64 with one common exponent; None unless bounds show that no operation rounds or overflows."""
    numbers = operators.numbers
    fmt = numbers.format
    used = {j: numbers.tighten(stream[j]) for j in coordinates(unembed)}
    rows = [[(j, weight) for j, weight in row if used[j].bound] for row in unembed]
    exponents = [weight.exponent + used[j].exponent for row in rows for j, weight in row]
    exponent = min(exponents, default=0)
    quanta = exponent - operators.shift  # of one unit of the sums
    largest, by_support = 0, dict[tuple[int, ...], list[int]]()
    for i, row in enumerate(rows):
        bound = sum(
            (abs(weight.mantissa) * used[j].bound) << (weight.exponent + used[j].exponent - exponent)
            for j, weight in row
        )
        largest = max(largest, bound)
        by_support.setdefault(tuple(j for j, _ in row), []).append(i)
    digits_fit = fmt.is_fixed_point or largest.bit_length() <= fmt.significand_bits
    if largest and (quanta < 0 or largest >= NARROW or largest << quanta > fmt.max_quanta or not digits_fit):
        return None
    blocks = []
    for support, members in by_support.items():
        columns, factors = [], []
        for place, j in enumerate(support):
            narrow = used[j].narrow
            if narrow is None:
                return None
            columns.append(narrow)
            shifts = [rows[i][place][1] for i in members]
            factors.append([w.mantissa << (w.exponent + used[j].exponent - exponent) for w in shifts])
        device = numbers.device
        blocks.append(
            _Block(torch.tensor(members, device=device), [torch.tensor(f, device=device) for f in factors], columns)
        )
    return blocks


def _one_by_one(
    operators: Operators, unembed: Sequence[Row], stream: Sequence[Column], length: int, site: Site
) -> Tensor:
    numbers = operators.numbers
    best = numbers.zero(length)
    choice = torch.zeros(length, dtype=torch.int64, device=numbers.device)
    tie = torch.zeros(length, dtype=torch.bool, device=numbers.device)
    for token, row in enumerate(unembed):
        logit = operators.row(row, ZERO, stream, length, site[token])
        if token == 0:
            best = logit
            continue
        lead = numbers.subtract(logit, best)
        higher = numbers.at_least(lead, 1)
        if site.records:
            tie = ~higher & (tie | numbers.at_least(lead, 0))
        best = numbers.choose(higher, logit, best)
        choice = torch.where(higher, token, choice)
    site.mark("logit tie", tie)
    return choice
