"""A program after each pass, and the values of terms by their meaning: the interpreter, and definitions for what no program has."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hypothesis import reject

from constructions.language.compiler import Compiler
from constructions.language.interpreter import Input
from constructions.language.passes.answer import rules_of, signed_of
from constructions.language.passes.facts import TermFacts, known_facts
from constructions.language.passes.operations import (
    Computation,
    Factors,
    Mean,
    OutputRule,
    Outside,
    PlacedComputation,
    Same,
    Schedule,
    Share,
    Signed,
    TimesShare,
)
from constructions.language.passes.registers import RegisterForms, assign_registers, embedded_forms
from constructions.language.passes.schedule import pinned_atom, schedule_values
from constructions.language.program import NotCompiled, Program
from constructions.language.terms import Atom, NumberOf, Position, Read, Term, as_term
from constructions.language.weights import FIRST, ONE_REGISTER
from constructions.wiring.affine import Affine
from tests.language.compiled import every_text
from tests.language.programs import Written
from tests.language.test_slips import ALL

MOST_TEXTS = 8

AB, NUMBERS, FROM_0 = 'some(words("a", "b"))', "some(numbers())", "some(numbers(0))"
PROGRAMS = [
    *ALL,
    Written('choose(select(number, 0).count() > 2, "yes", "no")', FROM_0),
    Written('choose(select(number, 0).count() > 2, "yes", "no")', FROM_0, "hybrid"),
    Written('choose((0 - number).back(1) * number.back(2) > -3, "yes", "no")', NUMBERS),
    Written('choose(word("b").back(1).back(1), "yes", "no")', AB, "rnn"),
    Written('choose(word("b").back(1).back(1), "yes", "no")', AB),
    Written('choose(select(number + 1, 2).last(position) == 3, "yes", "no")', NUMBERS),
    Written('choose(select(word("a")).nearest(position, 3) == 2, "yes", "no")', AB),
    Written('choose(select(position, number).first(number) > 1, "yes", "no")', NUMBERS),
    Written('choose((select(position, number).count() > 0) & (number > 1), "yes", "no")', NUMBERS),
    Written('choose(select(number, number).count() < 2 * (position > 2), "yes", number)', NUMBERS),
    Written('choose(positive(number - 2) * number == 3, "yes", number.back(1))', FROM_0, "hybrid"),
    Written('choose((running_sum(number - 1) > 1) & (running_sum(number) != 3), "yes", number)', NUMBERS),
]


@dataclass(frozen=True)
class Passed:
    """Raises NotCompiled, as the compiler does."""

    program: Program
    n: int = 3

    @cached_property
    def weights(self) -> Compiler:
        return Compiler(self.program, self.n)

    @cached_property
    def facts(self) -> TermFacts:
        return known_facts(self.weights)

    @cached_property
    def signed(self) -> Signed | None:
        return signed_of(self.facts, self.weights.answer, ())

    @cached_property
    def rules(self) -> tuple[OutputRule, ...]:
        return () if self.signed else rules_of(self.facts, self.weights.answer, ())

    @cached_property
    def schedule(self) -> Schedule:
        pins = dict(map(pinned_atom, self.program.pins))
        return schedule_values(self.facts, embedded_forms(self.facts), pins, self.rules, self.signed)

    @cached_property
    def registers(self) -> RegisterForms:
        return assign_registers(self.facts, self.program.names, self.schedule)

    @property
    def operations(self) -> Iterator[tuple[Term, Computation]]:
        """The values that are computed, each as a term."""
        for value, step in self.schedule.values.items():
            if isinstance(step, PlacedComputation):
                yield Term(((value, Fraction(1)),)), step.operation

    @property
    def equals(self) -> Iterator[tuple[Term, Same]]:
        """The values that are others, each as a term."""
        for value, same in self.schedule.values.items():
            if isinstance(same, Same):
                yield Term(((value, Fraction(1)),)), same

    @cached_property
    def texts(self) -> list[Input]:
        """Some texts of the program."""
        every = [*every_text(self.program.texts, self.n)]
        some = random.Random(0).sample(every, min(MOST_TEXTS, len(every)))
        return [
            Input([("<s>", 0), *(("", int(word)) if word.isdecimal() else (word, 0) for word in words)])
            for words in some
        ]

    @property
    def positions(self) -> Iterator[tuple[Input, int]]:
        """Each position of these texts."""
        for text in self.texts:
            for k in range(1, len(text.tokens) + 1):
                yield text, k

    def register_values(self, text: Input, k: int) -> dict[str, Fraction]:
        """Each register at a position, by what it should hold."""
        values = {ONE_REGISTER: Fraction(1), FIRST: Fraction(k == 1)}
        for value, form in self.registers.forms.items():
            names = [*form.terms]
            if len(names) == 1 and form.terms[names[0]] == 1 and not form.constant:
                values[names[0]] = value_of(Term(((value, Fraction(1)),)), text, k)
        return values


def passed(written: Written) -> Passed:
    """The program after each pass. Raises NotCompiled, as the compiler does."""
    one = Passed(written.program)
    one.registers  # noqa: B018
    return one


def passed_if_compiled(written: Written) -> Passed:
    """The same for a random program; hypothesis draws another one if the architecture cannot do this one."""
    try:
        return passed(written)
    except NotCompiled:
        reject()


def value_of(term: Term, text: Input, k: int) -> Fraction:
    """The exact value of a term at a position."""
    total = Fraction(0)
    for value, c in term.items:
        product = Fraction(c)
        for atom in value:
            product *= _atom(atom, text, k)
        total += product
    return total


def _atom(atom: Atom, text: Input, k: int) -> Fraction:
    match atom:
        case Share(count):
            return 1 / (1 + value_of(as_term(count), text, k))
        case TimesShare(factor, share):
            return value_of(factor, text, k) * value_of(as_term(share), text, k)
        case Mean(of):
            return sum(value_of(of, text, j) for j in range(1, k + 1)) / Fraction(k)
        case Outside(distance):
            return max(Fraction(0), value_of(distance, text, k)) ** 2
        case Factors(of):
            ((atoms, _),) = of.items
            numbers = [
                a for a in atoms if isinstance(a, NumberOf | Position | Read)
            ]  # the others are bits, in the programs here
            return Fraction(math.prod(text.value(as_term(a), k) for a in numbers))
    return Fraction(text.value(as_term(atom), k))


def form_value(form: Affine, values: dict[str, Fraction]) -> Fraction:
    """The value of a form of registers."""
    return sum((c * values[name] for name, c in form.terms.items()), start=form.constant)
