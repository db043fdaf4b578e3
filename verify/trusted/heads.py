"""Says what heads read, for all texts at once: scores, who wins, and by how much.

Standard library alone. A query of one class meets keys of each class that an earlier position may have, and its own. Of each
such pair the score is a polynomial over the atoms of both. What decides is the lead of the largest score over any other one.

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
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from verify.trusted.abstract_state import (
    BESIDE,
    ONE,
    POSITION,
    SHARED,
    SIZE,
    Domain,
    Format,
    Integer,
    Interval,
    Number,
    Polynomial,
    Score,
    Share,
    Square,
    State,
    atom,
    combine,
    halves,
    names_of,
    number,
    plus,
    ratio,
    readable,
    substitute,
    times,
    without,
)
from verify.trusted.automaton import Apart, Consecutive, Invariant
from verify.trusted.growing import Case, Growing, common_divisor, down, smaller, up
from verify.trusted.model import Head, Row, parse, text_of, whole
from verify.trusted.rejection import reject

# Registers beside the model's, of a query and a key together: substitutions reach them as they do registers.
READ, VALUE, SCORE, PLACE = -1, -100_000, -200_000, -200_001
KEY, GROUP, COUNT, ASKED = -210_000, -220_000, -230_000, -300_000
LINE = "h"  # the key's position, where scores are a function of it
MOST_STEPS = 1000
MOST_PAIRS = 2_000_000  # of a query and a key
MOST_PIECES = 4096  # of an interval on which a polynomial's sign is looked for


class Choices(Protocol):
    """Who says by which rule a head is read."""

    def rule(self, reader: Reader, query: State, pairs: Sequence[Pair], width: range) -> Any: ...


@dataclass(frozen=True)
class Machine:
    """The operators of both machines on states, whichever the discipline is."""

    format: Format
    fused: bool
    case: Case | None = None

    def dot(
        self, state: State, row: Sequence[tuple[Polynomial, Polynomial]], where: str, bias: Polynomial | None = None
    ) -> tuple[State, Polynomial]:
        """Returns Σ weight·value + bias, rounded once, or, under `sequential`, after each product and sum; the bias is last.

        Values are elements of the format: so is ±value, and 0 + value.
        """
        bias = bias or {}
        row = [(w, value) for w, value in row if value]
        products = [times(w, value) for w, value in row]
        if not bias and (not row or (len(row) == 1 and row[0][0] in (ONE, {(): -1}))):
            return state, products[0] if products else {}
        if self.fused:
            return state.round(combine([(product, 1) for product in (*products, bias)]), where)
        total: Polynomial = {}
        for (w, _), product in zip(row, products, strict=True):
            if w not in (ONE, {(): -1}):
                state, product = state.round(product, where)
            if total:
                state, total = state.round(plus(total, product), where)
            else:
                total = product
        return state.round(plus(total, bias), where) if bias else (state, total)

    def row(self, state: State, row: Row, where: str, bias: Polynomial | None = None) -> tuple[State, Polynomial]:
        """Returns a row of an affine map of the registers."""
        return self.dot(state, [(w, state.register(i)) for i, w in row], where, bias)

    def added(self, state: State, i: int, change: Polynomial, where: str) -> State:
        """Returns the residual sum."""
        old = state.register(i)
        value = plus(old, change)
        if old and change:
            state, value = state.round(value, where)
        return state.having({i: value})


@dataclass(frozen=True)
class Candidate:
    """A query and keys of one class, or its own position, as one state over the atoms of both.

    own: the atoms of the key alone. noise: how far rounding may take the score. whole: nothing was restricted.
    """

    key: int | None
    joint: State
    own: frozenset[str]
    score: Score
    noise: Number
    asked: tuple[str, ...]
    whole: bool = True

    @property
    def exact(self) -> Polynomial:
        return self.joint.register(SCORE)

    @property
    def place(self) -> Polynomial:
        return self.joint.register(PLACE)

    def value(self, i: int) -> Polynomial:
        return self.joint.register(VALUE - i)

    @cached_property
    def upper(self) -> Number:
        return self.score.upper(self.joint)

    @cached_property
    def lower(self) -> Number:
        return self.score.lower(self.joint)

    def scored(self) -> Candidate:
        """Returns the candidate with the squares of its score: of the key's atoms first, its position last. Any order is right.

        Of the query itself the position comes last of all, if else a form could not be 0.
        """
        place, exact = names_of(self.place), names_of(self.exact)
        keys = [*sorted(exact & self.own - place), *sorted(place & self.own)]
        score = Score.of(self.joint, self.exact, keys)
        if self.key is None and any(square.least for square in score.squares):
            other = Score.of(self.joint, self.exact, [*sorted(exact - place), *sorted(exact & place)])
            score = score if any(square.least for square in other.squares) else other
        return replace(self, score=score)

    def say(self, function: Polynomial) -> Polynomial:
        """Returns a function of the query's atoms, of which some are other polynomials here."""
        return self.joint.fixed(
            substitute(function, {a: self.joint.register(ASKED - i) for i, a in enumerate(self.asked)})
        )


