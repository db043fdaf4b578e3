"""What `re.search` finds in texts of any length: a pattern as an automaton that reads them character by character.

`re.search` tries starts from left to right, and at each the ways in which the pattern can go on, in their order: a greedy
repetition goes round once more first, a lazy one goes on first, of alternatives the first comes first. The first way that leads
to the pattern's end is the match. So it is enough to keep, at each character, where the ways stand that are still open, in this
order: of two that stand at one instruction, the later one never matters. What shall stand before a character is looked for on the
way. What shall follow is guessed where it is asked for, and a guess that turns out wrong ends its branch; one of them is right.

The first way that leads to an atomic group's end ends the later ones that have come into it at the same place. How many repetitions
remain is kept as how many more these are than what is left to be counted (`tally`), which is the same for all ways.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from verify.patterns.pattern import Pattern
from verify.patterns.tally import Tally

NO_GROUP, OPEN, OPEN_ELSEWHERE, FOUND, FOUND_ELSEWHERE = range(
    5
)  # what a way has of the group: the marked word, or something else
NOTHING_COUNTED = Tally()
MOST_ENTRIES = 8  # into atomic groups, that are open at once


class Way(NamedTuple):
    """at: its instruction. group: what it has of the group. more: how many more repetitions remain than are left to be counted.

    entry: which of the entries into an atomic group it has come in by, in the order of ways; 0 outside.
    """

    at: int
    group: int = NO_GROUP
    more: int | None = None
    entry: int = 0


@dataclass(frozen=True)
class Open:
    """What is open after some characters. before: the last of them, "w" for one of a word, " " for any other one.

    ways: those that are open, the first one first. match: what the match has, unless an earlier way becomes one; None if
    there is none yet. behind: where what shall stand before later characters is. due: where what is guessed to follow is, each a
    set of which one is to end; barred: what is guessed not to.
    """

    before: str = ""
    ways: tuple[Way, ...] = ()
    match: int | None = None
    behind: frozenset[int] = frozenset()
    due: frozenset[frozenset[int]] = frozenset()
    barred: frozenset[int] = frozenset()

    def count_one(self) -> Open:
        """Returns the guess with one less left to count."""
        return replace(
            self,
            ways=tuple(way if way.more is None else way._replace(more=Tally.count_one(way.more)) for way in self.ways),
        )


@dataclass(frozen=True)
class Here:
    """A place between two characters. char: the next one, empty at the end. starts, ends: whether the marked word does."""

    before: str
    char: str
    starts: bool
    ends: bool
    tally: Tally
    holds: Mapping[int, bool]  # what is asked to stand before or after it, by where its instructions begin

    def is_at(self, where: str) -> bool:
        """Returns whether an assertion holds."""
        if where in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            return not self.before
        if where in ("AT_END", "AT_END_STRING"):
            return not self.char
        if where == "AT_BOUNDARY":
            return (self.before == "w") != (kind(self.char) == "w")
        raise ValueError(f"no meaning of {where} in a pattern")


def kind(char: str) -> str:
    """Returns what of a character matters to those after it."""
    return "w" if char.isalnum() or char == "_" else char and " "


def advance(
    pattern: Pattern, now: Open, char: str, *, starts: bool = False, ends: bool = False, tally: Tally = NOTHING_COUNTED
) -> Iterator[Open]:
    """Yields the guesses that are not yet wrong after one more character, or at the end if it is empty.

    starts, ends: whether the marked word does, before this character. No line ends in a text. Raises ValueError where the tally
    does not tell whether a repetition remains.
    """
    place = Here(now.before, char, starts, ends, tally, {})
    behind = [way.at for way in _follow(pattern, _bare(now.behind.union(pattern.behind)), place, set())]
    holds_behind = {i: any(pattern.code[j].ends == i for j in behind) for i in pattern.behind}
    for guess in itertools.product((False, True), repeat=len(pattern.ahead)):
        guessed = dict(zip(pattern.ahead, guess, strict=True))
        here, looks = replace(place, holds=holds_behind | guessed), set[int]()
        ways, match = now.ways, now.match
        if match is None:
            ways = (*ways, Way(0))
        open_ways = []
        for way in _follow(pattern, ways, here, looks):
            if pattern.code[way.at].ends == 0:
                match = way.group
                break
            open_ways.append(way)
        if not looks >= {i for i in guessed if guessed[i]}:
            continue  # the same as not to guess so
        new = looks.intersection(guessed)
        due = _list_due(pattern, now.due.union(frozenset([i]) for i in new if guessed[i]), place)
        barred = [
            way.at for way in _follow(pattern, _bare(now.barred.union(i for i in new if not guessed[i])), place, set())
        ]
        if due is not None and not any(pattern.code[i].ends >= 0 for i in barred):
            next_ways = (way._replace(at=way.at + 1) for way in open_ways if _reads(pattern, way.at, char))
            yield Open(
                kind(char), _renumber(next_ways), match, _read(pattern, behind, char), due, _read(pattern, barred, char)
            )


def _list_due(pattern: Pattern, before: Iterable[frozenset[int]], here: Here) -> frozenset[frozenset[int]] | None:
    """Returns what is due after the character, without what has ended; None if something can end no more."""
    rest = set[frozenset[int]]()
    for each in before:
        reached = [way.at for way in _follow(pattern, _bare(each), here, set())]
        if not any(pattern.code[i].ends >= 0 for i in reached):
            rest.add(_read(pattern, reached, here.char))
    return None if frozenset() in rest else frozenset(rest)


def _follow(pattern: Pattern, ways: Iterable[Way], here: Here, looks: set[int]) -> Iterator[Way]:
    """Yields where ways come to before a character is read, in order: instructions that read one, and those that end something.

    looks: gets what is asked to stand before or after.
    """
    pending = [*ways][::-1]
    entries, inside = max((way.entry for way in pending), default=0), set[int]()
    seen = set[tuple[int, int | None, int]]()
    while pending:
        way = pending.pop()
        i, group = way.at, way.group
        if (key := (i, way.more, way.entry)) in seen:
            continue
        seen.add(key)
        instruction = pattern.code[i]
        if instruction.reads or instruction.ends >= 0:
            if _reads(pattern, i, here.char):
                inside.add(way.entry)
            yield way
            continue
        to, onward = instruction.to or (i + 1,), way
        if instruction.group:
            here_too = (here.starts, OPEN) if instruction.group > 0 else (here.ends and group == OPEN, FOUND)
            onward = way._replace(group=here_too[1] if here_too[0] else here_too[1] + 1)
        elif instruction.looks:
            looks.add(instruction.looks)
            to = to if here.holds[instruction.looks] else ()
        elif instruction.at:
            to = to if here.is_at(instruction.at) else ()
        elif instruction.repeats is not None:
            onward = way._replace(more=here.tally.excess(instruction.repeats))
        elif instruction.over:
            if way.more is None:
                raise TypeError("there is no way.more")
            over = here.tally.is_over(way.more)
            to, onward = (instruction.over,) if over else to, way._replace(more=None if over else way.more - 1)
        elif instruction.atomic > 0:
            entries += 1
            if entries > MOST_ENTRIES:
                raise ValueError("too many atomic groups are open at once")
            onward = way._replace(entry=entries)
        elif instruction.atomic:
            if way.entry in inside:
                raise ValueError("an atomic group ends where an earlier way through it may go on")
            pending, onward = [other for other in pending if other.entry != way.entry], way._replace(entry=0)
        pending += [onward._replace(at=j) for j in reversed(to)]


def _bare(instructions: Iterable[int]) -> list[Way]:
    return [Way(i) for i in instructions]


def _renumber(ways: Iterable[Way]) -> tuple[Way, ...]:
    """Renumbers entries from 1 on, in the order of ways."""
    order = {0: 0}
    return tuple(way._replace(entry=order.setdefault(way.entry, len(order))) for way in ways)


def _reads(pattern: Pattern, i: int, char: str) -> bool:
    reads = pattern.code[i].reads
    return bool(char) and reads is not None and reads(char)


def _read(pattern: Pattern, instructions: Iterable[int], char: str) -> frozenset[int]:
    return frozenset(i + 1 for i in instructions if _reads(pattern, i, char))
