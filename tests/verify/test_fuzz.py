"""Random cases: the same in every run of the tests, fresh ones by `--fuzz`, and what failed is tried again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.verify.conftest import Paper
from verify.framework.fuzz import kept_witnesses
from verify.framework.ledger import load_witnesses

ROOT = Path(__file__).parents[2]
PROPERTIES = """
import pytest
from hypothesis import given, settings, strategies as st

@given(st.integers(0, 10**9))
@settings(max_examples=2)
def test_rarely_fails(number):
    print("drawn", number)
    assert number % 4 != 2

@pytest.mark.parametrize("low", [1, 2])
@given(data=st.data())
@settings(max_examples=40)
def test_never_fails(low, data):
    number = data.draw(st.integers(low, 10**9))
    print("drawn", low, number)
    assert number >= low

def test_plain():
    pass
"""
CLAIMS = """
def is_2(number: int) -> Counterexample | None:
    return Counterexample(found=number) if number % 4 == 2 else None

def breaks_at_2(number: int) -> None:
    if number % 4 == 2:
        raise OverflowError("it is 2")

@claim("R", source="R", statement="No number is 2 modulo 4.")
def test_rare(check):
    check.sampled(st.integers(0, 10**9), is_2, range="numbers", max_examples=2)

@claim("S", source="S", statement="All numbers can be looked at.")
def test_crash(check):
    check.sampled(st.integers(0, 10**9), breaks_at_2, range="numbers", max_examples=2)

@claim("P", source="P", statement="One is one.")
def test_proof(check):
    check.proved([(1, 2)], by="nothing that fuzzing looks at", range="all x")
"""


@pytest.fixture
def folder(paper: Paper) -> Paper:
    """The tests' own settings, and properties of our own."""
    tests = paper.folder / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tests / "test_properties.py").write_text(PROPERTIES, encoding="utf-8")
    return paper


def drawn(result: pytest.RunResult) -> list[str]:
    return sorted(line for line in result.outlines if line.startswith("drawn"))


def test_every_run_draws_the_same(folder: Paper) -> None:
    runs = [folder.pytester.runpytest_subprocess("-rP", "tests", *options) for options in ((), ("-n", "2"))]
    assert [run.ret for run in runs] == [0, 0]
    assert drawn(runs[0]) == drawn(runs[1])
    assert len(drawn(runs[0])) == 82


def test_what_fails_is_kept_and_tried_again(folder: Paper) -> None:
    fuzzed = folder.pytester.runpytest_subprocess("tests", "--fuzz", "0.05", "-n", "1")
    assert fuzzed.ret == 1
    fuzzed.stdout.fnmatch_lines(
        [
            "* cases of 3 tests; 1 failed",
            "tests/test_properties.py::test_rarely_fails",
            "  again: python -m pytest tests/test_properties.py::test_rarely_fails",
        ]
    )
    again = folder.pytester.runpytest_subprocess("tests")
    again.assert_outcomes(passed=3, failed=1)
    again.stdout.fnmatch_lines(["*test_rarely_fails*"])


def test_a_case_that_a_claim_fails_at_is_kept(paper: Paper) -> None:
    paper.write(CLAIMS)
    fuzzed = paper.run_apart("--fuzz", "0.05", "-n", "1")
    fuzzed.stdout.fnmatch_lines(["* cases of 2 tests; 2 failed", "*  again: python -m verify.replay R --witness *"])
    path = kept_witnesses(paper.folder)
    assert [(claim, witness.case % 4) for claim, witness in load_witnesses(path).items()] == [("R", 2), ("S", 2)]
    assert [paper.replay(claim, "--witnesses", str(path)).ret for claim in "RS"] == [1, 3]


def test_what_once_refuted_a_claim_holds_now() -> None:
    """Of the cases that `make fuzz` kept on this machine."""
    path = kept_witnesses(ROOT)
    for claim in load_witnesses(path):
        command = [sys.executable, "-m", "verify.replay", claim, "--witnesses", str(path), "--json"]
        actual = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert actual.returncode == 0, f"{' '.join(command)}\n{json.loads(actual.stdout or 'null')}{actual.stderr}"
