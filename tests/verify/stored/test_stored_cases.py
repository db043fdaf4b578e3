"""Stored certificates of all large n: they are read with the weights of now, and those of other weights are not relied on."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from verify import certify, store
from verify.framework.check import Check
from verify.framework.claim import Certified, Claim, Stored
from verify.framework.options import Options
from verify.framework.weights import accepted_cases
from verify.stored import cases
from verify.stored.intervals import Stale
from verify.trusted import cases as trusted
from verify.trusted.growing import Case
from verify.trusted.kernel import Rejected

SUBJECTS = {cases.path_of(subject).stem: subject for subject in cases.subjects()}
INDEX, RECALL = (SUBJECTS[f"{name}-rag-rounding-cases"] for name in ("index", "recall"))


def document_of(subject: Any) -> Any:
    document = cases.read(subject)
    assert document is not None
    return document


def test_each_is_there_and_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(document_of(subject)["certificates"] for subject in SUBJECTS.values())
    assert store.main(["--list", "index-rag-rounding-cases"]) == 0
    assert capsys.readouterr().out == "index-rag-rounding-cases: n ≥ 128, 1 certificates\n"


def test_one_is_made_as_it_is_stored() -> None:
    assert json.loads(json.dumps(cases.make(INDEX))) == document_of(INDEX)


def test_certificates_that_are_known_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not fit is tried and left out."""
    monkeypatch.setattr(cases, "certificate_of", lambda *arguments: pytest.fail("it looks for one"))
    known = [*document_of(RECALL)["certificates"], *document_of(INDEX)["certificates"]]
    assert json.loads(json.dumps(cases.make(INDEX, known))) == document_of(INDEX)


def test_one_certificate_stands_for_wide_cases() -> None:
    """The builder has six cases of index, for both numbers of bits of B: three each, of two models."""
    (tree,) = document_of(INDEX)["cases"]
    assert tree["parts"] == [{"certificate": 0}] * 2


def test_the_least_v_is_split_off_where_a_certificate_needs_that(monkeypatch: pytest.MonkeyPatch) -> None:
    accepts = cases.Maker.accepts

    def without_few(self: cases.Maker, model: str, certificate: int, case: Case) -> bool:
        return (case.box.fixed or case.box.start > 3) and accepts(self, model, certificate, case)

    monkeypatch.setattr(cases.Maker, "accepts", without_few)
    document = json.loads(json.dumps(cases.make(INDEX, document_of(INDEX)["certificates"])))
    one = {"certificate": 0}
    (tree,) = document["cases"]
    assert tree["parts"][0] == {"split": "v", "parts": [one, {"split": "v", "parts": [one, one]}]}
    assert [*cases.leaves(tree)] == [one] * 9
    assert cases.accept(INDEX, document).classes == 9 * 36


def test_one_is_found_in_each_case_where_none_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases.Maker, "accepts", lambda *arguments: False)
    document = json.loads(json.dumps(cases.make(INDEX)))
    assert [len([*cases.leaves(case)]) for case in document["cases"]] == [3, 3]
    assert document["certificates"] == document_of(INDEX)["certificates"]
    assert cases.accept(INDEX, document).classes == 6 * 36


def long(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any]]:
    """A document with a seal, and the cases that are read from now on."""
    monkeypatch.setattr(cases, "MOST_READ", 0)
    document, read, check_case = document_of(INDEX), [], trusted.check_case
    found = cases.accept(INDEX, document)
    assert found.is_whole
    monkeypatch.setattr(trusted, "check_case", lambda *one: read.append(one) or check_case(*one))
    return cases.sealed(document, found), read


