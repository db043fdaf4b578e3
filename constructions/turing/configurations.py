"""Configurations as text: the words of the machine whose tape turns around, its digits, its oracle, and how a run is read.

Notation: a configuration is a word for each cell of the space. `_` is a cell that the head has never been on and that is not of the
tape word; a symbol is its digit; the head's cell is the letter of the state and the symbol, as in A0. The prompt is <s>, the first
configuration and `:`. After it stand the others, each with `|` at its end, one for each step. Cell 0 is the head's in the prompt.
After the `|` of a configuration whose state has no row stands HALT. In the cell from which the head would leave the space stands
OUT, and nothing after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from constructions.models.program import Words
from constructions.turing.machine import DIGITS, LEFT, LETTERS, RIGHT, Machine, MachineError
from constructions.turing.simulator import Configuration, TuringStep, history
from constructions.wiring.numbered import Family

BLANK, CELL, HEAD, HALTED, TURN, OUTSIDE = "blank", "cell", "head", "halted", "turn", "outside"
START, RUN, HALT = "<s>", ":", "HALT"
NEVER, BAR, OUT = "_", "|", "OUT"
MARGIN = 16  # blank cells on both sides of the word, where the space is not given
MOST_STEPS = 10**7  # their words are made in Python
MOST_BITS = 2000  # β·m: the smallest weight is about 2^(−βm/2), and float64 ends at 2^−1022


@dataclass(frozen=True)
class AnyTextTask:
    """A machine, a word on its tape, the most steps, and the space: all that weights are derived from. Raises MachineError."""

    machine: Machine
    steps: int
    tape: str
    space: int | None = None

    def __post_init__(self) -> None:
        self.machine.word(self.tape)
        if self.cells < len(self.tape):
            raise MachineError(f"cells: {self.cells} cells do not hold the {len(self.tape)} symbols of the tape word")

    @property
    def width(self) -> int:
        """The cells of the word, the head's first one at least."""
        return max(len(self.tape), 1)

    @property
    def cells(self) -> int:
        """m. If it is not given, a run of up to 16 steps never leaves it."""
        return self.width + 2 * min(self.steps, MARGIN) if self.space is None else self.space

    @property
    def left(self) -> int:
        """Blank cells in front of the word, which stands in the middle."""
        return (self.cells - self.width) // 2


@dataclass(frozen=True)
class TextTask(AnyTextTask):
    """As far as a model can be wired for it and run. Raises MachineError."""

    def __post_init__(self) -> None:
        if not 0 <= self.steps <= MOST_STEPS:
            raise MachineError(f"this model is wired for 0 … {MOST_STEPS:,} steps, not {self.steps}")
        most = MOST_BITS // Code(self.machine).bits
        if not 1 <= self.cells <= most:
            raise MachineError(f"cells: this machine can be wired for 1 … {most} cells, not {self.cells}")
        super().__post_init__()

    def prompt(self) -> list[str]:
        """Returns the first configuration, from <s> to `:`."""
        word = self.tape or DIGITS[0]
        right = self.cells - self.left - self.width
        return [START, *[NEVER] * self.left, f"A{word[0]}", *word[1:], *[NEVER] * right, RUN]


