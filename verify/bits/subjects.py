"""Which models are looked at: wired for any n at any p, with hard inputs and what has to be written about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from constructions.istree.graphs import is_tree
from constructions.istree.models import MODELS as GRAPH_MODELS
from constructions.models.solver import Request
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import printed_room
from constructions.retrieval.task import Question
from constructions.wiring.part import printed_precision
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.certificates import building
from verify.certificates.building import RETRIEVERS
from verify.certificates.document import certificate
from verify.inputs import hard_graphs, hard_questions

VARIANTS = ("printed", "repaired", "lean")
LONGEST = 2000  # tokens of an input and of what is looked at of its answer
PER_VERTEX = 4  # where that is more: a prompt of n − 1 edges has 3 tokens a vertex
LEAST_N: Mapping[str, int] = {"istree": hard_graphs.LEAST, **dict.fromkeys(RETRIEVERS, hard_questions.LEAST)}


@dataclass(frozen=True)
class Case:
    """A hard input. tokens: it and what has to follow, but for the last. answer: what has to follow, or how that begins."""

    name: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    @property
    def tokens(self) -> tuple[int, ...]:
        """What is fed in: if each argmax from the prompt's end on is the next token, decoding gives just the answer.

        Where one is another, decoding goes wrong there, whatever should follow.
        """
        return (*self.prompt, *self.answer[:-1])

    def first_other(self, argmax: Sequence[int]) -> int | None:
        """The first place of the answer at which another token comes; None if there is none. argmax: at each of `tokens`."""
        said = argmax[len(self.prompt) - 1 :]
        return next((i for i, (one, other) in enumerate(zip(self.answer, said, strict=True)) if one != other), None)


@dataclass(frozen=True)
class Subject:
    """A Transformer of a construction in one variant. layout: of a graph's tokens."""

    construction: str
    variant: str = "repaired"
    discipline: Discipline = Discipline.FUSED
    layout: str = "paper"

    @cached_property
    def _solver(self) -> Any:
        if self.construction == "istree":
            return GRAPH_MODELS["transformer", self.layout].of(self.variant)
        return RETRIEVERS[self.construction]

    @property
    def printed(self) -> tuple[str, ...]:
        """The findings that are put back to print."""
        findings = building.findings_of(self.construction)
        return tuple(finding.id for finding in findings) if self.variant == "printed" else ()

    def wired_for(self, n: int) -> int:
        """The p that the model is wired for: that of its own formula, or of the print's."""
        as_printed = SCORE_RANGE.id in self.printed
        if self.construction != "istree":
            least = int(self._solver.least_precision(n, self.discipline, query_length=self._query_length(n)))
            return max(least, printed_room(n)) if as_printed else least
        if as_printed:
            return printed_precision(n)
        return int(self.build(n).arithmetic.format.significand_bits + 1)

    def build(self, n: int, precision_bits: int | None = None) -> Wired:
        """The model for n, its constants derived for this p; below the least, weights that do not fit are rounded."""
        options: dict[str, Any] = {} if precision_bits is None else {"forced": True}
        if self.construction != "istree":
            options["query_length"] = self._query_length(n)
        wired: Wired = self._solver.build(
            n, precision_bits, printed=self.printed, discipline=self.discipline, **options
        )
        return wired

    def cases(self, n: int, longest: int | None = None) -> list[Case]:
        """The hard inputs of this size, the shortest first, as tokens of the model for n.

        longest: tokens of each (default: LONGEST, or 4 a vertex); an answer is cut there, and a prompt as long as that is left out.
        Of the variant printed, trees alone: for another graph the theorem allows more than one chain of thought.
        """
        wired, longest = self.build(n), longest or max(LONGEST, PER_VERTEX * n)
        found = []
        for name, request in self._requests(wired):
            answer = tuple(int(token) for token in request.guess[: max(0, longest - len(request.prompt))])
            if answer:
                found.append(Case(name, tuple(request.prompt), answer))
        return sorted(found, key=lambda case: len(case.tokens))

    def certified(self, n: int, precision_bits: int) -> bool:
        """Whether the static checker certifies all inputs at this p."""
        asked = None if self.construction == "istree" else self._query_length(n)
        subject = building.Subject(
            self.construction,
            n,
            precision_bits=precision_bits,
            discipline=self.discipline,
            printed=self.printed,
            query_length=asked,
            layout="eos" if self.layout == "eos" else "paper",
            lean=self.variant == "lean",
        )
        return bool(certificate(subject)["verdict"] == "certified")

    def _query_length(self, n: int) -> int:
        """How long the queries of the hard questions are: the same for all of one task and one n."""
        first = hard_questions.hard_questions(self.construction, n)[0]
        return len(first.asked(self.construction)[1])

    def _requests(self, wired: Wired) -> list[tuple[str, Request]]:
        solver, n = self._solver, wired.n
        if self.construction == "istree":
            graphs = [(hard.family, hard.graph()) for hard in hard_graphs.hard_graphs(n)]
            return [(name, solver.request(wired, g)) for name, g in graphs if not self.printed or is_tree(g)]
        asking = replace(solver, query_length=self._query_length(n))
        questions = hard_questions.hard_questions(self.construction, n)
        return [(hard.name, asking.request(wired, Question(*hard.asked(self.construction)))) for hard in questions]


def variants_of(construction: str) -> tuple[str, ...]:
    """Those that there are, in the order of `VARIANTS`."""
    return VARIANTS if construction == "istree" else VARIANTS[:2]
