"""Kinds of positions: what the registers of one position can hold, for all inputs at once.

A run's positions fall into finitely many *kinds*. In one kind, every register is a polynomial over *atoms*, each with a domain:
  Integer      an integer between two bounds: a token's number, a position, a number of keys
  Reciprocal   ROUND(1/(m + s)) for an Integer atom m, as a COUNT head writes it; ideally 1/(m + s)
  Rounded      what one inexact operator returned, with its ideal value and how far it is from it
The same polynomials describe the rounded run and the ideal one; an atom just has two readings. Reciprocal and Rounded atoms are
multiples of the format's step. `forms` bounds affine forms of Integer atoms: what is known of several atoms together.

Every statement here is about all positions of the kind. Bounds are by exact interval arithmetic; they may be wide, never wrong.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from precision.format import Format
from precision.rounding import round_fraction
from verify.certificates.polynomial import ZERO, Monomial, Number, Polynomial, atom, constant

POSITION = "k"
Interval = tuple[Fraction, Fraction]
Form = tuple[tuple[str, int], ...]  # atoms in order with coprime coefficients, the first one positive


class Refused(Exception):
    """An obligation fails: where, and the numbers."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class Undecided(Refused):
    """No rule covers this place: nothing is said about it."""


@dataclass(frozen=True)
class Integer:
    """An integer in [low, high]."""

    low: int
    high: int


@dataclass(frozen=True)
class Reciprocal:
    """ROUND(1/(of + shift)); ideally 1/(of + shift)."""

    of: str
    shift: int


@dataclass(frozen=True)
class Rounded:
    """ROUND(exact), in [low, high]; ideally `ideal`, a polynomial without Rounded atoms, at most `error` away."""

    exact: Polynomial
    ideal: Polynomial
    low: Fraction
    high: Fraction
    error: Fraction


Domain = Integer | Reciprocal | Rounded


@dataclass(frozen=True)
class Space:
    """What all kinds of one model share: the format, and a supply of names."""

    format: Format
    names: Iterator[int] = field(default_factory=itertools.count)
    known: dict[int, Fraction] = field(default_factory=dict)

    @cached_property
    def step(self) -> Fraction:
        """2^−q."""
        return self.format.quantum

    @cached_property
    def largest(self) -> Fraction:
        """2^q − 2^−q."""
        return self.format.max_value

    def rounded(self, value: Fraction) -> Fraction:
        """ROUND(value)."""
        return round_fraction(value, self.format).quanta * self.format.quantum

    def reciprocal(self, m: int) -> Fraction:
        """ROUND(1/m)."""
        if m not in self.known:
            self.known[m] = self.rounded(Fraction(1, m))
        return self.known[m]

    def fresh(self, letter: str) -> str:
        """A name that no atom has."""
        return f"{letter}{next(self.names)}"


