"""Models wired by hand whose training begins at their own weights, and how these weights are moved (descent.py).

Source: ours; the weights are those of Theorem 4.7 (lean) and of Theorem 4.6 (associative recall).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from constructions.api import LoadedModel, load
from constructions.istree.graphs import Graph

STEPS, BATCH, ASKED, MARGIN = 30, 16, 64, 16


@dataclass(frozen=True)
class Descent:
    """How weights are moved. rate, noise: powers of two; noise is the deviation of what each weight gets before, 0 for none."""

    name: str
    optimizer: str
    rate: float
    scaled: bool
    noise: float = 0.0


DESCENTS = (
    Descent("small-steps", "SGD", 2.0**-20, True),
    Descent("large-steps", "SGD", 2.0**-10, True),
    Descent("as-wired", "SGD", 2.0**-20, False),
    Descent("Adam", "Adam", 2.0**-13, True),
    Descent("noise-first", "SGD", 2.0**-20, True, 2.0**-14),
)


@dataclass(frozen=True)
class WiredSubject:
    """A model wired by hand. formats: the p that it is wired for, the least of them the least that is certified."""

    construction: str
    variant: str
    n: int
    formats: tuple[int, ...]

    def load(self, p: int) -> LoadedModel:
        """Returns the model of p bits."""
        return load(self.construction, n=self.n, variant=self.variant, p=p)

    def draw(self, generator: random.Random) -> tuple[list[str], list[str]]:
        """Draws a prompt and what the model must write."""
        raise NotImplementedError


class Trees(WiredSubject):
    """IsTree, on random graphs with n − 1 edges."""

    def draw(self, generator: random.Random) -> tuple[list[str], list[str]]:
        """Draws the edges' order and orientation, too."""
        pairs = list(itertools.combinations(range(1, self.n + 1), 2))
        edges = [generator.choice((edge, edge[::-1])) for edge in generator.sample(pairs, self.n - 1)]
        tour, is_tree = Graph(self.n, tuple(edges)).search
        prompt = ["<s>", *itertools.chain.from_iterable((str(u), "~", str(v)) for u, v in edges)]
        return prompt, [*map(str, tour), "YES" if is_tree else "NO"]


class Pairs(WiredSubject):
    """Associative recall, on n/2 keys in random order, each with a random value above n/2."""

    def draw(self, generator: random.Random) -> tuple[list[str], list[str]]:
        """Draws the key that is asked, too."""
        half = self.n // 2
        values = {key: generator.randint(half + 1, self.n) for key in generator.sample(range(1, half + 1), half)}
        asked = generator.choice(list(values))
        words = itertools.chain.from_iterable((str(key), str(value)) for key, value in values.items())
        return ["<s>", *words, "?", str(asked)], [str(values[asked])]


SUBJECTS: Mapping[str, WiredSubject] = {
    "lean-IsTree": Trees("istree", "lean", 4, (15, 17, 19, 21, 25, 33)),
    "associative-recall": Pairs("recall", "repaired", 8, (33, 41)),
}
SETTINGS: dict[str, Any] = {
    "subjects": {name: asdict(subject) for name, subject in SUBJECTS.items()},
    "descents": [asdict(descent) for descent in DESCENTS],
    "steps": STEPS,
    "batch": BATCH,
    "asked": ASKED,
    "margin": MARGIN,
}


def runs() -> Iterator[tuple[str, int, Descent]]:
    """Yields what is run with each seed: subject, p, descent."""
    for name, subject in SUBJECTS.items():
        for p in subject.formats:
            for descent in DESCENTS:
                yield name, p, descent


def leaves_at(rows: Sequence[Mapping[str, Any]], what: str) -> int | None:
    """Returns the least p at which some prompt is wrong after the descent, or None if there is none. rows: of one seed."""
    return min((row["p"] for row in rows if row[what] < 1), default=None)
