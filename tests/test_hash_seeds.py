"""The guard against test names that differ between processes. xdist itself refuses these."""

from __future__ import annotations

import os

import pytest

from tests.hash_seeds import NAME, pytest_xdist_newgateway, pytest_xdist_setupnodes


@pytest.mark.parametrize(("given", "seeds"), [(None, "123"), ("random", "123"), ("7", "789")])
def test_every_process_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch, given: str | None, seeds: str) -> None:
    monkeypatch.setenv(NAME, given or "")
    if given is None:
        monkeypatch.delenv(NAME)
    pytest_xdist_setupnodes()
    actual = [os.environ[NAME]]
    for _ in seeds[1:]:
        pytest_xdist_newgateway()
        actual.append(os.environ[NAME])
    assert actual == list(seeds)


def test_this_process_has_one(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("tests.hash_seeds")
    if hasattr(pytestconfig, "workerinput"):
        assert os.environ[NAME].isdecimal()
