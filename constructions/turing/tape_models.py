"""What the models that write their tape as text share: the words, the table of rules as weights, and how a run is read.

Source: Theorems 5.4 and 5.8; Lemma C.4.
Notation: B states, k symbols. A cell c is the word @c, a symbol its digit, a state its letter, a direction an arrow. A prompt is
<s> and the symbols of the tape word, from cell 0 to the right. A step is written as the paper prints it: the cell, the symbol that
is left there, the cell again, the new state, the direction. After a step into a state without a row stands HALT, and after one
that leaves the space OUT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constructions.models.program import NUMBER, Words, back
from constructions.turing.base import HALT, TuringModel
from constructions.turing.machine import DIGITS, LEFT, LETTERS, RIGHT, Machine, MachineError
from constructions.turing.simulator import MOST_HISTORY, Configuration, TuringStep
from constructions.wiring.affine import Affine, as_affine, reg, total
from constructions.wiring.numbered import Family
from constructions.wiring.wire import Gadget, Unit
from constructions.wiring.wired import SpelledTokens

CELL, SYMBOL, STATE = "cell", "symbol", "state"
START, OUT, TO_LEFT, TO_RIGHT = "<s>", "OUT", "←", "→"
POINTER = "pointer"
WRITES, ENTERS = "writes", "enters"
ARROWS: Mapping[int, str] = {LEFT: TO_LEFT, RIGHT: TO_RIGHT}
MOST_CELLS = 4_000_001
PIECE = 1 << 16  # words
UNKNOWN, OTHER, PLACE, DIGIT, LETTER, DIRECTION = range(6)  # kinds of words
STEP = (PLACE, DIGIT, PLACE, LETTER, DIRECTION)
Integers = NDArray[np.integer]


@dataclass(frozen=True)
class AnyTapeTask:
    """A machine, a word on its tape, the most steps, and the space: all that weights are derived from. Raises MachineError.

    space: how many cells there are, with the word in the middle; by default as many as the steps can reach.
    """

    machine: Machine
    steps: int
    tape: str
    space: int | None = None

    def __post_init__(self) -> None:
        self.machine.word(self.tape)

    def window(self, count: int | None) -> tuple[int, int]:
        """Returns the first and the last of `count` cells around cell 0; of all cells if that many do not exist, or for None."""
        first, last = self.ends
        if count is None or count >= self.steps:
            return first, last
        return max(first, -(count // 2)), min(last, count // 2)

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last cell. If the space is not given, a run never leaves them."""
        if self.space is None:
            reach = max(self.steps, len(self.tape) - 1, 1)
            return -reach, reach
        left = (self.space - max(len(self.tape), 1)) // 2
        return -left, self.space - left - 1

    @property
    def last_cell(self) -> int:
        """A bound: no cell is further from cell 0."""
        first, last = self.ends
        return max(-first, last)

    @property
    def table_bits(self) -> int:
        """Digits for every number in the table's sums: at most B·k products, a gate below B·k times a bend up to 4·25."""
        keys = len(self.machine.rows) * self.machine.symbols
        return (keys * keys * 8 * len(LETTERS)).bit_length()


@dataclass(frozen=True)
class TapeTask(AnyTapeTask):
    """As far as a model can be wired for it and run. Raises MachineError."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.steps <= MOST_HISTORY:
            raise MachineError(f"this model is wired for 0 … {MOST_HISTORY:,} steps, not {self.steps}")
        if self.space is not None and self.space < max(len(self.tape), 1):
            raise MachineError(f"cells: {self.space} cells do not hold the {len(self.tape)} symbols of the tape word")
        if len(self.cells) > MOST_CELLS:
            reason = (
                ""
                if self.space is not None
                else f", and {self.steps} steps may reach {len(self.cells):,}; --cells names fewer"
            )
            raise MachineError(f"cells: this model can be wired for {MOST_CELLS:,} cells at most{reason}")

    @property
    def cells(self) -> range:
        """All cells that there are."""
        first, last = self.ends
        return range(first, last + 1)

    def prompt(self) -> list[str]:
        """Returns <s> and the tape word."""
        return [START, *self.tape]


def number_families(task: AnyTapeTask, cells: tuple[int, int] | None = None) -> tuple[Family, ...]:
    """Cells, symbols and states. cells: the first and the last of them, by default the task's."""
    return (
        Family(CELL, *(task.ends if cells is None else cells), lambda c: f"@{c}"),
        Family(SYMBOL, 0, task.machine.symbols - 1, DIGITS.__getitem__),
        Family(STATE, 0, len(LETTERS) - 1, LETTERS.__getitem__),
    )


