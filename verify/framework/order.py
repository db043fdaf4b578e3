"""In which order claims are judged where several processes share a run: those that took longest last time begin.

One claim takes a thousand times as long as another. If the long ones are handed out first, and one by one, the processes end
together. Claims that share work stay in one process (`group_of`), which does it once (`check.Shared`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from verify.framework.options import FILES, STORED

T = TypeVar("T")
Key = tuple[str, str]
"""A claim and its engine: what a row of the ledger is known by."""
HERE = Path(__file__).resolve().parents[1]
LEDGER = HERE / "ledger.json"  # a link to the one in docs/, so that it is installed as well
WITNESSES = HERE / STORED
SHARED = re.compile(
    "(?P<weights>rounding|program)$|(?P<lemmas>search|length|run|invariant-[a-z]+)$|(?P<cases>(program-)?above)$"
)
"""The ends of claims that share something: weights of stored intervals, lemmas on a run, or weights in cases of n."""


def seconds_of(path: Path) -> dict[Key, float]:
    """Returns how long each claim took when this ledger was written; nothing if there is no ledger."""
    from verify.framework import ledger

    try:
        return {(row.claim.id, row.engine): row.seconds for row in ledger.read(path)}
    except (OSError, ValueError):
        return {}


def group_of(claim: str) -> str:
    """Returns what claims have in common that share work: `4.7/lean-weights` of `4.7/lean-rounding` and `4.7/lean-program`."""
    return SHARED.sub(lambda end: str(end.lastgroup), claim)


def longest_first(items: Sequence[T], keys: Sequence[Key | None], seconds: Mapping[Key, float]) -> list[T]:
    """Returns the items, the group that takes longest first. Groups of which nothing is known may be long: they come before it.

    A group stands at the place of its first item. Equally long ones keep their order.
    """
    durations = [seconds.get(key, float("inf")) if key else float("inf") for key in keys]
    groups = [(group_of(key[0]), key[1]) if key else i for i, key in enumerate(keys)]
    first, total = dict[object, int](), defaultdict[object, float](float)
    for i, group in enumerate(groups):
        first.setdefault(group, i)
        total[group] += durations[i]
    order = sorted(range(len(items)), key=lambda i: (-total[groups[i]], first[groups[i]], -durations[i]))
    return [items[i] for i in order]


def seconds_of_tests(tests: Sequence[str], seconds: Mapping[Key, float]) -> dict[str, float]:
    """Returns how long each test took, by pytest's names: `…::test_head[reference-C.18/repaired]`."""
    by_test = {}
    for test in tests:
        name = test.partition("[")[2].removesuffix("]")
        engine, _, claim = name.partition("-")
        for key in ((name, ""), (claim, engine)):
            if key in seconds:
                by_test[test] = seconds[key]
    return by_test


def are_claims(arguments: Sequence[str], folder: Path) -> bool:
    """Returns whether pytest, started in `folder`, judges claims alone: the verifier's folder, or files of claims."""
    paths = _paths(arguments, folder)
    return bool(paths) and all(path == HERE or path.match(FILES) for path in paths)


def witnesses_of(arguments: Sequence[str], folder: Path) -> Path | None:
    """Returns the file beside the folder `claims` that pytest, started in `folder`, is to read. None if there are several."""
    folders = {path.parent if path.suffix == ".py" else path for path in _paths(arguments, folder)}
    homes = {path.parent if path.name == Path(FILES).parent.name else path for path in folders}
    return homes.pop() / STORED if len(homes) == 1 else None


def is_checkout() -> bool:
    """Returns whether these packages are in a checkout, and not installed: then their stored witnesses are there to be written."""
    return (HERE.parent / "pyproject.toml").is_file()


def _paths(arguments: Sequence[str], folder: Path) -> list[Path]:
    return [(folder / argument.partition("::")[0]).resolve() for argument in arguments]
