"""The retrieval tasks: what is asked, and the right answer. Nothing here knows of any weights.

Source: section 4.2 (Index, associative recall, c-gram retrieval, Counting).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from constructions.models.door import LARGEST_N

START, ASK, YES, NO, FAILED = "<s>", "?", "YES", "NO", "FAILED"
SPECIALS = (START, ASK, YES, NO, FAILED, "<StartSearch>", "<EndSearch>")
LONGEST_QUERY = 1 << 10  # tokens; the weights grow with its square
MOST_DIGITS = 15  # of a number that is read; longer ones take long, and none of them is a token


@dataclass(frozen=True)
class Question:
    """A sequence, and what is asked of it."""

    sequence: tuple[int, ...]
    query: tuple[int, ...]

    @property
    def least_n(self) -> int:
        """The least n that covers every number and the sequence's length."""
        return max(1, len(self.sequence), *self.sequence, *self.query)

    def words(self) -> list[str]:
        """The prompt."""
        return [START, *map(str, self.sequence), ASK, *map(str, self.query)]


@dataclass(frozen=True)
class Task:
    """One retrieval task.

    statement: what it asks, as a sentence. asks: the query in words. least, most: tokens of a query; None where there is no
    bound. zero: whether a query may hold 0.
    answer: the oracle. wrong: what else is the matter with a question, "" if nothing.
    example: a prompt. samples: questions of all kinds, the smallest first.
    """

    name: str
    statement: str
    asks: str
    least: int
    most: int | None
    zero: bool
    answer: Callable[[Question], str]
    wrong: Callable[[Question], str]
    example: str
    samples: tuple[Question, ...]

    def parse(self, text: str) -> Question:
        """Reads "5 2 5 9 ? 5". Raises ValueError with one line that says what is wrong."""
        words = text.replace(ASK, f" {ASK} ").split()
        marks = words.count(ASK)
        if marks != 1:
            phrase = f"there are {marks}" if marks else "there is no"
            raise ValueError(
                f"{phrase} `?` in the prompt; write the sequence, one `?` and the query, as in {self.example!r}"
            )
        split = words.index(ASK)
        sequence = tuple(_number(word, 1) for word in words[:split])
        query = tuple(_number(word, 0 if self.zero and i else 1) for i, word in enumerate(words[split + 1 :]))
        if len(query) < self.least or (self.most is not None and len(query) > self.most):
            raise ValueError(f"the query after `?` is {self.asks}, not {len(query)} tokens, as in {self.example!r}")
        if len(query) > LONGEST_QUERY:
            raise ValueError(
                f"the query has {len(query)} tokens, more than {LONGEST_QUERY}, the most that is wired here"
            )
        question = Question(sequence, query)
        if wrong := self.wrong(question):
            raise ValueError(wrong)
        return question

    def vocabulary(self, n: int) -> tuple[str, ...]:
        """Numbers, special tokens, and 0 if a query may hold it."""
        return (*(str(i) for i in range(1, n + 1)), *SPECIALS, *(("0",) if self.zero else ()))


def _number(word: str, least: int) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", word):
        raise ValueError(f"{_short(word)} is not a whole number")
    negative, long = word.startswith("-"), len(word.lstrip("+-").lstrip("0")) > MOST_DIGITS
    if long and not negative:
        raise ValueError(f"{_short(word)} is above {LARGEST_N}, the largest n that is wired here")
    value = -1 if long else int(word)
    if value < least:
        where = "tokens are numbers from 1" if least else "a threshold is a number from 0"
        raise ValueError(f"{_short(word) if long else value} is not a token here: {where}")
    return value


def _short(word: str) -> str:
    return repr(word if len(word) <= 30 else word[:29] + "…")


def nothing_else(question: Question) -> str:
    """What is the matter with a question of a task in which every one that can be written has an answer: nothing."""
    return ""
