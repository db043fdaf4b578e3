"""Each process of `pytest -n` hashes strings by a seed of its own, and the same one in every run.

Names of tests that come out of a set then differ between processes in every run, not in some, and xdist says which. What a test
prints by the order of a set is the same in every run too.
"""

from __future__ import annotations

import os

import pytest

NAME = "PYTHONHASHSEED"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """The first process hashes by 1, or by what whoever started the tests has chosen."""
    if not os.environ.get(NAME, "").isdecimal():
        os.environ[NAME] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_newgateway() -> None:
    """The next one by the next number."""
    os.environ[NAME] = str(int(os.environ[NAME]) + 1)
