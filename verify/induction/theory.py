"""Lemmas in SMT-LIB, each with what it rests on. A solver decides whether it follows; who wrote it is not trusted.

A lemma has the suppositions of all that it rests on. In an induction each invariant is shown at the start, from it alone; after a
step, in each case, from the invariants before it and that case alone; and that one of these cases is met where the run goes on.
What is concluded rests on these invariants and on cases that it names, not on a start or on a step.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import z3

EFFORT = 20_000_000  # for a lemma, in units of z3, the same on every machine; the dearest takes a twelfth of it
INTERRUPTED = "interrupted from keyboard"  # what z3 says where SIGINT came
DECLARING = ("declare-const", "declare-fun", "define-fun")  # what they say supposes nothing
TOKEN = re.compile(r";[^\n]*|\|[^|]*\||[()]|[^\s()|;]+")

Expression: TypeAlias = "str | list[Expression]"


def text_of(name: str, package: str) -> str:
    """Returns the text NAME.smt2 in a package."""
    return resources.files(package).joinpath(f"{name}.smt2").read_text(encoding="utf-8")


def read(text: str) -> list[Expression]:
    """Returns the expressions of a text; a comment goes from ; to the end of its line. Raises ValueError for brackets that do
    not match.
    """
    stack: list[list[Expression]] = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            if not stack:
                raise ValueError("a bracket is closed that was not opened")
            stack[-1].append(inner)
        elif not token.startswith(";"):
            stack[-1].append(token)
    if len(stack) > 1:
        raise ValueError(f"{len(stack) - 1} brackets are not closed")
    return stack[0]


def expression_text(expression: Expression) -> str:
    """Writes one expression as SMT-LIB, so that `read` reads it back."""
    return expression if isinstance(expression, str) else f"({' '.join(map(expression_text, expression))})"


def replaced(expression: Expression, new: Mapping[str, Expression], patterns: bool = True) -> Expression:
    """Replaces some symbols by other expressions. patterns: in patterns too, which only say where to look for instances."""
    match expression:
        case str():
            return new.get(expression, expression)
        case ["!", formula, *rest] if not patterns:
            return ["!", replaced(formula, new, patterns), *rest]
    return [replaced(part, new, patterns) for part in expression]


def symbols(expression: Expression) -> set[str]:
    """Returns all that stand in it."""
    if isinstance(expression, str):
        return {expression}
    return set[str]().union(*map(symbols, expression))


@dataclass(frozen=True)
class Fact:
    """supposes: what it holds below. uses: what it follows from; None if it is not to be shown. context: declarations before it."""

    formula: Expression
    supposes: frozenset[str]
    uses: tuple[str, ...] | None
    context: int

    @cached_property
    def text(self) -> str:
        """The formula in SMT-LIB."""
        return expression_text(self.formula)


@dataclass
class Theory:
    """Facts by name, and declarations and macros, in the order of the text. Raises ValueError if the text is none of a theory.

    parts: texts that stand where their name does, in brackets. runs: whose runs `verify.induction.along` looks at, and of what.
    """

    parts: Mapping[str, str]
    declarations: list[Expression] = field(default_factory=list)
    defined: dict[str, Expression] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    invariants: dict[str, Expression] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    more: dict[tuple[str, str], list[Expression]] = field(default_factory=dict)
    tracked: dict[str, list[Expression]] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    runs: tuple[Any, ...] = ()
    texts: list[str] = field(default_factory=list)  # of the first declarations, as they are written

    def add(self, text: str) -> None:
        """Adds a line of search.smt2; anything but a lemma is a declaration or a macro."""
        for command in read(text):
            match command:
                case [str(hook)] if hook in self.parts:
                    self.add(self.parts[hook])
                case ["axiom", str(name), formula]:
                    self._state(name, formula, frozenset(), None)
                case ["suppose", str(name), formula]:
                    self._state(name, formula, frozenset([name]), None)
                case ["invariant", str(name), formula]:
                    if self.kept:
                        raise ValueError(f"{name} is no invariant: {self.kept[0]} does not show it")
                    self._state(name, formula, frozenset([name]), None)
                    self.invariants[name] = formula
                case ["lemma", str(name), [*uses], formula]:
                    self._lemma(name, formula, uses)
                case ["induction", str(name), [str(variable), start], [*others], formula, [*pattern], [*uses]]:
                    self._induction(name, variable, start, others, formula, pattern, uses)
                case ["also", str(case), str(invariant), *facts]:
                    if invariant not in self.invariants or case in self.kept:
                        raise ValueError(f"{invariant} is no invariant that {case} has yet to show")
                    self.more[case, invariant] = facts
                case ["tracked", str(case), *new]:
                    if case in self.kept:
                        raise ValueError(
                            f"{case} has shown the invariants without {', '.join(map(expression_text, new))}"
                        )
                    self.tracked[case] = new
                case ["starts" | "kept" as rule, str(case), [*new], [*always], *own]:
                    self._keep(case, rule == "kept", new, always, own)
                case ["cases", str(name), str(goes_on), [*cases], [*uses]]:
                    self._cases(name, goes_on, cases, uses)
                case ["concludes", str(name), [*cases]]:
                    self._concludes(name, set(map(expression_text, cases)))
                case ["define", str(name), str(sort), value]:
                    self.declarations.append(["declare-const", name, sort])
                    self._state(f"{name}-is", ["=", name, value], frozenset(), None)
                    self.defined[name] = value
                case [str(keyword), *_] if keyword in DECLARING:
                    self.declarations.append(command)
                case _:
                    raise ValueError(f"no part of a theory: {expression_text(command)}")

    @property
    def declared(self) -> list[str]:
        """The declarations in SMT-LIB."""
        self.texts += map(expression_text, self.declarations[len(self.texts) :])
        return self.texts

    @property
    def lemmas(self) -> list[str]:
        """The names of those that are to be shown."""
        return [name for name, fact in self.facts.items() if fact.uses is not None]

    @property
    def axioms(self) -> list[str]:
        """The names of those that are neither shown nor supposed."""
        return [
            name
            for name, fact in self.facts.items()
            if fact.uses is None and not fact.supposes and f"{name}/start" not in self.facts
        ]

    def of_axioms(self, least: int | None = None) -> str:
        """Returns what z3 says of the axioms alone: unsat if they contradict each other, unknown where it finds neither.

        least: of each declared number. Axioms that bound n from above are true along small runs.
        """
        lines = [*self.declared, *(f"(assert {self.facts[name].text})" for name in self.axioms)]
        for declaration in self.declarations if least is not None else ():
            match declaration:
                case ["declare-const", str(name), "Int"] if name not in self.defined:
                    lines.append(f"(assert (>= {name} {least}))")
        return _answer("\n".join(lines), EFFORT // 100, models=False)

    def closure(self, names: Iterable[str]) -> list[str]:
        """Returns these facts and all facts that they rest on, in the order of the text."""
        closure, pending = set[str](), list(names)
        while pending:
            name = pending.pop()
            if name not in closure:
                closure.add(name)
                pending += self.facts[name].uses or (n for n in (f"{name}/start", f"{name}/step") if n in self.facts)
        return [name for name in self.facts if name in closure]

    def digest(self, lemmas: Iterable[str]) -> str:
        """Returns a digest of all facts and runs, and of which lemmas are to be shown."""
        facts = [
            (name, fact.formula, fact.uses, sorted(fact.supposes), fact.context) for name, fact in self.facts.items()
        ]
        said = repr((self.declarations, facts, self.defined, self.invariants, self.runs, sorted(lemmas)))
        return hashlib.sha256(said.encode()).hexdigest()

    def question(self, name: str) -> str:
        """Returns an SMT-LIB script, unsatisfiable if and only if the lemma follows from what it uses."""
        fact = self.facts[name]
        lines = [*self.declared[: fact.context]]
        lines += [f"(assert {self.facts[used].text}) ; {used}" for used in fact.uses or ()]
        return "\n".join([*lines, f"(assert (not {fact.text})) ; {name}", "(check-sat)", ""])

    def doubt(self, name: str, effort: int = EFFORT) -> str:
        """Returns why it is not seen that the lemma follows; nothing if it is seen. From facts that contradict each other
        nothing does.
        """
        answer = _answer(self.question(name), effort)
        if answer != "unsat":
            return f"z3 says {answer}"
        fact = self.facts[name]
        lines = [*self.declared[: fact.context]]
        lines += [f"(assert {used.text})" for used in map(self.facts.__getitem__, fact.uses or ()) if not used.supposes]
        contradict = _answer("\n".join(lines), EFFORT // 100, models=False) == "unsat"
        return "what it uses contradicts itself" if contradict else ""

    def _state(self, name: str, formula: Expression, supposes: frozenset[str], uses: tuple[str, ...] | None) -> None:
        if name in self.facts:
            raise ValueError(f"two facts are called {name}")
        self.facts[name] = Fact(formula, supposes, uses, len(self.declarations))

    def _lemma(self, name: str, formula: Expression, uses: Iterable[Expression]) -> None:
        used = tuple(map(expression_text, uses))
        if unknown := [fact for fact in used if fact not in self.facts]:
            raise ValueError(f"{name} uses what is not stated before it: {', '.join(unknown)}")
        supposes = frozenset[str]().union(*(self.facts[fact].supposes for fact in used))
        self._state(name, formula, supposes, used)

    def _induction(
        self,
        name: str,
        variable: str,
        start: Expression,
        others: list[Expression],
        formula: Expression,
        pattern: list[Expression],
        uses: list[Expression],
    ) -> None:
        """Returns the formula for all integers from `start` on, as it is shown of that one and from each to the next."""

        def of_all(variables: list[Expression], at: Expression, said: Expression) -> Expression:
            shown: Expression = ["!", said, ":pattern", pattern]
            every: Expression = ["forall", [[each, "Int"] for each in variables], shown] if variables else said
            return replaced(every, {variable: at})

        later: Expression = [">=", variable, start]
        following: Expression = ["+", variable, "1"]
        self._lemma(f"{name}/start", of_all(others, start, formula), uses)
        step: Expression = ["=>", ["and", later, of_all(others, variable, formula)], of_all(others, following, formula)]
        self._lemma(f"{name}/step", ["forall", [[variable, "Int"]], step], uses)
        below = self.facts[f"{name}/start"].supposes | self.facts[f"{name}/step"].supposes
        self._state(name, of_all([variable, *others], variable, ["=>", later, formula]), below, None)

    def _keep(
        self, case: str, after: bool, new: list[Expression], always: list[Expression], own: list[Expression]
    ) -> None:
        """Adds every invariant with new symbols in place, from this case alone, and if `after` a step from invariants before it."""
        self.kept.append(case)
        self.starts += [] if after else [case]
        others = {
            expression_text(symbol): expression
            for symbol, expression in map(_pair, [*new, *self.tracked.get(case, [])])
        }
        uses = {expression_text(entry[0]): entry[1:] for entry in own if isinstance(entry, list)}
        if unknown := uses.keys() - self.invariants.keys():
            raise ValueError(f"{case}: no invariants: {', '.join(sorted(unknown))}")
        for invariant, formula in self.invariants.items():
            if hidden := others.keys() & self._below(symbols(formula)):
                raise ValueError(f"{invariant} has a macro that hides {', '.join(sorted(hidden))}")
            name = f"{invariant}/{case}"
            used = [*always, *uses.get(invariant, []), *self.more.get((case, invariant), [])]
            self._lemma(name, replaced(formula, others, patterns=False), used)
            self._restrict(name, {case, *(self.invariants if after else ())})

    def _cases(self, name: str, goes_on: str, cases: list[Expression], uses: list[Expression]) -> None:
        """Adds a lemma that where the run goes on, one of these cases is met, in each of which the invariants were kept."""
        names = list(map(expression_text, cases))
        if missing := [case for case in names if case not in self.kept]:
            raise ValueError(f"the invariants are not kept in the case {', '.join(missing)}")
        self._lemma(name, ["or", *(self.facts[case].formula for case in names)], [*uses, goes_on])
        self._restrict(name, {goes_on, *self.invariants})
        self.covered |= set(names)

    def _concludes(self, name: str, cases: set[str]) -> None:
        """Raises an error unless the lemma rests on the invariants and these cases alone, and an induction shows those: at the
        start, and after each step, of which there is one, or each is among the cases of which one is met.
        """
        steps = set(self.kept) - set(self.starts)
        if not self.starts or not steps or (len(steps) > 1 and steps - self.covered):
            raise ValueError(f"{name} rests on invariants that no induction shows")
        if other := cases & {*self.kept, *self.invariants}:
            raise ValueError(f"{name} is no conclusion where it supposes {', '.join(sorted(other))}")
        self._restrict(name, {*cases, *self.invariants})

    def _restrict(self, name: str, allowed: set[str]) -> None:
        if other := self.facts[name].supposes - allowed:
            raise ValueError(f"{name} supposes more than it may: {', '.join(sorted(other))}")

    def _below(self, names: Iterable[str]) -> set[str]:
        """Returns what stands in macros of these names, and in theirs, other than their parameters."""
        closure: set[str] = set()
        for declaration in self.declarations:
            match declaration:
                case ["define-fun", str(name), [*parameters], _, body] if name in names:
                    inner = symbols(body) - {expression_text(_pair(parameter)[0]) for parameter in parameters}
                    closure |= inner | self._below(inner)
                case ["declare-const", str(name), _] if name in names and name in self.defined:
                    inner = symbols(self.defined[name])
                    closure |= inner | self._below(inner)
        return closure


@lru_cache(maxsize=1024)  # lemmas are asked for alone, and with those that rest on them
def _answer(script: str, effort: int, models: bool = True) -> str:
    """Returns z3's answer to a script: sat, unsat or unknown. models: whether z3 also looks for a model by instances."""
    import z3

    # In a context of its own nothing is left of other questions. What `Solver` rewrites before it begins has no bound of effort.
    solver = (z3.Solver if models else z3.SimpleSolver)(ctx=z3.Context())
    solver.set("rlimit", effort)
    solver.set("mbqi", models)
    solver.from_string(script)
    return ask(solver)


def ask(solver: z3.Solver) -> str:
    """Returns z3's answer: sat, unsat or unknown. An interrupt, which z3 reports as unknown, ends the run."""
    answer = str(solver.check())
    if answer == "unknown" and solver.reason_unknown() == INTERRUPTED:
        raise KeyboardInterrupt
    return answer


def _pair(expression: Expression) -> tuple[Expression, Expression]:
    match expression:
        case [first, second]:
            return first, second
    raise ValueError(f"{expression_text(expression)} is no pair")
