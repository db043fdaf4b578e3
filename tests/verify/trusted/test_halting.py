"""The checker of runs for all n: its theorem by simulation, and nothing that is false or tampered with passes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from constructions.turing.machine import parse_standard
from constructions.turing.simulator import simulate
from tests.verify.trusted.checkers import accepted, accepted_changes, at, other_steps, places, stored_family
from verify.oracles.lower_bounds import TURING, LowerBound, loop
from verify.oracles.reductions import FINDER, inputs, written_as
from verify.trusted import halting
from verify.trusted.halting import check
from verify.trusted.kernel import Rejected

MOST = 3
MOST_HINTS = 12  # that are changed


@pytest.fixture(scope="module")
def stored() -> tuple[Any, Any]:
    return stored_family("5.4/lower-turing")


def is_true(theorem: Any) -> bool:
    """For few bits, by simulation."""
    machine = parse_standard(theorem["machine"])
    for n in range(1, MOST + 1):
        for x, k in itertools.product(inputs(n), range(1, n + 1)):
            tape = "".join(written_as(theorem, x, k)[1:])
            end = simulate(machine, tape, 200)
            if (
                not end.halted
                or end.state != theorem["answers"][x[k - 1]]
                or len(tape) > eval(theorem["size"], {"n": n})
            ):
                return False
    return True


def test_the_stored_proof_is_accepted_and_the_theorem_true(stored: tuple[Any, Any]) -> None:
    assert (stored[0], stored[1]["hints"]) == (TURING.theorem, TURING.hints)
    assert parse_standard(TURING.theorem["machine"]) == FINDER
    check(*stored)
    assert is_true(stored[0])


def machines(text: str) -> Iterator[str]:
    """Every machine with one letter changed."""
    for place, letter in enumerate(text):
        for other in (
            "01234" if letter.isdecimal() else "LR" if letter in "LR" else "ABCNY" if letter in "ABCNY" else ""
        ):
            if other != letter:
                yield text[:place] + other + text[place + 1 :]


def test_a_changed_machine_is_accepted_only_if_it_finds_the_bit(stored: tuple[Any, Any]) -> None:
    theorem, proof = stored
    others = [{**theorem, "machine": machine} for machine in list(machines(theorem["machine"]))[::3]]
    passed = [other for other in others if accepted(halting, other, proof)]
    assert all(is_true(other) for other in passed)
    assert 0 < len(passed) < len(others) / 8  # what is written where it halts is no matter


FALSE: dict[str, dict[str, Any]] = {
    "answers turned": {"answers": ["Y", "N"]},
    "equal answers": {"answers": ["N", "N"]},
    "a mark less": {"bob": [loop("j", "n - k - 1", ["3"])]},
    "a mark more": {"bob": [loop("j", "n - k + 1", ["3"])]},
    "k marks": {"bob": [loop("j", "k", ["3"])]},
    "other marks": {"bob": [loop("j", "n - k", ["4"])]},
    "no marks": {"bob": []},
    "Bob knows x": {"bob": [loop("j", "n - k + x[k] - x[k]", ["3"])]},
    "bits of Bob's": {"bob": [loop("j", "n - k", ["a"])]},
    "Alice writes less": {"alice": [loop("i", "n - 1", ["x[i] + 1"])]},
    "a smaller size": {"size": "2*n - 2", "bits": "size/2 + 1"},
    "more bits": {"bits": "size"},
    "another size": {"for": {"n": 1, "c": 2}},
    "another task": {"task": "index"},
    "one more field": {"trust": "me"},
    "a written letter": {"machine": TURING.theorem["machine"].replace("4RA4RA", "aRAaRA")},
    "it halts in a state of its own": {
        "machine": TURING.theorem["machine"].replace("2RY", "2RC"),
        "answers": ["N", "C"],
    },
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_has_no_proof(name: str, stored: tuple[Any, Any]) -> None:
    theorem = {**TURING.theorem, **FALSE[name]}
    assert not accepted(halting, theorem, stored[1])
    with pytest.raises((Rejected, ValueError, KeyError, IndexError)):
        LowerBound({**theorem, "task": "turing"} if name != "another task" else theorem, TURING.hints).with_proof()


def test_a_tampered_proof_is_rejected(stored: tuple[Any, Any]) -> None:
    theorem, proof = stored
    others: list[tuple[tuple[Any, ...], Any]] = []
    for path in places(proof["hints"], ("hints",)):
        value = at(proof, path)
        if isinstance(value, str):
            others += [(path, other) for other in (f"({value}) + 1", "step" if value == "over" else "over", "x[k]")]
        elif isinstance(value, list):
            others += [(path, [*value, *value[:1]]), (path, value[:-1])] if value else [(path, ["over"])]
    others = others[:: 1 + len(others) // MOST_HINTS]
    others += other_steps(proof)
    assert accepted_changes(halting, theorem, proof, others) == []
