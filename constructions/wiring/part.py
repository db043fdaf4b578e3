"""Parts: gadgets and heads with what they promise, as data.

A part is one lemma: how its weights are made, what it assumes of the registers it reads (its contract), a plain-Python
oracle of what it writes, the least precision it claims, and the findings about its print. The verifier runs every part the same
way, from this data alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from constructions.wiring.finding import Finding
from constructions.wiring.wire import BlockPlan
from precision.format import Format
from precision.winners import vanishing_lead

Columns = Mapping[str, Sequence[Fraction]]  # register → value at position 1, 2, …
Expected = Mapping[str, Sequence[Fraction | None]]  # None: nothing is promised there


@dataclass(frozen=True)
class Integer:
    """An integer in [low, high]."""

    low: int
    high: int


@dataclass(frozen=True)
class UnitFraction:
    """ROUND(1/m) for an integer m in [low, high]."""

    low: int
    high: int


@dataclass(frozen=True)
class Real:
    """Any element of the format in [low, high]."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class OneOf:
    """One of finitely many numbers."""

    values: tuple[Fraction, ...]


Domain = Integer | UnitFraction | Real | OneOf


@dataclass(frozen=True)
class Setting:
    """What the constants of a part are derived from.

    n: bound of the integers in registers. length: the longest sequence. format: what numbers are rounded to. scale: the lead of a
    winner, a power of two; 0 for the least that makes the runner-up vanish.
    """

    n: int
    length: int
    format: Format
    scale: int = 0

    @cached_property
    def length_bound(self) -> int:
        """The least power of two above every position."""
        return 1 << self.length.bit_length()

    @cached_property
    def gap(self) -> int:
        """The lead that makes the runner-up vanish, see `least_gap`, or the one that is given."""
        return self.scale or least_gap(-self.format.quantum_exponent, self.length)


def least_gap(fraction_bits: int, length: int) -> int:
    """Returns the least power of two G with length·e^−(G−2) < 2^−(fraction_bits + 2).

    Then a winner that leads by G − 2 gets weight exactly 1 and the others exactly 0, and m tied winners get ROUND(1/m), see
    precision/winners.py. The 2 is room for the rounding of scores.
    """
    lead = vanishing_lead(length, fraction_bits)
    bits = length.bit_length()
    gap = max(4, (1 << bits.bit_length()) // 2)  # not above the least one, which is above bits/2
    while gap - 2 < lead:
        gap *= 2
    return gap


def smallest_gap(length: int) -> int:
    """Returns a power of two that `least_gap` is not below with 2·bits(length) fraction bits or more: the lead is above
    2·bits(length).
    """
    return 2 << length.bit_length().bit_length()


@dataclass(frozen=True)
class Contract:
    """Pre- and postconditions over registers.

    requires: register → domain, independently for each position. first: values that position 1 must hold.
    derive: fills registers that depend on others (a running count, say), so that the precondition ties them together.
    ensures: register → domain of what is written.
    """

    requires: Mapping[str, Domain]
    ensures: Mapping[str, Domain]
    first: Mapping[str, Fraction]
    derive: Callable[[Columns], Columns] | None = None


@dataclass(frozen=True)
class Part:
    """One lemma as data. `printed` selects what the paper prints instead of what we ship.

    plan(setting, printed): the blocks that read the contract's registers and write its results.
    oracle(setting, columns): what must stand in the written registers, exactly; compared after one rounding to the format.
    tolerance: how far a result may be from the oracle's, in quanta.
    least_precision(n, length): the least p of R_p at which the part claims to hold under `fused`.
    """

    id: str
    name: str
    source: str
    statement: str
    plan: Callable[[Setting, bool], Sequence[BlockPlan]]
    contract: Callable[[Setting], Contract]
    oracle: Callable[[Setting, Columns], Expected]
    least_precision: Callable[[int, int], int]
    findings: tuple[Finding, ...] = ()
    tolerance: Callable[[Setting], int] = lambda setting: 0


def least_odd_precision(requirement: Callable[[int], int], start: int = 2) -> int:
    """Returns the least odd p ≥ 5 whose q = (p − 1)/2 satisfies q ≥ requirement(q); the requirement never falls as q grows, if
    slowly.

    start: at least 2, and a requirement of every q.
    """
    fraction_bits = start
    while fraction_bits < (needed := requirement(fraction_bits)):
        fraction_bits = needed  # no q below it can do
    return 2 * fraction_bits + 1


def printed_precision(n: int) -> int:
    """Returns the least odd p > 10·log2 n, the precision that Lemma C.18 is printed with (A = 1)."""
    return max(5, (n**10).bit_length() | 1)


def roomy_precision(n: int, power: int) -> int:
    """Returns the least p at which 4·n^(power + 2) is in range: a score factor n^power times the square of a number up to 2n."""
    largest: int = 4 * n ** (power + 2)
    return 2 * (largest.bit_length() + 1) + 1


def log2(power: int) -> int:
    """Returns the exponent of a power of two."""
    exponent = power.bit_length() - 1
    if power <= 0 or power != 1 << exponent:
        raise ValueError(f"{power} is not a power of two")
    return exponent


def split_scale(scale: int) -> tuple[int, int]:
    """Returns two powers of two, as equal as can be, whose product is `scale`: the shares of key and query in a score."""
    exponent = log2(scale)
    return 1 << (exponent // 2), 1 << (exponent - exponent // 2)
