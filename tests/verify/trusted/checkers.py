"""What is asked of every checker of proofs: which proofs it accepts, and whether it sees that one was tampered with."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from verify.framework.proofs import load
from verify.trusted import kernel
from verify.trusted.kernel import Rejected

STORED = Path(kernel.__file__).parents[1] / "proofs.json"
Place: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a place of a JSON value."""


def accepted(checker: ModuleType, theorem: Any, proof: Any) -> bool:
    """Whether this checker has nothing against the proof."""
    try:
        checker.check(theorem, proof)
    except Rejected:
        return False
    return True


def stored_family(id: str) -> tuple[Any, Any]:
    """The theorem on a family of prefixes that a claim's one proof has in it, and its part of the proof that is committed."""
    [[item]] = load(STORED)[id].values()
    return item["theorem"]["family"], item["proof"]["family"]


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place of a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(value: Any, path: Place) -> Any:
    """What stands at a place."""
    for key in path:
        value = value[key]
    return value


def tampered(proof: Any, path: Place, other: Any) -> Any:
    """The proof with one place changed."""
    if not path:
        return other
    mutant = copy.deepcopy(proof)
    at(mutant, path[:-1])[path[-1]] = other
    return mutant


def other_steps(proof: Any) -> list[tuple[Place, Any]]:
    """The steps of a proof by obligations, fewer, more, turned, and none."""
    steps: Sequence[Any] = proof["steps"]
    return [(("steps",), some) for some in (steps[:-1], [*steps, steps[-1]], steps[::-1], None)]


def accepted_changes(
    checker: ModuleType, theorem: Any, proof: Any, changes: Sequence[tuple[Place, Any]]
) -> list[tuple[Place, Any]]:
    """Those of the changes with which the proof is accepted."""
    return [change for change in changes if accepted(checker, theorem, tampered(proof, *change))]
