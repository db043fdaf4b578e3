"""One word of a Turing machine's run as a program: what should be said after a text of its steps. Written by a person.

A step is five words, `@0 1 @0 B →`: in cell 0 the machine writes 1, goes on in state B, to the right. The head is in the cell where
the directions so far have led it from cell 0. What it reads is the symbol of the last step there, else that of the word, else the
blank, 0. A state is a number from 0 on, and halts if the machine has no row for it.

Of a model that searches, a step begins with the search for the head's cell, and what it reads is what was found, whatever that is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Answer,
    Atom,
    Back,
    Count,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    NumberOf,
    Pick,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)
from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.turing.base import HALT
from constructions.turing.machine import LETTERS, RIGHT, Rule
from constructions.turing.rag import PLACE, tape_search
from constructions.turing.tape_models import CELL, STATE, SYMBOL, TO_LEFT, TO_RIGHT, AnyTapeTask
from verify.automata.token_automaton import Label
from verify.dossiers.turing.tapes import COPY, LAST, LAST_COPY, STEP
from verify.programs.shorthand import equal, let, read_match

RIGHTWARD, LEFTWARD = IsWord(TO_RIGHT), IsWord(TO_LEFT)
WORDS = 5  # of a step


def definition(task: AnyTapeTask, model: str, label: Label) -> Answer | None:
    """Returns what should be said in this state of a text of `verify.dossiers.turing.tapes`; None where a search is carried out."""
    if model == "hybrid":
        step = MachineStep(task)
    else:
        step = SearchedStep(task)
        if label.part in (COPY, LAST_COPY):
            return step.copies(label.number)
    if label.part == LAST:
        return step.says(WORDS - 1 if label.which == STATE else WORDS)
    return step.says(label.number - step.searched) if label.part == STEP else step.begins


def found(task: AnyTapeTask, label: Label) -> Answer:
    """Returns what the search finds that ends in this state."""
    step = SearchedStep(task)
    return step.finds(step.in_cell if label.part == STEP else step.in_word)


def _back(a: Atom, steps: int) -> Term:
    return as_term(Read(as_term(a), Back(steps)))


@dataclass(frozen=True)
class MachineStep:
    """What the machine says. A record of a cell stands at each direction, and at each symbol of the word."""

    task: AnyTapeTask
    searched: ClassVar[int] = 0  # words of a step in front of the five

    @property
    def head(self) -> Term:
        """The cell where the head is."""
        moves = (as_term(Count(Matching(((as_term(arrow), ONE),)))) for arrow in (RIGHTWARD, LEFTWARD))
        return let("pointer", next(moves) - next(moves))

    @property
    def from_one(self) -> int:
        """Returns what cells are counted with, so that the first one is number 1."""
        return 1 - self.task.ends[0]

    @property
    def place(self) -> Term:
        """The number of a record's cell, from 1 on; 0 at what is no record."""
        in_word = as_term(IsNumber(SYMBOL)) * (ONE - _back(IsNumber(CELL), 1))
        step = (as_term(RIGHTWARD) + as_term(LEFTWARD)) * (_back(NumberOf(CELL), 2) + self.from_one)
        return let("place", in_word * (as_term(POSITION) - 2 + self.from_one) + step)

    @property
    def left(self) -> Term:
        """The symbol that a record leaves in its cell."""
        in_word = as_term(IsNumber(SYMBOL)) * (ONE - _back(IsNumber(CELL), 1))
        arrows = as_term(RIGHTWARD) + as_term(LEFTWARD)
        return let("left", in_word * as_term(NumberOf(SYMBOL)) + arrows * _back(NumberOf(SYMBOL), 3))

    def read(self, written: int) -> Term:
        """Returns the symbol under the head, before the step of which so many words are written."""
        here = Matching(((self.place, self.head + self.from_one),))
        return as_term(Read(self.left, Pick(here, last=True)))

    def rule(self, written: int, say: Callable[[Rule], Answer]) -> Answer:
        """Returns what the rule says that applies."""
        machine, state = self.task.machine, _back(NumberOf(STATE), self.searched + written + 1)
        symbol_read = self.read(written)
        by_state = [
            _by_cases(symbol_read, [say(machine.rule(letter, symbol)) for symbol in range(machine.symbols)])
            for letter in machine.states
        ]
        return _by_cases(state, by_state)

    @property
    def begins(self) -> Answer:
        """The first word of a step."""
        return self.to_head

    @property
    def to_head(self) -> Answer:
        """The cell of the head."""
        return SayNumber(self.head, CELL)

    @property
    def again(self) -> Answer:
        """The cell for the second time."""
        return self.to_head

    def says(self, written: int) -> Answer | None:
        """Returns the next word after so many of the five words of a step. After all of them another step begins."""
        if written == 1:
            return self.rule(written, lambda rule: SayNumber(as_term(rule.write), SYMBOL))
        if written == 2:
            return self.again
        if written == 3:
            return self.rule(written, lambda rule: SayNumber(as_term(LETTERS.index(rule.state)), STATE))
        if written == 4:
            return self.rule(written, lambda rule: Say(TO_RIGHT if rule.move == RIGHT else TO_LEFT))
        no_row = as_term(Above(_back(NumberOf(STATE), 1) - (len(self.task.machine.rows) - 1)))
        return If(no_row, Say(HALT), self.begins)


