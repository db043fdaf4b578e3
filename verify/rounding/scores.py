"""Scores: quadratic polynomials of a query's and a key's atoms, written as −Σ d·l² + rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.algebra.domains import Integer
from verify.algebra.polynomial import Number, Polynomial, is_whole, quotient
from verify.algebra.symbolic import common_divisor, grows
from verify.rounding.bounds import Bounded


@dataclass(frozen=True)
class Square:
    """−cost·form², form an affine form of Integer atoms with integer coefficients; its constant may be any fraction."""

    cost: Fraction
    form: Polynomial

    @property
    def can_vanish(self) -> bool:
        """Returns whether the form is a whole number."""
        return is_whole(self.form.constant)

    @property
    def least(self) -> Fraction:
        """r, the value of the form that is nearest to 0, if `behind` is above 0."""
        return Fraction(0) if self.can_vanish else self.form.constant - round(self.form.constant)

    @property
    def behind(self) -> Fraction:
        """Returns by how much the square is less at any other value than r: 0 if r is not one number.

        The form's values are whole numbers apart, so any other one is 1 − |r| away from 0 or more; and (1 − |r|)² − r² = 1 − 2·|r|.
        """
        if self.can_vanish:
            return self.cost
        constant = self.form.constant
        return self.cost * (1 - 2 * _from_whole(constant)) if not grows(constant) else Fraction(0)

    @property
    def asymmetry(self) -> Fraction:
        """Two values a and b of the form, a² ≠ b², differ by |a − b| times this in their squares at least; 0 if a = −b may be."""
        return _from_whole(2 * self.form.constant)


@dataclass(frozen=True)
class Score:
    """−Σ cost·form² + rest."""

    squares: tuple[Square, ...]
    rest: Polynomial

    def upper(self, state: Bounded) -> Fraction:
        """Returns an upper bound."""
        return state.bounds(self.rest)[1] - sum((s.cost * _least_square(state, s) for s in self.squares), Fraction(0))

    def lower(self, state: Bounded) -> Fraction:
        """Returns a lower bound."""
        worst = Fraction(0)
        for square in self.squares:
            low, high = state.bounds(square.form)
            worst += square.cost * max(low * low, high * high)
        return state.bounds(self.rest)[0] - worst


def _least_square(state: Bounded, square: Square) -> Fraction:
    low, high = state.bounds(square.form)
    if low <= 0 <= high:
        return _from_whole(square.form.constant) ** 2
    return min(low * low, high * high)


def _from_whole(value: Number) -> Fraction:
    """Returns how far a number is from the nearest whole one."""
    return abs(value - round(value))  # type: ignore[return-value]


def complete_squares(state: Bounded, score: Polynomial, order: Sequence[str], *, fractions: bool = False) -> Score:
    """Completes squares, atom by atom. What has no integer form stays in the rest, so the identity always holds.

    fractions: a form's constant may be a fraction.
    """
    squares: list[Square] = []
    rest = score
    for name in order:
        cost = -rest.terms.get((name, name), Fraction(0))
        if cost <= 0 or not isinstance(state.box[name], Integer):
            continue
        linear = Polynomial({tuple(_without(m, name)): c for m, c in rest.terms.items() if m.count(name) == 1})
        form = Polynomial({(name,): Fraction(1)}) - linear * quotient(1, 2 * cost)
        whole = (is_whole(c) for m, c in form.terms.items() if m or not fractions)
        if not state.is_integer_affine(form) or not all(whole):
            continue
        rest = rest + form * form * cost
        squares.append(Square(cost, form))
    return Score(tuple(squares), rest)


def _without(monomial: tuple[str, ...], name: str) -> list[str]:
    rest = list(monomial)
    rest.remove(name)
    return rest


def lattice(polynomials: Sequence[Polynomial]) -> Fraction:
    """Returns a number of which every value is a multiple, for integer atoms; 0 if all are 0. The largest one, but where it
    grows.
    """
    divisor, coefficients = Fraction(0), [c for polynomial in polynomials for c in polynomial.terms.values()]
    if any(grows(c) for c in coefficients):
        return common_divisor(coefficients)
    for c in coefficients:
        divisor = _gcd(divisor, abs(c))
    return divisor


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    while b:
        a, b = b, a % b
    return a
