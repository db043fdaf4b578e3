"""A dossier of a model that has a solver: its inputs are asked and judged as commands do it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.certificates.ideal import decode
from verify.dossiers.dossier import ENDLESS, FEW, LEAST, About, Dossier, HardInput, Subject, pieces
from verify.rounding.model import ExactModel

TRIES = 20  # drawn for each input that is wanted: at small n there are few different ones
LONGEST = 2000  # tokens of an input with its answer
LARGEST_RUN = 64  # n
MOST_SCORES = 1_200_000  # of a head, in all runs: half a minute
SHOWN = 160  # characters of what is wrong with a run
TOP, TOP_OF_LEAN = 1 << 63, 1 << 64  # of documents without cases; of lean


@dataclass(frozen=True)
class SolvedDossier(Dossier):
    """A subclass says which inputs there are; the solver asks them, and says what must follow."""

    stored_in: ClassVar[Sequence[Discipline]] = ()
    """In which disciplines every n has documents."""
    is_accepted: ClassVar[bool] = False
    """Whether the small checker has accepted the intervals of rounding: then they go up to TOP, or to where it accepts cases."""
    in_cases: ClassVar[Sequence[Discipline]] = ()
    """In which disciplines runs have the small checker accept stored certificates of n from `first_above` on."""
    is_stored_above: ClassVar[bool] = False
    """Whether the cases of every n from `first_above` on are stored; the program's intervals end before them."""

    def families(self, subject: Subject) -> Sequence[Family]:
        return self.solver.families(subject.n, frozenset(subject.printed))

    @property
    def findings(self) -> Sequence[Finding]:
        return self.solver.construction.findings

    def exact_model(self, subject: Subject) -> ExactModel:
        # Of an n that grows this is asked first: stored theorems list inequalities in the order of questions.
        min(subject.n, FEW)
        return super().exact_model(subject)

    @property
    def stored(self) -> Iterable[tuple[Subject, About]]:
        cases = self.first_above - 1
        for discipline in self.stored_in:
            until = TOP if self.is_accepted and discipline not in self.in_cases else cases
            yield from documents(self, until, 0, [discipline])
        yield from documents(self, 0, cases * self.is_stored_above, ())
        if self.is_stored_above:
            others = [discipline for discipline in self.stored_in if discipline not in self.in_cases]
            yield from documents(self, ENDLESS, ENDLESS, others, self.first_above)

    @property
    def cases(self) -> Iterable[Subject]:
        some = [discipline for discipline in self.stored_in if discipline in self.in_cases]
        return [Subject(self, self.first_above, last=ENDLESS, discipline=discipline) for discipline in some]

    # Which inputs

    def candidates(self, subject: Subject, rng: random.Random, count: int) -> Iterable[Any]:
        """Returns the extreme inputs of a task where n has them, then so many that are drawn."""
        raise NotImplementedError

    def every(self, subject: Subject) -> Iterable[Any]:
        """Returns every input of a small n."""
        raise NotImplementedError

    def tried(self, subject: Subject) -> Iterable[Any]:
        """Yields the inputs whose runs are tried."""
        raise NotImplementedError

    def extreme(self, subject: Subject) -> Iterable[tuple[str, Any]]:
        """Returns the hard inputs by which a precision is judged, each with its name."""
        return ()

    @property
    def least_hard(self) -> int | None:
        return None

    def questions(self, subject: Subject) -> Iterable[tuple[Sequence[str], str]]:
        return ()

    def reads(self, given: Any) -> bool:
        """Returns whether the model is wired for inputs of this kind."""
        return True

    def has_one_answer(self, subject: Subject, given: Any) -> bool:
        """Returns whether one chain of thought alone is right for this input."""
        return True

    def text_of(self, given: Any) -> str:
        """Returns an input in words."""
        raise NotImplementedError

    def said_wrongly(self, given: Any, run: Any, answer: Any) -> str:
        """Returns what is wrong with an answer that was read from a run; "" if nothing is."""
        return str(self.solver.judge(given, run, answer))

    # What they are asked as

    def hard_inputs(self, subject: Subject, wired: Wired, count: int, rng: random.Random) -> Iterable[HardInput]:
        solver = self.solver
        for given in self.candidates(subject, rng, count * TRIES):
            if not self.has_one_answer(subject, given):
                continue
            request = solver.request(wired, given)
            if len(request.prompt) + len(request.guess) <= LONGEST:
                yield from pieces(wired, self.text_of(given), request.prompt, request.guess)

    def extreme_inputs(self, subject: Subject, wired: Wired) -> Iterable[HardInput]:
        for name, given in self.extreme(subject):
            if self.reads(given) and self.has_one_answer(subject, given):
                request = self.solver.request(wired, given)
                yield HardInput(name, tuple(request.prompt), tuple(int(token) for token in request.guess))

    def every_text(self, subject: Subject, wired: Wired) -> Iterator[Sequence[HardInput]]:
        for given in self.every(subject):
            request = self.solver.request(wired, given)
            yield [*pieces(wired, self.text_of(given), request.prompt, request.guess)]

    def wrong_run(self, subject: Subject) -> str | None:
        if subject.n > LARGEST_RUN:
            return None
        wired, solver, scores = self.wired(subject), self.solver, 0
        for given in self.tried(subject):
            on = f"on {self.text_of(given)}"
            try:
                run = solver.request(wired, given).run(decode)
                answer = solver.read(run)
            except ValueError as error:  # what it wrote is no search, or no run of a machine
                return f"{on}: {error}"
            if wrong := self.said_wrongly(given, run, answer):
                return f"{on}: {wrong if len(wrong) <= SHOWN else wrong[:SHOWN] + ' …'}"
            scores += (len(run.request.prompt) + len(run.tokens)) ** 2
            if scores > MOST_SCORES:
                return None
        return None


def documents(
    dossier: Dossier,
    rounding: int,
    program: int = 0,
    disciplines: Sequence[Discipline] = tuple(Discipline),
    first: int = LEAST,
) -> Iterator[tuple[Subject, About]]:
    """Yields rounding in these disciplines and the program, each of every n up to its top; no program if that is 0."""
    for discipline in disciplines:
        yield Subject(dossier, first, last=rounding, discipline=discipline), "rounding"
    if program:
        yield Subject(dossier, first, last=program), "program"
