"""A softmax column whose winners lead clearly: the others weigh nothing, and the winners share 1 alike.

Source: the argument that ends every proof of appendix C.2.
Notation: m keys have the highest score, up to l others trail it by γ or more; q are the fraction bits, so the quantum is 2^−q ≤ 1.

The runner-up vanishes. If l·e^−γ < 2^−(q+2), all others together leak less than a quarter of a quantum, and each of them, below
half a quantum, rounds to 0. Derivation of γ: l < 2^b with b its bits, and log2 e is a little above LOG2_E, so that
γ ≥ (q + 2 + b)/LOG2_E gives e^γ > 2^(q + 2 + b).

The winners share. Under `fused`, a winner weighs 1/(m + ε) with a leakage 0 < ε < 2^−(q+2), which is below 1/m by less than
ε/m² < 2^−(q+2)/m. No critical point is as close as 2^−(q+1)/m to 1/m, unless it is 1/m itself (`reciprocal_margin`). So the
weight rounds as any number just below 1/m does, and as 1/m if there are no others. Under `sequential`, e^−γ rounds to 0 by
itself, and adding 0 is exact; a winner weighs 1 divided by 1 + 1 + …, each sum rounded.

Not for STOCHASTIC, where a weight that is not 0 need not round to 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from precision.enclosure import LOG2_E_BELOW, LOG2_E_BELOW_BITS, round_beside_reciprocal
from precision.format import Arithmetic, Discipline, Format, Rounding
from precision.rounding import round_ratio

LOG2_E = Fraction(LOG2_E_BELOW, 1 << LOG2_E_BELOW_BITS)  # from below


def vanishing_lead(keys: int, fraction_bits: int) -> Fraction:
    """Returns a lead γ after which so many keys vanish together: keys·e^−γ < 2^−(fraction_bits + 2).

    keys: 0 where each weight is rounded by itself and nothing adds up, as under `sequential`; then it is one key that vanishes.
    """
    return (fraction_bits + 2 + keys.bit_length()) / LOG2_E


def decisive_gap(keys: int, arithmetic: Arithmetic) -> int | None:
    """Returns a gap in quanta: of at most so many keys, those that trail the highest score by it vanish.

    None if no two scores need be that far apart. Derivation: under `fused` it is the `vanishing_lead` of all. Under `sequential`
    it is that of one key; the difference to the highest score is rounded, monotonically, so the gap is an element.
    """
    fmt, is_fused = arithmetic.format, arithmetic.discipline is Discipline.FUSED
    gap = ceil(vanishing_lead(keys if is_fused else 0, -fmt.quantum_exponent) / fmt.quantum)
    if is_fused:
        return gap if gap <= 2 * fmt.max_quanta else None
    gap = 1 << (gap - 1).bit_length()
    return gap if gap <= fmt.max_quanta else None


def winners_share(winners: int, arithmetic: Arithmetic, *, losers: bool) -> int:
    """Returns the weight of each of so many tied winners, in quanta. losers: whether there are other keys, all of which vanish."""
    fmt, rounding, one = arithmetic.format, arithmetic.rounding, 1 << -arithmetic.format.quantum_exponent
    if arithmetic.discipline is Discipline.SEQUENTIAL:
        return round_ratio(one * one, _count_up(winners, fmt, rounding), fmt, rounding).quanta
    if losers:
        return round_beside_reciprocal(winners, -1, fmt, rounding).quanta
    return round_ratio(one, winners, fmt, rounding).quanta


def _count_up(number: int, fmt: Format, rounding: Rounding) -> int:
    """Returns 1 + 1 + … in quanta, each sum rounded: exact until it needs more digits than there are, or saturates."""
    one = 1 << -fmt.quantum_exponent
    exact = min(number, 1 << fmt.significand_bits, fmt.max_quanta // one)
    total = exact * one
    for _ in range(number - exact):
        following = round_ratio(total + one, 1, fmt, rounding).quanta
        if following == total:  # and so it stays
            break
        total = following
    return total