@dataclass(frozen=True)
class Pair:
    """A query and keys of one class, or itself, with no look at which positions both may have.

    That is quick, and enough for most keys that lose.
    joint: over the atoms of both. key, own, noise, asked: as a candidate has them.
    """

    key: int | None
    joint: State
    own: frozenset[str]
    noise: Number
    asked: tuple[str, ...]

    @cached_property
    def upper(self) -> Number:
        """Returns what the score is not above."""
        exact = self.joint.register(SCORE)
        return Score.of(self.joint, exact, sorted(names_of(exact) & self.own)).upper(self.joint)

    @cached_property
    def candidate(self) -> Candidate | None:
        """Returns the candidate, or None if no key of the class stands before the query."""
        part: State | None = self.joint
        if self.key is not None:
            distance = plus(self.joint.register(PLACE), atom(POSITION), -1)
            part = self.joint.restrict(distance, None, -1) if self.joint.by_two_forms(distance)[0] <= -1 else None
        if part is None:
            return None
        return Candidate(self.key, part, self.own, Score((), {}), self.noise, self.asked).scored()


def candidates_of(pairs: Sequence[Pair]) -> list[Candidate]:
    return [pair.candidate for pair in pairs if pair.candidate is not None]


class Reader:
    """What heads of one block may read: the classes at its entry, and which may come before which.

    live: the coordinates that are known.
    """

    def __init__(
        self, machine: Machine, invariants: Sequence[Invariant], classes: list[State], live: frozenset[int], where: str
    ) -> None:
        self.machine, self.invariants, self.classes, self.live, self.where = machine, invariants, classes, live, where
        self.first = {i for i, state in enumerate(classes) if state.integer(POSITION).low == 1}
        self.after: list[set[int]] = [set() for _ in classes]
        for i, state in enumerate(classes):
            for j in state.before:
                self.after[j].add(i)
        self.known: dict[int, list[State]] = {}
        self.reachable: dict[int, frozenset[int]] = {}
        self.many = 0  # pairs that were looked at

    def earlier(self, i: int) -> frozenset[int]:
        """Returns the classes that some position before one of class i may have."""
        if i not in self.reachable:
            nodes = set(self.classes[i].before)
            queue = list(nodes)
            while queue:
                fresh = self.classes[queue.pop()].before - nodes
                nodes |= fresh
                queue += fresh
            self.reachable[i] = frozenset(nodes)
        return self.reachable[i]

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
        nodes: set[int] = set()
        queue = list(self.first - some)
        while queue:
            fresh = self.after[queue.pop()] - nodes
            nodes |= fresh
            queue += fresh - some
        return i not in self.first and i not in nodes

    def keys(self, h: int, head: Head) -> list[State]:
        """Returns each class with its key and value rows beside the registers, and its atoms called otherwise."""
        if h not in self.known:
            self.known[h] = [self.with_rows(state, head, f"{self.where}, head {h + 1}") for state in self.classes]
            names = [{name: name if name == SIZE else name + BESIDE for name in state.box} for state in self.known[h]]
            self.known[h] = [state.rename(called) for state, called in zip(self.known[h], names, strict=True)]
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

    def pairs(self, query: State, queries: Sequence[Polynomial], h: int, head: Head, where: str) -> Iterator[Pair]:
        """Returns the query with its own position, and with each class that a position before it may have."""
        own = self.with_rows(query, head, where)
        one = replace(own, registers={**query.registers, **own.registers})
        yield from self.pair(query, queries, None, one, atom(POSITION), frozenset())
        if query.integer(POSITION).high > 1:
            keys = self.keys(h, head)
            for i in sorted(self.earlier(query.kind)):
                joint = query.beside(keys[i])
                if joint is not None:
                    joint = joint.having(keys[i].registers)
                    its = frozenset(keys[i].box) - SHARED
                    yield from self.pair(query, queries, i, joint, atom(POSITION + BESIDE), its)

    def pair(
        self,
        query: State,
        queries: Sequence[Polynomial],
        key: int | None,
        joint: State,
        place: Polynomial,
        own: frozenset[str],
    ) -> Iterator[Pair]:
        self.many += 1
        if self.many > MOST_PAIRS:
            reject(f"{self.where}: more than {MOST_PAIRS} pairs of a query and a key")
        where = self.where
        products = [times(q, joint.register(KEY - j)) for j, q in enumerate(queries)]
        products = [product for product in products if product]
        total = combine([(product, 1) for product in products])
        operators = [total] if self.machine.fused else products
        rounded = [one for one in operators if not joint.on_grid(one)]
        if not self.machine.fused:
            partial: Polynomial = {}
            for product in products:
                partial = plus(partial, product)
                joint.round(product, f"{where}, score")
                joint.round(partial, f"{where}, score")
        asked = tuple(sorted({name for q in queries for name in names_of(q)}))
        extra = {SCORE: total, PLACE: place, **{ASKED - i: atom(name) for i, name in enumerate(asked)}}
        yield Pair(key, joint.having(extra), own, len(rounded) * self.machine.format.half, asked)

    def needed(self, keys: int) -> Number:
        """Returns a lead with which all but the winners vanish: (q + 1 + b)/1.442695, as log2 e is above that."""
        bits = self.machine.format.q + 1 + (keys - 1).bit_length()
        return ratio(bits * 1_000_000, 1_442_695)

    def read(self, query: State, h: int, head: Head, at: int, guide: Choices) -> list[State]:
        """Returns the query in parts, with what the head reads in the registers at, at − 1, …; h: which head it is, from 0."""
        where = f"{self.where}, head {h + 1}"
        origin = query
        queries = []
        for j, row in enumerate(head.query):
            query, value = self.machine.row(query, row, f"{where}, query row {j + 1}")
            queries.append(value)
        pairs, width = list(self.pairs(query, queries, h, head, where)), range(len(head.value))
        if query.integer(POSITION).low == 1 and len(only := candidates_of(pairs)) == 1:
            parts = [self.reads(only[0].joint, at, [only[0].value(j) for j in width])]
            return self.judge(parts, query, pairs, h, at, guide)
        rule = guide.rule(self, query, pairs, width)
        if rule[0] == "split":
            split = halves(origin, parse(rule[1], self.machine.case), whole(rule[2], self.machine.case))
            return [state for part in split for state in self.read(part, h, head, at, guide)]
        return self.judge(self.apply(rule, query, pairs, at, width, where), query, pairs, h, at, guide)

    def judge(
        self, parts: list[State], query: State, pairs: Sequence[Pair], h: int, at: int, guide: Choices
    ) -> list[State]:
        """Returns the parts that head h reads, as `apply` has them. A checker of programs asks here what the keys mean."""
        return parts

    def apply(self, choice: Any, query: State, pairs: Sequence[Pair], at: int, width: range, where: str) -> list[State]:
        """Reads the head by a rule of the certificate."""
        needed = self.needed(query.integer(POSITION).high)
        rule, *rest = choice
        if rule == "count":
            return self.by_count(query, candidates_of(pairs), whole(rest[0]), needed, at, width, where)
        if any(not pair.joint.is_integer(pair.joint.register(SCORE)) for pair in pairs):
            reject(f"{where}: a score is not alike in both machines")
        if rule == "position":
            return self.by_position(query, pairs, parse(rest[0], self.machine.case), needed, at, width, where)
        if rule in ("one", "mean"):
            apart = rest[1] if rule == "one" else None
            winners, lost = self.winners(query, pairs, rest[0], apart, needed, where)
            if rule == "one":
                if not winners.unique() and self.most(query, winners.parts) > 1:
                    reject(f"{where}: two keys may have the same score")
                return [self.reads(c.joint, at, [c.value(j) for j in width]) for c in winners.parts]
            return [self.mean(query, winners.parts, rest[1], everybody=not lost, at=at, width=width, where=where)]
        return reject(f"{where}: {rule} is no rule")

    def reads(self, joint: State, at: int, values: Sequence[Polynomial]) -> State:
        """Returns the joint state as one of the query's position, whose atoms need not be told from those of a key any more."""
        registers = {i: p for i, p in joint.registers.items() if i > VALUE}
        state = replace(joint, registers={**registers, **{at - j: value for j, value in enumerate(values)}}).needed()
        names, taken = {}, set(state.box)
        for name in state.box:
            new = name
            while BESIDE in new or (new != name and new in taken):
                new = f"{name[0]}{len(taken)}" if BESIDE in new else new + "_"
            taken.add(new)
            names[name] = new
        return state.rename(names)

    def require_lead(
        self, lead: Number | None, winning: Number, pairs: Sequence[Pair], needed: Number, where: str
    ) -> None:
        """Raises Rejected unless the lead suffices, and the largest score lies far enough above the least element of the format.

        lead: None if no two scores differ. winning: what the largest score is at least, rounded.
        """
        if lead is not None and lead < needed:
            reject(f"{where}: scores may differ by {readable(lead)} only, and {readable(needed)} is needed")
        largest = self.machine.format.largest
        if winning - needed < -largest and min(c.lower for c in candidates_of(pairs)) < -largest:
            reject(f"{where}: the largest score saturates")

    def by_position(
        self,
        query: State,
        pairs: Sequence[Pair],
        f: Polynomial,
        needed: Number,
        at: int,
        width: range,
        where: str,
    ) -> list[State]:
        """Reads the key at position f: scores are −cost·(h − f)² + rest, h the key's position, f and the rest the query's.

        So the key at f wins, if there is one: there is a key at each position up to the query's. If f lies after it, the
        query's own position wins, and if f < 1 the first. Two positions on one side of f, `away` from it at least, differ by
        cost·((away + 1)² − away²) in their scores at least; on both sides only the nearest matters, at f itself, and cost is
        what it leads by. A key after f, where there is one at f, may have any score that is as far below.
        """
        k, candidates = atom(POSITION), candidates_of(pairs)
        if not query.is_form(f) or any(c.denominator != 1 for c in f.values()):
            reject(f"{where}: the position that is looked for is no whole number")
        name, rest = POSITION + BESIDE, dict[tuple[str, ...], Number]()
        cost: Number = 0
        for c in candidates:
            if c.key is not None and (name, name) in c.exact:
                cost = -c.exact[name, name]
                rest = c.joint.fixed(plus(c.exact, square_of(plus(atom(name), f, -1)), cost))
                if not names_of(rest) & c.own:
                    break
        else:
            reject(f"{where}: no score is that of a distance")
        if cost <= 0:
            reject(f"{where}: a score rises with the distance")
        offset = query.fixed(plus(k, f, -1))
        parts, scores = [], []
        for c in candidates:
            target = c.say(f)
            distance = plus(c.place, target, -1)
            if not c.joint.same(plus(c.say(rest), square_of(distance), -cost), c.exact):
                exists = c.joint.bounds(target)[0] >= 1 and c.joint.bounds(distance)[0] > 0
                if names_of(rest) or not exists or c.upper > rest.get((), 0) - cost:
                    reject(f"{where}: a score is not that of a distance")
                continue
            cases: list[State | None] = []
            if c.key is None:
                cases.append(c.joint.restrict(plus(target, c.place, -1), 0, None))
            elif names_of(offset):
                cases.append(c.joint.restrict(distance, 0, 0))
            elif by := frozenset(b for b in query.before if c.key in self.back(b, offset.get((), 0) - 1)):
                cases.append(replace(c.joint, before=by).restrict(distance, 0, 0))
            if c.key is not None or query.integer(POSITION).low == 1:
                first = c.joint.restrict(target, None, 0)
                cases.append(first and first.restrict(first.register(PLACE), 1, 1))
            for part in cases:
                if part is not None:
                    score = part.fixed(part.register(SCORE))
                    scores.append(part.reach(score, part.bounds(score)))
                    parts.append(self.reads(part, at, [part.register(VALUE - j) for j in width]))
        away = max(1 - query.bounds(f)[1], query.bounds(plus(f, k, -1))[0], 0)
        noise = 2 * max(c.noise for c in candidates)
        if max(high for _, high in scores) + noise > self.machine.format.largest:
            reject(f"{where}: the largest score saturates")
        self.require_lead(cost * (2 * away + 1) - noise, min(low for low, _ in scores) - noise, pairs, needed, where)
        return parts

    def by_count(
        self, query: State, candidates: Sequence[Candidate], i: int, needed: Number, at: int, width: range, where: str
    ) -> list[State]:
        """Reads, among equal keys, the one whose count y = 1/m' is nearest to a target t, in the exact machine.

        The exact score of a key with a count is −Σ cost·form² + T·(2·t·y − y²), and the last part is T·t² − T·(y − t)²; of any
        other key it has no count. `noise` is how far the p-bit machine's score may be from that. Equal keys have the group's
        number s ≥ 1, alike for all: by the invariant they have the counts 1/2, …, 1/(d + 1), each once. If there are none,
        another key wins that each text has.
        """
        if not 0 <= i < len(self.invariants) or not isinstance(self.invariants[i], Consecutive):
            reject(f"{where}: there is no such invariant")
        scale, target = target_of(candidates, i, where)
        scored = [Counted.of(c, i, scale, target, where) for c in candidates]
        ts = query.bounds(target, ideal=True)
        winning = max(e.lower(ts) for e in scored if e.c.key is None or self.is_sure(query.kind, frozenset([e.c.key])))
        leads: list[Number] = []
        equal: list[tuple[Counted, State]] = []
        others: list[Counted] = []
        lost: list[Counted] = []
        shared: Polynomial | None = None
        for e in scored:
            upper = e.upper(ts)
            spans = [(square.least, e.c.joint.bounds(square.form)) for square in e.score.squares]
            zero = all(not least and low <= 0 <= high for least, (low, high) in spans)
            if upper < winning and not (zero and e.name):
                leads.append(winning - upper)
                lost += [e] if e.name else []
            elif e.name:
                squares = e.score.squares
                if not zero or e.score.rest or len(squares) > 1 or (squares and upper - squares[0].cost >= winning):
                    reject(f"{where}: a key may win though it differs")
                form = squares[0].form if squares else {}
                group = e.c.joint.register(GROUP - i)
                for number_ in (e.c.joint.fixed(plus(group, form, sign)) for sign in (-1, 1)):
                    if (
                        not names_of(number_) & e.c.own
                        and e.c.joint.is_integer(number_)
                        and e.c.joint.bounds(number_)[0] >= 1
                        and shared in (None, number_)
                    ):
                        shared = number_
                        break
                else:
                    reject(f"{where}: what is compared is not the invariant's number")
                part: State | None = e.c.joint
                if squares:
                    leads.append(winning - (upper - squares[0].cost))
                    part = e.c.joint.restrict(form, 0, 0)
                if part is not None:
                    equal.append((e, part))
            else:
                others.append(e)
        for e in lost if equal else ():  # none of the equal keys is among those that lose
            apart = e.c.joint.fixed(plus(e.c.joint.register(GROUP - i), e.c.say(shared or {}), -1))
            low, high = e.c.joint.bounds(apart)
            if low <= 0 <= high or not e.c.joint.is_integer(apart):
                reject(f"{where}: a key of the same number may lose")
        if equal:
            winners = self.nearest(query, equal, others, (scale, target, ts), leads, where)
            parts = [self.reads(part, at, [part.register(VALUE - j) for j in width]) for part in winners]
        else:
            top = others[0].upper(ts)
            if any(e.upper(ts) != top or e.lower(ts) != top for e in others) or any(
                e.c.value(j) for e in others for j in width
            ):
                reject(f"{where}: it is not known who wins")
            parts = [self.reads(query, at, [{} for _ in width])]
        lead = min(leads, default=None)
        lowest = min(e.lower(ts) for e in scored)
        if lead is not None and lead < needed:
            reject(f"{where}: scores may differ by {readable(lead)} only, and {readable(needed)} is needed")
        largest = self.machine.format.largest
        if any(e.upper(ts) > largest for e in scored) or (winning - needed < -largest and lowest < -largest):
            reject(f"{where}: a score saturates")
        return parts

    def nearest(
        self,
        query: State,
        equal: Sequence[tuple[Counted, State]],
        others: Sequence[Counted],
        aim: tuple[Number, Polynomial, Interval],
        leads: list[Number],
        where: str,
    ) -> Iterator[State]:
        """Returns the keys that may win, among equal ones and one that wins if there are none. leads: is added to."""
        scale, target, ts = aim
        noise = 2 * max(e.noise for e, _ in equal)
        if len(others) > 1 or any(self.multiplicity(e.c) > 1 or e.upper(ts) != e.lower(ts) for e in others):
            reject(f"{where}: several keys may win where none is equal")
        found = []
        for e in others:
            leads += [one.lower(ts, part) - e.upper(ts) for one, part in equal]
            found.append(e.c.joint)
        names = names_of(target)
        last = max(part.bounds(index_of(part, e.name))[1] for e, part in equal)
        name = next(iter(names), "")
        if len(names) > 1:
            reject(f"{where}: the target is no function of one count")
        low, high = query.index(query.share(name)) if name else (1, 1)
        cases: list[tuple[Polynomial, int | None, int | None]]
        if low == high:
            t = sum((c * Fraction(1, low) ** len(monomial) for monomial, c in target.items()), Fraction(0))
            best, ahead = best_count(t, int(last))
            leads += [scale * gap - noise for gap in ahead]
            cases = [({}, best, best), ({}, 2, best - 1)]
        else:
            gaps = moving_gaps([(len(monomial), c) for monomial, c in target.items()], low, high, where)
            leads += [scale * gap - noise for gap in gaps]
            m = index_of(query, name)
            cases = [(m, 1, 1), (m, None, 0)]
        for m, least, most in cases:
            for e, part in equal:
                winner = part.restrict(part.fixed(plus(index_of(part, e.name), e.c.say(m), -1)), least, most)
                if winner is not None:
                    found.append(winner)
        return iter(found)

    def winners(
        self, query: State, pairs: Sequence[Pair], floor: Any, apart: Any, needed: Number, where: str
    ) -> tuple[Winners, list[Number]]:
        """Returns the parts in which a key may have the largest score. All others lose by a lead that suffices.

        floor: whose score the largest one is not below: classes of which each text has one before the query; "self"; or a position.
        """
        largest = self.machine.format.largest
        if any(pair.upper > largest for pair in pairs) and any(c.upper > largest for c in candidates_of(pairs)):
            reject(f"{where}: a score saturates")
        noise = 2 * max(pair.noise for pair in pairs)
        if floor == "self":
            some = frozenset[int | None]([None])
        elif type(floor) is not list:
            floor = whole(floor, self.machine.case)
            if not 1 <= floor < query.integer(POSITION).low:
                reject(f"{where}: no position before the query")
            spans = [(c, c.joint.bounds(c.place)) for c in candidates_of(pairs) if c.key is not None]
            some = frozenset(c.key for c, (low, high) in spans if low <= floor <= high)
        else:
            some = frozenset(map(whole, floor))
            if not self.is_sure(query.kind, some):  # type: ignore[arg-type]
                reject(f"{where}: a text may have none of these keys")
        winning = min(c.lower for c in candidates_of([pair for pair in pairs if pair.key in some]))
        lost = [winning - pair.upper for pair in pairs if winning - pair.upper >= needed + noise]
        candidates = candidates_of([pair for pair in pairs if winning - pair.upper < needed + noise])
        parts = [part for c in candidates if (part := winning_part(c, winning, lost)) is not None]
        winners = Winners(parts, [self.multiplicity(c) > 1 for c in parts])
        lead: Number | None = lattice([c.exact for c in candidates])
        if lead is not None and lead < needed + noise:
            by = 1
            if apart is not None:
                invariant = self.invariants[whole(apart)] if 0 <= apart < len(self.invariants) else None
                if not isinstance(invariant, Apart) or not winners.have_one_number(GROUP - apart):
                    reject(f"{where}: keys on the line may be of different numbers")
                by = invariant.by
            lead = max(lead, winners.lead(lost, by))
        self.require_lead(None if lead is None else lead - noise, winning - noise, pairs, needed, where)
        return winners, lost

    def multiplicity(self, c: Candidate) -> int:
        """Returns how many such keys there may be."""
        if not names_of(c.place) & c.own or (c.key is not None and c.key not in self.earlier(c.key)):
            return 1
        names = names_of(c.place)
        step = c.joint.integer(next(iter(names))).step if len(names) == 1 and c.place == atom(*names) else 1
        low, high = c.joint.bounds(c.place)
        return down(ratio(high - low, step)) + 1

    def most(self, query: State, winners: Sequence[Candidate]) -> int:
        """Returns how many keys can win at most: as many as there are of these classes, or positions from the first to the last."""
        spans = [c.joint.bounds(c.place) for c in winners]
        span = down(max(high for _, high in spans) - min(low for low, _ in spans)) + 1
        return smaller(smaller(sum(self.multiplicity(c) for c in winners), query.integer(POSITION).high), span)

    def mean(
        self,
        query: State,
        winners: Sequence[Candidate],
        sure: Any,
        *,
        everybody: bool,
        at: int,
        width: range,
        where: str,
    ) -> State:
        """Returns what several winners give, each with the weight ROUND(1/m): 0 of zeros; 1 of one key that surely wins; or a sum.

        sure: sets of classes, none in two; each text has one of each set before the query, and it wins: so m is as large as
        there are sets. It is no more than there are such keys, or positions from the first to the last. A sum of whole numbers
        from low to high is from m·low to m·high, and no multiple of a share is rounded; partial sums lie between 0 and it, or
        between these ends. everybody: no key loses.
        """
        top = max(c.upper for c in winners)
        alike = all(c.lower == top for c in winners)
        by_key = {c.key: c for c in winners}
        surely: list[frozenset[int | None]] = []
        for group in sure:
            some: frozenset[int | None] = frozenset(map(whole, group))
            if any(some & other for other in surely) or not self.is_sure(query.kind, some):  # type: ignore[arg-type]
                reject(f"{where}: a text may have none of these keys")
            if any(key not in by_key or not by_key[key].whole or by_key[key].lower != top for key in some):
                reject(f"{where}: a key that is said to win surely may not")
            surely.append(some)
        if None in by_key and by_key[None].whole and by_key[None].lower == top:
            surely.append(frozenset([None]))
        most = self.most(query, winners)
        total, share = query.fresh("m"), query.fresh("r")  # other letters, other names
        values: list[Polynomial] = []
        box: dict[str, Domain] = {**query.box, total: Integer(max(len(surely), 1), most), share: Share(total, 0)}
        if alike and everybody:
            box[share] = Share(POSITION, 0)
        count = atom(POSITION if alike and everybody else total)
        limits: list[tuple[Polynomial, int, int]] = []
        for j in width:
            some_parts = [c for c in winners if c.value(j)]
            if not some_parts:
                values.append({})
                continue
            if (
                same := next((i for i in range(j) if all(c.value(i) == c.value(j) for c in winners)), None)
            ) is not None:
                values.append(values[same])
                continue
            if not alike:
                reject(f"{where}: keys with different scores may win together")
            keys = frozenset(c.key for c in some_parts)
            places = {text_of(c.place) for c in some_parts}
            one_key = len(keys) == 1 or (len(places) == 1 and not names_of(some_parts[0].place))
            if keys in surely and one_key and all(self.multiplicity(c) == 1 and c.value(j) == ONE for c in some_parts):
                values.append(atom(share))
                continue
            if not all(
                c.joint.is_integer(c.value(j)) and all(x.denominator == 1 for x in c.value(j).values()) for c in winners
            ):
                reject(f"{where}: values that are no whole numbers have a mean")
            bounds = [c.joint.bounds(c.value(j)) for c in winners]
            ends = [end for low, high in bounds for end in (up(low), down(high))]
            name = replace(query, box=box).fresh("s")
            box[name] = Integer(min(*ends, 0) * most, max(*ends, 0) * most)
            limits.append((atom(name), min(ends), max(ends)))
            values.append({tuple(sorted((name, share))): 1})
        is_summed = not self.machine.fused and any(values)
        if is_summed and (most > self.machine.format.largest or any(c.noise for c in winners)):
            reject(f"{where}: the sum of weights may be rounded")
        state: State | None = replace(query, box=box)
        for summed, low, high in limits:
            state = state and state.restrict(plus(summed, count, -low), 0, None)
            state = state and state.restrict(plus(summed, count, -high), None, 0)
        if state is None:
            reject(f"{where}: a sum that no whole number is")
        for value in values:
            state, _ = state.round(value, where)
        return self.reads(state, at, values)


