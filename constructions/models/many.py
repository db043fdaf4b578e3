"""Many requests at once: those of one model in a batch of `dense`, which runs each guess of the answer in one pass.

A request whose guess is right at each position is decoded by that pass, by induction over the positions. Any other one goes on
from its first deviation by runs of its own. The time of `dense` grows with the square of the length, so longer requests are decoded
one by one, and so are those in an arithmetic that it does not compute.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from constructions.engines import Decoded, decode_with_guess, find_engine
from constructions.models.solver import Request, Run
from precision.format import Rounding

if TYPE_CHECKING:
    from constructions.engines.reference import Flags

LONGEST = 2048  # tokens of a sequence that goes into a batch
CHUNK = 1024  # requests that are looked at together


def run_together(requests: Sequence[Request], device: str = "cpu") -> Iterator[Run]:
    """The runs in the order of the requests. device: of the batches. Raises SearchError, EngineFailed."""
    for start in range(0, len(requests), CHUNK):
        chunk = requests[start : start + CHUNK]
        runs: dict[int, Run] = {}
        by_model: dict[int, list[int]] = {}
        for place, request in enumerate(chunk):
            if _fits(request):
                by_model.setdefault(id(request.wired), []).append(place)
            else:
                runs[place] = request.run(find_engine("auto"))
        for places in by_model.values():
            runs |= zip(places, _batch([chunk[place] for place in places], device), strict=True)
        yield from (runs[place] for place in range(len(chunk)))


def _fits(request: Request) -> bool:
    longest = len(request.prompt) + min(len(request.guess) or request.limit, request.limit)
    readable = request.wired.model.longest is None or longest <= request.wired.model.longest + 1
    return longest <= LONGEST and readable and request.wired.arithmetic.rounding is not Rounding.STOCHASTIC


def _batch(requests: Sequence[Request], device: str) -> Iterator[Run]:
    """Requests of one model."""
    from constructions.engines import dense

    wired = requests[0].wired
    fed = [
        [*request.prompt, *itertools.islice(_guess(request), max(len(request.guess) - 1, 0))] for request in requests
    ]
    first = dense.run(wired.model, wired.arithmetic, fed, device=device).next_tokens
    for request, tokens, argmax in zip(requests, fed, first, strict=True):

        def run(
            known: Sequence[int], draft: Sequence[int], tokens: list[int] = tokens, argmax: object = argmax
        ) -> list[int]:
            text = [*known, *draft]
            if text == tokens[: len(text)]:  # what follows a position depends on what stands up to it alone
                return np.asarray(argmax)[: len(text)].tolist()  # type: ignore[no-any-return]
            (alone,) = dense.run(wired.model, wired.arithmetic, [text], device=device).next_tokens
            return alone.tolist()  # type: ignore[no-any-return]

        produced = decode_with_guess(
            run, request.prompt, request.stop, request.limit, list(_guess(request)), request.respond
        )
        yield Run(
            request, np.array(produced, np.int64), Decoded(produced, flags_of(request, produced, device), "dense")
        )


def flags_of(request: Request, produced: Sequence[int], device: str = "cpu") -> Callable[[], Flags]:
    """What finds the flags of a run by `dense`. The last word and the response to it were not fed, so they have none."""

    def flags() -> Flags:
        from constructions.engines import dense

        sequence, written, last = list(request.prompt), 0, len(request.prompt)
        while written < len(produced):
            last = len(sequence)
            sequence.append(produced[written])
            response = () if produced[written] in request.stop else request.respond(sequence)
            sequence.extend(response)
            written += 1 + len(response)
        wired = request.wired
        (noted,) = dense.run(wired.model, wired.arithmetic, [sequence[:last]], device=device, flags=True).flags or ()
        return noted

    return flags


def _guess(request: Request) -> Iterator[int]:
    return iter(request.guess.tolist() if isinstance(request.guess, np.ndarray) else request.guess)
