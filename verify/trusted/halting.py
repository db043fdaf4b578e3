"""Checks proofs of a lower bound for Turing machines, for every n, as `verify.trusted.pigeonhole` does for other tasks.

Source: Theorem 5.4; the bound is ours.
A theorem has the same form, with the task "turing" and a "machine" in the standard format: its states are A, B, …, and any other
letter halts. The tape is a[1] … a[n] with a[i] = x[i] + 1, which Alice writes, and Bob's digits, in loops that may end with k. The
machine starts in A on the first cell; 0 is blank; the answer is the state in which it halts.

A configuration is {"state", "facing", "left", "right"}: what stands on both sides of the head, in blocks [digit, first, last] or
["a", first, last], and on which side, L or R, the cell is that it reads. There are two moves. "step" reads one cell, or a blank
where nothing stands. "over" goes on through a block, which may be empty: each of its digits stays, as do state and direction.
Hints: moves `before` the first round; `now`, the configuration after t rounds; how many `rounds` there are; the moves of a `round`;
and `behind` them moves until the head reads a[k] and halts. None is trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from verify.trusted import kernel, pigeonhole
from verify.trusted.kernel import reject
from verify.trusted.pigeonhole import FIELDS, Statement, put

ALICE = [{"for": "i", "to": "n", "do": [["x[i] + 1"]]}]
OF_A = ("1", "2")
STATES = tuple("ABCDEFGHIJKLM")
DIGITS = tuple("0123456789")
OTHER = {"L": "R", "R": "L"}


def check(theorem: Any, proof: Any) -> None:
    """Returns if the proof shows the theorem. Raises Rejected, whatever both of them are."""
    pigeonhole.check(theorem, proof, obligations)


def obligations(theorem: Any, hints: Any) -> list[Any]:
    """Returns the theorems that the kernel must be shown, in their order."""
    statement = Halting(theorem)
    statement.halts(hints)
    return statement.owed


class Block(NamedTuple):
    """Cells that hold one digit, or a[first] … a[last]."""

    digit: str
    first: str
    last: str

    @property
    def length(self) -> str:
        """Returns how many cells."""
        return f"({self.last}) - ({self.first}) + 1"

    @property
    def digits(self) -> tuple[str, ...]:
        """Returns what its cells may hold."""
        return OF_A if self.digit == "a" else (self.digit,)


class Configuration(NamedTuple):
    """sides: of L and of R, the blocks from the head on."""

    state: str
    facing: str
    sides: dict[str, list[Block]]


class Halting(Statement):
    """A theorem about a machine, and what is owed for it. It shares how texts are read and what is owed, not the tasks."""

    def __init__(self, theorem: Any) -> None:
        if set(theorem) != FIELDS | {"machine"} or set(theorem["for"]) != {"n"} or theorem["task"] != "turing":
            reject("a theorem about a machine has its fields and n")
        if theorem["alice"] != ALICE:
            reject(f"Alice writes {ALICE}")
        self.sizes, self.owed = {"n": 1}, []
        self.given = [f"n >= {max(theorem['for']['n'], 1):d}", "1 <= k <= n"]
        self.answers, self.machine = theorem["answers"], theorem["machine"].split("_")
        self.reader = kernel.Checker({"for_all": dict.fromkeys("nkt", "integer"), "given": [], "show": "0 == 0"})
        self.tape = [Block("a", "1", "n")]
        for item in theorem["bob"]:
            [[digit]] = item["do"]
            if item != {"for": item["for"], "to": item["to"], "do": [[digit]]} or digit not in DIGITS:
                reject(f"no run of a digit: {item}")
            self.tape.append(Block(digit, "1", self.known(item["to"], "k")))
            self.owe([], f"{self.tape[-1].last} >= 0")
        size = self.known(theorem["size"])
        self.owe([], f"{size} >= {' + '.join(block.length for block in self.tape)}")
        self.owe([], f"{put(self.known(theorem['bits'], ('size',), divided=True), {'size': size})} == n")

    def rule(self, state: str, digit: str) -> tuple[str, str, str]:
        """Returns what is written, where the head goes, and the next state."""
        row, place = self.machine[STATES.index(state)], 3 * DIGITS.index(digit)
        written, direction, after = row[place : place + 3]
        return (written, direction, after) if written in DIGITS and direction in OTHER else reject("no rule")

    def halts(self, hints: Any) -> None:
        """Proves by induction on rounds that the machine halts."""
        rounds = self.known(hints["rounds"], "k")
        start, before, after, end = (self.read(hints["now"], t) for t in ("0", "t", "t + 1", rounds))
        some = ["t >= 0", f"{rounds} >= t + 1"]
        self.owe([], f"{rounds} >= 0")
        self.equal(self.run(Configuration("A", "R", {"L": [], "R": self.tape}), hints["before"], []), start, [])
        self.equal(self.run(before, hints["round"], some), after, some)
        last = self.run(end, hints["behind"], [])
        block = last.sides[last.facing][0]
        self.owe([], f"{block.length} >= 1")
        self.owe([], f"{block.first if last.facing == 'R' else block.last} == k")
        reached = [self.rule(last.state, digit)[2] for digit in block.digits]
        going_on = STATES[: len(self.machine)]
        if block.digit != "a" or reached != self.answers or len(set(reached)) < 2 or set(reached) & set(going_on):
            reject("it does not halt in the answers")

    def read(self, shown: Any, rounds: str) -> Configuration:
        """Returns a configuration after so many rounds."""

        def blocks(side: Any) -> list[Block]:
            places = [(digit, [put(self.known(e, "kt"), {"t": rounds}) for e in ends]) for digit, *ends in side]
            return [Block(digit, first, last) for digit, (first, last) in places]

        return self.plain(
            Configuration(
                shown["state"], shown["facing"], {"L": blocks(shown["left"])[::-1], "R": blocks(shown["right"])}
            )
        )

    def plain(self, c: Configuration) -> Configuration:
        """Removes empty blocks, blanks at the ends and neighbours of one digit."""
        sides: dict[str, list[Block]] = {}
        for side, blocks in c.sides.items():
            found: list[Block] = []
            for block in blocks:
                if kernel.constant(self.reader.polynomial(block.length)) == 0:
                    continue
                if found and block.digit == found[-1].digit != "a":
                    block = Block(block.digit, "1", f"{block.length} + {found.pop().length}")
                found.append(block)
            while found and found[-1].digit == "0":
                found.pop()
            sides[side] = found
        return Configuration(c.state, c.facing, sides)

    def run(self, c: Configuration, moves: Sequence[str], given: Iterable[str]) -> Configuration:
        """Returns the configuration after these moves."""
        for move in moves:
            if move not in ("step", "over"):
                reject(f"no move: {move}")
            c = self.plain(self.step(c, given) if move == "step" else self.over(c, given))
        return c

    def over(self, c: Configuration, given: Iterable[str]) -> Configuration:
        """Returns the configuration after the next block."""
        block, *rest = c.sides[c.facing]
        self.owe(given, f"{block.length} >= 0")
        if any(self.rule(c.state, digit) != (digit, c.facing, c.state) for digit in block.digits):
            reject("it does not go on through this block")
        back = OTHER[c.facing]
        return Configuration(c.state, c.facing, {c.facing: rest, back: [block, *c.sides[back]]})

    def step(self, c: Configuration, given: Iterable[str]) -> Configuration:
        """Returns one cell."""
        block, *rest = c.sides[c.facing] or [Block("0", "1", "1")]
        self.owe(given, f"{block.length} >= 1")
        [(written, direction, state)] = {self.rule(c.state, digit) for digit in block.digits}
        first, last = block.first, block.last
        left = (
            Block(block.digit, f"({first}) + 1", last)
            if c.facing == "R"
            else Block(block.digit, first, f"({last}) - 1")
        )
        sides = {**c.sides, c.facing: [left, *rest]}
        behind = OTHER[direction]
        sides[behind] = [Block(written, "1", "1"), *sides[behind]]
        return Configuration(state, direction, sides)

    def equal(self, c: Configuration, d: Configuration, given: Iterable[str]) -> None:
        """Requires that both are the same."""
        if (c.state, c.facing) != (d.state, d.facing):
            reject("another state or direction")
        for side in OTHER:
            for one, other in zip(c.sides[side], d.sides[side], strict=True):
                if one.digit != other.digit:
                    reject("another digit")
                self.owe(given, f"{one.length} == {other.length}")
                if one.digit == "a":
                    self.owe(given, f"{one.first} == {other.first}")
