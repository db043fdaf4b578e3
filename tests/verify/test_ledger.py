"""The ledger: the same rows from one process or many, complete or interrupted, on the terminal and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from constructions.exports.files import alone
from tests.verify.conftest import PAPER, Paper
from verify.framework import ledger
from verify.framework.claim import (
    Argued,
    Below,
    Certified,
    Claim,
    Exhaustive,
    Kind,
    Proved,
    Reading,
    Row,
    Sampled,
    Verdict,
    Witness,
    merge,
    sizes_text,
)
from verify.framework.options import Options, where

READINGS = (
    Reading("as printed", False),
    Reading("the sign of the second line; the first line", True, "C.9/repaired", "beside"),
)
CLAIM = Claim(
    "C.9/printed", "Lemma C.9", "It holds.", "printed", expected=Verdict.REFUTED, kind=Kind.SLIP, readings=READINGS
)
CERTIFIED = "holds: certified at n = 4 … 10^12, 2^63 and above"
WITNESS = Witness({"edge": [1, 2]}, {"found": 3}, "all edges", 64, None, "reference", 0)
REFUTED = Row(CLAIM, Verdict.REFUTED, (Exhaustive("all edges", "p = 9", 3, 2, True),), WITNESS, "reference", 0.5)
SAMPLED = Sampled("trees", "p = 33", 1200, 64, False)
HELD = Row(
    Claim("C.10/repaired", "Lemma C.9", "It holds.", "printed"), Verdict.HOLDS, (SAMPLED,), None, "reference", 0.5
)


def without_seconds(document: Any) -> Any:
    return {**document, "rows": [{**row, "seconds": None} for row in document["rows"]]}


def test_two_processes_write_the_ledger_of_one(paper: Paper) -> None:
    """The order in which claims are judged leaves no trace."""
    alone = paper.run("--ledger", "alone.json")
    shared = paper.run_apart("--ledger", "shared.json", "-n", "2", "claims/paper.py")
    assert (alone.ret, shared.ret) == (0, 0)
    one, two = paper.ledger("alone.json"), paper.ledger("shared.json")
    assert without_seconds(one) == without_seconds(two)
    assert [row["id"] for row in two["rows"]] == [
        "T.1/printed",
        "T.1/repaired",
        "T.9/repaired",
        "T.10/repaired",
        "U/repaired",
    ]
    shared.stdout.fnmatch_lines(["4 holds, 1 refuted, 0 unknown; 0 not as expected"])


def test_the_document(paper: Paper) -> None:
    paper.run("--ledger", "ledger.json", "--n-max", "9", "--seed", "4")
    document = paper.ledger()
    assert document["schema"] == 1
    assert document["options"] == {"n_max": 9, "p_bits": None, "engines": ["reference"], "device": "cpu", "seed": 4}
    row = document["rows"][0]
    seconds = row.pop("seconds")
    assert seconds >= 0
    witness = row.pop("witness")
    assert witness.pop("replay").startswith("python -m verify.replay T.1/printed --witness '{")
    assert witness == {
        "case": 100,
        "shows": {"bound": 100, "found": 100},
        "part": "numbers",
        "n_max": 9,
        "p_bits": None,
        "engine": "reference",
        "seed": 4,
    }
    [evidence] = row.pop("evidence")
    assert set(evidence) == {"kind", "range", "precision", "cases", "n_max", "stopped", "sizes", "scope"}
    assert evidence["stopped"] is True
    assert row == {
        "id": "T.1/printed",
        "source": "Lemma T.1",
        "statement": "Numbers are small.",
        "variant": "printed",
        "finding": "",
        "expected": "refuted",
        "verdict": "refuted",
        "engine": "reference",
        "note": "",
        "theorem": "T.1",
        "task": "",
        "aspect": "printed",
        "kind": None,
        "readings": [],
        "slip": "",
    }


def test_what_holds_says_how_far_it_was_checked() -> None:
    argued = Argued("All n: the same.", "")
    sampled = replace(SAMPLED, sizes=((4, 4), (8, 64)))
    from_three = replace(SAMPLED, sizes=((3, 3), (8, 64)))
    small = Exhaustive("all edges", "", 3, 2, False, sizes=((1, 4),))
    for evidence, text in (
        ((SAMPLED,), "holds: samples"),
        ((sampled, argued), "holds: samples to n = 64"),
        ((sampled, small), "holds: exhaustive to n = 4, samples to n = 64"),
        ((replace(small, sizes=((10, 10),)),), "holds: exhaustive for n = 10"),
        ((Certified("all", "", 1, None, False, sizes=((4, 10**12), (2**63, None))),), CERTIFIED),
        ((Proved("all x", "", "signs"), small), "holds: proved, exhaustive to n = 4"),
        ((Proved("x < 3", "", "signs", limit="x below 3"),), "holds: proved for x below 3"),
        ((Below("n < 3", "", 5, 2, False, 3, "{}"), from_three), "holds from n = 3 on: samples to n = 64"),
    ):
        assert replace(HELD, evidence=evidence).verdict_text == text
    assert REFUTED.verdict_text == "refuted (slip)"
    for nothing in ((argued,), ()):
        with pytest.raises(ValueError, match="nothing holds without evidence that was checked"):
            replace(HELD, evidence=nothing)
    below = Below("n < 3", "", 5, 2, False, 3, "{}")
    for unlike, why in ((sampled, "no evidence is about n = 3"), (SAMPLED, "does not say which n it is about")):
        with pytest.raises(ValueError, match=why):
            replace(HELD, evidence=(below, unlike))
    with pytest.raises(ValueError, match="holds from n = 3 on at most, and evidence is about n = 1"):
        replace(HELD, evidence=(Below("n < 3", "", 5, 2, False, 3, "{}"), small))


def test_sizes_are_told_shortly() -> None:
    assert merge([(8, 9), (4, 4), (5, 6), (2**63, None), (2**64, 2**64)]) == ((4, 6), (8, 9), (2**63, None))
    assert sizes_text(((4, 2**63 - 1),)) == "n = 4 … 2^63 − 1"
    assert sizes_text(((4, 4), (10**4, 10**4), (10**12, 10**12))) == "n = 4, 10,000, 10^12"
    assert sizes_text(tuple((n, n) for n in range(1, 20, 2))) == "10 ranges of n from 1 to 19"


def test_readings_are_held_to_the_verdicts_that_they_name() -> None:
    held = replace(HELD, claim=Claim("C.9/repaired", "Lemma C.9", "It holds."))
    assert ledger.contradictions([REFUTED, held]) == []
    assert ledger.contradictions([REFUTED]) == []
    told = "C.9/printed: the sign of the second line; the first line: C.9/repaired is to be holds, and is unknown"
    assert ledger.contradictions([REFUTED, Row(held.claim, Verdict.UNKNOWN, (), None, "", 0.0)]) == [told]


def test_a_run_that_contradicts_a_reading_fails(paper: Paper) -> None:
    reading = 'readings=(Reading("as printed", False), Reading("the other", True, "V/other", "beside"))'
    claims = f"""
