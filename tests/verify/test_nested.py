"""JSON that is nested deeper than Python follows is one line and exit status 2, wherever a command reads JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from verify import certify, diff, explain, readme, replay, table, theorem

NESTED = "[" * 200_000
COMMANDS: Sequence[tuple[Callable[[Sequence[str]], int], Sequence[str]]] = (
    (certify.main, ("--replay", "FILE")),
    (explain.main, ("--replay", "FILE")),
    (theorem.main, ("--replay", "FILE")),
    (replay.main, ("C.1/printed", "--witness", NESTED)),
    (replay.main, ("C.1/printed", "--witnesses", "FILE")),
    (replay.main, ("C.1/printed", "--ledger", "FILE")),
    (readme.main, ("FILE",)),
    (table.main, ("FILE",)),
    (diff.main, ("FILE", "FILE")),
)


@pytest.mark.parametrize(("command", "arguments"), COMMANDS)
def test_nested_json_is_a_usage_error(
    command: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "nested.json"
    path.write_text(NESTED)
    assert command([str(path) if word == "FILE" else word for word in arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert ": error: " in line
