"""`python -m circuits`: sizes, files, proofs, and one clear line for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from circuits.__main__ import main
from circuits.aiger_read import read
from circuits.circuit import GateKind
from circuits.equivalence import find_difference
from circuits.models import find_models
from circuits.operations import OPERATIONS


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = main([str(x) for x in argv])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_sizes_are_printed_with_their_formula(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, name, "--p", 9)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert f"operations {OPERATIONS[name].gates(9)} = {OPERATIONS[name].formula}" in words


@pytest.mark.parametrize("suffix", [".aag", ".aig"])
def test_files_hold_the_circuit(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, drawing = tmp_path / f"add{suffix}", tmp_path / "add.dot"
    code, out, err = run(capsys, "add", "--p", 7, "--aiger", path, "--dot", drawing, "--json")
    document = json.loads(out)
    assert (code, err) == (0, f"wrote {path} and {drawing}\n")
    assert document["schema"] == 1
    assert document["inputs"] == [f"{x}{i}" for x in "ab" for i in range(1, 8)]
    assert list(document["outputs"]) == [f"o{i}" for i in range(1, 8)]
    assert document["written"] == [str(path), str(drawing)]
    assert document["sizes"]["gates"] == len(document["gates"])
    circuit = read(path)
    assert circuit.inputs == tuple(document["inputs"])
    assert find_difference(circuit, OPERATIONS["add"].circuit(7)) is None
    assert drawing.read_text(encoding="utf-8").startswith("digraph")


def test_the_netlist_in_json_computes(capsys: pytest.CaptureFixture[str]) -> None:
    """By ten lines that know nothing but the document."""
    document = json.loads(run(capsys, "add", "--p", 5, "--json")[1])

    def add(a: list[int], b: list[int]) -> list[int]:
        bits, values = dict(zip(document["inputs"], a + b, strict=True)), list[int]()
        for kind, *rest in document["gates"]:
            if kind in ("AND", "XOR"):
                x, y = (values[i] for i in rest)
                values.append(x & y if kind == "AND" else x ^ y)
            else:
                values.append(1 if kind == "ONE" else bits[document["inputs"][rest[0]]])
        return [values[i] for i in document["outputs"].values()]

    assert add([0, 1, 1, 0, 1], [0, 0, 1, 1, 0]) == [0, 0, 1, 1, 1]  # 1.5 − 0.75 = 0.75
    assert add([1, 1, 1, 1, 1], [0, 0, 0, 1, 1]) == [1, 1, 1, 1, 1]  # the largest number stays


def test_a_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "recall.aig"
    code, out, _ = run(capsys, "--rnn", "recall", "--p", 13, "--aiger", path, "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["rnn"], document["precision_bits"], document["n"]) == ("recall", 13, 2)
    assert len(document["states"]) == 13 * len(document["state_numbers"])
    rnn = find_models()["recall"].load(13, None)
    assert read(path).initial == rnn.step.circuit.initial
    assert [gate[0] for gate in document["gates"][: len(document["states"])]] == [GateKind.STATE.name] * len(
        document["states"]
    )


def test_an_equal_file_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.aag"
    run(capsys, "compare", "--p", 9, "--aiger", path)
    code, _, err = run(capsys, "compare", "--p", 9, "--against", path)
    assert (code, err) == (0, f"holds: {path} is equal on all inputs, by SAT\n")


@pytest.mark.parametrize("operation", ["add", "compare"])
def test_bits_without_names_are_matched_by_position(
    operation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table of names is optional in AIGER. The order still counts: two inputs exchanged are another circuit."""
    path, options = tmp_path / "x.aag", (operation, "--p", 5)
    run(capsys, *options, "--aiger", path)
    lines = [line for line in path.read_text().splitlines() if line[0].isdigit() or line.startswith("aag")]
    path.write_text("\n".join(lines) + "\n")
    code, _, err = run(capsys, *options, "--against", path)
    remark = f"{path} has no names of inputs and outputs: they are matched by position"
    assert (code, err.splitlines()[0]) == (0, remark)
    exchanged = [lines[0], *lines[2:11], lines[1], *lines[11:]]  # the first input last
    path.write_text("\n".join(exchanged) + "\n")
    code, _, err = run(capsys, *options, "--against", path)
    assert code == 1
    path.write_text("\n".join([*lines, "i0 other"]) + "\n")
    assert run(capsys, *options, "--against", path)[0] == 2  # some names, which are others


def test_another_file_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.aag"
    run(capsys, "add", "--p", 5, "--aiger", path)
    lines = path.read_text().splitlines()
    place = 11 + 5 + 20  # an AND in the middle
    left, a, b = map(int, lines[place].split())
    lines[place] = f"{left} {a ^ 1} {b}"
    path.write_text("\n".join(lines) + "\n")
    code, _, err = run(capsys, "add", "--p", 5, "--against", path)
    assert code == 1
    assert err.startswith(f"refuted: {path} differs: o")


def test_files_stay_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, name in (("--aiger", "x.aig"), ("--dot", "x.dot")):
        path = tmp_path / name
        path.write_text("mine")
        code, _, err = run(capsys, "add", "--p", 5, option, path)
        assert (code, path.read_text()) == (2, "mine")
        assert "--force overwrites it" in err
        assert run(capsys, "add", "--p", 5, option, path, "--force")[0] == 0
        assert path.read_bytes() != b"mine"


def test_files_that_are_no_circuit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.aag"
    for text, message in (
        ("aag 1 1 0 1 0\n2\n", "line 3: the file ends where an output should be"),
        ("aag 2 1 0 1 1\n2\n4\n4 4 2\n", "AND 4 reads itself"),
        ("aag 2 1 0 1 1\n2\n4\n4 2 8\n", "literal 8 is read, and nothing defines it"),
        ("aag one 1 0 1 0\n2\n2\n", "line 1: the header should be `aag M I L O A`"),
        ("aig 2 1 0 0 1\n", "byte 14: the file ends within AND 1 of 1"),
        ("aag 1 1 0 1 0\n2\n2\n", "the second circuit has no input 'a1'"),
    ):
        path.write_text(text)
        code, _, err = run(capsys, "negate", "--p", 5, "--against", path)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1
