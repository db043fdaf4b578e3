"""What the command line may say, and the one line that answers a mistake."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import pytest

from constructions.engines import auto
from tests.verify.conftest import Paper
from verify.__main__ import main
from verify.framework import options
from verify.framework.check import Check
from verify.framework.claim import Claim
from verify.framework.options import Options, chosen_engines, matching
from verify.framework.predicates import NoVerdict


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--n-max", "0"], "--n-max 0: *at least 1"),
        (["--p-bits", "16"], "--p-bits 16: *odd*"),
        (["--p-bits", "3"], "--p-bits 3: *at least 5"),
        (["--p-bits", "9999999"], "--p-bits 9999999: a precision has 1023 bits at most"),
        (["--n-max", "1000000000"], "--n-max 1000000000: the largest size can be 10000000 at most"),
        (["--engine", "quantum"], "--engine quantum: want one of reference, dense, native, incremental, all"),
        (["--device", "tpu"], "--device tpu: want one of cpu, cuda"),
        (["--ledger", "nowhere/ledger.json"], "--ledger nowhere/ledger.json: there is no such folder"),
        (["--ledger", "."], "--ledger .: is a folder, not a file"),
        (
            ["--ledger", "run.json", "--dist", "each", "--tx", "2*popen"],
            "--dist each: every worker judges every claim*",
        ),
        (["--ledger=/dev/full"], "--ledger /dev/full: is a device or a pipe, not a file"),
        (["--witnesses", "."], "--witnesses .: is a folder, not a file"),
        (
            ["--claim", "T.1/printd"],
            "--claim 'T.1/printd': no such claim; close: T.1/printed*; `python -m verify.replay --list` lists them",
        ),
        (["--claim", " T.1/printed"], "--claim ' T.1/printed': no such claim; close: T.1/printed*"),
        (["--claim", ""], "--claim '': no such claim; `python -m verify.replay --list` lists them"),
        (["--claim", "  "], "--claim '  ': no such claim; `python -m verify.replay --list` lists them"),
        (["--seed", "1", "--seed=2"], "--seed is given twice; give it once"),
        (["--claim", "T.1", "--claim", "T.9"], "--claim is given twice; give it once"),
        (["--fuzz", "0"], "--fuzz 0: want a number of minutes above 0 and up to 10080"),
        (["--fuzz", "1", "--ledger", "x.json"], "--fuzz: nothing is judged, so --ledger has no use"),
    ],
)
def test_a_mistake_gets_one_line(paper: Paper, arguments: list[str], line: str) -> None:
    result = paper.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])
    assert len([text for text in result.stderr.lines if text.strip()]) == 1


NO_NUMBERS = ("many", "nan", "1_000", "٣", "1e3", " 5", "", "0x10")


@pytest.mark.parametrize(
    ("option", "text"), [*product(("--n-max", "--fuzz"), NO_NUMBERS), ("--p-bits", "nan"), ("--seed", "1_000")]
)
def test_a_number_is_a_number(paper: Paper, option: str, text: str) -> None:
    result = paper.run(f"{option}={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    what = "a number of minutes" if option == "--fuzz" else "a whole number of at most 99 digits"
    result.stderr.fnmatch_lines([f"*argument {option}: want {what}, not {text!r}"])


@pytest.mark.parametrize("name", ["dense", "all"])
def test_an_engine_that_is_not_built_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(options, "is_built", lambda engine: engine == "reference")
    with pytest.raises(ValueError, match=rf"--engine {name}: not built yet: dense.*; there is: reference"):
        chosen_engines(name)


def test_a_former_name_of_an_engine_is_taken() -> None:
    assert chosen_engines("indexed") == ("incremental",)


def test_all_engines_judge_apart(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "is_built", lambda engine: True)
    paper.run("--engine", "all", "--ledger", "ledger.json")
    rows = [(row["id"], row["engine"]) for row in paper.ledger()["rows"]]
    assert rows == [
        ("T.1/printed", "dense"),
        ("T.1/printed", "incremental"),
        ("T.1/printed", "native"),
        ("T.1/printed", "reference"),
        ("T.1/repaired", ""),
        ("T.9/repaired", ""),
        ("T.10/repaired", ""),
        ("U/repaired", ""),
    ]


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("C.1", {"C.1/printed", "C.1/repaired"}),
        ("C.1/printed", {"C.1/printed"}),
        ("C", {"C.1/printed", "C.1/repaired", "C.15/printed"}),
        ("D", set()),
    ],
)
def test_a_claim_is_chosen_by_the_start_of_its_id(wanted: str, chosen: set[str]) -> None:
    assert matching(wanted, ["C.1/printed", "C.1/repaired", "C.15/printed"]) == chosen


def test_only_chosen_claims_run(paper: Paper) -> None:
    paper.run("--claim", "T.1").assert_outcomes(passed=1, xfailed=1, deselected=3)


def test_an_unknown_claim_under_xdist(paper: Paper) -> None:
    result = paper.run_apart("--claim", "nothing", "-n", "1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --claim 'nothing': no such claim; *--list` lists them"])


def test_a_claim_is_judged_once(paper: Paper) -> None:
    twice = '@claim("V", source="V", statement="V")\ndef test_{}(check):\n    pass\n'
    paper.write(twice.format("a") + twice.format("b"))
    result = paper.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: claim V is judged twice: *test_a* and *test_b*"])


def test_a_claim_that_pytest_would_not_find(paper: Paper) -> None:
    paper.write('@claim("V", source="V", statement="V")\ndef judge(check):\n    pass\n')
    result = paper.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*claim V: judge must be called test_*"])


def sizes(n_max: int, low: int, cap: int | None) -> tuple[tuple[int, ...], list[str]]:
    check = Check(Claim("V", "V", "V"), Options(n_max=n_max), "reference")
    return check.sizes(low, cap=cap), check.notes


def test_sizes_are_a_ladder_that_ends_at_the_top() -> None:
    assert sizes(100, 1, None) == ((1, 2, 4, 8, 16, 32, 64, 100), [])
    assert sizes(64, 3, None) == ((3, 6, 12, 24, 48, 64), [])
    assert sizes(1, 1, 64) == ((1,), [])
    assert sizes(10_000, 4, 20) == ((4, 8, 16, 20), ["n ≤ 20 of 10,000: what the reference engine affords"])


def least(n: int) -> int:
    return 2 * n + 5


def test_sizes_that_the_precision_suffices_for() -> None:
    claim = Claim("V", "V", "V")
    any_precision, eleven = Check(claim, Options()), Check(claim, Options(p_bits=11))
    assert any_precision.certified_sizes((1, 2, 4, 8), least) == (1, 2, 4, 8)
    assert eleven.certified_sizes((1, 2, 4, 8), least) == (1, 2)
    assert any_precision.precision_text("least p") == "least p"
    assert eleven.precision_text("least p") == "p = 11"
    with pytest.raises(NoVerdict, match=r"p = 11 is below the least p that is certified, 13 at n = 4"):
        eleven.certified_sizes((4, 8), least)


def test_the_ledger_tells_where_sizes_ended(paper: Paper) -> None:
    paper.write(
        '@claim("V", source="V", statement="V")\ndef test_it(check, engine):\n'
        '    check.exhaustive(check.sizes(cap=8), below_100, count=4, range="sizes", size=lambda n: n)'
    )
    row = paper.rows("--n-max", "10000")["V"]
    assert row["evidence"][0]["n_max"] == 8
    assert row["note"] == "n ≤ 8 of 10,000: what the reference engine affords"


def test_help_is_of_our_options_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines() if "python -m" not in line) <= 40
    options = {word for word in text.split() if word.startswith("--")}
    assert {"--n-max", "--claim", "--ledger", "--resume", "--fuzz"} <= options
    assert "--maxfail" not in options


def test_the_command_is_pytest_over_the_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(pytest, "main", lambda arguments: given.append(arguments) or pytest.ExitCode.TESTS_FAILED)
    assert main(["--claim", "C.1"]) == 1
    assert given == [[str(Path(options.__file__).parents[1]), *options.ALREADY_IMPORTED, "--claim", "C.1"]]


def test_the_command_starts_where_the_plugin_is_installed(paper: Paper) -> None:
    """Though pytest, with warnings as errors, wants to be the first to import it."""
    result = paper.pytester.run(sys.executable, "-m", "verify", "--n-max", "0", "-c", "pyproject.toml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.stderr.lines if line.strip()] == [
        "ERROR: --n-max 0: the largest size must be at least 1"
    ]


def test_who_judged_claims_leaves_the_choice_of_engines_as_it_was(paper: Paper) -> None:
    """In the same process: claims have the machine code of `native` at hand, what comes after them has not."""
    auto.AT_HAND.discard("native")
    assert paper.run("--claim", "T.1/repaired").ret == pytest.ExitCode.OK
    assert "native" not in auto.AT_HAND
