"""The text that Theorem 5.4 prints for a Turing machine, written by a plain simulation, and the records that one reads in it.

Source: section 5.4 and Lemma C.31. Words: the input's cells, each as i, x, i; then for each step the search and what it found, and
P, the digit written at P, P, the new state, the direction. Cells, digits and states are numbers from 1 on, as printed; the search's
pattern counts as one word.
"""

from __future__ import annotations

from collections.abc import Iterator

from constructions.turing.machine import LETTERS, parse_standard
from constructions.turing.simulator import steps

SEARCH = ("<StartSearch>", "pattern", "<EndSearch>")
EMPTY = "FAILED"


def cell_word(cell: int, own_words: bool) -> str:
    """The word for a cell. own_words: cells have words that nothing else has, instead of the numbers as they are."""
    return f"#{cell}" if own_words else str(cell)


def moments(machine: str, tape: str, limit: int, own_words: bool) -> Iterator[tuple[list[str], str, str]]:
    """Before each step: the text so far, a list that grows; the word of the head's cell; what it holds, EMPTY if nothing."""
    cells = {i: str(int(digit) + 1) for i, digit in enumerate(tape, 1)}
    words = ["<s>", *cells.values()]
    for i, digit in cells.items():
        words += [*SEARCH, digit, cell_word(i, own_words), digit, cell_word(i, own_words)]
    for step in steps(parse_standard(machine), tape, limit):
        cell, place = step.head + 1, cell_word(step.head + 1, own_words)
        found = cells.get(cell, EMPTY)
        yield words, place, found
        cells[cell] = str(step.written + 1)
        words += [*SEARCH, found, place, cells[cell], place, str(LETTERS.index(step.next_state) + 1), str(step.move)]


def last_record(words: list[str], place: str) -> str:
    """The x of the last three words place, x, place; EMPTY if there are none."""
    for i in range(len(words) - 3, -1, -1):
        if words[i] == words[i + 2] == place:
            return words[i + 1]
    return EMPTY
