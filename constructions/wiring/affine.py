"""Affine forms over named registers: the language that weights are written in.

A *register* is a named coordinate of the residual stream. `reg("position") - 3` is an affine form; every row of every weight
matrix is made from one, so no weight is ever written against an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Number = int | Fraction
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Affine:
    """Σ coefficient·register + constant, with exact coefficients; zero coefficients are dropped."""

    terms: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = ZERO

    def __post_init__(self) -> None:
        exact = {name: _fraction(c) for name, c in self.terms.items() if c}
        self.__dict__.update(terms=exact, constant=_fraction(self.constant))

    def __add__(self, other: Affine | Number) -> Affine:
        other = as_affine(other)
        terms = {**self.terms}
        for name, c in other.terms.items():
            terms[name] = terms[name] + c if name in terms else c
        constant = self.constant + other.constant if other.constant is not ZERO else self.constant
        return _form(terms, constant)

    __radd__ = __add__

    def __mul__(self, factor: Number) -> Affine:
        constant = self.constant
        if constant is not ZERO or type(factor) is float:
            constant = _product(constant, factor)
        return _form({name: _product(c, factor) for name, c in self.terms.items()}, constant)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | Number) -> Affine:
        other = as_affine(other)
        terms = {**self.terms}
        for name, c in other.terms.items():
            terms[name] = terms[name] - c if name in terms else -c
        constant = self.constant - other.constant if other.constant is not ZERO else self.constant
        return _form(terms, constant)

    def __rsub__(self, other: Affine | Number) -> Affine:
        return as_affine(other) - self

    def __str__(self) -> str:
        """Writes the form as a person does: `2·position − 3`, `1 − first`. The constant leads if the rest starts with a minus."""
        signed = [(c, ("" if abs(c) == 1 else _magnitude(c) + "·") + _quote(name)) for name, c in self.terms.items()]
        if self.constant or not signed:
            leads = self.constant > 0 and bool(signed) and signed[0][0] < 0
            signed.insert(0 if leads else len(signed), (self.constant, _magnitude(self.constant)))
        (first, text), *rest = signed
        return ("−" if first < 0 else "") + text + "".join((" − " if c < 0 else " + ") + t for c, t in rest)


def _fraction(value: Number) -> Fraction:
    if type(value) is Fraction:  # isinstance takes long of what is none
        return value
    return Fraction(value) if type(value) is int or not isinstance(value, Fraction) else value


def _product(c: Fraction, factor: Number) -> Fraction:
    """Returns c·factor. The frequent cases are computed without the general multiplication of Fraction, which is slow."""
    if type(c) is Fraction and type(factor) is not float:  # a float is refused later, with its place
        if not c:
            return ZERO
        if c is ONE:
            return _fraction(factor)
        if type(factor) is int:
            if factor == 1:
                return c
            if c.denominator == 1:
                return Fraction(c.numerator * factor)
    return c * factor


def _form(terms: Mapping[str, Fraction], constant: Fraction) -> Affine:
    """Makes an `Affine` of numbers that are Fractions already."""
    form = object.__new__(Affine)
    form.__dict__.update(terms={name: c for name, c in terms.items() if c}, constant=constant)
    return form


def reg(name: str) -> Affine:
    """Returns the register `name` itself, as a form."""
    form = object.__new__(Affine)
    form.__dict__.update(terms={name: ONE}, constant=ZERO)
    return form


def as_affine(value: Affine | Number) -> Affine:
    """Returns a form unchanged, a number as a constant form."""
    return value if isinstance(value, Affine) else _form({}, _fraction(value))


def total(forms: Iterable[Affine]) -> Affine:
    """Returns the sum of the forms; 0 if there are none."""
    result = Affine()
    for form in forms:
        result = result + form
    return result


def show_number(value: Number) -> str:
    """Returns a number as a person writes it: 3, −1/2, or 3·2^40 where a power of two makes it shorter."""
    value = Fraction(value)
    return ("−" if value < 0 else "") + _magnitude(value)


def _magnitude(value: Fraction) -> str:
    """Writes |value|, with 2^k as a power if numerator or denominator has at least ten factors of two."""
    numerator, denominator = abs(value.numerator), value.denominator
    if denominator == 1:
        exponent = (numerator & -numerator).bit_length() - 1
        odd = numerator >> max(exponent, 0)
    elif denominator & (denominator - 1) == 0:
        exponent, odd = 1 - denominator.bit_length(), numerator
    else:
        exponent, odd = 0, 0
    if abs(exponent) < 10:
        return str(abs(value))
    power = f"2^{exponent}".replace("-", "−")
    return power if odd == 1 else f"{odd}·{power}"


def _quote(name: str) -> str:
    """Returns a register's name; one that could be read as a minus sign stands in quotes."""
    return f"'{name}'" if "-" in name else name
