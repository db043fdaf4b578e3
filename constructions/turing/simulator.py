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
PIECE = 1 << 18  # steps
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
        """Returns how many cells are not blank: the busy beaver's score."""
        return len(self.tape) - self.tape.count("0")


class TuringStep(NamedTuple):
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


def steps(machine: Machine, tape: str = "", limit: int = MOST_STEPS) -> Iterator[TuringStep]:
    """Yields every step until the machine halts, at most `limit`. Raises MachineError at once for a wrong tape or limit."""
    return _steps(machine, machine.word(tape), _check(limit))


def _steps(machine: Machine, word: tuple[int, ...], limit: int) -> Iterator[TuringStep]:
    cells = dict(enumerate(word))
    head, state = 0, "A"
    for number in range(1, limit + 1):
        if machine.halts(state):
            return
        read = cells.get(head, 0)
        rule = machine.rule(state, read)
        yield TuringStep(number, state, head, read, rule.write, rule.move, rule.state)
        cells[head] = rule.write
        head, state = head + rule.move, rule.state


def simulate(machine: Machine, tape: str, limit: int) -> Configuration:
    """Returns the configuration after `limit` steps, or where the machine halts before. Raises MachineError."""
    cells = dict(enumerate(machine.word(tape)))
    count, head, state = 0, 0, "A"
    for step in steps(machine, tape, limit):
        cells[step.head] = step.written
        count, head, state = step.number, step.head + step.move, step.next_state
    cells.setdefault(head, 0)
    symbols = "".join(DIGITS[cells[cell]] for cell in range(min(cells), max(cells) + 1))
    return Configuration(machine.halts(state), count, state, head, min(cells), symbols)


def simulate_fast(machine: Machine, tape: str, limit: int) -> Configuration:
    """Returns what `simulate` does, by compiled code. Raises MachineError."""
    run = _MachineRun(machine, tape, _check(limit))
    run.advance(limit, np.zeros(0, np.int64), np.zeros((5, 0), np.int8))
    return run.configuration


def history(machine: Machine, tape: str, limit: int) -> History:
    """Returns every step of a run, at most `limit` ≤ 10⁸. Raises MachineError."""
    (whole,) = histories(machine, tape, limit, MOST_HISTORY)
    return whole


def histories(machine: Machine, tape: str, limit: int, piece: int = PIECE) -> Iterator[History]:
    """Yields every step of a run, `piece` steps at a time; only the last piece may be shorter. Raises MachineError."""
    if limit > MOST_HISTORY:
        raise MachineError(f"a history has at most {MOST_HISTORY} steps, not {limit}")
    length = simulate_fast(machine, tape, limit).steps
    run = _MachineRun(machine, tape, length)
    for begin in range(0, max(length, 1), piece):
        size = min(piece, length - begin)
        head, columns = np.zeros(size, np.int64), np.zeros((5, size), np.int8)
        run.advance(begin + size, head, columns)
        state, read, written, move, next_state = columns
        yield History(head, state, read, written, move, next_state, run.configuration)


def _check(limit: int) -> int:
    if not 0 <= limit <= MOST_STEPS:
        raise MachineError(f"the number of steps is 0 … 2^62, not {limit}")
    return limit


class _MachineRun:
    """A run of a machine on an array that grows; cell c lies at place c + origin. most: it makes no more steps than that."""

    def __init__(self, machine: Machine, tape: str, most: int) -> None:
        word = machine.word(tape)
        rules = [[machine.rule(letter, symbol) for symbol in range(machine.symbols)] for letter in machine.states]
        self._machine = machine
        self._table = np.array([[(r.write, r.move, LETTERS.index(r.state)) for r in row] for row in rules], np.int64)
        self._origin = FIRST_MARGIN
        self._cells = np.zeros(len(word) + 2 * FIRST_MARGIN, np.int8)
        self._cells[FIRST_MARGIN : FIRST_MARGIN + len(word)] = word
        self._at = np.array([FIRST_MARGIN, 0, 0, FIRST_MARGIN, FIRST_MARGIN + max(len(word), 1) - 1], np.int64)
        self._advance = _advance if most <= FEW_STEPS else _compile()

    def advance(self, limit: int, head: Integers, columns: Bytes) -> None:
        """Goes on until there were `limit` steps, or it halts. head, columns: where the steps are recorded, if at all."""
        first = int(self._at[STEPS])
        while not self._advance(self._table, self._cells, self._at, limit, self._origin, first, head, columns):
            margin = len(self._cells) // 2
            self._cells = np.pad(self._cells, margin)
            self._at[[HEAD, LOW, HIGH]] += margin
            self._origin += margin

    @property
    def configuration(self) -> Configuration:
        """Returns where it stands."""
        state, head, low, high = (int(self._at[i]) for i in (STATE, HEAD, LOW, HIGH))
        symbols = (self._cells[low : high + 1] + np.int8(ord("0"))).tobytes().decode("ascii")
        letter, origin = LETTERS[state], self._origin
        halts = self._machine.halts(letter)
        return Configuration(halts, int(self._at[STEPS]), letter, head - origin, low - origin, symbols)


def _advance(
    table: Integers,
    cells: Bytes,
    at: Integers,
    limit: int,
    origin: int,
    first: int,
    head_column: Integers,
    columns: Bytes,
) -> bool:
    """Goes on from `at` until the machine halts or the limit is reached; False if it needs more cells.

    head_column, columns: where steps are recorded, unless they are empty, from the one with `first` steps before it on.
    """
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
            head_column[count - first] = head - origin
            columns[0, count - first] = state
            columns[1, count - first] = read
            columns[2, count - first] = write
            columns[3, count - first] = move
            columns[4, count - first] = following
        cells[head] = write
        head += move
        state = following
        count += 1
        low = min(low, head)
        high = max(high, head)
    at[HEAD], at[STATE], at[STEPS], at[LOW], at[HIGH] = head, state, count, low, high
    return finished


@cache
def _compile() -> Callable[..., bool]:
    """Compiles `_advance` on first use, or takes it from numba's cache on disk if there is a place for it."""
    try:
        from numba import njit
    except ImportError:
        return _advance
    compile_: Any = njit
    try:
        return compile_(cache=True)(_advance)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder that may be written to
        return compile_(_advance)  # type: ignore[no-any-return]
