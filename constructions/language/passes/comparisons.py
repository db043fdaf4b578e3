"""Comparisons: an atom that compares becomes units on what is compared, or a term where no unit is needed.

Counts. Where x = ROUND(1/(1 + m)) is all that is known of a count m, m > r is (r + 1)·x < 1, and m > m' is x < x', both with a
margin: a product (r + 1)·x lies at least 1/(1 + L) below 1 or no rounding error above it, L the length; and two different shares
lie 1/(L·(L + 1)) apart. A count that does not depend on the query, and a running sum in a Transformer, is known as a mean over all
positions, by a head with equal scores: sums of these are compared with 0, from which a mean of integers is 1/L away.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from constructions.language.bounds import least_of
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.operations import BoundNeed, Corners, Mean, Ramps, Same, Share, TimesShare
from constructions.language.program import NotCompiled
from constructions.language.terms import ONE, ZERO, Above, Atom, Count, Equal, Named, Term, as_term, is_integer

HAT: Corners = ((1, 1), (0, -2), (-1, 1))  # 1 at 0, and 0 from 1 away
STEP: Corners = ((0, 1), (-1, -1))  # 0 up to 0, 1 from 1 on
PAST: Corners = ((-1, 1), (-2, -1))  # 0 up to 1, 1 from 2 on
RISING: Corners = ((2, 1), (1, -1))  # 0 up to −2, 1 from −1 on
FALLING: Corners = ((2, -1), (1, 1))  # added to 1: 1 up to −2, 0 from −1 on
PLATEAU: Corners = ((2, 1), (1, -1), (-1, -1), (-2, 1))  # 1 from −1 to 1, and 0 from 2 away


def comparison(facts: TermFacts, atom: Equal | Above) -> Ramps | Same:
    """Returns the units that compare, or the term that the comparison is."""
    by_counts = facts.has_count(atom.of) or (facts.attends and facts.has_sum(atom.of))
    if isinstance(atom, Equal):
        return (
            compare_counts(facts, atom, atom.of - atom.value)
            if by_counts
            else compare_values(facts, atom.of, atom.value)
        )
    return _above_counts(facts, atom) if by_counts else _compare_with_zero(facts, atom.of)


def compare_values(facts: TermFacts, of: Term, value: Fraction) -> Ramps | Same:
    """Returns a form that is 1 where an integer has this value, and 0 elsewhere."""
    facts.require_whole(of, "==")
    low, high = facts.bounds.term(of)
    if not is_integer(value):
        return Same(())
    if facts.is_flag(of) and value in (0, 1):
        return Same((of if value else ONE - of,))
    if low > value or high < value:
        return Same((), (of,))
    hat = Ramps(f"1[{{}} = {value}]", (of,), of - value, HAT, operands=(of,), source="Lemma C.3")
    if low >= value and not facts.has_sum(of):
        return replace(hat, slope=-1, corners=((1, 1),))
    if high <= value and not facts.has_sum(of):
        return replace(hat, corners=((1, 1),))
    return hat


def _compare_with_zero(facts: TermFacts, of: Term) -> Ramps | Same:
    facts.require_whole(of, "a comparison")
    low, high = facts.tight.term(of)
    if high <= 0 or low > 0:
        return Same((as_term(int(low > 0)),), (of,))
    if facts.is_flag(of):
        return Same((of,))
    return Ramps("1[{} > 0]", (of,), of, STEP[: 2 - (high <= 1)], operands=(of,))


def _above_counts(facts: TermFacts, atom: Above) -> Ramps | Same:
    of = atom.of
    shares = [m for m, _ in of.items if facts.has_count(Term(((m, Fraction(1)),)))]
    if of.constant == 1 and len(shares) == 2 and facts.summand(of) is None:  # m + 1 > m': not m' > m
        return Same((ONE - as_term(Above((of - 1) * -1)),))
    return compare_counts(facts, atom, of)


def compare_counts(facts: TermFacts, atom: Equal | Above, of: Term) -> Ramps:
    """Returns units that see whether a sum of counts and numbers is 0, or above 0."""
    is_equal, bits = isinstance(atom, Equal), facts.length.bit_length()
    if (summand := facts.summand(of)) is not None:  # the mean is 0, or 2^−bits away: 1/L, rounded, is not less
        facts.require_whole(summand, "a running sum")
        mean = as_term(Mean(summand, atom))
        ramps = Ramps("1[{}", (mean,), mean, PLATEAU if is_equal else PAST, 1 << bits + 1, operands=(mean,))
    else:
        ramps = _compare_shares(facts, atom, of)
    part = Fraction(1, 4)  # of each gate, and 4 times the weight: so gates take two bits less
    return replace(
        ramps,
        label=f"{ramps.label} {'=' if is_equal else '>'} 0]",
        corners=tuple((corner, 4 * weight) for corner, weight in ramps.corners),
        part=part,
        constant=int(ramps.corners is FALLING),
        steep=True,
    )


def _compare_shares(facts: TermFacts, atom: Equal | Above, of: Term) -> Ramps:
    """Returns units on a number that is 0 or above 0 where `of` is; the label lacks its end."""
    is_equal, bits = isinstance(atom, Equal), facts.length.bit_length()
    counts = [(m, c) for m, c in of.items if facts.has_count(Term(((m, Fraction(1)),)))]
    rest = of - Term(tuple(counts))
    alone = all(abs(c) == 1 and len(m) == 1 for m, c in counts)
    signs = sorted(((c, m) for m, c in counts), key=lambda sign: sign[0]) if alone else []
    if [c for c, _ in signs] == [-1, 1] and rest == ZERO:
        less, more = shares = tuple(as_term(share(m[0])) for _, m in signs)
        # The shares differ by more than 2/slope, or not at all; each is rounded by half a step, and slope steps are 1/2.
        needs = (BoundNeed("the shares {} and {}, compared", shares, (2 << 2 * bits) - 1),)
        corners, slope = HAT if is_equal else STEP, 1 << 2 * bits + 1
        return Ramps("1[{} − {}", shares, less - more, corners, slope, operands=shares, needs=needs)
    if len(signs) != 1 or not facts.is_whole(rest):
        raise NotCompiled(
            "a count is compared with a whole number, or with one other count, and nothing is added to them"
        )
    ((sign, m),) = signs
    # m > r: (r + 1)·x < 1, rest = −r. m < r: r·x ≥ 1, rest = r.
    factor = ONE - rest if sign == 1 else rest if not is_equal else rest + 1
    product = as_term(TimesShare(factor, share(m[0]), atom))
    # f·x is 1, or 1/L from it; f times the share's half a step is at most 1/slope. Where f is above 1 + m, f·x is past 1 by so
    # much that it is enough for f = 1 + m.
    largest = max(1, facts.bounds.term(factor)[1])
    most = least_of([facts.bounds.length, facts.bounds.atom(m[0])[1] + 1, largest])
    needs = (BoundNeed("{}, beside 1", (product,), (2 << bits) * most - 1),)
    corners = PLATEAU if is_equal else FALLING if sign == 1 else RISING
    return Ramps("1[{}", (product - 1,), product - 1, corners, 1 << bits + 2, operands=(product,), needs=needs)


def share(atom: Atom) -> Share:
    """Returns the share of a count, or of what another name stands for. Raises NotCompiled for what is no count by itself."""
    match atom:
        case Count():
            return Share(atom)
        case Named(name, of):
            ((monomial, c),) = of.items if len(of.items) == 1 else (((), Fraction(0)),)
            if c != 1 or len(monomial) != 1:
                raise NotCompiled(f"{name} is more than one count: compare counts alone")
            return share(monomial[0])
    raise NotCompiled("a count is compared alone, not times another value")
