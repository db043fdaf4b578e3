"""Each of these faults, planted, ends `make verify` red: the narrowest claim that notices it is judged, with its options."""

from __future__ import annotations

import subprocess
import sys

import pytest

CLAIMS = "verify/claims"
OF_MAKE = ("--n-max", "10000")  # as `make verify` has it
# A fault of tests/verify/planted.py, the file of a claim and the claim that is judged, what it says, options.
NOTICED = [
    ("accepting_oracle", "next_fraction", "C.19/repaired", "what is wrong is accepted: numbers to which 1/m is not"),
    ("silent_comparison", "gadgets", "C.3/repaired", "what is wrong is accepted: a register that is one quantum farther"),
    ("contradictory_axiom", "induction", "4.7/search", "what lemmas use may contradict itself: one is false"),
    ("one_key_for_many", "certified", "4.6/index-rounding", "the checker certifies a model that is wrong: keys_that_tie"),
    ("emptied_output", "retrieval", "4.6/index-small", "4.6/index-small (Theorem 4.6): refuted, expected holds."),
]


def judged(fault: str, file: str, claim: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.verify.planted", fault, f"{CLAIMS}/{file}.py", claim, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"COLUMNS": "400"}, timeout=120)


@pytest.mark.parametrize(("fault", "file", "claim", "says"), NOTICED, ids=[row[0] for row in NOTICED])
def test_a_claim_notices(fault: str, file: str, claim: str, says: str) -> None:
    done = judged(fault, file, claim)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert says in done.stdout


def test_without_a_fault_the_claim_is_as_expected() -> None:
    assert judged("nothing", "gadgets", "C.3/repaired").returncode == pytest.ExitCode.OK
