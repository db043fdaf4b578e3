"""e^x and softmax from MPFR: an implementation that shares nothing with the package's float64 and ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import gmpy2

# Enough digits for every test; where the value is nearer to a midpoint than that the test would have to say so.
_BITS = 4000


def exp(x: Fraction, bits: int = _BITS) -> Fraction:
    """e^x with a relative error below 2^(1 - bits)."""
    with gmpy2.context(precision=bits, emin=-(2**40), emax=2**40):
        return _fraction(gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator), bits)))


def softmax(scores: Sequence[Fraction], bits: int = _BITS) -> list[Fraction]:
    """The weights, with a relative error below len(scores) · 2^(3 - bits)."""
    top = max(scores)
    powers = [exp(score - top, bits) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def exp_in(x: Fraction, significand_bits: int, quantum_exponent: int, emax: int) -> Fraction | None:
    """e^x correctly rounded by MPFR itself to an IEEE-like format; None on overflow."""
    context = gmpy2.context(
        precision=significand_bits, emin=quantum_exponent + 1, emax=emax, subnormalize=True, round=gmpy2.RoundToNearest
    )
    argument = gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator), 2000)
    with context:
        result = gmpy2.exp(argument)
        return None if gmpy2.is_infinite(result) else _fraction(result)


def _fraction(x: gmpy2.mpfr) -> Fraction:
    numerator, denominator = x.as_integer_ratio()
    return Fraction(int(numerator), int(denominator))
