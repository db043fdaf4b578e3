"""Compiling incremental decoding: where it cannot be, when people are told, and from which files."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import pytest

from constructions.engines import Asked, Decoded, auto, decode_by_reference, find_engine
from constructions.engines.incremental import decoder, sources
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.transformer import TRANSFORMER


def test_without_numba_the_reference_engine_decodes_and_that_is_said(monkeypatch, capsys):
    decoder._say_once.cache_clear()
    monkeypatch.setitem(sys.modules, "constructions.engines.incremental.machine", None)  # cannot be imported
    monkeypatch.setattr(auto, "choose", lambda *about: "incremental" if about[-1] == 0 else "indexed")
    wired, prompt = TRANSFORMER.build(3), PAPER.prompt(Graph(2, ((1, 2),)))
    expected = decode_by_reference(Asked(wired.model, wired.arithmetic, prompt, set(), 3)).produced
    for guess in ([], [expected[0], expected[0]]):  # behind a wrong guess, token by token
        for engine in ("incremental", "auto"):
            actual = find_engine(engine)(Asked(wired.model, wired.arithmetic, prompt, set(), 3, guess=guess))
            assert actual == Decoded(expected, None, "incremental")
    said = capsys.readouterr().err
    assert said.startswith("incremental decoding is not compiled, which is far slower: ")
    assert said.count("\n") == 1


def test_what_is_taken_from_inside_numba_is_there() -> None:
    """The least version is one that all this ran under; each method that parts leave out is one that its base still has."""
    from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

    from constructions.engines.incremental.parts import PartLibrary

    assert importlib.metadata.version("numba").startswith(f"{least_version('numba')}.")
    assert {name for name in vars(PartLibrary) if not name.startswith("__")} - {"set_env"} <= set(dir(JITCodeLibrary))
    assert "set_env" in dir(JITCPUCodegen)


def least_version(package: str) -> str:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (found,) = (line for line in project["dependencies"] if line.startswith(f"{package}>="))
    return found.removeprefix(f"{package}>=")


@pytest.mark.parametrize("patience", [0.0, 1e6])
def test_says_that_it_compiles_only_if_that_takes_long(patience, monkeypatch, capsys):
    entries = importlib.import_module("constructions.engines.incremental.entries")
    monkeypatch.setattr(entries, "PATIENCE_SECONDS", patience)
    said = ""
    with entries.announced(2):
        while patience == 0 and "\n" not in said:
            said += capsys.readouterr().err
    assert (said + capsys.readouterr().err).count("compiling incremental decoding for 128 bits, once") == (
        patience == 0
    )


def test_compiled_code_knows_the_files_it_is_made_from(monkeypatch, tmp_path):
    names = {path.name for path in sources.sources()}
    assert {"kernel.py", "limbs.py", "index.py"} <= names
    (tmp_path / "kernel.py").touch()
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "sources.py"))
    with pytest.raises(RuntimeError, match="no addresses"):
        sources.sources()
