"""`python -m verify.theorem`: every link of a theorem, and that one which does not hold ends it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from constructions.language import choose, number, select
from constructions.retrieval.task import NO, YES
from verify import theorem
from verify.certificates import ranges
from verify.certificates.document import UNKNOWN, Judged
from verify.dossiers.dossier import ENDLESS, Subject
from verify.dossiers.istree.models import OfTransformer
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.tasks import Retrieval
from verify.framework import proofs
from verify.induction.along import Shown, check_along_runs
from verify.induction.theory import Theory
from verify.patterns.pattern import MOST_REPEATED, NUMERALS
from verify.patterns.texts import Comparison
from verify.theorem import main

LINES = {
    "istree --n 8": [
        "istree, n = 8",
        "  rounding: certified; in R_p, p = 45, every word after a simple graph is that of exact arithmetic",
        "  program: certified; after every prompt, each word is the defined step of Algorithm 1",
        "  assumed: counts of one vertex: follows; of every run, for every n; 21 lemmas, by z3, rest on 13 axioms, whose "
        "instances are true along exact runs; z3 finds no contradiction in the axioms alone",
        "  run: follows; for every n, steps, each after those before, end with YES if and only if the graph is a tree; "
        "141 lemmas, by z3, rest on 39 axioms, whose instances are true along exact runs; z3 finds no contradiction in the "
        "axioms alone",
    ],
    "recall --n 1000000000000": [
        "recall, n = 1000000000000",
        "  rounding: certified; in R_p, p = 251, every word is that of exact arithmetic",
        "  program: certified; the program is the task",
    ],
    "recall --n 60-70": [
        "recall, n = 60 … 70",
        "  rounding: certified; in R_p, p = 45 … 51, every word is that of exact arithmetic; 4 intervals",
        "  program: certified; the program is the task; 2 intervals",
    ],
    "recall --model rag --all-n --n 18446744073709551616": [
        "recall, rag, every n from 18446744073709551616 on",
        "  rounding: certified; in R_p, p = 263, every word is that of exact arithmetic; 1 interval",
        "  program: certified; the program writes the search that is defined, and says what it finds; 1 interval",
        "  n ≥ 2^7: certified; rounding and program, of the same weights in each of 6 cases of n and its bit length; "
        "# inequalities, shown again by verify/trusted/growth.py",
        "  searches: certified; in every text the pattern finds what is defined, as `re` is documented",
    ],
    "istree --n 2 --variant lean": [
        "istree, lean, n = 2",
        "  every input: certified; the answer is right; each of 3 inputs was run, rounded and in exact arithmetic: "
        "every graph on n = 2 in every order and orientation of its edges, with the chain of thought that is due",
    ],
}


certificates, explanations = cache(theorem.certificates), cache(theorem.explanations)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemmas are asked for elsewhere, and what searches find; models that several tests are about are read once."""
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "")
    monkeypatch.setattr(theorem, "check_along_runs", lambda theory, lemmas: Shown(""))
    monkeypatch.setattr(Comparison, "difference", lambda made: None)
    monkeypatch.setattr(theorem, "certificates", lambda subject, tell: certificates(subject))
    monkeypatch.setattr(theorem, "explanations", lambda subject, tell: explanations(subject))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("command", LINES)
