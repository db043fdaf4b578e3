"""Prompts of a program: every short one, and longer ones that are drawn."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from constructions.language.program import Program
from constructions.language.texts import Piece

MOST_TOKENS = 8  # of prompts that are listed


def every_prompt(program: Program, n: int) -> Iterator[list[str]]:
    """The prompts of up to `MOST_TOKENS` tokens for n, the shortest first."""
    texts = program.texts
    for length in range(1, 1 + min(MOST_TOKENS, sum(piece.most(n) for piece in texts.prompt))):
        yield from _behind(program, n, length, -1, [], {})


def _behind(
    program: Program, n: int, length: int, place: int, words: list[str], stood: Mapping[int, int]
) -> Iterator[list[str]]:
    texts = program.texts
    following = [*texts.behind(place, thought=False)]
    if len(words) == length:
        if len(texts.prompt) in following:
            yield words
        return
    for i in following:
        if i < len(texts.prompt) and stood.get(i, 0) < texts.prompt[i].most(n):
            for token in tokens_of(texts.prompt[i], n):
                yield from _behind(program, n, length, i, [*words, token], {**stood, i: stood.get(i, 0) + 1})


def tokens_of(piece: Piece, n: int) -> Iterable[str]:
    """The tokens that may stand there."""
    return [*piece.words, *(map(str, range(piece.low, piece.largest(n) + 1)) if piece.numbers else ())]


def drawn_prompt(program: Program, n: int, rng: random.Random, longest: int) -> list[str]:
    """A prompt for n, each piece of some length; few different numbers in some, so that they occur often."""
    words: list[str] = []
    few = rng.choice((2, 3, n))
    for piece in program.texts.prompt:
        for _ in range(
            rng.randint(piece.least, min(piece.most(n), longest)) if piece.repeats or not piece.least else 1
        ):
            high = min(piece.largest(n), piece.low + few - 1) if piece.numbers else 0
            choices = [*piece.words, *([str(rng.randint(piece.low, high))] if piece.numbers else [])]
            words.append(rng.choice(choices))
    return words
