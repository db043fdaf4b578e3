"""Turing machines: a hybrid and a Linear RNN with searches that write steps, and a chain of thought of configurations."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from constructions.language.terms import Answer, Term
from constructions.models.options import Option, option
from constructions.turing import configurations as space
from constructions.turing import rag
from constructions.turing.base import TuringModel
from constructions.turing.door import MODELS, TuringOptions
from constructions.turing.library import LIBRARY
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format
from verify.algebra.interval import ends, symbol
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import ENDLESS, Dossier, HardInput, OwnSizes, Subject
from verify.dossiers.solved import TRIES, SolvedDossier
from verify.dossiers.turing import configurations, tapes

if TYPE_CHECKING:
    from verify.induction.theory import Theory
    from verify.patterns.texts import Comparison

PLACES = 20  # of one text at which the next word is asked for
WORDS = "after up to n steps, each word is the machine's"


@dataclass(frozen=True)
class Turing(TuringOptions, SolvedDossier):
    """A model on one machine."""

    construction: str = "turing"

    least = 1
    bits_of_bits = 5
    judged_by_runs = False
    is_stepwise = True
    named_sums = True

    @property
    def solver(self) -> TuringModel:
        return MODELS[self.model].with_options(self)

    def task(self, subject: Subject) -> Any:
        """Returns what it is wired for. Raises ValueError."""
        return self.solver.any_task(subject.n)

    @property
    def scope(self) -> tuple[str, ...]:
        """The machine's name in the library, else its rules."""
        return (next((named.name for named in LIBRARY if str(named.machine) == self.machine), self.machine),)

    # Inputs

    def tried(self, subject: Subject) -> Iterable[int]:
        return [subject.n]

    def text_of(self, given: int) -> str:
        return f"the word {self.tape or 'that is empty'}"


