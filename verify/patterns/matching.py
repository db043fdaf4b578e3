"""What `re.search` finds in texts of any length: a pattern as an automaton that reads them character by character.

`re.search` tries starts from left to right, and at each the ways in which the pattern can go on, in their order: a greedy
repetition goes round once more first, a lazy one goes on first, of alternatives the first comes first. The first way that leads
to the pattern's end is the match. So it is enough to keep, at each character, where the ways stand that are still open, in this
order: of two that stand at one instruction, the later one never matters. What shall stand before a character is looked for on the
way. What shall follow is guessed where it is asked for, and a guess that turns out wrong ends its branch; one of them is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from verify.patterns.pattern import Pattern

NO_GROUP, OPEN, OPEN_ELSEWHERE, FOUND, FOUND_ELSEWHERE = range(
    5
)  # what a way has of the group: the marked word, or something else


@dataclass(frozen=True)
class Open:
    """What is open behind some characters. before: the last of them, "w" for one of a word, " " for any other one.

    ways: where they stand, and what each has of the group. match: what the match has, unless an earlier way becomes one; None if
    there is none yet. behind: where what shall stand before later characters is. due: where what is guessed to follow is, each a
    set of which one is to end; barred: what is guessed not to.
    """

    before: str = ""
    ways: tuple[tuple[int, int], ...] = ()
    match: int | None = None
    behind: frozenset[int] = frozenset()
    due: frozenset[frozenset[int]] = frozenset()
    barred: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Here:
    """A place between two characters. char: the next one, empty at the end. starts, ends: whether the marked word does."""

    before: str
    char: str
    starts: bool
    ends: bool
    holds: Mapping[int, bool]  # what is asked to stand before or behind it, by where its instructions begin

    def at(self, where: str) -> bool:
        """Whether an assertion holds."""
        if where in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            return not self.before
        if where in ("AT_END", "AT_END_STRING"):
            return not self.char
        if where == "AT_BOUNDARY":
            return (self.before == "w") != (kind(self.char) == "w")
        raise ValueError(f"no meaning of {where} in a pattern")


def kind(char: str) -> str:
    """What of a character matters to those behind it."""
    return "w" if char.isalnum() or char == "_" else char and " "


def further(pattern: Pattern, now: Open, char: str, *, starts: bool = False, ends: bool = False) -> Iterator[Open]:
    """Behind one more character, or at the end if it is empty, for each guess that is not yet wrong.

    starts, ends: whether the marked word does, before this character. No line ends in a text.
    """
    place = Here(now.before, char, starts, ends, {})
    behind = [i for i, _ in _reached(pattern, _bare(now.behind.union(pattern.behind)), place, set())]
    held = {i: any(pattern.code[j].ends == i for j in behind) for i in pattern.behind}
    for guess in itertools.product((False, True), repeat=len(pattern.ahead)):
        guessed = dict(zip(pattern.ahead, guess, strict=True))
        here, asked = replace(place, holds=held | guessed), set[int]()
        ways, match = now.ways, now.match
        if match is None:
            ways = (*ways, (0, NO_GROUP))
        open_ways = []
        for i, group in _reached(pattern, ways, here, asked):
            if pattern.code[i].ends == 0:
                match = group
                break
            open_ways.append((i, group))
        if not asked >= {i for i in guessed if guessed[i]}:
            continue  # the same as not to guess so
        new = asked.intersection(guessed)
        due = _due(pattern, now.due.union(frozenset([i]) for i in new if guessed[i]), place)
        barred = [
            i for i, _ in _reached(pattern, _bare(now.barred.union(i for i in new if not guessed[i])), place, set())
        ]
        if due is not None and not any(pattern.code[i].ends >= 0 for i in barred):
            read = tuple((i + 1, group) for i, group in open_ways if _reads(pattern, i, char))
            yield Open(kind(char), read, match, _read(pattern, behind, char), due, _read(pattern, barred, char))


def _due(pattern: Pattern, before: Iterable[frozenset[int]], here: Here) -> frozenset[frozenset[int]] | None:
    """What is due behind the character, without what has ended; None if something can end no more."""
    left = set[frozenset[int]]()
    for each in before:
        reached = [i for i, _ in _reached(pattern, _bare(each), here, set())]
        if not any(pattern.code[i].ends >= 0 for i in reached):
            left.add(_read(pattern, reached, here.char))
    return None if frozenset() in left else frozenset(left)


def _reached(
    pattern: Pattern, ways: Iterable[tuple[int, int]], here: Here, asked: set[int]
) -> Iterator[tuple[int, int]]:
    """The instructions, in order, that ways come to before a character is read: those that read one, and those that end something.

    asked: gets what is asked to stand before or behind.
    """
    pending, seen = [*ways][::-1], set[int]()
    while pending:
        i, group = pending.pop()
        if i in seen:
            continue
        seen.add(i)
        found = pattern.code[i]
        if found.reads or found.ends >= 0:
            yield i, group
        elif found.to:
            pending += [(j, group) for j in reversed(found.to)]
        elif found.group:
            here_too = (here.starts, OPEN) if found.group > 0 else (here.ends and group == OPEN, FOUND)
            pending.append((i + 1, here_too[1] if here_too[0] else here_too[1] + 1))
        elif found.looks:
            asked.add(found.looks)
            if here.holds[found.looks]:
                pending.append((i + 1, group))
        elif not found.at or here.at(found.at):
            pending.append((i + 1, group))


def _bare(instructions: Iterable[int]) -> list[tuple[int, int]]:
    return [(i, NO_GROUP) for i in instructions]


def _reads(pattern: Pattern, i: int, char: str) -> bool:
    reads = pattern.code[i].reads
    return bool(char) and reads is not None and reads(char)


def _read(pattern: Pattern, instructions: Iterable[int], char: str) -> frozenset[int]:
    return frozenset(i + 1 for i in instructions if _reads(pattern, i, char))