from verify.framework.claim import Kind, Reading
@claim("V/printed", source="V", statement="V", variant="printed", expected=Verdict.REFUTED, kind=Kind.SLIP, {reading})
def test_printed(check):
    check.exhaustive([100], below_100, count=1, range="numbers")

@claim("V/other", source="V", statement="V", expected=Verdict.UNKNOWN)
def test_other(check):
    check.unknown("nobody knows")
"""
    paper.write(claims)
    result = paper.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["ERROR: V/printed: the other: V/other is to be holds, and is unknown"])


def test_a_worker_that_dies_leaves_a_trace(paper: Paper) -> None:
    paper.write(f"{PAPER}\n{LAST}import os\n    os._exit(9)\n")
    result = paper.run_apart("-n", "1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["4 holds, 1 refuted, 0 unknown*", "No verdict, see above: *::test_last*"])


def test_a_run_without_claims_prints_no_ledger(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_plain="def test_plain():\n    pass")
    result = pytester.runpytest("-p", "verify.plugin")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= ledger =*")


def test_rows_survive_json() -> None:
    proved = replace(HELD, evidence=(Proved("all n", "", "induction"), SAMPLED))
    for row in (REFUTED, HELD, proved, Row(CLAIM, Verdict.UNKNOWN, (), None, "", 0.0, "nobody knows")):
        assert Row.from_json(json.loads(json.dumps(row.to_json()))) == row


def test_a_file_survives(paper: Paper) -> None:
    path = paper.folder / "rows.json"
    ledger.write(path, [HELD, REFUTED], Options())
    assert ledger.read(path) == [REFUTED, HELD]


NOT_LEDGERS = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "another schema": b'{"schema": 9, "options": {}, "rows": []}',
    "no options": b'{"schema": 1, "rows": []}',
    "rows of numbers": b'{"schema": 1, "options": {}, "rows": [1]}',
    "rows of nothing": b'{"schema": 1, "options": {}, "rows": [{}]}',
    "rows in a number": b'{"schema": 1, "options": {}, "rows": 3}',
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "evidence of another shape": json.dumps(
        {"schema": 1, "options": {}, "rows": [{**HELD.to_json(), "evidence": ["exhaustive"]}]}
    ).encode(),
    "a name that stands twice": b'{"schema": 1, "rows": [], "options": {}, "rows": []}',
}


@pytest.mark.parametrize("name", NOT_LEDGERS)
def test_another_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(NOT_LEDGERS[name])
    why = ".*'rows' stands twice in one object" if name == "a name that stands twice" else ""
    with pytest.raises(ValueError, match=f"{path}: not a ledger{why}"):
        ledger.read(path)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^/dev/zero: not a ledger: more than 256 MiB$"):
        ledger.read(Path("/dev/zero"))


def test_a_row_cannot_contradict_itself() -> None:
    with pytest.raises(ValueError, match="refuted by a witness"):
        replace(REFUTED, witness=None)
    with pytest.raises(ValueError, match="refuted by a witness"):
        replace(HELD, witness=WITNESS)
    with pytest.raises(ValueError, match="at least one case"):
        replace(SAMPLED, cases=0)


def test_the_table_says_what_was_covered() -> None:
    text = ledger.text([HELD, REFUTED], 300, color=False)
    lines = pytest.LineMatcher(text.splitlines())
    lines.fnmatch_lines(
        ["*C.9/printed*refuted*exhaustive*", "*exhaustive: all edges, stopped by a witness at case 3, p = 9*"]
    )
    lines.fnmatch_lines(["*C.10/repaired*holds*sampled*", "*sampled: trees, n ≤ 64, 1,200 cases, p = 33*"])
    assert "\x1b" not in text
    assert "\x1b" in ledger.text([HELD], 300, color=True)


def test_the_replay_command_is_as_short_as_it_can_be(paper: Paper) -> None:
    path = paper.folder / "ledger.json"
    assert ledger.replay_lines([REFUTED], {CLAIM.id: WITNESS}, path) == ["python -m verify.replay C.9/printed"]
    assert ledger.replay_lines([REFUTED], {}, path) == [f"python -m verify.replay C.9/printed --ledger {path}"]
    assert ledger.replay_lines([REFUTED], {}, None) == [WITNESS.command("C.9/printed")]


def test_the_replay_command_names_the_folder_of_claims_that_are_not_the_verifiers(paper: Paper) -> None:
    result = paper.run("--ledger", "ledger.json", "--claim", "T.1/printed")
    result.stdout.fnmatch_lines(["python -m verify.replay T.1/printed --ledger ledger.json --claims ."])
    assert where(Path(ledger.__file__).parents[1] / "claims" / "heads.py") == ""


def test_stored_witnesses_follow_the_run(paper: Paper) -> None:
    path = paper.folder / "witnesses.json"
    ledger.update_witnesses(path, [REFUTED])
    assert ledger.load_witnesses(path) == {CLAIM.id: WITNESS}
    ledger.update_witnesses(path, [HELD])
    assert ledger.load_witnesses(path) == {CLAIM.id: WITNESS}
    ledger.update_witnesses(path, [replace(HELD, claim=CLAIM)])
    assert ledger.load_witnesses(path) == {}


LAST = '@claim("Z", source="Z", statement="Z")\ndef test_last(check):\n    '
PROVED = f'{PAPER}\n{LAST}check.proved([SQUARES], by="x", range="all x")\n'


def test_an_interrupted_run_prints_what_it_has_and_is_resumed(paper: Paper) -> None:
    paper.write(
        f'{PAPER}\n{LAST}import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n    check.unknown("late")\n'
    )
    partial, whole = paper.folder / "partial.json", paper.folder / "whole.json"
    result = paper.run_apart("--ledger", str(partial))
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*T.1/repaired*holds*", "The run ended early: 1 of 6 tests were not run."])
    before = {row.claim.id for row in ledger.read(partial)}
    assert len(before) == 5
    assert "Z" not in before
    paper.write(PROVED)
    result = paper.run("--resume", str(partial), "--ledger", str(whole))
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] == 1
    assert outcomes["deselected"] == len(before)
    assert {row.claim.id for row in ledger.read(whole)} == before | {"Z"}


@pytest.mark.parametrize("options", [("--n-max", "9"), ("--seed", "1")])
def test_other_options_do_not_resume(paper: Paper, options: tuple[str, str]) -> None:
    paper.write(PAPER)
    path = paper.folder / "ledger.json"
    paper.run("--ledger", str(path))
    result = paper.run("--resume", str(path), *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert any("had another" in line for line in result.errlines)


def test_what_is_no_ledger_does_not_resume(paper: Paper) -> None:
    paper.write(PAPER)
    result = paper.run("--resume", str(paper.folder / "missing.json"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_run_that_dies_leaves_its_rows(paper: Paper) -> None:
    paper.write(f"{PAPER}\n{LAST}import os\n    os._exit(9)\n")
    paper.run_apart("--ledger", "ledger.json")
    part = paper.folder / "ledger.json.part"
    before = {row.claim.id for row in ledger.read(part)}
    assert len(before) == 5
    part.write_text(part.read_text(encoding="utf-8") + '{"id": "a line that was cut o', encoding="utf-8")
    assert {row.claim.id for row in ledger.read(part)} == before
    paper.write(PROVED)
    result = paper.run("--resume", "ledger.json", "--ledger", "ledger.json")
    assert result.parseoutcomes()["deselected"] == 5
    assert {row.claim.id for row in ledger.read(paper.folder / "ledger.json")} == before | {"Z"}
    assert not part.exists()


KILLED = """
import os, resource, signal
from pathlib import Path
from verify.framework import ledger
from verify.framework.options import Options

