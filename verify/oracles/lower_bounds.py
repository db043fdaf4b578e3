"""The lower bounds for all n, as theorems for `trusted.pigeonhole`, `halting` and `states`, and where to look for proofs.

Nothing of the proofs is trusted: what is found wrongly is rejected there. The theorems are what is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType

from verify.framework.claim import Json
from verify.oracles.linear_proofs import by_combination
from verify.oracles.proofs import Shown
from verify.trusted import halting, pigeonhole

Item = tuple[int, ...]


@dataclass(frozen=True)
class LowerBound:
    """A theorem, and the hints of its proof."""

    theorem: Json
    hints: Json

    def with_proof(self) -> Shown:
        """Returns the theorem and a proof. ValueError if none is found."""
        checker = halting if self.theorem["task"] == "turing" else pigeonhole
        steps = [by_combination(owed) for owed in checker.obligations(self.theorem, self.hints)]
        return self.theorem, {"hints": self.hints, "steps": steps}

    def states(self) -> Shown:
        """Returns the theorem that a machine has 2^n states, and a proof. ValueError if none is found."""
        family, proof = self.with_proof()
        return {"states": "2**n", "family": family}, {"family": proof, "lines": LINES}


ONE_STATE = [
    ["state(alice(x))", "state(alice(y))", "suppose"],
    ["length(alice(x))", "length(alice(y))", "length"],
    *([f"output(alice({z}), bob(k))", f"says(state(alice({z})), length(alice({z})), bob(k))", "reads"] for z in "xy"),
    *([f"output(alice({z}), bob(k))", f"answer(k, {z}[k])", "right"] for z in "xy"),
]
LINES = [
    *ONE_STATE,
    [ONE_STATE[2][1], ONE_STATE[3][1], "same", [0, 1]],
    ["answer(k, x[k])", "answer(k, y[k])", "chain", [4, 2, 6, 3, 5]],
]
"""Two lists that lead to one state have the same answers, for `trusted.states`."""


def loop(name: str, last: str, *items: Json) -> Json:
    """Returns the items, once for each value of the variable."""
    return {"for": name, "to": last, "do": list(items)}


INDEX = LowerBound(
    {
        "task": "index",
        "for": {"n": 2},
        "size": "n",
        "bits": "size",
        "alice": [loop("i", "n", ["x[i] + 1"])],
        "bob": [["k"]],
        "answers": ["1", "2"],
    },
    {"at": [0, ["k"]]},
)
NGRAM = LowerBound(
    {
        "task": "ngram",
        "for": {"n": 2, "c": 2},
        "size": "c*n",
        "bits": "size/c",
        "alice": [loop("i", "n", loop("j", "c - 1", ["i"]), ["n + 1 + x[i]"])],
        "bob": [loop("j", "c - 1", ["k"])],
        "answers": ["n + 1", "n + 2"],
    },
    {"first": "(k - 1)*c + 1", "match": [0, ["k", "r"]], "query": [0, ["r"]], "answer": [1, ["k"]]},
)
RECALL = LowerBound(
    {
        "task": "ngram",
        "for": {"n": 2},
        "size": "2*n",
        "bits": "size/2",
        "alice": [loop("i", "n", ["i"], ["n + 1 + x[i]"])],
        "bob": [["k"]],
        "answers": ["n + 1", "n + 2"],
    },
    {"first": "2*k - 1", "match": [0, ["k"]], "query": [0, []], "answer": [1, ["k"]]},
)
COUNTING = LowerBound(
    {
        "task": "counting",
        "for": {"n": 1},
        "size": "n + 1",
        "bits": "size - 1",
        "alice": [loop("i", "n", ["x[i]*i + (1 - x[i])*(n + 1)"])],
        "bob": [["k"]],
        "answers": ["NO", "YES"],
    },
    {"at": [0, ["k"]]},
)
ISTREE = LowerBound(
    {
        "task": "istree",
        "for": {"n": 1},
        "size": "n + 3",
        "bits": "size - 3",
        "alice": [loop("i", "n + 1", ["i", "n + 2 + y[i - 1]"])],
        "bob": [["k", "k + 1"]],
        "answers": ["NO", "YES"],
    },
    {
        "labels": [loop("i", "n + 1", ["y[i - 1]"]), ["0"], ["1"]],
        "ends": [[[[0, ["i"]]], [[1, []], [2, []]]], [[[0, ["k"]]], [[0, ["k + 1"]]]]],
        "apart": [[1, []], [2, []]],
        "root": "n + 2",
        "walks": [[[0, ["i"]], [0, ["k"]], [0, ["k + 1"]], [1, []]], [], [[0, ["k"]], [0, ["k + 1"]], [1, []]]],
    },
)
BESIDE_ORACLE = LowerBound(
    {
        "task": "index",
        "oracle": "recall",
        "for": {"n": 1},
        "size": "2*n + 4",
        "bits": "size/2 - 2",
        "alice": [["1"], ["3"], ["2"], ["3"], loop("i", "n", ["x[i] + 1"], ["3"])],
        "bob": [["2*k + 3"]],
        "answers": ["1", "2"],
    },
    {
        "at": [4, ["k"]],
        "oracle": {
            "start": [0, []],
            "keys": [["1", [0, []], [1, []]], ["3", [1, []], [2, []]], ["2", [2, []], [3, []]]],
        },
    },
)
TURING = LowerBound(
    {
        "task": "turing",
        "machine": "0LB1RA2RA3RA4RA_---1RN2RY0LC4LB_---4RA4RA3LC4LC",
        "for": {"n": 1},
        "size": "2*n",
        "bits": "size/2",
        "alice": [loop("i", "n", ["x[i] + 1"])],
        "bob": [loop("j", "n - k", ["3"])],
        "answers": ["N", "Y"],
    },
    {
        "before": ["over"],
        "now": {
            "state": "A",
            "facing": "R",
            "left": [["a", "1", "n - t"], ["4", "1", "t"]],
            "right": [["3", "1", "n - k - t"]],
        },
        "rounds": "n - k",
        "round": ["over", "step", "step", "over", "over", "step", "over"],
        "behind": ["step", "over"],
    },
)


def texts_of(program: Sequence[Json], values: dict[str, int], x: Sequence[int]) -> Iterator[Item]:
    """Yields what a program writes for these numbers and bits: its texts as Python reads them."""
    known = {**values, "x": (0, *x), "y": (0, *(parity % 2 for parity in itertools.accumulate(x)))}
    for item in program:
        if isinstance(item, list):
            yield tuple(eval(_code(word), known) for word in item)
        else:
            for value in range(1, eval(_code(item["to"]), known) + 1):
                yield from texts_of(item["do"], {**values, item["for"]: value}, x)


@cache
def _code(text: str) -> CodeType:
    return compile(text, text, "eval")
