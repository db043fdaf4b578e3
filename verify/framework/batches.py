"""Cases that are computed many at a time, by an engine that batches, and judged one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from constructions.wiring.wired import Wired

Case = TypeVar("Case", bound=Hashable)
Found = TypeVar("Found")


class Batches(Generic[Case, Found]):
    """What was found about cases.

    compute: finds it for some cases that agree in `key`. chunk: how many cases are looked at ahead.
    """

    def __init__(
        self, compute: Callable[[list[Case]], Iterable[Found]], *, key: Callable[[Case], Hashable], chunk: int
    ) -> None:
        self.compute, self.key, self.chunk = compute, key, chunk
        self.known: dict[Case, Found] = {}

    def compute_ahead(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yields the same cases, each computed before it is handed out."""
        rest = iter(cases)
        while chunk := list(itertools.islice(rest, self.chunk)):
            for _, group in itertools.groupby(chunk, self.key):
                alike = list(group)
                self.known.update(zip(alike, self.compute(alike), strict=True))
            yield from chunk

    def foresee(self, cases: Iterable[Case]) -> None:
        """Computes cases in whatever order, those that agree in `key` together, for `outcome` to hand out."""
        groups: dict[Hashable, list[Case]] = {}
        for case in dict.fromkeys(cases):
            groups.setdefault(self.key(case), []).append(case)
        for alike in groups.values():
            for start in range(0, len(alike), self.chunk):
                some = alike[start : start + self.chunk]
                self.known.update(zip(some, self.compute(some), strict=True))

    def outcome(self, case: Case) -> Found:
        """Returns the outcome of one case, computed once; a replayed one is computed alone."""
        if case not in self.known:
            (alone,) = self.compute([case])
            return alone
        return self.known.pop(case)


def first_other_tokens(
    wired: Wired, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], device: str
) -> Sequence[int | None]:
    """Returns for each prompt the first place where the dense engine decodes another token than the answer; None if nowhere.

    The answer is fed after the prompt. If the argmax at each position is the next token of it, induction over positions shows
    that greedy decoding gives just this answer.
    """
    from constructions.engines import dense

    return dense.matches(wired.model, wired.arithmetic, prompts, answers, device=device)
