"""Which texts a program is for: pieces, one after the other, as in a regular expression.

`<s>` stands before them. A text of a program for n has at most n tokens of each piece that may repeat, and numbers up to n.
After `<EndSearch>` stands what is found by the search for the words between `<StartSearch>` and it (models/search.py). A piece
says what that may be; no word of the program is due there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from constructions.language.interpreter import Spoken
from constructions.language.values import START

Size: TypeAlias = Any
"""n: an int, or a symbol for it."""


@dataclass(frozen=True)
class Piece:
    """A token, or several. words: those that may stand there; numbers: whether a number may, from `low` on, up to n or `high`.

    plus: by how much numbers may be above n, where there is no `high`.
    least: how many at least. times: of n, how many at most; 0 where it is one token, or at most one where least is 0.
    name: what this piece is called where people read of it.
    """

    words: tuple[str, ...] = ()
    numbers: bool = False
    low: int = 1
    high: int | None = None
    least: int = 1
    times: int = 0
    name: str = ""
    plus: int = 0

    def __post_init__(self) -> None:
        for text in self.words:
            if not text or text.split() != [text] or text.isdecimal() or text == START:
                raise ValueError(f"{text!r} is no word: it is some text without spaces, no number, and not {START}")
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise ValueError(
                f"numbers are from 0 on, and the last is not below the first: not {self.low} … {self.high}"
            )
        if self.least not in (0, 1) or self.times < 0:
            raise ValueError(
                f"a piece is there at least 0 or 1 times, not {self.least}; times is a number of n, not {self.times}"
            )

    @property
    def repeats(self) -> bool:
        """True if several tokens may stand there."""
        return self.times > 0

    def called(self, name: str) -> Piece:
        """Returns the same piece under a name."""
        return replace(self, name=name)

    def takes(self, token: str) -> bool:
        """Returns whether this token may stand there, of some n."""
        if not self.numbers or not token.isdecimal() or token != str(int(token[:30] or 0)):
            return token in self.words
        return self.low <= int(token) and (self.high is None or int(token) <= self.high)

    def __str__(self) -> str:
        beyond = f" to n + {self.plus}" if self.plus else ""
        number = f"a number from {self.low}" + (beyond if self.high is None else f" to {self.high}")
        return " or ".join([*[number] * self.numbers, *map(repr, self.words)])

    def largest(self, n: Size) -> Size:
        """Returns the largest number that may stand there."""
        return n + self.plus if self.high is None else self.high

    def most(self, n: Size) -> Size:
        """Returns the most tokens that it has."""
        return n * self.times if self.times else 1


def numbers(low: int = 1, high: int | None = None, *, plus: int = 0) -> Piece:
    """Returns a number from `low` to `high`, by default from 1 to n + `plus`: positions of a text may be above n.

    Raises ValueError for bounds that are no whole numbers, and for `plus` beside `high`.
    """
    for bound in (low, high):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise ValueError(f"the bounds of numbers are whole numbers, not {bound!r}")
    if isinstance(plus, bool) or not isinstance(plus, int) or plus < 0 or (plus and high is not None):
        raise ValueError(f"plus is a whole number from 0 on, without a bound of its own, not {plus!r}")
    return Piece(numbers=True, low=low, high=high, plus=plus)


def words(*texts: str) -> Piece:
    """Returns a piece: one of these words."""
    return Piece(words=texts)


def some(piece: Piece | str, *, times: int = 1) -> Piece:
    """Returns one or more of them, up to n, or n times a number. Raises ValueError for a piece that is repeated already."""
    return _repeat(piece, 1, times)


def many(piece: Piece | str, *, times: int = 1) -> Piece:
    """Returns any number of them, up to n, or n times a number. Raises ValueError for a piece that is repeated already."""
    return _repeat(piece, 0, times)


def _repeat(piece: Piece | str, least: int, times: int) -> Piece:
    once = as_piece(piece)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise ValueError(f"times is a whole number from 1 on, not {times!r}")
    if (once.least, once.times) != (Piece.least, Piece.times):
        raise ValueError(
            "a piece is repeated once: some(…) or many(…) of words or numbers, not of some(…), many(…) or optional(…)"
        )
    return replace(once, least=least, times=times)


def either(*pieces: Piece | str) -> Piece:
    """Returns one of these: words, and numbers if one of the pieces is numbers. Raises ValueError for two kinds of numbers."""
    all_pieces = [as_piece(piece) for piece in pieces]
    of_numbers = [piece for piece in all_pieces if piece.numbers]
    if len(of_numbers) > 1:
        raise ValueError("either takes one piece of numbers")
    base = of_numbers[0] if of_numbers else Piece()
    return replace(base, words=tuple(text for piece in all_pieces for text in piece.words))


def optional(piece: Piece | str) -> Piece:
    """Returns a piece of one token of this, or none."""
    return replace(as_piece(piece), least=0)


def as_piece(piece: Piece | str) -> Piece:
    """Returns a word as a piece, a piece unchanged. Raises ValueError for any other object."""
    if not isinstance(piece, str | Piece):
        raise ValueError(f"a text is made of words and pieces, such as some(numbers()), not of {piece!r}")
    return words(piece) if isinstance(piece, str) else piece


@dataclass(frozen=True)
class Texts:
    """A prompt, and what a run may say after it; both in pieces. thought: () if the answer follows at once."""

    prompt: tuple[Piece, ...]
    thought: tuple[Piece, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Returns the pieces of the prompt, and those of the thought after them."""
        return self.prompt + self.thought

    @property
    def words(self) -> tuple[str, ...]:
        """Returns every word but `<s>`, in the order of its first piece."""
        return tuple(dict.fromkeys(text for piece in self.pieces for text in piece.words))

    @property
    def lowest(self) -> int:
        """Returns the least number of the vocabulary."""
        return min((piece.low for piece in self.pieces if piece.numbers), default=1)

    def length(self, n: Size) -> Size:
        """Returns the most tokens of a text, `<s>` included."""
        return 1 + sum(piece.most(n) for piece in self.pieces)

    def last(self, n: Size) -> dict[str, Size]:
        """Returns each word but `<s>`, with the last position at which it can stand."""
        ends = itertools.accumulate(self.pieces, lambda end, piece: end + piece.most(n), initial=1)
        return {word: end for piece, end in zip(self.pieces, [*ends][1:], strict=True) for word in piece.words}

    def next_places(self, place: int, *, thought: bool = True) -> Iterator[int]:
        """Yields the pieces that may come after this one, or go on with it; −1 is `<s>`, and the number of all the end.

        thought: whether a prompt goes on with what is said after it, else it ends there.
        """
        pieces = self.pieces if thought else self.prompt
        if place >= 0 and pieces[place].repeats:
            yield place
        for i in range(place + 1, len(pieces)):
            yield i
            if pieces[i].least:
                return
        yield len(pieces)

    def complete(self, tokens: Sequence[str]) -> list[str]:
        """Returns tokens with the words that end every prompt, if they are left out: a `?`, say."""
        ending: list[str] = []
        for piece in reversed(self.prompt):
            if piece.numbers or len(piece.words) != 1 or piece.repeats or not piece.least:
                break
            ending.insert(0, piece.words[0])
        left_out = ending and [*tokens[-len(ending) :]] != ending
        return [*tokens, *ending] if left_out else [*tokens]

    def read(self, tokens: Sequence[str]) -> tuple[list[Spoken], int]:
        """Returns the tokens of a prompt, `<s>` before them, and the least n that it is one for.

        Raises ValueError, with one line, for what is none of these prompts.
        """
        spoken: list[Spoken] = [(START, 0)]
        # A piece that may stand here → pairs: the least n so far, and how many tokens of this piece stand here.
        repeated: dict[int, set[tuple[int, int]]] = {-1: {(0, 0)}}
        for at, token in enumerate(tokens, start=1):
            now: dict[int, set[tuple[int, int]]] = {}
            for place, pairs in repeated.items():
                for i in self.next_places(place, thought=False):
                    if i < len(self.prompt) and self.prompt[i].takes(token):
                        piece, counts = self.prompt[i], [(n, here + 1 if i == place else 1) for n, here in pairs]
                        number = int(token) - piece.plus if token.isdecimal() and piece.high is None else 0
                        times = max(piece.times, 1)
                        now.setdefault(i, set()).update((max(n, -(-here // times), number), here) for n, here in counts)
            if not now:
                expected = {i for place in repeated for i in self.next_places(place, thought=False)}
                names = [str(self.prompt[i]) for i in sorted(expected) if i < len(self.prompt)]
                names += ["the end"] * (len(self.prompt) in expected)
                raise ValueError(f"token {at} is {token[:40]!r}; what can stand there is {' or '.join(names)}")
            spoken.append(("", int(token)) if token.isdecimal() else (token, 0))
            repeated = {i: _least(pairs) for i, pairs in now.items()}
        ends = [place for place in repeated if len(self.prompt) in self.next_places(place, thought=False)]
        if not ends:
            expected = {i for place in repeated for i in self.next_places(place, thought=False)}
            names = [str(self.prompt[i]) for i in sorted(expected)]
            raise ValueError(f"the prompt ends too early; what can stand next is {' or '.join(names)}")
        return spoken, max(1, min(n for place in ends for n, _ in repeated[place]))


def _least(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Returns the pairs that no other pair is below in both."""
    kept: list[tuple[int, int]] = []
    for most, here in sorted(pairs):
        if not kept or here < kept[-1][1]:
            kept.append((most, here))
    return set(kept)
