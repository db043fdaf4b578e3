"""The commands that are measured exist, and say how many tokens they read and write."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.bench.commands import COMMANDS, Command


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_measured_command_is_one(command: Command, tmp_path: Path) -> None:
    module, *options = command.argv(10, tmp_path / "input")
    assert find_spec(module) is not None
    assert options
    assert command.tokens(10) >= 10
