"""The commands that are measured exist, and say how many tokens they read and write."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.bench import commands
from tests.bench.commands import COMMANDS, Command, Figure, measure_all, process, repeated


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_measured_command_is_one(command: Command, tmp_path: Path) -> None:
    module, *options = command.argv(10, tmp_path / "input")
    assert find_spec(module) is not None
    assert options
    assert command.tokens(10) >= 10


def test_what_no_longer_fits_is_left_out_the_dearest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(commands.time, "monotonic", lambda: now)
    cheap, dear = (Command(name, lambda n, path: (), largest=1000) for name in ("cheap", "dear"))
    seconds = {(cheap, 100): 1.0, (dear, 100): 2.0, (cheap, 1000): 3.0, (dear, 1000): 99.0}

    def once(command: Command, n: int, left: float) -> Figure | None:
        nonlocal now
        taken = min(seconds[command, n], left)
        now += taken
        return Figure(taken, taken, 1) if taken == seconds[command, n] else None

    measure = repeated(once, 1)
    actual = measure_all((dear, cheap), (100, 1000, 10_000), measure, 50, 1)
    assert {command.name: sorted(figures) for command, figures in actual.items()} == {
        "dear": [100],
        "cheap": [100, 1000],
    }
    assert now == 50  # and not 105
    assert measure_all((dear,), (100,), measure, 1, 1) == {}


def test_a_process_that_takes_too_long_is_ended() -> None:
    assert (
        process(
            Command("sleep", lambda n, path: ("timeit", "-n", "1", "-r", "1", "import time; time.sleep(30)")), 1, 0.3
        )
        is None
    )
