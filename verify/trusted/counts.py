"""Reads, among equal keys, the one whose count 1/m is nearest to a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.trusted.abstract_state import Score, State
from verify.trusted.automaton import Consecutive
from verify.trusted.candidates import COUNT, GROUP, Candidate
from verify.trusted.keys import Reading
from verify.trusted.numbers import Interval, Number
from verify.trusted.polynomials import Polynomial, atom, combine, names_of, plus, times, without
from verify.trusted.ratios import Ratio
from verify.trusted.rejection import reject


def read_count(reading: Reading, i: int) -> list[State]:
    """Reads, among equal keys, the one whose count y = 1/m' is nearest to a target t, in the exact machine.

    The exact score of a key with a count is −Σ cost·form² + T·(2·t·y − y²), and the last part is T·t² − T·(y − t)²; of any
    other key it has no count. `noise` is how far the p-bit machine's score may be from that. Equal keys have the group's
    number s ≥ 1, alike for all: by the invariant they have the counts 1/2, …, 1/(d + 1), each once. If there are none,
    another key wins that each text has.
    """
    keys, query, where, candidates = reading.keys, reading.query, reading.where, reading.candidates
    if not 0 <= i < len(keys.invariants) or not isinstance(keys.invariants[i], Consecutive):
        reject(f"{where}: there is no such invariant")
    scale, target = target_of(candidates, i, where)
    scored = [Counted.take_apart(c, i, scale, target, where) for c in candidates]
    ts = query.bounds(target, ideal=True)
    winning = max(e.lower(ts) for e in scored if e.c.key is None or keys.is_sure(query.kind, frozenset([e.c.key])))
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
            numbers = [e.c.joint.fixed(plus(group, form, sign)) for sign in (-1, 1)]
            numbers = [one for one in numbers if not names_of(one) & e.c.own and shared in (None, one)]
            numbers = [one for one in numbers if e.c.joint.is_integer(one) and e.c.joint.bounds(one)[0] >= 1]
            if not numbers:
                reject(f"{where}: what is compared is not the invariant's number")
            shared = numbers[0]
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
        winners = nearest(reading, equal, others, (scale, target, ts), leads)
        parts = [reading.part_of(part) for part in winners]
    else:
        top = others[0].upper(ts)
        if any(e.upper(ts) != top or e.lower(ts) != top for e in others) or any(
            e.c.value(j) for e in others for j in reading.width
        ):
            reject(f"{where}: it is not known who wins")
        parts = [reading.part(query, [{} for _ in reading.width])]
    if any(e.upper(ts) > keys.machine.format.largest for e in scored):
        reject(f"{where}: a score saturates")
    reading.require_lead(min(leads, default=None), winning)
    return parts


def nearest(
    reading: Reading,
    equal: Sequence[tuple[Counted, State]],
    others: Sequence[Counted],
    aim: tuple[Number, Polynomial, Interval],
    leads: list[Number],
) -> Iterator[State]:
    """Returns the keys that may win, among equal ones and one that wins if there are none. leads: is added to."""
    query, where, (scale, target, ts) = reading.query, reading.where, aim
    noise = 2 * max(e.noise for e, _ in equal)
    if len(others) > 1 or any(reading.keys.multiplicity(e.c) > 1 or e.upper(ts) != e.lower(ts) for e in others):
        reject(f"{where}: several keys may win where none is equal")
    found = []
    for e in others:
        leads += [one.lower(ts, part) - e.upper(ts) for one, part in equal]
        found.append(e.c.joint)
    names = names_of(target)
    last = max(part.bounds(part.index_of(e.name))[1] for e, part in equal)
    name = next(iter(names), "")
    if len(names) > 1:
        reject(f"{where}: the target is no function of one count")
    low, high = query.index(query.share(name)) if name else (1, 1)
    cases: list[tuple[Polynomial, int | None, int | None]]
    if low == high:
        t = sum((c * Fraction(1, low) ** len(monomial) for monomial, c in target.items()), Fraction(0))
        best, gaps = best_count(t, int(last))
        leads += [scale * gap - noise for gap in gaps]
        cases = [({}, best, best), ({}, 2, best - 1)]
    else:
        gaps = moving_gaps([(len(monomial), c) for monomial, c in target.items()], low, high, where)
        leads += [scale * gap - noise for gap in gaps]
        m = query.index_of(name)
        cases = [(m, 1, 1), (m, None, 0)]
    for m, least, most in cases:
        for e, part in equal:
            winner = part.restrict(part.fixed(plus(part.index_of(e.name), e.c.say(m), -1)), least, most)
            if winner is not None:
                found.append(winner)
    return iter(found)


@dataclass(frozen=True)
class Counted:
    """A candidate whose score is taken apart. name: of its count, "" for none. score: the rest of it, of whole numbers."""

    c: Candidate
    name: str
    scale: Number
    score: Score
    noise: Number

    @staticmethod
    def take_apart(c: Candidate, i: int, scale: Number, target: Polynomial, where: str) -> Counted:
        count = c.joint.register(COUNT - i)
        name = c.joint.only_share(count)
        rest = c.joint.ideal(c.exact)
        if name:
            rest = combine(((rest, 1), ({(name, name): 1}, scale), (times(target, atom(name)), -2 * scale)))
        elif count:
            reject(f"{where}: a count is no share")
        if not c.joint.is_integer(rest):
            reject(f"{where}: a score is not that of a distance between counts")
        score = Score.complete(c.joint, rest, sorted(names_of(rest) & c.own))
        return Counted(c, name, scale, score, c.joint.error(c.exact) + c.noise)

    def upper(self, ts: Interval) -> Number:
        """Returns an upper bound of the score: T·(2·t·y − y²) is at most T·t²."""
        return self.score.upper(self.c.joint) + (self.scale * max(t * t for t in ts) if self.name else 0) + self.noise

    def lower(self, ts: Interval, part: State | None = None) -> Number:
        """Returns a lower bound of the score: y·(2·t − y) is linear in t and concave in y, so it is least in a corner.

        part: where the key is equal, and all squares are 0.
        """
        worst: Number = 0
        if self.name:
            ys = (part or self.c.joint).bounds(atom(self.name), ideal=True)
            worst = min(y * (2 * t - y) for t in ts for y in ys) * self.scale
        return (0 if part else self.score.lower(self.c.joint)) + worst - self.noise


def target_of(candidates: Sequence[Candidate], i: int, where: str) -> tuple[Number, Polynomial]:
    """Returns T and t, by a key with a count."""
    for c in candidates:
        name = c.joint.only_share(c.joint.register(COUNT - i))
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

    def lead(w: int, other: int) -> Number:
        return (Fraction(1, other) - t) ** 2 - (Fraction(1, w) - t) ** 2

    if (
        t * last <= 1
    ):  # no count is below t: the last one is nearest, whichever it is, and what it leads by falls with it
        return last, [lead(last, last - 1)] if last >= 3 else []
    near = max(2, t.denominator // t.numerator)
    best = min((near, near + 1), key=lambda w: abs(Fraction(1, w) - t))
    leads = [lead(best, other) for other in (best - 1, best + 1) if 2 <= other <= last]
    if best >= 4:
        leads.append(lead(best - 1, best - 2))
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
    far, near = this.minus(t), next_.minus(t)
    gap = near.times(near)
    ratios = (
        far.times(far).minus(gap),
        after.minus(t).times(after.minus(t)).minus(gap),
        before.minus(this).times(before.plus(this).minus(t).minus(t)),
    )
    return [ratio.least(low, high) for ratio in ratios]