def words(families: Sequence[Family], specials: Sequence[str]) -> Words:
    """Returns the vocabulary: numbers, and special words, beside those that all have."""
    return Words(tuple(families), (START, TO_LEFT, TO_RIGHT, HALT, *specials))


def arrow() -> Affine:
    """Returns a form: 1 at a direction."""
    return reg(TO_LEFT) + reg(TO_RIGHT)


def table(task: AnyTapeTask, key: Affine) -> Gadget:
    """Writes what rule number k·state + symbol, the `key`, says: its symbol at WRITES, its state at ENTERS, else its direction.

    Derivation: a function of the key bends at integers alone, so one unit for each key adds it up: its value at 0, its slope after
    0, its second differences. Where none of the three forms is 1, nothing is added.
    A value v leaves 2v on the number, which with −i² of `decide` and 1 of `kinds` is the logit v² + 1 − (v − i)²; and v and −v on
    the two directions, less than v² + 1. A direction d = ±1 leaves d and −d there, to which `kinds` adds 1: its logit is 2, and
    those of numbers are 2d·i − i² ≤ 1.
    """
    machine, phases = task.machine, (reg(WRITES), reg(ENTERS), reg(STATE))
    rules = [machine.rule(letter, symbol) for letter in machine.states for symbol in range(machine.symbols)]
    values = [(rule.write, LETTERS.index(rule.state), rule.move) for rule in rules]
    units = []
    for i, at in enumerate(values):
        before, twice_before = values[max(i - 1, 0)], values[max(i - 2, 0)]
        bends = at if i == 0 else [x - 2 * y + z for x, y, z in zip(at, before, twice_before, strict=True)]
        up = total(bend * phase for bend, phase in zip(bends, phases, strict=True) if bend)
        if up.terms:
            units.append(Unit(key - (i - 1) if i else as_affine(1), up, {NUMBER: 2, TO_RIGHT: 1, TO_LEFT: -1}))
    return Gadget(f"the table of {len(rules)} rules", tuple(units), {}, "Lemma C.4")


def kinds() -> Gadget:
    """Returns what kind of word the table writes."""
    one = as_affine(1)
    return Gadget(
        "what kind of word the table writes",
        (
            Unit(reg(WRITES), one, {SYMBOL: 1}),
            Unit(reg(ENTERS), one, {STATE: 1}),
            Unit(reg(STATE), one, {TO_RIGHT: 1, TO_LEFT: 1}),
        ),
    )


def halted(task: AnyTapeTask) -> Gadget:
    """Returns a gadget: 1 or more at a direction if the state before it has no row, else 0."""
    return Gadget(
        "has the machine halted", (Unit(back(NUMBER, 1) - (len(task.machine.rows) - 1), arrow(), {"halted": 1}),)
    )


# Reading


def read_steps(words: Sequence[str]) -> Iterator[TuringStep]:
    """Yields every step that is written in full. The symbol that a step reads follows from the steps before it."""
    cells = dict(enumerate(map(int, _prompt_of(words))))
    state, number = "A", 0
    for written in _written_steps(words):
        for head, symbol, letter, move in zip(*(column.tolist() for column in written), strict=True):
            number += 1
            yield TuringStep(number, state, head, cells.get(head, 0), symbol, move, LETTERS[letter])
            cells[head], state = symbol, LETTERS[letter]


class _Written(NamedTuple):
    """Some steps, an entry for each: the cell, the symbol left there, the new state as its place among the letters, the move."""

    cell: Integers
    symbol: Integers
    state: Integers
    move: Integers


