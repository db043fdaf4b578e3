"""Small models that rounding makes wrong on a text. The checker must certify none: one that accepts everything certifies nothing.

Each has a text on which a register ends more than a step from its ideal value; tests show which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from constructions.wiring.wired import Wired
from precision.format import Arithmetic, fixed_point
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.document import CERTIFIED
from verify.certificates.small import RegisterNames, Weights, judged

NONE: Weights = {}


def keys_that_tie() -> tuple[Wired, TokenAutomaton]:
    """Builds a model whose `?` reads the mean of the numbers and says 3 if it is below 5/3, as the rounded 5/3 is."""
    of = RegisterNames(("v", "?", "one", "read"))
    words = {**{str(v): {"v": v, "one": 1} for v in range(1, 4)}, "s": {"v": 1}, "?": {"?": 1, "one": 1}}
    head = of.head([({"?": 40}, {"one": 1, "?": -1})], {"v": 1}, "read")
    block = of.block(({"read": -12, "?": 20}, 0, {"?": 8}, 0, {"v": 1}), heads=[head])
    numbers, asked = State(Label("x"), 2, 4, (0, 1), numbers=(1, 3)), State(Label("?"), 3, 5, (1,), "?")
    spoken = TokenAutomaton((State(Label("s"), 1, 1, (), "s"), numbers, asked), frozenset([asked.label]), (4, 4))
    return of.model(words, NONE, [block], Arithmetic(fixed_point(17))), spoken


def a_sum_that_saturates() -> tuple[Wired, TokenAutomaton]:
    """Builds a model that sums 10 + 10 − 15 in a format up to 15.9375: it saturates, and the sum is less than 1."""
    of = RegisterNames(("a", "b", "c", "sum"))
    recurrence = of.recurrence({"sum": {"sum": 1}}, {"sum": {"a": 10, "b": 10, "c": -15}})
    wired = of.model({w: {w: 1} for w in "abc"}, NONE, [of.block(recurrence=recurrence)], Arithmetic(fixed_point(9)))
    return wired, _in_order("abc")


def a_runner_up_that_is_near() -> tuple[Wired, TokenAutomaton]:
    """Builds a model whose `?` should read `a`, with score 40, but `b` scores 39; all others score 0."""
    of = RegisterNames(("score", "v", "?", "read"))
    words = {"a": {"score": 40, "v": 1}, "b": {"score": 39, "v": 9}, "c": {"v": 5}, "?": {"?": 1}}
    head = of.head([({"?": 1}, {"score": 1})], {"v": 1}, "read")
    wired = of.model(words, NONE, [of.block(heads=[head])], Arithmetic(fixed_point(17)))
    return wired, _in_order(words)


def _in_order(words: Iterable[str]) -> TokenAutomaton:
    """Returns the words, one after the other, with an answer after the last."""
    spoken = tuple(State(Label(w), i, i, (i - 2,) if i > 1 else (), w) for i, w in enumerate(words, 1))
    return TokenAutomaton(spoken, frozenset([spoken[-1].label]), (4, 4))


WRONG = (keys_that_tie, a_sum_that_saturates, a_runner_up_that_is_near)


def certified_names() -> Iterator[str]:
    """Yields the names of those that the checker certifies nevertheless."""
    for builder in WRONG:
        if judged(*builder()).verdict == CERTIFIED:
            yield builder.__name__