@dataclass(frozen=True)
class Counted:
    """A candidate whose score is taken apart. name: of its count, "" for none. score: the rest of it, of whole numbers."""

    c: Candidate
    name: str
    scale: Number
    score: Score
    noise: Number

    @staticmethod
    def of(c: Candidate, i: int, scale: Number, target: Polynomial, where: str) -> Counted:
        count = c.joint.register(COUNT - i)
        name = only_share(c.joint, count)
        rest = c.joint.ideal(c.exact)
        if name:
            rest = combine(((rest, 1), ({(name, name): 1}, scale), (times(target, atom(name)), -2 * scale)))
        elif count:
            reject(f"{where}: a count is no share")
        if not c.joint.is_integer(rest):
            reject(f"{where}: a score is not that of a distance between counts")
        score = Score.of(c.joint, rest, sorted(names_of(rest) & c.own))
        return Counted(c, name, scale, score, c.joint.error(c.exact) + c.noise)

    def upper(self, ts: Interval) -> Number:
        """Bounds the score from above: T·(2·t·y − y²) is at most T·t²."""
        return self.score.upper(self.c.joint) + (self.scale * max(t * t for t in ts) if self.name else 0) + self.noise

    def lower(self, ts: Interval, part: State | None = None) -> Number:
        """Bounds the score from below: y·(2·t − y) is linear in t and concave in y, so it is least in a corner.

        part: where the key is equal, and all squares are 0.
        """
        worst: Number = 0
        if self.name:
            ys = (part or self.c.joint).bounds(atom(self.name), ideal=True)
            worst = min(y * (2 * t - y) for t in ts for y in ys) * self.scale
        return (0 if part else self.score.lower(self.c.joint)) + worst - self.noise


