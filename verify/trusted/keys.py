"""Says which keys a head meets at a query, and how far the largest score must lead.

Standard library alone. What decides is the lead of the largest score over any other one.

Lemma (a lead that vanishes). Let N be the number of keys, 2^b > N − 1, 2^−q the step, and γ ≥ (q + 1 + b)·ln 2. Let m keys have
the largest score, and each other key at least γ less. Then the m keys have the weight ROUND(1/m), and all others have 0, under
both disciplines.

Fused. A weight is ROUND(e^(s − top)/Σ e^(s' − top)). The sum is m + ε, with 0 ≤ ε ≤ (N − 1)·e^−γ < 2^−(q + 1).
- A loser has at most e^−γ < 2^−(q + 1), less than half a step, which rounds to 0.
- A winner has 1/(m + ε), less than 1/m by ε/(m·(m + ε)) < 2^−(q + 1)/m. Midpoints are j·2^−(q + 1) with an odd j, and
  |1/m − j·2^−(q + 1)| = |2^(q + 1) − j·m|/(m·2^(q + 1)) is 0, or at least 2^−(q + 1)/m. So no midpoint lies between both
  numbers. If 1/m is a midpoint, j divides a power of two: j = 1, 1/m is half a step and rounds to 0, the even one, and so does
  what is below.

Sequential. The difference of a loser and the largest score is an element of at most −γ, or −largest ≤ −γ if it saturates; its exp
rounds to 0. Winners have e^0 = 1. The sum is m, exactly, if that is no more than the largest element; the quotients are
ROUND(1/m) and 0.

In the exact machine the same m keys have 1/m each. Scores that are the same number are rounded alike under `fused`. Under
`sequential` they may differ after rounding, and then several winners are refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from verify.trusted.abstract_state import BESIDE, POSITION, SHARED, Format, State
from verify.trusted.automaton import Apart, Consecutive, Invariant
from verify.trusted.candidates import (
    ASKED,
    COUNT,
    GROUP,
    KEY,
    PLACE,
    QUERY,
    SCORE,
    VALUE,
    Candidate,
    Pair,
    candidates_of,
)
from verify.trusted.machine import Machine
from verify.trusted.model import Head
from verify.trusted.numbers import Number, down, ratio, readable, smaller
from verify.trusted.polynomials import Polynomial, atom, names_of, plus, times
from verify.trusted.rejection import reject

MOST_STEPS = 1000
MOST_PAIRS = 2_000_000  # of a query and a key


class Keys:
    """The classes at the entry of a block, whose positions may be keys, and which may come before which.

    live: the coordinates that are known.
    """

    def __init__(
        self, machine: Machine, invariants: Sequence[Invariant], classes: list[State], live: frozenset[int], where: str
    ) -> None:
        self.machine, self.invariants, self.classes, self.live, self.where = machine, invariants, classes, live, where
        self.first = {i for i, state in enumerate(classes) if state.integer(POSITION).low == 1}
        self.known: dict[int, list[State]] = {}
        self.reachable: dict[tuple[int, frozenset[int]], frozenset[int]] = {}
        self.many = 0  # pairs that were looked at

    def earlier(self, i: int, avoid: frozenset[int] = frozenset()) -> frozenset[int]:
        """Returns the classes that some position before one of class i may have, on ways back that avoid some classes."""
        if (i, avoid) not in self.reachable:
            nodes, queue = set[int](), [i]
            while queue:
                fresh = self.classes[queue.pop()].before - nodes - avoid
                nodes |= fresh
                queue += fresh
            self.reachable[i, avoid] = frozenset(nodes)
        return self.reachable[i, avoid]

    def back(self, i: int, steps: Number) -> frozenset[int]:
        """Returns the classes that the position so many before one of class i may have."""
        some = frozenset([i])
        if type(steps) is not int or not 0 <= steps <= MOST_STEPS:
            return frozenset(range(len(self.classes)))
        for _ in range(steps):
            some = frozenset(b for j in some for b in self.classes[j].before)
        return some

    def is_sure(self, i: int, some: frozenset[int]) -> bool:
        """Returns whether each way from position 1 to one of class i meets one of these classes before."""
        return i not in self.first and not self.first & self.earlier(i, some)

    def key_states(self, h: int, head: Head) -> list[State]:
        """Returns each class with its key and value rows beside the registers, and its atoms called otherwise."""
        if h not in self.known:
            where = f"{self.where}, head {h + 1}"
            self.known[h] = [self.with_rows(state, head, where).as_other() for state in self.classes]
        return self.known[h]

    def with_rows(self, state: State, head: Head, where: str) -> State:
        """Returns the state with its key and value rows, and what invariants speak of, in place of the registers."""
        changed = {}
        for j, row in enumerate(head.key):
            state, changed[KEY - j] = self.machine.row(state, row, f"{where}, key row {j + 1}")
        for j, invariant in enumerate(self.invariants):
            if isinstance(invariant, Apart | Consecutive) and invariant.group in self.live:
                changed[GROUP - j] = state.register(invariant.group)
            if isinstance(invariant, Consecutive) and invariant.share in self.live:
                changed[COUNT - j] = state.register(invariant.share)
        for j, row in enumerate(head.value):
            state, changed[VALUE - j] = self.machine.row(state, row, f"{where}, value row {j + 1}")
        return replace(state, registers=changed)

    def pairs(self, query: State, h: int, head: Head, where: str) -> Iterator[Pair]:
        """Returns the query with its own position, and with each class that a position before it may have."""
        names = {name for j in range(len(head.query)) for name in names_of(query.register(QUERY - j))}
        asked = tuple(sorted(names))
        query = query.having({ASKED - i: atom(name) for i, name in enumerate(asked)})
        own = self.with_rows(query, head, where)
        one = own.having({**query.registers, **own.registers, PLACE: atom(POSITION)})
        yield from self.pair(None, one, frozenset(), asked)
        if query.integer(POSITION).high > 1:
            keys = self.key_states(h, head)
            for i in sorted(self.earlier(query.kind)):
                joint = query.pair_with(keys[i])
                if joint is not None:
                    joint = joint.having({PLACE: atom(POSITION + BESIDE)})
                    yield from self.pair(i, joint, frozenset(keys[i].box) - SHARED, asked)

    def pair(self, key: int | None, joint: State, own: frozenset[str], asked: tuple[str, ...]) -> Iterator[Pair]:
        """Returns a query and keys of a class with their score, from the rows of both."""
        self.many += 1
        if self.many > MOST_PAIRS:
            reject(f"{self.where}: more than {MOST_PAIRS} pairs of a query and a key")
        products, total = list[Polynomial](), Polynomial()
        for j in itertools.count():
            if QUERY - j not in joint.registers:
                break
            if product := times(joint.register(QUERY - j), joint.register(KEY - j)):
                products.append(product)
                total = plus(total, product)
                if not self.machine.fused:
                    joint.round(product, f"{self.where}, score")
                    joint.round(total, f"{self.where}, score")
        rounded = [one for one in ([total] if self.machine.fused else products) if not joint.on_grid(one)]
        yield Pair(key, joint.having({SCORE: total}), own, len(rounded) * self.machine.format.half, asked)

    def multiplicity(self, c: Candidate) -> int:
        """Returns how many such keys there may be."""
        if not names_of(c.place) & c.own or (c.key is not None and c.key not in self.earlier(c.key)):
            return 1
        names = names_of(c.place)
        step = c.joint.integer(next(iter(names))).step if len(names) == 1 and c.place == atom(*names) else 1
        low, high = c.joint.bounds(c.place)
        return down(ratio(high - low, step)) + 1


def vanishing_lead(format_: Format, keys: int) -> Number:
    """Returns a lead with which all but the winners vanish: (q + 1 + b)/1.442695, as log2 e is above that."""
    return ratio((format_.q + 1 + (keys - 1).bit_length()) * 1_000_000, 1_442_695)


@dataclass(frozen=True)
class Reading:
    """A head at one query, which a rule reads.

    pairs: the keys that it meets. at: the register of the first value that it reads; the others stand below. width: how many.
    """

    keys: Keys
    query: State
    pairs: Sequence[Pair]
    at: int
    width: range
    where: str

    @cached_property
    def candidates(self) -> list[Candidate]:
        return candidates_of(self.pairs)

    @cached_property
    def needed(self) -> Number:
        return vanishing_lead(self.keys.machine.format, self.query.integer(POSITION).high)

    def part(self, joint: State, values: Sequence[Polynomial]) -> State:
        """Returns the joint state as one of the query's position that has read these values.

        Its atoms need not be told from those of a key any more.
        """
        registers = {i: p for i, p in joint.registers.items() if i > VALUE}
        read = {self.at - j: value for j, value in enumerate(values)}
        state = replace(joint, registers={**registers, **read}).needed()
        names, taken = {}, set(state.box)
        for name in state.box:
            new = name
            while BESIDE in new or (new != name and new in taken):
                new = f"{name[0]}{len(taken)}" if BESIDE in new else new + "_"
            taken.add(new)
            names[name] = new
        return state.rename(names)

    def part_of(self, joint: State) -> State:
        """Returns the joint state as one that has read the values of its key."""
        return self.part(joint, [joint.register(VALUE - j) for j in self.width])

    def require_lead(self, lead: Number | None, winning: Number) -> None:
        """Raises Rejected unless the lead suffices, and the largest score lies far enough above the least element of the format.

        lead: None if no two scores differ. winning: what the largest score is at least, rounded.
        """
        if lead is not None and lead < self.needed:
            reject(f"{self.where}: scores may differ by {readable(lead)} only, and {readable(self.needed)} is needed")
        largest = self.keys.machine.format.largest
        if winning - self.needed < -largest and min(c.lower for c in self.candidates) < -largest:
            reject(f"{self.where}: the largest score saturates")

    def most(self, winners: Sequence[Candidate]) -> int:
        """Returns how many keys can win at most: as many as there are of these classes, or positions from the first to the last."""
        spans = [c.joint.bounds(c.place) for c in winners]
        span = down(max(high for _, high in spans) - min(low for low, _ in spans)) + 1
        many = sum(self.keys.multiplicity(c) for c in winners)
        return smaller(smaller(many, self.query.integer(POSITION).high), span)
