"""One word of a tape that turns around as a program: what should be said after configurations. Written by a person.

A configuration is a word for each of m cells: `_` where the head has never been and no word of the tape is, a symbol, or the
head's cell, the letter of its state and the symbol in it. `|` ends each, but `:` the first, after `<s>`. So a cell stands m + 1
tokens after what it was one step before. It depends on that and on the two beside it: a head leaves its symbol after, and if it
leaves to here, this becomes its cell; else a cell stays as it is. Where the head would leave the space OUT is said, and HALT after
the `|` of a configuration whose state has no row.
"""

from __future__ import annotations

from dataclasses import dataclass

from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    Count,
    If,
    IsNumber,
    Matching,
    NumberOf,
    Say,
    SayNumber,
    Term,
    as_term,
)
from constructions.turing.configurations import (
    BLANK,
    CELL,
    HALT,
    HALTED,
    HEAD,
    OUTSIDE,
    RUN,
    START,
    TURN,
    AnyTextTask,
    Code,
)
from constructions.turing.machine import RIGHT, Rule
from verify.automata.token_automaton import Label
from verify.dossiers.turing.configurations import BEFORE_HEAD, BEHIND_HEAD, FIRST_HEAD, LAST_TURN
from verify.programs.shorthand import back, equal, word

HAS_HALTED = Count(Matching(((as_term(IsNumber(HALTED)), ONE),)))
HAS_BEGUN = Count(Matching(((word(RUN), ONE),)))


def definition(task: AnyTextTask, label: Label) -> Answer | None:
    """Returns what should be said in this state of a text of `verify.dossiers.turing.configurations`; None in the prompt."""
    if label.part in (START, FIRST_HEAD) or label.case in (BEFORE_HEAD, BEHIND_HEAD):
        return None
    later = Later(Code(task.machine), task.cells - 1).said
    return If(as_term(Above(as_term(HAS_HALTED))), Say(HALT), later) if label.part in (TURN, LAST_TURN) else later


def leaving(code: Code) -> Term:
    """Returns what leaves the queue by its invariant: after the prompt a token's digit. Nothing stands after OUT."""
    numbers = (as_term(NumberOf(kind)) for kind in (CELL, HEAD, HALTED))
    digit = sum(numbers, as_term(IsNumber(TURN)) * code.turn)
    return as_term(HAS_BEGUN) * digit


@dataclass(frozen=True)
class Later:
    """What a cell is one step later. steps: so far back is the cell on its right, the cell one more, that on its left two more."""

    code: Code
    steps: int = 0

    def is_a(self, kind: str, at: int) -> Term:
        """Returns whether a token is a digit of this kind, or this word."""
        bit = word(kind) if kind in (START, RUN) else as_term(IsNumber(kind))
        return back(bit, at) if at else bit

    def digit(self, kind: str, at: int) -> Term:
        """Returns the digit of a token of this kind, else 0."""
        number = as_term(NumberOf(kind))
        return back(number, at) if at else number

    @property
    def said(self) -> Answer:
        """The word for it."""
        here, heads = self.steps + 1, [(as_term(head), self.leaves(rule)) for head, rule in self.heads]
        bar = SayNumber(as_term(self.code.turn), TURN)
        head = heads[-1][1]
        for digit, leaves in reversed(heads[:-1]):
            head = If(equal(self.digit(HEAD, here), digit), leaves, head)
        cell: Answer = SayNumber(self.digit(HALTED, here), HALTED)
        kinds: dict[str, Answer] = {RUN: bar, TURN: bar, BLANK: self.comes(BLANK), CELL: self.comes(CELL), HEAD: head}
        for kind, answer in reversed(kinds.items()):
            cell = If(self.is_a(kind, here), answer, cell)
        return cell

    @property
    def heads(self) -> list[tuple[int, Rule]]:
        """The digit of each state and symbol, and its rule."""
        machine, first = self.code.machine, self.code.first_head
        pairs = ((letter, symbol) for letter in machine.states for symbol in range(machine.symbols))
        return [(first + i, machine.rule(*pair)) for i, pair in enumerate(pairs)]

    def leaves(self, rule: Rule) -> Answer:
        """Says the head's cell: the symbol that it leaves behind, unless it leaves the space."""
        beside = self.steps + (0 if rule.move == RIGHT else 2)
        answer: Answer = SayNumber(as_term(1 + rule.write), CELL)
        for edge in (START, RUN, TURN):
            answer = If(self.is_a(edge, beside), SayNumber(as_term(self.code.outside), OUTSIDE), answer)
        return answer

    def comes(self, kind: str) -> Answer:
        """Says a cell without the head: that with the head, if one comes to it from the left or from the right."""
        same = self.digit(CELL, self.steps + 1) if kind == CELL else ZERO
        symbol = same - 1 if kind == CELL else ZERO
        answer: Answer = SayNumber(same, kind)
        for head, rule in reversed(self.heads):
            beside = self.steps + (2 if rule.move == RIGHT else 0)
            number = symbol + self.code.first_head + self.code.machine.symbols * self.code.letters.index(rule.state)
            arrived = SayNumber(number, HEAD if rule.state in self.code.machine.states else HALTED)
            answer = If(equal(self.digit(HEAD, beside), as_term(head)), arrived, answer)
        return answer
