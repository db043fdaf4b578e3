"""What an engine writes, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from constructions.engines import Decoding, find_engine
from constructions.wiring.wired import Wired


def decode(
    wired: Wired,
    prompt: Sequence[int],
    engine: str,
    limit: int,
    *,
    stop: Iterable[str],
    guess: Iterable[str] = (),
    **how: Any,
) -> list[str]:
    """Returns the words that the engine writes after a prompt, up to one of `stop`. how: the rest of what `Decoding` takes."""
    ends, guessed = set(wired.tokens(stop)), wired.tokens(guess)
    asked = Decoding(wired.model, wired.arithmetic, prompt, ends, limit, guess=guessed, **how)
    return list(wired.spelled(find_engine(engine)(asked).produced))
