"""What each symbol is along a run of Algorithm 1: by a depth-first search over the graph, and the terms' plain meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from constructions.istree.graphs import Graph, TokenLayout
from constructions.language.interpreter import Input
from verify.dossiers.istree.lemmas.search import MODELS, translation
from verify.dossiers.istree.runs.graphs import Around
from verify.induction.evaluation import function_of
from verify.induction.place import Place
from verify.programs.witness import tokens_of

GRAPHS = {
    "paper": (
        Graph(3, ((2, 3), (1, 2))),
        Graph(4, ((3, 1), (1, 2), (2, 3))),  # a cycle through the root
        Graph(4, ((2, 3), (4, 3), (2, 4))),  # one that is out of reach
    ),
    "eos": (Graph(3, ((2, 3), (1, 2))), Graph(3, ((3, 2), (2, 1), (1, 3))), Graph(2, ())),
}
"""By layout."""
BEHIND = [("", 0)] * 8  # where no word is said any more


def places(model: str, layout: TokenLayout) -> Iterator[Place]:
    """Yields each vertex of the runs on these graphs."""
    for graph in GRAPHS[layout.name]:
        run = SearchRun(graph, model, layout)
        for state in run.states():
            yield Place(f"edges {graph.edges}, position {state['k']}", state, run.window, run.table)


class SearchRun:
    """What each declared symbol is at each vertex of a run, by a depth-first search over the graph and the terms' plain meaning."""

    def __init__(self, graph: Graph, model: str, layout: TokenLayout) -> None:
        self.n, self.edges = graph.n, len(graph.edges)
        self.functions = translation(MODELS[model](graph.n, layout)).functions
        words, prompt = layout.vocabulary(graph.n), layout.prompt(graph)
        self.tour, self.is_tree = graph.search
        self.end = len(prompt)
        self.last = self.end + len(self.tour)
        word_list = [words[token] for token in prompt + layout.answer(self.tour, self.is_tree, graph.n)]
        self.text = Input([*tokens_of(word_list), *BEHIND])
        self.window, self.table = range(-1, len(word_list)), range(-5, len(word_list) + len(BEHIND))
        self.around = Around(graph.n, graph.edges)
        self.records = self.around.records
        self.owners = {j: own for (own, _), j in self.records.items()}
        self.visits = {v: self.end + 1 + self.tour.index(v) for v in self.tour}

    def states(self) -> Iterator[dict[str, Any]]:
        """Yields the values of all symbols, from vertex to vertex."""
        fixed = {
            **self.around.symbols(self.visits, self.depth),
            "edges": self.edges,
            "number": self.number,
            "next": self.next,
            "prev": self.prev,
        }
        fixed |= {name: function_of(self.text, atom) for atom, name in self.functions.items()}
        path, taken = list[int](), dict[int, int]()
        for k, v in enumerate(self.tour, start=self.end + 1):
            if v in path:
                path.pop()
            else:
                if path:
                    taken[path[-1]] = self.records[path[-1], v]
                path.append(v)
                taken[v] = 0
            if path[-1] != v:
                raise ValueError(f"{v} is not the top of the path, so that the tour is none")
            yield fixed | {
                "k": k,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
            }

    def number(self, k: int) -> int:
        return self.text.tokens[k - 1][1] if 1 <= k <= len(self.text.tokens) else 0

    def depth(self, v: int) -> int:
        return 1 + self.depth(self.tour[self.visits[v] - self.end - 2]) if v != 1 and v in self.visits else 0

    def next(self, i: int, v: int) -> int:
        return next((h for h in range(i + 1, self.table.stop + 1) if self.owners.get(h, 0) == v), 0)

    def prev(self, j: int) -> int:
        return next((h for h in range(j - 1, 0, -1) if self.owners.get(h, 0) == self.owners.get(j, 0)), 0)
