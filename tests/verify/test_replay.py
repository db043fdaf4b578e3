"""`python -m verify.replay`: one witness, one answer, one exit status."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.verify.conftest import PAPER, Paper
from verify import plugin, replay
from verify.framework import proofs
from verify.framework.order import WITNESSES
from verify.oracles.proofs import by_cases


@pytest.fixture
def stored(paper: Paper) -> Paper:
    """The paper, its witnesses stored."""
    assert paper.run("--update-witnesses").ret == 0
    return paper


def test_a_stored_witness_refutes_again(stored: Paper) -> None:
    result = stored.replay_apart("--witnesses", "witnesses.json", "T.1/printed")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "T.1/printed (Lemma T.1, printed)",
            "  case *100",
            "  bound *100",
            "  found *100",
            "This case refutes the claim.",
        ]
    )


def test_a_run_names_the_short_command_once_the_witness_is_stored(stored: Paper) -> None:
    stored.run().stdout.fnmatch_lines(["Replay a witness:", "python -m verify.replay T.1/printed --claims ."])


def test_witnesses_of_ones_own_claims_are_stored_beside_them(paper: Paper) -> None:
    """And not among those of the verifier."""
    files = [WITNESSES, proofs.file_of(WITNESSES)]
    before = [path.read_bytes() for path in files]
    result = paper.pytester.runpytest("--update-witnesses")
    result.stdout.fnmatch_lines(["python -m verify.replay T.1/printed --claims ."])
    assert [path.read_bytes() for path in files] == before
    assert list(paper.ledger("witnesses.json")["witnesses"]) == ["T.1/printed"]
    assert list(paper.ledger("proofs.json")["proofs"]) == ["U/repaired"]
    assert paper.replay("T.1/printed").ret == 1
    assert paper.replay("U/repaired").ret == 0


def test_claims_that_a_run_takes_over_keep_their_proofs(paper: Paper) -> None:
    """A ledger's rows say which proofs there were, and have none of them."""
    assert paper.run("--ledger", "ledger.json", "--update-witnesses").ret == 0
    before = {name: (paper.folder / name).read_bytes() for name in ("proofs.json", "witnesses.json")}
    assert paper.run("--resume", "ledger.json", "--update-witnesses").ret == 0
    assert {name: (paper.folder / name).read_bytes() for name in before} == before


def test_a_run_names_the_file_of_witnesses_that_are_elsewhere(paper: Paper) -> None:
    result = paper.pytester.runpytest("--claim", "T.1/printed", "--update-witnesses", "--witnesses", "kept.json")
    result.stdout.fnmatch_lines(["python -m verify.replay T.1/printed --claims . --witnesses kept.json"])


def test_a_file_of_that_name_which_is_no_file_of_witnesses_is_named_where_it_matters(paper: Paper) -> None:
    (paper.folder / "witnesses.json").write_text("{}", encoding="utf-8")
    result = paper.pytester.runpytest("--claim", "T.1/printed")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["ERROR: */witnesses.json: not a file of witnesses: 'witnesses'"])
    result = paper.pytester.runpytest("--claim", "T.1/printed", "--update-witnesses")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_witnesses_of_an_installed_package_are_not_written(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "is_checkout", lambda: False)
    result = paper.pytester.runpytest(str(WITNESSES.parent), "--update-witnesses")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.stderr.lines if line.strip()]
    assert line.endswith(f"{WITNESSES} is the installed package's; name another with --witnesses PATH")


@pytest.mark.parametrize(
    ("before", "after", "status", "line"),
    [
        (
            'below_100, range="numbers", max',
            'lambda number: None, range="numbers", max',
            0,
            "The claim holds at this case.",
        ),
        ('"numbers"', '"integers"', 3, "Unknown: the test has no part 'numbers'"),
        ('below_100, range="numbers", max', 'len, range="numbers", max', 3, "Unknown: TypeError: *"),
    ],
    ids=["a repaired claim holds at the old witness", "a part is gone", "a crash"],
)
def test_a_claim_that_has_changed(stored: Paper, before: str, after: str, status: int, line: str) -> None:
    stored.write(PAPER.replace(before, after))
    result = stored.replay("--witnesses", "witnesses.json", "T.1/printed")
    assert result.ret == status
    result.stdout.fnmatch_lines([line])


def test_stored_proofs_are_checked_again_by_the_kernel(stored: Paper) -> None:
    result = stored.replay("--witnesses", "witnesses.json", "U/repaired")
    assert result.ret == 0
    assert result.outlines == [
        "accepted: for all real x: x*x >= 0",
        "The checker accepts 1 of 1 stored proofs of U/repaired.",
        "The claim's test makes the same 1 theorem anew.",
        "There is no ledger to compare their digest with.",
    ]


