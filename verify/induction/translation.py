"""Terms of `verify.programs` as SMT-LIB.

A text is a function `number` of positions and for each word a predicate, such as `|is ~|`, and the size is n. Named terms, and
positions that heads pick, become functions of the position that reads. Axioms say what they are, and nothing more: there are such
functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from constructions.language.interpreter import ANYTHING
from constructions.language.terms import (
    ZERO,
    Above,
    Answer,
    Anything,
    Atom,
    Back,
    Closest,
    Count,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Named,
    Next,
    NumberOf,
    Pick,
    Position,
    Read,
    Say,
    SayNumber,
    Term,
    as_term,
)
from verify.algebra.interval import powers_of as parts
from verify.algebra.polynomial import Number
from verify.programs.forms import read_alone


def apply(operator: str, *arguments: str) -> str:
    """Writes (operator argument …). Without an argument and, or, + and * give true, false, 0 and 1; with one, that one."""
    if operator in ("and", "or", "+", "*") and len(arguments) < 2:
        return arguments[0] if arguments else {"and": "true", "or": "false", "+": "0", "*": "1"}[operator]
    return f"({' '.join((operator, *arguments))})"


def head(read: Term) -> Pick:
    """Returns the head by which a term is read. Raises TypeError if it is not read by one that picks."""
    atom = read_alone(read)
    if atom is None or not isinstance(atom.where, Pick):
        raise TypeError("no one head reads it")
    return atom.where


def each(variables: str, formula: str, *patterns: str) -> str:
    """Returns the formula for all integers. patterns: terms at which solvers look for instances; they do not change the meaning."""
    marks = "".join(f" :pattern ({pattern})" for pattern in patterns)
    bound = " ".join(f"({variable} Int)" for variable in variables.split())
    return f"(forall ({bound}) {f'(! {formula}{marks})' if marks else formula})"


@dataclass(frozen=True)
class Translation:
    """Grows with the terms that are asked for. functions: their names. lines: declarations and axioms, as a theory reads them.

    unfolded: named terms that become no functions.
    """

    unfolded: frozenset[str] = frozenset()
    functions: dict[Atom, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def value(self, term: Term, at: str) -> str:
        """Returns the term's value at this position, an integer."""
        return apply("+", *(self._product(monomial, c, at) for monomial, c in self._unfold(term).items))

    def holds(self, bit: Term, at: str) -> str:
        """Returns whether a bit is 1."""
        return apply("=", self.value(bit, at), "1")

    def answer_cases(self, answer: Answer, at: str, number: Callable[[str], str], word: Callable[[str], str]) -> str:
        """Translates an answer by its cases: `number` makes a term or a formula of a number's value, `word` of a word."""
        match answer:
            case If(bit, then, otherwise):
                cases = (self.answer_cases(case, at, number, word) for case in (then, otherwise))
                return apply("ite", self.holds(bit, at), *cases)
            case SayNumber(value):
                return number(self.value(value, at))
            case Say(said):
                return word(said)
            case Anything():
                return word(ANYTHING)

    def stands(self, answer: Answer, at: str, there: str, word: Callable[[str, str], str]) -> str:
        """Returns whether the number that is said at one position stands at another; of a word, what this makes of it and the
        other.
        """
        match answer:
            case If(bit, then, otherwise):
                cases = (self.stands(case, at, there, word) for case in (then, otherwise))
                return apply("ite", self.holds(bit, at), *cases)
            case SayNumber(value, family):
                return f"(and (|is a {family}| {there}) (= (|number {family}| {there}) {self.value(value, at)}))"
            case Say() | Anything():
                return self.answer_cases(answer, at, str, lambda said: word(said, there))

    def picked(self, pick: Pick, name: str = "") -> str:
        """Declares, once, the function from a position to the position that its head picks, and returns its name."""
        if pick not in self.functions:
            name = self._declare(pick, name)
            here = f"({name} k)"
            there = apply("and", f"(<= 2 {here} k)", self._matches(pick, here))
            self.lines.append(f"(axiom {name} {each('k', f'(or (= {here} 1) {there})', here)})")
            candidate = apply("and", "(<= 2 j k)", self._matches(pick, "j"))
            order = f"({'<=' if pick.last else '>='} j {here})"
            formula = f"(=> {candidate} (and (not (= {here} 1)) {order}))"
            self.lines.append(f"(axiom {name}-all {each('k j', formula)})")
        return self.functions[pick]

    def define(self, name: str, of: Term) -> str:
        """Declares a function of the position that equals this term, once, and returns its name."""
        atom = Named(name, of)
        if atom not in self.functions:
            function = self._declare(atom, name.replace("′", "-before"))
            here, value = f"({function} k)", self.value(of, "k")
            self.lines.append(f"(axiom {function} {each('k', f'(= {here} {value})', here)})")
        return self.functions[atom]

    def following(self, head: Next, name: str = "") -> str:
        """Translates `picked` for a head that looks for the next key."""
        if head not in self.functions:
            pick = Pick(head.matching)
            name = self._declare(head, name)
            here = f"({name} k)"
            key, query = self.value(head.key, here), self.value(head.query, "k")
            candidate = apply("and", "(<= 2 j k)", self._matches(pick, "j"))
            other = self.value(head.key, "j")
            there = apply("and", f"(<= 2 {here} k)", self._matches(pick, here))
            self.lines.append(f"(axiom {name} {each('k', f'(or (= {here} 1) {there})', here)})")
            self.lines.append(f"(axiom {name}-all {each('k j', f'(=> {candidate} (not (= {here} 1)))')})")
            next_one = f"(=> (and {candidate} (= {other} (+ {query} 1))) (and (= {key} (+ {query} 1)) (<= {here} j)))"
            self.lines.append(f"(axiom {name}-next {each('k j', next_one)})")
            largest = f"(or (< {other} {key}) (and (= {other} {key}) (<= {here} j)))"
            none = f"(=> (and {candidate} (not (= {key} (+ {query} 1)))) {largest})"
            self.lines.append(f"(axiom {name}-largest {each('k j', none)})")
        return self.functions[head]

    def closest(self, head: Closest, name: str = "") -> str:
        """Translates `picked` for a head that looks for the match nearest to a number."""
        if head not in self.functions:
            pick = Pick(head.matching)
            name = self._declare(head, name)
            here, scale = f"({name} k)", math.lcm(*(c.denominator for _, c in head.target.items))
            target = self.value(head.target * scale, "k")  # so many times as far, which is whole
            there = apply("and", f"(<= 2 {here} k)", self._matches(pick, here))
            self.lines.append(f"(axiom {name} {each('k', f'(or (= {here} 1) {there})', here)})")
            candidate = apply("and", "(<= 2 j k)", self._matches(pick, "j"))
            far, other = (f"(abs (- (* {scale} {i}) {target}))" for i in (here, "j"))
            nearer = f"(or (< {far} {other}) (and (= {far} {other}) (<= {here} j)))"
            self.lines.append(
                f"(axiom {name}-all {each('k j', f'(=> {candidate} (and (not (= {here} 1)) {nearer}))')})"
            )
        return self.functions[head]

    def count_function(self, count: Count, name: str = "") -> str:
        """Declares, once, the function of x and j that counts the positions 2 … j whose key is x, and returns its name."""
        if count not in self.functions:
            ((key, _),) = count.where.pairs
            name = self._declare(count, name, "Int Int")
            here, one = f"({name} x j)", f"(ite (= {self.value(key, 'j')} x) 1 0)"
            self.lines.append(f"(axiom {name}-1 {each('x', f'(= ({name} x 1) 0)', f'({name} x 1)')})")
            further = f"(=> (>= j 2) (= {here} (+ ({name} x (- j 1)) {one})))"
            self.lines.append(f"(axiom {name}-next {each('x j', further, here)})")
        return self.functions[count]

    def _unfold(self, of: Term) -> Term:
        factors = (
            (c, [a.of if isinstance(a, Named) and a.name in self.unfolded else as_term(a) for a in monomial])
            for monomial, c in of.items
        )
        return sum((math.prod(product, start=as_term(c)) for c, product in factors), start=ZERO)

    def _word(self, word: IsWord) -> str:
        """Returns the predicate that tells where this word stands."""
        return self.functions.get(word) or self._declare(word, f"|is {word.word}|", result="Bool")

    def _matches(self, pick: Pick, j: str) -> str:
        pairs = ((self.value(key, j), self.value(query, "k")) for key, query in pick.matching.pairs)
        return apply("and", *(f"(= {key} {query})" for key, query in pairs))

    def _declare(self, atom: Atom, name: str, arguments: str = "Int", result: str = "Int") -> str:
        if name in self.functions.values() or not name:
            name = f"{name or 'picked'}-{len(self.functions)}"
        self.functions[atom] = name
        self.lines.append(f"(declare-fun {name} ({arguments}) {result})")
        return name

    def _product(self, monomial: tuple[Atom, ...], c: Number, at: str) -> str:
        bits = [self._bit(atom, at) for atom in monomial]
        factors = [number] if (number := _number(c)) != "1" else []  # whether c is 1 may be another answer at each n
        factors += [self._atom(atom, at) for atom, bit in zip(monomial, bits, strict=True) if bit is None]
        conditions = [bit for bit in bits if bit is not None]
        product = apply("*", *factors)
        return apply("ite", apply("and", *conditions), product, "0") if conditions else product

    def _bit(self, atom: Atom, at: str) -> str | None:
        match atom:
            case IsWord():
                return f"({self._word(atom)} {at})"
            case IsNumber(family):
                return f"(|is a {family}| {at})"
            case Equal(of, value):
                return f"(= {self.value(of, at)} {_number(value)})"
            case Above(of):
                return f"(> {self.value(of, at)} 0)"
            case Read(Term((((inner,), c),)), Back(steps)) if _number(c) == "1":
                there = self._bit(inner, f"(- {at} {steps})")
                return there and f"(and (> {at} {steps}) {there})"
            case Read(Term((((inner,), c),)), Pick() as pick) if _number(c) == "1":
                return self._bit(inner, f"({self.picked(pick)} {at})")
        return None

    def _atom(self, atom: Atom, at: str) -> str:
        match atom:
            case Position():
                return at
            case NumberOf(family):
                return f"({f'|number {family}|' if family else 'number'} {at})"
            case Named(name, of):
                return f"({self.define(name, of)} {at})"
            case Read(value, Back(steps)):
                return f"(ite (> {at} {steps}) {self.value(value, f'(- {at} {steps})')} 0)"
            case Read(value, Pick() as pick):
                return self.value(value, f"({self.picked(pick)} {at})")
            case Read(value, Next() as head):
                return self.value(value, f"({self.following(head)} {at})")
            case Read(value, Closest() as head):
                return self.value(value, f"({self.closest(head)} {at})")
            case Count(Matching(((_, query),))):
                return f"({self.count_function(atom)} {self.value(query, at)} {at})"
        raise TypeError(f"no SMT-LIB for {type(atom).__name__}")


def _number(value: Number) -> str:
    """Returns a polynomial of n with whole coefficients."""
    summands = []
    for power, c in parts(value):
        if c.denominator != 1:
            raise ValueError(f"{value} is no whole number")
        digits = str(c.numerator) if c >= 0 else f"(- {-c.numerator})"
        summands.append(apply("*", *([] if c == 1 and power else [digits]), *["n"] * power))
    return apply("+", *summands)
