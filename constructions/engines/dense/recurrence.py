"""Linear recurrences of the dense engine: every step of a provable guess at once, otherwise position by position.

Source: definition 3.4, h_t = A·h_{t−1} + B·X_t with h_0 = 0; constructions/engines/reference.py defines where it is rounded.
Derivation: registers that depend on each other are found together, each such group after the groups that it reads.
A register that does not read itself is one row over known columns. For one that adds itself once, the exact running sum is a
guess. A guess is checked by taking every step from the guessed state before it: if each gives the guessed state, induction over
positions shows that the guess is the state. So nothing is assumed of ranges, formats or disciplines.
Whatever is left is run by definition, one position of all sequences at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from constructions.engines.dense.batch import Batch
from constructions.engines.dense.column import Column
from constructions.engines.dense.operators import Operators
from constructions.engines.weights import ZERO, Weight
from constructions.rows import Recurrent, Row, Written


def states(operators: Operators, batch: Batch, recurrence: Recurrent, stream: Sequence[Column]) -> dict[int, Column]:
    """Returns the state after each token, by register."""
    numbers, width = operators.numbers, len(stream)
    before = [numbers.zero(batch.size) for _ in range(width)]  # the states known so far, one position later
    rows, state_of = dict(recurrence.end_to_end(width)), dict[int, Column]()
    for registers in recurrence.groups:
        group = tuple((register, rows[register]) for register in registers)
        group_states = _at_once(operators, batch, group, [*before, *stream])
        if group_states is None:
            group_states = _by_position(operators, batch, group, [*before, *stream])
        state_of |= group_states
        for register, column in group_states.items():
            before[register] = _delay(operators, batch, column)
    return state_of


def _at_once(operators: Operators, batch: Batch, group: Written, columns: Sequence[Column]) -> dict[int, Column] | None:
    """Returns the states of the group as whole columns; None where they are not known to be right."""
    if len(group) > 1:
        return None
    (register, row), size = group[0], batch.size
    own = dict(row).get(register)
    if own is None:
        return {register: operators.row(row, ZERO, columns, size)}
    if own != Weight(1, operators.shift):
        return None
    rest: Row = tuple((j, weight) for j, weight in row if j != register)
    terms = operators.numbers.linear([(weight, columns[j]) for j, weight in rest], ZERO, size)
    guess = _running_sum(operators, batch, terms.times_power(-operators.shift))
    given = list(columns)
    given[register] = _delay(operators, batch, guess)
    step = operators.row(row, ZERO, given, size)
    return {register: step} if operators.numbers.equal(step, guess) else None


def _running_sum(operators: Operators, batch: Batch, terms: Column) -> Column:
    """Returns the exact sum of each sequence's entries up to this one."""
    numbers = operators.numbers
    sums = numbers.prefix_sums(terms)
    after = torch.arange(1, batch.size + 1, device=numbers.device)
    return numbers.subtract(numbers.gather(sums, after), numbers.gather(sums, batch.start))


def _delay(operators: Operators, batch: Batch, column: Column) -> Column:
    """Returns the column one position later, 0 at the first position of each sequence."""
    numbers = operators.numbers
    if column.bound == 0:
        return column
    index = torch.arange(batch.size, device=numbers.device) - 1
    previous = numbers.gather(column, index.clamp_min(0))
    return numbers.choose(batch.position == 1, numbers.zero(batch.size), previous)


def _by_position(operators: Operators, batch: Batch, group: Written, columns: Sequence[Column]) -> dict[int, Column]:
    """Returns the states of the group by definition. columns: the states known before each token, then the registers."""
    numbers = operators.numbers
    order = torch.argsort(batch.position, stable=True)  # position by position, and in each the sequences in order
    counts = torch.bincount(batch.position).tolist()[1:]
    used = sorted({j for _, row in group for j, _ in row} - {register for register, _ in group})
    inputs = {j: numbers.gather(columns[j], order) for j in used}
    given = [numbers.zero(0)] * len(columns)
    history: dict[int, list[Column]] = {register: [] for register, _ in group}
    begin = 0
    for count in counts:
        for j, column in inputs.items():
            given[j] = numbers.part(column, slice(begin, begin + count))
        for register, past in history.items():
            # Sequences are sorted by length: those that have ended come first.
            given[register] = (
                numbers.part(past[-1], slice(len(past[-1]) - count, None)) if past else numbers.zero(count)
            )
        for register, row in group:
            new = numbers.tighten(operators.row(row, ZERO, given, count))
            history[register].append(new)
        begin += count
    place = torch.empty_like(order)
    place[order] = torch.arange(batch.size, device=numbers.device)
    return {register: numbers.gather(numbers.concatenate(past), place) for register, past in history.items()}
