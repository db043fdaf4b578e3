"""The ledger as Parquet says what the JSON says, in columns that stay, and is read wherever a ledger is."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tests.verify.conftest import Paper
from verify.diff import main
from verify.framework import ledger, parquet
from verify.framework.options import Options

LEDGER = Path(__file__).parents[2] / "docs" / "ledger.json"
COLUMNS = """
id string, source string, statement string, variant string, finding string, expected string, theorem string, task string,
aspect string, kind string, readings list<element: struct<text: string, holds: bool, shown: string, stands: string,
changes: string>>, slip string, verdict string, engine string, seconds double, note string,
evidence list<element: struct<kind: string, range: string, precision: string, sizes: list<element: list<element: string>>,
scope: list<element: string>,
by: string, theorem: string, theorems: int64, sha256: string, limit: string, cases: decimal128(38, 0), n_max: decimal128(38, 0),
stopped: bool, weights: string, name: string, document: string, built: int64, n_from: int64, example: string,
value: string, spread: string, runs: int64, command: string, settings: string>>,
witness struct<case: string, shows: string, part: string, n_max: decimal128(38, 0), p_bits: int64, engine: string, seed: int64,
replay: string>
"""


@pytest.fixture
def pyarrow() -> None:
    pytest.importorskip("pyarrow", reason="needs the extra parquet: make sweep-test")


@pytest.mark.usefixtures("pyarrow")
def test_the_columns_stay() -> None:
    actual = ", ".join(f"{field.name} {field.type}" for field in parquet.schema())
    assert actual.replace("item:", "element:") == " ".join(COLUMNS.split())


@pytest.mark.usefixtures("pyarrow")
def test_the_same_is_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = ledger.document_of(LEDGER)
    document["not_judged"] = [{"id": "C.1", "engine": "", "reason": "n"}]
    path = tmp_path / "ledger.parquet"
    parquet.write(path, document)
    assert ledger.document_of(path) == document
    assert ledger.read(path) == ledger.read(LEDGER)
    assert ledger.read_run(path)[1] == ledger.read_run(LEDGER)[1]
    assert main([str(LEDGER), str(path)]) == 0
    assert capsys.readouterr().out.startswith("the same: ")


@pytest.mark.usefixtures("pyarrow")
def test_a_run_writes_it_and_resumes_from_it(paper: Paper) -> None:
    assert paper.run("--ledger", "ledger.parquet").ret == 0
    path = paper.folder / "ledger.parquet"
    assert len(ledger.read(path)) == 5
    assert not ledger.part_of(path).exists()
    assert paper.run("--resume", "ledger.parquet").parseoutcomes()["deselected"] == 5


@pytest.mark.usefixtures("pyarrow")
def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.parquet"
    ledger.write(path, ledger.read(LEDGER), Options())
    for content in (path.read_bytes()[:900], parquet.MAGIC):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"cut\.parquet: not a ledger: no Parquet file"):
            ledger.read(path)
    import pyarrow
    from pyarrow import parquet as files

    files.write_table(pyarrow.table({"id": ["C.1"]}), path)
    with pytest.raises(ValueError, match="not a ledger"):
        ledger.read(path)


def test_without_the_extra_a_line_says_so_before_the_run(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "pyarrow" else find(name, *more)
    )
    needs = "Parquet needs pyarrow: pip install 'rnn-transformer-constructions[parquet]'"
    result = paper.run("--ledger", "ledger.parquet")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.stderr.lines if line.strip()] == [f"ERROR: --ledger ledger.parquet: {needs}"]
    (paper.folder / "ledger.parquet").write_bytes(parquet.MAGIC + json.dumps({}).encode())
    with pytest.raises(ValueError, match="Parquet needs pyarrow"):
        ledger.read(paper.folder / "ledger.parquet")
