"""Writes a definition in the language of programs as the data that `verify/trusted/program.py` reads.

Whoever relies on a certificate of a program trusts this file beside the checker: it says which atoms a term is. The tests compare
both meanings on texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from constructions.language import terms as language
from constructions.language.terms import Answer, Term, as_term
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.statement import Document, rows_of, statement_of, terms
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel
from verify.trusted import program
from verify.trusted.abstract_state import SIZE
from verify.trusted.kernel import Rejected
from verify.trusted.model import text_of
from verify.trusted.numbers import plain
from verify.trusted.polynomials import ONE, Polynomial, atom, combine, times


def accept_program(
    certificate: Document, model: ExactModel, automaton: TokenAutomaton, answers: Answer | Mapping[str, Answer]
) -> int:
    """Returns how many classes the checker of programs accepts in a certificate of this model, texts and definition.

    Raises Rejected.
    """
    rows, definition = (json.dumps(one).encode() for one in (rows_of(model), definition_of(answers)))
    digests = {"weights": hashlib.sha256(rows).hexdigest(), "definition": hashlib.sha256(definition).hexdigest()}
    own = {**certificate, **statement_of(model, automaton), **digests}
    return program.check(json.dumps(own).encode(), rows, b"{}", definition)


class Writer:
    """Writes terms of the language as the atoms of a definition, each once."""

    def __init__(self) -> None:
        self.atoms: list[list[Any]] = []
        self.known: dict[str, int] = {}

    def add(self, *one: Any) -> int:
        key = json.dumps(one)
        if key not in self.known:
            self.known[key] = len(self.atoms)
            self.atoms.append([*one])
        return self.known[key]

    def term(self, value: Term) -> int:
        """Returns the index of an atom that has the term's value."""
        pairs: list[tuple[Polynomial, Fraction | int]] = []
        for monomial, c in value.items:
            names = tuple(sorted(f"a{self.atom(one)}" for one in monomial))
            pairs += [({tuple(sorted((*m, *names))): 1}, x) for m, x in terms(c).items()]
        return self.add_polynomial(combine(pairs))

    def add_polynomial(self, polynomial: Polynomial) -> int:
        """Returns the index of an atom that is a polynomial of atoms."""
        name = next(iter(polynomial), ())
        if polynomial == {name: 1} and len(name) == 1 and name[0] != SIZE:
            return int(name[0][1:])
        return self.add("term", text_of(polynomial))

    def back(self, value: Term, steps: int) -> Polynomial:
        """Returns what a term was some steps before; of sums of products it is the same sum of products of what each factor was.

        Where there is no such position each factor is 0, and so is the sum, as it has no constant.
        """
        while [c for _, c in value.items] == [1] and len(value.items[0][0]) == 1:
            (one,) = value.atoms
            if not isinstance(one, language.Named):
                break
            value = one.of
        if value.constant or all(len(monomial) == 1 for monomial, _ in value.items):
            match value.items:
                case (((language.Read(of, language.Back(more)),), c),) if c == 1:
                    return self.back(of, steps + more)
            return atom(f"a{self.add('back', self.term(value), steps)}")
        pairs = []
        for monomial, c in value.items:
            product: Polynomial = ONE
            for one in monomial:
                product = times(product, self.back(as_term(one), steps))
            pairs += [(times(product, {m: x}), 1) for m, x in terms(c).items()]
        return combine(pairs)

    def atom(self, one: language.Atom) -> int:
        match one:
            case language.NumberOf(family):
                return self.add("number", family)
            case language.IsNumber(family):
                return self.add("is_number", family)
            case language.IsWord(word):
                return self.add("is_word", word)
            case language.Position():
                return self.add("position")
            case language.Named(_, of):
                return self.term(of)
            case language.Positive(of):
                return self.add("positive", self.term(of))
            case language.Above(of):
                return self.add("above", self.term(of))
            case language.Equal(of, value):
                return self.add("equal", self.term(of), str(plain(Fraction(value))))
            case language.Sum(of):
                return self.add("sum", self.term(of))
            case language.Comb(of, steps, sign):
                return self.add("comb", self.term(of), steps, sign)
            case language.Count(where):
                return self.add("count", self.pairs(where))
            case language.Read(value, language.Back(steps)):
                return self.add_polynomial(self.back(value, steps))
            case language.Read(value, language.At(target) | language.Nearest(target)):
                return self.add("at", self.term(value), self.term(target))
            case language.Read(value, language.Pick(matching, last)):
                return self.add("last" if last else "first", self.term(value), self.pairs(matching))
            case language.Read(value, language.Closest(matching, target)):
                return self.add("nearest", self.term(value), self.pairs(matching), self.term(target))
        raise Rejected(f"definitions have no atom such as {type(one).__name__}")

    def pairs(self, where: language.Matching) -> list[list[int]]:
        return [[self.term(key), self.term(query)] for key, query in where.pairs]

    def answer(self, answer: Answer) -> list[Any]:
        match answer:
            case language.Say(word):
                return ["say", word]
            case language.SayNumber(value, family):
                return ["number", self.term(value), family]
            case language.If(bit, then, otherwise):
                return ["if", self.term(bit), self.answer(then), self.answer(otherwise)]
            case language.Anything():
                return ["anything"]
        raise Rejected(f"definitions have no answer such as {type(answer).__name__}")


def definition_of(answers: Answer | Mapping[str, Answer]) -> Document:
    """Returns an answer of the language as a definition, or one for each label."""
    writer = Writer()
    trees = {
        label: writer.answer(one)
        for label, one in (answers.items() if isinstance(answers, Mapping) else [("", answers)])
    }
    return {"atoms": writer.atoms, "answers": trees}


def answers_of(subject: Subject) -> Answer | dict[str, Answer]:
    """Returns what the subject's dossier defines: one answer, or one for each label. Raises Rejected where nothing is defined."""
    automaton = subject.dossier.texts(subject)
    labels = [state.label for state in automaton.states if state.label in automaton.answers]
    answers = {str(label): one for label in labels if (one := subject.dossier.definition(subject, label)) is not None}
    if not answers:
        raise Rejected("no definition is written in the language of programs")
    if len(answers) == len({str(label) for label in labels}) and len({*answers.values()}) == 1:
        return next(iter(answers.values()))
    return {"": language.Anything(), **answers}