class SearchedStep(MachineStep):
    """Of a machine that finds what it reads by a search: eight words in front of the five, the last of them what was found."""

    searched = 8

    @property
    def begins(self) -> Answer:
        return Say(START_SEARCH)

    def read(self, written: int) -> Term:
        """Returns what was found; FAILED is no symbol, so 0."""
        return _back(NumberOf(SYMBOL), written)

    @property
    def again(self) -> Answer:
        return SayNumber(_back(NumberOf(CELL), 1), CELL)

    @property
    def record(self) -> Term:
        """Returns whether a cell, a symbol and a cell end here."""
        cell, symbol = IsNumber(CELL), IsNumber(SYMBOL)
        return let("record", as_term(cell) * _back(symbol, 1) * _back(cell, 2))

    @property
    def in_cell(self) -> Term:
        """Returns, at the end of the search for a cell, 1 more than the symbol of its last record; 0 if there is none."""
        cell, value = _back(NumberOf(CELL), 2), self.record * (_back(NumberOf(SYMBOL), 1) + 1)
        of_cell = ((as_term(NumberOf(CELL)), cell), (_back(NumberOf(CELL), 2), cell))
        return read_match(value, (self.record, ONE), *of_cell, last=True)

    @property
    def of_word(self) -> Term:
        """Returns whether a symbol of the word stands here: one that is neither in a cell nor found."""
        return let(
            "of_word", as_term(IsNumber(SYMBOL)) * (ONE - _back(IsNumber(CELL), 1) - _back(IsWord(END_SEARCH), 1))
        )

    @property
    def in_word(self) -> Term:
        """Returns, at the end of the search for a place of the word, 1 more than the symbol there; 0 if the word ends before."""
        here = (as_term(POSITION) - 1, _back(NumberOf(PLACE), 1) + 1)
        return read_match(as_term(IsNumber(SYMBOL)) * (as_term(NumberOf(SYMBOL)) + 1), (self.of_word, ONE), here)

    def finds(self, result: Term) -> Answer:
        """Returns the result of a search. result: `in_cell` or `in_word`."""
        return If(equal(result, ZERO), Say(FAILED), SayNumber(result - 1, SYMBOL))

    def says(self, written: int) -> Answer | None:
        if written > 0:
            return super().says(written)
        search = tape_search(frozenset())
        first = (
            Say(search.before),
            self.to_head,
            Say(search.between),
            self.to_head,
            Say(search.behind),
            Say(END_SEARCH),
        )
        return (*first, None, self.to_head)[self.searched + written - 1]

    @property
    def to_place(self) -> Answer:
        """The place to copy: the first, or the one after the cell that was copied."""
        return SayNumber(_back(NumberOf(CELL), 1) + _back(IsNumber(CELL), 1), PLACE)

    def copies(self, written: int) -> Answer | None:
        """Returns the next word after so many words of a copy of one cell; the last copy ends with FAILED, and a step begins."""
        cell = If(as_term(IsWord(FAILED)), Say(START_SEARCH), SayNumber(_back(NumberOf(PLACE), 2), CELL))
        symbol = SayNumber(_back(NumberOf(SYMBOL), 1), SYMBOL)
        return (self.to_place, Say(END_SEARCH), None, cell, symbol, self.again, Say(START_SEARCH))[written - 1]


def _by_cases(value: Term, answers: list[Answer]) -> Answer:
    """Returns the first answer where the value is 0, the second where it is 1, and so on."""
    *others, answer = answers
    for i, one in reversed(list(enumerate(others))):
        answer = If(as_term(Equal(value, Fraction(i))), one, answer)
    return answer