def test_links(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 0
    assert re.sub(r"\d+ inequalities", "# inequalities", capsys.readouterr().out).splitlines() == LINES[command]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("istree --variant lean --tokens eos --n 8", ["rounding", "program", "run"]),
        (
            "istree --model rag --n 8 --discipline sequential",
            ["rounding", "program", "assumed: records", "searches", "run"],
        ),
        ("istree --model hybrid --n 8", ["rounding", "program", "assumed: records of one vertex", "run"]),
        ("turing --model rag --n 3 --machine palindrome --tape 12", ["rounding", "program", "searches", "run"]),
        (
            "turing --model cot --n 4 --cells 2",
            ["rounding", "program", "assumed: the digit in front of the queue", "run"],
        ),
        ("ngram --model rag --n 4", ["rounding", "program", "searches"]),
    ],
)
def test_documents(command: str, names: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [link["name"] for link in document["links"]] == names
    assert {link["verdict"] for link in document["links"]} <= {"certified", "follows"}
    assert document["verdict"] == "certified"


@pytest.mark.parametrize(
    ("command", "code", "last"),
    [
        (
            "counting --printed count-query --n 8",
            1,
            "  program: refused; the answer at threshold: on '<s> 1 ? 1 1' it says",
        ),
        ("counting --printed count-margin --n 8", 1, "  rounding: refused; the output head, YES against number v"),
    ],
)
def test_it_ends_where_a_link_does_not_hold(
    command: str, code: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith(last)


def test_a_lemma_that_is_not_seen_to_follow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Theory, "doubt", lambda made, name: "unknown" if name == "step" else "")
    assert main(["istree", "--variant", "lean", "--n", "8"]) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "  run: unknown; lemma step is not seen to follow: unknown"


VACUOUS = "(axiom vacuous (forall ((j Int)) (! (= (|is ~| j) (and (<= 3 j E) (= (mod j 3) 1))) :pattern ((kind j)))))"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("axiom", "why"),
    [(VACUOUS, "vacuous is false: "), ("(axiom less (= E 0)) (axiom more (= E 1))", "less is false: ")],
)
def test_axioms_from_which_everything_follows(
    axiom: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`~` stands at every third place; that it stands one place later contradicts it, and z3 proved all lemmas of both."""
    right = type(find_subject("istree", 8, model="rag").dossier).theory

    def with_another(dossier: Any) -> Theory:
        made: Any = right(dossier)
        made.add(axiom)
        return made

    monkeypatch.setattr(theorem, "check_along_runs", check_along_runs)
    monkeypatch.setattr(type(find_subject("istree", 8, model="rag").dossier), "theory", with_another)
    assert main(["istree", "--model", "rag", "--n", "8"]) == 3
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"  run: unknown; what its lemmas use may contradict itself: {why}")


def test_a_search_that_finds_something_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which no search of a definition does; the one of Counting leaves out the query itself."""
    more = choose(select(number, number.back(1)).count() > number, YES, NO)
    monkeypatch.setattr(Retrieval, "define", lambda dossier: more.answer)
    assert main(["counting", "--model", "rag", "--n", "8"]) == 1
    last = capsys.readouterr().out.splitlines()[3]
    assert last == (
        "  searches: refused; two numbers: something else than is defined is found in "
        f"<s> ? {NUMERALS[0]} {NUMERALS[1]}, where {NUMERALS[1]} is 0"
    )


@pytest.fixture
def above(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What is said of all n from 2^7 on; by default not that it is certified."""
    result: dict[str, Any] = {
        "verdict": UNKNOWN,
        "where": "block 1",
        "what": "no rule tells it",
        "cases": [],
        "theorem": None,
        "n_from": "2^7",
    }
    monkeypatch.setattr(theorem, "survey", lambda subject, *judges, say: SimpleNamespace(document=lambda: result))
    return result


def test_sizes_above_that_are_not_told(above: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["index", "--model", "hybrid", "--all-n", "--n", str(2**64)]
    assert main(command) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "  n ≥ 2^7: unknown; block 1: no rule tells it"
    above |= {"verdict": "certified", "theorem": {"bits_of_bits": 7, "inequalities": [["1*n", ">"]], "cases": []}}
    assert main(command) == 4  # whoever found it, verify/trusted/growth.py has the last word
    assert "Rejected" in capsys.readouterr().err


def test_what_is_assumed_above_is_asked_for(above: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    shown = {"bits_of_bits": 7, "inequalities": [["1*n", ">"]], "cases": [{"shown": [0]}, {"shown": [0]}]}
    above |= {"verdict": "certified", "theorem": shown, "n_from": "2^63", "cases": [{"assumed_invariants": ["luck"]}]}
    assert main(["index", "--all-n", "--n", str(2**64)]) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "  assumed: luck: unknown; no lemma shows it of runs"


def test_a_stored_theorem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", "--model", "rag", "--all-n", "--n", str(2**64), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n"] == [str(2**64), None]
    rounding, program, above, searches = document["links"]
    assert rounding["weights_sha256"]
    assert program["weights_sha256"]
    proofs.check(above["theorem"], {})
    path = tmp_path / "theorem.json"
    path.write_text(json.dumps(document))
    assert main(["--replay", str(path)]) == 0
    tampered = {**above, "cases": above["cases"][1:]}
    for links, name in (([rounding, program, tampered, searches], "n ≥ 2^7"), ([rounding, program, above], "searches")):
        path.write_text(json.dumps({**document, "links": links}))
        assert main(["--replay", str(path)]) == 1
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == f"{path}: differs from what is said now: links, {name}"
    for text in ("[]", "{}", "x", json.dumps({**document, "property": "soundness of rounding"})):
        path.write_text(text)
        assert main(["--replay", str(path)]) == 2


@pytest.mark.parametrize(
    ("name", "finds"),
    [
        ("recall", "the pattern finds what is defined, as `re` is documented"),
        ("index", "the pattern finds what is defined, as `re` is documented"),
        ("counting", "each of 2 patterns finds what is defined, as `re` is documented"),
        ("istree", "each of 3 patterns finds what is defined, as `re` is documented, if no edge is there twice"),
    ],
)
def test_of_which_texts_searches_are_certified(name: str, finds: str) -> None:
    subject = find_subject(name, 8, model="rag")
    link = theorem._searches(subject.dossier.searches(subject), subject.dossier.left_open(subject))
    assert (link.verdict, link.text) == ("certified", f"in every text {finds}")


def left_open(subject: Subject) -> str:
    return subject.dossier.left_open(subject)


@pytest.mark.parametrize(("n", "told"), [(MOST_REPEATED - 1, False), (MOST_REPEATED, True), (ENDLESS, True)])
def test_more_repetitions_than_re_takes(n: int, told: bool) -> None:
    """They are more than the number that is asked for, by one."""
    for name in ("index", "counting"):
        assert (f"the {MOST_REPEATED} repetitions" in left_open(find_subject(name, 8, model="rag", last=n))) == told
    assert not left_open(find_subject("recall", 8, model="rag", last=n))


def test_a_search_that_is_compared_with_nothing() -> None:
    """For more numbers than there are letters for: the program alone does not say that the answer is right."""
    *_, last = theorem.links(find_subject("ngram", 8, model="rag", query_length=3))
    assert (last.name, last.verdict) == ("searches", UNKNOWN)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("command", "first"),
    [
        (
            "turing --model hybrid --machine palindrome --tape 1 --n 4 --printed cell-zero",
            "on 1, cell-zero as printed, n = 4",
        ),
        ("turing --model cot --cells 2 --n 4", "turing, cot, 1RB1LB_1LA1RZ, 2 cells, n = 4"),
    ],
)
def test_a_theorem_names_its_machine(command: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(command.split())
    assert capsys.readouterr().out.splitlines()[0].endswith(first)


@pytest.mark.usefixtures("quick")
def test_an_assumption_that_nothing_shows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(OfTransformer, "invariants", {})
    assert main(["istree", "--n", "8"]) == 3
    assert "  assumed: counts of one vertex: unknown; no lemma shows it of runs\n" in capsys.readouterr().out


def test_a_program_that_is_not_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"verdict": UNKNOWN, "where": "block 1", "what": "no rule tells it"}
    monkeypatch.setattr(theorem, "explanations", lambda subject, tell: {**explanations(subject), **told})
    assert main(["index", "--n", "8"]) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "  program: unknown; block 1: no rule tells it"


def test_both_certificates_are_of_the_same_weights(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        theorem,
        "explanations",
        lambda subject, tell: explanations(replace(subject, dossier=find_subject("ngram", 4).dossier)),
    )
    for sizes in ("8", "6-9"):
        assert main(["recall", "--n", sizes]) == 2
        assert "of different weights" in capsys.readouterr().err


def test_an_interval_that_is_not_certified(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the first one the verdict is said, and nothing after it is asked."""
    own = ranges.judge
    refused = Judged("refused", "block 1, head 0", "its lead is too small")
    monkeypatch.setattr(ranges, "judge", lambda model, inputs: refused if inputs.sizes[0] > 6 else own(model, inputs))
    assert main(["recall", "--n", "5-20"]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[1:] == ["  rounding: refused; n = 7, block 1, head 0: its lead is too small"]
    assert [line.split(": ")[1] for line in said.err.splitlines()] == ["certified", "certified", "refused"]


@pytest.mark.parametrize(
    ("p", "code", "says"),
    [
        (61, 0, "rounding: certified; in R_p, p = 61"),
        (21, 1, "rounding: refused; the weights of block 3: weight -8192 is not an element of R_21"),
    ],
)
def test_a_precision_of_ones_own(
    p: int, code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is that of the weights, of the program too, and of a document that is asked for again."""
    assert main(["recall", "--n", "6", "--precision", f"{p}"]) == code
    assert says in capsys.readouterr().out
    assert main(["recall", "--n", "6", "--precision", f"{p}", "--json"]) == code
    (tmp_path / "t.json").write_text(capsys.readouterr().out)
    assert main(["--replay", str(tmp_path / "t.json")]) == code
    assert says in capsys.readouterr().out


def test_links_are_not_of_many_n_as_printed() -> None:
    with pytest.raises(ValueError, match="of what is repaired or lean"):
        next(theorem.links(find_subject("recall", 5, printed=("C.3",), last=9)))


def test_what_is_not_covered_cannot_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["C.13", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "unknown"
    assert [(link["name"], link["verdict"]) for link in document["links"]] == [
        ("rounding", "certified"),
        ("program", "unknown"),
    ]


def test_no_exported_file_is_offered_but_one_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "FILE.py" in text
    assert "safetensors" not in text


def test_what_answers_at_once_has_no_lemmas() -> None:
    assert find_subject("index", 8).dossier.theory() is None
    assert find_subject("counting", 8, model="rag").dossier.theory() is None
