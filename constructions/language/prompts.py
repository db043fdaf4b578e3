"""Prompts of a program: every short one, hard ones that are as long as can be, and longer ones that are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from constructions.language.copies import text_of
from constructions.language.functions import FunctionError, report_failures, text_in_message
from constructions.language.program import Program
from constructions.language.texts import Piece

MOST_TOKENS = 8  # of prompts that are listed


def every_prompt(program: Program, n: int) -> Iterator[list[str]]:
    """Returns the prompts of up to `MOST_TOKENS` tokens for n, the shortest first."""
    texts = program.texts
    for length in range(1, 1 + min(MOST_TOKENS, sum(piece.most(n) for piece in texts.prompt))):
        yield from _continue(program, n, length, -1, [], {})


def _continue(
    program: Program, n: int, length: int, place: int, words: list[str], stood: Mapping[int, int]
) -> Iterator[list[str]]:
    texts = program.texts
    following = [*texts.next_places(place, thought=False)]
    if len(words) == length:
        if len(texts.prompt) in following:
            yield words
        return
    for i in following:
        if i < len(texts.prompt) and stood.get(i, 0) < texts.prompt[i].most(n):
            for token in tokens_of(texts.prompt[i], n):
                yield from _continue(program, n, length, i, [*words, token], {**stood, i: stood.get(i, 0) + 1})


def tokens_of(piece: Piece, n: int) -> Iterator[str]:
    """Lists the tokens that may stand there, one after the other: they may be more than a memory holds."""
    yield from piece.words
    if piece.numbers:
        yield from map(str, range(piece.low, piece.largest(n) + 1))


def extreme_prompts(program: Program, n: int, longest: int) -> Iterator[list[str]]:
    """Lists prompts as long as can be, of up to `longest` tokens a piece, made of the last and the first tokens of each piece.

    Of each two tokens a and b: all a; one b at the beginning, after it, in the middle, before the end, at the end; both in turn.
    At last all tokens in turn, upwards and downwards, and one token less of each piece: an even number of brackets may be right.
    """
    most = [min(piece.most(n), longest) for piece in program.texts.prompt]
    pieces = [_end_tokens(piece, n, size) for piece, size in zip(program.texts.prompt, most, strict=True)]
    ends = ((-1, 0), (0, -1), (-1, -2), (0, 1), (-2, -1), (1, 0))
    shapes: Sequence[Callable[[int, int], bool]] = (
        lambda i, size: False,
        lambda i, size: i == size - 1,
        lambda i, size: i == 0,
        lambda i, size: i == size // 2,
        lambda i, size: i % 2 == 1,
        lambda i, size: i in (1, size - 1),
        lambda i, size: i == size - 2,
    )
    for is_other in shapes:
        for a, b in ends:
            prompt = []
            for tokens, size in zip(pieces, most, strict=True):
                prompt += [tokens[(b if is_other(i, size) else a) % len(tokens)] for i in range(size)]
            yield prompt
    for step in (1, -1):
        for fewer in (0, 1):
            ends_of = zip(program.texts.prompt, most, strict=True)
            sizes = [max(piece.least, size - fewer * piece.repeats) for piece, size in ends_of]
            yield [
                tokens[step * i % len(tokens)] for tokens, size in zip(pieces, sizes, strict=True) for i in range(size)
            ]


def equal_prompts(program: Program, n: int, longest: int) -> Iterator[list[str]]:
    """Lists prompts of one token a piece, repeated, in every length up to `longest`: for the first and for the last token."""
    most = [min(piece.most(n), longest) for piece in program.texts.prompt]
    for place in (0, -1):
        tokens = [_end_tokens(piece, n, 1)[place] for piece in program.texts.prompt]
        for length in range(max(most) + 1):
            ends_of = zip(program.texts.prompt, most, tokens, strict=True)
            yield [token for piece, size, token in ends_of for _ in range(max(piece.least, min(length, size)))]


def _end_tokens(piece: Piece, n: int, count: int) -> list[str]:
    """Returns the tokens that may stand there; of more than twice as many numbers, so many of the first and of the last."""
    low, high = piece.low, piece.largest(n)
    if not piece.numbers or high - low < 2 * count:
        return [*tokens_of(piece, n)]
    return [*piece.words, *map(str, range(low, low + count)), *map(str, range(high - count + 1, high + 1))]


def exchanged_examples(program: Program, n: int, times: int, rng: random.Random) -> Iterator[list[str]]:
    """Yields the examples for n, each also with its numbers exchanged: draws of single tokens hardly meet such prompts."""
    for example in program.examples:
        tokens = program.texts.complete(example.split())
        used = sorted({token for token in tokens if token.isdecimal()}, key=int)
        for time in range(times + 1):
            order = rng.sample(used, len(used)) if time else used
            exchanged = dict(zip(used, order, strict=True))
            prompt = [exchanged.get(token, token) for token in tokens]
            with suppress(ValueError):  # where a number may not stand for the other
                if program.texts.read(prompt)[1] <= n:
                    yield prompt


def wrong_with(program: Program, prompt: Sequence[str]) -> str:
    """Returns why the oracle is not for a prompt, "" if it is. Raises FunctionError if the function `wrong` fails."""
    if program.wrong is None:
        return ""
    with report_failures(f"the prompt of {program.name}"):
        wrong = program.wrong([*prompt])
    if not isinstance(wrong, str):
        raise FunctionError(
            f"wrong of {program.name} returns text, '' for a prompt that is right, not {text_in_message(wrong)}"
        )
    return text_of(wrong)


def drawn_prompt(program: Program, n: int, rng: random.Random, longest: int | None = None) -> list[str]:
    """Returns a prompt for n, each piece of some length, by default its largest; few different numbers in some, so that they

    Where the program draws prompts itself, every other one is its own, for n or `longest`, whichever is less.
    """
    if program.draw is not None and rng.random() < 0.5:
        return _own_prompt(program, n if longest is None else min(n, longest), rng)
    words: list[str] = []
    few = rng.choice((2, 3, n))
    for piece in program.texts.prompt:
        most = piece.most(n)
        for _ in range(most if longest is None else rng.randint(min(piece.least, most), min(most, longest))):
            high = min(piece.largest(n), piece.low + few - 1) if piece.numbers else 0
            choices = [*piece.words, *([str(rng.randint(piece.low, high))] if piece.numbers else [])]
            words.append(rng.choice(choices))
    return words


def _own_prompt(program: Program, n: int, rng: random.Random) -> list[str]:
    """Returns a prompt that the program draws. Raises FunctionError, with what is wrong with it."""
    what = f"draw of {program.name} for n = {n}"
    if program.draw is None:
        raise TypeError(f"{program.name} draws no prompts")
    with report_failures(what):
        text = program.draw(
            n, random.Random(rng.getrandbits(64))
        )  # whatever it does to its numbers, others are drawn as before
    if not isinstance(text, str):
        raise FunctionError(f"{what} returns text, with spaces between the tokens, not {text_in_message(text)}")
    try:
        text = text_of(text)
        tokens = program.texts.complete(text.split())
        _, least = program.texts.read(tokens)
    except ValueError as error:
        raise FunctionError(f"{what}: {text[:40]!r} is no prompt: {error}") from error
    if least > n:
        raise FunctionError(f"{what}: {text[:40]!r} needs n = {least}")
    return tokens
