"""A head that reads, among equal keys, the one whose count 1/m' is nearest to a target t (Lemma C.18).

Ideal score of a key with a count y = 1/m': −Σ cost·form² + T(2t·y − y²), and the last part is T·t² − T(y − t)²; of any other key an
integer polynomial. Equal keys have the counts 1/2, …, 1/(d + 1), each once: an invariant of the run. So t alone decides who wins.
With y_w = 1/w, the distance to t grows outwards on either side, so the nearest one leads by what it leads over its two neighbours.
Where all counts lie above t the last one wins, and its margin T(y_{w−1} − y_w)(y_{w−1} + y_w − 2t) falls with w, as both
factors do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from verify.algebra.domains import Integer, Reciprocal, Refused, Undecided
from verify.algebra.polynomial import Polynomial, atom, constant, decimal, quotient, whole
from verify.algebra.rational import Ratio, least, unit
from verify.algebra.symbolic import grows
from verify.rounding.abstract_state import AbstractState
from verify.rounding.scores import Score, complete_squares

Part = Callable[[AbstractState, Polynomial], AbstractState | None]  # of a state whose count has this index


@dataclass(frozen=True)
class Key:
    """A query and one state of a key. exact: the score. on_grid: no operator rounds it. own: the key's atoms. sure, many: there is
    such a key, there may be several. group, count: registers. text: what the key is.
    """

    joint: AbstractState
    exact: Polynomial
    on_grid: bool
    own: frozenset[str]
    sure: bool
    group: Polynomial
    count: Polynomial
    many: bool
    text: str


@dataclass
class PossibleWinners:
    """Who can win. winners: each for itself; tied: any number of these together. winning: the least largest score.

    texts: which keys these are, and what the equal ones are equal to.
    """

    winners: list[AbstractState] = field(default_factory=list)
    tied: list[AbstractState] = field(default_factory=list)
    winning: Fraction = Fraction(0)
    margin: Fraction = Fraction(0)
    by_invariant: bool = False
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ScoredKey:
    """A key with its score taken apart. count: the atom 1/m', "" for none. squares: the integer part. noise: of the rounding."""

    key: Key
    count: str
    squares: Score
    noise: Fraction

    @property
    def index(self) -> Polynomial:
        """m'."""
        domain = self.key.joint.box[self.count]
        if not isinstance(domain, Reciprocal):
            raise TypeError("domain is no Reciprocal")
        return atom(domain.of) + constant(domain.shift)


def nearest_count_of(query: AbstractState, keys: Sequence[Key], operators: int) -> NearestCount | None:
    """Returns the choice among these keys, if their scores have that form. operators: how often a score is rounded on its way."""
    scale, target = Fraction(0), constant(0)
    for key in keys:
        name = _count(key)
        if name in key.own:
            ideal = key.joint.ideal(key.exact)
            scale = -ideal.terms.get((name, name), Fraction(0))
            if scale <= 0:
                return None
            linear = {m: c for m, c in ideal.terms.items() if m.count(name) == 1}
            target = Polynomial({_without(m, name): c for m, c in linear.items()}) * (Fraction(1) / (2 * scale))
            if target.atoms & key.own:
                return None
            break
    if not scale:
        return None
    scored_keys = []
    for key in keys:
        name, whole = _count(key), key.joint.ideal(key.exact)
        if name:
            y = atom(name)
            whole = whole + y * y * scale - target * y * (2 * scale)
        elif key.count.terms:
            return None
        if any(key.joint.integer(a) is None for a in whole.atoms):
            return None
        order = sorted(whole.atoms & key.own) + sorted(whole.atoms - key.own)
        noise = key.joint.error(key.exact) + (0 if key.on_grid else operators) * query.space.step
        scored_keys.append(ScoredKey(key, name, complete_squares(key.joint, whole, order), noise))
    return NearestCount(query, tuple(scored_keys), scale, target)


def _count(key: Key) -> str:
    """Returns the atom that is the key's count, if it is one."""
    names = list(key.count.terms)
    if len(names) == 1 and len(names[0]) == 1 and key.count == atom(names[0][0]):
        return names[0][0] if isinstance(key.joint.box[names[0][0]], Reciprocal) else ""
    return ""


def _without(monomial: tuple[str, ...], name: str) -> tuple[str, ...]:
    rest = list(monomial)
    rest.remove(name)
    return tuple(rest)