def test_of_a_sealed_document_each_run_reads_one_case(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "seal" not in cases.sealed(document_of(INDEX), cases.accept(INDEX, document_of(INDEX)))
    document, read = long(monkeypatch)
    for seed in range(8):
        found = cases.accept(INDEX, document, seed)
        assert [found.is_whole, found.classes, found.cases, len(read)] == [False, 36, 6, seed + 1]
    assert len({one[0]["p"] for one in read}) == 2


def test_a_row_says_what_the_run_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """`certified` is for cases that are all read now; of a sealed document the row is `stored`, with the document's digest."""

    def evidence() -> Any:
        check = Check(Claim("X.1", "here", "It holds."), Options())
        assert check.accepted(INDEX, range="every n") is not None
        (one,) = check.evidence
        return one

    name = "index-rag-rounding-cases"
    one = evidence()
    assert isinstance(one, Certified)
    assert [one.range, one.cases] == [f"every n; {name}, accepted by the small checker", 6]
    document, read = long(monkeypatch)
    monkeypatch.setattr(cases, "read", lambda subject: document)
    one = evidence()
    assert isinstance(one, Stored)
    assert [one.range, one.cases, one.built] == [
        f"every n; {name}, accepted by the small checker, one case of it again",
        6,
        6,
    ]
    assert [one.name, one.document, len(read)] == [
        name,
        hashlib.sha256(cases.text_of(INDEX, document).encode()).hexdigest(),
        1,
    ]


def test_all_cases_are_read_where_the_seal_is_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    document, read = long(monkeypatch)
    assert cases.accept(INDEX, document, anew=True).is_whole
    assert cases.accept(INDEX, {**document, "seal": "0" * 16}).is_whole
    assert len(read) == 4
    for change in ("a choice more", "a checker"):
        other = json.loads(json.dumps(document))
        if change == "a choice more":
            other["certificates"][0]["steps"][-1][0].append(["split", None, 0])
            with pytest.raises(Rejected):
                cases.accept(INDEX, other)
        else:
            monkeypatch.setattr(cases, "checker", lambda: "another one")
            assert cases.accept(INDEX, document).is_whole


def test_a_seal_that_was_made_up_is_caught_where_the_case_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    document, _ = long(monkeypatch)
    document["certificates"][0]["entries"][1]["classes"].pop()
    filled, _ = cases.fill(INDEX, document)
    with pytest.raises(Rejected):
        cases.accept(INDEX, {**document, "seal": cases.digest([filled, cases.checker()])})


def test_it_is_accepted_with_the_weights_of_now() -> None:
    found = accepted_cases(INDEX)
    assert found is not None
    accepted, name, _ = found
    assert [name, accepted.cases, accepted.classes] == ["index-rag-rounding-cases", 6, 2 * 36]
    assert [accepted.theorem["bits_of_bits"], len(accepted.theorem["cases"])] == [4, 2]


@pytest.mark.parametrize(
    "change", ["another model", "no split", "another split", "no such certificate", "no certificate", "a class less"]
)
def test_other_documents_are_not_relied_on(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row then judges all anew."""
    document = document_of(RECALL if change == "another model" else INDEX)
    tree = document["cases"][0]
    if change == "no split":
        document["cases"] = [tree["parts"][0]]
    elif change == "another split":
        tree["split"] = {**tree["split"], "question": ["5 + -1*E + 1*n", ">="]}
    elif change == "no such certificate":
        tree["parts"][1]["certificate"] = 1
    elif change == "no certificate":
        document["certificates"] = []
    elif change == "a class less":
        document["certificates"][0]["entries"][1]["classes"].pop()
    with pytest.raises((Stale, Rejected)):
        cases.accept(INDEX, document)
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    assert accepted_cases(INDEX) is None
    cases.path_of(INDEX).write_text(cases.text_of(INDEX, document), encoding="utf-8")
    assert accepted_cases(INDEX) is None


def test_a_file_that_is_no_document_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = cases.text_of(INDEX, document_of(INDEX))
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    for wrong in (
        "[]",
        "{}",
        text + "{}",
        text.replace('"bits_of_bits": 4', '"bits_of_bits": 5')[:-2],
        text.replace('"schema": 2', '"schema": 1'),
        text.replace('"certificates": "', '"certificates": "A'),
        text.replace("index", "recall"),
    ):
        cases.path_of(INDEX).write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match="index-rag-rounding-cases"):
            cases.read(INDEX)


def test_command_writes_what_python_alone_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cases.json"
    assert certify.main(["recall", "--all-n", "--certificate", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {path}, of every n from 128 on\n"
    command = [sys.executable, "-I", "-S", str(trusted.__file__), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("accepted")
    changed = path.read_text(encoding="utf-8").replace('"7 + 6*$B', '"5 + 6*$B')
    assert changed != path.read_text(encoding="utf-8")
    path.write_text(changed, encoding="utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("options", [("istree",), ("recall", "--precision", "99")])
def test_command_refuses_models_without_such_certificates(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.json"
    assert certify.main([*options, "--all-n", "--certificate", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not path.exists()
