"""Calculates with polynomials over atoms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from verify.trusted.numbers import Number, grows, plain, ratio
from verify.trusted.rejection import reject

Monomial = tuple[str, ...]  # atoms in order, each as often as it is a factor
Polynomial = dict[Monomial, Number]  # no coefficient is 0
Form = tuple[tuple[str, int], ...]  # atoms in order, coprime coefficients, the first above 0
ONE: Polynomial = {(): 1}


def number(value: Number) -> Polynomial:
    return {(): value} if value else {}


def atom(name: str) -> Polynomial:
    return {(name,): 1}


def combine(pairs: Iterable[tuple[Polynomial, Number]]) -> Polynomial:
    """Returns Σ factor·polynomial."""
    result: Polynomial = {}
    for polynomial, factor in pairs:
        for monomial, c in polynomial.items():
            result[monomial] = result.get(monomial, 0) + c * factor
    return {m: c if type(c) is int else plain(c) for m, c in result.items() if c}


def plus(first: Polynomial, second: Polynomial, factor: Number = 1) -> Polynomial:
    result = {**first}
    for monomial, c in second.items():
        if total := result.get(monomial, 0) + c * factor:
            result[monomial] = total if type(total) is int else plain(total)
        else:
            result.pop(monomial, None)
    return result


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    for one, other in ((first, second), (second, first)):
        if one == ONE:
            return other
        if len(one) == 1 and () in one:
            return combine([(other, one[()])])
    result: Polynomial = {}
    for a, c in first.items():
        for b, d in second.items():
            monomial = tuple(sorted(a + b)) if a and b else a + b
            result[monomial] = result.get(monomial, 0) + c * d
    return {m: c if type(c) is int else plain(c) for m, c in result.items() if c}


def names_of(polynomial: Polynomial) -> set[str]:
    return {name for monomial in polynomial for name in monomial}


def substitute(polynomial: Polynomial, values: Mapping[str, Polynomial]) -> Polynomial:
    """Returns it with polynomials in place of some atoms."""
    disjoint = values.keys().isdisjoint
    for monomial in polynomial:
        if not disjoint(monomial):
            break
    else:
        return polynomial
    parts = []
    for monomial, c in polynomial.items():
        product: Polynomial = {tuple(name for name in monomial if name not in values): 1}
        for name in monomial:
            if name in values:
                product = times(product, values[name])
        parts.append((product, c))
    return combine(parts)


def without(monomial: Monomial, name: str) -> Monomial:
    """Returns the monomial without one of these factors."""
    i = monomial.index(name)
    return (*monomial[:i], *monomial[i + 1 :])


def is_affine(polynomial: Polynomial) -> bool:
    return all(len(monomial) <= 1 for monomial in polynomial)


def canonical(polynomial: Polynomial) -> tuple[Form, Number]:
    """Returns, of an affine polynomial that is no number, the form F and the factor a with polynomial = a·F + its constant."""
    pairs = sorted(((m[0], c) for m, c in polynomial.items() if m), key=lambda pair: pair[0])
    if grows(first := pairs[0][1]):
        form, factor = canonical({(name,): ratio(c, first) for name, c in pairs})
        return form, factor * first
    if any(grows(c) for _, c in pairs):
        reject("a form whose coefficients grow apart")
    scale = math.lcm(*(c.denominator for _, c in pairs))
    whole = [int(c * scale) for _, c in pairs]
    divisor = math.gcd(*whole) * (1 if whole[0] > 0 else -1)
    return tuple((name, c // divisor) for (name, _), c in zip(pairs, whole, strict=True)), ratio(divisor, scale)


def sum_of(form: Form) -> Polynomial:
    """Returns a form as a polynomial."""
    return {(name,): c for name, c in form}