@dataclass(frozen=True)
class NearestCount:
    """A query and its keys. scale: T. target: t, ideally."""

    query: AbstractState
    scored_keys: tuple[ScoredKey, ...]
    scale: Fraction
    target: Polynomial

    def run(self, needed: int, where: str) -> PossibleWinners:
        """Raises Refused where a margin is too small, Undecided where no rule fits."""
        outcome = PossibleWinners(winning=max(self._lower(e) for e in self.scored_keys if e.key.sure))
        margins: list[Fraction] = []
        equal: list[tuple[ScoredKey, AbstractState]] = []
        others: list[ScoredKey] = []
        shared: list[Polynomial] = []
        for e in self.scored_keys:
            upper = self._upper(e)
            impossible = any(not low <= 0 <= high for low, high in self._ends(e))
            if upper < outcome.winning and (impossible or not e.count):
                margins.append(outcome.winning - upper)
            elif e.count:
                part = self._equal(e, outcome.winning, margins, shared, where)
                if part is not None:
                    equal.append((e, part))
            else:
                others.append(e)
        if equal:
            outcome.by_invariant = True
            outcome.texts += [f"equal to {shared[0]}", *(e.key.text for e, _ in equal)]
            self._nearest(equal, others, outcome, margins, where)
        elif all(self._upper(e) == self._lower(e) for e in others) and len({self._upper(e) for e in others}) == 1:
            outcome.tied = [e.key.joint for e in others]
            outcome.texts += [f"tied {e.key.text}" for e in others]
        else:
            raise Undecided(where, f"who wins at {self.query.label} is not known")
        outcome.margin = min(margins, default=Fraction(0))
        if margins and outcome.margin < needed:
            raise Refused(
                where,
                f"scores of {self.query.label} may differ by {decimal(outcome.margin)} only; {needed} is needed",
            )
        return outcome

    def lowest(self) -> list[Fraction]:
        """Returns lower bounds of the scores."""
        return [self._lower(e) for e in self.scored_keys]

    def _ends(self, e: ScoredKey) -> list[tuple[Fraction, Fraction]]:
        return [e.key.joint.bounds(square.form) for square in e.squares.squares]

    def _upper(self, e: ScoredKey) -> Fraction:
        low, high = self.query.bounds(self.target, ideal=True)
        best = self.scale * max(low * low, high * high) if e.count else Fraction(0)
        return e.squares.upper(e.key.joint) + best + e.noise

    def _lower(self, e: ScoredKey, joint: AbstractState | None = None) -> Fraction:
        worst = -e.noise
        joint = joint or e.key.joint
        if e.count:
            # 2t·y − y² is linear in t and concave in y: least in a corner.
            ts = self.query.bounds(self.target, ideal=True)
            ys = joint.bounds(atom(e.count), ideal=True)
            worst += min(y * (2 * t - y) for t in ts for y in ys) * self.scale
        squares = e.squares if joint is e.key.joint else Score((), constant(0))
        return squares.lower(joint) + worst

    def _equal(
        self, e: ScoredKey, winning: Fraction, margins: list[Fraction], shared: list[Polynomial], where: str
    ) -> AbstractState | None:
        """Returns the part in which the key is equal to the query. shared: the number that equal keys have, once it is known."""
        upper = self._upper(e)
        joint, squares = e.key.joint, e.squares.squares
        if e.squares.rest.terms or len(squares) > 1 or (squares and upper - squares[0].cost >= winning):
            raise Undecided(where, f"a key of {self.query.label} may win though it differs")
        form = squares[0].form if squares else constant(0)
        # What equal keys share must be the invariant's number, the same for all of them, and at least 1.
        for sought in (e.key.group - form, e.key.group + form):
            sought = joint.fixed(sought)
            if not sought.atoms & e.key.own and joint.bounds(sought)[0] >= 1 and sought in shared:
                break
            if not sought.atoms & e.key.own and joint.bounds(sought)[0] >= 1 and not shared:
                shared.append(sought)
                break
        else:
            raise Undecided(where, f"what is compared at {self.query.label} is not the invariant's number")
        if not squares:
            return joint
        margins.append(winning - (upper - squares[0].cost))
        return joint.restricted(form, Fraction(0), Fraction(0))

    def _nearest(
        self,
        equal: Sequence[tuple[ScoredKey, AbstractState]],
        others: Sequence[ScoredKey],
        outcome: PossibleWinners,
        margins: list[Fraction],
        where: str,
    ) -> None:
        noise = 2 * max(e.noise for e, _ in equal)
        if len(others) > 1 or any(e.key.many or self._upper(e) != self._lower(e) for e in others):
            raise Undecided(where, f"several keys of {self.query.label} may be the default")
        for e in others:
            margins += [self._lower(one, joint) - self._upper(e) for one, joint in equal]
            outcome.winners.append(e.key.joint)
            outcome.texts.append(f"default {e.key.text}")
        last = max(whole(joint.bounds(e.index)[1]) for e, joint in equal)
        for part in self._cases(last, noise, margins, where):
            for e, joint in equal:
                winner = part(joint, e.index)
                if winner is not None:
                    outcome.winners.append(winner)

    def _cases(self, last: int, noise: Fraction, margins: list[Fraction], where: str) -> list[Part]:
        """Returns which index wins in each part of the counts, with the margins on the way."""
        names = self.target.atoms
        if not names:
            return self._constant_target(self.target.constant, last, noise, margins)
        name = next(iter(names))
        domain = self.query.box[name]
        if len(names) != 1 or not isinstance(domain, Reciprocal):
            raise Undecided(where, f"the target of {self.query.label} is no function of one count: {self.target}")
        index = self.query.index_of(domain)
        if index.low == index.high:
            fixed = self.target.substitute({name: constant(quotient(1, index.low))})
            return self._constant_target(fixed.constant, last, noise, margins)
        return self._moving_target(domain, index, noise, margins, where)

    def _constant_target(self, t: Fraction, last: int, noise: Fraction, margins: list[Fraction]) -> list[Part]:
        def lead(w: int, other: int) -> Fraction:
            return self.scale * ((quotient(1, other) - t) ** 2 - (quotient(1, w) - t) ** 2) - noise

        def among(low: int, high: int) -> Part:
            return lambda joint, index: joint.restricted(index, low, high)

        if t * last <= 1:  # no count is below t: the last one wins
            if last >= 3:
                margins.append(lead(last, last - 1))
            return [among(last, last), among(2, last - 1)]
        near = max(2, t.denominator // t.numerator)
        best = min((near, near + 1), key=lambda w: abs(Fraction(1, w) - t))
        margins += [lead(best, other) for other in (best - 1, best + 1) if 2 <= other <= last]
        if best <= 2:
            return [among(2, 2)]
        if best - 1 >= 3:
            margins.append(lead(best - 1, best - 2))
        return [among(best, best), among(2, best - 1)]

    def _moving_target(
        self, domain: Reciprocal, index: Integer, noise: Fraction, margins: list[Fraction], where: str
    ) -> list[Part]:
        """Returns the winners for a target t = τ(1/m) in 1/(m + 2) … 1/m: the count after 1/m, or the last one if none follows."""
        shares = tuple(sorted((len(monomial), c) for monomial, c in self.target.terms.items()))
        endless = any(grows(value) for value in (index.low, index.high, *(c for _, c in shares)))
        bounds = (_nearest_by.__wrapped__ if endless else _nearest_by)(
            shares, index.low, index.high
        )  # each walk asks for itself
        if bounds is None:
            raise Undecided(
                where,
                f"the target of {self.query.label} is not seen to lie between the next two counts, or the lead to be bounded",
            )
        margins += [self.scale * bound - noise for bound in bounds]
        m = atom(domain.of) + constant(domain.shift)
        return [
            lambda joint, entry_index: joint.restricted(entry_index - m, Fraction(1), Fraction(1)),
            lambda joint, entry_index: joint.restricted(entry_index - m, None, Fraction(0)),
        ]


@cache
def _nearest_by(shares: tuple[tuple[int, Fraction], ...], low: int, high: int) -> tuple[Fraction, ...] | None:
    """Returns what 1/(m + 1) is nearer to t = Σ c/m^i than 1/m, 1/(m + 2) and, by its square's share, 1/(m − 1), for m from low
    to high.

    None unless 1/(m + 2) ≤ t ≤ 1/m, and where no bound is easy to prove. shares: the pairs (i, c).
    """
    t = Ratio((Fraction(0),))
    for power, c in shares:
        term = Ratio((c,))
        for _ in range(power):
            term = term * unit(0)
        t = t + term
    before, this, behind, after = unit(-1), unit(0), unit(1), unit(2)
    between = (least(t - after, low, high), least(this - t, low, high))
    if low < 3 or any(bound is None or bound < 0 for bound in between):
        return None
    gap = (behind - t) * (behind - t)
    ratios = (
        (this - t) * (this - t) - gap,
        (after - t) * (after - t) - gap,
        (before - this) * (before + this - t - t),
    )
    bounds = tuple(least(ratio, low, high) for ratio in ratios)
    return None if None in bounds else bounds  # type: ignore[return-value]
