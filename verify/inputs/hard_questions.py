"""Extreme questions of the retrieval tasks at any size: keys that differ by one at the largest values, first and last places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Tokens = tuple[int, ...]
LEAST = 4  # tokens, so that every question exists
GRAM = 4  # tokens of a c-gram's query, c = 5


def index_questions(n: int) -> Mapping[str, tuple[Tokens, Tokens]]:
    """Returns name → sequence, position."""
    ramp, pair = tuple(range(1, n + 1)), tuple(n - i % 2 for i in range(n))
    return {
        "the first place": (ramp, (1,)),
        "the last place": (ramp, (n,)),
        "the last place but one": (ramp[::-1], (n - 1,)),
        "the largest tokens in turn": (pair, (n // 2,)),
        "one place after": (pair, (n // 2 + 1,)),
    }


def recall_questions(n: int) -> Mapping[str, tuple[Tokens, Tokens]]:
    """Returns name → sequence, key. The key is n where nothing else is said; n − 1 stands around it."""
    near = n - 1
    return {
        "the key last, nothing after it": ((*[near] * (n - 1), n), (n,)),
        "the key last but one": ((*[near] * (n - 2), n, 1), (n,)),
        "the key after <s>": ((n, *[near] * (n - 1)), (n,)),
        "the key absent": ((near,) * n, (n,)),
        "the key everywhere": ((n,) * n, (n,)),
        "the key twice, at both ends": ((n, 1, *[near] * (n - 4), n, 2), (n,)),
        "every token once, the key 2 at the end": (tuple(range(n, 0, -1)), (2,)),
    }


def ngram_questions(n: int) -> Mapping[str, tuple[Tokens, Tokens]]:
    """Returns name → sequence, first tokens of a c-gram: n as often as there is room, four times at most."""
    length = min(GRAM, n - 2)
    gram, near = (n,) * length, ((*[n] * (length - 1), n - 1) * n)
    return {
        "one token off, then the c-gram": ((*near[length + 1 - n :], *gram, 1), gram),
        "one token off, the c-gram cut off": ((*near[length - n :], *gram), gram),
        "one token off everywhere": (near[:n], gram),
        "the c-gram after <s>": ((*gram, *near[: n - length]), gram),
        "overlapping c-grams": ((n,) * n, gram),
    }


def counting_questions(n: int) -> Mapping[str, tuple[Tokens, Tokens]]:
    """Returns name → sequence, token and threshold."""
    pair = tuple(n - i % 2 for i in range(n))
    often = pair.count(n)
    return {
        "as often as can be": ((n,) * n, (n, n - 1)),
        "as often as can be, one too few": ((n,) * n, (n, n)),
        "every other token": (pair, (n, often - 1)),
        "every other token, one too few": (pair, (n, often)),
        "once, at the end": ((*[n - 1] * (n - 1), n), (n, 0)),
        "never": ((n - 1,) * n, (n, 0)),
    }


QUESTIONS = {
    "index": index_questions,
    "recall": recall_questions,
    "ngram": ngram_questions,
    "counting": counting_questions,
}


@dataclass(frozen=True)
class HardQuestion:
    """A question of one task about n tokens, by its name."""

    name: str
    n: int

    def prompt(self, task: str) -> tuple[Tokens, Tokens]:
        """Returns the sequence and the query. Raises KeyError for an unknown name."""
        return QUESTIONS[task](self.n)[self.name]


def hard_questions(task: str, n: int) -> list[HardQuestion]:
    """Returns all of a task's, about n ≥ LEAST tokens."""
    return [HardQuestion(name, n) for name in QUESTIONS[task](n)]
