"""What all tests share: pytester, and random cases that are the same on every machine.

Each property draws from a seed of its own, its name. Before that it tries again what once failed on this machine (`make fuzz`).
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from verify.framework.fuzz import is_property, kept_examples
from verify.framework.memory import look_rarely
from verify.framework.sampling import no_constants_of_the_source

pytest_plugins = "pytester", "tests.hash_seeds"

# A shell ignores interrupts in what it starts in the background, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "repeatable",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # what is slow here may be fast there
    database=DirectoryBasedExampleDatabase(kept_examples(Path(__file__).parents[1])),
    print_blob=True,
)
settings.load_profile("repeatable")


def is_fixed(config: pytest.Config) -> bool:
    """Unless the command line asks for other cases."""
    return config.option.fuzz is None and config.getoption("--hypothesis-seed") is None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """hypothesis has this by two doors, both of which close the database: `derandomize` and `seed`."""
    if is_property(item) and is_fixed(item.config):
        item.obj._hypothesis_internal_use_seed = item.nodeid  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    look_rarely()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    if not is_fixed(session.config):
        return (yield)
    with no_constants_of_the_source():
        return (yield)
