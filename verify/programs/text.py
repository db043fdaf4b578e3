"""Terms as people read them: k is the position that speaks, j one that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from constructions.language.terms import (
    ONE,
    POSITION,
    ZERO,
    Above,
    Answer,
    Anything,
    At,
    Atom,
    Back,
    Best,
    Closest,
    Comb,
    Count,
    Digits,
    Equal,
    If,
    IsNumber,
    IsWord,
    Matching,
    Monomial,
    Named,
    Nearest,
    Next,
    NumberOf,
    Pick,
    Position,
    Positive,
    Read,
    Reciprocal,
    Say,
    SayNumber,
    Selection,
    Sum,
    Term,
    as_term,
    term,
)
from verify.algebra.interval import powers_of as powers_of_n
from verify.programs.extraction import ExtractedProgram, Stage
from verify.programs.forms import alone, scaled, unresolved
from verify.programs.normal import Normalizer

Token = NumberOf | IsNumber | IsWord
LETTERS = "kjihgfedcba"
SIGNS = "()|\\"  # of regular expressions, and of no other word


@dataclass(frozen=True)
class TermPrinter:
    """Prints terms. names: what some atoms are called, as registers that hold them. heads: whose scores are written elsewhere.

    here: names of terms at k alone.
    """

    names: Mapping[Atom, str] = field(default_factory=dict)
    heads: bool = False
    here: Mapping[Term, str] = field(default_factory=dict)

    def term(self, value: Term, depth: int = 0) -> str:
        """Returns the term at position k; depth: how many reads it stands in."""
        if not depth and len(value.items) > 1 and (name := self.here.get(scaled(value)[0])):
            value = as_term(Named(name, value)) * scaled(value)[1]
        parts = []
        for monomial, c in sorted(value.items, key=lambda item: not item[0]):
            for power, part in powers_of_n(c):
                product = "·".join([*(["n" + _raise_error(power)] if power else []), *self._powers(monomial, depth)])
                number = "" if abs(part) == 1 and product else f"{abs(part)}"
                shown = f"{number}·{product}" if number and product else number or product
                parts.append(("−" if part < 0 else "+", shown))
        if not parts:
            return "0"
        (sign, first), *others = parts
        return ("−" if sign == "−" else "") + first + "".join(f" {sign} {shown}" for sign, shown in others)

    def _powers(self, monomial: Monomial, depth: int) -> list[str]:
        powers = {a: monomial.count(a) for a in monomial}
        return [self._atom(a, depth) + _raise_error(p) for a, p in powers.items()]

    def _atom(self, a: Atom, depth: int) -> str:
        k, j = LETTERS[depth], LETTERS[depth + 1]
        if a in self.names:
            return f"{self.names[a]}[{k}]"
        if not depth and as_term(a) in self.here:
            return f"{self.here[as_term(a)]}[{k}]"
        match a:
            case Position():
                return k
            case NumberOf() | IsNumber() | IsWord():
                return _token(a, k)
            case Named(name):
                return f"{name}[{k}]"
            case Positive(of):
                return f"max(0, {self.term(of, depth)})"
            case Equal() | Above():
                return f"[{self.condition(as_term(a), depth)}]"
            case Reciprocal(of):
                return f"1/({self.term(of, depth)})"
            case Count(where):
                return f"#{{{j} in 2…{k}: {self._matching(where, depth)}}}"
            case Sum(of):
                return f"Σ_{{{j} ≤ {k}}} ({self.term(of, depth + 1)})"
            case Comb(of, steps, sign):
                power = f"({k} − {j})" if steps == 1 else f"(({k} − {j})/{steps})"
                signs = f"(−1)^{power}·" if sign < 0 else ""
                return f"Σ_{{{j} = {k}, {k} − {steps}, …}} {signs}{self._factor(of, depth + 1)}"
            case Digits(of, base, count):
                return f"Σ_{{{k} − {count} < {j} ≤ {k}}} {base}^({k} − {j})·{self._factor(of, depth + 1)}"
            case Read(value, where):
                return self._read(value, where, depth)
        raise TypeError(f"no atom: {a}")

    def _factor(self, value: Term, depth: int) -> str:
        return self.term(value, depth) if alone(value) else f"({self.term(value, depth)})"

    def _read(self, value: Term, where: Selection, depth: int) -> str:
        place = ""
        if isinstance(where, Back):
            place = f"{LETTERS[depth]} − {where.steps}"
        elif isinstance(where, At):
            place = self.term(where.target, depth)
        if place and (a := alone(value)) is not None:
            if isinstance(a, Token):
                return _token(a, place)
            if a in self.names:
                return f"{self.names[a]}[{place}]"
        head = isinstance(where, Best) and self.heads
        at = "" if head else f"{LETTERS[depth + 1]} = "
        return f"({self.term(value, depth + 1)} at {at}{self.chosen(where, depth)})"

    def chosen(self, where: Selection, depth: int = 0) -> str:
        """Says which position is read."""
        k = LETTERS[depth]
        match where:
            case Back(steps):
                return f"{k} − {steps}"
            case At(target):
                return self.term(target, depth)
            case Nearest(target):
                return f"the one of 1…{k} nearest to {self.term(target, depth)}"
            case Pick(matching, last):
                which = "last" if last else "first"
                return f"the {which} of 2…{k} with {self._matching(matching, depth)}, else 1"
            case Closest(matching, target):
                return f"the one of 2…{k} with {self._matching(matching, depth)} nearest to {self.term(target, depth)}, else 1"
            case Next(matching, key, query):
                with_key = f"{self.term(key, depth + 1)} = {self.term(query + 1, depth)}"
                return (
                    f"the one of 2…{k} with {self._matching(matching, depth)} and {with_key}, else with the largest "
                    f"{self.term(key, depth + 1)}, else 1"
                )
            case Best(_, head) if self.heads:
                return f"j of {head}"
            case Best(rows):
                products = (f"({self.term(key, depth + 1)})·({self.term(query, depth)})" for key, query in rows)
                return f"the mean of those in 1…{k} with the largest {' + '.join(products) or '0'}"

    def _matching(self, matching: Matching, depth: int) -> str:
        return " and ".join(
            self.condition(key, depth + 1)
            if query == ONE and _bit(key)
            else f"{self.term(key, depth + 1)} = {self.term(query, depth)}"
            for key, query in matching.pairs
        )

    def condition(self, bit: Term, depth: int = 0) -> str:
        """Returns a bit as what it says."""
        match _bit(bit):
            case Equal(of, value) if all(c > 0 for _, c in of.items):
                return f"{self.term(of, depth)} = {self.term(as_term(value))}"
            case (Equal() | Above()) as a:
                of = a.of - a.value if isinstance(a, Equal) else a.of
                more, less = (term((m, c * sign) for m, c in of.items if c * sign > 0) for sign in (1, -1))
                return f"{self.term(more, depth)} {'=' if isinstance(a, Equal) else '>'} {self.term(less, depth)}"
            case IsWord() | IsNumber() as a:
                return f"token[{LETTERS[depth]}] is {_kind(a)}"
            case Read(value, Back(steps)) if isinstance(token := alone(value), IsWord | IsNumber):
                return f"token[{LETTERS[depth]} − {steps}] is {_kind(token)}"
        return f"{self.term(bit, depth)} = 1"

    def answer(self, answer: Answer) -> str:
        """Returns what is said at position k."""
        match answer:
            case Say(word):
                return _quote(word)
            case Anything():
                return "anything"
            case SayNumber(number, family):
                return f"the {family or 'number'} {self.term(number)}"
            case If(bit, then, otherwise):
                first = f"({self.answer(then)})" if isinstance(then, If) else self.answer(then)
                return f"{first} if {self.condition(bit)}, else {self.answer(otherwise)}"


def _raise_error(power: int) -> str:
    return {1: "", 2: "²"}.get(power, f"^{power}")


def _token(a: Token, at: str) -> str:
    if isinstance(a, NumberOf):
        return f"{a.family or 'number'}[{at}]"
    return f"[token[{at}] is {_kind(a)}]"


def _kind(a: IsNumber | IsWord) -> str:
    return _quote(a.word) if isinstance(a, IsWord) else f"a {a.family or 'number'}"


def _quote(word: str) -> str:
    """Returns a word that is part of a search, in quotation marks."""
    return f"“{word}”" if any(sign in word for sign in SIGNS) else word


def _bit(value: Term) -> Atom | None:
    """Returns the atom that the term is, if it is one that may have only two values."""
    a = alone(value)
    return a if isinstance(a, IsWord | IsNumber | Equal | Above | Read) else None


def told_answer(answer: Answer) -> str:
    """Returns what is said at position k; what is compared and said is written once, as a."""
    if isinstance(answer, If) and isinstance(answer.otherwise, SayNumber):
        shared = answer.otherwise.number.atoms
        if len(shared) == 1:
            (a,) = shared
            if isinstance(a, Read):
                text = TermPrinter({a: "a"}).answer(answer).replace("a[k]", "a")
                return f"{text}, where a = {TermPrinter().term(as_term(a))}"
    return TermPrinter().answer(answer)


@dataclass
class ProgramPrinter:
    """What each sublayer writes. normal: of the state whose terms are told where no rule tells the term of all states.

    names: what the atoms are called that registers hold, times a number; here: the terms that they hold at that state.
    """

    program: ExtractedProgram
    normal: Normalizer | None = None
    names: dict[Atom, str] = field(default_factory=dict)
    here: dict[Term, str] = field(default_factory=dict)

    @cached_property
    def stages(self) -> list[tuple[str, dict[str, str]]]:
        """The registers that each sublayer writes, in words. A term that a register holds already is called by its name."""
        return [(stage.where, self._stage(stage)) for stage in self.program.stages]

    def _stage(self, stage: Stage) -> dict[str, str]:
        everywhere = {i: stage.registers.get(i, ZERO) for i in stage.changed}
        scores = {i: unresolved(value) is not None for i, value in everywhere.items()}
        at = {i: self.normal.term(everywhere[i]) for i in everywhere if scores[i] and self.normal is not None}
        values = {**everywhere, **at}
        written: dict[str, str] = {}
        for best in dict.fromkeys(best for value in values.values() for best in _score(value, stage)):
            written[f"j of {best.where}"] = self.printer.chosen(best)
        printer = replace(self.printer, heads=True)
        for i, value in values.items():
            name, whole = self.program.names[i], scaled(value)[0] if value.items else value
            (a,) = (
                whole.atoms
                if whole.items and whole == term([(m, 1) for m, _ in whole.items[:1] if len(m) == 1])
                else (None,)
            )
            shown = value
            if isinstance(a, Named) and a not in self.names:
                shown = a.of * value.items[0][1]
            where = f"   (k at {self.state})" if i in at else ""
            written[name] = printer.term(shown) + where
            if i in at and not value.is_constant:
                self.here.setdefault(whole, name)
            elif a is not None and not isinstance(a, Token | Position) and not _short(a):
                self.names.setdefault(a, name)
        return written

    @property
    def state(self) -> str:
        """The state there."""
        facts = self.normal.facts if self.normal is not None else self.program.facts
        return str(facts.automaton.states[max(facts.states)].label)

    @property
    def printer(self) -> TermPrinter:
        """One that calls terms by these names."""
        return TermPrinter(dict(self.names), here=dict(self.here))


def _score(value: Term, stage: Stage) -> Iterator[Best]:
    """Yields the heads of this sublayer that the term reads by their scores."""
    for a in sorted(value.atoms, key=lambda atom: atom.order):
        if isinstance(a, Named):
            yield from _score(a.of, stage)
        elif isinstance(a, Read) and isinstance(a.where, Best) and a.where.where in stage.heads:
            yield a.where


def _short(a: Atom) -> bool:
    """Returns whether it is as short as a name."""
    if isinstance(a, Read):
        return isinstance(a.where, Back) and isinstance(alone(a.value), Token)
    return isinstance(a, Equal) and a.of.atoms == {POSITION}
