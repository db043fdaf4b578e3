"""What a search has seen: its cases are counted and measured, and the first one must fit a witness."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar, cast

from verify.framework.cases import store, to_json
from verify.framework.claim import Counterexample, Sizes, merge

T = TypeVar("T")
Predicate = Callable[[T], Counterexample | None]
Size = Callable[[T], int] | int | Literal["own"] | None
Span = tuple[int, int | None]


class WitnessFound(Exception):
    """Ends a claim's test: its witness is found."""


class NoVerdict(Exception):
    """Ends a claim's test without a verdict."""


def measure(size: Size[T], predicate: Predicate[T]) -> Callable[[T], int | None]:
    """Returns the function that measures a case. size: this function, or one number for all cases; None for cases without a size.

    "own": the case itself, if it is what the predicate calls n; else the `n` of the case, None if it has none.
    """
    if callable(size):
        return size
    if size != "own":
        return lambda _: size
    is_n = next(iter(inspect.signature(predicate).parameters), "") == "n"
    return lambda case: cast(int, case) if is_n else getattr(case, "n", None)


class CaseCount(Generic[T]):
    """Counts cases and measures their sizes; makes sure that the first one could be stored as a witness.

    tick: told how many there are. until: as of `Check`. span: of a case that is about many n, the first and the last.
    """

    def __init__(
        self,
        predicate: Predicate[T],
        size: Size[T],
        tick: Callable[[int], None],
        until: float | None,
        span: Callable[[T], Span] | None = None,
    ) -> None:
        self.predicate, self.size, self.tick, self.until, self.span = (
            predicate,
            measure(size, predicate),
            tick,
            until,
            span,
        )
        self.cases = 0
        self.spans = set[Span]()
        self.refuted = False

    @property
    def n_max(self) -> int | None:
        """The largest size met; None if there is none, or if it has no end."""
        ends = [high for _, high in self.spans]
        return max((high for high in ends if high is not None), default=None) if None not in ends else None

    @property
    def sizes(self) -> Sizes:
        """All that were met."""
        return merge(self.spans)

    def judge(self, case: T) -> Counterexample | None:
        """Returns what the predicate says of the next case."""
        if not self.cases:
            store(case, self.predicate)
        if not self.refuted:  # what a shrinking search tries after its first witness covers nothing new
            self.cases += 1
            self.tick(self.cases)
            if self.span is not None:
                self.spans.add(self.span(case))
            elif (size := self.size(case)) is not None:
                self.spans.add((size, size))
        counterexample = judge_case(self.predicate, case)
        self.refuted = self.refuted or counterexample is not None
        return counterexample

    def tried(self, case: T) -> Counterexample | None:
        """Searches until the time is over. A crash counts as a counterexample, so that its case is shrunk and kept."""
        from verify.framework.sampling import TimeIsOver

        if not self.refuted and self.until is not None and time.time() >= self.until:
            raise TimeIsOver
        try:
            return self.judge(case)
        except Exception as error:
            self.refuted = True
            return Counterexample(raised=f"{type(error).__name__}: {error}")


def has_hash(case: object) -> bool:
    """Returns whether a set may hold it."""
    try:
        hash(case)
    except TypeError:
        return False
    return True


def judge_case(predicate: Predicate[T], case: T) -> Counterexample | None:
    """Returns what the predicate says, returned or raised; TypeError if that is neither a Counterexample nor None."""
    try:
        result = predicate(case)
    except Counterexample as counterexample:
        return counterexample
    if result is not None and not isinstance(result, Counterexample):
        raise TypeError(f"a predicate returns None or a Counterexample, not {result!r}")
    return result


def readable(value: object) -> object:
    """Returns a value for the account of a witness: exact where it can be, readable where not."""
    try:
        return to_json(value)
    except TypeError:
        return str(value)
