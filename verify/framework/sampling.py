"""Random search with shrinking, by hypothesis, that depends on its seed alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from unittest import mock

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.internal import constants_ast
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy

from verify.framework.claim import Counterexample

T = TypeVar("T")


class TimeIsOver(KeyboardInterrupt):
    """Ends a random search from inside, as Ctrl-C does: hypothesis takes anything else for an outcome of the case."""


class _Found(Exception):
    def __init__(self, case: object, counterexample: Counterexample) -> None:
        super().__init__("found")
        self.case, self.counterexample = case, counterexample


def search(
    strategy: SearchStrategy[T], judge: Callable[[T], Counterexample | None], max_examples: int, seed_value: int
) -> tuple[T, Counterexample] | None:
    """Returns a shrunk case that refutes, or None after `max_examples` cases. What `judge` raises comes through."""
    last: list[tuple[T, Counterexample]] = []

    @seed(seed_value)
    @settings(
        max_examples=max_examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
    @given(strategy)
    def look(case: T) -> None:
        counterexample = judge(case)
        if counterexample is not None:
            last[:] = [(case, counterexample)]
            raise _Found(case, counterexample)

    with no_constants_of_the_source():
        try:
            look()
        except _Found:
            return last[0]
    return None


def draw(strategy: SearchStrategy[T], max_examples: int, seed_value: int) -> list[T]:
    """Returns the cases that `search` judges where none of them refutes."""
    cases: list[T] = []
    search(strategy, cases.append, max_examples, seed_value)
    return cases


@contextmanager
def no_constants_of_the_source() -> Iterator[None]:
    """Keeps hypothesis from trying the constants of whatever local modules happen to be imported.

    Then a witness would depend on the other claims of the same process, and on any edit. Where a version of hypothesis has
    no such habit there is nothing to switch off.
    """
    name = "_get_local_constants"
    if not hasattr(providers, name):
        yield
        return
    providers.CONSTANTS_CACHE.cache.clear()
    empty = constants_ast.Constants()
    with mock.patch.object(providers, name, return_value=empty):
        yield
    providers.CONSTANTS_CACHE.cache.clear()