@dataclass(frozen=True)
class Code:
    """The digits of a machine's configurations: `_`, the symbols, letter and symbol of the head's cell, `|`, OUT."""

    machine: Machine

    @cached_property
    def letters(self) -> str:
        """The states, then the letters that it can halt in; Z if it cannot."""
        states = self.machine.states
        rules = (self.machine.rule(state, symbol) for state in states for symbol in range(self.machine.symbols))
        return states + ("".join(sorted({rule.state for rule in rules} - set(states))) or LETTERS[-1])

    @property
    def first_head(self) -> int:
        """The digit of A0; of letter i and symbol x, it is this + k·i + x."""
        return 1 + self.machine.symbols

    @property
    def turn(self) -> int:
        """The digit of `|`."""
        return self.first_head + self.machine.symbols * len(self.letters)

    @property
    def outside(self) -> int:
        """The digit of OUT, the last one."""
        return self.turn + 1

    @property
    def bits(self) -> int:
        """β: b = 2^β is above every digit."""
        return self.outside.bit_length()

    @cached_property
    def words(self) -> Words:
        """The vocabulary: a family for each kind of digit, and three special words."""
        k, first = self.machine.symbols, self.first_head
        halted = first + k * len(self.machine.states)

        def head(digit: int) -> str:
            return f"{self.letters[(digit - first) // k]}{DIGITS[(digit - first) % k]}"

        return Words(
            (
                Family(BLANK, 0, 0, lambda digit: NEVER),
                Family(CELL, 1, k, lambda digit: DIGITS[digit - 1]),
                Family(HEAD, first, halted - 1, head),
                Family(HALTED, halted, self.turn - 1, head),
                Family(TURN, self.turn, self.turn, lambda digit: BAR),
                Family(OUTSIDE, self.outside, self.outside, lambda digit: OUT),
            ),
            (START, RUN, HALT),
        )


# Oracle


def words_after_prompt(task: TextTask) -> list[str]:
    """Returns all words after the prompt, computed by the simulator. The last one is HALT, OUT, or the `|` of the last step."""
    run = history(task.machine, task.tape, task.steps)
    places = [head + task.left for head in (*run.head.tolist(), run.final.head)]
    symbols = run.written.tolist()
    row, words = task.prompt()[1:-1], list[str]()
    for step, state in enumerate(run.next_state.tolist()):
        place, next_place = places[step], places[step + 1]
        row[place] = DIGITS[symbols[step]]
        if not 0 <= next_place < task.cells:
            return [*words, *row[:place], OUT]
        row[next_place] = LETTERS[state] + row[next_place].replace(NEVER, DIGITS[0])
        words += row
        words.append(BAR)
    return [*words, HALT] if run.final.halted else words


# Reading


def read(words: Sequence[str]) -> Configuration:
    """Returns what the last configuration that is written in full says, and how many there are. Raises ValueError if it is none."""
    space, steps = words.index(RUN) - 1, words.count(BAR)
    end = (space + 1) * (steps + 1)
    origin, row = _place(words[1 : space + 1], 0), words[end - space : end]
    head = _place(row, steps)
    visited = [place for place, word in enumerate(row) if word != NEVER]
    tape = "".join(word[-1] for word in row[visited[0] : visited[-1] + 1])
    return Configuration(words[-1] == HALT, steps, row[head][0], head - origin, visited[0] - origin, tape)


def read_steps(words: Sequence[str]) -> Iterator[TuringStep]:
    """Yields every step whose configuration is written in full. Raises ValueError at one that is none."""
    space = words.index(RUN) - 1
    row = words[1 : space + 1]
    origin = place = _place(row, 0)
    for number in range(1, words.count(BAR) + 1):
        start = number * (space + 1) + 1
        state, read_symbol, row = row[place][0], int(row[place][1]), words[start : start + space]
        next_place, symbol = _place(row, number), int(row[place])
        move = LEFT if next_place < place else RIGHT
        yield TuringStep(number, state, place - origin, read_symbol, symbol, move, row[next_place][0])
        place = next_place


def left_the_space(words: Sequence[str]) -> str:
    """Returns the line for a run that ends because the head would leave the space, else "". words: the prompt's as well."""
    if words[-1] != OUT:
        return ""
    at, space = read(words), words.index(RUN) - 1
    first = -_place(words[1 : space + 1], 0)
    return f"cells: the head left cell {at.head} after {at.steps} steps, and the tape has the cells {first} … {first + space - 1}"


def _place(row: Sequence[str], number: int) -> int:
    """Returns where a configuration, the one of this number, has its head."""
    for place, word in enumerate(row):
        if word[0] in LETTERS:
            return place
    raise ValueError(f"configuration {number} has no head: {' '.join(row)}")
