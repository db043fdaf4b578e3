"""Numbers that must fit a format, and may depend on n.

For p, n counts as rounded up to `LEADING` binary digits. All that is asked of rises with n, so what fits at the end of a range of
such n fits in all of it. And p is one number from one such end to another one, also where it is a number that grows with n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

LEADING = 16


def round_up(n: Any) -> Any:
    """Returns the least number of `LEADING` digits, then zeros, that is at least n. A symbol stays: `are_below` rounds it."""
    if type(n) is not int or n.bit_length() <= LEADING:
        return n
    zeros = n.bit_length() - LEADING
    return -(-n >> zeros) << zeros


def are_below(n: Any, values: Sequence[Any], exponent: Any) -> bool:
    """Returns whether each is at most 2^exponent − 1, n rounded up."""
    most = 2**exponent - 1
    if any(value > most for value in values if type(value) in (int, Fraction)):
        return False
    return type(n) is int or bool(n.are_at_most([v for v in values if type(v) not in (int, Fraction)], most, LEADING))


def least_exponent(n: Any, values: Sequence[Any]) -> Any:
    """Returns an exponent below which not all of them fit; of plain numbers the least with which they do."""
    least: Any = max((math.ceil(value) for value in values if type(value) in (int, Fraction)), default=0).bit_length()
    if type(n) is int:
        return least
    for value in values:
        if type(value) not in (int, Fraction):
            bits = value.least_bits(LEADING)
            least = bits if bits > least else least
    return least
