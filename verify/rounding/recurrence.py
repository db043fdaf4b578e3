"""What a linear recurrence keeps, for all inputs at once: h_t = ROUND(A·h_{t−1} + B·x_t), h_0 = 0.

An abstract state is split by what the positions before it left in the hidden state h. Four kinds of hidden state are known:
  window  a register that is made of others, never of itself: after as many tokens as there are such registers in a row it
          has forgotten all that was before. Values are carried forward from the first position until nothing new comes.
  sum     a register that adds something to itself. Where every way to a state adds up to one number, it is that number; else it
          lies between the least and the largest share of one position times the number of positions that have a share.
  cycle   registers each of which is the one before it, or −1 times that, plus what is fed: a signed cyclic permutation. If only few
          of its states can follow each other, they are carried forward as those of a window. Else each position adds to a register
          what it fed to some register of the cycle, with some sign: a bound as that of a sum.
  queue   a register that multiplies itself by b, where what enters with the weight c leaves m positions later with −c·b^m, by an
          invariant of the run (queues.py).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.places import RECURRENCE
from constructions.rows import Cycle, Recurrent, Row, Weight
from verify.algebra.domains import POSITION, SHARED, SIZE, Integer, Undecided, with_fields
from verify.algebra.polynomial import ZERO, Polynomial, atom, common_step, constant, is_whole, whole
from verify.automata.token_automaton import Delayed, Invariant, Limited
from verify.rounding.abstract_state import AbstractState
from verify.rounding.join import Pool
from verify.rounding.operators import added, dot
from verify.rounding.queues import queue_of
from verify.rounding.rows import as_polynomial

HIDDEN_STATE = -6_000_000  # pseudo registers of what is kept, counted downwards
NOTHING = -1  # before the first position
MOST_STEPS = 20_000
MOST_TURNS = 64  # hidden states of a cycle after one abstract state that are carried forward


@dataclass(frozen=True)
class SumShare:
    """What the positions of one abstract state add to a sum, from low to high, `value` where that is one number."""

    low: Fraction
    high: Fraction

    @property
    def value(self) -> Fraction | None:
        return self.low if self.low == self.high else None


class RecurrenceTransfer:
    """The recurrence of one block over the abstract states at its entry."""

    def __init__(
        self,
        states: Sequence[AbstractState],
        rows: Recurrent,
        where: str,
        names: Sequence[str],
        fused: bool,
        known: Sequence[Invariant] = (),
    ) -> None:
        self.states, self.where, self.names, self.fused = states, where, names, fused
        self.carry, self.feed = dict(rows.carry), dict(rows.feed)
        self.sums = [r for r, row in sorted(self.carry.items()) if row == ((r, 1),)]
        cycles = rows.cycles()
        self.turning = {r for cycle in cycles if self._returns(cycle) for r, _ in cycle}
        growing = {r: cycle for cycle in cycles for r, _ in cycle if r not in self.turning}
        delayed = [item for item in known if isinstance(item, Delayed)]
        queues = {r: queue_of(r, row, self.feed.get(r, ()), names, delayed) for r, row in sorted(self.carry.items())}
        self.queues = {r: queue for r, queue in queues.items() if queue is not None}
        limits = {item.sum: item for item in known if isinstance(item, Limited)}
        self.limits = {r: limits[names[r]] for r in self.sums if names[r] in limits}
        self.used: list[Invariant] = [*(queue.invariant for queue in self.queues.values()), *self.limits.values()]
        registers = self.carry.keys() | self.feed.keys()
        self.window = sorted(registers - {*self.sums, *growing, *self.queues})
        self._refuse_circles()
        self.held = {r: queue.held(states, self._place(r)) for r, queue in self.queues.items()}
        self.totals = {r: Total(states, self._shares(r)) for r in self.sums}
        self.totals |= {r: Total(states, self._shares_of_cycle(cycle)) for r, cycle in sorted(growing.items())}
        self.joints: dict[
            int, dict[tuple[int, int], AbstractState]
        ] = {}  # state → a state before and what it kept → both together
        self.pools: dict[int, Pool] = {}  # state → what can be kept after it
        self._carry_forward()

    def parts(self, number: int) -> Iterator[AbstractState]:
        """Yields the state of this number in parts, with what is kept added to its registers."""
        for _, behind in sorted(self.joints.get(number, {}).items()):
            joint: AbstractState | None = behind
            for r in self.totals:
                joint = joint and self._sum(joint, r, number)
            if joint is None:
                continue
            for r, queue in self.queues.items():
                joint, value = queue.advance(joint, self.held[r], self.feed[r], self._place(r), self.fused)
                joint = joint.with_registers({HIDDEN_STATE - r: value})
            for r in (*self.window, *self.totals, *self.queues):
                joint = added(joint, r, joint.register(HIDDEN_STATE - r), self._place(r))
            yield with_fields(joint, registers={i: p for i, p in joint.registers.items() if i >= 0})

    def _place(self, register: int) -> str:
        return f"{self.where}, {RECURRENCE}, register {self.names[register]}"

    def _refuse_circles(self) -> None:
        """Raises Undecided unless registers of the window, but for those of cycles, are made of each other without a circle."""
        done = set(self.turning)
        pending = [r for r in self.window if r not in done]
        while pending:
            ready = [r for r in pending if all(c in done for c, _ in self.carry.get(r, ()))]
            if not ready:
                raise Undecided(self._place(pending[0]), "it is made of itself, and is no sum")
            done.update(ready)
            pending = [r for r in pending if r not in done]

    # The window

    def _advance(self, state: AbstractState, before: int, hidden: AbstractState | None) -> AbstractState | None:
        """Returns the state after such a position, with what is kept then; None if no position is after it."""
        if hidden is None:
            joint = state.restricted(atom(POSITION), None, Fraction(1))
            return None if joint is None else self._keep(with_fields(joint, before=frozenset()), {})
        joint = joint_behind(state, before, hidden)
        return (
            None
            if joint is None
            else self._keep(joint, {i: joint.register(i) for i in joint.registers if i <= HIDDEN_STATE})
        )

    def _keep(self, state: AbstractState, old: Mapping[int, Polynomial]) -> AbstractState:
        changed: dict[int, Polynomial] = {}
        for r in self.window:
            carry: Row = self.carry.get(r, ())
            pairs: list[tuple[Weight, Polynomial]] = [(w, old.get(HIDDEN_STATE - c, ZERO)) for c, w in carry]
            pairs += [(w, state.register(c)) for c, w in self.feed.get(r, ())]
            state, changed[HIDDEN_STATE - r] = dot(state, pairs, 0, self._place(r), self.fused)
        rest = {i: p for i, p in state.registers.items() if i > HIDDEN_STATE}
        return with_fields(state, registers={**rest, **changed})

    def _carry_forward(self) -> None:
        """Computes what can be kept after each state: a fixed point, from the first position on."""
        pools = self.pools
        live = frozenset(HIDDEN_STATE - r for r in self.window)
        behind = followers(self.states)
        queue: deque[tuple[int, int, int]] = deque((i, NOTHING, 0) for i in firsts(self.states))
        waiting, done = set(queue), 0
        while queue:
            number, before, place = item = queue.popleft()
            waiting.remove(item)
            done += 1
            if done > MOST_STEPS:
                raise Undecided(self.where, f"no end of what the recurrence can keep after {MOST_STEPS} steps")
            hidden = None if before == NOTHING else pools[before].states[place]
            joint = self._advance(self.states[number], before, hidden)
            if joint is None:
                continue
            self.joints.setdefault(number, {})[before, place] = joint
            new_hidden = with_fields(joint.cleaned(live), before=frozenset(), parents=frozenset([number]))
            pool = pools.setdefault(number, Pool())
            old_states = list(pool.states)
            at = pool.add(new_hidden)
            if at < len(old_states):
                pool.states[at] = widened(old_states[at], pool.states[at], self.states[number])
                if pool.states[at] is old_states[at]:
                    continue
            fresh = {(follower, number, at) for follower in behind[number]} - waiting
            queue.extend(sorted(fresh))
            waiting |= fresh

    # Sums

    def _shares(self, register: int) -> list[SumShare]:
        """Returns what the positions of each state feed to a sum, or to a register of a cycle."""
        shares = []
        for state in self.states:
            pairs = [(w, state.register(c)) for c, w in self.feed.get(register, ())]
            state, share = dot(state, pairs, 0, self._place(register), self.fused)
            exact = all(state.integer(name) is not None for name in share.atoms)
            if not exact or not all(map(is_whole, share.terms.values())):
                raise Undecided(
                    self._place(register), f"{share}, which {state.label} adds to the sum, is no whole number"
                )
            shares.append(SumShare(*state.bounds(share)))
        return shares

    def _shares_of_cycle(self, cycle: Cycle) -> list[SumShare]:
        """Returns what one position can add to a register of the cycle: what it feeds to one of them, with a sign if there is
        one.
        """
        shares = []
        for fed in zip(*(self._shares(r) for r, _ in cycle), strict=True):
            low = min(Fraction(0), *(share.low for share in fed))
            high = max(Fraction(0), *(share.high for share in fed))
            if any(sign < 0 for _, sign in cycle):
                low, high = min(low, -high), max(high, -low)
            shares.append(SumShare(low, high))
        return shares

    def _returns(self, cycle: Cycle) -> bool:
        """Returns whether few hidden states of the cycle can stand behind a state, by which may follow which: if so, the way
        forward ends.

        Nothing else rests on it, as all that is carried forward is calculated again.
        """
        fed = [[share.value for share in shares] for shares in zip(*(self._shares(r) for r, _ in cycle), strict=True)]
        if any(value is None for values in fed for value in values):
            return False
        behind, seen = followers(self.states), set[tuple[int, tuple[Fraction, ...]]]()
        pending = [(number, (Fraction(0),) * len(cycle)) for number in firsts(self.states)]
        while pending and len(seen) <= MOST_TURNS * len(self.states):
            number, old = pending.pop()
            new = tuple(old[i - 1] * sign + (fed[number][i] or 0) for i, (_, sign) in enumerate(cycle))
            if (number, new) not in seen:
                seen.add((number, new))
                pending += [(follower, new) for follower in behind[number]]
        return not pending

    def _sum(self, state: AbstractState, register: int, number: int) -> AbstractState | None:
        """Returns the state with a sum; its own operators do not saturate, on the way neither."""
        total, place = self.totals[register], self._place(register)
        earlier = [total.bounds(i) for i in self.states[number].before] or [(0, 0)]
        low, high = min(low for low, _ in earlier), max(high for _, high in earlier)
        limit = as_polynomial(self.limits[register].most) if register in self.limits else None
        if limit is not None:
            high = min(high, whole(state.bounds(limit)[1]))
        old = state.space.fresh("s")
        box = {**state.box, old: Integer(low, high)}
        ((_, sign),) = self.carry[register]
        pairs: list[tuple[Weight, Polynomial]] = [(sign, atom(old))]
        pairs += [(w, state.register(c)) for c, w in self.feed.get(register, ())]
        if not self.fused:
            dot(with_fields(state, box=box), pairs, 0, place, self.fused)
        part = total.state_after(state, HIDDEN_STATE - register, number)
        if part is not None and limit is not None:
            part = part.restricted(part.register(HIDDEN_STATE - register) - limit, None, Fraction(0))
        return None if part is None else part.round(part.register(HIDDEN_STATE - register), place)[0]


class Total:
    """A sum over all positions so far, after each state."""

    def __init__(self, states: Sequence[AbstractState], shares: Sequence[SumShare]) -> None:
        self.states, self.shares = states, shares
        self.numbers = self._numbers()
        self.lines: dict[tuple[int, int], SumBound] = {}  # those found so far

    def _numbers(self) -> dict[int, Fraction | None]:
        """Returns the one number that it is after a state, whatever stands before; None if there are several."""
        numbers: dict[int, Fraction | None] = {}
        behind = followers(self.states)
        queue = deque((i, self.shares[i].value) for i in firsts(self.states))
        while queue:
            number, value = queue.popleft()
            if number in numbers and (numbers[number] is None or numbers[number] == value):
                continue
            numbers[number] = value if number not in numbers else None
            for follower in behind[number]:
                share, so_far = self.shares[follower].value, numbers[number]
                queue.append((follower, None if share is None or so_far is None else so_far + share))
        return numbers

    def bounds(self, number: int) -> tuple[int, int]:
        """Returns bounds of all values after a state."""
        value = self.numbers.get(number, Fraction(0))
        if value is not None:
            return whole(value), whole(value)
        most = self.states[number].position.high
        return self._line(number, -1).value_after(most), self._line(number, 1).value_after(most)

    def state_after(self, state: AbstractState, register: int, number: int) -> AbstractState | None:
        """Returns the state of a position with its sum in a register; None if no sum is possible."""
        value = self.numbers[number]
        if value is not None:
            return state.with_registers({register: constant(value)})
        name = state.space.fresh("s")
        sum_of = {**state.box, name: Integer(*self.bounds(number))}
        part: AbstractState | None = with_fields(state, box=sum_of).with_registers({register: atom(name)})
        for side in (-1, 1):
            line = self._line(number, side)
            if state.position.low < line.first - line.every:  # where nothing can have been added, a line is not 0
                continue
            end = line.share * (line.every - line.first)
            ends = [(line.every, atom(POSITION) * -line.share, end)]
            for slope, sized, most in _latest(state):  # in place of the position, what it is at most
                ends.append((line.every * slope, atom(SIZE) * (line.share * sized), line.share * most + slope * end))
            for times, rest, end in ends:
                if part is not None:  # the atom itself may be gone, where it is one form of others
                    form = part.register(register) * times + rest
                    part = part.restricted(form, *((end, None) if side < 0 else (None, end)))
        return part

    def _line(self, number: int, side: int) -> SumBound:
        """Returns how far below (side −1) or above 0 (1) the positions up to one of this state bring the sum."""
        if (number, side) not in self.lines:
            self.lines[number, side] = self._new_line(number, side)
        return self.lines[number, side]

    def _new_line(self, number: int, side: int) -> SumBound:
        ancestors, queue = {number}, deque([number])
        while queue:
            fresh = self.states[queue.popleft()].before - ancestors
            ancestors |= fresh
            queue.extend(fresh)
        ends = {i: self.shares[i].low if side < 0 else self.shares[i].high for i in ancestors}
        adding = [i for i in ancestors if ends[i] * side > 0]
        if not adding:
            return SumBound(0, 1, 1, 1)
        places = [self.states[i].position for i in adding]
        first = min(place.low for place in places)
        steps = [place.step for place in places if place.low < place.high]
        every = common_step(*steps, *(place.low - first for place in places))
        share = side * max(math.ceil(ends[i] * side) for i in adding)
        return SumBound(share, first, every, max(place.high for place in places))


def _latest(state: AbstractState) -> Iterator[tuple[int, int, int]]:
    """Yields what is known of its last position k at each n: a, b and c with a·k + b·n ≤ c, a ≥ 1."""
    for form, (_, most) in state.forms.items():
        factors = dict(form)
        if factors.keys() == SHARED and factors[POSITION] > 0:
            yield factors[POSITION], factors[SIZE], most


@dataclass(frozen=True)
class SumBound:
    """A bound of a sum: `share` for each of the positions first, first + every, …, last that have been."""

    share: int
    first: int
    every: int
    last: int

    def value_after(self, position: int) -> int:
        """Returns the bound after a position."""
        return self.share * max((min(position, self.last) - self.first) // self.every + 1, 0)


def widened(old: AbstractState, new: AbstractState, entry: AbstractState) -> AbstractState:
    """Widens: returns the old state if the new one, which covers it, is the same; else one without the bounds that moved.

    An end that moved becomes that of the entry, so each moves once.
    """
    forms = {form: ends for form, ends in old.forms.items() if new.forms.get(form) == ends}
    if new.box == old.box and forms == old.forms:
        return old
    earlier, later = old.position, new.position
    low = later.low if later.low == earlier.low else entry.position.low
    high = later.high if later.high == earlier.high else entry.position.high
    step = common_step(later.step, later.low - low, high - later.high)
    return with_fields(new, box={**new.box, POSITION: Integer(low, high, step)}, forms=forms)


def firsts(states: Sequence[AbstractState]) -> list[int]:
    """Returns the states that the first position may have."""
    return [i for i, state in enumerate(states) if state.position.low == 1]


def followers(states: Sequence[AbstractState]) -> list[list[int]]:
    """Returns the states that the position after each state may have."""
    return [[j for j, state in enumerate(states) if i in state.before] for i in range(len(states))]


def joint_behind(state: AbstractState, before: int, hidden: AbstractState) -> AbstractState | None:
    """Returns the state where the position before has left this hidden state; None if none can."""
    past, names = hidden.renamed()
    place = names[POSITION]
    if (joint := state.join_position(past)) is None:
        return None
    joint = with_fields(joint, registers={**state.registers, **past.registers}, before=frozenset([before]))
    if _is_elsewhere(hidden, POSITION):
        return joint.restricted(atom(place) - atom(POSITION), Fraction(-1), Fraction(-1))
    here, there = state.position, hidden.position
    if (here.low - there.low - 1) % math.gcd(here.step, there.step):
        return None
    joint = with_fields(joint, box={name: domain for name, domain in joint.box.items() if name != place})
    return joint.restricted(atom(POSITION), there.low + 1, there.high + 1)


def _is_elsewhere(state: AbstractState, name: str) -> bool:
    """Returns whether anything may depend on an atom but its own bounds."""
    return (
        any(name in p.atoms for p in state.registers.values())
        or any(other == name for form in state.forms for other, _ in form)
        or not all(isinstance(domain, Integer) for domain in state.box.values())
    )
