"""RNNs that remember enough: for each task of the lower bounds, one whose state has the bound's bits but for a factor of O(log n).

Source: Theorems 4.6 and 4.7, lower bounds, from the other side. Alice writes m tokens, each a number up to N; both are O(n).
So the bound of n bits cannot be raised by more than a factor of O(log n). `bits` counts the bits of a state; `rnn` is the RNN.

| task | what the state is | its bits |
|---|---|---|
| index, ngram | the tokens | m·b |
| recall | for each number what first followed it; the last token | (N + 1)·b |
| counting | for each number how often it came | N·⌈log2(m + 1)⌉ |
| istree | a component for each vertex; the number of edges; the end of an edge that waits for the other | (N + 2)·b + 1 |
| turing | the digits of the tape | m·⌈log2 5⌉ |

with b = ⌈log2(N + 1)⌉.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from circuits.rnn import FunctionRnn
from constructions.retrieval.task import FAILED, NO, YES
from constructions.turing.simulator import simulate
from verify.oracles.reductions import FINDER

State = Any
MOST_STEPS = 100_000  # of the machine on a tape


def bits(task: str, tokens: int, largest: int) -> int:
    """Returns the bits of a state that has read so many tokens, each a number up to `largest`."""
    b = largest.bit_length()
    return {
        "index": tokens * b,
        "ngram": tokens * b,
        "recall": (largest + 1) * b,
        "counting": largest * tokens.bit_length(),
        "istree": (largest + 2) * b + 1,
        "turing": tokens * 3,
    }[task]


def rnn(task: str, tokens: int, largest: int) -> FunctionRnn:
    """Returns the RNN of a task for prompts of so many tokens, each a number up to `largest`."""
    start, step, answer = MEMORIES[task](largest)

    def says(state: State, query: tuple[int, ...]) -> list[str]:
        return [str(answer(state, query))]

    def after(state: State, token: int, position: int) -> State:
        return step(state, token)

    return FunctionRnn(f"memory of {task}", bits(task, tokens, largest), lambda: start, after, says)


def _tokens(largest: int) -> tuple[State, Callable[[State, int], State]]:
    return (), lambda state, token: (*state, token)


def _index(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    return *_tokens(largest), lambda state, query: state[query[0] - 1]


def _ngram(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    def answer(state: State, query: tuple[int, ...]) -> Any:
        c = len(query)
        return next((state[i + c] for i in range(len(state) - c) if state[i : i + c] == query), FAILED)

    return *_tokens(largest), answer


def _recall(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    """Returns an RNN for associative recall. The last entry of its state is the last token; 0 stands for none."""

    def step(state: State, token: int) -> State:
        *after, last = state
        if last and not after[last - 1]:
            after[last - 1] = token
        return (*after, token)

    return (0,) * (largest + 1), step, lambda state, query: state[query[0] - 1] or FAILED


def _counting(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    def step(state: State, token: int) -> State:
        return (*state[: token - 1], state[token - 1] + 1, *state[token:])

    return (0,) * largest, step, lambda state, query: YES if state[query[0] - 1] > query[1] else NO


def _istree(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    """Returns an RNN for IsTree: the least vertex of each one's component, the number of edges, the waiting end or 0."""

    def step(state: State, token: int) -> State:
        *root, edges, waiting = state
        if not waiting:
            return (*root, edges, token)
        one, other = sorted((root[waiting - 1], root[token - 1]))
        return (*(one if r == other else r for r in root), min(edges + 1, largest), 0)

    def answer(state: State, query: tuple[int, ...]) -> str:
        *root, edges, _ = state
        return YES if edges == largest - 1 and {*root} == {1} else NO

    return (*range(1, largest + 1), 0, 0), step, answer


def _turing(largest: int) -> tuple[State, Callable[..., State], Callable[..., Any]]:
    def answer(state: State, query: tuple[int, ...]) -> str:
        return simulate(FINDER, "".join(map(str, state)), MOST_STEPS).state

    return *_tokens(largest), answer


MEMORIES: dict[str, Callable[[int], tuple[State, Callable[..., State], Callable[..., Any]]]] = {
    "index": _index,
    "recall": _recall,
    "ngram": _ngram,
    "counting": _counting,
    "istree": _istree,
    "turing": _turing,
}
