"""Abstract states: what the registers of one position can hold, split where a sign asks for it.

A run's positions fall into finitely many *abstract states*. A statement about one is about all its positions, for all inputs.
In this room a state is an abstract state; a state of the automaton that reads the text is known by its label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verify.algebra.domains import (
    SHARED,
    SIZE,
    Domain,
    Integer,
    Interval,
    Reciprocal,
    Refused,
    Rounded,
    Undecided,
    with_fields,
)
from verify.algebra.polynomial import (
    Form,
    Number,
    Polynomial,
    atom,
    common_step,
    constant,
    decimal,
    form_polynomial,
    is_whole,
    quotient,
    remainder,
    whole,
)
from verify.algebra.quotients import Unanswered
from verify.algebra.symbolic import grows
from verify.automata.token_automaton import Label
from verify.rounding.bounds import Bounded
from verify.rounding.scores import complete_squares

FEW = 8
WHOLE = -7_000_000  # pseudo register of what is bounded by cases
NOWHERE = Label("")  # of no automaton


@dataclass(frozen=True)
class AbstractState(Bounded):
    """Some positions of a run.

    label: names the automaton's state at which they stand. parents: states of the block's entry that this one is part of.
    before: states of it that the position before may have.
    """

    label: Label = NOWHERE
    parents: frozenset[int] = frozenset()
    before: frozenset[int] = frozenset()

    def with_registers(self, changed: Mapping[int, Polynomial]) -> AbstractState:
        """Returns the state with other contents of some registers."""
        return with_fields(self, registers={**self.registers, **changed})

    # Operators

    def round(self, polynomial: Polynomial, where: str) -> tuple[AbstractState, Polynomial]:
        """Returns one operator: its exact result rounded. Raises Refused if it may saturate."""
        if not polynomial.terms:
            return self, polynomial
        sized = SIZE in polynomial.atoms
        low, high = self.bounds(polynomial, refined=sized)
        if sized and low == high and all(self.integer(name) is not None for name in polynomial.atoms):
            polynomial = constant(low)  # the position is 3n − 1, say: what depends on both may be one number
        if not self.space.covers(low, high):
            low, high = self.reach(polynomial)
        if not self.space.covers(low, high):
            top = f"{decimal(self.space.largest)}"
            raise Refused(
                where,
                f"saturates: {self.label} reaches [{decimal(low)}, {decimal(high)}], the largest number is {top}",
            )
        if self.on_grid(polynomial):
            return self, polynomial
        self.space.inexact.append((where, low, high))
        if polynomial.is_constant:
            value = self.space.rounded(polynomial.constant)
            error = abs(value - polynomial.constant)
            domain = Rounded(polynomial, polynomial, value, value, error)
        else:
            for name, other in self.box.items():
                if isinstance(other, Rounded) and other.exact == polynomial:
                    return self, atom(name)
            error = self.error(polynomial) + self.space.half_step
            bounds = self.space.rounded_bounds(low, high)
            domain = Rounded(polynomial, self.ideal(polynomial), *bounds, error)
        name = self.space.fresh("z")
        return with_fields(self, box={**self.box, name: domain}), atom(name)

    def reach(self, polynomial: Polynomial) -> Interval:
        """Returns `bounds`, narrower where those lie beyond the format: of x² − 2xy + y² they bound each term for itself."""
        low, high = self.bounds(polynomial)
        if self.space.covers(low, high):
            return low, high
        low, high = self.by_squares(polynomial)
        if not grows(self.space.largest) and not self.space.covers(low, high):
            order = sorted(polynomial.atoms)
            for name in order:
                end, other = self._with_factor(polynomial, name)
                low, high = max(low, end), min(high, other)
            for form, values in self._bits(order):
                if not self.space.covers(low, high):
                    end, other = self._by_values(polynomial, form, values)
                    low, high = max(low, end), min(high, other)
        return low, high

    def _bits(self, names: Sequence[str]) -> Iterator[tuple[Form, tuple[int, int]]]:
        """Yields the forms and the atoms, of these, that have two values, with both."""
        yield from ((form, (first, last)) for form, (first, last) in self.forms.items() if last == first + 1)
        domains = ((name, self.integer(name)) for name in names)
        yield from (
            (((name, 1),), (d.low, d.high)) for name, d in domains if d is not None and d.high == d.low + d.step
        )

    def _by_values(self, polynomial: Polynomial, form: Form, values: Sequence[int]) -> Interval:
        """Returns bounds by cases over the values of a form: of b·x with a form b that is 0 or 1, the bounds of 0 and of x."""
        alone, whole = form_polynomial(form), self.with_registers({WHOLE: polynomial})
        parts = [part for v in values if (part := whole.restricted(alone, v, v)) is not None]
        ends = [part.reach(part.fixed(part.register(WHOLE))) for part in parts]
        return min((low for low, _ in ends), default=Fraction(0)), max((high for _, high in ends), default=Fraction(0))

    def by_squares(self, polynomial: Polynomial) -> Interval:
        """Returns bounds of a polynomial, also by completing squares in it and in its negative."""
        (low, high), order = self.bounds(polynomial), sorted(polynomial.atoms)
        above, below = (complete_squares(self, side, order, fractions=True) for side in (polynomial, -polynomial))
        return max(low, above.lower(self), -below.upper(self)), min(high, above.upper(self), -below.lower(self))

    def _with_factor(self, polynomial: Polynomial, name: str) -> Interval:
        """Returns bounds of x·A + B for this atom x: those of x times those of A, plus those of B.

        Of (s/m)·x they know that s/m is a mean, where monomials one by one bound s, 1/m and x, each for itself.
        """
        factor = Polynomial({_without_one(m, name): c for m, c in polynomial.terms.items() if name in m})
        ends = [a * b for a in self.bounds(atom(name)) for b in self.bounds(factor)]
        low, high = self.bounds(polynomial - factor * atom(name))
        return low + min(ends), high + max(ends)

    # Splitting

    def split(self, polynomial: Polynomial, where: str) -> tuple[AbstractState, ...]:
        """Splits the state at a polynomial's sign, as `parts` does. Raises Undecided if a part knows no more than the whole."""
        parts = self.parts(polynomial)
        low, high = self.bounds(polynomial)
        # A part in which an atom stands for no number any more knows more.
        same = (polynomial.atoms <= part.box.keys() and part.bounds(polynomial) == (low, high) for part in parts)
        if not parts or any(same):
            what = f"the sign of {polynomial} in [{decimal(low)}, {decimal(high)}] cannot be told at {self.label}"
            raise Undecided(where, what)
        return parts

    def parts(self, polynomial: Polynomial) -> tuple[AbstractState, ...]:
        """Parts in each of which `sign` knows more of this polynomial."""
        parts: list[AbstractState | None] = []
        if self.is_integer_affine(polynomial):
            form, factor = polynomial.canonical
            bound = quotient(-polynomial.constant, factor)
            alone = form_polynomial(form)
            parts = [
                self.restricted(alone, None, math.floor(bound)),
                self.restricted(alone, math.floor(bound) + 1, None),
            ]
        elif len(polynomial.atoms) == 1 and polynomial.is_affine:
            (name,) = polynomial.atoms
            domain = self.box[name]
            if isinstance(domain, Reciprocal):
                last = self._last_of_same_sign(polynomial, name, domain)
                of = atom(domain.of)
                parts = [self.restricted(of, None, last), self.restricted(of, last + 1, None)]
        elif (ends := self.compared_shares(polynomial)) is not None:
            equal = self.restricted(ends, 0, 0)
            parts = [
                self.restricted(ends, None, -1),
                equal and equal.with_one(polynomial),
                self.restricted(ends, 1, None),
            ]
        elif (root := self.root_of_ratio(polynomial)) is not None:
            parts = [self.restricted(root[0], None, root[1]), self.restricted(root[0], root[1] + 1, None)]
        elif (found_ratio := self.ratio(polynomial)) is not None:
            factor, ratio, over = found_ratio
            # The root lies at A = −d·M/c: after M, if −d/c is above 1.
            past = int(abs(factor) < abs(polynomial.constant))
            difference = ratio - atom(over.of) - constant(over.shift + past)
            if all(map(is_whole, difference.terms.values())):  # else it may lie between −1 and 0
                parts = [
                    self.restricted(difference, None, Fraction(-1)),
                    self.restricted(difference, Fraction(0), None),
                ]
        return tuple(part for part in parts if part is not None)

    def with_one(self, shares: Polynomial) -> AbstractState:
        """Returns the state with one atom for two shares 1/M whose difference is 0: ROUND(1/M) is a function of M."""
        kept, other = sorted(shares.atoms)
        values, box = {other: atom(kept)}, dict(self.box)
        for name, domain in self.box.items():
            if isinstance(domain, Rounded):
                exact, ideal = domain.exact.substitute(values), domain.ideal.substitute(values)
                box[name] = with_fields(domain, exact=exact, ideal=ideal)
        registers = {i: p.substitute(values) for i, p in self.registers.items()}
        return with_fields(self, registers=registers, box=box)

    def _last_of_same_sign(self, polynomial: Polynomial, name: str, domain: Reciprocal) -> Fraction:
        """Returns the last value of `domain.of` at which c·ROUND(1/(m + s)) + d has the sign that it has at the first one."""
        c, d = polynomial.terms[(name,)], polynomial.constant
        of = self.integer(domain.of)
        if of is None:
            raise TypeError("there is no of")

        def above(m: int) -> bool:
            ends = [c * end + d > 0 for end in self.space.reciprocals(m + domain.shift, m + domain.shift)]
            if ends[0] != ends[1]:
                raise Unanswered(f"the sign of {polynomial}, {name} = 1/{m + domain.shift} rounded")
            return ends[0]

        low, high = of.low, of.high
        if grows(of.high):
            behind = (low + (1 << i) for i in range(FEW))
            turned = next((m for m in behind if above(m) != above(low)), None)
            if turned is None:
                raise Unanswered(f"where {polynomial} changes its sign")
            high = turned
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if above(middle) == above(of.low) else (low, middle - 1)
        return Fraction(low)

    def restricted(self, form: Polynomial, low: Number | None, high: Number | None) -> AbstractState | None:
        """Returns the part in which low ≤ form ≤ high; None if there is none. form: affine, over Integer atoms."""
        a, b = self.bounds(form)
        low, high = (a if low is None else max(a, low)), (b if high is None else min(b, high))
        if low > high:
            return None
        if form.is_constant:
            return self
        body, factor = form.canonical
        low, high = low - form.constant, high - form.constant
        if factor < 0:
            low, high = high, low
        first, last = whole(-(-low // factor)), whole(high // factor)
        if first > last:
            return None
        if len(body) == 1:
            ((name, _),) = body
            old = self.integer(name)
            if old is None:
                raise TypeError("there is no old")
            new = old.within(first, last)
            return None if new.low > new.high else with_fields(self, box={**self.box, name: new})._narrow()
        residue, divisor = self._residue(body)
        if divisor > 1:
            first, last = (
                first + (remainder(residue - first, divisor) or 0),
                last - (remainder(last - residue, divisor) or 0),
            )
        if first > last:
            return None
        part = with_fields(self, forms={**self.forms, body: (first, last)})
        if first == last:
            for name, c in reversed(body):
                if abs(c) == 1 and name not in SHARED and not part._indexes(name):
                    rest = form_polynomial(tuple(item for item in body if item[0] != name))
                    return part.eliminated(name, (constant(first) - rest) * c)
        return part._narrow()

    def not_below_0(self, form: Polynomial) -> AbstractState:
        """Returns the same state, of which it is noted that an affine form of Integer atoms is nowhere below 0."""
        if any(grows(c) for c in form.terms.values()):
            return self
        body, factor = form.canonical
        low, high = self.form_bounds(body)
        end = quotient(-form.constant, factor)
        ends = (max(low, math.ceil(end)), high) if factor > 0 else (low, min(high, math.floor(end)))
        return with_fields(self, forms={**self.forms, body: ends})

    def _residue(self, body: Form) -> tuple[int, int]:
        """Returns r and m with form ≡ r modulo m."""
        residue, divisor = 0, 0
        for name, c in body:
            domain = self.integer(name)
            if domain is None:
                raise TypeError("there is no domain")
            residue, divisor = residue + c * domain.low, common_step(divisor, c * domain.step)
        return residue, divisor

    def _narrow(self) -> AbstractState | None:
        """Narrows the atoms' own bounds by the forms, in one pass; None if nothing is left."""
        box = dict(self.box)
        for body, (first, last) in self.forms.items():
            for name, c in body:
                low_end, high_end = first, last
                for other, d in body:
                    if other != name:
                        domain = box[other]
                        if not isinstance(domain, Integer):
                            raise TypeError("domain is no Integer")
                        low, high = sorted((d * domain.low, d * domain.high))
                        low_end, high_end = low_end - high, high_end - low
                old = box[name]
                if not isinstance(old, Integer):
                    raise TypeError("old is no Integer")
                if c < 0:
                    low_end, high_end = high_end, low_end
                new = old.within(-(-low_end // c), high_end // c)
                if new.low > new.high:
                    return None
                box[name] = new
        return with_fields(self, box=box).simplified()

    def _indexes(self, name: str) -> bool:
        return any(isinstance(domain, Reciprocal) and domain.of == name for domain in self.box.values())

    def eliminated(self, name: str, value: Polynomial) -> AbstractState | None:
        """Replaces an Integer atom by a form that equals it; None if its bounds leave nothing."""
        old = self.integer(name)
        if old is None:
            raise TypeError("there is no old")
        box: dict[str, Domain] = {}
        values = {name: value}
        for key, domain in self.box.items():
            if key == name:
                continue
            if isinstance(domain, Reciprocal) and domain.of == name:
                shift = value.constant
                ((of,),) = [m for m in value.terms if m]
                if value != atom(of) + constant(shift):
                    raise Undecided(f"1/{name}", f"{value} is no number plus another atom")
                domain = Reciprocal(of, domain.shift + whole(shift))
            elif isinstance(domain, Rounded):
                domain = with_fields(
                    domain, exact=domain.exact.substitute(values), ideal=domain.ideal.substitute(values)
                )
            box[key] = domain
        forms: dict[Form, tuple[int, int]] = {}
        pending = [(value, old.low, old.high)]
        for form, (first, last) in self.forms.items():
            if any(key == name for key, _ in form):
                pending.append((form_polynomial(form).substitute(values), first, last))
            else:
                forms[form] = (first, last)
        registers = {index: p.substitute(values) for index, p in self.registers.items()}
        state: AbstractState | None = with_fields(self, registers=registers, box=box, forms=forms)
        for polynomial, low, high in pending:
            if state is None:
                return None
            # An earlier constraint may have fixed or eliminated an atom of this one.
            if not polynomial.atoms <= state.box.keys():
                continue
            state = state.restricted(polynomial, low, high)
        return state

    def simplified(self) -> AbstractState:
        """Returns the state with numbers for atoms that have one value only, and one atom for shares 1/(m + s) of the same m +
        s.
        """
        values: dict[str, Polynomial] = {}
        shares: dict[Reciprocal, str] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Integer) and domain.low == domain.high:
                values[name] = constant(domain.low)
            elif isinstance(domain, Reciprocal) and self.index_of(domain) == Integer(1, 1):
                values[name] = constant(1)
            elif isinstance(domain, Reciprocal) and (same := shares.setdefault(domain, name)) != name:
                values[name] = atom(same)
        in_forms = (name in values for form in self.forms for name, _ in form)
        if not values or (all(p.atoms.isdisjoint(values) for p in self.registers.values()) and not any(in_forms)):
            return self
        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Rounded):
                domain = with_fields(
                    domain, exact=domain.exact.substitute(values), ideal=domain.ideal.substitute(values)
                )
            box[name] = domain
        forms: dict[Form, tuple[int, int]] = {}
        for form, (first, last) in self.forms.items():
            body = form_polynomial(form).substitute(values)
            if len(body.atoms) == len(form):
                forms[form] = (first, last)
            elif len(body.atoms) > 1:
                rest, factor = body.canonical
                ends = sorted(quotient(end - body.constant, factor) for end in (first, last))
                forms[rest] = (math.ceil(ends[0]), math.floor(ends[1]))
        registers = {index: p.substitute(values) for index, p in self.registers.items()}
        return with_fields(self, registers=registers, box=box, forms=forms)

    def join_position(self, other: AbstractState) -> AbstractState | None:
        """Joins this state with that of another position of the same text, whose atoms have other names; None if no n has both."""
        mine, its = self.box[SIZE], other.box[SIZE]
        if not isinstance(mine, Integer) or not isinstance(its, Integer):
            raise TypeError("n is no integer")
        size = Integer(max(mine.low, its.low), min(mine.high, its.high))
        box, forms = {**self.box, **other.box, SIZE: size}, {**self.forms, **other.forms}
        return with_fields(self, box=box, forms=forms) if size.low <= size.high else None

    def met(self, other: AbstractState, values: Sequence[Polynomial]) -> AbstractState | None:
        """Returns what both know, if atoms of one name are one number; the values stand in the registers −1, −2, … None if none
        is left.
        """
        box, forms = {**other.box, **self.box}, {**other.forms, **self.forms}
        for name in self.box.keys() & other.box.keys():
            mine, its = self.box[name], other.box[name]
            if isinstance(mine, Integer) and isinstance(its, Integer):
                box[name] = both = mine.within(its.low, its.high)
                if both.low > both.high:
                    return None
        for form in self.forms.keys() & other.forms.keys():
            (low, high), (its_low, its_high) = self.forms[form], other.forms[form]
            forms[form] = max(low, its_low), min(high, its_high)
        registers = {-1 - i: value for i, value in enumerate(values)}
        return with_fields(self, registers=registers, box=box, forms=forms)._narrow()

    # Names

    def renamed(self) -> tuple[AbstractState, dict[str, str]]:
        """Returns the same state at another position: every atom has a new name. Also the new names of the old."""
        names = {name: name if name == SIZE else self.space.fresh(name[0]) for name in self.box}
        return self.called(names), names

    def called(self, names: Mapping[str, str]) -> AbstractState:
        """Returns the same state with other names for all atoms."""
        box: dict[str, Domain] = {}
        for name, domain in self.box.items():
            if isinstance(domain, Reciprocal):
                domain = Reciprocal(names[domain.of], domain.shift)
            elif isinstance(domain, Rounded):
                domain = with_fields(domain, exact=domain.exact.renamed(names), ideal=domain.ideal.renamed(names))
            box[names[name]] = domain
        forms = {}
        for form, ends in self.forms.items():
            body, factor = form_polynomial(form).renamed(names).canonical
            forms[body] = ends if factor > 0 else (-ends[1], -ends[0])
        registers = {index: p.renamed(names) for index, p in self.registers.items()}
        return with_fields(self, registers=registers, box=box, forms=forms)

    def _free(self) -> AbstractState:
        """Gives each number that is another one plus a constant an atom of its own.

        That it is one is forgotten; what forms tell of the other atom, they tell of the new one too.
        """
        for polynomial in list(self.registers.values()):
            names = polynomial.atoms
            shift = polynomial.constant
            if len(polynomial.terms) == 2 and shift and len(names) == 1 and names.isdisjoint(SHARED):
                (name,) = names
                old = self.integer(name)
                if old is None or polynomial != atom(name) + constant(shift) or not is_whole(shift):
                    continue
                new = self.space.fresh("v")
                value = {name: atom(new) - constant(shift)}
                registers = dict(self.registers)
                for i, p in registers.items():
                    other = p.substitute(value)
                    if len(other.terms) < len(p.terms):
                        registers[i] = other
                box = {**self.box, new: Integer(old.low + whole(shift), old.high + whole(shift), old.step)}
                forms = self._forms_of_both(name, value)
                return with_fields(self, registers=registers, box=box, forms=forms)._free()
        return self

    def _forms_of_both(self, name: str, value: Mapping[str, Polynomial]) -> dict[Form, tuple[int, int]]:
        """Returns the known forms, and for each that has this atom the form that it is once the atom is replaced by an equal
        one.
        """
        forms = dict(self.forms)
        for form, (first, last) in self.forms.items():
            if any(other == name for other, _ in form):
                replaced = form_polynomial(form).substitute(value)
                body, factor = replaced.canonical
                low, high = sorted(quotient(end - replaced.constant, factor) for end in (first, last))
                forms[body] = math.ceil(low), math.floor(high)
        return forms

    def cleaned(self, live: frozenset[int]) -> AbstractState:
        """Keeps the live registers only, and the atoms that they need."""
        registers = {i: p for i, p in sorted(self.registers.items()) if i in live and p.terms}
        freed = with_fields(self, registers=registers)._free()
        return freed.needed(freed.registers)

    def needed(self, registers: Mapping[int, Polynomial]) -> AbstractState:
        """Keeps these registers only, and the atoms that they need."""
        names = {*SHARED} | {name for p in registers.values() for name in p.atoms}
        queue = list(names)
        while queue:
            domain = self.box[queue.pop()]
            more: set[str] = set()
            if isinstance(domain, Reciprocal):
                more = {domain.of}
            elif isinstance(domain, Rounded):
                more = set(domain.exact.atoms | domain.ideal.atoms)
            queue += more - names
            names |= more
        box = {name: domain for name, domain in self.box.items() if name in names}
        forms = {form: ends for form, ends in self.forms.items() if all(name in names for name, _ in form)}
        return with_fields(self, registers=registers, box=box, forms=forms)


def _without_one(monomial: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Returns the monomial without one of these atoms in it."""
    i = monomial.index(name)
    return (*monomial[:i], *monomial[i + 1 :])
