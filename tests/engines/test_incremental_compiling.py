"""Compiling incremental decoding: where it cannot be, when people are told, and from which files."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

from constructions.engines import find_engine
from constructions.engines.incremental import IncrementalDecoder, sources
from constructions.istree.graphs import PAPER, Graph
from constructions.istree.transformer import build
from tests.engines.cases import Case, graph_tokens
from tests.engines.test_incremental import assert_same

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def test_without_numba_the_plain_way_is_taken(monkeypatch):
    monkeypatch.setitem(sys.modules, "constructions.engines.incremental.machine", None)  # cannot be imported
    wired = build(3)
    assert_same(Case(wired.model, wired.arithmetic, graph_tokens(Graph(3, ((1, 2), (2, 3))), "paper")))
    decoder = IncrementalDecoder(wired.model, wired.arithmetic)
    decoder.append(0)
    assert decoder.columns.dense > 0
    decoded = find_engine("incremental")(wired.model, wired.arithmetic, PAPER.prompt(Graph(2, ((1, 2),))), set(), 3)
    assert len(decoded.produced) == 3


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
    with pytest.raises(RuntimeError, match="no certificate"):
        sources.sources()
