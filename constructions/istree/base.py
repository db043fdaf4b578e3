"""What the models that decide IsTree share: how they are asked about a graph, read and judged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from constructions.engines import no_response
from constructions.istree.graphs import (
    PAPER,
    Graph,
    TokenLayout,
    depth_first_tour,
    expected_answer,
    is_tree,
    sequence_length,
)
from constructions.models.model import Model
from constructions.models.search import Search
from constructions.models.solver import Request, Run
from constructions.wiring.wired import Spelled, UnknownToken, Wired

Answer = tuple[Sequence[str], str | None]
"""The chain of thought, and the verdict: YES or NO in either layout, None if there is none."""


@dataclass(frozen=True)
class IsTreeModel(Model[Graph, Answer]):
    """A model that decides IsTree, for graphs in one token layout."""

    layout: TokenLayout = PAPER

    tour: ClassVar[bool] = False
    """Whether its chain of thought is the tour itself."""
    searches: ClassVar[bool] = False
    """Whether it writes searches and reads their results."""
    prompt_registers: ClassVar[tuple[str, ...]] = ()
    """Those that a trace shows of the prompt."""

    @abstractmethod
    def limit(self, n: int) -> int:
        """The most tokens after a prompt."""

    @abstractmethod
    def expected(self, graph: Graph) -> Sequence[str]:
        """The words after the prompt, responses included; the verdict is last. By plain Python, without the weights."""

    def narrate(self, values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
        """A step in a sentence: from the registers behind the last attention, the token that it leads to, and the verdict."""
        return ""

    def of(self, variant: str) -> IsTreeModel:
        super().of(variant)
        return self

    def require(self, n: int) -> None:
        if n < 1:
            raise ValueError(f"a graph needs at least 1 vertex, got n = {n}")

    def request(self, wired: Wired, given: Graph) -> Request:
        """Asks about a graph: Tokenize(G), to be followed up to a verdict."""
        layout = self.layout
        prompt = Spelled(layout.vocabulary(given.n), np.array(layout.prompt(given)))
        try:
            guess = wired.numbers(self.expected(given))
        except UnknownToken:
            # Searches as printed have words of their own, and the vocabulary may lack those of the others.
            guess = np.zeros(0, np.int64)
        return Request(
            wired,
            wired.numbers(prompt).tolist(),
            {wired.vocabulary.index(word) for word in (layout.yes, layout.no)},
            self.limit(given.n),
            guess,
            Search(wired.vocabulary) if self.searches else no_response,
        )

    def read(self, run: Run) -> Answer:
        """The chain of thought, without the token that closes it, and the verdict."""
        return self._answer(run.produced[:])

    def _answer(self, produced: Sequence[str]) -> Answer:
        layout = self.layout
        verdict = {layout.yes: "YES", layout.no: "NO"}.get(produced[-1])
        chain = list(produced if verdict is None else produced[:-1])
        if verdict is not None and layout.end_of_prompt is not None and chain[-1:] == [layout.end_of_prompt]:
            chain.pop()
        return chain, verdict

    def judge(self, given: Graph, run: Run, answer: Answer) -> str:
        """Every token counts; as printed, the verdict, and of a tour that it begins like Algorithm 1's, or is it."""
        expected, (chain, verdict) = self.expected(given), answer
        if _is_spelled(run, expected):
            return ""
        if run.request.wired.printed and verdict is not None:
            tour = [str(v) for v in depth_first_tour(given)]
            tree = is_tree(given)
            right = verdict == ("YES" if tree else "NO")
            if right and (not self.tour or (chain == tour if tree else chain == tour[: len(chain)])):
                return ""
        right_chain, right_verdict = self._answer(expected)
        ending = f"says {verdict} {_after(chain)}" if verdict else f"gives no verdict within {len(run.tokens)} tokens"
        algorithm = "Algorithm 1" if self.tour else "the algorithm"
        return f"the model {ending}; {algorithm} says {right_verdict} {_after(right_chain)}"


@dataclass(frozen=True)
class TourModel(IsTreeModel):
    """A model whose chain of thought is the tour of Algorithm 1."""

    tour = True

    def length(self, n: int) -> int:
        return sequence_length(n)

    def limit(self, n: int) -> int:
        """A tour of 2n − 1 vertices, the closing token and the verdict."""
        return 2 * n + 1

    def expected(self, graph: Graph) -> Spelled:
        return Spelled(self.layout.vocabulary(graph.n), np.array(expected_answer(graph, self.layout)))


def _is_spelled(run: Run, words: Sequence[str]) -> bool:
    """Whether a run has written just these words."""
    try:
        return np.array_equal(run.tokens, run.request.wired.numbers(words))
    except UnknownToken:  # what a search as printed cannot say
        return False


def _after(chain: Sequence[str]) -> str:
    return f"after {' '.join(chain)}" if chain else "at once"
