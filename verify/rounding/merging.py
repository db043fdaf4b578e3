"""One kind in place of several that differ in bounds only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from verify.algebra.domains import POSITION, SHARED, SIZE, Domain, Integer, Reciprocal, Rounded, with_fields
from verify.algebra.polynomial import Form, Polynomial, atom, common_step, key
from verify.rounding.kinds import Kind


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
    return {i: p for i, p in kind.registers.items() if p.atoms <= SHARED}


def wide_first(kinds: Sequence[Kind]) -> list[Kind]:
    """Those of more than one position first: they say how a register depends on the position."""
    return sorted(kinds, key=lambda kind: kind.position.low == kind.position.high)


def joined(kinds: Sequence[Kind], live: frozenset[int]) -> list[Kind]:
    """The kinds with these registers only, those that differ in bounds only in one; of each parent for itself."""
    pool = Pool()
    for kind in wide_first(kinds):
        pool.add(kind.cleaned(live))
    return general(pool.kinds)


def merged(kinds: Sequence[Kind], live: frozenset[int]) -> list[Kind]:
    """As `joined`, and `before` speaks of the new kinds."""
    return linked(joined(kinds, live))


def linked(kinds: Sequence[Kind]) -> list[Kind]:
    """The kinds with a `before` that speaks of them, not of those that they are parts of."""
    parts: dict[int, set[int]] = {}  # kind of the entry → the new kinds that are part of it
    for number, kind in enumerate(kinds):
        for parent in kind.parents:
            parts.setdefault(parent, set()).add(number)
    behind = [frozenset(j for i in kind.before for j in parts.get(i, ())) for kind in kinds]
    return [
        with_fields(kind, before=frozenset(j for j in some if _follows(kind, kinds[j])))
        for kind, some in zip(kinds, behind, strict=True)
    ]


def _follows(kind: Kind, other: Kind) -> bool:
    """Whether a position of the one may be next to one of the other, as far as forms of position and size tell."""
    forms = {form for form in (*kind.forms, *other.forms) if SHARED.issuperset(name for name, _ in form)}
    for form in {((POSITION, 1),), *forms}:
        step = dict(form).get(POSITION, 0)
        (low, high), (other_low, other_high) = kind.form_bounds(form), other.form_bounds(form)
        if other_low + step > high or other_high + step < low:
            return False
    return True


def general(kinds: Sequence[Kind]) -> list[Kind]:
    """Without the kinds that are another one with some of its atoms equal."""
    groups: dict[object, list[Kind]] = {}
    for kind in sorted(kinds, key=lambda kind: -len(kind.box)):
        skeleton = tuple((i, _skeleton(kind, p)) for i, p in kind.registers.items())
        group = groups.setdefault((kind.state, kind.position.high == 1, skeleton), [])
        for place, other in enumerate(group):
            view = instance(other, kind)
            if view is not None:
                group[place] = hull(other, view)
                break
        else:
            group.append(kind)
    return [kind for group in groups.values() for kind in group]


def _skeleton(kind: Kind, polynomial: Polynomial) -> object:
    if polynomial.atoms <= SHARED:
        return str(polynomial)
    terms = [(tuple(sorted(type(kind.box[name]).__name__ for name in m)), c) for m, c in polynomial.terms.items()]
    return tuple((names, key(c)) for names, c in sorted(terms))


def instance(whole: Kind, part: Kind) -> Kind | None:
    """`part` over the atoms of `whole`, if its registers are those with some atoms equal and its counts compare alike."""
    names = {name: name for name in SHARED}

    def bind(a: str, b: str) -> bool:
        if a in names:
            return names[a] == b
        names[a] = b
        x, y = whole.box[a], part.box[b]
        if isinstance(x, Reciprocal):
            return isinstance(y, Reciprocal) and x.shift == y.shift and bind(x.of, y.of)
        if isinstance(x, Rounded):
            return isinstance(y, Rounded) and match(x.exact, y.exact) and match(x.ideal, y.ideal)
        return isinstance(y, Integer)

    def match(p: Polynomial, q: Polynomial) -> bool:
        if not p.atoms <= names.keys():
            pairs = zip(sorted(p.terms.items(), key=_order), sorted(q.terms.items(), key=_order), strict=False)
            for (m, c), (w, d) in pairs:
                if m and w and c == d and not bind(m[0], w[0]):
                    return False
        return p.atoms <= names.keys() and p.substitute({a: atom(names[a]) for a in p.atoms}) == q

    if whole.registers.keys() != part.registers.keys():
        return None
    if not all(match(p, part.register(i)) for i, p in whole.registers.items()) or not whole.box.keys() <= names.keys():
        return None
    box: dict[str, Domain] = {}
    for name, x in whole.box.items():
        y = part.box[names[name]]
        if isinstance(x, Rounded) and isinstance(y, Rounded):
            x = with_fields(x, low=y.low, high=y.high, error=y.error)
        box[name] = x if not isinstance(y, Integer) else y
    forms: dict[Form, tuple[int, int]] = {}
    for form in sorted(whole.forms.keys() | _comparisons(whole)):
        body = Polynomial({(name,): Fraction(c) for name, c in form})
        low, high = part.bounds(body.substitute({name: atom(names[name]) for name, _ in form}))
        forms[form] = (math.ceil(low), math.floor(high))
    view = with_fields(whole, box=box, forms=forms, before=part.before, parents=part.parents)
    return view if comparisons(view) == comparisons(whole) else None


def _order(item: tuple[tuple[str, ...], Fraction]) -> tuple[int, Fraction]:
    return len(item[0]), item[1]


def comparisons(kind: Kind) -> tuple[tuple[bool, ...], ...]:
    """Which of two counts is larger, if that is known: it decides gates to come, so kinds that differ in it stay apart."""
    counts = sorted((name, domain) for name, domain in kind.box.items() if isinstance(domain, Reciprocal))
    signs = []
    for i, (_, x) in enumerate(counts):
        for _, y in counts[:i]:
            low, high = (end + x.shift - y.shift for end in _difference(kind, x.of, y.of))
            signs.append((low >= 1, low >= 0, high <= 0, high <= -1))
    return tuple(signs)


def _difference(kind: Kind, x: str, y: str) -> tuple[int, int]:
    """Bounds of x − y."""
    if x == y:
        return 0, 0
    if x < y:
        return kind.form_bounds(((x, 1), (y, -1)))
    low, high = kind.form_bounds(((y, 1), (x, -1)))
    return -high, -low


def by_order(kind: Kind) -> dict[str, str]:
    """Names of its atoms by the order in which its registers have them."""
    names = {name: name for name in (SIZE, POSITION)}  # not in the order of a set: it stands in the trace

    def visit(polynomial: Polynomial) -> None:
        for monomial, _ in sorted(
            polynomial.terms.items(), key=lambda item: (len(item[0]), item[1], signature(item[0]))
        ):
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
    return names


def shaped(kind: Kind) -> tuple[Kind, object]:
    """The kind with its atoms called by their order, and what another kind must share to be merged with it."""
    called = kind.called(by_order(kind))
    domains = frozenset((name, _type(domain)) for name, domain in called.box.items())
    registers = tuple((i, None if p.atoms <= SHARED else _terms(p)) for i, p in called.registers.items())
    return called, (kind.state, registers, domains, comparisons(called), kind.position.high == 1)


def _type(domain: Domain) -> object:
    if isinstance(domain, Integer):
        return None
    if isinstance(domain, Rounded):
        return _terms(domain.exact), _terms(domain.ideal)
    return domain


def _terms(polynomial: Polynomial) -> object:
    return frozenset((monomial, key(c)) for monomial, c in polynomial.terms.items())


def hull(a: Kind, b: Kind) -> Kind:
    box: dict[str, Domain] = {}
    for name, x in a.box.items():
        y = b.box[name]
        if isinstance(x, Integer) and isinstance(y, Integer):
            steps = (d.step for d in (x, y) if d.low < d.high)
            box[name] = Integer(min(x.low, y.low), max(x.high, y.high), common_step(x.low - y.low, *steps))
        elif isinstance(x, Rounded) and isinstance(y, Rounded):
            box[name] = with_fields(x, low=min(x.low, y.low), high=max(x.high, y.high), error=max(x.error, y.error))
        else:
            box[name] = x
    forms: dict[Form, tuple[int, int]] = {}
    for form in sorted(a.forms.keys() | b.forms.keys() | _comparisons(a)):
        (low, high), (other_low, other_high) = a.form_bounds(form), b.form_bounds(form)
        forms[form] = min(low, other_low), max(high, other_high)
    return with_fields(a, box=box, forms=forms, before=a.before | b.before, parents=a.parents | b.parents)


def _comparisons(kind: Kind) -> set[Form]:
    """Differences of the atoms that counts are made of."""
    names = sorted({domain.of for domain in kind.box.values() if isinstance(domain, Reciprocal)})
    return {((x, 1), (y, -1)) for i, x in enumerate(names) for y in names[i + 1 :]}
