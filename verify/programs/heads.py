"""Who wins a head, in place of its scores.

The score, for the query's position k and each j ≤ k, is a polynomial in the key's atoms with coefficients that are terms of k.
What has no key atom is the same for all j and does not count. These are the rules:
  nearest  −c·j² + 2c·f·j with c > 0 and an integer f is −c(j − f)² but for what all share: the position nearest to f wins, and
           no two of them tie, as 1 … k has no gap
  match    −Σ S_i(x_i(j) − y_i)² − G(j − f)² for j > 1, with integers x_i, y_i and G ≥ 0, and something else, δ, at j = 1.
           Let t ≤ G(j − f)² ≤ T over 2 … k. A j > 1 that matches has −T at least; one that does not has −min S_i − t at most. So
           if −min S_i − t < δ < −T, a match wins if there is one, else 1: the first match if f ≤ 2, the last if f ≥ k. Where k
           itself matches, δ < −T is enough, with −min S_i − t < −T. If δ > −t, then 1 wins, whatever matches. If G = δ = 0,
           then 1 and all matches tie. If f lies elsewhere, the match nearest to f wins, where 2f is no integer: then i + j is not
           2f for any two positions, so that no two are as near.
  one      as match with G = 0, where one of the x is 1[j = c], of which 1 is asked: so one position matches at most. If
           −min S_i < δ < 0, it wins if there is one, else 1
  line     as match, with c·j in place of the position's term, c ≠ 0, and t ≤ −c·j ≤ T: the last match wins if c > 0, else the first
  count    as match, with −T(c − t)² in place of the position's term. The c of what matches are 1/2, 1/3, …, each once (an invariant
           of the run), and t is nearest to 1/(q + 1), where 1/q is one of them, or 1: then 1/(q + 1) wins, or else the smallest
           c. For t = 0, the smallest. Where the key asked for may be one that no invariant speaks of, some match wins, or 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.language.terms import (
    FIRST,
    ONE,
    POSITION,
    ZERO,
    Closest,
    Equal,
    Matched,
    Matching,
    Monomial,
    Nearest,
    Next,
    Pick,
    Term,
    as_term,
    term,
)
from verify.algebra.symbolic import is_never_whole
from verify.programs.facts import Facts
from verify.programs.forms import at_first, expanded, scaled
from verify.programs.shares import Normal, denominator, wish

K = as_term(POSITION)
MOST_FACTOR = 8  # of a number that a key is compared with
MOST_MULTIPLE = 3  # of a bit that is a key
Rows = tuple[tuple[Term, Term], ...]
Compared = tuple[Fraction, Term, Term]  # a cost, what each key has, what is asked for


@dataclass(frozen=True)
class Tied:
    """Position 1 and all positions of 2 … k that match."""

    matching: Matching


@dataclass(frozen=True)
class Among:
    """Position 1, or some of those of 2 … k that match."""

    matching: Matching


def by_key(rows: Rows) -> dict[Monomial, Term]:
    """Returns the score's coefficients: monomial of the key → term of the query. What all keys share is left out."""
    coefficients: dict[Monomial, Term] = {}
    for key, query in rows:
        for monomial, c in key.items:
            if monomial:
                coefficients[monomial] = coefficients.get(monomial, ZERO) + query * c
    return {
        monomial: coefficients[monomial]
        for monomial in sorted(coefficients, key=_order)
        if coefficients[monomial] != ZERO
    }


def _order(monomial: Monomial) -> tuple[str, ...]:
    return tuple(a.order for a in monomial)


def as_rows(score: dict[Monomial, Term]) -> Rows:
    """Returns the coefficients as rows, one for each monomial."""
    return tuple((term([(monomial, 1)]), query) for monomial, query in score.items())


