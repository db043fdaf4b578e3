"""Runtimes of others, each in a process of its own, which is started once, is asked many times, and cannot import this project."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import execnet
import pytest

Ask = Callable[..., Any]
BEFORE = """
import os, sys
sys.modules.update(dict.fromkeys(("precision", "constructions", "circuits", "verify")))
folder, given = channel.receive()
os.chdir(folder)
"""
AFTER = "\nchannel.send(answer)\n"
SECONDS = 3000
PAGE = Path(__file__).parents[2] / "docs" / "exports.md"


def snippet(name: str) -> str:
    """The Python of docs/exports.md that has this name in it."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (result,) = [block for block in blocks if name in block]
    return str(result)


@pytest.fixture(scope="session")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Runs code in the process of a runtime and in a folder: it has `given`, and leaves `answer`, plain data both.

    Raises what the code raises.
    """
    home, group = tmp_path_factory.mktemp("runtimes"), execnet.Group()
    places = {"HF_HUB_OFFLINE": "1", "HF_HOME": home / "home", "HF_MODULES_CACHE": home / "code"}
    spec = "//".join(
        [
            f"popen//python={shlex.quote(sys.executable)} -I -W ignore",
            *(f"env:{name}={value}" for name, value in places.items()),
        ]
    )

    def ask(runtime: str, code: str, folder: Path, given: object = None) -> Any:
        if runtime not in group:
            group.makegateway(f"{spec}//id={runtime}")
        channel = group[runtime].remote_exec(BEFORE + code + AFTER)
        channel.send((str(folder), given))
        answer = channel.receive(SECONDS)
        channel.waitclose(SECONDS)
        return answer

    yield ask
    group.terminate(timeout=1)
