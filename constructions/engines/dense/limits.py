"""What the size of a format allows the dense engine to conclude without computing.

Source: the winner's-lead argument of appendix C; precision/softmax.py and precision/enclosure.py, whose bounds these are.
"""

from __future__ import annotations

from constructions.engines.dense.operators import Operators
from precision.enclosure import doublings, vanishes
from precision.rounding_array import require_float64_format


def decisive_gap(operators: Operators, length: int) -> int | None:
    """G: in a column of at most `length` keys, keys that trail by G quanta weigh 0 and do not move the winners' weight.

    None if no two elements of the format need be that far apart. Derivation, with quantum 2^g:
    FUSED: the losers' sum is ε < length · 2^-h, h the halvings of e^-G. As 1/m is at least 2^(g−1)/m away from any other
        rounding boundary (`reciprocal_margin`), m = 1, …, length winners round as just below 1/m once ε/m² is
        below that: h >= 1 − g + log2(length) does. Each loser is then below half a quantum.
    SEQUENTIAL: the difference to the highest score is rounded, monotonically; so G is an element. e^-G rounds to 0, and
        adding 0 is exact.
    """
    fmt = operators.arithmetic.format
    halvings = 2 - fmt.quantum_exponent + (length.bit_length() if operators.fused else 0)
    one = 1 << -fmt.quantum_exponent
    gap = halvings * 69 * one // 100
    while doublings(gap, fmt) < halvings:
        gap += max(1, one // 8)
    assert vanishes(doublings(gap, fmt), fmt)
    if operators.fused:
        return gap if gap <= 2 * fmt.max_quanta else None
    gap = 1 << (gap - 1).bit_length()
    return gap if gap <= fmt.max_quanta else None


def counts_exactly(winners: int, operators: Operators) -> bool:
    """Whether 1 + 1 + … is exact up to `winners` in the format."""
    fmt = operators.arithmetic.format
    return winners.bit_length() <= fmt.significand_bits and winners << -fmt.quantum_exponent <= fmt.max_quanta


def float64_holds(operators: Operators) -> bool:
    """Whether float64 holds the elements of the format."""
    try:
        require_float64_format(operators.arithmetic.format)
    except ValueError:
        return False
    return True