@dataclass(frozen=True)
class Kind:
    """Some positions of a run. registers: coordinate → polynomial, zero if left out; below 0: what heads have read so far.

    parents: kinds of the block's entry that this one is part of. before: kinds of the block's entry that the position
    before may have. box: atom → domain. forms: affine form → bounds.
    """

    name: str
    space: Space
    registers: Mapping[int, Polynomial]
    box: Mapping[str, Domain]
    forms: Mapping[Form, tuple[int, int]] = field(default_factory=dict)
    parents: frozenset[int] = frozenset()
    before: frozenset[int] = frozenset()

    @property
    def position(self) -> Integer:
        """The positions of this kind lie here."""
        domain = self.box[POSITION]
        assert isinstance(domain, Integer)
        return domain

    def register(self, index: int) -> Polynomial:
        """What a register holds."""
        return self.registers.get(index, ZERO)

    def with_registers(self, changed: Mapping[int, Polynomial]) -> Kind:
        """With other contents of some registers."""
        return replace(self, registers={**self.registers, **changed})

    # Bounds

    def integer(self, name: str) -> Integer | None:
        """The domain of an Integer atom."""
        domain = self.box[name]
        return domain if isinstance(domain, Integer) else None

    def ideal(self, polynomial: Polynomial) -> Polynomial:
        """Its ideal value, over Integer and Reciprocal atoms."""
        values = {a: d.ideal for a in polynomial.atoms if isinstance(d := self.box[a], Rounded)}
        return polynomial.substitute(values) if values else polynomial

    def bounds(self, polynomial: Polynomial, *, ideal: bool = False, refined: bool = True) -> Interval:
        """An interval that contains it, in the rounded or in the ideal reading. refined: by all that is known of several atoms."""
        if ideal:
            polynomial = self.ideal(polynomial)
        low = high = polynomial.constant
        for monomial, c in polynomial.terms.items():
            if monomial:
                a, b = self._monomial(monomial, ideal)
                low, high = (low + c * a, high + c * b) if c > 0 else (low + c * b, high + c * a)
        if not refined:
            return low, high
        if any(isinstance(self.box[name], Reciprocal) for name in polynomial.atoms):
            known = (*self._by_difference(polynomial, ideal), *self._by_ratio(polynomial, ideal))
        else:
            known = tuple(self._by_form(polynomial))
        for end, other in known:
            low, high = max(low, end), min(high, other)
        return low, high

    def _monomial(self, monomial: Monomial, ideal: bool) -> tuple[Number, Number]:
        low: Number = 1
        high: Number = 1
        for name, group in itertools.groupby(monomial):
            power = len(list(group))
            a, b = self._atom(name, ideal)
            if power > 1:
                least = 0 if power % 2 == 0 and a < 0 < b else min(a**power, b**power)
                a, b = least, max(a**power, b**power)
            if low >= 0 and a >= 0:
                low, high = low * a, high * b
            else:
                ends = (low * a, low * b, high * a, high * b)
                low, high = min(ends), max(ends)
        return low, high

    def _atom(self, name: str, ideal: bool) -> tuple[Number, Number]:
        domain = self.box[name]
        if isinstance(domain, Integer):
            return domain.low, domain.high
        if isinstance(domain, Reciprocal):
            index = self.index_of(domain)
            if ideal:
                return Fraction(1, index.high), Fraction(1, index.low)
            return self.space.reciprocal(index.high), self.space.reciprocal(index.low)
        return domain.low, domain.high

    def index_of(self, domain: Reciprocal) -> Integer:
        """The range of m + s in ROUND(1/(m + s))."""
        of = self.integer(domain.of)
        assert of is not None
        assert of.low + domain.shift >= 1
        return Integer(of.low + domain.shift, of.high + domain.shift)

    def _by_form(self, polynomial: Polynomial) -> Iterator[Interval]:
        """What `forms` knows of an affine form of Integer atoms."""
        if not self.forms or not self.is_integer_affine(polynomial) or len(polynomial.atoms) < 2:
            return
        form, factor = canonical(polynomial)
        if form in self.forms:
            a, b = (factor * end for end in self.forms[form])
            yield polynomial.constant + min(a, b), polynomial.constant + max(a, b)

    def _by_difference(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """c·(1/a − 1/b) + d, each 1/… rounded, where it is known that a ≤ b or a < b."""
        pairs = [(m[0], c) for m, c in polynomial.terms.items() if m]
        if len(pairs) != 2 or not polynomial.is_affine or pairs[0][1] != -pairs[1][1]:
            return
        for (x, c), (y, _) in (pairs, pairs[::-1]):
            first, second = self.box[x], self.box[y]
            if not isinstance(first, Reciprocal) or not isinstance(second, Reciprocal):
                return
            apart = atom(second.of) - atom(first.of) + constant(second.shift - first.shift)  # b − a
            least = self.bounds(apart)[0]
            if least < 0:
                continue
            lead = Fraction(0)
            if least >= 1:
                a = min(self.index_of(first).high, self.index_of(second).high - 1)
                lead = Fraction(1, a * (a + 1))
                if not ideal:
                    lead = max(lead - self.space.step, Fraction(0))
            if c > 0:
                yield polynomial.constant + c * lead, polynomial.constant + c
            else:
                yield polynomial.constant + c, polynomial.constant + c * lead

    def ratio(self, polynomial: Polynomial) -> tuple[Fraction, Polynomial, Reciprocal] | None:
        """c, A and 1/M if it is c·A·(1/M) + d with an affine form A of Integer atoms, A's leading coefficient 1."""
        names = {n for m in polynomial.terms for n in m if isinstance(self.box[n], Reciprocal)}
        terms = [(m, c) for m, c in polynomial.terms.items() if m]
        if len(names) != 1 or not terms:
            return None
        (name,) = names
        if any(m.count(name) != 1 or len(m) > 2 for m, _ in terms):
            return None
        form = Polynomial({tuple(n for n in m if n != name): c for m, c in terms})
        if not self.is_integer_affine(form) or form.is_constant:
            return None
        lead = next(c for m, c in sorted(form.terms.items()) if m)
        domain = self.box[name]
        assert isinstance(domain, Reciprocal)
        return lead, form * (Fraction(1) / lead), domain

    def _by_ratio(self, polynomial: Polynomial, ideal: bool) -> Iterator[Interval]:
        """c·A/M + d, 1/M rounded, where it is known that A ≥ M or A < M."""
        found = self.ratio(polynomial)
        if found is None:
            return
        c, form, domain = found
        index = self.index_of(domain)
        above = self.bounds(form - atom(domain.of) - constant(domain.shift))
        slack = Fraction(0) if ideal else max(map(abs, self.bounds(form))) * self.space.step / 2
        low, high = self.bounds(form)
        ends: list[Fraction | None] = [None, None]
        if above[0] >= 0:
            ends[0] = 1 - slack
        if above[1] < 0 and low >= 0:
            ends[1] = 1 + Fraction(above[1]) / index.high + slack
        if low >= 0:
            largest = Fraction(high) / index.low + slack
            a, b = ends[0] if ends[0] is not None else -slack, ends[1] if ends[1] is not None else largest
            yield polynomial.constant + min(c * a, c * b), polynomial.constant + max(c * a, c * b)

    def error(self, polynomial: Polynomial) -> Fraction:
        """How far the two readings can be apart."""
        found = Fraction(0)
        for monomial, c in polynomial.terms.items():
            size, off = Fraction(1), Fraction(0)  # of the product so far: the largest magnitude, and the error
            for name in monomial:
                domain = self.box[name]
                if isinstance(domain, Integer):
                    own = Fraction(0)
                else:
                    own = domain.error if isinstance(domain, Rounded) else self.space.step / 2
                low, high = self._atom(name, False)
                largest = max(-low, high) + own
                size, off = size * largest, off * largest + size * own
            found += abs(c) * off
        return found

    def sign(self, polynomial: Polynomial) -> int:
        """1: nowhere negative, −1: nowhere positive, in both readings; 0: not known."""
        low, high = self.bounds(polynomial, refined=False)
        if low < 0 < high:
            low, high = self.bounds(polynomial)
        if low < 0 < high:
            return 0
        if all(isinstance(self.box[name], Integer) for name in polynomial.atoms):
            return -1 if high <= 0 else 1
        ideal_low, ideal_high = self.bounds(polynomial, ideal=True)
        if high <= 0 and ideal_high <= 0:
            return -1
        return 1 if low >= 0 and ideal_low >= 0 else 0

    def fixed(self, polynomial: Polynomial) -> Polynomial:
        """With numbers in place of Integer atoms that have one value here."""
        values = {
            name: constant(domain.low)
            for name in polynomial.atoms
            if isinstance(domain := self.box.get(name), Integer) and domain.low == domain.high
        }
        return polynomial.substitute(values) if values else polynomial

    # Operators

    def on_grid(self, polynomial: Polynomial) -> bool:
        """Whether every value is a multiple of the step, so that nothing is rounded."""
        for monomial, c in polynomial.terms.items():
            inexact = sum(not isinstance(self.box[name], Integer) for name in monomial)
            if inexact > 1 or (c if inexact else c / self.space.step).denominator != 1:
                return False
        return True

    def settle(self, polynomial: Polynomial, where: str) -> tuple[Kind, Polynomial]:
        """One operator: its exact result rounded. Raises Refused if it may saturate."""
        low, high = self.bounds(polynomial, refined=False)
        if max(-low, high) > self.space.largest:
            low, high = self.bounds(polynomial)
        if max(-low, high) > self.space.largest:
            top = f"{float(self.space.largest):.6g}"
            raise Refused(
                where,
                f"saturates: {self.name} reaches [{float(low):.6g}, {float(high):.6g}], the largest number is {top}",
            )
        if self.on_grid(polynomial):
            return self, polynomial
        if polynomial.is_constant:
            value = self.space.rounded(polynomial.constant)
            error = abs(value - polynomial.constant)
            domain = Rounded(polynomial, polynomial, value, value, error)
        else:
            for name, known in self.box.items():
                if isinstance(known, Rounded) and known.exact == polynomial:
                    return self, atom(name)
            error = self.error(polynomial) + self.space.step / 2
            bounds = self.space.rounded(low), self.space.rounded(high)
            domain = Rounded(polynomial, self.ideal(polynomial), *bounds, error)
        name = self.space.fresh("z")
        return replace(self, box={**self.box, name: domain}), atom(name)

    # Splitting

    def is_integer_affine(self, polynomial: Polynomial) -> bool:
        """Whether it is an affine form of Integer atoms."""
        return polynomial.is_affine and all(isinstance(self.box[name], Integer) for name in polynomial.atoms)

    def split(self, polynomial: Polynomial, where: str) -> tuple[Kind, ...]:
        """As `parts`. Raises Undecided if there are no two."""
        found = self.parts(polynomial)
        if len(found) < 2:
            low, high = self.bounds(polynomial)
            what = f"the sign of {polynomial} in [{float(low):.6g}, {float(high):.6g}] cannot be told at {self.name}"
            raise Undecided(where, what)
        return found

    def parts(self, polynomial: Polynomial) -> tuple[Kind, ...]:
        """Parts in each of which `sign` knows more of this polynomial."""
        parts: list[Kind | None] = []
        if self.is_integer_affine(polynomial):
            form, factor = canonical(polynomial)
            bound = -polynomial.constant / factor
            alone = _form_polynomial(form)
            parts = [
                self.restricted(alone, None, Fraction(math.floor(bound))),
                self.restricted(alone, Fraction(math.floor(bound) + 1), None),
            ]
        elif len(polynomial.atoms) == 1 and polynomial.is_affine:
            (name,) = polynomial.atoms
            domain = self.box[name]
            if isinstance(domain, Reciprocal):
                last = self._last_of_same_sign(polynomial, name, domain)
                of = atom(domain.of)
                parts = [self.restricted(of, None, last), self.restricted(of, last + 1, None)]
        elif (found_ratio := self.ratio(polynomial)) is not None:
            _, ratio, over = found_ratio
            difference = ratio - atom(over.of) - constant(over.shift)
            parts = [self.restricted(difference, None, Fraction(-1)), self.restricted(difference, Fraction(0), None)]
        return tuple(part for part in parts if part is not None)

    def _last_of_same_sign(self, polynomial: Polynomial, name: str, domain: Reciprocal) -> Fraction:
        """The last value of `domain.of` at which c·ROUND(1/(m + s)) + d has the sign that it has at the first one."""
        c, d = polynomial.terms[(name,)], polynomial.constant
        of = self.integer(domain.of)
        assert of is not None

        def above(m: int) -> bool:
            return c * self.space.rounded(Fraction(1, m + domain.shift)) + d > 0

        low, high = of.low, of.high
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if above(middle) == above(of.low) else (low, middle - 1)
        return Fraction(low)

    def restricted(self, form: Polynomial, low: Fraction | None, high: Fraction | None) -> Kind | None:
        """The part in which low ≤ form ≤ high; None if there is none. form: affine, over Integer atoms."""
        a, b = self.bounds(form)
        low, high = (a if low is None else max(low, a)), (b if high is None else min(high, b))
        if low > high:
            return None
        if form.is_constant:
            return self
        body, factor = canonical(form)
        ends = sorted(((low - form.constant) / factor, (high - form.constant) / factor))
        first, last = math.ceil(ends[0]), math.floor(ends[1])
        if first > last:
            return None
        if len(body) == 1:
            ((name, _),) = body
            return replace(self, box={**self.box, name: Integer(first, last)})._narrowed()
        kept = replace(self, forms={**self.forms, body: (first, last)})
        if first == last:
            for name, c in reversed(body):
                if abs(c) == 1 and name != POSITION and not kept._indexes(name):
                    rest = _form_polynomial(tuple(item for item in body if item[0] != name))
                    return kept.eliminated(name, (constant(first) - rest) * c)
        return kept._narrowed()

    def _narrowed(self) -> Kind | None:
        """With the atoms' own bounds made as narrow as the forms tell, in one pass."""
        box = dict(self.box)
        for body, (first, last) in self.forms.items():
            for name, c in body:
                ends = [Fraction(first), Fraction(last)]
                for other, d in body:
                    if other != name:
                        domain = box[other]
                        assert isinstance(domain, Integer)
                        low, high = sorted((d * domain.low, d * domain.high))
                        ends = [ends[0] - high, ends[1] - low]
                low_end, high_end = sorted(end / c for end in ends)
                old = box[name]
                assert isinstance(old, Integer)
                new = Integer(max(old.low, math.ceil(low_end)), min(old.high, math.floor(high_end)))
                if new.low > new.high:
                    return None
                box[name] = new
        return replace(self, box=box).simplified()

    def _indexes(self, name: str) -> bool:
        return any(isinstance(domain, Reciprocal) and domain.of == name for domain in self.box.values())

    def eliminated(self, name: str, value: Polynomial) -> Kind | None:
        """With an Integer atom replaced by a form that equals it; None if its bounds leave nothing."""
        old = self.integer(name)
        assert old is not None
        box: dict[str, Domain] = {}
        values = {name: value}
        for key, domain in self.box.items():
            if key == name:
                continue
            if isinstance(domain, Reciprocal) and domain.of == name:
                shift = value.constant
                ((of,),) = [m for m in value.terms if m]
                assert value == atom(of) + constant(shift)
                domain = Reciprocal(of, domain.shift + int(shift))
            elif isinstance(domain, Rounded):
                domain = replace(domain, exact=domain.exact.substitute(values), ideal=domain.ideal.substitute(values))
            box[key] = domain
        forms: dict[Form, tuple[int, int]] = {}
        pending = [(value, Fraction(old.low), Fraction(old.high))]
        for form, (first, last) in self.forms.items():
            if any(key == name for key, _ in form):
                pending.append((_form_polynomial(form).substitute(values), Fraction(first), Fraction(last)))
            else:
                forms[form] = (first, last)
        registers = {index: p.substitute(values) for index, p in self.registers.items()}
        kind: Kind | None = replace(self, registers=registers, box=box, forms=forms)
        for polynomial, low, high in pending:
            if kind is None:
                return None
            # An earlier constraint may have fixed or eliminated an atom of this one.
            if not polynomial.atoms <= kind.box.keys():
                continue
            kind = kind.restricted(polynomial, low, high)
        return kind

    def simplified(self) -> Kind:
        """With numbers in place of the atoms that have one value only."""
        values: dict[str, Polynomial] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Integer) and domain.low == domain.high:
                values[name] = constant(domain.low)
            elif isinstance(domain, Reciprocal) and self.index_of(domain) == Integer(1, 1):
                values[name] = constant(1)
        if all(self.registers[i].atoms.isdisjoint(values) for i in self.registers) and not any(
            name in values for form in self.forms for name, _ in form
        ):
            return self
        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Rounded):
                domain = replace(domain, exact=domain.exact.substitute(values), ideal=domain.ideal.substitute(values))
            box[name] = domain
        forms: dict[Form, tuple[int, int]] = {}
        for form, (first, last) in self.forms.items():
            body = _form_polynomial(form).substitute(values)
            if len(body.atoms) == len(form):
                forms[form] = (first, last)
            elif len(body.atoms) > 1:
                rest, factor = canonical(body)
                ends = sorted(((first - body.constant) / factor, (last - body.constant) / factor))
                forms[rest] = (math.ceil(ends[0]), math.floor(ends[1]))
        registers = {index: p.substitute(values) for index, p in self.registers.items()}
        return replace(self, registers=registers, box=box, forms=forms)

    # Names

    def renamed(self) -> tuple[Kind, str]:
        """The same kind at another position: every atom has a new name. Also that of the position."""
        names = {name: self.space.fresh(name[0]) for name in self.box}
        return self.called(names), names[POSITION]

    def called(self, names: Mapping[str, str]) -> Kind:
        values = {old: atom(new) for old, new in names.items()}
        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Reciprocal):
                domain = Reciprocal(names[domain.of], domain.shift)
            elif isinstance(domain, Rounded):
                domain = replace(domain, exact=domain.exact.substitute(values), ideal=domain.ideal.substitute(values))
            box[names[name]] = domain
        forms = {}
        for form, ends in self.forms.items():
            body, factor = canonical(_form_polynomial(form).substitute(values))
            forms[body] = ends if factor > 0 else (-ends[1], -ends[0])
        registers = {index: p.substitute(values) for index, p in self.registers.items()}
        return replace(self, registers=registers, box=box, forms=forms)

    def _freed(self) -> Kind:
        """With an atom of its own for each number that is another one plus a constant: that it is, is forgotten."""
        for polynomial in list(self.registers.values()):
            names = polynomial.atoms
            shift = polynomial.constant
            if len(polynomial.terms) == 2 and shift and len(names) == 1 and POSITION not in names:
                (name,) = names
                old = self.integer(name)
                if old is None or polynomial != atom(name) + constant(shift) or shift.denominator != 1:
                    continue
                new = self.space.fresh("v")
                value = {name: atom(new) - constant(shift)}
                registers = dict(self.registers)
                for i, p in registers.items():
                    other = p.substitute(value)
                    if len(other.terms) < len(p.terms):
                        registers[i] = other
                box = {**self.box, new: Integer(old.low + int(shift), old.high + int(shift))}
                return replace(self, registers=registers, box=box)._freed()
        return self

    def cleaned(self, live: frozenset[int]) -> Kind:
        """With the live registers only, and the atoms that they need."""
        registers = {i: p for i, p in sorted(self.registers.items()) if i in live and p.terms}
        freed = replace(self, registers=registers)._freed()
        return freed._needed(freed.registers)

    def _needed(self, registers: Mapping[int, Polynomial]) -> Kind:
        wanted = {POSITION} | {name for p in registers.values() for name in p.atoms}
        queue = list(wanted)
        while queue:
            domain = self.box[queue.pop()]
            more: set[str] = set()
            if isinstance(domain, Reciprocal):
                more = {domain.of}
            elif isinstance(domain, Rounded):
                more = set(domain.exact.atoms | domain.ideal.atoms)
            queue += more - wanted
            wanted |= more
        box = {name: domain for name, domain in self.box.items() if name in wanted}
        forms = {form: ends for form, ends in self.forms.items() if all(name in wanted for name, _ in form)}
        return replace(self, registers=registers, box=box, forms=forms)


def canonical(polynomial: Polynomial) -> tuple[Form, Fraction]:
    """The form F and the factor a with polynomial = a·F + its constant."""
    pairs = sorted((m[0], c) for m, c in polynomial.terms.items() if m)
    scale = math.lcm(*(c.denominator for _, c in pairs))
    integers = [int(c * scale) for _, c in pairs]
    divisor = math.gcd(*integers) * (1 if integers[0] > 0 else -1)
    form = tuple((name, c // divisor) for (name, _), c in zip(pairs, integers, strict=True))
    return form, Fraction(divisor, scale)


def _form_polynomial(form: Form) -> Polynomial:
    return Polynomial({(name,): Fraction(c) for name, c in form})