def only_share(state: State, polynomial: Polynomial) -> str:
    """Returns the Share atom that it is; "" if it is none."""
    for monomial, c in polynomial.items():
        if len(polynomial) == 1 and len(monomial) == 1 and c == 1 and isinstance(state.box[monomial[0]], Share):
            return monomial[0]
    return ""


def index_of(state: State, name: str) -> Polynomial:
    share = state.share(name)
    return plus(atom(share.of), number(share.shift))


def target_of(candidates: Sequence[Candidate], i: int, where: str) -> tuple[Number, Polynomial]:
    """Returns T and t, by a key with a count."""
    for c in candidates:
        name = only_share(c.joint, c.joint.register(COUNT - i))
        if name in c.own:
            ideal = c.joint.ideal(c.exact)
            scale = -ideal.get((name, name), 0)
            if scale > 0:
                linear = {m: x for m, x in ideal.items() if m.count(name) == 1}
                target = combine([({without(m, name): 1}, Fraction(x) / (2 * scale)) for m, x in linear.items()])
                if not names_of(target) & c.own:
                    return scale, target
    return reject(f"{where}: no score is that of a distance between counts")


def best_count(t: Fraction, last: int) -> tuple[int, list[Number]]:
    """Returns, of the counts 1/2, …, 1/last, the index nearest to t; if there are fewer, the last one is nearest.

    And by how much squares differ.
    """

    def ahead(w: int, other: int) -> Number:
        return (Fraction(1, other) - t) ** 2 - (Fraction(1, w) - t) ** 2

    if (
        t * last <= 1
    ):  # no count is below t: the last one is nearest, whichever it is, and what it leads by falls with it
        return last, [ahead(last, last - 1)] if last >= 3 else []
    near = max(2, t.denominator // t.numerator)
    best = min((near, near + 1), key=lambda w: abs(Fraction(1, w) - t))
    leads = [ahead(best, other) for other in (best - 1, best + 1) if 2 <= other <= last]
    if best >= 4:
        leads.append(ahead(best - 1, best - 2))
    return best, leads


def moving_gaps(shares: Sequence[tuple[int, Number]], low: int, high: int, where: str) -> list[Number]:
    """Returns, of t = Σ c/m^i with 1/(m + 2) ≤ t ≤ 1/m, by how much 1/(m + 1) is nearer, in squares, than 1/m and 1/(m + 2).

    And what 1/m is nearer than 1/(m − 1): if the next count is not there, the last one that there is wins.
    """
    t = Ratio([0], [1])
    for i, c in shares:
        under: list[Number] = [0] * i
        t = t.plus(Ratio([c], [*under, 1]))
    shifts: list[Number] = [-1, 0, 1, 2]
    before, this, next_, after = (Ratio([1], [shift, 1]) for shift in shifts)
    if low < 3 or t.minus(after).least(low, high) < 0 or this.minus(t).least(low, high) < 0:
        reject(f"{where}: the target is not seen to lie between the next two counts")
    gap = next_.minus(t).square()
    ratios = (
        this.minus(t).square().minus(gap),
        after.minus(t).square().minus(gap),
        before.minus(this).times(before.plus(this).minus(t).minus(t)),
    )
    return [ratio.least(low, high) for ratio in ratios]


class Ratio(NamedTuple):
    """numerator(m)/denominator(m): coefficients, the constant first. The denominator is above 0 wherever it is used."""

    top: list[Number]
    under: list[Number]

    def plus(self, other: Ratio, factor: int = 1) -> Ratio:
        left, right = convolve(self.top, other.under), convolve(other.top, self.under)
        top = [a + factor * b for a, b in itertools.zip_longest(left, right, fillvalue=0)]
        return Ratio(top, convolve(self.under, other.under))

    def minus(self, other: Ratio) -> Ratio:
        return self.plus(other, -1)

    def times(self, other: Ratio) -> Ratio:
        return Ratio(convolve(self.top, other.top), convolve(self.under, other.under))

    def square(self) -> Ratio:
        return self.times(self)

    def least(self, low: int, high: int) -> Number:
        """Returns what it is not below at low … high: a little less than the smaller of both ends, if that is readable."""
        bound = min(Fraction(horner(self.top, m)) / horner(self.under, m) for m in (low, high))
        bound -= abs(bound) / 1024
        above = [a - bound * b for a, b in itertools.zip_longest(self.top, self.under, fillvalue=0)]
        if not never_negative(above, low, high):
            reject("the least value of a ratio is not known")
        return bound


def convolve(a: Sequence[Number], b: Sequence[Number]) -> list[Number]:
    result: list[Number] = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return result


def horner(polynomial: Sequence[Number], m: int) -> Number:
    value: Number = 0
    for c in reversed(polynomial):
        value = value * m + c
    return value


def never_negative(polynomial: Sequence[Number], low: int, high: int) -> bool:
    """Returns whether it is readable to be at least 0 at low … high: by Bernstein coefficients, or so on both halves."""
    todo, degree, pieces = [(low, high)], len(polynomial) - 1, 0
    while todo:
        low, high = todo.pop()
        pieces += 1
        if pieces > MOST_PIECES or horner(polynomial, low) < 0 or horner(polynomial, high) < 0:
            return False
        if high - low <= 64:
            if any(horner(polynomial, m) < 0 for m in range(low, high + 1)):
                return False
            continue
        width = high - low
        shifted = [
            sum(polynomial[j] * math.comb(j, i) * low ** (j - i) for j in range(i, degree + 1)) * width**i
            for i in range(degree + 1)
        ]
        shares = [Fraction(shifted[j]) / math.comb(degree, j) for j in range(degree + 1)]
        if any(sum(math.comb(i, j) * shares[j] for j in range(i + 1)) < 0 for i in range(degree + 1)):
            middle = math.isqrt(max(low, 1) * high) if high > 4 * max(low, 1) else (low + high) // 2
            todo += [(low, middle), (middle + 1, high)]
    return True


def square_of(polynomial: Polynomial) -> Polynomial:
    return times(polynomial, polynomial)


def winning_part(c: Candidate, winning: Number, lost: list[Number]) -> Candidate | None:
    """Returns the part in which it may have the largest score, at least `winning`. lost: by how much the rest is below."""
    while True:
        upper = c.upper
        if upper < winning:
            lost.append(winning - upper)
            return None
        for square in c.score.squares:
            low, high = c.joint.bounds(square.form)
            if low <= 0 <= high and low < high and square.gap > 0 and upper - square.gap < winning:
                lost.append(winning - upper + square.gap)
                part = c.joint.restrict(square.form, square.least, square.least)
                if part is None:
                    return None
                c = replace(c, joint=part, whole=False).scored()
                break
        else:
            return c


def lattice(polynomials: Sequence[Polynomial]) -> Number | None:
    """Returns the largest number of which each value is a multiple, as atoms are whole numbers; None if all are 0."""
    values = [c for polynomial in polynomials for c in polynomial.values()]
    if any(isinstance(c, Growing) for c in values):
        return common_divisor(values)
    result = Fraction(0)
    for polynomial in polynomials:
        for c in polynomial.values():
            a, b = result, abs(Fraction(c))
            while b:
                a, b = b, a % b
            result = a
    return result or None


@dataclass(frozen=True)
class Winners:
    """Parts of keys that may win. many: whether there may be several keys of each."""

    parts: Sequence[Candidate]
    many: Sequence[bool]

    def unique(self) -> bool:
        """Returns whether no two positions can tie."""
        on, least = self.line()
        if any(many and not is_on for many, is_on in zip(self.many, on, strict=True)):
            return False
        return all(lead for lead, _ in self.leads(on, least))

    def have_one_number(self, group: int) -> bool:
        """Returns whether all keys on the line have the same number ≥ 1 in this register."""
        on, _ = self.line()
        parts = [c for c, is_on in zip(self.parts, on, strict=True) if is_on]
        numbers = [c.joint.fixed(c.joint.register(group)) for c in parts]
        number_ = max(numbers, key=lambda one: len(names_of(one)), default={})
        for one, c in zip(numbers, parts, strict=True):
            if names_of(one) & c.own or not c.joint.same(one, c.say(number_)) or c.joint.bounds(one)[0] < 1:
                return False
            if not c.joint.is_integer(one):  # invariants are of the exact machine
                return False
        return bool(parts)

    def lead(self, lost: Sequence[Number], apart: int = 1) -> Number:
        """Returns by how much the largest score is above any other, ties left out; 0 if that is not seen.

        apart: the least distance of two keys on the line.
        """
        on, least = self.line()
        for part, many, is_on in zip(self.parts, self.many, on, strict=True):
            if many and not is_on and part.lower < part.upper:
                return 0
        leads = [lead for _, lead in self.leads(on, least) if lead is not None]
        several = sum(1 + many for many, is_on in zip(self.many, on, strict=True) if is_on) > 1
        return min([*lost, *leads, *([least * apart] if several else [])], default=0)

    def line(self) -> tuple[list[bool], Number]:
        """Returns which parts have scores that are one function of the key's position, without a value twice.

        And by how much it differs at two positions, at least.
        """
        nothing: tuple[list[bool], Number] = [False for _ in self.parts], 0
        functions = [f for c in self.parts if (f := line_of(c)) is not None]
        if not functions:
            return nothing
        function, square = functions[-1]
        on = [c.joint.same(c.exact, c.say(substitute(function, {LINE: c.place}))) for c in self.parts]
        if square is None:
            slope = function[LINE,]
            return on, max(slope, -slope)
        sides = [
            c.joint.bounds(c.joint.fixed(c.say(substitute(square.form, {LINE: c.place}))))
            for c, is_on in zip(self.parts, on, strict=True)
            if is_on
        ]
        low, high = min(low for low, _ in sides), max(high for _, high in sides)
        if low < 0 < high:
            return (on, square.cost * square.asymmetry) if square.asymmetry else nothing
        return on, square.cost * (2 * max(low, -high, 0) + 1)

    def leads(self, on: Sequence[bool], least: Number) -> Iterator[tuple[Number, Number | None]]:
        """Returns by how much scores of two parts, not both on the line, differ at two positions at least, and if they do."""
        spans = [(c.lower, c.upper) for c in self.parts]
        for i, c in enumerate(self.parts):
            for j in range(i):
                same = not names_of(c.place) and c.place == self.parts[j].place  # one position has one class
                if same or (on[i] and on[j]):
                    continue
                (low, high), (other_low, other_high) = spans[i], spans[j]
                lead = max(low - other_high, other_low - high, 0)
                numbers = low == high, other_low == other_high
                if lead:
                    yield lead, lead
                elif all(numbers):
                    yield lead, None
                elif (
                    any(numbers)
                    and (low == other_high or other_low == high)
                    and on[side := j if numbers[0] else i]
                    and has_value_at_ends(self.parts[side])
                ):
                    yield lead, least
                else:
                    yield lead, lead


def has_value_at_ends(c: Candidate) -> bool:
    """Returns whether the score is one square of a distance and a number, and its form may take its values at its bounds."""
    line = line_of(c)
    if line is None or line[1] is None or names_of(c.score.rest) or len(c.score.squares) != 1:
        return False
    (square,) = c.score.squares
    return all((end - square.form.get((), 0)).denominator == 1 for end in c.joint.bounds(square.form))


def line_of(c: Candidate) -> tuple[Polynomial, Square | None] | None:
    """Returns the score as a function of the key's position, if it depends on nothing else of the key, and has no value twice."""
    own = {POSITION} if c.key is None else c.own
    if (
        len(names := names_of(c.place)) != 1
        or names_of(c.exact) & own != names
        or c.place != atom(name := next(iter(names)))
    ):
        return None
    values = {name: atom(LINE)}
    squares = [square for square in c.score.squares if names_of(square.form) & own]
    if not squares:
        linear = all(name not in monomial or monomial == (name,) for monomial in c.exact)
        return (substitute(c.exact, values), None) if linear else None
    (square,) = squares if len(squares) == 1 else (None,)
    if square is None or abs(square.form.get((name,), 0)) != 1 or name in names_of(c.score.rest):
        return None
    low, high = c.joint.bounds(square.form)
    if low < 0 < high and not square.asymmetry:
        return None
    return substitute(c.exact, values), square._replace(form=substitute(square.form, values))
