"""Softmax of one column of scores, correctly rounded: the definition.

Source: appendix A.2 for the two disciplines; the winner's-lead argument of appendix C for the certificate.

FUSED rounds the exact weight e^(s_i) / Σ_j e^(s_j) once. If all scores are equal the weight is the rational 1/m.
Otherwise it is transcendental: its reciprocal Σ_j e^(s_j - s_i) is a sum of at least two distinct algebraic powers of e
with positive integer coefficients, which by Lindemann-Weierstrass is no rational. So it is never an element or a
midpoint, and interval arithmetic of growing precision ends. Columns with a clear winner need none of it:

    m scores tie at the top, the other l - m trail by at least γ, so each weighs e^(s_i) with leakage ε <= (l - m) e^-γ.
    A winner's weight 1/(m + ε) lies below 1/m by less than ε / m^2: if that is less than the distance from 1/m to any
    other critical point (`reciprocal_margin`), it rounds as "just below 1/m". A loser's weight is below e^-γ / m.

SEQUENTIAL rounds every scalar operation: d_i = s_i - max, e_i = exp(d_i), their sum in index order, a_i = e_i / sum.

No step here trusts a floating-point library, except that SEQUENTIAL takes its exponentials from `exp_quanta`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from precision.enclosure import (
    doublings,
    exponential_ball,
    reciprocal_margin,
    round_ball,
    round_beside_reciprocal,
    round_vanishing,
    vanishes,
)
from precision.exponential import exp_quanta
from precision.format import Arithmetic, Discipline, Format, Rounding
from precision.rounding import Rounded, round_fraction, round_ratio

if TYPE_CHECKING:
    from flint import arb

DecidedBy = Literal["exact", "certificate", "float64", "arb"]
_EFFORT: tuple[DecidedBy, ...] = ("exact", "certificate", "float64", "arb")


class Softmax(NamedTuple):
    """One column of attention weights, and how it came about.

    weights: in the order of the scores, in quanta.
    decided_by: the most laborious step that any entry needed. "exact": rational values only; "certificate": integer
        bounds; "float64": float64 with an error bound; "arb": interval arithmetic.
    saturated: some rounding on the way saturated.
    tie: some rounding on the way was a tie.
    """

    weights: list[int]
    decided_by: DecidedBy
    saturated: bool
    tie: bool


def softmax(scores: Sequence[int], arithmetic: Arithmetic, draws: Iterator[Fraction] | None = None) -> Softmax:
    """Returns the weights of one column: `scores` are those of the keys that are attended to, in quanta of arithmetic.format.

    draws: for STOCHASTIC, numbers in [0, 1), one for each rounding. FUSED takes one per entry, in index order.
        SEQUENTIAL takes two per entry in index order (difference, exponential), then one per addition, then one per
        quotient.
    Raises ValueError if there are no scores, if 1 is not an element of the format, or if STOCHASTIC has no `draws`.
    """
    fmt = arithmetic.format
    if not scores:
        raise ValueError("softmax of an empty column: no key is attended to")
    if fmt.quantum_exponent > 0 or fmt.max_value < 1:
        raise ValueError(f"softmax needs 1 to be an element of the format; {fmt.name} does not hold it")
    if arithmetic.rounding is Rounding.STOCHASTIC and draws is None:
        raise ValueError("stochastic rounding of a softmax needs `draws`, random numbers in [0, 1)")
    if arithmetic.rounding is not Rounding.STOCHASTIC:
        draws = None
    if arithmetic.discipline is Discipline.SEQUENTIAL:
        return _sequential(scores, fmt, arithmetic.rounding, draws)
    return _fuse(scores, fmt, arithmetic.rounding, draws)


def _fuse(scores: Sequence[int], fmt: Format, rounding: Rounding, draws: Iterator[Fraction] | None) -> Softmax:
    top = max(scores)
    winners = scores.count(top)
    losers = len(scores) - winners
    if losers == 0:
        share = Fraction(1, winners)
        if draws is None:
            rounded = round_fraction(share, fmt, rounding)
            return Softmax([rounded.quanta] * winners, "exact", rounded.saturated, rounded.tie)
        return _collect([round_fraction(share, fmt, rounding, next(draws)) for _ in scores], "exact")

    lead = top - max(score for score in scores if score != top)
    leak_halvings = doublings(lead, fmt) - losers.bit_length()  # the leakage is below 2^-leak_halvings
    if draws is None:
        winner = _certified_winner(winners, leak_halvings, fmt, rounding)
        loser = _certified_loser(doublings(lead, fmt), winners, fmt, rounding)
        if winner is not None and loser is not None:
            weights = [winner.quanta if score == top else loser.quanta for score in scores]
            return Softmax(weights, "certificate", winner.saturated or loser.saturated, tie=False)

    entries = [(top - score, None if draws is None else next(draws)) for score in scores]
    decided: dict[tuple[int, Fraction | None], Rounded] = {}
    pending: list[tuple[int, Fraction | None]] = []
    for gap, random in dict.fromkeys(entries):
        if gap == 0:
            rounding_of_entry = _certified_winner(winners, leak_halvings, fmt, rounding, random)
        else:
            rounding_of_entry = _certified_loser(doublings(gap, fmt), winners, fmt, rounding, random)
        if rounding_of_entry is None:
            pending.append((gap, random))
        else:
            decided[gap, random] = rounding_of_entry
    decided_by: DecidedBy = "arb" if pending else "certificate"

    counts = Counter(gap for gap, _ in entries)
    precision_bits = max(64, fmt.significand_bits + 16)
    while pending:
        weights_by_gap = _enclose(counts, {gap for gap, _ in pending}, fmt, precision_bits)
        undecided = []
        for gap, random in pending:
            rounding_of_entry = round_ball(weights_by_gap[gap], fmt, rounding, random)
            if rounding_of_entry is None:
                undecided.append((gap, random))
            else:
                decided[gap, random] = rounding_of_entry
        pending = undecided
        precision_bits *= 2
    return _collect([decided[entry] for entry in entries], decided_by)


def _certified_winner(
    winners: int, leak_halvings: int, fmt: Format, rounding: Rounding, random: Fraction | None = None
) -> Rounded | None:
    """Rounds 1/(winners + ε) for every 0 < ε < 2^-leak_halvings, if that bound suffices to tell it."""
    margin = reciprocal_margin(winners, fmt, random)
    # 2^-leak_halvings / winners² <= margin in integers; the shift is capped where its size no longer matters.
    shift = min(leak_halvings, margin.denominator.bit_length())
    if shift <= 0 or margin.denominator > (winners * winners * margin.numerator) << shift:
        return None
    return round_beside_reciprocal(winners, -1, fmt, rounding, random)


def _certified_loser(
    halvings: int, winners: int, fmt: Format, rounding: Rounding, random: Fraction | None = None
) -> Rounded | None:
    """Rounds a weight below 2^-halvings / winners, if it is certainly too small to matter."""
    if not vanishes(halvings + winners.bit_length() - 1, fmt, random):
        return None
    return round_vanishing(fmt, rounding, random)


def _enclose(counts: Counter[int], wanted: set[int], fmt: Format, precision_bits: int) -> dict[int, arb]:
    """Returns balls around e^-gap / Σ count · e^-gap' for the wanted gaps."""
    from flint import arb, ctx

    powers = {gap: exponential_ball(-gap, fmt, precision_bits) for gap in counts}
    with ctx.workprec(precision_bits):
        total = sum((count * powers[gap] for gap, count in counts.items()), start=arb(0))
        return {gap: powers[gap] / total for gap in wanted}


