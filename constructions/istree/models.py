"""The models that decide IsTree, as values that commands and claims run: see `Solver`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

import numpy as np

from constructions.engines import no_response
from constructions.istree.graphs import (
    LAYOUTS,
    PAPER,
    Graph,
    TokenLayout,
    depth_first_tour,
    expected_answer,
    is_tree,
)
from constructions.models.construction import Construction
from constructions.models.lazily import Lazily
from constructions.models.search import Search
from constructions.models.solver import Request, Run
from constructions.wiring.wired import Spelled, UnknownToken, Wired

Narrate = Callable[[Mapping[str, Fraction], str, str], str]
"""A step in a sentence: from the registers behind the last attention, the token that it leads to, and the verdict."""
Answer = tuple[Sequence[str], str | None]
"""The chain of thought, and the verdict: YES or NO in either layout, None if there is none."""


@dataclass(frozen=True)
class Model:
    """A model and how it is run on graphs in one token layout.

    build: as of `Solver`. limit(n): the most tokens after a prompt. expected(graph): the words after it, responses included.
    tour: whether its chain of thought is the tour itself. searches: whether it writes searches and reads their results.
    prompt_registers: those that a trace shows of the prompt. lean: makes the variant of this name, if there is one.
    """

    construction: Construction
    build: Callable[..., Wired]
    limit: Callable[[int], int]
    expected: Callable[[Graph], Sequence[str]]
    layout: TokenLayout = PAPER
    tour: bool = False
    searches: bool = False
    prompt_registers: tuple[str, ...] = ()
    narrate: Narrate = lambda values, produced, verdict: ""
    lean: Callable[[], Model] | None = None

    def of(self, variant: str) -> Model:
        """This model in the variant's wiring. Raises ValueError for one that there is not."""
        self.construction.of(variant)
        return self.lean() if variant == "lean" and self.lean is not None else self

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


def _is_spelled(run: Run, words: Sequence[str]) -> bool:
    """Whether a run has written just these words."""
    try:
        return np.array_equal(run.tokens, run.request.wired.numbers(words))
    except UnknownToken:  # what a search as printed cannot say
        return False


def _after(chain: Sequence[str]) -> str:
    return f"after {' '.join(chain)}" if chain else "at once"


def _transformer(layout: TokenLayout) -> Model:
    from constructions.istree import transformer, words

    def expected(graph: Graph) -> Spelled:
        return Spelled(layout.vocabulary(graph.n), np.array(expected_answer(graph, layout)))

    repaired = Model(
        transformer.CONSTRUCTION,
        partial(transformer.build, layout=layout.name),
        lambda n: 2 * n + 1,  # a tour of 2n − 1 vertices, the closing token and the verdict
        expected,
        layout,
        tour=True,
        prompt_registers=("count", "self", "other", "edge_count"),
        narrate=words.narrate,
    )

    @cache
    def leaner() -> Model:
        from constructions.istree import lean, lean_words

        return replace(
            repaired,
            construction=lean.CONSTRUCTION,
            build=partial(lean.build, layout=layout.name),
            prompt_registers=("self", "other", "before"),
            narrate=lean_words.narrate,
        )

    return replace(repaired, lean=leaner)


def _rag() -> Model:
    from constructions.istree import rag

    return Model(rag.CONSTRUCTION, rag.build, rag.limit, rag.expected_sequence, searches=True)


def _hybrid() -> Model:
    from constructions.istree import hybrid

    return Model(
        hybrid.CONSTRUCTION,
        hybrid.build,
        hybrid.limit,
        hybrid.expected_sequence,
        prompt_registers=("self", "other"),
    )


MODELS: Mapping[tuple[str, str], Model] = Lazily(
    {
        **{("transformer", layout.name): partial(_transformer, layout) for layout in LAYOUTS.values()},
        ("rag", PAPER.name): _rag,
        ("hybrid", PAPER.name): _hybrid,
    }
)
"""By the names of `--model` and `--tokens`."""
VARIANTS = ("repaired", "printed", "lean")
"""Those of all models; a model that lacks one says so."""
