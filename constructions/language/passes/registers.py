"""Registers: each value gets a register, or a form over registers, with the largest value that it can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from constructions.language.bounds import Bound
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.operations import (
    Attend,
    Compare,
    Computation,
    Cycle,
    Multiply,
    PlacedComputation,
    Same,
    Schedule,
    Share,
    Shift,
    TimesShare,
    show_form,
)
from constructions.language.terms import POSITION as OWN
from constructions.language.terms import Back, IsNumber, IsWord, Monomial, NumberOf, Read, Term, as_term
from constructions.language.weights import FIRST, IS_NUMBER, NUMBER, ONE_REGISTER, POSITION
from constructions.wiring.affine import Affine, as_affine, reg, total
from constructions.wiring.register import copied, register, register_before, squared


@dataclass(frozen=True)
class RegisterForms:
    """forms: value → its form. largest: register → its largest absolute value. positive: the registers that are nowhere below 0.

    meanings: register → the term that it holds, or whose mean or share it holds. bases: of a value that a shift register keeps
    the register that this is named after.
    """

    forms: dict[Monomial, Affine] = field(default_factory=dict)
    largest: dict[str, Bound] = field(default_factory=dict)
    positive: set[str] = field(default_factory=set)
    meanings: dict[str, Term] = field(default_factory=dict)
    bases: dict[Monomial, str] = field(default_factory=dict)

    def form(self, term: Term) -> Affine:
        """Returns a term as a form of registers."""
        form = Affine()
        for value, c in term.items:
            form = form + (self.forms[value] if value else as_affine(1)) * c
        return form

    def linear(self, term: Term) -> Affine:
        """Returns the form of a term, without a constant."""
        return linear(self.form(term))

    def label(self, text: str, terms: tuple[Term, ...]) -> str:
        """Returns a text with the forms of these terms, each in place of a `{}`."""
        return text.format(*(show_form(self.form(term)) for term in terms)) if terms else text

    def reach(self, form: Affine, *, above: bool = False) -> Bound:
        """Returns the most that a form, and each sum of some of its terms, comes to, up to a sign; the constant is added last.

        above: the most that the form itself comes to, with its sign.
        """
        up: Bound = 0
        down: Bound = 0
        for name, c in form.terms.items():
            most = abs(c) * self.largest[name]
            up += most if c > 0 or name not in self.positive else 0
            down += most if c < 0 or name not in self.positive else 0
        return up + form.constant if above else max(up, down, up + form.constant, down - form.constant)


def linear(form: Affine) -> Affine:
    """Returns a form with its constant as a multiple of the register that is 1: heads and recurrences have no bias."""
    return Affine(form.terms) + reg(ONE_REGISTER) * form.constant if form.constant else form


def embedded_forms(facts: TermFacts) -> Mapping[Monomial, Affine]:
    """Returns the values that the embedding has, each with its register."""
    forms: dict[Monomial, Affine] = {(IsWord(word),): reg(word) for word in facts.words}
    forms |= {(NumberOf(),): reg(NUMBER), (NumberOf(), NumberOf()): reg(squared(NUMBER))}
    return forms | {(IsNumber(),): reg(IS_NUMBER), (OWN,): reg(POSITION)}


def assign_registers(facts: TermFacts, names: Mapping[Term, str], schedule: Schedule) -> RegisterForms:
    """Returns registers for all values of a schedule. names: what people call some of them."""
    number = facts.bounds.numbers[1]
    largest: dict[str, Bound] = {ONE_REGISTER: 1, FIRST: 1, IS_NUMBER: 1, NUMBER: number, POSITION: facts.bounds.length}
    largest |= {squared(NUMBER): number**2, **dict.fromkeys(facts.words, 1)}
    registers = RegisterForms({**embedded_forms(facts)}, largest, {*largest})
    assigner = _Assigner(facts, names, registers)
    for value, step in schedule.values.items():
        if isinstance(step, Same):
            registers.forms[value] = total(map(registers.form, step.terms))
        else:
            assigner.assign(step)
    return registers


@dataclass(frozen=True)
class _Assigner:
    facts: TermFacts
    names: Mapping[Term, str]
    to: RegisterForms
    states: set[str] = field(default_factory=set)  # what shift registers keep

    def assign(self, step: PlacedComputation) -> None:
        """Gives a value its register, or registers."""
        operation = step.operation
        if isinstance(operation, Shift):
            self._keep(step.value, operation)
            return
        name = self._name(step.value, operation)
        self.to.forms[step.value] = reg(name)
        if isinstance(operation, Cycle):
            for atom in operation.before:
                self.to.forms[atom,] = reg(self._own(as_term(atom), "sum"))

    def _name(self, value: Monomial, operation: Computation) -> str:
        """Returns the register of a value, and notes how large that can be."""
        match operation:
            case Multiply(kind="square", means=Term() as means):
                plain, (low, high) = self._plain(operation.operands[0]), self.facts.bounds.atom(value[0])
                free = plain is not None and squared(plain) not in self.to.largest
                name = squared(plain) if plain and free else self._own(means, operation.kind)
                self.to.meanings[name], self.to.largest[name] = means, max(low * low, high * high)
                return name
            case Attend(means=Term() as means, value=Term() as read):
                name = self._copy(means, read) or self._own(means, operation.kind)
                self.to.largest[name] = self.facts.bounds.largest(means)
                return name
        name = self._own(operation.means, operation.kind)
        match operation, value:
            case Compare(), _:
                self.to.largest[name] = 1
            case Multiply(), (TimesShare(factor),):
                self._is_positive(name, max(1, self.facts.bounds.term(factor)[1]))
            case Attend(), (Share(),):
                self._is_positive(name, 1)
            case Attend(value=Term() as read), _:  # the share of a position is rounded
                self.to.meanings[name], self.to.largest[name] = read, self.facts.bounds.largest(read) * Fraction(17, 16)
        return name

    def _is_positive(self, name: str, largest: Bound) -> None:
        self.to.largest[name] = largest
        self.to.positive.add(name)

    def _copy(self, means: Term, value: Term) -> str | None:
        """Returns the register of a copy from some positions before; None if it copies no register, or is there already."""
        match means.items:
            case (((Read(_, Back(steps)),), _),) if (plain := self._plain(value)) is not None:
                name = copied(plain, steps)
                if name not in self.to.largest:  # as the copy of a copy is, if it is read directly as well
                    self.to.meanings[name] = means
                    return name
        return None

    def _keep(self, value: Monomial, shift: Shift) -> None:
        """Names what a shift register keeps after the register that is fed to it, if these names are free."""
        base = self._plain(shift.of)
        if base is None or register(base).past is not None or self._clashes(base, shift.steps):
            base = self._own(shift.of, "past")
        for i in range(shift.steps + 1):
            self.states.add(register_before(base, i))
            self.to.largest[register_before(base, i)] = self.facts.bounds.largest(shift.of)
        self.to.forms[value], self.to.bases[value] = reg(register_before(base, shift.steps)), base

    def _clashes(self, base: str, steps: int) -> bool:
        """Returns whether something else has a name that the shift register would have, as the square of what another one keeps."""
        names = {register_before(base, i) for i in range(steps + 1)}
        return not names.isdisjoint(self.to.largest.keys() - self.states)

    def _plain(self, term: Term) -> str | None:
        """Returns the register that a term is, if it is one."""
        form = self.to.form(term)
        names = list(form.terms)
        return names[0] if len(names) == 1 and form.terms[names[0]] == 1 and not form.constant else None

    def _own(self, term: Term | None, kind: str) -> str:
        """Returns a register of its own: what the program calls the term, else its kind with a number."""
        name = self.names.get(term) if term is not None else None
        taken = {*self.to.largest, *self.facts.words}
        if name is None or name in taken:
            base = name or kind
            name = next(f"{base}_{i}" for i in range(1, len(taken) + 2) if f"{base}_{i}" not in taken)
        count = term is None or self.facts.has_count(term)
        self.to.largest[name] = 1 if term is None or count else self.facts.bounds.largest(term)
        if term is not None and not count and self.facts.bounds.term(term)[0] >= 0:
            self.to.positive.add(name)
        if term is not None:
            self.to.meanings[name] = term
        return name
