"""The models that decide IsTree, each as the command line runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from constructions.engines import Respond, no_response
from constructions.istree import hybrid, rag, transformer
from constructions.istree.graphs import LAYOUTS, PAPER, Graph, TokenLayout, expected_answer
from constructions.istree.words import narrate
from constructions.models.construction import Construction
from constructions.models.search import Search
from constructions.wiring.finding import Finding
from constructions.wiring.wired import Wired
from precision.format import Discipline

Narrate = Callable[[Mapping[str, Fraction], str, str], str]
"""A step in a sentence: from the registers behind the last attention, the token that it leads to, and the verdict."""


class Program(Protocol):
    """A module that wires a model for the token layout of the paper, and knows every token that the model must write."""

    CONSTRUCTION: Construction

    def build(
        self,
        n: int,
        precision_bits: int | None = None,
        *,
        printed: Iterable[str] = (),
        discipline: Discipline = Discipline.FUSED,
    ) -> Wired:
        """The wired model."""

    def limit(self, n: int) -> int:
        """The most tokens after a prompt."""

    def expected_sequence(self, graph: Graph) -> list[str]:
        """The tokens after the prompt, responses of the surroundings included; YES or NO last."""


@dataclass(frozen=True)
class Model:
    """A model and how it is run.

    build(n, precision_bits, layout, findings, discipline). layouts: those that it reads. limit, expected: as of a `Program`.
    tour: whether its chain of thought is the tour itself. searches: whether it writes searches and reads their results.
    prompt_registers: those that a trace shows of the prompt.
    """

    construction: Construction
    build: Callable[[int, int | None, TokenLayout, tuple[str, ...], Discipline], Wired]
    limit: Callable[[int], int]
    expected: Callable[[Graph, TokenLayout], list[str]]
    layouts: tuple[TokenLayout, ...] = (PAPER,)
    tour: bool = False
    searches: bool = False
    prompt_registers: tuple[str, ...] = ()
    narrate: Narrate = lambda values, produced, verdict: ""

    @property
    def name(self) -> str:
        """As `--model` takes it."""
        return self.construction.model

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those that can be put back to print."""
        return self.construction.findings

    def surroundings(self, wired: Wired) -> Respond:
        """What responds to the model: in-context retrieval if it searches."""
        return Search(wired.vocabulary) if self.searches else no_response


def _model(program: Program, *, searches: bool = False, prompt_registers: tuple[str, ...] = ()) -> Model:
    return Model(
        program.CONSTRUCTION,
        lambda n, bits, layout, printed, discipline: program.build(n, bits, printed=printed, discipline=discipline),
        program.limit,
        lambda graph, layout: program.expected_sequence(graph),
        searches=searches,
        prompt_registers=prompt_registers,
    )


def _spelled_answer(graph: Graph, layout: TokenLayout) -> list[str]:
    vocabulary = layout.vocabulary(graph.n)
    return [vocabulary[token] for token in expected_answer(graph, layout)]


TRANSFORMER = Model(
    transformer.CONSTRUCTION,
    lambda n, bits, layout, printed, discipline: transformer.build(
        n, bits, layout=layout.name, printed=printed, discipline=discipline
    ),
    lambda n: 2 * n + 1,  # a tour of 2n − 1 vertices, the closing token and the verdict
    _spelled_answer,
    layouts=tuple(LAYOUTS.values()),
    tour=True,
    prompt_registers=("count", "self", "other", "edge_count"),
    narrate=narrate,
)
MODELS: Mapping[str, Model] = {
    model.name: model
    for model in (TRANSFORMER, _model(rag, searches=True), _model(hybrid, prompt_registers=("self", "other")))
}
