"""Several processes end together: long claims begin, and each process gets one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.conftest import Paper
from verify import plugin
from verify.framework import ledger, order
from verify.framework.options import Options

HERE = Path(order.__file__).parents[1]


def test_the_longest_comes_first_and_what_is_unknown_before_it() -> None:
    seconds = {("a", ""): 1.0, ("b", ""): 3.0, ("b", "dense"): 2.0}
    keys = [("a", ""), None, ("b", "dense"), ("new", ""), ("b", "")]
    assert order.longest_first("vwxyz", keys, seconds) == list("wyzxv")


def test_equally_long_ones_keep_their_order() -> None:
    assert order.longest_first("xyz", [("a", ""), ("b", ""), ("c", "")], {("b", ""): 1.0}) == list("xzy")


def test_claims_that_share_work_stand_together() -> None:
    keys = [(claim, "") for claim in ("4.7/lean-rounding", "C.1", "4.7/lean-program", "4.7/program")]
    seconds = {keys[0]: 2.0, keys[1]: 4.0, keys[2]: 3.0, keys[3]: 6.0}
    assert order.longest_first("rapq", keys, seconds) == list("qpra")
    of_lemmas = ("5.3/istree-search", "5.3/istree-length", "5.3/istree-invariant-records")
    assert {order.group_of(claim) for claim in of_lemmas} == {"5.3/istree-lemmas"}
    assert {order.group_of(claim) for claim in ("5.7/above", "5.7/program-above")} == {"5.7/cases"}
    assert [order.group_of(claim) for claim, _ in keys] == [
        "4.7/lean-weights",
        "C.1",
        "4.7/lean-weights",
        "4.7/weights",
    ]


def test_claims_that_share_work_are_judged_by_one_process(paper: Paper) -> None:
    paper.write(
        """
import os

NAMES = ("T.1/rounding", "T.2/rounding", *(f"T.{i}/other" for i in range(9)), "T.2/program", "T.1/program")

@claims("name", NAMES, lambda name: Claim(name, "Lemma T", "It holds."))
def test_all(check, name):
    with open(name.replace("/", "-"), "w") as file:
        file.write(str(os.getpid()))
    check.chosen([1], below_100, range="one")
"""
    )
    assert paper.run_apart("-n", "2", "claims/paper.py").ret == 0
    processes = {path.name: path.read_text(encoding="utf-8") for path in paper.folder.glob("T.*-*")}
    assert len(processes) == 13
    assert len({*processes.values()}) == 2
    for claim in ("T.1", "T.2"):
        assert processes[f"{claim}-rounding"] == processes[f"{claim}-program"]


def test_seconds_come_from_a_ledger(paper: Paper) -> None:
    rows = paper.rows()
    seconds = order.seconds_of(paper.folder / "ledger.json")
    assert seconds == {(row["id"], row["engine"]): row["seconds"] for row in rows.values()}
    assert ("T.1/printed", "reference") in seconds


def test_tests_that_name_their_claim_are_found() -> None:
    seconds = {("C.18/repaired", "reference"): 2.0, ("4.7/small-eos", ""): 1.0, ("C.18/repaired", "dense"): 3.0}
    tests = ["a.py::t[reference-C.18/repaired]", "a.py::t[4.7/small-eos]", "a.py::t[reference-C.1]", "a.py::t"]
    assert order.seconds_of_tests(tests, seconds) == {tests[0]: 2.0, tests[1]: 1.0}


@pytest.mark.parametrize(
    ("arguments", "home"),
    [
        (["verify/"], HERE),
        (["verify/claims/turing.py::test_at_scale", "verify/claims"], HERE),
        (["claims/paper.py"], HERE.parent),
        (["."], HERE.parent),
        (["verify/", "tests"], None),
        ([], None),
    ],
)
def test_witnesses_stand_beside_the_claims(arguments: list[str], home: Path | None) -> None:
    assert order.witnesses_of(arguments, HERE.parent) == (home and home / "witnesses.json")


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_without_a_ledger_nothing_is_known(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert order.seconds_of(path) == {}


@pytest.mark.parametrize(
    ("arguments", "folder", "expected"),
    [
        (["verify/"], HERE.parent, True),
        (["verify"], HERE.parent, True),
        (["."], HERE, True),
        (["verify/claims/turing.py::test_at_scale"], HERE.parent, True),
        (["claims/paper.py"], Path("/"), True),
        (["tests"], HERE.parent, False),
        (["verify/", "tests"], HERE.parent, False),
        (["verify/check.py"], HERE.parent, False),
        ([], HERE.parent, False),
    ],
)
def test_a_run_of_claims_is_known_by_its_arguments(arguments: list[str], folder: Path, expected: bool) -> None:
    assert order.are_claims(arguments, folder) is expected


def test_the_committed_ledger_is_one() -> None:
    assert order.LEDGER == plugin.LEDGER
    assert len(order.seconds_of(order.LEDGER)) == len(ledger.read(order.LEDGER))
    assert ledger.read_run(order.LEDGER)[1]["n_max"] >= Options().n_max