@dataclass(frozen=True)
class OnTape(Turing):
    """A model that writes the machine's steps. Its texts may visit as many cells as they have steps."""

    @classmethod
    def items(cls, model: str | None = None) -> Mapping[str, Option]:
        items = super().items(model)
        return items if model is None else {name: one for name, one in items.items() if name != "cells"}

    stored_in = tuple(Discipline)
    is_accepted = is_stored_above = True
    in_cases: ClassVar[Sequence[Discipline]] = (Discipline.FUSED,)

    def texts(self, subject: Subject) -> TokenAutomaton:
        return self.texts_between(subject, *ends(subject.n))

    def texts_between(self, subject: Subject, low: int, high: int) -> TokenAutomaton:
        n: Any = symbol(low, high) if low < high else low
        task = self.task(replace(subject, n=n))
        texts = tapes.turing(task, self.model, rag.tape_search(frozenset(subject.printed)), (low, high))
        if low < high and n.oracle.high != high:
            raise TypeError(
                f"the texts ask of n what the builder has not: n = {low} … {high} is cut at {n.oracle.high}"
            )
        return texts

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        from verify.dossiers.turing import steps as machines

        return machines.definition(self.task(subject), self.model, label)

    def compared_texts(self, subject: Subject, automaton: TokenAutomaton) -> TokenAutomaton:
        return tapes.copied(automaton, len(self.tape))

    def hard_inputs(self, subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterator[HardInput]:
        """Yields random texts, with the answers of these weights' ideal model."""
        automaton, ideal = self.texts(subject), IdealModel(wired.model)
        for _ in range(-(-count * TRIES // PLACES)):
            tokens = walk(automaton, wired, self.families(subject), rng)
            _, following = ideal.run(tokens)
            for end in rng.sample(range(1, len(tokens) + 1), min(PLACES, len(tokens))):
                text = " ".join(wired.vocabulary[token] for token in tokens[:end])
                yield HardInput(text, tuple(tokens[:end]), (following[end - 1],))

    def theory(self) -> Theory:
        from verify.dossiers.turing.lemmas import machine

        return machine.theory(self.rules, self.model)


@dataclass(frozen=True)
class TapeHybridDossier(OnTape):
    """A hybrid whose head finds what was written in a cell last."""

    model: str = "hybrid"

    conclusion = "words, each after those before, are the machine's run"
    sentence = WORDS


@dataclass(frozen=True)
class TapeSearcherDossier(OnTape):
    """A Linear RNN that searches for what was written in a cell last."""

    model: str = "rag"

    in_cases = tuple(Discipline)
    sentence = f"{WORDS}, or of the search that is defined"
    conclusion = "words, if the searches find what is defined, are the machine's run"
    defines_prints = False  # print spells words of a search anew

    def searches(self, subject: Subject) -> Mapping[str, Comparison]:
        from verify.dossiers.turing.searches import of_tape, of_word

        word = bool(self.tape)
        cells = {"a cell": of_tape(word), "a cell left of cell 0": of_tape(word, negative=True)}
        return {**cells, "a place of the word": of_word(word)}


@dataclass(frozen=True)
class OfThoughts(Turing):
    """A Linear RNN that writes configurations on a tape that turns around. every_space: of any number of cells."""

    model: str = "cot"
    all_cells: bool = option(False, "every number of cells, each for any run that ends")

    one_n = "its weights are those of --cells, for any number of steps"
    sentence = "after any configurations of a run's form, each word is that of the machine's next one"
    conclusion = "configurations, each after those before, are the machine's run on any number of cells"

    def take(self, values: Mapping[str, Any], *, files: bool = False) -> Self:
        own = super().take(values, files=files)
        if own.cells and own.all_cells:
            raise ValueError(f"--all-cells is for every number of cells: leave out --cells {own.cells}")
        if own.cells:  # more than can be wired are refused before any number is made of them
            space.TextTask(own.rules, 1, own.tape, own.cells)
        return own

    def task(self, subject: Subject) -> space.AnyTextTask:
        task: space.AnyTextTask = (self.solver.any_task if self.all_cells else self.solver.task)(subject.n)
        return task

    def read(self, document: Mapping[str, Any]) -> Self:
        if not isinstance(document.get("cells"), list):
            return super().read(document)
        if (document["cells"], document["n"]) != (["1", None], None):
            raise ValueError("every number of cells is of a machine as cot, from 1 on, without n")
        return replace(super().read({**document, "cells": None}), all_cells=True)

    def format(self, subject: Subject) -> Format:
        super().format(subject)  # which refuses a precision that is none
        self.task(subject)  # and this one a space that cannot be wired
        return self.solver.format(subject.n, subject.precision_bits, subject.discipline)

    def wired(self, subject: Subject, listed: int | None = None, *, forced: bool = False) -> Wired:
        """Builds the matrices. Words do not depend on n; weights are those of the cells, for any number of steps."""
        n = 1 if self.all_cells else subject.n
        return self.solver.build(n, subject.precision_bits, printed=subject.printed, discipline=subject.discipline)

    def texts(self, subject: Subject) -> TokenAutomaton:
        return configurations.turing(self.task(subject))

    def definition(self, subject: Subject, label: Label) -> Answer | None:
        from verify.dossiers.turing import turning

        return turning.definition(self.task(subject), label)

    def invariant_terms(self, subject: Subject) -> tuple[Term, ...]:
        from verify.dossiers.turing import turning

        return (turning.leaving(space.Code(self.rules)),)

    def compared_texts(self, subject: Subject, automaton: TokenAutomaton) -> TokenAutomaton:
        return configurations.spaced(automaton, self.task(subject).cells)

    def hard_inputs(self, subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterator[HardInput]:
        """Runs on any words that the space can hold."""
        task, solver = self.task(subject), self.solver
        symbols = [str(symbol) for symbol in range(solver.machine.symbols)]
        for _ in range(count * TRIES):
            word = "".join(rng.choices(symbols, k=rng.randint(0, task.cells)))
            request = replace(solver, tape=word, cells=task.cells).request(wired, subject.n)
            yield HardInput(
                f"the word {word or 'that is empty'}", tuple(request.prompt), tuple(map(int, request.guess))
            )

    def theory(self) -> Theory:
        from verify.dossiers.turing.lemmas import turning

        return turning.theory(self.rules)

    @property
    def invariants(self) -> Mapping[str, Callable[[], tuple[Theory, Sequence[str]]]]:
        return {"the digit in front of the queue": lambda: (self.theory(), ["queue"])}

    # Sizes

    @property
    def own_sizes(self) -> OwnSizes | None:
        return OwnSizes("cells", self._on_cells, configurations.passes("m")) if self.all_cells else None

    def is_followed_above(self, discipline: Discipline, *, theorem: bool) -> bool:
        return False

    def _on_cells(self, cells: int) -> tuple[Dossier, int]:
        """Returns the model on so many cells m, with any word, and b^m steps: as many as there are rows of m digits."""
        return replace(self, cells=cells, tape=""), 1 << space.Code(self.rules).bits * cells


def every_cells(subject: Subject) -> Subject:
    """Returns a subject for every number of cells."""
    return replace(subject.with_options(all_cells=True), n=1, last=ENDLESS)


def walk(automaton: TokenAutomaton, wired: Wired, families: Sequence[Family], rng: random.Random) -> list[int]:
    """Returns a text of the language of a Turing machine, with any numbers."""
    first, zero = 0, dict[str, int]()  # the token of each family's number 0, if it had one
    for family in families:
        zero[family.name] = first - family.low
        first += len(family)
    state, tokens = 0, list[int]()
    while True:
        here = automaton.states[state]
        low, high = automaton.range(here.numbers[0])[0], automaton.range(here.numbers[1])[1]
        number = rng.choice((low, high, rng.randint(low, high)))
        tokens.append(wired.token[here.word] if here.word else zero[here.family] + number)
        at = len(tokens) + 1
        following = [
            i
            for i, one in enumerate(automaton.states)
            if state in one.after and automaton.range(one.low)[0] <= at <= automaton.range(one.high)[1]
        ]
        if not following:
            return tokens
        state = rng.choice(following)


DOSSIERS = (OfThoughts(), TapeSearcherDossier(), TapeHybridDossier())