path, rows = Path("rows.json"), ledger.read(Path("rows.json"))
before = ledger.Journal(path, Options(), rows)
size = path.stat().st_size
for limit in [1, *range(size // 8, 2 * size, size // 8)]:
    process = os.fork()
    if not process:  # the kernel kills it at this byte of a file
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        ledger.Journal(path, Options(), rows)
        before.add(rows)
        ledger.write(path, [*rows, *rows], Options())
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGXFSZ
    assert ledger.read(path) == rows
    found = ledger.read(before.path)
    assert len(found) >= len(rows) and found == [*rows, *rows][: len(found)]
"""


def test_a_run_that_is_killed_while_it_writes_leaves_whole_files(paper: Paper) -> None:
    ledger.write(paper.folder / "rows.json", [HELD, REFUTED] * 20, Options())
    done = paper.pytester.run(sys.executable, "-c", KILLED)
    assert done.ret == 0, done.stderr.str()


def test_a_journal_takes_over_the_rows_of_the_one_before_it(paper: Paper) -> None:
    path = paper.folder / "rows.json"
    ledger.Journal(path, Options()).add([HELD])
    assert ledger.read(ledger.Journal(path, Options(), ledger.read(ledger.part_of(path))).path) == [HELD]


def test_a_ledger_of_resumed_rows_alone_leaves_no_journal(paper: Paper) -> None:
    assert paper.run("--ledger", "ledger.json").ret == 0
    part = paper.folder / "ledger.json.part"
    ledger.Journal(paper.folder / "ledger.json", Options(), ledger.read(paper.folder / "ledger.json"))
    assert paper.run("--resume", "ledger.json", "--ledger", "ledger.json").ret == 0
    assert not part.exists()


def test_a_link_to_a_ledger_stays_a_link(paper: Paper) -> None:
    link = paper.folder / "link.json"
    link.symlink_to("target.json")
    ledger.write(link, [HELD], Options())
    assert link.is_symlink()
    assert ledger.read(paper.folder / "target.json") == [HELD]


def test_rows_are_written_once(paper: Paper) -> None:
    """Not all of them again for each one more, which makes a run quadratic."""
    path = paper.folder / "rows.json"
    journal = ledger.Journal(path, Options())
    sizes = []
    for _ in range(3):
        before = journal.path.stat().st_size
        journal.add([HELD])
        sizes.append(journal.path.stat().st_size - before)
    assert sizes[0] == sizes[1] == sizes[2]
    assert ledger.read(journal.path) == [HELD] * 3


@pytest.mark.parametrize("options", [(), ("--claim", "T.1"), ("--claim", "T.1", "-n", "2")])
def test_a_complete_ledger_has_nothing_to_resume(paper: Paper, options: tuple[str, ...]) -> None:
    assert paper.run("--ledger", "ledger.json").ret == 0
    run = paper.run_apart if "-n" in options else paper.run
    result = run("--resume", "ledger.json", *options)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["4 holds, 1 refuted, 0 unknown; 0 not as expected"])


def test_rows_outlive_a_ledger_that_cannot_be_written(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger, "write", full)
    result = paper.run("--ledger", "ledger.json")
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.stdout.fnmatch_lines(
        [
            "4 holds, 1 refuted, 0 unknown; 0 not as expected",
            "ERROR: --ledger ledger.json: No space left on device; the rows are in ledger.json.part",
        ]
    )
    assert len(ledger.read(paper.folder / "ledger.json.part")) == 5


STRANGERS = (
    b"precious",
    b"{}",
    b'{"schema": 1, "witnesses": {}}',
    b'{"rows": [], "options": {}, "schema": 2}',
    b"PAR1",
)


@pytest.mark.parametrize("content", STRANGERS)
@pytest.mark.parametrize("name", ["ledger.json", "ledger.json.part"])
def test_a_file_that_is_no_ledger_is_overwritten_only_with_force(paper: Paper, name: str, content: bytes) -> None:
    path = paper.folder / name
    path.write_bytes(content)
    result = paper.run("--ledger", "ledger.json", "--claim", "T.1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        f"ERROR: --ledger: {name} exists and is no ledger; --force overwrites it"
    ]
    assert path.read_bytes() == content
    if content == STRANGERS[0]:
        assert paper.run("--ledger", "ledger.json", "--claim", "T.1", "--force").ret == 0
        assert len(paper.ledger()["rows"]) == 2


def test_an_empty_file_and_another_ledger_are_overwritten(paper: Paper) -> None:
    (paper.folder / "ledger.json").touch()
    for claim in ("T.1", "U"):
        assert paper.run("--ledger", "ledger.json", "--claim", claim).ret == 0
    assert [row["id"] for row in paper.ledger()["rows"]] == ["U/repaired"]


def test_a_link_to_no_place_is_no_ledger(paper: Paper) -> None:
    for name, target in (("circle.json", "circle.json"), ("away.json", "no/where.json")):
        (paper.folder / name).symlink_to(target)
        result = paper.run("--ledger", name)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: --ledger {name}: is a link to no place"])


WAITING = """
@claim("Z", source="Z", statement="Z")
def test_last(check):
    import time
    from pathlib import Path

    Path("started").touch()
    until = time.monotonic() + 60
    while not Path("go").exists() and time.monotonic() < until:
        time.sleep(0.05)
    check.exhaustive([1], below_100, count=1, range="one")
"""


@pytest.mark.parametrize("options", [[], ["-n", "1"]])
def test_two_runs_of_one_file_are_told(paper: Paper, options: list[str]) -> None:
    """The second one at once, whatever name it has for the file; and the first one writes all of its rows."""
    paper.write(PAPER + WAITING)
    (paper.folder / "link.json").symlink_to("ledger.json")
    command = [sys.executable, "-m", "pytest", "--witnesses", "witnesses.json", "-p", "no:cacheprovider"]
    written = ["--ledger", "ledger.json", "--update-witnesses"]
    first = paper.pytester.popen([*command, *options, *written], stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (paper.folder / "started").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        for name in ("ledger.json", "link.json"):
            second = paper.run("--ledger", name, "--claim", "T.1")
            assert second.ret == pytest.ExitCode.USAGE_ERROR
            assert [line for line in second.errlines if line] == [f"ERROR: --ledger {name}: another run is writing it"]
        second = paper.run("--update-witnesses", "--claim", "T.1")
        assert second.ret == pytest.ExitCode.USAGE_ERROR
        told = "ERROR: --update-witnesses witnesses.json: another run is writing it"
        assert [line for line in second.errlines if line] == [told]
        assert paper.run("--ledger", "another.json", "--claim", "T.1").ret == 0
    finally:
        (paper.folder / "go").touch()
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert len(paper.ledger()["rows"]) == 6
    assert paper.run("--ledger", "ledger.json", "--claim", "T.1").ret == 0
    assert not list(paper.folder.glob(".*.lock"))


def test_a_lock_that_is_left_behind_locks_nothing(paper: Paper) -> None:
    (paper.folder / ".ledger.json.lock").touch()
    (paper.folder / ".other.json.lock").write_text("mine")
    for name in ("ledger.json", "other.json"):
        with alone(paper.folder / name, name):
            pass
    assert [path.read_text() for path in paper.folder.glob(".*.lock")] == ["mine"]
