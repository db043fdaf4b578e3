"""What the models that decide IsTree share: how they are asked about a graph, read and judged."""

from __future__ import annotations

import operator
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from constructions.engines import no_response
from constructions.istree.graphs import (
    LAYOUTS,
    PAPER,
    Graph,
    Layout,
    TokenLayout,
    depth_first_tour,
    expected_answer,
    is_tree,
    parse_edges,
    sequence_length,
)
from constructions.models.model import Model, PromptDomain, RunAnswer
from constructions.models.options import ModelOptions, option
from constructions.models.request import Request, Run
from constructions.models.search import SearchTool
from constructions.wiring.wired import SpelledTokens, UnknownToken, Wired
from precision.format import Discipline

EXAMPLE_N = 12  # vertices of a worked example that does not have all
MOST_WALKED, MOST_SEARCHED = 60_000, 4_000  # tokens of a worked example that has all; with searches in it
Answer = tuple[Sequence[str], str | None]
"""The chain of thought, and the verdict: YES or NO in either layout, None if there is none."""


@dataclass(frozen=True)
class IsTreeOptions(ModelOptions):
    """lean: the wiring of fewer bits. layout: of a graph's tokens."""

    lean: bool = option(False, models=("transformer",), is_variant=True)
    layout: Layout = option(
        "paper",
        "layout of a graph's tokens",
        keyword="tokens",
        choices=tuple(LAYOUTS),
        models=("transformer",),
        phrase="layout {}",
    )


