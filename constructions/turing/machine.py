"""Turing machines as data: one tape, one head, a table of rules.

Source: the machines of section 5.4, in the conventions of the busy-beaver literature.
Notation: states are the letters A, B, … of the rows, symbols the digits 0 … k − 1, and 0 is the blank.
Start: state A. The tape word lies in the cells 0, 1, …, the head is on cell 0; all other cells, without end on both sides, are
blank.
Step: the head reads, writes, moves one cell to the left or right, and the state changes. A step into a letter that has no row is
executed like any other, and counts; then the machine has halted. Z never has a row; H has one if there are eight states or more.
Undefined: `---` halts as well. It is executed as 1RZ: it writes 1, moves right and counts as one step. So a busy beaver has the
same steps and the same score whether its halting rule is spelled out or left open. (Some programs do not count it: theirs are
one less.)

Two ways to write a machine, both read and printed:
- the standard text format, `1RB1LB_1LA1RZ`: a row for each state, in it three characters for each symbol;
- a table, a rule on each line in any order, `A 0 -> 1 R B` or `A 0 -> ---`, where `#` starts a comment. Rules that are not
  there are undefined; a state has a row if a rule starts with it, and the largest digit anywhere is the last symbol (at least 1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
MOST_STATES = len(LETTERS) - 1  # one letter is left to halt in
LEAST_SYMBOLS, MOST_SYMBOLS = 2, len(DIGITS)
LEFT, RIGHT = -1, 1
MOVES = {"L": LEFT, "R": RIGHT}
UNDEFINED = "---"
LONGEST_QUOTE = 40

_TABLE_RULE = re.compile(r"([A-Z])\s*([0-9])\s*(?:->|→)\s*(?:([0-9])\s*([LR])\s*([A-Z])|---)")


class MachineError(ValueError):
    """Not a machine, or not a tape for it; the message is one line that names the thing and the bound."""


class Rule(NamedTuple):
    """Write a symbol, move by −1 or 1, go on in a state."""

    write: int
    move: int
    state: str

    def __str__(self) -> str:
        return f"{self.write}{'L' if self.move == LEFT else 'R'}{self.state}"


EXECUTED_IF_UNDEFINED = Rule(1, RIGHT, "Z")


@dataclass(frozen=True)
class Machine:
    """A Turing machine. rows[s][x]: the rule of the s-th state for the symbol x; None is an undefined one."""

    rows: tuple[tuple[Rule | None, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.rows) <= MOST_STATES:
            raise MachineError(f"a machine has 1 to {MOST_STATES} states, from A to Y, not {len(self.rows)}")
        if not LEAST_SYMBOLS <= self.symbols <= MOST_SYMBOLS:
            raise MachineError(
                f"a machine has {LEAST_SYMBOLS} to {MOST_SYMBOLS} symbols; the row of state A has rules for {self.symbols}"
            )
        for letter, row in zip(LETTERS, self.rows, strict=False):
            if len(row) != self.symbols:
                raise MachineError(
                    f"state A has rules for {self.symbols} symbols, state {letter} for {len(row)}, but all have the same"
                )
            for symbol, rule in enumerate(row):
                if rule is not None:
                    self._check(f"state {letter}, symbol {symbol}", rule)

    def _check(self, where: str, rule: Rule) -> None:
        if not 0 <= rule.write < self.symbols:
            raise MachineError(f"{where}: writes {rule.write}, but the symbols are 0 … {self.symbols - 1}")
        if rule.move not in (LEFT, RIGHT):
            raise MachineError(f"{where}: moves by {rule.move}, but a move is −1 (L) or 1 (R)")
        if len(rule.state) != 1 or rule.state not in LETTERS:
            raise MachineError(f"{where}: goes to {_quote(rule.state)}, but a state is a letter from A to Z")

    @property
    def states(self) -> str:
        """The letters that have a row: A, B, …"""
        return LETTERS[: len(self.rows)]

    @property
    def symbols(self) -> int:
        """Returns how many symbols there are, the blank among them."""
        return len(self.rows[0])

    def halts(self, state: str) -> bool:
        """Returns whether a letter has no row."""
        return LETTERS.index(state) >= len(self.rows)

    def rule(self, state: str, symbol: int) -> Rule:
        """Returns the rule of a state and a symbol, 1RZ if it is undefined. The state must have a row."""
        rule = self.rows[LETTERS.index(state)][symbol]
        return EXECUTED_IF_UNDEFINED if rule is None else rule

    def word(self, tape: str) -> tuple[int, ...]:
        """Returns the symbols of a tape word, from cell 0 to the right. Raises MachineError."""
        for place, character in enumerate(tape, 1):
            if character not in DIGITS[: self.symbols]:
                raise MachineError(
                    f"{_quote(character)} at place {place} of the tape is not one of the symbols 0 … {self.symbols - 1}"
                )
        return tuple(map(int, tape))

    def __str__(self) -> str:
        return "_".join("".join(UNDEFINED if rule is None else str(rule) for rule in row) for row in self.rows)

    def table(self) -> str:
        """Returns a rule on each line, undefined ones too."""
        return "".join(
            f"{letter} {symbol} -> {UNDEFINED if rule is None else ' '.join(str(rule))}\n"
            for letter, row in zip(LETTERS, self.rows, strict=False)
            for symbol, rule in enumerate(row)
        )


def parse_standard(text: str) -> Machine:
    """Returns the machine of 1RB1LB_1LA1RZ. Raises MachineError."""
    rows = text.strip().split("_")
    if rows == [""]:
        raise MachineError("there is no machine in the text; expected rules as in 1RB1LB_1LA1RZ")
    if len(rows) > MOST_STATES:
        raise MachineError(f"a machine has 1 to {MOST_STATES} states, from A to Y, not {len(rows)}")
    return Machine(tuple(_row(letter, row) for letter, row in zip(LETTERS, rows, strict=False)))


def _row(letter: str, text: str) -> tuple[Rule | None, ...]:
    if not text or len(text) % 3:
        raise MachineError(
            f"state {letter}: the row {_quote(text)} has {len(text)} characters, not three for each symbol"
        )
    return tuple(_rule(f"state {letter}, symbol {i // 3}", text[i : i + 3]) for i in range(0, len(text), 3))


def _rule(where: str, text: str) -> Rule | None:
    if text == UNDEFINED:
        return None
    write, move, state = tuple(text)
    if write not in DIGITS or move not in MOVES or state not in LETTERS:
        raise MachineError(
            f"{where}: {_quote(text)} is not a rule; expected a digit, L or R, a letter from A to Z, or {UNDEFINED}"
        )
    return Rule(int(write), MOVES[move], state)


def parse_table(text: str) -> Machine:
    """Returns the machine of a rule on each line. Raises MachineError."""
    rules: dict[tuple[str, int], Rule | None] = {}
    lines: dict[tuple[str, int], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        match = _TABLE_RULE.fullmatch(content)
        if match is None:
            raise MachineError(f"line {number}: {_quote(content)} is not a rule; expected one as in A 0 -> 1 R B")
        state, symbol, write, move, next_state = match.groups()
        place = (state, int(symbol))
        if place in rules:
            raise MachineError(
                f"line {number}: state {state}, symbol {symbol} has a rule already, on line {lines[place]}"
            )
        rules[place] = None if write is None else Rule(int(write), MOVES[move], next_state)
        lines[place] = number
    return _from_rules(rules)


def _from_rules(rules: dict[tuple[str, int], Rule | None]) -> Machine:
    if not rules:
        raise MachineError("there is no machine in the text; expected rules as in A 0 -> 1 R B")
    letters = {state for state, _ in rules}
    states = LETTERS[: LETTERS.index(max(letters)) + 1]
    missing = [letter for letter in states if letter not in letters]
    if missing:
        raise MachineError(
            f"state {missing[0]} has no rule, but {states[-1]} has; states are A, B, … without a gap (write {missing[0]} 0 -> ---)"
        )
    used = [symbol for _, symbol in rules] + [rule.write for rule in rules.values() if rule is not None]
    symbols = max(LEAST_SYMBOLS, max(used) + 1)
    return Machine(tuple(tuple(rules.get((letter, symbol)) for symbol in range(symbols)) for letter in states))


def _quote(text: Sequence[str] | str) -> str:
    """Quotes on one line, no longer than a line."""
    shown = repr(text)
    return shown if len(shown) <= LONGEST_QUOTE else f"{shown[: LONGEST_QUOTE - 1]}…"
