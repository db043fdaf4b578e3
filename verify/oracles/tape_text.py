"""The text that Theorem 5.4 prints for a Turing machine, written by a plain simulation, and the records that one reads in it.

Source: section 5.4 and Lemma C.31. Words: the input's symbols; a record i, x, i of each of them; then for each step the search and
its result, and P, the symbol written at P, P, the new state, the direction. Cells are numbers, from 1 on for the input's. A symbol
is a word of its own of one character, as the paper says: "all the symbols on the tape are represented by one special symbol in the
vocabulary". It does not say how states and directions are spelled: as numbers, or as words of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from constructions.turing.machine import LETTERS, parse_standard
from constructions.turing.simulator import steps

START, END = "<StartSearch>", "<EndSearch>"
EMPTY = "FAILED"


def symbol(digit: int) -> str:
    """Returns the word for a symbol of the tape."""
    return ascii_lowercase[digit]


def moments(machine: str, tape: str, limit: int, numbers: bool) -> Iterator[tuple[list[str], str, str]]:
    """Yields before each step: the growing text so far; the word of the head's cell; what it holds, EMPTY if nothing.

    numbers: states are 1, 2, … and directions −1, 1; else they have words of their own.
    """
    cells = {i: symbol(int(digit)) for i, digit in enumerate(tape, 1)}
    words = ["<s>", *cells.values()]
    for i, held in cells.items():
        words += [START, rf"^(?:\S\s*).{{{i}}}(\S)", END, held, str(i), held, str(i)]
    for step in steps(parse_standard(machine), tape, limit):
        cell = step.head + 1
        place, found = str(cell), cells.get(cell, EMPTY)
        yield words, place, found
        cells[cell] = symbol(step.written)
        state = str(LETTERS.index(step.next_state) + 1) if numbers else f"state-{step.next_state}"
        direction = str(step.move) if numbers else "right" if step.move > 0 else "left"
        search = (START, place, "(.)", place, ".*?$", END)
        words += [*search, found, place, cells[cell], place, state, direction]


def last_record(words: list[str], place: str) -> str:
    """Returns the x of the last three words place, x, place of which x is a symbol; EMPTY if there are none."""
    for i in range(len(words) - 3, -1, -1):
        if words[i] == words[i + 2] == place and words[i + 1] in ascii_lowercase:
            return words[i + 1]
    return EMPTY
