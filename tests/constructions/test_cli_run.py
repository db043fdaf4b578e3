"""Runs of `python -m constructions.istree`: chain of thought, verdict, JSON, trace, page, exit codes."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from constructions.istree.__main__ import EPILOG, main
from constructions.istree.graphs import LAYOUTS, TokenLayout, expected_answer, parse_edges
from constructions.istree.transformer import FINDING_IDS, TRANSFORMER
from constructions.show.cli import write_json

LAYER_7_WITNESS = "1-2,4-1,1-3,1-5,6-1"
GRAPHS = ["1-2,2-3,3-4", "2-1", "1-2,2-3,3-1", "1-2,3-4", "1-2,2-3,3-1,4-5", "4-1,1-3,2-1", "2-3"]


@pytest.fixture(autouse=True)
def _free_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main(argv) == code
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> dict[str, object]:
    result = json.loads(run(capsys, *argv, "--json", code=code))
    assert isinstance(result, dict)
    return result


class Counting(io.StringIO):
    """Standard output that counts how often it is written to."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)


def test_a_long_document_is_written_in_few_pieces(monkeypatch):
    given = {"words": [str(i) for i in range(20_000)], "of": "Zeichen für Zeichen", "empty": [], "deep": [{"a": None}]}
    out = Counting()
    monkeypatch.setattr(sys, "stdout", out)
    write_json(given)
    assert out.writes < 20
    assert out.getvalue() == json.dumps(given, ensure_ascii=False, indent=2) + "\n"


@pytest.mark.parametrize("tokens", LAYOUTS)
@pytest.mark.parametrize("edges", GRAPHS)
def test_the_answer_is_that_of_algorithm_1(capsys: pytest.CaptureFixture[str], edges: str, tokens: str) -> None:
    graph, layout = parse_edges(edges), LAYOUTS[tokens]
    chain = [str(token + 1) for token in expected_answer(graph, layout) if token < graph.n]
    verdict = "YES" if edges in ("1-2,2-3,3-4", "2-1", "4-1,1-3,2-1") else "NO"
    lines = run(capsys, "--edges", edges, "--tokens", tokens).splitlines()
    assert lines == ([" ".join(chain)] if chain else []) + [verdict]


def test_the_module_is_a_command() -> None:
    command = [sys.executable, "-m", "constructions.istree", "--edges", "1-2,2-3,3-4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 2 3 4 3 2 1\nYES\n", "engine: reference\n")


