"""Affine forms over named registers: the language that weights are written in.

A *register* is a named coordinate of the residual stream. `reg("position") - 3` is an affine form; every row of every weight
matrix is made from one, so no weight is ever written against an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Number = int | Fraction


@dataclass(frozen=True)
class Affine:
    """Σ coefficient·register + constant, with exact coefficients; zero coefficients are dropped."""

    terms: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", {name: Fraction(c) for name, c in self.terms.items() if c})
        object.__setattr__(self, "constant", Fraction(self.constant))

    def __add__(self, other: Affine | Number) -> Affine:
        other = as_affine(other)
        names = [*self.terms, *(name for name in other.terms if name not in self.terms)]
        terms = {name: self.terms.get(name, Fraction(0)) + other.terms.get(name, Fraction(0)) for name in names}
        return Affine(terms, self.constant + other.constant)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> Affine:
        return Affine({name: c * factor for name, c in self.terms.items()}, self.constant * factor)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | Number) -> Affine:
        return self + -as_affine(other)

    def __rsub__(self, other: Affine | Number) -> Affine:
        return as_affine(other) - self

    def __str__(self) -> str:
        parts = [f"{_signed(c)}{'' if abs(c) == 1 else _magnitude(c) + '·'}{name}" for name, c in self.terms.items()]
        if self.constant or not parts:
            parts.append(_signed(self.constant) + _magnitude(self.constant))
        return " ".join(parts).removeprefix("+ ").replace("- ", "−", 1) if parts[0][0] == "-" else " ".join(parts)[2:]


def reg(name: str) -> Affine:
    """The register `name` itself, as a form."""
    return Affine({name: Fraction(1)})


def as_affine(value: Affine | Number) -> Affine:
    """`value` as a form; a number is a constant form."""
    return value if isinstance(value, Affine) else Affine({}, Fraction(value))


def total(forms: Iterable[Affine]) -> Affine:
    """The sum of the forms; 0 if there are none."""
    result = Affine()
    for form in forms:
        result = result + form
    return result


def show_number(value: Number) -> str:
    """A dyadic number as a person writes it: 3, −1/2, or 2^40 for a long power of two."""
    value = Fraction(value)
    return ("−" if value < 0 else "") + _magnitude(value)


def _signed(value: Fraction) -> str:
    return "- " if value < 0 else "+ "


def _magnitude(value: Fraction) -> str:
    value = abs(value)
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1 and numerator >= 1024 and numerator & (numerator - 1) == 0:
        return f"2^{numerator.bit_length() - 1}"
    if numerator == 1 and denominator >= 1024 and denominator & (denominator - 1) == 0:
        return f"2^−{denominator.bit_length() - 1}"
    return str(value)
