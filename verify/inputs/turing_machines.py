"""Machines to try: all small ones by their runs and by their rules, random ones, and ones of any size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.turing.machine import LETTERS, Machine, Rule
from constructions.turing.simulator import steps

RULES = [Rule(write, move, state) for write in (0, 1) for move in (-1, 1) for state in "ABZ"]
"""Of machines of two states and two symbols."""


def every_run(limit: int) -> Iterator[str]:
    """Yields a machine for every run of two states and two symbols from a blank tape, without rules that it does not reach."""
    waiting = [Machine(((None, None), (None, None)))]
    while waiting:
        machine = waiting.pop()
        last = next(reversed(list(steps(machine, "", limit))))
        if machine.rows[LETTERS.index(last.state)][last.read] is None:
            rows = [list(row) for row in machine.rows]
            for rule in reversed(RULES):
                rows[LETTERS.index(last.state)][last.read] = rule
                waiting.append(Machine(tuple(map(tuple, rows))))
        else:
            yield str(machine)


def every_space() -> Iterator[tuple[str, str, int]]:
    """Yields all machines of one state and two symbols, each with a word on it and 1, 2 and 3 cells."""
    rules = [rule for rule in RULES if rule.state in "AZ"]
    for (cells, tape), a, b in itertools.product(((1, ""), (2, "10"), (3, "")), rules, rules):
        yield f"{a}{b}", tape, cells


def every_table() -> Iterator[str]:
    """Yields all machines of two states and two symbols."""
    for a, b, c, d in itertools.product(RULES, repeat=4):
        yield f"{a}{b}_{c}{d}"


@st.composite
def machines(draw: DrawFn, most_states: int, most_symbols: int) -> str:
    """Draws standard texts; some rules are undefined, some halt in another letter than Z."""
    count, symbols = draw(st.integers(1, most_states)), draw(st.integers(2, most_symbols))
    letters = LETTERS[:count] * 3 + "HYZ"
    rule = st.builds(Rule, st.integers(0, symbols - 1), st.sampled_from((-1, 1)), st.sampled_from(letters))
    row = st.lists(st.one_of(*[rule.map(str)] * 9, st.just("---")), min_size=symbols, max_size=symbols)
    return "_".join("".join(r) for r in draw(st.lists(row, min_size=count, max_size=count)))


@dataclass(frozen=True)
class Size:
    """One model to measure: a machine of so many states and symbols, whose rules are a fixed mixture. n: steps, or cells."""

    states: int
    symbols: int
    n: int

    @property
    def machine(self) -> Machine:
        """All rules differ where they can."""
        count = self.states * self.symbols
        mixed = [(7 * i * i + 3 * i + 1) % (count + 1) for i in range(count)]
        rules = [Rule(m % self.symbols, 1 if m % 3 else -1, LETTERS[m % (self.states + 1)]) for m in mixed]
        return Machine(tuple(tuple(rules[s * self.symbols : (s + 1) * self.symbols]) for s in range(self.states)))
