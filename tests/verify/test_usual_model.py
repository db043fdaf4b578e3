"""Which model a command means where none is named: the same one everywhere."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from constructions.models.door import find_door
from constructions.models.registry import find_constructions
from constructions.show import cli
from verify.certificates.arguments import model_of

ROOT = Path(__file__).parents[2]
USUAL = {"turing": "hybrid"}  # transformer otherwise, as docs/commands.md says


class Parsed(BaseException):
    """What a command's parser makes of its arguments."""


def parsed(module: str, argv: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> argparse.Namespace:
    parse = cli.Parser.parse_args

    def stopped(self: cli.Parser, given: Sequence[str]) -> None:
        raise Parsed(parse(self, given))

    place = ROOT.joinpath(*module.split("."))
    file = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    monkeypatch.setattr(sys, "argv", [module, *argv])
    with monkeypatch.context() as patch:
        patch.setattr(cli.Parser, "parse_args", stopped)
        with pytest.raises(Parsed) as excinfo:
            runpy.run_path(str(file), run_name="__main__")
    (arguments,) = excinfo.value.args
    assert isinstance(arguments, argparse.Namespace)
    return arguments


@pytest.mark.parametrize("name", sorted({item.construction.name for item in find_constructions()}))
def test_every_command_means_the_usual_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = USUAL.get(name, "transformer")
    assert find_door(name).models[0] == usual  # what `constructions.load` takes
    assert parsed(f"constructions.{name}", [], monkeypatch).model == usual
    for command in ("certify", "explain", "theorem", "precision", "induction"):
        assert model_of(parsed(f"verify.{command}", [name], monkeypatch), name) == usual
