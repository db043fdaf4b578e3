"""The retrieval tasks: what is asked, and the right answer. Nothing here knows of any weights.

Source: section 4.2 (Index, associative recall, c-gram retrieval, Counting).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constructions.models.door import LARGEST_N

if TYPE_CHECKING:
    from constructions.language.terms import Answer

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
        """Returns the prompt."""
        return [START, *map(str, self.sequence), ASK, *map(str, self.query)]


@dataclass(frozen=True)
class Task:
    """One retrieval task.

    statement: what it asks, as a sentence. does: what a model of it does, a verb and the rest. asks: the query in words.
    least, most: tokens of a query; None where there is no bound. answer: the oracle. define(query_length): the definition, the
    answer at the end of a prompt as a term of the language, which is imported only then. example: a prompt.
    samples: questions of all kinds, the smallest first. zero: whether the query ends with a threshold, which may be 0.
    place: whether the query is a position of the sequence.
    """

    name: str
    statement: str
    does: tuple[str, str]
    asks: str
    least: int
    most: int | None
    answer: Callable[[Question], str]
    define: Callable[[int], Answer]
    example: str
    samples: tuple[Question, ...]
    zero: bool = False
    place: bool = False

    @property
    def can_fail(self) -> bool:
        """True if the answer may be that nothing was found."""
        return not (self.place or self.zero)

    def wrong(self, question: Question) -> str:
        """Returns why a question has no answer; "" if it has one."""
        length = len(question.sequence)
        if not self.place or question.query[0] <= length:
            return ""
        if not length:
            return "the sequence is empty, so there is no position to ask for"
        return f"position {question.query[0]} is not in 1 … {length}, the positions of the sequence"

    def query_of(self, part: tuple[int, ...], start: int, threshold: int) -> tuple[int, ...]:
        """Returns the query about a part of a sequence: its place, which is `start` from 0, its first number, or all of it."""
        return (start + 1,) if self.place else (*part[:1], threshold) if self.zero else part

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
        """Lists the tokens: 1 … n, the special tokens, and 0 if a query may hold it."""
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
