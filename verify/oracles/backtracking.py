"""How many steps a backtracking matcher takes for a search. Python's `re` is such a matcher.

Python's own parser takes the pattern apart. A step is one instruction: to read a character, to look at a place, or to choose
between two ways, of which the second one is tried if the first fails. Where no match begins, the next character is tried.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

PARSER: Any = importlib.import_module("re._parser")
Instruction: TypeAlias = "tuple[Any, ...]"
CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


@dataclass
class PatternProgram:
    """A pattern as instructions. It ends with "match", and so does each part that is looked for apart."""

    code: list[Instruction] = field(default_factory=list)

    def write(self, items: Sequence[tuple[Any, Any]]) -> None:
        """Adds the instructions of a part."""
        for op, argument in items:
            self._item(str(op), argument)

    def _item(self, op: str, argument: Any) -> None:
        if op in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            self.code.append(("char", _test(op, argument)))
        elif op == "AT":
            self.code.append(("at", str(argument)))
        elif op == "SUBPATTERN":
            group, _, _, body = argument
            self._write_between(body, ("open", group), ("close", group))
        elif op == "BRANCH":
            self._branch(argument[1])
        elif op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, body = argument
            self._repeat(least, most, body, lazy=op == "MIN_REPEAT")
        elif op in ("ASSERT", "ASSERT_NOT", "ATOMIC_GROUP"):
            self._apart(op, argument)
        else:
            raise ValueError(f"no steps are known of {op}")

    def _write_between(self, body: Any, before: Instruction, behind: Instruction) -> None:
        self.code.append(before)
        self.write(body)
        self.code.append(behind)

    def _branch(self, ways: Sequence[Any]) -> None:
        ends = []
        for way in ways[:-1]:
            split = self._hold()
            self.write(way)
            ends.append(self._hold())
            self.code[split] = ("split", split + 1, len(self.code))
        self.write(ways[-1])
        for end in ends:
            self.code[end] = ("jump", len(self.code))

    def _repeat(self, least: int, most: Any, body: Any, lazy: bool) -> None:
        for _ in range(least):
            self.write(body)
        if str(most) == "MAXREPEAT":
            split = self._hold()
            self.write(body)
            self.code.append(("jump", split))
            ways = (split + 1, len(self.code))
            self.code[split] = ("split", *(ways[::-1] if lazy else ways))
        elif most > least:
            raise ValueError("no steps are known of a bounded repetition")

    def _apart(self, op: str, argument: Any) -> None:
        back, body = (0, argument) if op == "ATOMIC_GROUP" else argument
        width = body.getwidth()[0] if back < 0 else 0
        here = self._hold()
        self.write(body)
        self.code.append(("match",))
        self.code[here] = ("apart", op, width, len(self.code))

    def _hold(self) -> int:
        self.code.append(("jump", -1))
        return len(self.code) - 1


@dataclass
class Matcher:
    """A search of a text; steps: how many were taken so far."""

    pattern: str
    text: str
    steps: int = 0

    def search(self) -> str | None:
        """Returns the text of group 1 of the first match, or None."""
        program = PatternProgram()
        program.write(PARSER.parse(self.pattern))
        program.code.append(("match",))
        for start in range(len(self.text) + 1):
            if (found := self._run(program.code, 0, start, {})) is not None:
                _, groups = found
                return self.text[slice(*groups[1])] if 1 in groups else None
        return None

    def _run(
        self, code: list[Instruction], start: int, place: int, groups: dict[int, tuple[int, int]]
    ) -> tuple[int, dict[int, tuple[int, int]]] | None:
        """Returns where the match ends that begins here, and its groups; None if there is none."""
        waiting = [(start, place, groups)]
        while waiting:
            at, place, groups = waiting.pop()
            while True:
                self.steps += 1
                op, *rest = code[at]
                at += 1
                if op == "char":
                    if place == len(self.text) or not rest[0](self.text[place]):
                        break
                    place += 1
                elif op == "split":
                    waiting.append((rest[1], place, groups))
                    at = rest[0]
                elif op == "jump":
                    at = rest[0]
                elif op == "open":
                    groups = {**groups, -(rest[0] or 0): (place, place)}
                elif op == "close":
                    if rest[0]:
                        groups = {**groups, rest[0]: (groups[-rest[0]][0], place)}
                elif op == "at":
                    if not self._is_at(rest[0], place):
                        break
                elif op == "apart":
                    kind, width, behind = rest
                    found = self._run(code, at, place - width, groups) if place >= width else None
                    if (found is None) != (kind == "ASSERT_NOT"):
                        break
                    if found is not None and kind != "ASSERT_NOT":
                        end, groups = found
                        place = end if kind == "ATOMIC_GROUP" else place
                    at = behind
                else:
                    return place, groups
        return None

    def _is_at(self, name: str, place: int) -> bool:
        if name == "AT_BEGINNING":
            return place == 0
        if name == "AT_END":
            return self.text[place:] in ("", "\n")
        if name == "AT_BOUNDARY":
            return self._is_word(place - 1) != self._is_word(place)
        raise ValueError(f"no steps are known of {name}")

    def _is_word(self, place: int) -> bool:
        return 0 <= place < len(self.text) and CATEGORIES["CATEGORY_WORD"](self.text[place])


def _test(op: str, argument: Any) -> Callable[[str], bool]:
    if op == "LITERAL":
        return chr(argument).__eq__
    if op == "NOT_LITERAL":
        return chr(argument).__ne__
    if op == "ANY":
        return "\n".__ne__
    kinds = [(str(kind), value) for kind, value in argument]
    negated = kinds[0][0] == "NEGATE"
    allowed = "".join(chr(value) for kind, value in kinds if kind == "LITERAL")
    tests = [CATEGORIES[str(value)] for kind, value in kinds if kind == "CATEGORY"]
    ranges = [value for kind, value in kinds if kind == "RANGE"]

    def test(char: str) -> bool:
        within = any(low <= ord(char) <= high for low, high in ranges)
        return (char in allowed or within or any(some(char) for some in tests)) != negated

    return test


def steps(pattern: str, text: str) -> tuple[int, str | None]:
    """Returns how many steps the search takes, and what it finds. Raises re.error, ValueError for what is not known here."""
    re.compile(pattern)
    matcher = Matcher(pattern, text)
    found = matcher.search()
    return matcher.steps, found
