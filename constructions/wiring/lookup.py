"""What a head looks up, as data: keys that must equal queries, which match it prefers, and what it reads if none matches.

A part makes a head's keys and queries and its lookup from the same constants. Nothing trusts the lookup: `deviation` expands both
scores and says where they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.needs import Need

ONE, FIRST = reg("one"), reg("first")
Monomial: TypeAlias = tuple[str, ...]
"""Registers, sorted, each as often as it is a factor; `one` is left out."""
Polynomial: TypeAlias = dict[Monomial, Number]
Quadratic: TypeAlias = dict[tuple[Monomial, Monomial], Number]
"""Coefficients of products of a monomial of the key's registers and one of the query's."""


@dataclass(frozen=True)
class Preference:
    """+ pull·key − curve·key², with the key's value of `key` and the query's of `pull`.

    With a curve, the key nearest to pull/(2·curve) is preferred. Without one, the largest where the pull is positive.
    """

    key: Affine
    pull: Affine
    curve: Number = 0

    @property
    def wish(self) -> Affine | None:
        """Returns the value that the nearest key wins by; None without a curve."""
        return self.pull * (1 / Fraction(self.curve)) * Fraction(1, 2) if self.curve else None


def nearest_to(key: Affine, wish: Affine, curve: Number) -> Preference:
    """Prefers the key nearest to `wish`: −curve·(key − wish)², but for what is alike for all keys."""
    return Preference(key, wish * 2 * curve, curve)


@dataclass(frozen=True)
class Lookup:
    """The score −scale·Σ(key − query)² + preference − penalty at position 1, but for what is alike for all keys.

    equal: forms over the key's registers and over the query's. prefer: None for the mean of all matches, or
    where one key at most matches. exempt: position 1, where all keys are 0, pays no mismatch, so that it is read if nothing
    matches. penalty: what position 1 pays besides, a form over the query's registers; None for nothing.
    """

    equal: tuple[tuple[Affine, Affine], ...] = ()
    scale: Number = 0
    prefer: Preference | None = None
    exempt: bool = True
    penalty: Affine | None = None

    def score(self) -> Quadratic:
        """Expands the score. The keys of `equal` are 0 at position 1 if that is exempt."""
        result: Quadratic = {}
        paying = ONE - FIRST if self.exempt else ONE
        for key, query in self.equal:
            _add(result, _product(key, key), _product(ONE), -self.scale)
            _add(result, _product(key), _product(query), 2 * self.scale)
            _add(result, _product(paying), _product(query, query), -self.scale)
        if (prefer := self.prefer) is not None:
            _add(result, _product(prefer.key), _product(prefer.pull), 1)
            _add(result, _product(prefer.key, prefer.key), _product(ONE), -prefer.curve)
        if self.penalty is not None:
            _add(result, _product(FIRST), _product(self.penalty), -1)
        return result


def deviation(lookup: Lookup, products: Iterable[tuple[Affine, Affine]], needs: Iterable[Need]) -> Quadratic:
    """Returns the score Σ key·query less the lookup's, but for what is alike for all keys; empty if both are the same.

    products: keys and queries. needs: which registers hold squares, or bits. Squares are taken as exact; the score of
    a rounded one is off by a little.
    """
    return {(left, right): c for (left, right), c in difference(lookup, products, needs).items() if left}


def difference(lookup: Lookup, products: Iterable[tuple[Affine, Affine]], needs: Iterable[Need]) -> Quadratic:
    """Returns all of the score Σ key·query less the lookup's, see `deviation`; what is alike for all keys has an empty key."""
    unlike = {term: -c for term, c in lookup.score().items()}
    for key, query in products:
        _add(unlike, _product(key), _product(query), 1)
    rules, result = _rules(needs), Quadratic()
    reduced = {monomial: _reduce({monomial: 1}, rules) for monomial in {one for term in unlike for one in term}}
    for (left, right), c in unlike.items():
        _add(result, reduced[left], reduced[right], c)
    return {term: c for term, c in result.items() if c}


# Scores as polynomials


def _product(*forms: Affine) -> Polynomial:
    """Expands a product of forms; `one` is 1."""
    result: Polynomial = {(): 1}
    for form in forms:
        grown: Polynomial = {}
        factors = [*form.terms.items(), ("one", form.constant)] if form.constant else [*form.terms.items()]
        for monomial, c in result.items():
            for name, factor in factors:
                longer = monomial if name == "one" else tuple(sorted((*monomial, name))) if monomial else (name,)
                term = _times(c, factor)
                grown[longer] = grown[longer] + term if longer in grown else term
        result = grown
    return result


def _add(result: Quadratic, key: Polynomial, query: Polynomial, factor: Number) -> None:
    for left, c in key.items():
        c = _times(factor, c)
        for right, d in query.items():
            term = _times(d, c)
            result[left, right] = result[left, right] + term if (left, right) in result else term


def _times(factor: Number, c: Number) -> Number:
    """Returns the product; most factors are 1, and to multiply fractions takes long."""
    return c if type(factor) is int and factor == 1 else factor * c


def _rules(needs: Iterable[Need]) -> list[tuple[Monomial, Polynomial]]:
    """Turns needs that hold at every position into rewriting rules: a square register to the square that it holds, b² to b.

    A sum of registers that holds a square gives a rule for one of them.
    """
    rules: list[tuple[Monomial, Polynomial]] = []
    for need in sorted(
        (n for n in needs if n.squared and n.place == "every position"), key=lambda need: len(need.form.terms)
    ):
        zero = _product(need.form)
        for monomial, c in _product(need.equals, need.equals).items():
            zero[monomial] = zero.get(monomial, 0) - c
        zero = {monomial: c for monomial, c in _reduce(zero, rules).items() if c}
        alone = [m for m in zero if len(m) == 1 and not any(m[0] in other for other in zero if other != m)]
        double = [m for m in zero if len(m) == 2 and m[0] == m[1]]
        if head := (alone or double)[:1]:
            c = zero.pop(head[0])
            rules.append((head[0], {monomial: -d / Fraction(c) for monomial, d in zero.items()}))
    return rules


def _without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """Returns the monomial without these factors; None if it does not have all of them."""
    others = [*monomial]
    for name in factors:
        if name not in others:
            return None
        others.remove(name)
    return tuple(others)


def _reduce(polynomial: Polynomial, rules: Sequence[tuple[Monomial, Polynomial]]) -> Polynomial:
    """Rewrites a polynomial by the rules, until none applies."""
    result, left = Polynomial(), list(polynomial.items())
    while left:
        monomial, c = left.pop()
        for pattern, instead in rules:
            if (others := _without(monomial, pattern)) is not None:
                left += [(tuple(sorted((*others, *other))), c * d) for other, d in instead.items()]
                break
        else:
            result[monomial] = result.get(monomial, 0) + c
    return result