def of_other_theorems(stored: Paper, change: Callable[[list[Any]], list[Any]], claim: str = "U/repaired") -> list[str]:
    """What a replay prints after the proofs, all of which the checker accepts, where others are stored."""
    path = stored.folder / "proofs.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    parts = document["proofs"][claim]
    for part, objects in parts.items():
        parts[part] = change(objects)
    path.write_text(json.dumps(document), encoding="utf-8")
    result = stored.replay("--witnesses", "witnesses.json", claim)
    assert result.ret == 3
    (accepts,) = (i for i, line in enumerate(result.outlines) if line.startswith("The checker accepts"))
    assert all(line.startswith("accepted: ") for line in result.outlines[:accepts])
    return result.outlines[accepts + 1 :]


def proved(show: str) -> Any:
    theorem, proof = by_cases({"for_all": {"x": "real"}, "given": [], "show": show})
    return {"theorem": theorem, "proof": proof}


NOT_MADE = "the claim's test makes no such theorem"
NOT_STORED = "REFUSED: U/repaired: for all real x: x*x >= 0: the claim's test makes this theorem, and it is not stored"


@pytest.mark.parametrize("show", ["x == x", "relu(x) >= 0"])
def test_another_theorem_is_refused_though_it_has_a_proof(stored: Paper, show: str) -> None:
    refused = f"REFUSED: U/repaired: for all real x: {show}: {NOT_MADE}"
    assert of_other_theorems(stored, lambda objects: [proved(show)]) == [refused, NOT_STORED]


def test_a_theorem_more_is_refused(stored: Paper) -> None:
    refused = f"REFUSED: U/repaired: for all real x: x == x: {NOT_MADE}"
    assert of_other_theorems(stored, lambda objects: [*objects, proved("x == x")]) == [refused]
    same = f"REFUSED: U/repaired: for all real x: x*x >= 0: {NOT_MADE}"
    assert of_other_theorems(stored, lambda objects: [objects[0], objects[0]]) == [same]


def test_a_theorem_that_is_missing_is_refused(stored: Paper) -> None:
    stored.write(PAPER.replace("[SQUARES]", "[SQUARES, (SQUARES[0] | {'show': 'x*x >= -1'}, 0)]"))
    missing = (
        "REFUSED: U/repaired: for all real x: x*x >= -1: the claim's test makes this theorem, and it is not stored"
    )
    assert of_other_theorems(stored, lambda objects: objects) == [missing]


def test_a_theorem_of_a_part_that_the_claim_does_not_have_is_refused(stored: Paper) -> None:
    stored.write(PAPER.replace("all real x", "all x"))
    refused = f"REFUSED: U/repaired: for all real x: x*x >= 0: {NOT_MADE}"
    assert of_other_theorems(stored, lambda objects: objects) == [refused, NOT_STORED]


def test_stored_proofs_are_those_of_the_ledger(stored: Paper) -> None:
    stored.run("--ledger", "ledger.json")
    assert stored.replay("--witnesses", "witnesses.json", "U/repaired").ret == 0
    other = "REFUSED: U/repaired: for all real x: x*x >= 0: the ledger's row is about other theorems or proofs, by their digest"
    path = stored.folder / "ledger.json"
    ledger = path.read_text(encoding="utf-8")
    path.write_text(re.sub('"sha256": "[0-9a-f]+"', '"sha256": "0f"', ledger), encoding="utf-8")
    assert of_other_theorems(stored, lambda objects: objects) == [other]
    stored.run("--ledger", "ledger.json", "--claim", "T.9/repaired")
    none = "REFUSED: U/repaired: for all real x: x*x >= 0: the ledger has no proof of this part"
    assert of_other_theorems(stored, lambda objects: objects) == [none]


SLOW = """
@claim("S/repaired", source="Theorem S", statement="It takes minutes.")
def test_slow(check):
    check.proved(
        (made for made in [(GROWS, {})]),
        by="sight", range="all n", quickly=lambda: [{"bits_of_bits": 3, "inequalities": [["1*n", ">="]]}],
    )
"""


