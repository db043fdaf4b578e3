"""A regular expression as instructions, by Python's own parser and the documented meaning of a pattern's parts.

A numeral of any length is written in letters that are digits: `NUMERALS` stand for two numbers, `OTHER` for any other one. In a
text each digit of such a number's numeral is its letter, and the digits that are no numeral's are none of these. In a pattern the
letter is the numeral, written once. So a letter of a pattern matches all digits of a numeral in a text; and no pattern has a
meaning here that might match a part of one there, or that tells digits apart.

A number of repetitions that is not told, K, is written `COUNT`, K + 1 as one more, and so on: the parser reads each number below
`MOST_REPEATED` alike.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from verify.patterns.tally import NEAR

NUMERALS, OTHER = ("\N{ARABIC-INDIC DIGIT ONE}", "\N{DEVANAGARI DIGIT TWO}"), "\N{THAI DIGIT THREE}"
DIGITS = (*NUMERALS, OTHER, *"0123456789")
PARSER: Any = importlib.import_module("re._parser")
COUNT, MOST_REPEATED = 10**9, int(PARSER.MAXREPEAT) - 1  # more than that `re` refuses to repeat
GROUP = 1  # what a search returns
CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}
Test: TypeAlias = "Callable[[str], bool]"
Items: TypeAlias = "Sequence[tuple[Any, Any]]"  # of a parse tree


@dataclass(frozen=True)
class Instruction:
    """One of: go on to the instructions `to`, the first one first; read a character; open the group, or close it if −1; hold at
    such places; hold where what starts at the instruction `looks` follows, or stands before; end what started at `ends`; begin
    an atomic group, or end it if −1; begin K + `repeats` repetitions; begin one of them, or if none is left go on to `over`.
    """

    to: tuple[int, ...] = ()
    reads: Test | None = None
    group: int = 0
    at: str = ""
    looks: int = 0
    ends: int = -1
    atomic: int = 0
    repeats: int | None = None
    over: int = 0


@dataclass
class Pattern:
    """Instructions, the first of them at 0; made by `pattern`."""

    code: list[Instruction] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)  # where what shall stand before begins
    ahead: list[int] = field(default_factory=list)  # and what shall follow
    _looks: bool = False  # whether such a part is being written
    _atomic: bool = False  # and whether one of an atomic group is, or of a number of repetitions
    _repeats: bool = False

    def write(self, items: Items, left: bool, right: bool) -> None:
        """Writes the instructions of a sequence. left, right: whether a numeral that stands there begins and ends with it."""
        for i, (op, argument) in enumerate(items):
            before, behind = [*items[:i]][::-1], [*items[i + 1 :]]
            self._item(str(op), argument, _delimits(before, left), _delimits(behind, right))

    def _item(self, op: str, argument: Any, left: bool, right: bool) -> None:
        if op == "LITERAL" and chr(argument) in NUMERALS:
            if not (left and right):
                raise ValueError("the pattern may match a part of a numeral")
            here = self._add(Instruction(reads=chr(argument).__eq__))
            self._add(Instruction(to=(here, here + 2)))
        elif (test := _single(op, argument)) is not None:
            if len(set(map(test, DIGITS))) > 1:
                raise ValueError("the pattern tells digits apart")
            self._add(Instruction(reads=test))
        elif op == "AT":
            self._add(Instruction(at=str(argument)))
        elif op == "SUBPATTERN" and not argument[1] and not argument[2] and not (self._looks and argument[0] == GROUP):
            self._add(Instruction(group=int(argument[0] == GROUP)))
            self.write(argument[3], left, right)
            self._add(Instruction(group=-int(argument[0] == GROUP)))
        elif op == "ATOMIC_GROUP" and not self._looks and not self._atomic:
            self._atomic = True
            self._add(Instruction(atomic=1))
            self.write(argument, left, right)
            self._add(Instruction(atomic=-1))
            self._atomic = False
        elif op == "BRANCH":
            self._branch(argument[1], left, right)
        elif op in ("MAX_REPEAT", "MIN_REPEAT"):
            self._repeat(argument[0], argument[1], argument[2], lazy=op == "MIN_REPEAT")
        elif op == "ASSERT" and not self._looks:
            self._look(argument[1], argument[0] < 0, left)
        else:
            raise ValueError(f"no meaning of {op} in a pattern")

    def _branch(self, ways: Sequence[Items], left: bool, right: bool) -> None:
        fork, ends, starts = self._add(Instruction()), [], []
        for way in ways:
            starts.append(len(self.code))
            self.write(way, left, right)
            ends.append(self._add(Instruction()))
        self.code[fork] = Instruction(to=tuple(starts))
        for end in ends:
            self.code[end] = Instruction(to=(len(self.code),))

    def _repeat(self, least: int, most: Any, body: Items, lazy: bool) -> None:
        if body.getwidth()[0] == 0:  # type: ignore[attr-defined]
            raise ValueError("the pattern repeats what may be empty")
        if least == most and abs(least - COUNT) < NEAR:
            self._count(body, least - COUNT)
            return
        endless = str(most) == "MAXREPEAT"
        if least > COUNT - NEAR or (most > least and not endless):
            raise ValueError("no meaning of a bounded repetition, or of a number and more")
        for _ in range(least):
            self.write(body, False, False)
        if not endless:
            return
        fork = self._add(Instruction())
        self.write(body, False, False)
        self._add(Instruction(to=(fork,)))
        further = (fork + 1, len(self.code))
        self.code[fork] = Instruction(to=further[::-1] if lazy else further)

    def _count(self, body: Items, more: int) -> None:
        """Writes K and so many more repetitions: greedy or lazy, there is one way."""
        if self._looks or self._repeats:
            raise ValueError("the pattern counts within what it counts or looks for")
        self._repeats = True
        self._add(Instruction(repeats=more))
        begin = self._add(Instruction())
        self.write(body, False, False)
        self._add(Instruction(to=(begin,)))
        self.code[begin] = Instruction(over=len(self.code))
        self._repeats = False

    def _look(self, body: Items, back: bool, left: bool) -> None:
        start = self._add(Instruction(looks=len(self.code) + 2)) + 2
        over = self._add(Instruction())
        (self.behind if back else self.ahead).append(start)
        self._looks = True
        self.write(body, left and not back, False)
        self._looks = False
        self._add(Instruction(ends=start))
        self.code[over] = Instruction(to=(len(self.code),))

    def _add(self, instruction: Instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1


def pattern(text: str) -> Pattern:
    """Parses a text as a pattern, by Python's own parser. Raises ValueError for what has no meaning here."""
    tree = PARSER.parse(text)
    if tree.state.flags & ~(re.VERBOSE | re.UNICODE):
        raise ValueError("no meaning of such flags of a pattern")
    program = Pattern()
    program.write(tree, False, False)
    program._add(Instruction(ends=0))
    return program


