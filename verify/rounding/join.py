"""The join: one abstract state that covers several, which differ in bounds only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from verify.algebra.domains import POSITION, SHARED, SIZE, Domain, Integer, Reciprocal, Rounded, with_fields
from verify.algebra.polynomial import Form, Polynomial, atom, common_step, form_polynomial, key
from verify.algebra.symbolic import grows
from verify.rounding.abstract_state import AbstractState


class Pool:
    """States by shape. add: joins a state to one that differs from it in bounds only, and says which."""

    def __init__(self) -> None:
        self.states: list[AbstractState] = []
        self._of_shape: dict[object, list[int]] = {}

    def add(self, state: AbstractState) -> int:
        """Returns the number of the state that now covers this one too."""
        state, shape = shaped(state)
        places = self._of_shape.setdefault(shape, [])
        for place in places:
            if _covers(self.states[place], state):
                self.states[place] = hull(self.states[place], state)
                return place
        places.append(len(self.states))
        self.states.append(state)
        return places[-1]


def _covers(a: AbstractState, b: AbstractState) -> bool:
    """Returns whether the registers of b that depend on the position alone are those of a, there."""
    if b.position.low != b.position.high:
        return all(b.register(i) == p for i, p in _of_position(a).items())
    return all(b.fixed(p) == b.fixed(b.register(i)) for i, p in _of_position(a).items())


def _of_position(state: AbstractState) -> dict[int, Polynomial]:
    return {i: p for i, p in state.registers.items() if p.atoms <= SHARED}


def wide_first(states: Sequence[AbstractState]) -> list[AbstractState]:
    """Sorts states so that those of more than one position come first: they say how a register depends on the position."""
    return sorted(states, key=lambda state: state.position.low == state.position.high)


def join(states: Sequence[AbstractState], live: frozenset[int]) -> list[AbstractState]:
    """Returns the states with these registers only, those that differ in bounds only joined; of each parent for itself."""
    pool = Pool()
    for state in wide_first(states):
        pool.add(state.cleaned(live))
    return general(pool.states)


def join_and_link(states: Sequence[AbstractState], live: frozenset[int]) -> list[AbstractState]:
    """Joins states, and lets `before` speak of the new ones."""
    return linked(join(states, live))


def linked(states: Sequence[AbstractState]) -> list[AbstractState]:
    """Returns the states with a `before` that speaks of them, not of those that they are parts of."""
    parts: dict[int, set[int]] = {}  # state of the entry → the new states that are part of it
    for number, state in enumerate(states):
        for parent in state.parents:
            parts.setdefault(parent, set()).add(number)
    behind = [frozenset(j for i in state.before for j in parts.get(i, ())) for state in states]
    return [
        with_fields(state, before=frozenset(j for j in some if _follows(state, states[j])))
        for state, some in zip(states, behind, strict=True)
    ]


def _follows(state: AbstractState, other: AbstractState) -> bool:
    """Returns whether a position of the one may be next to one of the other, as far as forms of position and size tell."""
    forms = [form for form in (*state.forms, *other.forms) if SHARED.issuperset(name for name, _ in form)]
    for form in dict.fromkeys([((POSITION, 1),), *forms]):
        step = dict(form).get(POSITION, 0)
        (low, high), (other_low, other_high) = state.form_bounds(form), other.form_bounds(form)
        if other_low + step > high or other_high + step < low:
            return False
    return True


def general(states: Sequence[AbstractState]) -> list[AbstractState]:
    """Removes the states that are another one with some of its atoms equal."""
    groups: dict[object, list[AbstractState]] = {}
    for state in sorted(states, key=lambda state: -len(state.box)):
        skeleton = tuple((i, _skeleton(state, p)) for i, p in state.registers.items())
        group = groups.setdefault((state.label, state.position.high == 1, skeleton), [])
        for place, other in enumerate(group):
            view = instance(other, state)
            if view is not None:
                group[place] = hull(other, view)
                break
        else:
            group.append(state)
    return [state for group in groups.values() for state in group]


def _skeleton(state: AbstractState, polynomial: Polynomial) -> object:
    if polynomial.atoms <= SHARED:
        return str(polynomial)
    terms = [(tuple(sorted(type(state.box[name]).__name__ for name in m)), c) for m, c in polynomial.terms.items()]
    return tuple((names, key(c)) for names, c in sorted(terms))


def instance(whole: AbstractState, part: AbstractState) -> AbstractState | None:
    """Rewrites `part` over the atoms of `whole`, if it is `whole` with some atoms equal and its counts compare alike; else None."""
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


def comparisons(state: AbstractState) -> tuple[tuple[bool, ...], ...]:
    """Returns which of two counts is larger, if that is known: it decides gates to come, so states that differ in it stay apart."""
    counts = sorted((name, domain) for name, domain in state.box.items() if isinstance(domain, Reciprocal))
    signs = []
    for i, (_, x) in enumerate(counts):
        for _, y in counts[:i]:
            low, high = (end + x.shift - y.shift for end in _difference(state, x.of, y.of))
            signs.append((low >= 1, low >= 0, high <= 0, high <= -1))
    return tuple(signs)


def _difference(state: AbstractState, x: str, y: str) -> tuple[int, int]:
    """Returns bounds of x − y."""
    if x == y:
        return 0, 0
    if x < y:
        return state.form_bounds(((x, 1), (y, -1)))
    low, high = state.form_bounds(((y, 1), (x, -1)))
    return -high, -low


def by_order(state: AbstractState) -> dict[str, str]:
    """Names of its atoms by the order in which its registers have them."""
    names = {name: name for name in (SIZE, POSITION)}  # not in the order of a set: it stands in the trace

    def visit(polynomial: Polynomial) -> None:
        for monomial, _ in sorted(
            polynomial.terms.items(), key=lambda item: (len(item[0]), item[1], signature(item[0]))
        ):
            for name in monomial:
                if name not in names:
                    names[name] = f"{name[0]}#{len(names)}"
                    domain = state.box[name]
                    if isinstance(domain, Rounded):
                        visit(domain.exact)
                    elif not isinstance(domain, Integer):
                        visit(atom(domain.of))

    def signature(monomial: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, type(state.box[name]).__name__) for name in monomial)

    for polynomial in state.registers.values():
        visit(polynomial)
    for name in state.box:
        names.setdefault(name, f"{name[0]}#{len(names)}")
    return names


def shaped(state: AbstractState) -> tuple[AbstractState, object]:
    """Returns the state with its atoms called by their order, and what another state must share to be joined with it."""
    called = state.called(by_order(state))
    domains = frozenset((name, _type(domain)) for name, domain in called.box.items())
    registers = tuple((i, None if p.atoms <= SHARED else _terms(p)) for i, p in called.registers.items())
    return called, (state.label, registers, domains, comparisons(called), state.position.high == 1)


def _type(domain: Domain) -> object:
    if isinstance(domain, Integer):
        return None
    if isinstance(domain, Rounded):
        return _terms(domain.exact), _terms(domain.ideal)
    return domain


def _terms(polynomial: Polynomial) -> object:
    return frozenset((monomial, key(c)) for monomial, c in polynomial.terms.items())


def hull(a: AbstractState, b: AbstractState) -> AbstractState:
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
        (low, high), (other_low, other_high) = _known_bounds(a, form), _known_bounds(b, form)
        forms[form] = min(low, other_low), max(high, other_high)
    return with_fields(a, box=box, forms=forms, before=a.before | b.before, parents=a.parents | b.parents)


def _known_bounds(state: AbstractState, form: Form) -> tuple[int, int]:
    """Returns bounds of a form, also from other forms: 9·k − s ≥ 0 follows from 8·k − s ≥ 0 and k ≥ 0."""
    if form in state.forms or grows(state.space.steps):  # a comparison of numbers that grow may split the case
        return state.form_bounds(form)
    low, high = state.bounds(form_polynomial(form))
    return math.ceil(low), math.floor(high)


def _comparisons(state: AbstractState) -> set[Form]:
    """Returns the differences of the atoms of which counts are made."""
    names = sorted({domain.of for domain in state.box.values() if isinstance(domain, Reciprocal)})
    return {((x, 1), (y, -1)) for i, x in enumerate(names) for y in names[i + 1 :]}
