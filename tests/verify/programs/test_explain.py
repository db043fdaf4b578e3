"""`python -m verify.explain`, the definitions, and weights that are not what they were."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from constructions.models.search import END_SEARCH
from constructions.retrieval.task import Question
from constructions.wiring.wired import Wired
from tests.verify.certificates.test_sidecar import exported
from tests.verify.programs.wrong import certified_changes, unnoticed, with_one_wrong_word
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.certificates.building import automaton_of, build, model_of, wired_of
from verify.certificates.document import CERTIFIED, UNKNOWN
from verify.certificates.ideal import IdealModel
from verify.dossiers.dossier import Json, Subject
from verify.dossiers.istree.texts import FIRST_THOUGHT, IN_PROMPT, IN_THOUGHT, MORE, SECOND, THOUGHT, searched
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS
from verify.explain import main
from verify.programs.document import _is_defined, compared, explained, explanation
from verify.programs.extraction import extract
from verify.programs.normal import Normalizer
from verify.rounding.model import ExactModel
from verify.trusted import program

N = 8
COMPARED = [key for key in MODELS if key[1] != "rag"]
# What is put back to print, and fails by rounding alone if at all: the ideal model is the task all the same.
ROUNDING_ALONE = {("counting", "count-margin"), ("recall", "score-range"), ("ngram", "score-range")}


@pytest.mark.parametrize(("name", "model"), MODELS)
@pytest.mark.parametrize("n", [4, 10**12])
def test_the_program_is_the_task(name: str, model: str, n: int) -> None:
    document = explanation(find_subject(name, n, model=model))
    assert (document["verdict"], document["what"]) == (CERTIFIED, "")
    assert document["answers"] == document["task"]


@pytest.mark.parametrize("name", ["index", "recall", "ngram", "counting"])
def test_both_architectures_are_one_program(name: str) -> None:
    answers = [explanation(find_subject(name, N, model=model))["answers"] for model in ("transformer", "hybrid")]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("name", "model", "finding"),
    [(name, model, finding.id) for name, model in COMPARED for finding in MODELS[name, model].findings],
)
def test_a_print_is_not_the_task_unless_it_slips_by_rounding(name: str, model: str, finding: str) -> None:
    subject = find_subject(name, N, model=model, printed=(finding,))
    weights, automaton = build(subject)
    actual = compared(subject, weights, automaton, extract(weights, automaton))
    if (name, finding) in ROUNDING_ALONE:
        assert actual["verdict"] == CERTIFIED
    else:
        assert actual["verdict"] != CERTIFIED
        assert actual["what"]


@cache
def asked(name: str) -> list[Question]:
    one: Any = find_subject(name, N)
    result = list(one.dossier.tried(one))
    return random.Random(name).sample(result, min(4, len(result)))


def answers_as_defined(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Json:
    return compared(subject, model, automaton, extract(model, automaton))


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_a_changed_weight_is_certified_only_if_no_answer_changes(name: str, model: str) -> None:
    subject = find_subject(name, N, model=model)
    wired = wired_of(subject)
    for change, ideal in certified_changes(subject, random.Random(f"{name} {model}"), 4, answers_as_defined):
        for question in asked(name):
            assert not wrong_words(subject, wired, ideal, question), change


@pytest.mark.parametrize(
    "subject",
    [find_subject("recall", 4), find_subject("turing", 2, model="hybrid", machine="1RB1LB_1LA1RZ")],
    ids=["at once", "steps"],
)
def test_where_nothing_is_due_nothing_is_certified(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(subject.dossier), "definition", lambda dossier, subject, label: None)
    assert explanation(subject)["verdict"] == UNKNOWN


def test_every_prompt_is_among_the_inputs() -> None:
    """And n edges or more end at a state of their own."""
    n, word = 4, {"~": "~", "<s>": "<s>"}
    automaton = searched(automaton_of(find_subject("istree", n)), n, longer=True)
    for edges in range(n * (n - 1) // 2 + 1):
        for a, b in ((1, n), (n, 1)):
            prompt = ["<s>", *([str(a), "~", str(b)] * edges)]
            at = {-1}
            for k, token in enumerate(prompt, start=1):
                at = {
                    i
                    for i, state in enumerate(automaton.states)
                    if (at & set(state.after) if k > 1 else not state.after)
                    and state.word == word.get(token, "")
                    and automaton.positions(state).low <= k <= automaton.positions(state).high
                    and (state.word or 1 <= int(token) <= automaton.range(state.numbers[1])[1])
                }
            ends = {automaton.states[i].label for i in at}
            assert ends == {replace(SECOND, case=MORE * (edges >= n)) if edges else Label("<s>")}


@pytest.mark.parametrize("changed", ["key", "count"])
def test_an_invariant_is_to_be_about_what_is_defined(changed: str) -> None:
    subject = find_subject("istree", 4)
    model, automaton = build(subject)
    program = extract(model, subject.dossier.compared_texts(subject, automaton), naming=True)
    (group,) = program.facts.groups
    assert _is_defined(group, subject, program)
    assert not _is_defined(replace(group, **{changed: program.stages[0].registers[0]}), subject, program)


def test_behind_n_edges_or_more_the_print_does_not_say_no() -> None:
    subject = find_subject("istree", 4)
    model = model_of(replace(subject, printed=("edge-count",)))
    actual = explained(subject, model, automaton_of(subject))
    assert (actual["verdict"], actual["where"]) == (UNKNOWN, "the answer at second endpoint")
    assert set(actual["task"]) - set(actual["answers"]) == {str(SECOND), str(replace(SECOND, case=MORE))}


def test_a_definition_with_one_wrong_word_is_not_the_program() -> None:
    """But where no text leads: no edge leads to −1, the root's father, and the first thought is the root."""
    subject = find_subject("istree", 4, lean=True, layout="eos")
    model, automaton = build(subject)
    automaton = searched(automaton, subject.n)
    program = extract(model, automaton, naming=True)
    same = dict[Label, int]()
    for i, state in enumerate(automaton.states):
        if (due := subject.dossier.definition(subject, state.label)) is not None:
            normal = Normalizer(program.facts.ending(i))
            others = with_one_wrong_word(due, ("TRUE", "FALSE"))
            same[state.label] = len(unnoticed(model, program, normal, due, others))
    assert same == {Label("[EOS]", IN_PROMPT): 0, FIRST_THOUGHT: 5, THOUGHT: 1, Label("[EOS]", IN_THOUGHT): 0}