def test_of_theorems_that_take_minutes_a_part_is_made_anew(stored: Paper) -> None:
    case = {"shown": [0]}
    grows = {"bits_of_bits": 3, "inequalities": [["1*n", ">="]], "cases": [case, case]}
    stored.write(PAPER + f"GROWS = {grows}" + SLOW)
    assert stored.run("--update-witnesses", "--ledger", "ledger.json").ret == 0
    result = stored.replay("--witnesses", "witnesses.json", "S/repaired")
    assert (result.ret, result.outlines[2:]) == (0, [ANEW, BOUND])
    path = stored.folder / "ledger.json"
    ledger = json.loads(path.read_text(encoding="utf-8"))
    for row in ledger["rows"]:
        row["seconds"] = 100.0
    path.write_text(json.dumps(ledger), encoding="utf-8")
    result = stored.replay("--witnesses", "witnesses.json", "S/repaired")
    assert (result.ret, result.outlines[2:]) == (0, [*IN_PART, BOUND])
    result = stored.replay("--witnesses", "witnesses.json", "S/repaired", "--anew")
    assert (result.ret, result.outlines[2:]) == (0, [ANEW, BOUND])
    stored.write(PAPER + f"GROWS = {grows}" + SLOW.replace("[[", '[["2*n", ">"], ["1*n", ">"], ['))
    name = "REFUSED: S/repaired: for all n >= 2**3: 1 inequalities, each in cases of n"
    assert of_other_theorems(stored, lambda objects: objects, "S/repaired") == [
        f"{name}: it lacks 2 of the 3 inequalities that the builder asks"
    ]
    stored.write(PAPER + f"GROWS = {grows}" + SLOW.replace(': 3, "ineq', ': 4, "ineq'))
    assert of_other_theorems(stored, lambda objects: objects, "S/repaired") == [
        f"{name}: the claim's test makes a theorem of other n"
    ]
    assert of_other_theorems(stored, lambda objects: [*objects, *objects], "S/repaired") == [
        f"{name}: 2 theorems are stored, and the claim's test makes 1",
        f"{name}: the claim's test makes a theorem of other n",
        f"{name}: the ledger's row is about other theorems or proofs, by their digest",
    ]


ANEW, BOUND = "The claim's test makes the same 1 theorem anew.", "The ledger's row has the same digest."
IN_PART = [
    "The claim's test takes minutes to make its 1 theorem anew. Made anew: the inequalities that the",
    "builder asks; all are stored. The rest is known by its digest alone. --anew makes everything.",
]


