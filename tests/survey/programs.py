"""Families of small programs, each with what a rule of the checker must tell apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from constructions.language.program import Architecture, Program
from constructions.language.texts import Piece, numbers, optional, some, words
from constructions.language.values import (
    Output,
    Value,
    alternating_sum,
    choose,
    number,
    position,
    running_sum,
    select,
    word,
)
from tests.language.compiled import written

Shape = Sequence[Piece | str]
WORDS: Shape = [some(words("a", "b"))]
NUMBERS: Shape = [some(numbers(0, 2))]
A, B = word("a"), word("b")


def of_words(says: Output | Value | str, architecture: Architecture = "transformer") -> Program:
    """A program over texts of `a` and `b`."""
    return written(says, WORDS, "a", architecture=architecture)


def of_numbers(says: Output | Value | str, architecture: Architecture = "transformer") -> Program:
    """A program over texts of 0, 1 and 2."""
    return written(says, NUMBERS, "1", architecture=architecture)


def nested(draw: random.Random) -> Iterator[Program]:
    """Yields cases inside of cases, up to five deep, of bits that do not follow from each other."""
    bits = [A, A.back(1), A.back(2), A.back(3), position > 3]
    for depth in (5, 4, 3, 2, 1):
        for inner in range(depth):
            asked = draw.sample(bits, depth)
            says: Output | str = "yes"
            for i, bit in enumerate(asked):
                other = ("no", "yes")[(i + inner) % 2]
                says = choose(bit, says, other) if draw.random() < 0.5 else choose(bit, other, says)
            yield of_words(says)


def nearest(draw: random.Random) -> Iterator[Program]:
    """Yields reads of the match that is nearest to a place, at the beginning, in between, at the end."""
    wishes: list[Value | int] = [3, position - 1, 2, 4, position, position - 2]
    for wish, value in product(wishes, (A.back(1), B.back(1))):
        yield of_words(choose(select(A).nearest(value, wish) == 1, "yes", "no"))
    for wish in wishes:
        yield of_words(choose(select(A).nearest(position, wish) > 3, "yes", "no"))
    for wish in draw.sample(wishes, len(wishes)):
        yield of_numbers(choose(select(number, 1).nearest(number.back(1), wish) == 2, "yes", "no"))


def back(draw: random.Random) -> Iterator[Program]:
    """Yields reads some steps back, with what is read over the start of the text, and differences that know no start."""
    values: list[Value] = [position, position + 1, ~A, (position > 2) + 1, number + 1]
    for steps, value in product((3, 1, 2), values):
        program = of_numbers if value is values[-1] else of_words
        for read in (value.back(steps), value.at(position - steps), value - steps):
            bound = draw.choice((-2, -1, 0, 1, 2))
            yield program(choose(read == bound, "yes", "no"))
            yield program(choose(read > bound, "yes", "no"))


def counts(draw: random.Random) -> Iterator[Program]:
    """Yields counts that are compared with numbers and with other counts."""
    for bound in draw.sample(range(5), 5):
        yield of_words(choose(select(A).count() == bound, "yes", "no"))
        yield of_words(choose(select(A).count() > bound, "yes", "no"))
    for other in (select(B).count(), select(B).count() + 1, position - 2):
        yield of_words(choose(select(A).count() == other, "yes", "no"))
        yield of_words(choose(select(A).count() > other, "yes", "no"))
    yield of_numbers(choose(select(number, number).count() > 1, "yes", "no"))
    for asked in (select(A), select(B), select(A.back(1))):
        yield written(asked.count(), [*WORDS, numbers(0, 5)], "a 1")


def most_matches(draw: random.Random) -> Iterator[Program]:
    """Yields counts compared with the most that there can be."""
    shape: Shape = ["a", optional("a"), "b", optional("a")]
    for bound in draw.sample((1, 2, 3, 4), 4):
        for asked in (select(A).count(), select(A | B).count()):
            yield written(choose(asked == bound, "yes", "no"), shape, "a b")
            yield written(choose(asked > bound - 1, "yes", "no"), [some(words("a"))], "a")


def sums(draw: random.Random) -> Iterator[Program]:
    """Yields sums that a recurrence keeps, over all positions or every second or third."""
    of: list[Value] = [A, A.back(1), word("a") - word("b")]
    for every, value in product((1, 2, 3), of):
        bound = draw.choice((-1, 0, 1, 2))
        for kind in (running_sum, alternating_sum):
            yield of_words(choose(kind(value, every) == bound, "yes", "no"), "rnn")
            yield of_words(choose(kind(value, every) > bound, "yes", "no"), "rnn")


FAMILIES: Mapping[str, Callable[[random.Random], Iterator[Program]]] = {
    f.__name__: f for f in (nested, nearest, back, counts, most_matches, sums)
}