def test_every_way_to_give_a_graph(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("# a path\n1 2\n\n2\t3  # the end\n")
    assert run(capsys, "--graph", str(path)) == run(capsys, "--edges", "1-2, 2-3") == "1 2 3 2 1\nYES\n"
    assert run(capsys, "--edges", "", "--n", "1") == "1\nYES\n"
    assert run(capsys, "--edges", "1-2,2-3", "--n", "4", "--tokens", "eos") == "1 2 3 2 1\nNO\n"


def test_json_is_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    result = document(capsys, "--edges", "1-2,2-3")
    flags = result.pop("flags")
    assert result == {
        "schema": 1,
        "construction": "istree",
        "source": "Theorem 4.7, appendix C.6.2",
        "variant": "repaired",
        "model": "transformer",
        "engine": "reference",
        "n": 3,
        "precision_bits": TRANSFORMER.build(3).arithmetic.format.significand_bits + 1,
        "input": ["<s>", "1", "~", "2", "2", "~", "3"],
        "chain_of_thought": ["1", "2", "3", "2", "1"],
        "answer": "YES",
    }
    assert isinstance(flags, list)
    assert flags
    blocks = TRANSFORMER.build(3).blocks
    for flag in flags:
        assert set(flag) == {"kind", "layer", "position", "count", "place", "site", "register", "part"}
        (number,) = (i for i, head in enumerate(blocks[flag["layer"] - 1].heads) if head.name == flag["part"])
        assert flag["site"].startswith(f"attn.{number}.")
        assert flag["place"] == f"block {flag['layer']}, head {number + 1} ({flag['part']})"


def test_the_engine_that_was_chosen_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    edges = ",".join(f"{v // 2}-{v}" for v in range(2, 61))
    assert main(("--edges", edges, "--json")) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["engine"] == "incremental"
    assert said.err == "engine: incremental\n"
    for name in ("incremental", "indexed"):  # a former name
        assert main(("--edges", edges, "--engine", name, "--json")) == 0
        again = capsys.readouterr()
        assert (again.out, again.err) == (said.out, "")


def test_a_short_run_of_a_large_model_costs_no_more_than_its_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    """Two vertices, which are named so that 10⁵ are meant; with their square in memory this would not end."""
    assert run(capsys, "--edges", "1-100000") == "NO\n"


def test_the_answer_is_spelled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary for each token of it would make the command quadratic."""
    calls = 0
    vocabulary = TokenLayout.vocabulary

    def counted(self: TokenLayout, n: int) -> tuple[str, ...]:
        nonlocal calls
        calls += 1
        return vocabulary(self, n)

    monkeypatch.setattr(TokenLayout, "vocabulary", counted)
    assert main(("--edges", "1-2,2-3,3-4")) == 0
    few = calls
    calls = 0
    assert main(("--edges", ",".join(f"{v}-{v + 1}" for v in range(1, 20)))) == 0
    assert calls == few


def test_json_says_yes_and_no_in_either_layout(capsys: pytest.CaptureFixture[str]) -> None:
    result = document(capsys, "--edges", "1-2,2-3,3-1", "--tokens", "eos")
    assert (result["chain_of_thought"], result["answer"]) == (["1", "2", "3"], "NO")
    assert result["input"] == ["[BOS]", "1", "-", "2", "2", "-", "3", "3", "-", "1", "[EOS]"]


def test_flags_name_registers(capsys: pytest.CaptureFixture[str]) -> None:
    result = document(capsys, "--edges", "1-2,2-3", "--printed", "C.3", code=1)
    flags = result["flags"]
    assert isinstance(flags, list)
    registers = set(TRANSFORMER.build(3, printed=("C.3",)).registers)
    named = {flag["register"] for flag in flags if flag["register"] is not None}
    assert named <= registers
    assert named
    assert result["printed"] == ["C.3"]


@pytest.mark.parametrize("engine", ["dense", "incremental"])
@pytest.mark.parametrize("printed", ["", "layer-7"])
def test_engines_answer_alike(capsys: pytest.CaptureFixture[str], engine: str, printed: str) -> None:
    argv = ["--edges", LAYER_7_WITNESS, *(["--printed", printed] if printed else [])]
    code = 1 if printed else 0
    expected, result = document(capsys, *argv, code=code), document(capsys, *argv, "--engine", engine, code=code)
    assert result.pop("engine") == engine
    flags = result.pop("flags")
    if engine == "dense":
        assert flags == expected["flags"]
    else:
        assert [flag["kind"] for flag in flags] == ["not recorded"]  # type: ignore[attr-defined]
    assert result.items() <= expected.items()


def test_a_wrong_answer_is_refuted_and_says_what_was_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("--edges", LAYER_7_WITNESS, "--printed", "layer-7")) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "NO"
    assert captured.err.count("\n") == 2
    assert captured.err.startswith("engine: reference\n")
    assert "refuted: the model says NO after 1 2 1 4 1 5 1 6 1" in captured.err
    assert "Algorithm 1 says YES after 1 2 1 4 1 3 1 5 1 6 1" in captured.err
    assert main(("--edges", LAYER_7_WITNESS)) == 0


def test_a_printed_variant_may_stop_elsewhere_but_not_say_the_wrong_thing(capsys: pytest.CaptureFixture[str]) -> None:
    # Any prompt starts a search as printed; it stops at the cycle, where the repaired model says NO at once.
    assert run(capsys, "--edges", "1-2,2-3,3-1", "--printed", "edge-count") == "1 2\nNO\n"
    assert run(capsys, "--edges", "1-2,2-3,3-1") == "NO\n"
    run(capsys, "--edges", "1-2,2-3", "--variant", "printed", code=1)


@pytest.mark.parametrize("finding", FINDING_IDS)
@pytest.mark.parametrize("tokens", LAYOUTS)
def test_every_finding_runs_at_any_precision(capsys: pytest.CaptureFixture[str], finding: str, tokens: str) -> None:
    for precision in ("5", "1023"):
        options = f"--printed {finding},score-range --tokens {tokens} --precision {precision} --trace"
        assert main(("--edges", "1-2,2-3", *options.split())) in (0, 1)
        assert "Traceback" not in capsys.readouterr().err


def test_the_trace_tells_the_step_in_words_and_by_register(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "--edges", "1-2,2-3,2-4", "--trace")
    assert "At 2, reached from its father 1. The next edge leads to the father 1, the one after it to 3." in text
    decided = (
        "go there. The next token is decided by block 8, head 1 (edge after the next): without a match there, NO would"
    )
    assert decided in " ".join(text.split())
    assert re.search(r"5  head 1 \(edge just walked\) +4 \(2\) +self = 2 = current, other = 1 = +walked = 1/2", text)
    assert re.search(r"8  head 1 \(edge after the next\) +8 \(2\) +self = 2 = current, edge_count ≈", text)
    assert re.search(r"9  head 1 \(seen before\) +1 \(<s>\) +none with current = 3 = next +seen = 1", text)
    assert "_squared" not in text
    assert "\x1b" not in text
    assert text.endswith("1 2 3 2 4 2 1\nYES\n")
    assert max(map(len, text.splitlines())) <= 150


def test_a_record_at_another_place_than_the_wish_is_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A wish between two places is never met: that was told as if the head had missed it."""
    text = " ".join(run(capsys, "--model", "hybrid", "--edges", "1-2,3-1", "--trace").split())
    assert "position = 7, nearest to" in text
    assert ", not target" not in text
    assert "position = 6 = position − 1" in " ".join(run(capsys, "--edges", "1-2,3-1", "--trace").split())


def test_the_trace_shows_the_average_that_refutes_layer_7(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "--edges", LAYER_7_WITNESS, "--printed", "layer-7", "--trace", code=1)
    assert re.search(r"7  head 2 \(edge 1 after, b here\) +7 \(1\), 16 \(1\); weight", text)
    assert "this1_b = 1, next1_b = 5, count1_b" in text


def test_a_trace_as_json_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    steps = document(capsys, "--edges", "1-2,2-3", "--trace")["trace"]
    assert isinstance(steps, list)
    assert [step["produced"] for step in steps] == ["1", "2", "3", "2", "1", "YES"]
    assert steps[0]["decided_by"] is None
    assert steps[1]["decided_by"] == {"block": 7, "number": 1, "head": "next edge", "otherwise": "NO"}
    walked = [head["reads"]["walked"] for step in steps for head in step["heads"] if head["head"] == "edge just walked"]
    quantum = TRANSFORMER.build(3).arithmetic.format.quantum
    assert all(Fraction(value) % quantum == 0 for value in walked)
    assert {head["block"] for head in steps[0]["heads"]} == set(range(2, 10))


def examples() -> list[str]:
    lines = EPILOG.partition("examples:\n")[2].partition("\n\n")[0].splitlines()
    return [line.strip() for line in lines]


@pytest.mark.parametrize("example", examples())
def test_the_examples_of_help_run_as_printed(
    tmp_path: Path, example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also in a folder of the user; the one that reads a pipe by a shell."""
    monkeypatch.chdir(tmp_path)
    if "|" not in example:
        assert main(shlex.split(example)[3:]) == (1 if "printed" in example else 0)
        return
    command = example.replace("python -m", f"{shlex.quote(sys.executable)} -m")
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"}
    argv = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_help_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "--help")
    for word in ("examples:", "exit codes:", "number them from 0", *FINDING_IDS):
        assert word in text


def test_the_trace_names_only_what_fires(capsys: pytest.CaptureFixture[str]) -> None:
    """An indicator's units may be unequal to 0 where they cancel."""
    assert main(("--model", "hybrid", "--edges", "1-2", "--trace")) == 0
    target = next(line for line in capsys.readouterr().out.splitlines() if "at a target" in line)
    assert "a next record" in target
    assert "it leads to the father" not in target


@pytest.mark.parametrize("model", ["transformer", "rag", "hybrid"])
def test_json_beside_written_weights_is_one_document(
    model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "weights.npz"
    assert main(("--model", model, "--n", "3", "--json", "--dump-weights", str(path))) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "written": [str(path)]}


def test_a_sidecar_that_cannot_be_written_is_seen_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "w.json").mkdir()
    assert main(("--n", "3", "--dump-weights", str(tmp_path / "w.safetensors"))) == 2
    assert "which is a folder" in capsys.readouterr().err
    assert not (tmp_path / "w.safetensors").exists()
