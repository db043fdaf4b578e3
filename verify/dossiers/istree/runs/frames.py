"""What each symbol is at the end of each frame of the hybrid's search: by the walk that its marks tell, and plain meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from constructions.istree.graphs import PAPER
from constructions.istree.hybrid import DOWN, FURTHER, MARKS, PASS, UP
from constructions.language.interpreter import Input
from verify.dossiers.istree.frames import Frames
from verify.dossiers.istree.lemmas.frames import KINDS, translation
from verify.dossiers.istree.runs.graphs import Around
from verify.dossiers.istree.walks_in_frames import FAMILIES, Edges, run, tokens_of
from verify.induction.evaluation import function_of
from verify.induction.place import Place

PROMPTS: list[Edges] = [((2, 3), (1, 2)), ((3, 2), (2, 3)), ((1, 2), (2, 1)), ((4, 3), (3, 1), (1, 2))]

BEHIND = 8  # positions where no word is said any more
RECURSIVE = {"pow": (1, "(* 2 before)")}


def places() -> Iterator[Place]:
    """Yields the end of each frame of the runs after these edges."""
    for edges in PROMPTS:
        searched = FrameRun(edges)
        for state in searched.states():
            yield Place(f"edges {edges}, position {state['k']}", state, searched.window, searched.table, RECURSIVE)


class FrameRun:
    """What each declared symbol is at the end of each frame of a search, by the walk that its marks tell and plain meaning."""

    def __init__(self, edges: Edges) -> None:
        self.n = len(edges) + 1
        self.said = run(self.n, edges)
        self.end = 3 * self.n - 2
        prompt = [PAPER.start, *(word for a, b in edges for word in (str(a), PAPER.joint, str(b)))]
        tokens = tokens_of([*prompt, *self.said])
        self.window, self.table = range(-1, len(tokens)), range(-5, len(tokens) + BEHIND)
        self.read = Input([*tokens, *[("", 0)] * BEHIND], FAMILIES)
        self.around = Around(self.n, edges)

    def states(self) -> Iterator[dict[str, Any]]:
        bits = (3 * self.n).bit_length()
        visits, depths = {1: self.end + 1}, {1: 0}
        fixed: dict[str, Any] = {
            **self.around.symbols(visits, lambda v: depths.get(v, 0)),
            "abs": abs,
            "kind": self.kind,
            **{f"|number {family}|": partial(self.number, family) for family in FAMILIES},
            **{name: function_of(self.read, atom) for atom, name in translation(Frames(self.n)).functions.items()},
            "bits": bits,
            "pow": lambda i: 2 ** max(i, 0),
            "times": lambda i: i * bits,
        }
        path, taken, states = [1], dict[int, int](), list[dict[str, Any]]()
        gone, passed, far, doubled = frozenset[int](), frozenset[int](), 0, 0  # edges, from 1
        for start, frame in self.frames():
            doubled = doubled + 1 if frame[0] == FURTHER else 0
            far += frame[0] == FURTHER
            if frame[0] == DOWN:
                u, v = map(int, frame[1:3])
                taken[u] = fixed["rec"](u, v)
                if v in visits:
                    break
                gone |= {(taken[u] - 1) // 3}
                visits[v], depths[v] = start + 2, len(path)
                path.append(v)
            elif frame[0] == UP:
                path.pop()
            elif frame[0] == PASS:
                taken[path[-1]] = int(frame[2][1:])
                passed |= {(taken[path[-1]] - 1) // 3}
            state = {
                "k": start + len(frame) - 1,
                "path": frozenset(path).__contains__,
                "taken": lambda v, taken=dict(taken): taken.get(v, 0),
                "gone-to": lambda m, gone=gone: sum(e <= m for e in gone),
                "passed-to": lambda m, passed=passed: sum(e <= m for e in passed),
                "far": far,
                "doubled": doubled,
            }
            states.append(fixed | state)
        yield from states  # when all visits are known

    def frames(self) -> Iterator[tuple[int, list[str]]]:
        """Yields where each begins, and its words; a verdict is not of any."""
        marks = [
            0,
            *(i for i, said in enumerate(self.said) if said in MARKS),
            len(self.said) - (self.said[-2][0] == "@"),
        ]
        for i, j in pairwise(marks):
            yield self.end + 1 + i, self.said[i:j]

    def kind(self, k: int) -> int:
        name = self.read.tokens[k - 1][0] if k >= 1 else ""
        return next((i for i, kind in enumerate(KINDS) if kind in (name, f"a {name}")), -1)

    def number(self, family: str, k: int) -> int:
        name, number = self.read.tokens[k - 1] if k >= 1 else ("", 0)
        return number if name == family else 0
