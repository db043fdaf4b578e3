"""What the size of a format allows the dense engine to conclude without computing.

Source: the winner's-lead argument of appendix C, see precision/winners.py.
"""

from __future__ import annotations

from math import ceil

from constructions.engines.dense.operators import Operators
from precision.rounding_array import require_float64_format
from precision.winners import vanishing_lead


def decisive_gap(operators: Operators, length: int) -> int | None:
    """Returns G: in a column of at most `length` keys, keys that trail by G quanta weigh 0 and do not move the winners' weight.

    None if no two elements of the format need be that far apart. Derivation:
    FUSED: a `vanishing_lead` of the whole column.
    SEQUENTIAL: that of one key; and the difference to the highest score is rounded, monotonically, so G is an element.
    """
    fmt = operators.arithmetic.format
    gap = ceil(vanishing_lead(length if operators.fused else 0, -fmt.quantum_exponent) / fmt.quantum)
    if operators.fused:
        return gap if gap <= 2 * fmt.max_quanta else None
    gap = 1 << (gap - 1).bit_length()
    return gap if gap <= fmt.max_quanta else None


def float64_holds(operators: Operators) -> bool:
    """Returns whether float64 holds the elements of the format."""
    try:
        require_float64_format(operators.arithmetic.format)
    except ValueError:
        return False
    return True