@pytest.mark.parametrize(
    ("claim", "other"),
    [("C.3/repaired", {"for_all": {"x": "real"}, "given": [], "show": "x == x"}), ("4.6/index-above", None)],
)
def test_a_trivial_theorem_is_none_of_the_papers(
    tmp_path: Path, claim: str, other: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which was accepted: the checker has no quarrel with x == x, nor with n >= 0."""
    document = json.loads(proofs.file_of(WITNESSES).read_text(encoding="utf-8"))
    (objects,) = document["proofs"][claim].values()
    if other is None:
        case = {"shown": [0]}
        trivial = {"bits_of_bits": 7, "inequalities": [["1*n", ">="]], "cases": [case, case]}
        objects[:] = [{"theorem": trivial, "proof": {}}]
    else:
        objects[:] = [{"theorem": other, "proof": by_cases(other)[1]}]
    (tmp_path / "proofs.json").write_text(json.dumps(document), encoding="utf-8")
    assert replay.main([claim, "--witnesses", str(tmp_path / WITNESSES.name)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"The checker accepts 1 of 1 stored proofs of {claim}."
    assert lines[2] == f"REFUSED: {claim}: {proofs.sentence_of(objects[0]['theorem'])}: {NOT_MADE}"


def test_a_stored_proof_that_was_tampered_with_is_rejected(stored: Paper) -> None:
    path = stored.folder / "proofs.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(">= 0", ">= x"), encoding="utf-8")
    result = stored.replay("--witnesses", "witnesses.json", "U/repaired", "--json")
    assert result.ret == 3
    document = json.loads(result.stdout.str())
    [proof] = document["proofs"]
    assert (document["verdict"], proof["accepted"]) == ("unknown", False)
    assert proof["note"] == "the sum of products is another polynomial"
    path.write_text(text.replace('"proof"', '"trust"'), encoding="utf-8")
    result = stored.replay("--witnesses", "witnesses.json", "U/repaired")
    assert result.ret == 2
    [line] = result.stderr.lines
    assert line.endswith("proofs.json: not a file of proofs: U/repaired: want objects of a theorem and its proof")


def test_proofs_of_a_claim_that_is_judged_again_without_are_forgotten(stored: Paper) -> None:
    stored.write(
        PAPER.replace('check.proved([SQUARES], by="the signs of x", range="all real x")', 'check.unknown("open")')
    )
    stored.run("--update-witnesses", "--claim", "U/repaired")
    assert json.loads((stored.folder / "proofs.json").read_text(encoding="utf-8"))["proofs"] == {}


def test_the_printed_command_needs_no_file(paper: Paper) -> None:
    [row] = [row for row in paper.rows().values() if row["verdict"] == "refuted"]
    witness = row["witness"]
    witness.pop("replay")
    result = paper.replay("T.1/printed", "--witness", json.dumps(witness), "--json")
    assert result.ret == 1
    assert json.loads(result.stdout.str()) == {
        "schema": 1,
        "claim": "T.1/printed",
        "verdict": "refuted",
        "case": 100,
        "shows": {"bound": 100, "found": 100},
        "note": "",
    }


def test_a_ledger_is_a_source_of_witnesses(paper: Paper) -> None:
    paper.run("--ledger", "ledger.json")
    assert paper.replay("T.1/printed", "--ledger", "ledger.json").ret == 1
    assert paper.replay("T.1/repaired", "--ledger", "ledger.json").ret == 3


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["T.1/printd"],
            "'T.1/printd': no such claim; close: T.1/printed*; `python -m verify.replay --list` lists them",
        ),
        (
            ["T.1"],
            "'T.1': no such claim; close: T.1/printed, T.1/repaired; `python -m verify.replay --list` lists them",
        ),
        ([" T.1/printed "], "' T.1/printed ': no such claim; close: T.1/printed*"),
        ([""], "'': no such claim; `python -m verify.replay --list` lists them"),
        ([], "name a claim, or ask for --list"),
        (["T.1/printed", "--witness", "{}"], "a witness is an object with exactly the fields *"),
        (["T.1/printed", "--ledger", "nowhere.json"], "*nowhere.json*"),
        (["T.1/printed", "--claims", "nowhere"], "nowhere: there is no claims/[!_]*.py"),
    ],
)
def test_a_mistake_gets_one_line(paper: Paper, arguments: list[str], line: str) -> None:
    result = paper.replay(*arguments)
    assert result.ret == 2
    assert result.outlines == []
    result.stderr.fnmatch_lines([f"python -m verify.replay: error: {line}"])
    assert len(result.errlines) == 1


def test_a_claim_without_a_witness(stored: Paper) -> None:
    result = stored.replay("--witnesses", "witnesses.json", "T.1/repaired")
    assert result.ret == 3
    line = "python -m verify.replay: T.1/repaired: there is no witness in witnesses.json, and no proof beside it; "
    line += "pytest . --claim T.1/repaired judges it again"
    result.stderr.fnmatch_lines([line])


def test_a_broken_file_of_claims_is_named(stored: Paper) -> None:
    (stored.folder / "claims" / "broken.py").write_text("import nothing_like_it\n")
    result = stored.replay("--list")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["python -m verify.replay: error: *claims/broken.py: *nothing_like_it*"])


def test_the_list(stored: Paper) -> None:
    result = stored.replay_apart("--list", "--witnesses", "witnesses.json")
    assert result.ret == 0
    assert [line.split()[0] for line in result.stdout.lines] == [
        "T.1/printed",
        "T.1/repaired",
        "T.9/repaired",
        "T.10/repaired",
        "U/repaired",
    ]
    assert [line for line in result.stdout.lines if line.endswith("(witness stored)")] == result.stdout.lines[:1]


HUGE = '{"case": 1000000000, "shows": {}, "part": "numbers", "n_max": %s, "p_bits": %s, "engine": "", "seed": 0}'


@pytest.mark.parametrize(
    ("n_max", "p_bits", "status", "line"),
    [
        ("64", "null", 3, "Unknown: n = 1000000000 is larger than a replay takes on: 10000, *"),
        ("1000000000", "null", 2, "*--n-max 1000000000: the largest size can be 10000000 at most"),
        ("64", "9999999", 2, "*--p-bits 9999999: a precision has 1023 bits at most"),
    ],
)
def test_a_witness_beyond_all_bounds(paper: Paper, n_max: str, p_bits: str, status: int, line: str) -> None:
    result = paper.replay("T.9/repaired", "--witness", HUGE % (n_max, p_bits))
    assert result.ret == status
    pytest.LineMatcher([*result.outlines, *result.errlines]).fnmatch_lines([line])


def test_an_interrupt_is_one_line(paper: Paper) -> None:
    paper.write(f"{PAPER}\nimport signal\nsignal.raise_signal(signal.SIGINT)\n")
    result = paper.replay_apart("--list")
    assert result.ret == 130
    assert result.errlines == ["python -m verify.replay: interrupted"]