def _single(op: str, argument: Any) -> Test | None:
    """Returns the test of a character, if the operator reads one."""
    if op == "LITERAL":
        return chr(argument).__eq__
    if op == "NOT_LITERAL":
        return chr(argument).__ne__
    if op == "ANY":
        return "\n".__ne__
    if op != "IN":
        return None
    tests, negated = [_set_test(str(kind), value) for kind, value in argument], str(argument[0][0]) == "NEGATE"
    return lambda char: any(test(char) for test in tests) != negated


def _set_test(kind: str, value: Any) -> Test:
    if kind == "NEGATE":
        return lambda char: False
    if kind == "LITERAL":
        return chr(value).__eq__
    if kind == "RANGE":
        return lambda char: value[0] <= ord(char) <= value[1]
    if kind == "CATEGORY" and str(value) in CATEGORIES:
        return CATEGORIES[str(value)]
    raise ValueError(f"no meaning of {value} in a set of characters")


def _delimits(items: Items, at_end: bool) -> bool:
    """Returns whether a numeral ends where these stand behind it, or begins where they stand before it, the nearest first.

    at_end: the same where there are no more of them.
    """
    for op, argument in items:
        if str(op) == "AT":
            return str(argument) == "AT_BOUNDARY"
        least, _, body = argument if str(op) in ("MAX_REPEAT", "MIN_REPEAT") else (1, 1, [(op, argument)])
        test = _single(str(body[0][0]), body[0][1]) if len(body) == 1 else None
        if test is None or any(map(test, DIGITS)):
            return False
        if least:
            return True
    return at_end
