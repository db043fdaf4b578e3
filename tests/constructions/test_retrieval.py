"""The four retrieval tasks, three models each: answers in every engine, sizes, refusals, commands, and that every weight counts."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import counting, index, ngram, recall
from constructions.engines import find_engine
from constructions.models.search import SearchError
from constructions.retrieval.cli import main
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import FAILED, NO, YES, Question
from constructions.show.dump import SEARCH, dump_lines
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.constructions.cutting import cuts
from verify.claims.retrieval import QuestionCase, cases

DOORS = {module.TASK.name: module.DOOR for module in (index, recall, ngram, counting)}
RETRIEVERS = {f"{task}-{r.model}": r for task, door in DOORS.items() for r in door.wirings.values()}
each_model = pytest.mark.parametrize("retriever", RETRIEVERS.values(), ids=RETRIEVERS)


def answer(retriever: Retriever, wired: Wired, question: Question, engine: str = "reference") -> str:
    return wired.vocabulary[written(retriever, wired, question, engine)[-1]]


def written(retriever: Retriever, wired: Wired, question: Question, engine: str = "reference") -> list[int]:
    request = replace(retriever, query_length=len(question.query)).request(wired, question)
    return replace(request, guess=()).run(find_engine(engine)).tokens.tolist()


# By hand: what each task means

EXPECTED = [
    ("index", "5 2 5 9 ? 1", "5"),
    ("index", "5 2 5 9 ? 4", "9"),
    ("index", "1 ? 1", "1"),
    ("index", "123 45 6 ? 2", "45"),
    ("recall", "5 2 5 9 ? 5", "2"),
    ("recall", "5 2 5 9 ? 2", "5"),
    ("recall", "5 2 5 9 ? 9", FAILED),
    ("recall", "5 2 5 9 ? 1", FAILED),
    ("recall", "5 2 5 9 ? 6", FAILED),
    ("recall", "? 1", FAILED),
    ("recall", "7 7 ? 7", "7"),
    ("recall", "12 1 21 2 ? 1", "21"),
    ("recall", "12 1 21 2 ? 2", FAILED),
    ("ngram", "5 2 5 9 ? 5", "2"),
    ("ngram", "5 2 5 9 ? 2 5", "9"),
    ("ngram", "5 2 5 9 ? 5 9", FAILED),
    ("ngram", "5 2 5 9 ? 5 2 5", "9"),
    ("ngram", "5 2 5 2 5 9 ? 5 2 5", "2"),
    ("ngram", "1 1 1 2 ? 1 1 1", "2"),
    ("ngram", "1 1 ? 1 1 1", FAILED),
    ("ngram", "2 1 ? 1 2", FAILED),
    ("ngram", "? 1 2", FAILED),
    ("ngram", "1 2 3 4 5 6 ? 1 2 3 4 5", "6"),
    ("counting", "5 2 5 9 ? 5 1", YES),
    ("counting", "5 2 5 9 ? 5 2", NO),
    ("counting", "5 2 5 9 ? 5 0", YES),
    ("counting", "5 2 5 9 ? 1 0", NO),
    ("counting", "? 1 0", NO),
    ("counting", "1 1 1 ? 1 1", YES),
    ("counting", "1 1 1 ? 1 3", NO),
    ("counting", "2 12 22 ? 2 1", NO),
]


@pytest.mark.parametrize(("task", "text", "expected"), EXPECTED)
def test_answers(task: str, text: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    for retriever in DOORS[task].wirings.values():
        for engine in ("reference", "dense", "native", "incremental"):
            assert main(DOORS[task], (text, "--engine", engine, "--model", retriever.model)) == 0
            *chain, last = capsys.readouterr().out.splitlines()
            assert last == expected
            assert len(chain) == retriever.searches


@each_model
@settings(max_examples=30)
@given(data=st.data(), discipline=st.sampled_from(Discipline), more=st.sampled_from((0, 2, 20)))
def test_answers_as_the_oracle(retriever: Retriever, data: st.DataObject, discipline: Discipline, more: int) -> None:
    case: QuestionCase = data.draw(cases(retriever.task.name, range(1, 10)))
    least = replace(retriever, query_length=len(case.query)).least_precision(case.n, discipline)
    wired = replace(retriever, query_length=len(case.query)).build(case.n, least + more, discipline=discipline)
    assert answer(retriever, wired, case.question) == retriever.task.answer(case.question)


# Sizes


@each_model
def test_every_head_and_every_gadget_is_needed(retriever: Retriever) -> None:
    samples = [q for q in retriever.task.samples if len(q.query) == retriever.query_length]
    texts = [text for task, text, _ in EXPECTED if task == retriever.task.name]
    refused = 0
    questions = samples + [q for q in map(retriever.task.parse, texts) if q.least_n <= 12]
    idle = set()
    for name, without in cuts(retriever.build(12)):
        wired = retriever.build(12)
        object.__setattr__(wired, "model", without)
        fits = [q for q in questions if len(q.query) == retriever.query_length]
        try:
            if all(answer(retriever, wired, q) == retriever.task.answer(q) for q in fits):
                idle.add(name)
        except SearchError:  # without this rule, what it searches for is no expression
            refused += 1
    assert idle == set()
    assert (refused > 0) == retriever.searches


@each_model
def test_the_precision_formula_holds(retriever: Retriever) -> None:
    if retriever.searches:
        for n in (*range(3, 70), 10**6):
            assert retriever.least_precision(n) == 4 * (n + 1).bit_length() + 3
        return
    slope, rest = (4, 15) if "p ≤ 4·bits(n) + 15 " in retriever.precision else (6, 19)
    assert f"p ≤ {slope}·bits(n) + {rest} " in retriever.precision
    for n in [*range(1, 70), *(2**k + d for k in range(7, 20) for d in (-1, 0, 1)), 10**6]:
        assert retriever.least_precision(n) <= slope * n.bit_length() + rest


def test_a_large_threshold_is_compared_exactly() -> None:
    wired = counting.TRANSFORMER.build(70)
    for k in (1, 2, 4, 5, 31, 46, 63, 69):
        for m in (k, k + 1):
            assert answer(counting.TRANSFORMER, wired, Question((3,) * m, (3, k)), "dense") == (YES if m > k else NO)


# Refusals


# Commands


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(recall.DOOR, ("5 2 5 9 ? 5", "--json", "--n", "10")) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == [
        "schema", "construction", "source", "variant", "model", "engine",
        "n", "precision_bits", "input", "chain_of_thought", "answer", "flags",
    ]  # fmt: skip
    assert document["input"] == ["<s>", "5", "2", "5", "9", "?", "5"]
    assert (document["chain_of_thought"], document["answer"]) == ([], "2")
    assert (document["construction"], document["model"], document["n"]) == ("recall", "transformer", 10)
    assert document["precision_bits"] == recall.TRANSFORMER.least_precision(10)


def test_a_short_question_to_a_large_model(capsys: pytest.CaptureFixture[str]) -> None:
    """With the square of its vocabulary in memory this would not end."""
    assert main(recall.DOOR, ("1 2 ? 1", "--n", "30001")) == 0
    assert capsys.readouterr().out == "2\n"


@pytest.mark.parametrize(
    ("task", "finding", "text"),
    [
        ("index", "tied-head", "1 2 ? 2"),
        ("ngram", "C.3", "1 1 1 ? 1 1"),
        ("counting", "count-margin", "1 1 1 1 1 ? 1 5"),
        ("counting", "count-query", "1 ? 1 1"),
        ("counting", "C.14", "? 1 0"),
    ],
)
def test_a_refuted_run_exits_with_1(capsys: pytest.CaptureFixture[str], task: str, finding: str, text: str) -> None:
    assert main(DOORS[task], (text, "--printed", finding)) == 1
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert f"python -m constructions.{task}: refuted: the model answers {captured.out.strip()}; " in captured.err


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("5 2\n5 9  # the end\n", ("--sequence", "-", "? 5")),
        ("5 2 5 9", ("? 5", "--sequence", "-")),
        ("5 2 5 9 ?\n5\n", ("--sequence", "-")),
        ("5 2 5 9 ? 5\n", ("-",)),
        ("5 2 5 9 ? 5\n", ("-", "--json")),
    ],
)
def test_a_sequence_from_elsewhere(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    text: str,
    argv: tuple[str, ...],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(recall.DOOR, argv) == 0
    out = capsys.readouterr().out
    assert (json.loads(out)["answer"] if "--json" in argv else out.strip()) == "2"
    path = tmp_path / "sequence.txt"
    path.write_text(text)
    named = [str(path) if argument == "-" else argument for argument in argv]
    assert main(recall.DOOR, named if "--sequence" in named else ["--sequence", *named]) == 0
    assert capsys.readouterr().out == out


@each_model
def test_the_example_is_answered_and_traced(retriever: Retriever, capsys: pytest.CaptureFixture[str]) -> None:
    task = retriever.task
    assert main(DOORS[task.name], (task.example, "--trace", "--model", retriever.model)) == 0
    said = capsys.readouterr()
    assert said.err == "engine: reference\n"
    assert said.out.splitlines()[-1] == task.answer(task.parse(task.example))


@pytest.mark.parametrize("module", [index, recall, ngram, counting])
def test_the_module_is_a_command(module: Any) -> None:
    task = module.TASK
    command = [sys.executable, "-m", f"constructions.{task.name}", task.example]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "engine: reference\n")
    assert done.stdout == f"{task.answer(task.parse(task.example))}\n"


@each_model
def test_dump(retriever: Retriever, tmp_path: Path) -> None:
    lines = list(dump_lines(retriever, retriever.build(5)))
    if not retriever.searches:
        assert "  number v, for v = 1 … 5: number += v" in lines
    assert not any("vertex" in line for line in lines)
    path = tmp_path / "weights.safetensors"
    assert main(DOORS[retriever.task.name], ("--model", retriever.model, "--n", "12", "--dump-weights", str(path))) == 0
    sidecar = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert sidecar.get("search") == (SEARCH if retriever.searches else None)
    assert sidecar["examples"]
    for example in sidecar["examples"]:
        prompt = example["tokens"][: example["tokens"].index("?") + 1 + retriever.query_length]
        question = retriever.task.parse(" ".join(prompt[1:]))
        assert example["expected_next"][-1] == retriever.task.answer(question)
