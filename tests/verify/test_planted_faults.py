"""Each of these faults, planted, ends `make verify` red: the narrowest claim that notices it is judged, with its options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from circuits.child import run_in_child
from tests.verify.planted import FAULTS
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.framework.weights import CHECKERS, About

CLAIMS = "verify/claims"
# A fault of tests/verify/planted.py, the file of a claim and the claim that is judged, what it says, options.
NOTICED = [
    ("accepting_oracle", "next_fraction", "C.19/repaired", "what is wrong is accepted: numbers to which 1/m is not"),
    (
        "silent_comparison",
        "gadgets",
        "C.3/repaired",
        "what is wrong is accepted: a register that is one quantum farther",
    ),
    ("contradictory_axiom", "program", "4.7/search", "what lemmas use may contradict itself: one is false"),
    (
        "one_key_for_many",
        "standard",
        "4.6/index-rounding",
        "the checker certifies a model that is wrong: keys_that_tie",
    ),
    ("emptied_output", "heads", "C.13", ", expected holds."),
    (
        "default_in_a_gap",
        "istree_hybrid",
        "5.7/scale",
        "5.7/scale (Theorem 5.7): refuted, expected holds.",
        "--n-max",
        "1000",
    ),
]
# Faults at some n alone, and an n at which the model is looked at: what says no there. Claims over all n come to such an n.
AT_SOME_N = [
    ("scale_in_a_gap", find_subject("istree", 50_000, model="hybrid"), "rounding"),
    ("scale_of_plain_numbers", find_subject("istree", 50_000, model="hybrid"), "rounding"),
    ("scale_in_a_gap", find_subject("recall", 50_000), "program"),
    ("default_in_a_gap", find_subject("istree", 400, model="hybrid"), "rounding"),
    ("default_in_a_gap", find_subject("recall", 400, model="hybrid"), "program"),
    ("fewer_bits_in_a_gap", find_subject("istree", 6_000, lean=True), "rounding"),
]


def judged(fault: str, file: str, claim: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.verify.planted", fault, f"{CLAIMS}/{file}.py", claim, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"COLUMNS": "400"}, timeout=120)


@pytest.mark.parametrize("row", NOTICED, ids=" ".join)
def test_a_claim_notices(row: tuple[str, ...]) -> None:
    fault, file, claim, says, *options = row
    done = judged(fault, file, claim, *options)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert says in done.stdout


@pytest.mark.parametrize(("fault", "subject", "about"), AT_SOME_N)
def test_at_such_an_n_the_model_is_not_certified(fault: str, subject: Subject, about: About) -> None:
    assert CHECKERS[about](subject)["verdict"] == "certified"

    def judged_with_fault() -> Iterator[str]:
        FAULTS[fault]()
        yield CHECKERS[about](subject)["verdict"]

    (verdict,) = run_in_child(judged_with_fault)
    assert verdict in ("refused", "unknown")