def _written_steps(words: Sequence[str]) -> Iterator[_Written]:
    """Yields all steps that are written in full, a piece of the words at a time: all of them may be very long."""
    spelled = words if isinstance(words, SpelledTokens) else _spell(words)
    kind = np.full(len(spelled.vocabulary), UNKNOWN)
    value = np.zeros(len(spelled.vocabulary), np.int64)
    for begin in range(0, len(spelled) - len(STEP) + 1, PIECE):
        tokens = spelled.numbers(slice(begin, begin + PIECE + len(STEP) - 1))
        for token in np.unique(tokens[kind[tokens] == UNKNOWN]).tolist():
            kind[token], value[token] = _meaning(spelled.vocabulary[token])
        columns = [tokens[i : len(tokens) - len(STEP) + 1 + i] for i in range(len(STEP))]
        complete = columns[0] == columns[2]
        for column, step_kind in zip(columns, STEP, strict=True):
            complete &= kind[column] == step_kind
        cell, symbol, _, state, move = (value[column[complete]] for column in columns)
        yield _Written(cell, symbol, state, move)


def _spell(words: Sequence[str]) -> SpelledTokens:
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    return SpelledTokens(tuple(number), np.array([number[word] for word in words], np.int64))


def _meaning(word: str) -> tuple[int, int]:
    """Returns the kind of a word, and its number."""
    if word in (TO_LEFT, TO_RIGHT):
        return DIRECTION, LEFT if word == TO_LEFT else RIGHT
    if re.fullmatch("[A-Z]", word):
        return LETTER, LETTERS.index(word)
    if re.fullmatch(r"\d", word):
        return DIGIT, int(word)
    return (PLACE, int(word[1:])) if re.fullmatch(r"@-?\d+", word) else (OTHER, 0)


def _prompt_of(words: Sequence[str]) -> list[str]:
    return list(takewhile(str.isdigit, islice(words, 1, None))) if words and words[0] == START else []


def read(words: Sequence[str]) -> Configuration:
    """Returns what a prompt and the steps after it say."""
    cells = dict(enumerate(map(int, _prompt_of(words))))
    low, high = 0, max(len(cells) - 1, 0)
    count, head, state = 0, 0, "A"
    for written in _written_steps(words):
        if len(written.cell):
            cells.update(zip(written.cell.tolist(), written.symbol.tolist(), strict=True))  # the last of equals stays
            after = written.cell + written.move
            count, head, state = count + len(after), int(after[-1]), LETTERS[written.state[-1]]
            low = min(low, int(written.cell.min()), int(after.min()))
            high = max(high, int(written.cell.max()), int(after.max()))
    symbols = "".join(DIGITS[cells.get(cell, 0)] for cell in range(low, high + 1))
    return Configuration(bool(words) and words[-1] == HALT, count, state, head, low, symbols)


@dataclass(frozen=True)
class TapeModel(TuringModel):
    """A model that writes the machine's steps."""

    def any_task(self, n: int) -> AnyTapeTask:
        return AnyTapeTask(self.machine, n, self.tape, self.cells)

    def task(self, n: int) -> TapeTask:
        return TapeTask(self.machine, n, self.tape, self.cells)

    def read_words(self, words: Sequence[str]) -> Configuration:
        return read(words)

    def read_steps(self, words: Sequence[str]) -> Iterator[TuringStep]:
        return read_steps(words)


GLOSSARY: Mapping[str, str] = {
    NUMBER: "the number of a cell, symbol or state; at the end, the output",
    "position": "this token's position, from 1",
    CELL: "1 at a cell",
    SYMBOL: "1 at a symbol",
    STATE: "1 at a state",
    START: "1 at the start of the prompt",
    TO_LEFT: "1 at the direction to the left",
    TO_RIGHT: "1 at the direction to the right",
    HALT: "1 at the end of a run that halts",
    OUT: "1 at the end of a run that leaves the space",
    POINTER: "the head's cell: the sum of all directions so far",
    WRITES: "1 at the first cell of a step",
    ENTERS: "1 at the second cell of a step",
    "halted": "1 or more at a direction after a state that has no row",
}
