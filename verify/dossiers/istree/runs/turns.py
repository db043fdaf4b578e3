"""What each symbol is at the end of each turn's head of Algorithm 2's text: by its words and their plain meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.rag import RECORD, RETURN
from constructions.language.interpreter import Input
from constructions.models.search import END_SEARCH, START_SEARCH
from verify.dossiers.istree.lemmas.turns import defined
from verify.dossiers.istree.runs.graphs import Around
from verify.dossiers.istree.turns import FIRST, NEXT
from verify.induction.evaluation import function_of
from verify.induction.place import Place
from verify.programs.witness import tokens_of

BEYOND = 60  # more words than a turn has
BEHIND = 8  # positions at which no word is said any more
GRAPHS = [Graph(3, ((2, 3), (1, 2))), Graph(3, ((3, 2), (2, 1), (1, 3))), Graph(2, ())]


def places() -> Iterator[Place]:
    """Yields each head of the runs on these graphs."""
    for graph in GRAPHS:
        run = TurnRun(graph)
        for state in run.states():
            yield Place(f"edges {graph.edges}, position {state['k']}", state, run.window, run.table)


class TurnRun:
    """What each declared symbol is at the end of each turn's head, by the words of Algorithm 2's text and their plain meaning."""

    def __init__(self, graph: Graph) -> None:
        self.n, self.edges, text = graph.n, len(graph.edges), defined()
        self.end = 3 * self.edges + 1
        prompt = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
        self.words, self.kinds = [*prompt, *rag.RAG.expected(graph)], text.kinds
        self.functions, self.read = text.words.functions, Input([*tokens_of(self.words), *[("", 0)] * BEYOND])
        self.around = Around(graph.n, graph.edges)
        self.records = self.around.records
        marks = [m for m, said in enumerate(self.words, start=1) if said in (RECORD, RETURN)]
        if self.words[marks[-1] - 2] == self.words[marks[-1]] and len(marks) > 1:
            marks.pop()  # the root's way back to itself, after which stands no turn
        self.heads = [m + 1 for m in marks]
        ends = [k for k, said in enumerate(self.words, start=1) if said == END_SEARCH]
        self.window = sorted({*range(-1, self.end + 4), *marks, *self.heads, *ends, len(self.words)})
        self.table = range(-5, len(self.words) + BEHIND)

    def states(self) -> Iterator[dict[str, Any]]:
        """Yields the values of all symbols, from head to head."""
        owners = {j: own for (own, _), j in self.records.items()}
        visits, depths, path, taken, passed = (
            dict[int, int](),
            dict[int, int](),
            list[int](),
            dict[int, int](),
            set[int](),
        )
        fixed = {
            **self.around.symbols(visits, lambda v: depths.get(v, 0)),
            "edges": self.edges,
            "kind": self.kind,
            "|number vertex|": self.number,
            "next": cache(
                lambda i, v: next((j for j in range(i + 1, self.table.stop + 1) if owners.get(j, 0) == v), 0)
            ),
            "begins": True,
            "begins-otherwise": False,
            "left-open": False,
        }
        fixed |= {name: function_of(self.read, atom) for atom, name in self.functions.items() if "|" not in name}
        states = []
        for k, end in pairwise((*self.heads, len(self.words))):
            u, mark, v = int(self.words[k - 3]), self.words[k - 2], int(self.words[k - 1])
            if mark == RETURN:
                path.pop()
            else:
                taken |= {u: self.records[u, v], v: 0} if path else {v: 0}
                path.append(v)
                visits[v], depths[v] = k, len(path) - 1
            over = self.words[end - 1] in (PAPER.yes, PAPER.no)
            state = {
                "k": k,
                "end": end,
                "goes-down": not over and self.words[end - 2] == RECORD,
                "goes-up": not over and self.words[end - 2] == RETURN,
                "answers-yes": over and self.words[-1] == PAPER.yes,
                "answers-no": over and self.words[-1] == PAPER.no,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
                "passed": lambda m, passed=frozenset(passed): sum(v <= m for v in passed),
            }
            states.append(fixed | state)
            if self.finds_father(k, end):
                passed.add(v)
        yield from states  # when all visits are known

    def finds_father(self, k: int, end: int) -> bool:
        """Returns whether one of the neighbours that are found in this turn is the father: what the turn's first search finds."""
        starts = [j for j in range(k, end) if self.words[j] == START_SEARCH]
        searches = [(self.words[j + 1], self.words[self.words.index(END_SEARCH, j) + 1]) for j in starts]
        return any(first in (FIRST[1], NEXT[1]) and result == searches[0][1] for first, result in searches)

    def kind(self, j: int) -> int:
        name = self.words[j - 1] if 1 <= j <= len(self.words) else ""
        return self.kinds[rag.VERTEX] if name.isdecimal() else self.kinds.get(name, -1)

    def number(self, j: int) -> int:
        return self.read.tokens[j - 1][1] if 1 <= j <= len(self.words) else 0
