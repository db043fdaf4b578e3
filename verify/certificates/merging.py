"""One kind in place of several that differ in bounds only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from verify.certificates.kinds import POSITION, Domain, Form, Integer, Kind, Reciprocal, Rounded
from verify.certificates.polynomial import Polynomial, atom, constant


class Pool:
    """Kinds by shape. add: joins a kind to one that differs from it in bounds only, and says which."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._of_shape: dict[object, list[int]] = {}

    def add(self, kind: Kind) -> int:
        """The number of the kind that now covers this one too."""
        kind, shape = shaped(kind)
        places = self._of_shape.setdefault(shape, [])
        for place in places:
            if _covers(self.kinds[place], kind):
                self.kinds[place] = hull(self.kinds[place], kind)
                return place
        places.append(len(self.kinds))
        self.kinds.append(kind)
        return places[-1]


def _covers(a: Kind, b: Kind) -> bool:
    """Whether the registers of b that depend on the position alone are those of a, there."""
    if b.position.low != b.position.high:
        return all(b.register(i) == p for i, p in _of_position(a).items())
    return all(b.fixed(p) == b.fixed(b.register(i)) for i, p in _of_position(a).items())


def _of_position(kind: Kind) -> dict[int, Polynomial]:
    return {i: p for i, p in kind.registers.items() if p.atoms <= {POSITION}}


def wide_first(kinds: Sequence[Kind]) -> list[Kind]:
    """Those of more than one position first: they say how a register depends on the position."""
    return sorted(kinds, key=lambda kind: kind.position.low == kind.position.high)


def joined(kinds: Sequence[Kind], live: frozenset[int]) -> list[Kind]:
    """The kinds with these registers only, those that differ in bounds only in one; of each parent for itself."""
    pools: dict[int, Pool] = {}
    for kind in wide_first(kinds):
        pools.setdefault(kind.parent, Pool()).add(kind.cleaned(live))
    return [kind for _, pool in sorted(pools.items()) for kind in pool.kinds]


def merged(kinds: Sequence[Kind], live: frozenset[int]) -> list[Kind]:
    """The kinds with these registers only, those that differ in bounds only in one; `before` speaks of the new kinds."""
    pool = Pool()
    parts: dict[int, set[int]] = {}  # kind of the entry → the new kinds that are part of it
    for kind in wide_first(kinds):
        parts.setdefault(kind.parent, set()).add(pool.add(kind.cleaned(live)))
    result = [replace(kind, before=frozenset(j for i in kind.before for j in parts.get(i, ()))) for kind in pool.kinds]

    def follows(kind: Kind, other: Kind) -> bool:
        return other.position.low + 1 <= kind.position.high and kind.position.low <= other.position.high + 1

    return [replace(kind, before=frozenset(j for j in kind.before if follows(kind, result[j]))) for kind in result]


def shaped(kind: Kind) -> tuple[Kind, object]:
    """The kind with its atoms called by their order, and what another kind must share to be merged with it."""
    names = {POSITION: POSITION}

    def visit(polynomial: Polynomial) -> None:
        for monomial, _ in sorted(polynomial.terms.items(), key=lambda item: (len(item[0]), item[1], signature(item[0]))):
            for name in monomial:
                if name not in names:
                    names[name] = f"{name[0]}#{len(names)}"
                    domain = kind.box[name]
                    if isinstance(domain, Rounded):
                        visit(domain.exact)
                    elif not isinstance(domain, Integer):
                        visit(atom(domain.of))

    def signature(monomial: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, type(kind.box[name]).__name__) for name in monomial)

    for polynomial in kind.registers.values():
        visit(polynomial)
    for name in kind.box:
        names.setdefault(name, f"{name[0]}#{len(names)}")
    called = kind.called(names)
    domains = tuple(sorted((name, _type(domain)) for name, domain in called.box.items()))
    registers = tuple((i, "" if p.atoms <= {POSITION} else str(p)) for i, p in called.registers.items())
    # Which of two counts is larger decides gates to come: kinds that differ in it stay apart.
    counts = sorted((name, domain) for name, domain in called.box.items() if isinstance(domain, Reciprocal))
    order = []
    for i, (_, x) in enumerate(counts):
        for _, y in counts[:i]:
            low, high = called.bounds(atom(x.of) - atom(y.of) + constant(x.shift - y.shift))
            order.append((low >= 1, low >= 0, high <= 0, high <= -1))
    return called, (kind.name, registers, domains, tuple(order), kind.position.high == 1)


def _type(domain: Domain) -> str:
    if isinstance(domain, Integer):
        return ""
    if isinstance(domain, Rounded):
        return f"ROUND({domain.exact}), {domain.ideal}"
    return f"1/({domain.of} + {domain.shift})"


def hull(a: Kind, b: Kind) -> Kind:
    box: dict[str, Domain] = {}
    for name, x in a.box.items():
        y = b.box[name]
        if isinstance(x, Integer) and isinstance(y, Integer):
            box[name] = Integer(min(x.low, y.low), max(x.high, y.high))
        elif isinstance(x, Rounded) and isinstance(y, Rounded):
            box[name] = replace(x, low=min(x.low, y.low), high=max(x.high, y.high), error=max(x.error, y.error))
        else:
            box[name] = x
    forms: dict[Form, tuple[int, int]] = {}
    for form in a.forms.keys() | b.forms.keys() | _comparisons(a):
        body = Polynomial({(name,): Fraction(c) for name, c in form})
        (low, high), (other_low, other_high) = a.bounds(body), b.bounds(body)
        forms[form] = (math.ceil(min(low, other_low)), math.floor(max(high, other_high)))
    return replace(a, box=box, forms=forms, before=a.before | b.before)


def _comparisons(kind: Kind) -> set[Form]:
    """Differences of the atoms that counts are made of."""
    names = sorted({domain.of for domain in kind.box.values() if isinstance(domain, Reciprocal)})
    return {((x, 1), (y, -1)) for i, x in enumerate(names) for y in names[i + 1 :]}