@dataclass(frozen=True)
class IsTreeModel(Model[Graph, Answer]):
    """A model that decides IsTree, for graphs in one token layout."""

    layout: TokenLayout = PAPER

    tour: ClassVar[bool] = False
    """Whether its chain of thought is the tour itself."""
    prompt_registers: ClassVar[tuple[str, ...]] = ()
    """Those that a trace shows of the prompt."""

    @abstractmethod
    def limit(self, n: int) -> int:
        """Returns the most tokens after a prompt."""

    @abstractmethod
    def expected(self, graph: Graph) -> Sequence[str]:
        """Returns the words after the prompt, responses included; the verdict is last. By plain Python, without the weights."""

    def narrate(self, values: Mapping[str, Fraction], produced: str, verdict: str) -> str:
        """Returns a step in a sentence: the registers after the last attention, the token that it leads to, and the verdict."""
        return ""

    def in_variant(self, variant: str) -> IsTreeModel:
        super().in_variant(variant)
        return self

    def with_options(self, options: IsTreeOptions, discipline: Discipline = Discipline.FUSED) -> IsTreeModel:
        model = replace(self, layout=LAYOUTS[options.layout])
        return model.in_variant("lean") if options.lean else model

    def require(self, n: int) -> None:
        if n < 1:
            raise ValueError(f"a graph needs at least 1 vertex, got n = {n}")

    def request(self, wired: Wired, given: Graph) -> Request:
        """Asks about a graph: Tokenize(G), to be followed up to a verdict."""
        layout = self.layout
        prompt = SpelledTokens(layout.vocabulary(given.n), np.array(layout.prompt(given)))
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
            SearchTool(wired.vocabulary) if self.searches else no_response,
        )

    def read(self, run: Run) -> Answer:
        """Returns the chain of thought, without the token that closes it, and the verdict."""
        return self._answer(run.produced[:])

    def _answer(self, produced: Sequence[str]) -> Answer:
        layout = self.layout
        verdict = {layout.yes: "YES", layout.no: "NO"}.get(produced[-1])
        chain = list(produced if verdict is None else produced[:-1])
        if verdict is not None and layout.end_of_prompt is not None and chain[-1:] == [layout.end_of_prompt]:
            chain.pop()
        return chain, verdict

    def judge(self, given: Graph, run: Run, answer: Answer) -> str:
        """Compares every token; as printed, the verdict, and whether a tour is, or begins like, Algorithm 1's."""
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

    # Callers

    def read_input(self, given: object, n: int | None) -> Graph:
        if isinstance(given, Graph):
            return given
        if isinstance(given, str):
            return parse_edges(given, n)
        edges_of, size_of = getattr(given, "edges", None), getattr(given, "number_of_nodes", None)
        if callable(edges_of) and callable(size_of):  # a graph of networkx
            return Graph(n or max(size_of(), 1), tuple(map(_whole_ends, edges_of())))
        rows_of = getattr(given, "itertuples", None)
        if callable(rows_of):  # a table of pandas, an edge a row
            given = rows_of(index=False)
        if not isinstance(given, Iterable):
            raise ValueError(f'a graph is a list of edges such as (1, 2), or text as "1-2,2-3", not {given!r}')
        edges = []
        for pair in given:
            ends = tuple(pair) if isinstance(pair, Iterable) else (pair,)
            if len(ends) != 2:
                raise ValueError(f"an edge is a pair of vertices such as (1, 2), not {pair!r}")
            edges.append(_whole_ends(ends))
        largest = max((v for edge in edges for v in edge if isinstance(v, int)), default=1)
        return Graph(largest if n is None else n, tuple(edges))

    def fitting(self, given: Graph) -> tuple[IsTreeModel, int]:
        return self, given.n

    def examples(self, wired: Wired, given: Graph | None = None) -> Iterator[Request]:
        """Yields a tree (a part of the graph where a run over all n vertices is too long), and a graph with a cycle."""
        n = wired.n
        size = min(n, EXAMPLE_N)
        most = MOST_SEARCHED if self.searches else MOST_WALKED
        whole = n == size or (3 * n + self.limit(n) <= most and not wired.printed)  # as printed, it may go on for ever
        graphs = [Graph(n, tuple(_tree(n)))] if whole else []
        if n >= 4:  # three of the first vertices are a cycle; as many edges as a tree has, where the model counts them
            rest = size if self.searches else n
            graphs.append(Graph(n, ((1, 2), (3, 2), (1, 3), *((max(1, v // 2), v) for v in range(4, rest)))))
        if not whole and n >= size + 3:  # a tree on the first vertices, a cycle on the others
            others = range(size + 1, n)
            cycle = [] if self.searches else [*((v, v + 1) for v in others), (n, size + 1)]
            graphs.append(Graph(n, (*_tree(size), *cycle)))
        for graph in graphs:
            yield replace(self.request(wired, graph), limit=self.limit(size if wired.printed else n))

    def run_answer(self, run: Run, answer: Answer) -> RunAnswer:
        return RunAnswer(*answer)

    def particulars(self) -> Mapping[str, object]:
        return {"layout": self.layout.name, "model": self.construction.model}

    def domain(self, wired: Wired) -> PromptDomain:
        """Describes the prompts: any simple graph, its edges in any order and orientation."""
        n, layout = wired.n, self.layout
        joint, ends = layout.joint, layout.end_of_prompt is not None  # neither ~ nor - is a sign of `re`
        loop = rf"(?!.* (\d+) {joint} \1(?!\S))"
        again = rf"(?!.* (\d+) {joint} (\d+) .*(?<=\d )(?:\2 {joint} \3|\3 {joint} \2)(?!\S))"
        end = re.escape(f" {layout.end_of_prompt}") if ends else ""
        edges = f"u {layout.joint} v for each edge"
        sentence = f"A prompt is {layout.start}, then {edges}{f', then {layout.end_of_prompt}' if ends else ''}:"
        sentence += f" the edges of a simple graph on the vertices 1 … {n}, in any order and orientation,"
        sentence += " without loops or repetitions."
        if not ends and not self.searches:
            sentence += f" After n − 1 = {n - 1} edges the graph is searched; after any other number"
            sentence += f" the answer is {layout.no} at once."
        prompt = rf"{re.escape(layout.start)}{loop}{again}(?: \d+ {joint} \d+)*{end}"
        return PromptDomain(sentence, prompt, (1 + ends, 1 + 3 * (n * (n - 1) // 2) + ends))


@dataclass(frozen=True)
class TourModel(IsTreeModel):
    """A model whose chain of thought is the tour of Algorithm 1."""

    tour = True

    def length(self, n: int) -> int:
        return sequence_length(n)

    def limit(self, n: int) -> int:
        """Returns a tour of 2n − 1 vertices, the closing token and the verdict."""
        return 2 * n + 1

    def expected(self, graph: Graph) -> SpelledTokens:
        return SpelledTokens(self.layout.vocabulary(graph.n), np.array(expected_answer(graph, self.layout)))


def _whole_ends(ends: tuple[object, ...]) -> tuple[int, int]:
    """Returns an edge in Python's own integers, whatever kind of integers they were; other things are left for `Graph` to name."""
    u, v = (operator.index(end) if hasattr(end, "__index__") else end for end in ends)
    return cast("tuple[int, int]", (u, v))


def _tree(n: int) -> list[tuple[int, int]]:
    """Returns a tree in which a vertex has up to two children, its edges this way and that."""
    return [(max(1, v // 2), v) if v % 3 else (v, max(1, v // 2)) for v in range(2, n + 1)]


def _is_spelled(run: Run, words: Sequence[str]) -> bool:
    """Returns whether a run has written just these words."""
    try:
        return np.array_equal(run.tokens, run.request.wired.numbers(words))
    except UnknownToken:  # what a search as printed cannot say
        return False


def _after(chain: Sequence[str]) -> str:
    return f"after {' '.join(chain)}" if chain else "at once"
