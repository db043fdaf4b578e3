"""The notebook runs from its first cell to its last, and draws what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib draws the notebook's head")

NOTEBOOK = Path(__file__).parents[1] / "docs" / "istree.ipynb"


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pyplot.switch_backend("Agg")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")  # what it shows is made anew
    names: dict[str, object] = {}
    for number, source in enumerate(code):
        exec(compile(source, f"{NOTEBOOK.name}, cell {number}", "exec"), names)
    (figure,) = map(pyplot.figure, pyplot.get_fignums())
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()][:4] == ["<s>", "1", "~", "3"]
    pyplot.close(figure)
    said = capsys.readouterr().out
    assert "the model says NO" in said
    assert said.endswith(": certified\n")
