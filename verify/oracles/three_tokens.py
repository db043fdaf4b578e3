"""A Turing machine of two symbols by three tokens a step, in exact arithmetic: what a Linear RNN of Theorem 4.1 would have to do.

Notation: m cells, the head on cell P from 0, N = 2^P, M = 2^(m − P). L is the sum of x_i·2^i over the cells left of the head, R of
x_i·2^(m − i) over those right of it. A step writes
  the new state;
  the direction, told by the new M: twice the old one to the left, half of it to the right;
  the cell's value x, with its place and the symbol y that the head comes upon: 2^j·N for j = x + 2y.
All numbers are at most 8·2^m, so they are words if m ≤ log2 n − 3.

Each quantity is one that the architecture has. The last six tokens are in a shift register. The third token times M is 2^(m + j):
one product, and a table of four values. What is added to L and R is a product of these, so both are sums. The symbol ahead is
y = 1[2R ≥ M] to the right and y = 1[2L ≥ N] to the left: thresholds between integers, as L < N and R < M.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructions.turing.machine import LEFT, RIGHT, Machine


@dataclass(frozen=True)
class Step:
    """The three tokens."""

    state: str
    direction: int
    cell: int


@dataclass
class Sums:
    """All that is kept besides the last tokens: L and R, and which numbers were met at most."""

    left: int
    right: int
    largest: int = 0

    def add(self, cells: int, before: int, step: Step) -> tuple[int, int]:
        """What the step adds to L and R; the new N, and the symbol under the head. before: M before the step."""
        j = (step.cell * before >> cells).bit_length() - 1
        x, y, place = j % 2, j // 2, step.cell >> j
        if step.direction < before:
            self.left += x * place
            self.right -= y * step.direction
        else:
            self.right += x * before
            self.left -= y * (place // 2)
        self.largest = max(self.largest, self.left, self.right, step.cell, step.cell * before >> cells)
        return (2 * place if step.direction < before else place // 2), y


@dataclass(frozen=True)
class Told:
    """What sums and last tokens tell behind a step: the state, the head's cell of the space, and every cell of it."""

    state: str
    head: int
    tape: tuple[int, ...]


def steps(machine: Machine, tape: str, cells: int, start: int, limit: int) -> Iterator[tuple[Step, Sums, Told]]:
    """Each step's tokens, the sums behind them, and what both tell; up to where the head would leave the space.

    tape: the symbols from cell `start` on, where the head begins; R is taken to hold them already.
    """
    digits = [int(digit) for digit in tape] or [0]
    before, place, symbol, state = 1 << (cells - start), 1 << start, digits[0], "A"
    sums = Sums(0, sum(x << (cells - start - i) for i, x in enumerate(digits) if i))
    for _ in range(limit):
        if machine.halts(state):
            return
        rule = machine.rule(state, symbol)
        if (place == 1 and rule.move == LEFT) or (before == 2 and rule.move == RIGHT):
            return
        ahead = 2 * sums.right >= before if rule.move == RIGHT else 2 * sums.left >= place
        step = Step(rule.state, before // 2 if rule.move == RIGHT else 2 * before, place << (rule.write + 2 * ahead))
        place, symbol = sums.add(cells, before, step)
        before, state = step.direction, step.state
        head = place.bit_length() - 1
        lower = (sums.left >> i & 1 for i in range(head))
        upper = (sums.right >> (cells - i) & 1 for i in range(head + 1, cells))
        yield step, sums, Told(state, head, (*lower, symbol, *upper))
