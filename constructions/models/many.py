"""Many requests at once: those of one model in a batch of `dense`, which runs each guess of the answer in one pass.

A request whose guess is right at each position is decoded by that pass, by induction over the positions. Any other one goes on
from its first deviation by runs of its own. The time of `dense` grows with the square of the length, so longer requests are decoded
one by one, and so are those in an arithmetic that it does not compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constructions.engines import decode_together, find_engine
from constructions.models.request import Request, Run
from precision.format import Rounding

LONGEST = 2048  # tokens of a sequence that goes into a batch
CHUNK = 1024  # requests that are looked at together


def run_together(requests: Sequence[Request], device: str = "cpu") -> Iterator[Run]:
    """Yields the runs in the order of the requests. device: of the batches. Raises SearchError, EngineFailed."""
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
            together = decode_together([chunk[place].decoding() for place in places], device)
            runs |= {place: chunk[place].run_of(decoded) for place, decoded in zip(places, together, strict=True)}
        yield from (runs[place] for place in range(len(chunk)))


def _fits(request: Request) -> bool:
    if not request.limit:
        return False
    longest = len(request.prompt) + min(len(request.guess) or request.limit, request.limit)
    readable = request.wired.model.longest is None or longest <= request.wired.model.longest + 1
    return longest <= LONGEST and readable and request.wired.arithmetic.rounding is not Rounding.STOCHASTIC