def wrong_words(subject: Subject, wired: Wired, ideal: IdealModel, question: Question) -> list[str]:
    """What it says after a prompt and should not; what stands after a search is its result, and nobody's word."""
    retriever: Any = subject.dossier.solver
    words = [*question.words(), *retriever.thoughts(question, frozenset()), retriever.task.answer(question)]
    _, following = ideal.run(wired.tokens(words[:-1]))
    own = [k for k in range(len(question.words()), len(words)) if words[k - 1] != END_SEARCH]
    return [wired.vocabulary[following[k - 1]] for k in own if wired.vocabulary[following[k - 1]] != words[k]]


def test_a_machine_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "machine.txt"
    path.write_text("A 0 -> 1 R A\nA 1 -> 0 L A\n", encoding="utf-8")
    assert main(["turing", "--model", "hybrid", "--machine", str(path), "--n", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["machine"] == "1RA0LA"
    path.write_text("nothing of that kind", encoding="utf-8")
    assert main(["turing", "--model", "hybrid", "--machine", str(path)]) == 2
    assert f"{path}: 'nothing' is not made of rules" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", ["2", "2-3"])
def test_a_document_that_was_tampered_with(sizes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of it is shown."""
    assert main(["turing", "--model", "hybrid", "--n", sizes, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    path = tmp_path / "tampered.json"
    path.write_text(json.dumps(document))
    assert main(["--replay", str(path)]) == 0
    for key in ("task", "more", "program"):
        path.write_text(json.dumps({**document, key: None}))
        capsys.readouterr()
        assert main(["--replay", str(path)]) == 1
        assert capsys.readouterr().out == f"{path}: differs from what the weights say: {key}\n"
    for key, value in (
        ("n", ["9", "5"]),
        ("n", ["4"]),
        ("n", ["2", "x"]),
        ("model", "nothing"),
        ("construction", ["istree"]),
        ("printed", [["x"]]),
        ("layout", ["paper"]),
        ("length", 5),
        ("cells", 3),
    ):
        path.write_text(json.dumps({**document, key: value}))
        assert main(["--replay", str(path)]) == 2
        assert "tampered.json: this is no" in capsys.readouterr().err


def test_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "index.safetensors"
    exported(find_subject("index", N), path)
    assert main([str(path)]) == 0
    assert "the program is the task" in capsys.readouterr().out
    assert main([str(path), "--json"]) == 0
    document = tmp_path / "document.json"
    document.write_text(capsys.readouterr().out)
    assert main(["--replay", str(document)]) == 0
    stored = load_file(path)
    stored["blocks.1.attn.0.W_Q"] = stored["blocks.1.attn.0.W_Q"] * 2  # the same positions win
    save_file(stored, path)
    assert main([str(path)]) == 0
    name = next(key for key in stored if key.startswith("blocks.1.attn.0.W_V"))
    save_file({**stored, name: stored[name] * 2}, path)
    capsys.readouterr()
    assert main([str(path)]) == 1
    assert "it says" in capsys.readouterr().out


def test_a_certificate_of_the_program_is_a_file(tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["recall", "--n", "1000-1020", "--certificate", str(out)]) == 0
    files = [str(out), *(str(out.with_suffix(f".{name}.json")) for name in ("rows", "definition"))]
    assert capsys.readouterr().out == f"wrote {' and '.join(files)}\n"
    assert program.main(files) == 0
    other = json.loads(Path(files[2]).read_text())
    other["answers"][""][1] = ["say", "~"]
    Path(files[2]).write_text(json.dumps(other))
    assert program.main(files) == 1
    assert main(["recall", "--n", "8", "--certificate", str(out)]) == 2
    assert "exists; --force overwrites it" in capsys.readouterr().err
    assert main(["recall", "--all-n", "--certificate", str(tmp_path / "all.json")]) == 2
    assert "--certificate is of one n or of one interval of n: give --n" in capsys.readouterr().err
    assert main(["majority", "--n", "4", "--certificate", str(tmp_path / "none.json")]) == 3  # no rule for its head
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.definition.json", "out.json", "out.rows.json"]
