"""Number formats as data: each is a finite, symmetric set of dyadic rationals.

Source: appendix A.2 (R_p); IEEE 754, and the 8-, 6- and 4-bit formats of OCP, for comparison.

A format holds the numbers m·2^e with |m| < 2^significand_bits, e >= quantum_exponent and |m·2^e| <= max_value.
R_p is the case in which max_value already forces e = quantum_exponent: fixed point. There is one zero (a set of
rationals has no second one), there are no infinities and no NaN: the nearest element of a value out of range is
±max_value, which is what "ROUND(x, p) is the nearest element of R_p" says; engines report such a saturation instead of
hiding it.

Every element is an integer number of *quanta*, the quantum being 2^quantum_exponent. The exact code stores just that
integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property


class Rounding(Enum):
    """How a value between two neighbouring elements is rounded."""

    NEAREST_EVEN = "nearest-even"
    NEAREST_AWAY = "nearest-away"
    TOWARD_ZERO = "toward-zero"
    STOCHASTIC = "stochastic"


class Discipline(Enum):
    """What counts as one operator, hence where results are rounded.

    Source: A.2 leaves it open. FUSED rounds once per affine row, gate product, score, softmax entry, weighted sum and
    residual addition, as the paper's proofs do; SEQUENTIAL rounds every scalar +, ×, exp and ÷, sums in index order.
    """

    FUSED = "fused"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Format:
    """A finite set of numbers that results are rounded to.

    name: as printed and parsed, for example "R_17" or "bf16".
    significand_bits: number of significant binary digits, at least 1.
    quantum_exponent: log2 of the smallest positive element.
    max_quanta: the largest element, in quanta.
    """

    name: str
    significand_bits: int
    quantum_exponent: int
    max_quanta: int

    def __post_init__(self) -> None:
        if self.significand_bits < 1 or self.max_quanta < 1:
            raise ValueError(f"{self.name}: a format needs at least one significant digit and one positive element")
        surplus = self.max_quanta.bit_length() - self.significand_bits
        if surplus > 0 and self.max_quanta % (1 << surplus):
            raise ValueError(f"{self.name}: its largest element needs more than {self.significand_bits} digits")

    @cached_property
    def quantum(self) -> Fraction:
        """Returns the smallest positive element."""
        return Fraction(2) ** self.quantum_exponent

    @cached_property
    def max_value(self) -> Fraction:
        """Returns the largest element."""
        return self.max_quanta * self.quantum

    @property
    def is_fixed_point(self) -> bool:
        """True if all elements are equally spaced, as in R_p."""
        return self.max_quanta.bit_length() <= self.significand_bits

    def magnitudes(self) -> Iterator[int]:
        """Returns the elements that are not negative, in quanta, ascending.

        The place of one, counted from 0, is its code in the layout of IEEE 754, the sign bit apart.
        """
        quanta, step = 0, 1
        while quanta <= self.max_quanta:
            yield quanta
            if quanta == step << self.significand_bits:
                step *= 2
            quanta += step


def fixed_point(precision_bits: int) -> Format:
    """Returns R_p of appendix A.2: sign and p − 1 binary digits, (p − 1)/2 of them after the point; p odd, at least 5.

    Raises ValueError, naming p, otherwise.
    """
    if precision_bits < 5 or precision_bits % 2 == 0:
        raise ValueError(f"precision must be an odd number of bits, at least 5; got {precision_bits}")
    digits = precision_bits - 1
    return Format(f"R_{precision_bits}", digits, -(digits // 2), 2**digits - 1)


def floating_point(name: str, exponent_bits: int, significand_bits: int, max_value: Fraction | None = None) -> Format:
    """Returns an IEEE-like format; significand_bits counts the leading digit, subnormal numbers are included.

    max_value: the largest finite element where it is not the IEEE one (the top exponent kept for infinities).
    """
    bias = 2 ** (exponent_bits - 1) - 1
    quantum_exponent = 1 - bias - (significand_bits - 1)
    top = (
        (Fraction(2) - Fraction(2) ** (1 - significand_bits)) * Fraction(2) ** bias if max_value is None else max_value
    )
    max_quanta = top / Fraction(2) ** quantum_exponent
    return Format(name, significand_bits, quantum_exponent, int(max_quanta))


FP64 = floating_point("fp64", 11, 53)
FP32 = floating_point("fp32", 8, 24)
TF32 = floating_point("tf32", 8, 11)
BF16 = floating_point("bf16", 8, 8)
FP16 = floating_point("fp16", 5, 11)
FP8_E4M3 = floating_point("fp8_e4m3", 4, 4, max_value=Fraction(448))
FP8_E5M2 = floating_point("fp8_e5m2", 5, 3)
FP6_E2M3 = floating_point("fp6_e2m3", 2, 4, max_value=Fraction(15, 2))
FP6_E3M2 = floating_point("fp6_e3m2", 3, 3, max_value=Fraction(28))
FP4_E2M1 = floating_point("fp4_e2m1", 2, 2, max_value=Fraction(6))
FLOAT_FORMATS = (FP64, FP32, TF32, BF16, FP16, FP8_E4M3, FP8_E5M2, FP6_E2M3, FP6_E3M2, FP4_E2M1)


def parse_format(name: str) -> Format:
    """Returns the format called `name`: "R_p" with p an odd number, or one of the names in FLOAT_FORMATS."""
    for candidate in FLOAT_FORMATS:
        if candidate.name == name:
            return candidate
    if name.startswith("R_") and name[2:].isdecimal():
        return fixed_point(int(name[2:]))
    known = ", ".join(candidate.name for candidate in FLOAT_FORMATS)
    raise ValueError(f"unknown format {name!r}: expected R_p with p odd, or one of {known}")


@dataclass(frozen=True)
class Arithmetic:
    """A format with the rules by which results are rounded to it; what an engine is run under."""

    format: Format
    discipline: Discipline = Discipline.FUSED
    rounding: Rounding = Rounding.NEAREST_EVEN
