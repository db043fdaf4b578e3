"""Next tokens: the argmax of the logits at every position, without keeping all logits.

Source: section 3 (greedy decoding); constructions/engines/reference.py, where the first of equal logits wins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from constructions.engines.dense.column import Column
from constructions.engines.dense.float_filter import EXACT
from constructions.engines.dense.operators import Operators
from constructions.engines.weights import ZERO
from constructions.rows import Row, coordinates


def first_argmax(operators: Operators, unembed: Sequence[Row], stream: Sequence[Column], area: int) -> Tensor:
    """Returns for each token the first vocabulary entry with the highest logit. area: how many logits may be held at a time."""
    length = len(stream[0]) if stream else 0
    operands = _integers(operators, unembed, stream)
    if operands is None:
        return _one_by_one(operators, unembed, stream, length)
    registers, weights = operands
    best = []
    tokens = max(1, min(length, area // max(1, len(unembed))))
    space = torch.empty((tokens, len(unembed)), dtype=torch.float64, device=registers.device)  # the same for all parts
    for begin in range(0, length, tokens):
        part = registers[:, begin : begin + tokens].T
        logits = torch.mm(part, weights, out=space[: len(part)])
        best.append(logits.max(dim=1).indices)  # of equals the first
    return torch.cat(best) if best else torch.zeros(0, dtype=torch.int64, device=registers.device)


def _integers(operators: Operators, unembed: Sequence[Row], stream: Sequence[Column]) -> tuple[Tensor, Tensor] | None:
    """Returns the registers that are read, (register, token), and the unembedding, (register, vocabulary): integers in float64.

    Their products are the logits in one common unit, without any error in whatever order they are added up; None unless
    bounds show this, and that no logit is rounded.
    """
    numbers = operators.numbers
    fmt, device = numbers.format, numbers.device
    used = {j: numbers.tighten(stream[j]) for j in coordinates(unembed)}
    used = {j: column for j, column in used.items() if column.bound}
    rows = [[(j, weight) for j, weight in row if j in used] for row in unembed]
    exponent = min((weight.exponent + used[j].exponent for row in rows for j, weight in row), default=0)
    quanta = exponent - operators.shift  # of one unit of the sums
    factors = [[(j, w.mantissa << (w.exponent + used[j].exponent - exponent)) for j, w in row] for row in rows]
    largest = max((sum(abs(factor) * used[j].bound for j, factor in row) for row in factors), default=0)
    if largest and (quanta < 0 or largest > EXACT or largest << quanta > fmt.max_quanta):
        return None
    if not fmt.is_fixed_point and largest.bit_length() > fmt.significand_bits:
        return None
    place = {j: i for i, j in enumerate(used)}
    weights = np.zeros((len(used), len(unembed)))
    for token, row in enumerate(factors):
        for j, factor in row:
            weights[place[j], token] = factor
    columns = [column.narrow.to(torch.float64) for column in used.values() if column.narrow is not None]
    if len(columns) < len(used):
        return None
    nothing = torch.zeros((0, len(stream[0]) if stream else 0), dtype=torch.float64, device=device)
    return torch.stack(columns) if columns else nothing, torch.from_numpy(weights).to(device)


def _one_by_one(operators: Operators, unembed: Sequence[Row], stream: Sequence[Column], length: int) -> Tensor:
    numbers = operators.numbers
    best = numbers.zero(length)
    choice = torch.zeros(length, dtype=torch.int64, device=numbers.device)
    for token, row in enumerate(unembed):
        logit = operators.row(row, ZERO, stream, length)
        if token == 0:
            best = logit
            continue
        higher = numbers.at_least(numbers.subtract(logit, best), 1)
        best = numbers.choose(higher, logit, best)
        choice = torch.where(higher, token, choice)
    return choice
