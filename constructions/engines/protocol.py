"""What every engine answers to: greedy decoding after a prompt, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from constructions.engines.reference import Flags
    from constructions.layers import Transformer
    from precision.format import Arithmetic

Produced: TypeAlias = "Sequence[int] | NDArray[np.integer]"  # tokens; an array where they may be many
Tick = Callable[[int], None]
Respond = Callable[[Sequence[int]], Sequence[int]]
"""Told the sequence after each token that the model wrote: what its surroundings append, such as a search result; often nothing."""


def no_response(sequence: Sequence[int]) -> Sequence[int]:
    """Returns what answers a model that is alone: nothing."""
    return ()


class EngineFailed(RuntimeError):
    """An engine could not finish, for want of memory say; the message is one line."""


class NotCovered(Exception):
    """A model, an arithmetic or a length is one that the machine code has not; the message says which."""


class GaveUp(Exception):
    """A check of the run failed; produced: the tokens that are right all the same."""

    def __init__(self, produced: NDArray[np.integer], reason: str) -> None:
        super().__init__(reason)
        self.produced = produced


@dataclass(frozen=True, eq=False)
class Decoding:
    """What is to be decoded greedily: a prompt, then each argmax and the response to it, until an argmax is in `stop` or there are
    `limit` new tokens.

    guess: what the answer may be, which changes only how long it takes. tick: told the length of the sequence now and then.
    beyond: read more tokens than the model is certified for, instead of raising BeyondBound. follow: end after the first token
    that the guess has not.
    Raises IndexError for an empty prompt.
    """

    model: Transformer
    arithmetic: Arithmetic
    prompt: Sequence[int]
    stop: set[int]
    limit: int
    guess: Produced = ()
    respond: Respond = no_response
    tick: Tick = lambda length: None
    beyond: bool = False
    follow: bool = False

    def __post_init__(self) -> None:
        if not len(self.prompt):
            raise IndexError("a prompt needs at least one token")

    def after(self, produced: Produced) -> Decoding:
        """Returns what is still to be decoded after these new tokens; the guess is what follows them in it, if they begin it."""
        new = [int(token) for token in produced]
        guess = self.guess[len(new) :] if new == [int(token) for token in self.guess[: len(new)]] else ()
        return replace(self, prompt=[*self.prompt, *new], limit=self.limit - len(new), guess=guess)

    def ends(self, place: int, token: int) -> bool:
        """Returns whether decoding ends after a token that the model wrote, the new token of this index, from 0."""
        return token in self.stop or (self.follow and token not in map(int, self.guess[place : place + 1]))

    def draft(self, behind: int = 0) -> Sequence[int]:
        """Returns what is fed of the guess after so many new tokens: not its last token, and no more than the model may read."""
        most = self.limit
        if self.model.longest is not None and not self.beyond:
            most = min(most, self.model.longest + 1 - len(self.prompt))
        draft = self.guess[behind : max(0, most)][:-1]
        return [int(token) for token in draft]


@dataclass(frozen=True)
class Decoded:
    """Greedy decoding. produced: the tokens after the prompt, responses included; an array if the guess was one and
    all were decoded by lookups.

    recorded: the flags of the positions that were fed, or what finds them; None if the engine records none. engine: which one
    decoded.
    """

    produced: list[int] | Any
    recorded: Flags | Callable[[], Flags | None] | None
    engine: str

    @cached_property
    def flags(self) -> Flags | None:
        """Returns what was recorded. May raise EngineFailed, as finding it may take another run."""
        return self.recorded() if callable(self.recorded) else self.recorded


Decode = Callable[[Decoding], Decoded]
