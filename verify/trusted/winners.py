"""Reads the one key of largest score: which keys may win, by how much, and why no two of them tie."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from verify.trusted.abstract_state import POSITION, State
from verify.trusted.automaton import Apart
from verify.trusted.candidates import GROUP, LINE, Candidate, candidates_of, line_of
from verify.trusted.keys import Reading
from verify.trusted.model import whole
from verify.trusted.numbers import Number, grows
from verify.trusted.polynomials import Polynomial, names_of, substitute
from verify.trusted.rejection import reject


def read_one(reading: Reading, floor: Any, apart: Any) -> list[State]:
    """Reads the key of largest score, of which there is one."""
    winners, _ = find_winners(reading, floor, apart)
    if not winners.unique() and reading.most(winners.parts) > 1:
        reject(f"{reading.where}: two keys may have the same score")
    return [reading.part_of(c.joint) for c in winners.parts]


def find_winners(reading: Reading, floor: Any, apart: Any) -> tuple[Winners, list[Number]]:
    """Returns the parts in which a key may have the largest score. All others lose by a lead that suffices.

    floor: whose score the largest one is not below: classes of which each text has one before the query; "self"; or a position.
    """
    keys, query, pairs, where = reading.keys, reading.query, reading.pairs, reading.where
    largest, needed = keys.machine.format.largest, reading.needed
    if any(pair.upper > largest for pair in pairs) and any(c.upper > largest for c in reading.candidates):
        reject(f"{where}: a score saturates")
    noise = 2 * max(pair.noise for pair in pairs)
    if floor == "self":
        some = frozenset[int | None]([None])
    elif type(floor) is not list:
        floor = whole(floor, keys.machine.case)
        if not 1 <= floor < query.integer(POSITION).low:
            reject(f"{where}: no position before the query")
        spans = [(c, c.joint.bounds(c.place)) for c in reading.candidates if c.key is not None]
        some = frozenset(c.key for c, (low, high) in spans if low <= floor <= high)
    else:
        some = frozenset(map(whole, floor))
        if not keys.is_sure(query.kind, some):  # type: ignore[arg-type]
            reject(f"{where}: a text may have none of these keys")
    winning = min(c.lower for c in candidates_of([pair for pair in pairs if pair.key in some]))
    lost = [winning - pair.upper for pair in pairs if winning - pair.upper >= needed + noise]
    candidates = candidates_of([pair for pair in pairs if winning - pair.upper < needed + noise])
    parts = [part for c in candidates if (part := winning_part(c, winning, lost)) is not None]
    winners = Winners(parts, [keys.multiplicity(c) > 1 for c in parts])
    lead: Number | None = lattice([c.exact for c in candidates])
    if lead is not None and lead < needed + noise:
        by = 1
        if apart is not None:
            invariant = keys.invariants[whole(apart)] if 0 <= apart < len(keys.invariants) else None
            if not isinstance(invariant, Apart) or not winners.have_one_number(GROUP - apart):
                reject(f"{where}: keys on the line may be of different numbers")
            by = invariant.by
        lead = max(lead, winners.lead(lost, by))
    reading.require_lead(None if lead is None else lead - noise, winning - noise)
    return winners, lost


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
                c = replace(c, joint=part, whole=False)
                break
        else:
            return c


def lattice(polynomials: Sequence[Polynomial]) -> Number | None:
    """Returns the largest number of which each value is a multiple, as atoms are whole numbers; None if all are 0."""
    values = [c for polynomial in polynomials for c in polynomial.values()]
    if of_n := [c for c in values if grows(c)]:
        return of_n[0].common_divisor(values)  # type: ignore[union-attr,no-any-return]
    divisor = Fraction(math.gcd(*(c.numerator for c in values)), math.lcm(*(c.denominator for c in values)))
    return divisor or None


@dataclass(frozen=True)
class Winners:
    """Parts of keys that may win. many: whether there may be several keys of each."""

    parts: Sequence[Candidate]
    many: Sequence[bool]

    def unique(self) -> bool:
        """Returns whether no two positions can tie."""
        on, _ = self.line
        several = any(many and not is_on for many, is_on in zip(self.many, on, strict=True))
        return not several and all(lead for lead, _ in self.leads())

    def have_one_number(self, group: int) -> bool:
        """Returns whether all keys on the line have the same number ≥ 1 in this register."""
        parts = [c for c, is_on in zip(self.parts, self.line[0], strict=True) if is_on]
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
        on, least = self.line
        for part, many, is_on in zip(self.parts, self.many, on, strict=True):
            if many and not is_on and part.lower < part.upper:
                return 0
        leads = [lead for _, lead in self.leads() if lead is not None]
        several = sum(1 + many for many, is_on in zip(self.many, on, strict=True) if is_on) > 1
        return min([*lost, *leads, *([least * apart] if several else [])], default=0)

    @cached_property
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

    def leads(self) -> Iterator[tuple[Number, Number | None]]:
        """Returns by how much scores of two parts, not both on the line, differ at two positions at least, and if they do."""
        on, least = self.line
        for i, c in enumerate(self.parts):
            for j, d in enumerate(self.parts[:i]):
                same = not names_of(c.place) and c.place == d.place  # one position has one class
                if same or (on[i] and on[j]):
                    continue
                lead = max(c.lower - d.upper, d.lower - c.upper, 0)
                numbers = c.lower == c.upper, d.lower == d.upper
                side = j if numbers[0] else i
                touches = any(numbers) and (c.lower == d.upper or d.lower == c.upper)
                if lead:
                    yield lead, lead
                elif all(numbers):
                    yield lead, None
                else:
                    yield lead, least if touches and on[side] and has_value_at_ends(self.parts[side]) else lead


def has_value_at_ends(c: Candidate) -> bool:
    """Returns whether the score is one square of a distance and a number, and its form may take its values at its bounds."""
    line = line_of(c)
    if line is None or line[1] is None or names_of(c.score.rest) or len(c.score.squares) != 1:
        return False
    (square,) = c.score.squares
    return all((end - square.form.get((), 0)).denominator == 1 for end in c.joint.bounds(square.form))
