"""What a head looks up, as data: keys that must equal queries, which match it prefers, and what it reads if none matches.

A part makes a head's keys and queries and its lookup from the same constants. Nothing trusts the lookup: `deviation` expands both
scores and says where they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from constructions.wiring.affine import ZERO, Affine, Number, reg
from constructions.wiring.needs import Need
from constructions.wiring.register import register

if TYPE_CHECKING:
    from constructions.wiring.plan import Head

ONE, FIRST = reg("one"), reg("first")
PLACES = ("position", "place")
ENDS = ("first", "last", "one")
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

    equal: forms over the key's registers and over the query's, without constants. prefer: None for the mean of all matches, or
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


def deviation(head: Head) -> Quadratic:
    """Returns the head's score less its lookup's, but for what is alike for all keys; empty if both are the same.

    Squares, bits and zeros are what the head's needs say of them.
    """
    if head.lookup is None:
        return {}
    difference = {term: -c for term, c in head.lookup.score().items()}
    for component in head.components:
        _add(difference, _product(component.key), _product(component.query), 1)
    rules = _rules(head.needs)
    result: Quadratic = {}
    for (key, query), c in difference.items():
        _add(result, _reduced({key: c}, rules), _reduced({query: 1}, rules), 1)
    return {(key, query): c for (key, query), c in result.items() if key and c}


def refusals(head: Head) -> list[str]:
    """Writes each term by which the head's score deviates from its lookup's."""
    terms = deviation(head).items()
    return [f"{c}·key({'·'.join(key)})·query({'·'.join(query) or 1})" for (key, query), c in terms]


def sentence(head: Head, longest: int | None = None) -> str:
    """Says what a head reads: "reads `father` at the first position where `vertex` equals `number`, else at position 1".

    longest: the most tokens of a text, which no position exceeds. Returns "" for a head without a lookup.
    """
    lookup = head.lookup
    if lookup is None:
        return ""
    forms = [form for name, form in head.reads.items() if not register(name).is_square] or [*head.reads.values()]
    read = ", ".join(f"`{unscaled(form)[0]}`" for form in forms)
    where = " and ".join(_match(key, query) for key, query in lookup.equal)
    if lookup.prefer is None and lookup.penalty is None:
        every = f"position 1 and every position where {where}" if where else "every position so far"
        return f"reads the mean of {read} at {every}"
    which, key = _preferred(lookup.prefer, longest)
    default = ", else at position 1" if where and lookup.exempt else ""
    besides = "" if default or lookup.penalty is None else f"; position 1 pays `{lookup.penalty}`"
    if which in ENDS:
        return f"reads {read} at the {which} position{f' where {where}' if where else ''}{default}{besides}"
    among = f", of those where {where}" if where else ""
    return f"reads {read} at the position {key}{which}{among}{default}{besides}"


def lookup_document(head: Head, longest: int | None = None) -> dict[str, object] | None:
    """Writes a head's lookup as JSON: forms as registers with exact coefficients, numbers as strings.

    says: the sentence. refused: the terms in which the weights differ from it, as text; none but in a print that is wrong.
    """
    if (lookup := head.lookup) is None:
        return None
    prefer = lookup.prefer
    return {
        "says": sentence(head, longest),
        "equal": [{"key": _written(key), "query": _written(query)} for key, query in lookup.equal],
        "scale": str(lookup.scale),
        "prefer": prefer and {"key": _written(prefer.key), "pull": _written(prefer.pull), "curve": str(prefer.curve)},
        "exempt": lookup.exempt,
        "penalty": None if lookup.penalty is None else _written(lookup.penalty),
        "refused": refusals(head),
    }


def _preferred(prefer: Preference | None, longest: int | None) -> tuple[str, str]:
    """Returns which match is preferred, and by which key: ("first", "") or ("nearest to `w`", "whose `count` is ")."""
    if prefer is None:
        return "one", ""
    key, factor = unscaled(prefer.key)
    by_place, wish = is_place(prefer.key), prefer.wish
    if wish is None:
        most = all(c > 0 for c in prefer.pull.terms.values())
        return (
            ("last" if most else "first", "") if by_place else ("largest" if most else "smallest", f"whose `{key}` is ")
        )
    if by_place and set(wish.terms) <= {"one"}:
        place = wish.terms.get("one", ZERO)
        if place <= 1 or (longest is not None and place >= longest):
            return ("first" if place <= 1 else "last"), ""
    if by_place and wish == prefer.key:
        return "last", ""
    return f"nearest to `{as_shown(wish * (1 / factor))}`", "" if by_place else f"whose `{key}` is "


def _match(key: Affine, query: Affine) -> str:
    """Says that a key equals a query, without a factor that both have."""
    key, factor = unscaled(key)
    query = as_shown(query * (1 / factor))
    return f"`{key}` equals `{query}`" if query.terms else f"`{key}` is {query}"


def is_place(form: Affine) -> bool:
    """True if the form is a register of positions, or a multiple of it."""
    return len(form.terms) == 1 and next(iter(form.terms)) in PLACES


def unscaled(form: Affine) -> tuple[Affine, Fraction]:
    """Returns a form over its first coefficient, and that coefficient; `one` is written as a number."""
    factor = next(iter(form.terms.values()), Fraction(1))
    return as_shown(form * (1 / factor)), factor


def as_shown(form: Affine) -> Affine:
    """Returns the form with the register `one` as a number, for people."""
    return Affine({name: c for name, c in form.terms.items() if name != "one"}, form.terms.get("one", ZERO))


def _written(form: Affine) -> dict[str, str]:
    return {name: str(c) for name, c in form.terms.items()}


# Scores as polynomials


def _product(*forms: Affine) -> Polynomial:
    """Expands a product of forms without constants; `one` is 1."""
    result: Polynomial = {(): 1}
    for form in forms:
        grown: Polynomial = {}
        for monomial, c in result.items():
            for name, factor in form.terms.items():
                longer = monomial if name == "one" else tuple(sorted((*monomial, name)))
                grown[longer] = grown.get(longer, 0) + c * factor
        result = grown
    return result


def _add(result: Quadratic, key: Polynomial, query: Polynomial, factor: Number) -> None:
    for left, c in key.items():
        for right, d in query.items():
            result[left, right] = result.get((left, right), 0) + c * d * factor


def _rules(needs: Iterable[Need]) -> list[tuple[Monomial, Polynomial]]:
    """Turns needs that hold at every position into rewriting rules: a square register to the square that it holds, b² to b.

    A sum of registers that holds a square gives a rule for one of them.
    """
    rules: list[tuple[Monomial, Polynomial]] = []
    for need in sorted((n for n in needs if n.squared), key=lambda need: len(need.form.terms)):
        zero = _product(need.form)
        for monomial, c in _product(need.equals, need.equals).items():
            zero[monomial] = zero.get(monomial, 0) - c
        zero = {monomial: c for monomial, c in _reduced(zero, rules).items() if c}
        alone = [m for m in zero if len(m) == 1 and not any(m[0] in other for other in zero if other != m)]
        double = [m for m in zero if len(m) == 2 and m[0] == m[1]]
        if head := (alone or double)[:1]:
            c = zero.pop(head[0])
            rules.append((head[0], {monomial: -d / Fraction(c) for monomial, d in zero.items()}))
    return rules


def _reduced(polynomial: Polynomial, rules: Sequence[tuple[Monomial, Polynomial]]) -> Polynomial:
    """Rewrites a polynomial by the rules, until none applies."""
    result, left = Polynomial(), list(polynomial.items())
    while left:
        monomial, c = left.pop()
        for pattern, instead in rules:
            if not (rest := Counter(pattern)) - (whole := Counter(monomial)):
                others = tuple((whole - rest).elements())
                left += [(tuple(sorted((*others, *other))), c * d) for other, d in instead.items()]
                break
        else:
            result[monomial] = result.get(monomial, 0) + c
    return result
