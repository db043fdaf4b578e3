"""What is known of the registers at some positions of a run: polynomials over atoms, and bounds of these.

Standard library alone. A run is of two machines at once: the p-bit machine, and the exact one (the same weights, rational
numbers). An atom is a number that is not known, with one value in each machine, at each position:

  Integer  a whole number of low, low + step, …, high; the same in both machines
  Share    of a whole number m ≥ 1, an Integer atom and a shift: ROUND(1/m) in the p-bit machine, 1/m in the exact one
  Rounded  what one operator returned: ROUND(exact) in the p-bit machine, within low … high; in the exact one the
           polynomial `ideal`, without Rounded atoms; both at most `error` apart

A State is true of a position if its atoms have values that lie in their domains, keep the bounds of its forms, and make each
register what its polynomial says, in both machines. Every function here turns a true state into true ones, or into parts of which
one is true. A bound that it returns holds for all values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from verify.trusted.numbers import (
    Interval,
    Number,
    down,
    grows,
    is_whole,
    larger,
    plain,
    power,
    product,
    ratio,
    readable,
    smaller,
    two_to,
    up,
)
from verify.trusted.polynomials import (
    Form,
    Polynomial,
    atom,
    canonical,
    combine,
    is_affine,
    names_of,
    number,
    plus,
    substitute,
    sum_of,
    times,
    without,
)
from verify.trusted.rejection import reject

POSITION, SIZE = "k", "n"  # of the token, from 1; of the model, which all positions share
BESIDE = "'"  # after the names of atoms of another position, where a state is of two
SHARED = frozenset((POSITION, SIZE))
PASSES = 4


# Domains


class Integer(NamedTuple):
    low: int
    high: int
    step: int = 1


class Share(NamedTuple):
    of: str
    shift: int


class Rounded(NamedTuple):
    exact: Polynomial
    ideal: Polynomial
    low: Number
    high: Number
    error: Number


Domain = Integer | Share | Rounded


class Format:
    """R_p: the multiples of the step 2^−q up to 2^q − 2^−q, p = 2q + 1; ROUND takes the nearest one, of two the even one."""

    def __init__(self, bits: int) -> None:
        self.q = (bits - 1) // 2
        self.steps = two_to(self.q)
        self.half = Fraction(1) / (2 * self.steps)
        self.largest = self.steps - 2 * self.half
        self.shares: dict[int, Number] = {}

    def round(self, value: Number) -> Number:
        """Returns ROUND(value), if it does not saturate: `round` of Fractions takes the even one of two."""
        result = Fraction(round(Fraction(value) * self.steps), self.steps)
        if abs(result) > self.largest:
            reject(f"{float(value):g} saturates")
        return plain(result)

    def enclose(self, low: Number, high: Number) -> Interval:
        """Returns bounds of ROUND between two numbers: it is monotone, and no more than half a step away."""
        if grows(self.steps):
            ends = [
                end if is_whole(end * self.steps) else end + off for end, off in ((low, -self.half), (high, self.half))
            ]
            return ends[0], ends[1]
        return self.round(low), self.round(high)

    def share(self, m: int) -> Number:
        if m not in self.shares:
            self.shares[m] = self.round(Fraction(1, m))
        return self.shares[m]

    def covers(self, bounds: Interval) -> bool:
        if type(bounds[0]) is int and type(bounds[1]) is int:
            return bool(-self.steps < bounds[0] and bounds[1] < self.steps)
        return bool(-self.largest <= bounds[0] and bounds[1] <= self.largest)


@dataclass(frozen=True)
class State:
    """Some positions of a run. registers: coordinate → polynomial, 0 if left out; below 0: numbers beside the registers.

    box: each atom's domain. forms: bounds of forms of Integer atoms. kind: which class of the sublayer's entry the position has.
    before: those that the position before may have.
    """

    format: Format
    box: dict[str, Domain]
    registers: dict[int, Polynomial]
    forms: dict[Form, tuple[int, int]] = field(default_factory=dict)
    kind: int = 0
    before: frozenset[int] = frozenset()

    def register(self, i: int) -> Polynomial:
        return self.registers.get(i, {})

    def having(self, changed: Mapping[int, Polynomial]) -> State:
        registers = {**self.registers, **changed}
        return State(self.format, self.box, registers, self.forms, self.kind, self.before)

    def integer(self, name: str) -> Integer:
        domain = self.box[name]
        if not isinstance(domain, Integer):
            reject(f"{name} is no whole number")
        return domain

    def share(self, name: str) -> Share:
        domain = self.box[name]
        if not isinstance(domain, Share):
            reject(f"{name} is no share")
        return domain

    def only_share(self, polynomial: Polynomial) -> str:
        """Returns the Share atom that it is; "" if it is none."""
        for monomial, c in polynomial.items():
            if len(polynomial) == 1 and len(monomial) == 1 and c == 1 and isinstance(self.box[monomial[0]], Share):
                return monomial[0]
        return ""

    def index_of(self, name: str) -> Polynomial:
        share = self.share(name)
        return plus(atom(share.of), number(share.shift))

    def is_integer(self, polynomial: Polynomial) -> bool:
        """Returns whether all its atoms are whole numbers: then it is alike in both machines."""
        return all(type(self.box[name]) is Integer for monomial in polynomial for name in monomial)

    def is_whole(self, polynomial: Polynomial) -> bool:
        """Returns whether it is a whole number, as its coefficients and atoms are."""
        return self.is_integer(polynomial) and all(c.denominator == 1 for c in polynomial.values())

    def is_form(self, polynomial: Polynomial) -> bool:
        return is_affine(polynomial) and self.is_integer(polynomial)

    def fresh(self, letter: str) -> str:
        return next(name for i in itertools.count(len(self.box)) if (name := f"{letter}{i}") not in self.box)

    def fixed(self, polynomial: Polynomial) -> Polynomial:
        """Returns it with numbers in place of atoms that have one value."""
        domains = ((name, self.box[name]) for name in names_of(polynomial))
        values = {name: number(d.low) for name, d in domains if isinstance(d, Integer) and d.low == d.high}
        return substitute(polynomial, values) if values else polynomial

    def same(self, first: Polynomial, second: Polynomial) -> bool:
        """Returns whether both are seen to have the same value, in both machines."""
        if first == second:
            return True
        difference = self.fixed(plus(first, second, -1))
        return not difference or (self.is_integer(difference) and self.bounds(difference) == (0, 0))

    def ideal(self, polynomial: Polynomial) -> Polynomial:
        """Returns what it is in the exact machine, over Integer and Share atoms."""
        values = {a: d.ideal for a in names_of(polynomial) if isinstance(d := self.box[a], Rounded)}
        return substitute(polynomial, values) if values else polynomial

    # Bounds

    def bounds(self, polynomial: Polynomial, ideal: bool = False, refine: bool = True) -> Interval:
        """Returns an interval that contains all its values in the p-bit machine, or in the exact one."""
        if ideal:
            polynomial = self.ideal(polynomial)
        low: Number = 0
        high: Number = 0
        atoms: set[str] = set()
        for monomial, c in polynomial.items():
            a: Number = 1
            b: Number = 1
            if len(monomial) == 1:
                a, b = self.range(monomial[0], ideal)
            elif monomial:
                for name, group in itertools.groupby(monomial):
                    a, b = product((a, b), power(self.range(name, ideal), len(list(group))))
            atoms.update(monomial)
            low, high = (low + c * a, high + c * b) if c > 0 else (low + c * b, high + c * a)
        if refine and len(atoms) > 1:
            for end, other in self.refinements(polynomial, ideal):
                low, high = larger(low, end), smaller(high, other)
        return low, high

    def range(self, name: str, ideal: bool = False) -> Interval:
        domain = self.box[name]
        if not isinstance(domain, Share):
            return domain.low, domain.high
        low, high = self.index(domain)
        if ideal:
            return ratio(1, high), ratio(1, low)
        if grows(self.format.steps):
            return self.format.enclose(ratio(1, high), ratio(1, low))
        return self.format.share(high), self.format.share(low)  # ROUND is monotone

    def index(self, share: Share) -> tuple[int, int]:
        """Returns the range of m in 1/m."""
        low, high, _ = self.integer(share.of)
        if low + share.shift < 1:
            reject(f"1/m: m may be {low + share.shift}")
        return low + share.shift, high + share.shift

    def form_bounds(self, form: Form) -> tuple[int, int]:
        low = high = 0
        for name, c in form:
            first, last, _ = self.integer(name)
            low, high = (low + c * first, high + c * last) if c > 0 else (low + c * last, high + c * first)
        first, last = self.forms.get(form, (low, high))
        return larger(low, first), smaller(high, last)

    def refinements(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """Returns narrower bounds, by what is known of several atoms."""
        if self.is_form(polynomial):
            return self.by_form(polynomial)
        shares = [name for name in names_of(polynomial) if isinstance(self.box[name], Share)]
        return (
            self.by_share(polynomial, shares[0], ideal)
            if len(shares) == 1
            else self.by_shares(polynomial, shares, ideal)
        )

    def by_form(self, polynomial: Polynomial, again: bool = False) -> Iterator[Interval]:
        """Returns bounds of an affine form of Integer atoms: by a form that is known, times a number, and by the rest.

        again: the rest may be bounded by another form, and the form may have atoms that the polynomial does not have.
        """
        for form, ends in self.forms.items():
            factors = {ratio(polynomial[name,], c) for name, c in form if (name,) in polynomial}
            if again or all((name,) in polynomial for name, _ in form):
                for factor in factors:
                    low, high = product((factor, factor), ends)
                    a, b = self.bounds(plus(polynomial, sum_of(form), -factor), refine=again)
                    yield a + low, b + high

    def by_two_forms(self, polynomial: Polynomial) -> Interval:
        """Returns bounds of an affine form of Integer atoms, by two forms that are known."""
        low, high = self.bounds(polynomial)
        for end, other in self.by_form(polynomial, again=True):
            low, high = larger(low, end), smaller(high, other)
        return low, high

    def by_share(self, polynomial: Polynomial, name: str, ideal: bool) -> Iterator[Interval]:
        """Returns bounds of A·r + d, r a share of m: A·r = t·m·r + (A − t·m)·r for any t, and m·r is 1 but for m half steps.

        t is one at which a form bounds A − t·m on one side, or the slope of A in one of its atoms.
        """
        share = self.share(name)
        factor = {without(m, name): c for m, c in polynomial.items() if m.count(name) == 1}
        rest = {m: c for m, c in polynomial.items() if name not in m}
        if len(factor) + len(rest) < len(polynomial) or not self.is_form(factor):
            return
        m = plus(atom(share.of), number(share.shift))
        off = 0 if ideal else self.index(share)[1] * self.format.half
        a, b = self.bounds(rest)
        slopes: set[Number] = {c for monomial, c in factor.items() if monomial}
        for form in self.forms:
            slope = dict(form)
            slopes |= {
                ratio(-factor[x,] * slope[share.of], slope[x])
                for x in slope
                if slope.get(share.of) and x != share.of and (x,) in factor
            }
        for t in slopes:
            low, high = product(self.bounds(plus(factor, m, -t)), self.range(name, ideal))
            yield a + low + t - max(t, -t) * off, b + high + t + max(t, -t) * off

    def by_shares(self, polynomial: Polynomial, shares: list[str], ideal: bool) -> Iterator[Interval]:
        """Returns bounds of c·(1/a − 1/b) + d where a ≤ b: shares do not rise.

        If a < b, the exact difference is 1/(a(a + 1)) at least.
        """
        if len(shares) != 2 or {m for m in polynomial if m} != {(x,) for x in shares}:
            return
        for x, y in (shares, shares[::-1]):
            c, d = polynomial[x,], polynomial.get((), 0)
            first, second = self.share(x), self.share(y)
            if c != -polynomial[y,]:
                return
            apart = plus(atom(second.of), number(second.shift - first.shift))
            least = self.bounds(plus(apart, atom(first.of), -1))[0]
            if least >= 0:
                difference: Number = 0
                if least >= 1:
                    a = min(self.index(first)[1], self.index(second)[1] - 1)
                    difference = larger(0, ratio(1, a * (a + 1)) - (0 if ideal else 2 * self.format.half))
                low, high = product((c, c), (difference, 1))
                yield d + low, d + high

    def error(self, polynomial: Polynomial) -> Number:
        """Returns how far its values in both machines can be apart.

        Of a product, factor by factor: |xy − x'y'| ≤ |x|·|y − y'| + |x − x'|·|y'|, and |y'| ≤ |y| + |y − y'|.
        """
        bound: Number = 0
        for monomial, c in polynomial.items():
            size: Number = 1
            off: Number = 0
            for name in monomial:
                domain = self.box[name]
                whole = isinstance(domain, Integer)
                error = domain.error if isinstance(domain, Rounded) else 0 if whole else self.format.half
                low, high = self.range(name)
                largest: Number = max(-low, high) + error
                size, off = size * largest, off * largest + size * error
            bound += max(c, -c) * off
        return bound

    def sign(self, polynomial: Polynomial) -> int:
        """Returns 1: nowhere below 0, −1: nowhere above 0, in both machines; 0: not known."""
        low, high = self.bounds(polynomial)
        ideal_low, ideal_high = (low, high) if self.is_integer(polynomial) else self.bounds(polynomial, ideal=True)
        if high <= 0 and ideal_high <= 0:
            return -1
        return 1 if low >= 0 and ideal_low >= 0 else 0

    def on_grid(self, polynomial: Polynomial) -> bool:
        """Returns whether each value is a multiple of the step: Share and Rounded atoms are, times whole numbers."""
        for monomial, c in polynomial.items():
            others = sum([type(self.box[name]) is not Integer for name in monomial])
            if others > 1 or (type(c) is not int and (others or not is_whole(c * self.format.steps))):
                return False
        return True

    # Operators

    def round(self, polynomial: Polynomial, where: str) -> tuple[State, Polynomial]:
        """Returns what an operator with this exact result returns, which does not saturate."""
        if not polynomial:
            return self, polynomial
        bounds = self.bounds(polynomial)
        if not self.format.covers(bounds):
            bounds = self.reach(polynomial, bounds)
        if not self.format.covers(bounds):
            reject(f"{where}: a value reaches [{readable(bounds[0])}, {readable(bounds[1])}], and saturates")
        if bounds[0] == bounds[1] and self.is_integer(polynomial):
            polynomial = number(bounds[0])  # the position is 3n − 1, say
        if self.on_grid(polynomial):
            return self, polynomial
        for name, domain in self.box.items():
            if isinstance(domain, Rounded) and domain.exact == polynomial:
                return self, atom(name)
        low, high = self.format.enclose(*bounds)
        error = self.error(polynomial) + self.format.half
        name = self.fresh("z")
        box = {**self.box, name: Rounded(polynomial, self.ideal(polynomial), low, high, error)}
        return replace(self, box=box), atom(name)

    def reach(self, polynomial: Polynomial, bounds: Interval) -> Interval:
        """Returns narrower bounds of a quadratic one: of x² − 2xy + y², `bounds` looks at each term for itself."""
        above, below = Score.complete(self, polynomial, ()), Score.complete(self, combine([(polynomial, -1)]), ())
        low, high = larger(bounds[0], -below.upper(self)), smaller(bounds[1], above.upper(self))
        return larger(low, above.lower(self)), smaller(high, -below.lower(self))

    # Parts

    def restrict(self, polynomial: Polynomial, low: Number | None, high: Number | None) -> State | None:
        """Returns the positions at which low ≤ polynomial ≤ high, an affine form of Integer atoms; None if there are none."""
        if not self.is_form(polynomial):
            reject(f"no form of whole numbers: {polynomial}")
        a, b = self.bounds(polynomial)
        low, high = a if low is None else larger(a, low), b if high is None else smaller(b, high)
        if low > high:
            return None
        shift = polynomial.get((), 0)
        if len(polynomial) == bool(shift):
            return self
        form, factor = canonical(polynomial)
        ends = product((ratio(1, factor), ratio(1, factor)), (low - shift, high - shift))
        first, last = up(ends[0]), down(ends[1])
        # All values of the form are r, modulo m.
        r = sum(c * self.integer(name).low for name, c in form)
        m = math.gcd(*(c * (d.step if (d := self.integer(name)).low < d.high else 0) for name, c in form)) or 1
        if m > 1:
            first, last = first + (r - first) % m, last - (last - r) % m
        if first > last:
            return None
        if len(form) == 1:
            old = self.integer(form[0][0])
            return replace(self, box={**self.box, form[0][0]: Integer(first, last, old.step)}).narrow()
        part = replace(self, forms={**self.forms, form: (first, last)})
        if first == last:
            for name, c in sorted(form, key=lambda item: (BESIDE in item[0], item[0]), reverse=True):  # of a key first
                rest = combine(((number(first), c), (sum_of(tuple(item for item in form if item[0] != name)), -c)))
                if abs(c) == 1 and name not in SHARED and (not part.counts(name) or is_shift(rest)):
                    return part.eliminate(name, rest)
        return part.narrow()

    def halves(self, form: Polynomial, last: int) -> list[State]:
        """Returns the positions at which the form is at most `last`, and the others."""
        if any(c.denominator != 1 for c in form.values()):
            reject("a form that splits has no whole coefficients")
        parts = self.restrict(form, None, last), self.restrict(form, last + 1, None)
        return [part for part in parts if part is not None]

    def counts(self, name: str) -> bool:
        return any(isinstance(domain, Share) and domain.of == name for domain in self.box.values())

    def narrow(self) -> State | None:
        """Returns the state with bounds of the atoms as narrow as the forms tell, in a few passes."""
        pending = list(self.forms.items())
        known = {name: self.integer(name) for form in self.forms for name, _ in form}
        for _ in range(PASSES):
            changed = set[str]()
            for form, (first, last) in pending:
                for name, c in form:
                    low, high = first, last
                    for other, d in form:
                        if other != name:
                            a, b, _step = known[other]
                            low, high = (low - d * b, high - d * a) if d > 0 else (low - d * a, high - d * b)
                    if c < 0:
                        low, high = -high, -low
                    old = known[name]
                    low, high = larger(old.low, up(ratio(low, abs(c)))), smaller(old.high, down(ratio(high, abs(c))))
                    if old.step > 1:
                        low, high = low + (old.low - low) % old.step, high - (high - old.low) % old.step
                    if low > high:
                        return None
                    if (low, high) != old[:2]:
                        known[name] = Integer(low, high, old.step)
                        changed.add(name)
            pending = [item for item in self.forms.items() if not changed.isdisjoint(name for name, _ in item[0])]
            if not pending:
                break
        state = replace(self, box={**self.box, **known})
        values = {name: number(d.low) for name, d in state.box.items() if isinstance(d, Integer) and d.low == d.high}
        return state.replace_atoms(values) if values else state

    def replace_atoms(self, values: Mapping[str, Polynomial]) -> State:
        """Returns the state with polynomials of the same value in place of atoms, in registers, forms and Rounded atoms.

        The atoms stay.
        """
        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Rounded):
                domain = domain._replace(exact=substitute(domain.exact, values), ideal=substitute(domain.ideal, values))
            box[name] = domain
        forms: dict[Form, tuple[int, int]] = {}
        for form, (first, last) in self.forms.items():
            if all(name not in values for name, _ in form):
                forms[form] = (first, last)
                continue
            body = substitute(sum_of(form), values)
            shift = body.pop((), 0)
            if len(body) > 1:
                rest, factor = canonical(body)
                ends = sorted((ratio(first - shift, factor), ratio(last - shift, factor)))
                low, high = forms.get(rest, (up(ends[0]), down(ends[1])))
                forms[rest] = larger(low, up(ends[0])), smaller(high, down(ends[1]))
        registers = {i: substitute(p, values) for i, p in self.registers.items()}
        return replace(self, box=box, forms=forms, registers=registers)

    def eliminate(self, name: str, value: Polynomial) -> State | None:
        """Returns the state with a form that is equal to an Integer atom in its place, and its bounds kept."""
        old = self.integer(name)
        values, box, shares = {name: value}, dict(self.box), dict[Share, str]()
        for other, domain in self.box.items():
            if isinstance(domain, Share):
                if domain.of == name:  # `value` is another atom plus a number
                    ((of,),) = [m for m in value if m]
                    domain = Share(of, plain(domain.shift + value.get((), 0)))  # type: ignore[arg-type]
                    box[other] = domain
                if shares.setdefault(domain, other) != other:
                    values[other] = atom(shares[domain])
        state: State | None = replace(self, box=box).replace_atoms(values)
        # A form that had the atom may be one of one atom now, or a number: its bounds are kept by asking for them again.
        pending = [(value, old.low, old.high)]
        pending += [
            (substitute(sum_of(f), {name: value}), *ends)
            for f, ends in self.forms.items()
            if any(a == name for a, _ in f)
        ]
        for polynomial, low, high in pending:
            if state is not None:
                polynomial = state.fixed(polynomial)
                state = state.restrict(polynomial, low, high)
        return state

    def needed(self) -> State:
        """Returns the state without the atoms that no register is made of, and forms of them."""
        names = set(SHARED)
        queue = [*SHARED, *(name for p in self.registers.values() for name in names_of(p))]
        while queue:
            name = queue.pop()
            names.add(name)
            domain = self.box[name]
            more = {domain.of} if isinstance(domain, Share) else set()
            if isinstance(domain, Rounded):
                more = names_of(domain.exact) | names_of(domain.ideal)
            queue += more - names
        box = {name: domain for name, domain in self.box.items() if name in names}
        forms = {form: ends for form, ends in self.forms.items() if all(name in names for name, _ in form)}
        return replace(self, box=box, forms=forms)

    def pair_with(self, other: State) -> State | None:
        """Returns the state with what is known of another position, by other names; its registers replace those of the same number.

        None if no n has both.
        """
        mine, its = self.integer(SIZE), other.integer(SIZE)
        size = Integer(max(mine.low, its.low), min(mine.high, its.high))
        if size.low > size.high:
            return None
        box, registers = {**self.box, **other.box, SIZE: size}, {**self.registers, **other.registers}
        return replace(self, box=box, registers=registers, forms={**self.forms, **other.forms})

    def as_other(self) -> State:
        """Returns the state with the names that its atoms have beside those of another position."""
        return self.rename({name: name if name == SIZE else name + BESIDE for name in self.box})

    def rename(self, names: Mapping[str, str]) -> State:
        def change(polynomial: Polynomial) -> Polynomial:
            return {tuple(sorted([names[a] for a in monomial])): c for monomial, c in polynomial.items()}

        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Share):
                domain = Share(names[domain.of], domain.shift)
            elif isinstance(domain, Rounded):
                domain = domain._replace(exact=change(domain.exact), ideal=change(domain.ideal))
            box[names[name]] = domain
        forms = {}
        for form, (low, high) in self.forms.items():
            body, factor = canonical(change(sum_of(form)))
            forms[body] = (low, high) if factor == 1 else (-high, -low)
        return replace(self, box=box, forms=forms, registers={i: change(p) for i, p in self.registers.items()})


def is_shift(polynomial: Polynomial) -> bool:
    """Returns whether it is one atom plus a whole number."""
    return [(len(m), c) for m, c in polynomial.items() if m] == [(1, 1)] and polynomial.get((), 0).denominator == 1


# Scores


class Square(NamedTuple):
    """−cost·form², cost > 0; form: an affine form of Integer atoms, whose coefficients are whole but for its constant."""

    cost: Number
    form: Polynomial

    @property
    def least(self) -> Number:
        """Returns r, the value nearest to 0 that the form can have. Values are whole numbers apart, so |r| ≤ 1/2."""
        shift = self.form.get((), 0)
        return plain(shift - round(shift))

    @property
    def gap(self) -> Number:
        """Returns by how much the square is less at any other value: (1 − |r|)² − r² = 1 − 2|r|, times the cost."""
        return self.cost * (1 - 2 * max(self.least, -self.least))

    @property
    def asymmetry(self) -> Number:
        """Returns a number c: values a and b, a² ≠ b², have |a² − b²| = |a − b|·|a + b| ≥ |a − b|·c; 0 if a = −b may be."""
        doubled = Fraction(2) * self.form.get((), 0)
        return abs(doubled - round(doubled))


class Score(NamedTuple):
    """−Σ cost·form² + rest, an identity."""

    squares: tuple[Square, ...]
    rest: Polynomial

    @staticmethod
    def complete(state: State, polynomial: Polynomial, order: Iterable[str]) -> Score:
        """Completes squares, atom by atom, in this order and then by name; what has no such form stays in the rest."""
        squares, rest = [], polynomial
        for name in dict.fromkeys((*order, *sorted(names_of(polynomial)))):
            cost = -rest.get((name, name), 0)
            if cost <= 0 or not isinstance(state.box[name], Integer):
                continue
            linear = {without(m, name): ratio(-c, 2 * cost) for m, c in rest.items() if m.count(name) == 1}
            form = plus(atom(name), linear)
            if state.is_form(form) and all(c.denominator == 1 for m, c in form.items() if m):
                rest = plus(rest, times(form, form), cost)
                squares.append(Square(cost, form))
        return Score(tuple(squares), rest)

    def upper(self, state: State, ideal: bool = False) -> Number:
        result = state.bounds(self.rest, ideal)[1]
        for square in self.squares:
            low, high = state.bounds(square.form)
            result -= square.cost * (square.least**2 if low <= 0 <= high else min(low * low, high * high))
        return result

    def lower(self, state: State) -> Number:
        result = state.bounds(self.rest)[0]
        for square in self.squares:
            low, high = state.bounds(square.form)
            result -= square.cost * max(low * low, high * high)
        return result