def _sequential(scores: Sequence[int], fmt: Format, rounding: Rounding, draws: Iterator[Fraction] | None) -> Softmax:
    def draw() -> Fraction | None:
        return None if draws is None else next(draws)

    top = max(scores)
    tally: Counter[str] = Counter()
    roundings: list[Rounded] = []
    powers: list[int] = []
    known: dict[int, int] = {}  # score → its exponential; with draws each one is rounded anew
    for score in scores:
        if draws is not None:
            difference = round_ratio(score - top, 1, fmt, rounding, draw())
            power = exp_quanta(difference.quanta, fmt, rounding, draw(), tally)
        elif score not in known:
            difference, power, step = _exponential(score - top, fmt, rounding)
            tally[step] += 1
        else:
            powers.append(known[score])
            continue
        roundings += (difference, power)
        known[score] = power.quanta
        powers.append(power.quanta)
    total = powers[0]
    for quanta in powers[1:]:
        if draws is not None or quanta:  # 0 changes nothing
            addition = round_ratio(total + quanta, 1, fmt, rounding, draw())
            roundings.append(addition)
            total = addition.quanta
    weights: list[int] = []
    shares: dict[int, int] = {}  # exponential → its share of the total
    for quanta in powers:
        if draws is not None or quanta not in shares:
            # In quanta the ratio of two elements is the ratio of their counts times 1 / quantum.
            quotient = round_ratio(quanta << -fmt.quantum_exponent, total, fmt, rounding, draw())
            roundings.append(quotient)
            shares[quanta] = quotient.quanta
        weights.append(shares[quanta])
    decided_by = max((step for step in _EFFORT if tally[step]), key=_EFFORT.index)
    collected = _collect(roundings, decided_by)
    return collected._replace(weights=weights)


@lru_cache(maxsize=1 << 14)  # the columns of a run have the same differences again and again
def _exponential(difference: int, fmt: Format, rounding: Rounding) -> tuple[Rounded, Rounded, DecidedBy]:
    """Returns a difference of scores, rounded; its exponential; and the step that decided that."""
    tally: Counter[str] = Counter()
    rounded = round_ratio(difference, 1, fmt, rounding)
    power = exp_quanta(rounded.quanta, fmt, rounding, tally=tally)
    return rounded, power, next(step for step in _EFFORT if tally[step])


def _collect(roundings: list[Rounded], decided_by: DecidedBy) -> Softmax:
    return Softmax(
        [rounded.quanta for rounded in roundings],
        decided_by,
        any(rounded.saturated for rounded in roundings),
        any(rounded.tie for rounded in roundings),
    )
