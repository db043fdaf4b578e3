"""One input of one part: columns of values, and whether they meet what the part requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from constructions.wiring.part import Contract, Domain, Integer, OneOf, Real, Setting, UnitFraction
from precision.format import Format, fixed_point, floating_point


@dataclass(frozen=True)
class Trial:
    """One input of one part.

    n, precision_bits: of the setting. length: the length bound that the constants are derived from, at least that of the columns.
    columns: register → value at position 1, 2, …, as the oracle sees them: exact, not yet rounded to the format.
    """

    n: int
    length: int
    precision_bits: int
    columns: Mapping[str, tuple[Fraction, ...]]

    def __hash__(self) -> int:
        return hash((self.n, self.length, self.precision_bits, frozenset(self.columns.items())))

    @property
    def setting(self) -> Setting:
        """Returns what the part's constants are derived from."""
        return Setting(self.n, self.length, fixed_point(self.precision_bits))


@dataclass(frozen=True)
class FloatingTrial(Trial):
    """One input of one part whose numbers are p-bit floating point, as the paper calls them, with so many bits of exponent."""

    exponent_bits: int

    def __hash__(self) -> int:
        return super().__hash__()

    @property
    def setting(self) -> Setting:
        """Returns what the part's constants are derived from."""
        return Setting(self.n, self.length, floating_format(self.precision_bits, self.exponent_bits))


def floating_format(precision_bits: int, exponent_bits: int) -> Format:
    """Returns p-bit floating point: a sign, the exponent, and p − e digits of significand, the leading one included."""
    name = f"F_{precision_bits},{exponent_bits}"
    return floating_point(name, exponent_bits, precision_bits - exponent_bits)


def satisfies(contract: Contract, columns: Mapping[str, Sequence[Fraction]]) -> bool:
    """Returns whether exact columns meet the precondition. Position 1 may hold its prescribed values instead."""
    for name, domain in contract.requires.items():
        for k, value in enumerate(columns[name]):
            if k == 0 and name in contract.first:
                if value != contract.first[name]:
                    return False
            elif not _meets(value, domain):
                return False
    return True


def _meets(value: Fraction, domain: Domain) -> bool:
    match domain:
        case Integer(low, high):
            return value.denominator == 1 and low <= value <= high
        case UnitFraction(low, high):
            # 0 is what a position without a count holds.
            return value == 0 or (value.numerator == 1 and low <= value.denominator <= high)
        case Real(low, high):
            return low <= value <= high
        case OneOf(values):
            return value in values