def winners(score: dict[Monomial, Term], normal: Normal) -> Nearest | Matched | Tied | Among | None:
    """Returns which positions have the largest score; None if no rule finds them. normal: the normal form at k."""
    facts = normal.facts
    rest = dict(score)
    bend = rest.pop((POSITION, POSITION), ZERO)
    slope = rest.pop((POSITION,), ZERO)
    if not bend.is_constant or bend.constant > 0:
        return None
    if bend == ZERO and slope != ZERO:
        return _on_a_line(slope, rest, normal) if slope.is_constant else None
    weight = -bend.constant
    target = slope * (1 / (2 * weight)) if weight else ZERO
    whole = facts.is_integer(target)
    if not whole and not _never_halfway(target, facts):
        return None
    if not rest:
        return Nearest(target) if weight and whole else None
    default = rest.pop((FIRST,), ZERO)
    pairs, wishes = _pairs(rest, facts)
    if (rest and not pairs) or len(wishes) > (not weight):
        return None
    off = ONE - target
    default = _at_first(default - off * off * weight, pairs, normal)
    matching = _in_order((key, query) for _, key, query in pairs)
    mismatch = min((cost for cost, _, _ in pairs), default=weight)
    if wishes:
        return _prefer(wishes[0], matching, mismatch, default, normal)
    low, high = facts.bounds(default)
    if not weight:  # a match has 0, any other one less
        if default == ZERO and pairs:
            return Tied(matching)
        if type(low) is Fraction and low > 0:
            return Nearest(ONE)
        one = any(_is_one_position(key) and query == ONE for key, query in matching.pairs)
        return Pick(matching) if one and -mismatch < low and high < 0 else None
    # f − j for j from 2 to k, where there is one.
    end, begin = facts.bounds(target - K)[0], facts.bounds(target - 2)[1]
    far = weight * max(end * end, begin * begin)
    near = weight * (end * end if end >= 0 else begin * begin if begin <= 0 else 0)
    if low > -near:
        return Nearest(ONE)
    if default == ZERO and whole:  # the position is a key as others are: what has all of them has 0, as 1 has
        return Tied(_in_order([*matching.pairs, (K, target)]))
    if not pairs:
        return None
    if not (-mismatch - near < -far and high < -far):
        return None
    if not (-mismatch - near < low or all(normal.term(key) == query for _, key, query in pairs)):
        return None
    if begin <= 0:
        return Pick(matching)
    return Pick(matching, last=True) if end >= 0 else None if whole else Closest(matching, target)


def _is_one_position(key: Term) -> bool:
    """Returns whether it is 1 at one position alone."""
    return any(isinstance(a, Equal) and key == as_term(a) and a.of == K for a in key.atoms)


def _on_a_line(slope: Term, rest: dict[Monomial, Term], normal: Normal) -> Pick | None:
    """Returns the first or the last match, by a preference c·j, c ≠ 0. slope: c. rest: the other coefficients."""
    facts, c = normal.facts, slope.constant
    default = rest.pop((FIRST,), ZERO)
    pairs, wishes = _pairs(rest, facts)
    if not pairs or wishes:
        return None
    low, high = facts.bounds(_at_first(default + slope, pairs, normal))
    ends = (2 * c, facts.bounds(K)[1] * c)
    worst, best = ends if c > 0 else ends[::-1]
    unequal = best - min(cost for cost, _, _ in pairs)
    matches_itself = all(normal.term(key) == query for _, key, query in pairs)
    if not (unequal < worst and high < worst and (unequal < low or matches_itself)):
        return None
    return Pick(_in_order((key, query) for _, key, query in pairs), last=c > 0)


def _at_first(default: Term, pairs: Sequence[Compared], normal: Normal) -> Term:
    """Returns δ, the score of position 1 relative to a full match. default: δ without the compared pairs."""
    for cost, key, query in pairs:
        off = as_term(at_first(key, normal.facts.start)) - query
        default = default - off * off * cost
    return normal.term(expanded(default))


def _in_order(pairs: Iterable[tuple[Term, Term]]) -> Matching:
    return Matching(tuple(sorted(pairs, key=lambda p: (p[0].order, p[1].order))))


def _never_halfway(target: Term, facts: Facts) -> bool:
    """Returns whether it is seen to be nowhere half of an integer."""
    twice = target * 2
    return is_never_whole(twice.constant) and facts.is_integer(twice - twice.constant)


