"""Joins parts of positions into classes, of which each covers the parts that differ from it in bounds only.

Nothing here is trusted: the checker sees of each part that its class covers it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from verify.trusted.abstract_state import (
    ONE,
    POSITION,
    SHARED,
    SIZE,
    Domain,
    Form,
    Integer,
    Polynomial,
    Rounded,
    Share,
    State,
    atom,
    canonical,
    names_of,
    number,
    plain,
    plus,
    ratio,
    substitute,
    written,
)
from verify.trusted.growing import Growing, at_least, down, is_whole, up
from verify.trusted.kernel import Rejected
from verify.trusted.model import text_of

LETTERS = {Integer: "x", Share: "r", Rounded: "z"}


def join(parts: Sequence[tuple[Any, State]], live: Iterable[int]) -> tuple[list[tuple[Any, State]], list[int]]:
    """Returns classes of parts, and of which class each part is. parts: a label, which all of a class share, and a state.

    Classes know of live registers only. Parts of more than one position come first: they say how a register depends on it.
    """
    pool, places, live = ClassPool(), dict[int, int](), frozenset(live)
    for i, (label, state) in sorted(enumerate(parts), key=lambda item: has_one(item[1][1].integer(POSITION))):
        places[i] = pool.add(label, clean(state, live))
    classes, merged = general(pool.classes)
    return classes, [merged[places[i]] for i in range(len(parts))]


class ClassPool:
    """Classes, each with its label."""

    def __init__(self) -> None:
        self.classes: list[tuple[Any, State]] = []
        self.of_shape: dict[object, list[int]] = {}

    def add(self, label: Any, state: State) -> int:
        """Returns the number of the class that now covers this state too."""
        state = rename_in_order(state)
        places = self.of_shape.setdefault((label, shape(state)), [])
        for place in places:
            if agrees(self.classes[place][1], state):
                self.classes[place] = label, hull(self.classes[place][1], state)
                return place
        places.append(len(self.classes))
        self.classes.append((label, state))
        return places[-1]


def has_one(domain: Integer) -> bool:
    """Returns whether there is one value."""
    return domain.low == domain.high


# What a class keeps of a part


def clean(state: State, live: frozenset[int]) -> State:
    """Returns the state with live registers only, without atoms that have one value, or that are another one."""
    state = replace(state, registers={i: p for i, p in sorted(state.registers.items()) if i in live}, kind=0)
    values, shares = dict[str, Polynomial](), dict[Share, str]()
    for name, domain in state.box.items():
        if isinstance(domain, Integer) and has_one(domain):
            values[name] = number(domain.low)
        elif isinstance(domain, Share):
            if state.index(domain) == (1, 1):
                values[name] = ONE
            elif shares.setdefault(domain, name) != name:
                values[name] = atom(shares[domain])
    state = state.replace_atoms(values) if values else state
    state = replace(state, registers={i: p for i, p in state.registers.items() if p}, before=frozenset())
    return free(state).needed()


def free(state: State) -> State:
    """Returns the state with an atom of its own for each number that is another one plus a constant: a class forgets that.

    What forms say of the other atom, they say of the new one too.
    """
    for polynomial in state.registers.values():
        shift, names = polynomial.get((), 0), names_of(polynomial) - SHARED
        if len(polynomial) == 2 and shift and is_whole(shift) and len(names) == 1:
            (name,) = names
            old = state.box[name]
            if isinstance(old, Integer) and polynomial.get((name,)) == 1:
                new = state.fresh("v")
                value = {name: plus(atom(new), number(shift), -1)}
                registers = {
                    i: p if len(q := substitute(p, value)) >= len(p) else q for i, p in state.registers.items()
                }
                forms = {**state.forms}
                for form, (first, last) in state.forms.items():
                    if any(other == name for other, _ in form):
                        body = substitute(written(form), value)
                        rest = body.pop((), 0)
                        other, factor = canonical(body)
                        low, high = sorted((ratio(first - rest, factor), ratio(last - rest, factor)))
                        forms[other] = up(low), down(high)
                box = {**state.box, new: Integer(plain(old.low + shift), plain(old.high + shift), old.step)}  # type: ignore[arg-type]
                return free(replace(state, registers=registers, box=box, forms=forms))
    return state


def rename_in_order(state: State) -> State:
    """Returns the state with its atoms named in the order in which its registers have them; each after those of its domain."""
    names = {name: name for name in (SIZE, POSITION)}

    def visit(polynomial: Polynomial) -> None:
        def key(monomial: tuple[str, ...]) -> Any:
            kinds = [names.get(a, LETTERS[type(state.box[a])]) for a in monomial]
            return len(monomial), str(polynomial[monomial]), kinds

        for name in itertools.chain(*sorted(polynomial, key=key)):
            if name not in names:
                domain = state.box[name]
                if isinstance(domain, Rounded):
                    visit(domain.exact)
                    visit(domain.ideal)
                elif isinstance(domain, Share):
                    visit(atom(domain.of))
                names[name] = f"{LETTERS[type(domain)]}{len(names)}"

    for _, polynomial in sorted(state.registers.items()):
        visit(polynomial)
    renamed = state.rename(names)
    return replace(renamed, box={name: renamed.box[name] for name in names.values()})


# Which parts are joined


def shape(state: State) -> object:
    """Returns what parts of one class share: all but bounds, and numbers that depend on the position alone."""
    registers = tuple((i, None if names_of(p) <= SHARED else terms(p)) for i, p in sorted(state.registers.items()))
    domains = frozenset((name, kind(domain)) for name, domain in state.box.items())
    return registers, domains, comparisons(state), state.integer(POSITION).high == 1


def kind(domain: Domain) -> object:
    if isinstance(domain, Rounded):
        return terms(domain.exact), terms(domain.ideal)
    return None if isinstance(domain, Integer) else (domain.of, str(domain.shift))


def terms(polynomial: Polynomial) -> object:
    return frozenset((monomial, str(c)) for monomial, c in polynomial.items())


def comparisons(state: State) -> tuple[tuple[bool, ...], ...]:
    """Returns which of two shares is larger, if that is known: it decides gates to come."""
    shares = sorted((name, domain) for name, domain in state.box.items() if isinstance(domain, Share))
    signs = []
    for i, (_, x) in enumerate(shares):
        for _, y in shares[:i]:
            shift = plain(x.shift - y.shift)
            low, high = state.bounds(plus(plus(atom(x.of), atom(y.of), -1), number(shift)))
            signs.append((at_least(low, 1), at_least(low, 0), at_least(0, high), at_least(-1, high)))
    return tuple(signs)


def compared(state: State) -> set[Form]:
    """Returns the differences of the numbers that shares are of."""
    names = sorted({domain.of for domain in state.box.values() if isinstance(domain, Share)})
    return {((x, 1), (y, -1)) for i, x in enumerate(names) for y in names[i + 1 :]}


def agrees(whole: State, part: State) -> bool:
    """Returns whether what depends on the position alone in `whole` is the same there in `part`."""
    own = {i: p for i, p in whole.registers.items() if names_of(p) <= SHARED}
    return all(part.same(part.register(i), p) for i, p in own.items())


def hull(first: State, second: State) -> State:
    """Returns what both know, of states of one shape."""
    box: dict[str, Domain] = {}
    for name, x in first.box.items():
        y = second.box[name]
        if isinstance(x, Integer) and isinstance(y, Integer):
            steps = [d.step for d in (x, y) if not has_one(d)]
            box[name] = Integer(min(x.low, y.low), max(x.high, y.high), common_step(x.low - y.low, *steps))
        elif isinstance(x, Rounded) and isinstance(y, Rounded):
            box[name] = x._replace(low=min(x.low, y.low), high=max(x.high, y.high), error=max(x.error, y.error))
        else:
            box[name] = x
    forms = {}
    for form in sorted(first.forms.keys() | second.forms.keys() | compared(first)):
        (low, high), (other_low, other_high) = form_bounds(first, form), form_bounds(second, form)
        forms[form] = min(low, other_low), max(high, other_high)
    return replace(first, box=box, forms=forms)


def common_step(*steps: int) -> int:
    """Returns the largest number that divides all of these; 1 where one depends on n, or all are 0."""
    return math.gcd(*steps) or 1 if all(type(step) is int for step in steps) else 1


def form_bounds(state: State, form: Form) -> tuple[int, int]:
    """Returns bounds of a form, also by others: 9·k − s ≥ 0 follows from 8·k − s ≥ 0 and k ≥ 0."""
    if form in state.forms or isinstance(state.format.steps, Growing):
        return state.form_bounds(form)
    low, high = state.bounds(written(form))
    return up(low), down(high)


# Which classes are another one with some atoms equal


def general(classes: Sequence[tuple[Any, State]]) -> tuple[list[tuple[Any, State]], list[int]]:
    """Returns the classes without those that are another one with some of its atoms equal, and where each one is now."""
    found: list[tuple[Any, State]] = []
    groups: dict[object, list[int]] = {}
    places: dict[int, int] = {}
    for i, (label, state) in sorted(enumerate(classes), key=lambda item: -len(item[1][1].box)):
        skeletons = tuple((r, skeleton(state, p)) for r, p in sorted(state.registers.items()))
        group = groups.setdefault((label, state.integer(POSITION).high == 1, skeletons), [])
        for place in group:
            view = instance(found[place][1], state)
            if view is not None:
                found[place], places[i] = (label, hull(found[place][1], view)), place
                break
        else:
            places[i] = len(found)
            group.append(len(found))
            found.append((label, state))
    return found, [places[i] for i in range(len(classes))]


def skeleton(state: State, polynomial: Polynomial) -> object:
    if names_of(polynomial) <= SHARED:
        return terms(polynomial)
    return tuple(
        sorted((sorted(LETTERS[type(state.box[a])] for a in m), str(c)) for m, c in polynomial.items()).__repr__()
    )


def instance(whole: State, part: State) -> State | None:
    """Returns the part over the atoms of `whole`, if it is that with some of its atoms equal; else None."""
    try:
        values = match(whole, part, frozenset(whole.registers.keys() | part.registers.keys()))
    except Rejected:
        return None
    box: dict[str, Domain] = {}
    for name, x in whole.box.items():
        y = part.box[only] if (only := "".join(names_of(values[name]))) in part.box else None
        if values[name] != atom(only) or type(x) is not type(y):
            return None
        if isinstance(x, Rounded) and isinstance(y, Rounded):
            x = x._replace(low=y.low, high=y.high, error=y.error)
        box[name] = y if isinstance(y, Integer) else x
    forms = {}
    for form in sorted(whole.forms.keys() | compared(whole)):
        low, high = part.bounds(part.fixed(substitute(written(form), values)))
        forms[form] = up(low), down(high)
    view = replace(whole, box=box, forms=forms)
    return view if comparisons(view) == comparisons(whole) else None


def match(
    target: State, state: State, live: frozenset[int], held: Mapping[int, Polynomial] | None = None
) -> dict[str, Polynomial]:
    """Returns what the target's atoms are here, by what registers hold. Raises Rejected if that is not seen.

    held: what live registers hold that are not 0, with numbers in place of atoms that have one value; by default found anew.
    """
    values: dict[str, Polynomial] = {POSITION: atom(POSITION), SIZE: atom(SIZE)}
    if held is None:
        held = {i: state.fixed(p) for i, p in state.registers.items() if p and i in live}
    pending = []
    for i in sorted(held.keys() | (target.registers.keys() & live)):
        pattern, value = target.register(i), held.get(i, {})
        if pattern != value and pattern.keys() | value.keys() <= {()}:
            raise Rejected(f"register {i} is another one")
        if pattern or value:
            pending.append((pattern, value))

    def bind(name: str, value: Polynomial) -> None:
        values[name] = {m: plain(c) for m, c in value.items()}
        domain, own = target.box[name], None
        if len(value) == 1 and [*value.values()] == [1] and len(monomial := next(iter(value))) == 1:
            own = state.box[monomial[0]]
        if isinstance(domain, Share) and isinstance(own, Share) and domain.of not in values:
            bind(domain.of, plus(atom(own.of), number(own.shift - domain.shift)))
        elif isinstance(domain, Rounded) and isinstance(own, Rounded):
            pending.extend([(domain.exact, own.exact), (domain.ideal, own.ideal)])

    while pending:
        left, pending = pending, []
        for pattern, value in left:
            known = {m: c for m, c in pattern.items() if all(name in values for name in m)}
            unknown = names_of(pattern) - values.keys()
            rest = plus(value, substitute(known, values), -1)
            name = next(iter(unknown), "")
            if not unknown:
                if not state.same(rest, {}):
                    raise Rejected(f"{text_of(pattern)} is not {text_of(value)}")
            elif len(unknown) == 1 and (c := pattern.get((name,), 0)) and sum(name in m for m in pattern) == 1:
                bind(name, {m: ratio(d, c) for m, d in rest.items()})
            else:
                pending.append((pattern, value))
        if len(pending) >= len(left):  # else atoms by terms of equal shape, in order
            known_before = len(values)
            ordered = [
                sorted(((m, c) for m, c in one.items() if m), key=lambda item: (len(item[0]), item[1]))
                for one in pending[0]
            ]
            for (m, c), (w, d) in zip(*ordered, strict=False):
                for a, b in zip(m, w, strict=False) if c == d and len(m) == len(w) else ():
                    if a not in values:
                        bind(a, atom(b))
            if len(values) == known_before:
                break
    if missing := target.box.keys() - values.keys():
        raise Rejected(f"no value of {', '.join(sorted(missing))}")
    return values
