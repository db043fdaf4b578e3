"""What a machine does, step by step: the oracle of the wired ones, and the same in compiled code.

Notation: cells are numbered, cell 0 is where the head starts; words, limits and halting as in machine.py.
`steps` is the definition, on a dictionary of cells, and `simulate` is what is left after it. `simulate_fast` and `history` run
`_advance`, which numba compiles; without numba the same function runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from constructions.turing.machine import DIGITS, LETTERS, Machine, MachineError

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]
MOST_STEPS = 1 << 62
MOST_HISTORY = 10**8  # steps; 13 bytes each
FEW_STEPS = 2000  # take less time than to load what is compiled
FIRST_MARGIN = 1 << 12  # blank cells on both sides of the word; doubled when the head leaves them

HEAD, STATE, STEPS, LOW, HIGH = range(5)  # where a run stands


@dataclass(frozen=True)
class Configuration:
    """Where a run stands. head: its cell. tape: from cell `first` on, every cell of the word and every one the head has been on."""

    halted: bool
    steps: int
    state: str
    head: int
    first: int
    tape: str

    @property
    def nonblank(self) -> int:
        """How many cells are not blank: the busy beaver's score."""
        return len(self.tape) - self.tape.count("0")


class Step(NamedTuple):
    """A step, numbered from 1: the state and the head's cell before it, what is read and written, the move, the state after it."""

    number: int
    state: str
    head: int
    read: int
    written: int
    move: int
    next_state: str


@dataclass(frozen=True, eq=False)
class History:
    """All steps of a run as columns, an entry for each step; states are numbers, A is 0 and Z is 25."""

    head: Integers  # before the step
    state: Bytes  # before the step
    read: Bytes
    written: Bytes
    move: Bytes  # −1 or 1
    next_state: Bytes  # after the step
    final: Configuration


def steps(machine: Machine, tape: str = "", limit: int = MOST_STEPS) -> Iterator[Step]:
    """Every step until the machine halts, at most `limit`. Raises MachineError at once for what is no tape or no limit."""
    return _steps(machine, machine.word(tape), _checked(limit))


def _steps(machine: Machine, word: tuple[int, ...], limit: int) -> Iterator[Step]:
    cells = dict(enumerate(word))
    head, state = 0, "A"
    for number in range(1, limit + 1):
        if machine.halts(state):
            return
        read = cells.get(head, 0)
        rule = machine.rule(state, read)
        yield Step(number, state, head, read, rule.write, rule.move, rule.state)
        cells[head] = rule.write
        head, state = head + rule.move, rule.state


def simulate(machine: Machine, tape: str, limit: int) -> Configuration:
    """The configuration after `limit` steps, or where the machine halts before. Raises MachineError."""
    cells = dict(enumerate(machine.word(tape)))
    count, head, state = 0, 0, "A"
    for step in steps(machine, tape, limit):
        cells[step.head] = step.written
        count, head, state = step.number, step.head + step.move, step.next_state
    cells.setdefault(head, 0)
    symbols = "".join(DIGITS[cells[cell]] for cell in range(min(cells), max(cells) + 1))
    return Configuration(machine.halts(state), count, state, head, min(cells), symbols)


def simulate_fast(machine: Machine, tape: str, limit: int) -> Configuration:
    """The same as `simulate`, in compiled code. Raises MachineError."""
    nothing = np.zeros(0, np.int64)
    return _run(machine, tape, _checked(limit), nothing, np.zeros((5, 0), np.int8))


def history(machine: Machine, tape: str, limit: int) -> History:
    """Every step of a run, at most `limit` ≤ 10⁷. Raises MachineError."""
    if limit > MOST_HISTORY:
        raise MachineError(f"a history has at most {MOST_HISTORY} steps, not {limit}")
    length = simulate_fast(machine, tape, limit).steps
    head, columns = np.zeros(length, np.int64), np.zeros((5, length), np.int8)
    final = _run(machine, tape, length, head, columns)
    state, read, written, move, next_state = columns
    return History(head, state, read, written, move, next_state, final)


def _checked(limit: int) -> int:
    if not 0 <= limit <= MOST_STEPS:
        raise MachineError(f"the number of steps is 0 … 2^62, not {limit}")
    return limit


def _run(machine: Machine, tape: str, limit: int, head: Integers, columns: Bytes) -> Configuration:
    """Advances until nothing is left to do, on an array that grows; cell c lies at place c + origin."""
    word = machine.word(tape)
    rules = [[machine.rule(letter, symbol) for symbol in range(machine.symbols)] for letter in machine.states]
    table = np.array([[(r.write, r.move, LETTERS.index(r.state)) for r in row] for row in rules], np.int64)
    margin = FIRST_MARGIN
    cells = np.zeros(len(word) + 2 * margin, np.int8)
    cells[margin : margin + len(word)] = word
    origin = margin
    at = np.array([origin, 0, 0, origin, origin + max(len(word), 1) - 1], np.int64)
    advance = _advance if limit <= FEW_STEPS else _compiled()
    while not advance(table, cells, at, limit, origin, head, columns):
        margin = len(cells) // 2
        cells = np.pad(cells, margin)
        at[[HEAD, LOW, HIGH]] += margin
        origin += margin
    state = LETTERS[at[STATE]]
    symbols = (cells[at[LOW] : at[HIGH] + 1] + np.int8(ord("0"))).tobytes().decode("ascii")
    position, low = int(at[HEAD]) - origin, int(at[LOW]) - origin
    return Configuration(machine.halts(state), int(at[STEPS]), state, position, low, symbols)


def _advance(
    table: Integers, cells: Bytes, at: Integers, limit: int, origin: int, head_column: Integers, columns: Bytes
) -> bool:
    """Goes on from `at` until the machine halts or the limit is reached; False if it needs more cells."""
    states = table.shape[0]
    recording = head_column.shape[0] > 0
    head, state, count, low, high = at[HEAD], at[STATE], at[STEPS], at[LOW], at[HIGH]
    finished = True
    while state < states and count < limit:
        if head == 0 or head == cells.shape[0] - 1:
            finished = False
            break
        read = cells[head]
        write, move, following = table[state, read, 0], table[state, read, 1], table[state, read, 2]
        if recording:
            head_column[count] = head - origin
            columns[0, count] = state
            columns[1, count] = read
            columns[2, count] = write
            columns[3, count] = move
            columns[4, count] = following
        cells[head] = write
        head += move
        state = following
        count += 1
        low = min(low, head)
        high = max(high, head)
    at[HEAD], at[STATE], at[STEPS], at[LOW], at[HIGH] = head, state, count, low, high
    return finished


@cache
def _compiled() -> Callable[..., bool]:
    """`_advance`, compiled on first use, from numba's cache on disk if there is a place for it."""
    try:
        from numba import njit
    except ImportError:
        return _advance
    compile_: Any = njit
    try:
        return compile_(cache=True)(_advance)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder that may be written to
        return compile_(_advance)  # type: ignore[no-any-return]