def _prefer(
    preference: Compared, matching: Matching, mismatch: Fraction, default: Term, normal: Normal
) -> Next | Among | None:
    """Returns the selection of the match whose count is nearest to the query. default: the score at position 1, where it is 0."""
    facts, (cost, key, query) = normal.facts, preference
    group = next((g for g in facts.groups if normal.everywhere.term(g.count) == key), None)
    if group is None or at_first(key, facts.start):
        return None
    own = next((pair for pair in matching.pairs if pair[0] == normal.everywhere.term(group.key)), None)
    target = None if own is None else wish(query, key, own, normal)
    if own is None or target is None:
        return None
    low, high = facts.bounds(default)
    if low - cost * target.most**2 <= -mismatch:
        return None
    if facts.bounds(own[1])[0] < 1:
        return Among(matching)
    if high >= -cost * max(Fraction(1, 2), target.most) ** 2:
        return None
    order = denominator(key, normal.everywhere)
    return None if order is None else Next(matching, order, target.q)


def _pairs(coefficients: dict[Monomial, Term], facts: Facts) -> tuple[list[Compared], list[Compared]]:
    """Returns what is compared, with its cost: −S(x − y)² is −S·x² + 2S·y·x but for −S·y²; of a bit x, c·x is −|c|(x − 1[c >
    0])².

    x is a product of bits and one integer at most, so x² has the same bits. Apart: those of x and y that are no integers. Both
    are empty for another form.
    """
    keys: dict[Monomial, list[Term]] = {}
    for monomial, query in coefficients.items():
        bits = tuple(a for a in monomial if facts.is_bit(a))
        others = [a for a in monomial if a not in bits]
        if len(others) > 2 or len(set(others)) > 1:
            return [], []
        keys.setdefault((*bits, *others[:1]), [ZERO, ZERO])[len(others) == 2] += query
    pairs: list[Compared] = []
    wishes: list[Compared] = []
    for monomial, (slope, bend) in keys.items():
        x = term([(monomial, 1)])
        if bend == ZERO and slope.is_constant and all(map(facts.is_bit, monomial)):
            pairs.append((abs(slope.constant), x, as_term(int(slope.constant > 0))))
            continue
        if bend == ZERO and all(map(facts.is_bit, monomial)) and (pair := _of_bit(x, slope, facts)) is not None:
            pairs.append(pair)
            continue
        if not bend.is_constant or bend.constant >= 0:
            return [], []
        cost = -bend.constant
        y = slope * (1 / (2 * cost))
        m = _whole_factor(y, facts) if facts.globally.is_integer(x) else 0
        if m:
            pairs.append((cost * Fraction(1, m * m), x * m, y * m))
        else:
            wishes.append((cost, x, y))
    return pairs, wishes


def _whole_factor(y: Term, facts: Facts) -> int:
    """Returns m ≥ 1 with m·y an integer, or 0: then −S(x − y)² = −S/m²·(m·x − m·y)² compares two integers, if x is one."""
    if facts.is_integer(y):
        return 1
    if not all(type(c) is Fraction for _, c in y.items):
        return 0
    return next((m for m in range(2, MOST_FACTOR + 1) if facts.is_integer(y * m)), 0)


def _of_bit(x: Term, slope: Term, facts: Facts) -> Compared | None:
    """Returns S, m·x and an integer y for a bit x, since x² = x: −S(m·x − y)² is S(2m·y − m²)·x but for −S·y². m is small."""
    if not all(type(c) is Fraction for _, c in slope.items):
        return None
    _, twice = scaled(slope - slope.constant)
    for m, factor in itertools.product(range(1, MOST_MULTIPLE + 1), range(1, MOST_FACTOR + 1)):
        cost = abs(twice) / (2 * m * factor)
        y = (slope * (1 / cost) + m * m) * Fraction(1, 2 * m)
        if facts.is_integer(y):
            return cost, x * m, y
    return None
