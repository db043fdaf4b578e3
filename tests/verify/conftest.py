"""A small paper of our own, so that the verifier is judged apart from the constructions."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401 - once, before runs inside this process import and forget it
import pytest

import verify.framework.check
import verify.framework.sampling
import verify.framework.weights
import verify.screen  # noqa: F401 - a run forgets what it imported; but `verify` keeps this module, with classes of a rich that is gone
from verify import replay

HEAD = """
from dataclasses import dataclass
from fractions import Fraction
from hypothesis import strategies as st
from verify.framework.claim import Claim, Counterexample, Verdict, claim, claims

LEAF = {"signs": [], "positive": [["1", []]], "sum": [["1", [0, 0]]]}
SQUARES = (
    {"for_all": {"x": "real"}, "given": [], "show": "x*x >= 0"},
    {"compare": "x", "below": LEAF, "equal": LEAF, "above": LEAF},
)

def below_100(number: int) -> Counterexample | None:
    if number >= 100:
        return Counterexample(bound=100, found=number)
    return None
"""
PAPER = """
@claim("T.1/repaired", source="Lemma T.1", statement="Digits are small.")
def test_digits(check):
    check.exhaustive(range(10), below_100, count=10, range="all digits", size=lambda number: number + 1)

@claim("T.1/printed", source="Lemma T.1", statement="Numbers are small.", variant="printed", expected=Verdict.REFUTED)
def test_numbers(check, engine):
    check.sampled(st.integers(0, 10**6), below_100, range="numbers", max_examples=300)

@claims("low", (1, 2), lambda low: Claim(f"T.{low + 8}/repaired", "Lemma T.2", "Numbers from here are small."))
def test_from(check, low):
    check.sampled(st.integers(low, 60), below_100, range="numbers", size=lambda number: number, max_examples=30)

@claim("U/repaired", source="Theorem U", statement="Squares are not negative.")
def test_proof(check):
    check.proved([SQUARES], by="the signs of x", range="all real x")
"""


@dataclass
class Paper:
    """Claims in a folder, and pytest over them."""

    pytester: pytest.Pytester

    @property
    def folder(self) -> Path:
        return self.pytester.path

    def write(self, body: str) -> None:
        folder = self.folder / "claims"
        folder.mkdir(exist_ok=True)
        (folder / "paper.py").write_text(HEAD + body, encoding="utf-8")

    def run(self, *options: str) -> pytest.RunResult:
        return self.pytester.runpytest(*self._witnesses(options), *options)

    def run_apart(self, *options: str) -> pytest.RunResult:
        return self.pytester.runpytest_subprocess(*self._witnesses(options), *options)

    def _witnesses(self, options: Sequence[str]) -> list[str]:
        return [] if "--witnesses" in options else ["--witnesses", "witnesses.json"]

    def rows(self, *options: str) -> dict[str, dict[str, Any]]:
        """The rows of a run by claim."""
        self.run("--ledger", "ledger.json", *options)
        return {row["id"]: row for row in self.ledger()["rows"]}

    def ledger(self, name: str = "ledger.json") -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def replay(self, *arguments: str) -> pytest.RunResult:
        """In this process, where no module of the paper is left: it may be written anew."""
        out, err = io.StringIO(), io.StringIO()
        path, known = [*sys.path], {*sys.modules}
        with redirect_stdout(out), redirect_stderr(err):
            status = replay.main(self._with_claims(arguments))
        sys.path[:] = path
        for name in sys.modules.keys() - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(self.folder)):
                del sys.modules[name]
        return pytest.RunResult(status, out.getvalue().splitlines(), err.getvalue().splitlines(), 0.0)

    def replay_apart(self, *arguments: str) -> pytest.RunResult:
        return self.pytester.run(sys.executable, "-m", "verify.replay", *self._with_claims(arguments))

    def _with_claims(self, arguments: Sequence[str]) -> list[str]:
        return [*([] if "--claims" in arguments else ["--claims", str(self.folder)]), *arguments]


@pytest.fixture
def paper(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Paper:
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", str(root))
    settings = (
        'addopts = ["-p", "verify.plugin", "--strict-markers"]\nxfail_strict = true\nfilterwarnings = ["error"]\n'
    )
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\n" + settings)
    made = Paper(pytester)
    made.write(PAPER)
    return made
