"""Finds what a linear recurrence may keep after the positions of each class: h_t = A·h_{t−1} + B·x_t, h_0 = 0.

Nothing here is trusted. Four kinds of registers are told apart:
  window  a register that is made of others, never of itself: after as many tokens as there are such registers in a row it has
          forgotten all that was before. Values are carried forward from position 1 until nothing is new.
  sum     a register that adds something to itself. Where each way to a class adds up to one number, it is that number; else it
          lies between the least and the largest share of one position, times the number of positions that have a share.
  cycle   registers each of which is the one before it, or −1 times that, plus what is fed. If few of its values can follow each
          other, they are carried forward as those of a window. Else each position adds what it feeds to some register of the
          cycle, with some sign: a bound as that of a sum.
  queue   a register of which an invariant says what it keeps, so that nothing is asked for.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from constructions.rows import Cycle, Recurrent
from verify.certificates.join import ClassPool, clean, common_step, rename_in_order
from verify.trusted.abstract_state import (
    ONE,
    POSITION,
    SHARED,
    SIZE,
    Integer,
    Polynomial,
    State,
    atom,
    combine,
    number,
    plus,
    times,
)
from verify.trusted.automaton import Limited
from verify.trusted.heads import Keys
from verify.trusted.kernel import Rejected
from verify.trusted.model import Block
from verify.trusted.rounding import KEPT, Checker, Class, Entry

Span = tuple[int, int]
"""The least and the largest number that one position adds to a sum."""
MOST_STEPS = 20_000
MOST_TURNS = 64  # values of a cycle after one class that are carried forward


class KeptFinder:
    """What the recurrence of one block may keep. classes: of its entry, each with its number as `kind`.

    related: sums that are told by others, if they are one or two of these, with a sign, at each class.
    """

    def __init__(
        self,
        checker: Checker,
        block: Block,
        classes: list[State],
        live: frozenset[int],
        where: str,
        related: AbstractSet[int] = frozenset(),
    ) -> None:
        self.checker, self.block, self.classes, self.where = checker, block, classes, where
        self.keys = Keys(checker.machine, (), classes, live, where)
        carry = [(r, tuple((c, w.get(()) if len(w) == 1 else None) for c, w in row)) for r, row in block.carry.items()]
        cycles = Recurrent(tuple(carry), ()).cycles()
        sums = [r for r, row in sorted(block.carry.items()) if row == [(r, ONE)]]
        growing = {r: cycle for cycle in cycles if not self.returns(cycle) for r, _ in cycle}
        self.limits = {item.sum: item.most for item in checker.invariants if isinstance(item, Limited)}
        queues = checker.queues(block, classes, live, where)
        self.window = sorted((block.carry.keys() | block.feed.keys()) - {*sums, *growing, *queues})
        self.refuse_circles({r for cycle in cycles for r, _ in cycle})
        self.relations: dict[int, Sequence[tuple[int, int]]] = {}
        for at, r in enumerate(sums):
            others = [other for other in sums[:at] if other not in self.relations]
            if r in related and (terms := self.relation(r, others)) is not None:
                self.relations[r] = terms
        self.totals = {r: RunningSum(self.keys, self.spans(r)) for r in sums if r not in self.relations}
        self.totals |= {r: RunningSum(self.keys, self.spans_of_cycle(cycle)) for r, cycle in sorted(growing.items())}

    def find(self) -> Iterator[tuple[int, State]]:
        """Returns what may be kept, and after which class."""
        for i, state in sorted(self.carry_forward(), key=lambda item: item[0]):
            kept: State | None = state
            for r, total in self.totals.items():
                kept = kept and total.add(kept, KEPT - r, i)
            if kept is not None:
                sums = {
                    r: [(kept.register(KEPT - other), sign) for other, sign in some]
                    for r, some in self.relations.items()
                }
                yield i, rename_in_order(kept.having({KEPT - r: combine(terms) for r, terms in sums.items()}).needed())

    def loosen(self, state: State, i: int) -> State:
        """Returns a part of class i that knows of a sum what it is after any position of the class alone."""
        for r, total in self.totals.items():
            if not self.classes[i].register(r):
                part = total.add(state, r, i)
                if part is not None and r in self.limits:
                    part = part.restrict(plus(part.register(r), self.limits[r], -1), None, 0)
                state = part or state
        return state

    # The window

    def carry_forward(self) -> list[tuple[int, State]]:
        """Returns what registers of the window keep: a fixed point, from position 1 on."""
        pool, live = ClassPool(), frozenset(KEPT - r for r in self.window)
        queue = deque[tuple[int, int | None]]((i, None) for i in sorted(self.keys.first))
        waiting, done = set(queue), 0
        while queue:
            i, before = item = queue.popleft()
            waiting.remove(item)
            done += 1
            if done > MOST_STEPS:
                raise Rejected(f"{self.where}: no end of what the recurrence can keep after {MOST_STEPS} steps")
            past = [] if before is None else [pool.classes[before]]
            entry = Entry(frozenset(), [], [Class("", replace(state, kind=j)) for j, state in past])
            for part in self.checker.with_kept(self.classes[i], entry):
                if bool(part.before) == bool(past):
                    old = [*pool.classes]
                    at = pool.add(i, clean(self.advance(part), live))
                    if at < len(old):
                        pool.classes[at] = i, widened(old[at][1], pool.classes[at][1], self.classes[i])
                        if pool.classes[at][1] is old[at][1]:
                            continue
                    fresh = {(follower, at) for follower in self.keys.after[i]} - waiting
                    queue.extend(sorted(fresh))
                    waiting |= fresh
        return pool.classes

    def advance(self, part: State) -> State:
        """Returns what is kept after a position, beside which stands what was kept at the one before."""
        old, new = part.registers, dict[int, Polynomial]()
        for r in self.window:
            row = [(w, old.get(KEPT - c, {})) for c, w in self.block.carry.get(r, ())]
            row += [(w, part.register(c)) for c, w in self.block.feed.get(r, ())]
            part, new[KEPT - r] = self.checker.machine.dot(part, row, self.where)
        return replace(part, registers=new)

    def refuse_circles(self, turning: set[int]) -> None:
        """Raises Rejected unless registers of the window, but for those of cycles, are made of each other without a circle."""
        pending = [r for r in self.window if r not in turning]
        while pending:
            ready = [r for r in pending if not {c for c, _ in self.block.carry.get(r, ())} & {*pending}]
            if not ready:
                raise Rejected(f"{self.where}: recurrence, register {pending[0]}: it is made of itself, and is no sum")
            pending = [r for r in pending if r not in ready]

    # Sums

    def fed(self, state: State, r: int) -> Polynomial:
        """Returns what a position feeds to a register, not rounded."""
        return combine([(times(w, state.register(c)), 1) for c, w in self.block.feed.get(r, ())])

    def relation(self, r: int, others: Sequence[int]) -> Sequence[tuple[int, int]] | None:
        """Returns one or two of other sums, with signs, which add up to this one; None if none do."""
        signed = [(other, sign) for other in others for sign in (1, -1)]
        some: Sequence[tuple[int, int]]
        for some in itertools.chain(itertools.combinations(signed, 1), itertools.combinations(signed, 2)):
            told = ((s, combine([(self.fed(s, other), sign) for other, sign in some])) for s in self.classes)
            if all(state.same(self.fed(state, r), terms) for state, terms in told):
                return some
        return None

    def spans(self, r: int) -> list[Span]:
        """Returns what the positions of each class feed to a register."""
        spans = []
        for state in self.classes:
            row = [(w, state.register(c)) for c, w in self.block.feed.get(r, ())]
            state, fed = self.checker.machine.dot(state, row, self.where)
            if not state.is_integer(fed) or any(c.denominator != 1 for c in fed.values()):
                raise Rejected(f"{self.where}: recurrence, register {r}: what is added to the sum is no whole number")
            spans.append(state.bounds(fed))
        return spans  # type: ignore[return-value]

    def spans_of_cycle(self, cycle: Cycle) -> list[Span]:
        """Returns what one position can add to a register of the cycle: what it feeds to one of them, with a sign if there is
        one.
        """
        spans = []
        for fed in zip(*(self.spans(r) for r, _ in cycle), strict=True):
            low, high = min(0, *(low for low, _ in fed)), max(0, *(high for _, high in fed))
            if any(sign < 0 for _, sign in cycle):
                low, high = min(low, -high), max(high, -low)
            spans.append((low, high))
        return spans

    def returns(self, cycle: Cycle) -> bool:
        """Returns whether few values of the cycle can stand after a class, by which may follow which."""
        fed = [*zip(*(self.spans(r) for r, _ in cycle), strict=True)]
        if any(low != high for spans in fed for low, high in spans):
            return False
        seen = set[tuple[int, tuple[int, ...]]]()
        pending = [(i, (0,) * len(cycle)) for i in self.keys.first]
        while pending and len(seen) <= MOST_TURNS * len(self.classes):
            i, old = pending.pop()
            new = tuple(old[j - 1] * sign + fed[i][j][0] for j, (_, sign) in enumerate(cycle))
            if (i, new) not in seen:
                seen.add((i, new))
                pending += [(follower, new) for follower in self.keys.after[i]]
        return not pending


class RunningSum:
    """A sum over all positions so far, after each class. keys: has the classes. spans: what one position of each adds."""

    def __init__(self, keys: Keys, spans: Sequence[Span]) -> None:
        self.keys, self.classes, self.spans = keys, keys.classes, spans
        self.numbers = self.find_numbers()
        self.lines: dict[tuple[int, int], SumLine] = {}

    def find_numbers(self) -> dict[int, int | None]:
        """Returns the one number that it is after a class, whatever stands before; None if there are several."""
        numbers: dict[int, int | None] = {}
        values = [low if low == high else None for low, high in self.spans]
        queue = deque((i, values[i]) for i in self.keys.first)
        while queue:
            i, value = queue.popleft()
            if i in numbers and (numbers[i] is None or numbers[i] == value):
                continue
            numbers[i] = so_far = value if i not in numbers else None
            for follower in self.keys.after[i]:
                share = values[follower]
                queue.append((follower, None if share is None or so_far is None else so_far + share))
        return numbers

    def add(self, state: State, register: int, i: int) -> State | None:
        """Returns the state of a position of class i with its sum in a register; None if no sum is possible."""
        value = self.numbers[i]
        if value is not None:
            return state.having({register: number(value)})
        name, most = state.fresh("s"), self.classes[i].integer(POSITION).high
        ends = Integer(*(self.line(i, side).value_after(most) for side in (-1, 1)))
        part: State | None = replace(state, box={**state.box, name: ends}).having({register: atom(name)})
        for side in (-1, 1):
            line = self.line(i, side)
            if (
                state.integer(POSITION).low < line.first - line.every
            ):  # where nothing can have been added, a line is not 0
                continue
            end = line.share * (line.every - line.first)
            limits = [(line.every, {(POSITION,): -line.share}, end)]
            for slope, sized, most in latest(state):  # in place of the position, what it is at most
                limits.append((line.every * slope, {(SIZE,): line.share * sized}, line.share * most + slope * end))
            for factor, rest, end in limits:
                if part is not None:  # the atom itself may be gone, where it is one form of others
                    form = plus(times(part.register(register), number(factor)), {m: c for m, c in rest.items() if c})
                    part = part.restrict(form, *((end, None) if side < 0 else (None, end)))
        return part

    def line(self, i: int, side: int) -> SumLine:
        """Returns how far below (side −1) or above 0 (1) the positions up to one of this class bring the sum."""
        if (i, side) not in self.lines:
            self.lines[i, side] = self.find_line(i, side)
        return self.lines[i, side]

    def find_line(self, i: int, side: int) -> SumLine:
        some = {i, *self.keys.earlier(i)}
        ends = {j: self.spans[j][0] if side < 0 else self.spans[j][1] for j in some}
        adding = [j for j in some if ends[j] * side > 0]
        if not adding:
            return SumLine(0, 1, 1, 1)
        places = [self.classes[j].integer(POSITION) for j in adding]
        first = min(place.low for place in places)
        steps = [place.step for place in places if place.low < place.high]
        every = common_step(*steps, *(place.low - first for place in places))
        share = side * max(ends[j] * side for j in adding)
        return SumLine(share, first, every, max(place.high for place in places))


@dataclass(frozen=True)
class SumLine:
    """A bound of a sum: `share` for each of the positions first, first + every, …, last that have been."""

    share: int
    first: int
    every: int
    last: int

    def value_after(self, position: int) -> int:
        """Returns the bound after a position."""
        return self.share * max((min(position, self.last) - self.first) // self.every + 1, 0)


def latest(state: State) -> Iterator[tuple[int, int, int]]:
    """Yields what is known of its last position k at each n: a, b and c with a·k + b·n ≤ c, a ≥ 1."""
    for form, (_, most) in state.forms.items():
        factors = dict(form)
        if factors.keys() == SHARED and factors[POSITION] > 0:
            yield factors[POSITION], factors[SIZE], most


def widened(old: State, new: State, entry: State) -> State:
    """Returns the old state if the new one, which covers it, is the same; else the new one without the bounds that moved.

    An end of the position that moved becomes that of the class, so each moves once.
    """
    forms = {form: ends for form, ends in old.forms.items() if new.forms.get(form) == ends}
    if new.box == old.box and forms == old.forms:
        return old
    earlier, later, whole = (state.integer(POSITION) for state in (old, new, entry))
    low = later.low if later.low == earlier.low else whole.low
    high = later.high if later.high == earlier.high else whole.high
    step = common_step(later.step, later.low - low, high - later.high)
    return replace(new, box={**new.box, POSITION: Integer(low, high, step)}, forms=forms)
