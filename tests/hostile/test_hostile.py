"""Whatever is done to a command: no traceback, a status of the table, one line, whole files, bounded memory and silence.

`make hostile` tries all of it; `make test` the first few of each kind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from safetensors.numpy import load_file

from tests.hostile import abuses
from tests.hostile.commands import (
    MEANS_SOMETHING,
    NUMBERS,
    OTHER_ENDINGS,
    READ,
    SIDECAR,
    SLOW,
    TEXTS,
    USUAL,
    WRITTEN,
    Use,
    uses,
)
from tests.hostile.processes import MOST_BYTES, MOST_SILENCE, Ended, forked, started

ROOT = str(Path(__file__).parents[2])
PAGE = "<!-- ledger: begin -->\n<!-- ledger: end -->\n"
LONGEST_LINE = 500


def sampled(cases: Iterable[tuple[object, ...]], every: int) -> list[ParameterSet]:
    """All cases, each with a name; all but one in so many are for `make hostile`."""
    return [
        pytest.param(*case, id=" ".join(map(str, case)), marks=[pytest.mark.hostile] if number % every else [])
        for number, case in enumerate(cases)
        if tuple(map(str, case)) not in MEANS_SOMETHING
    ]


@pytest.fixture(scope="session")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger, a page that it is copied to, and an exported model."""
    from verify.framework import ledger
    from verify.framework.options import Options

    folder = tmp_path_factory.mktemp("good")
    ledger.write(folder / "ledger.json", [], Options())
    (folder / "page.md").write_text(PAGE)
    made = started(
        [sys.executable, "-m", "constructions.index", "--n", "3", "--dump-weights", "index.safetensors"], folder
    )
    assert made.status == 0, made.err
    return folder


@pytest.fixture
def folder(tmp_path: Path, good_files: Path) -> Path:
    for file in good_files.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def arguments(use: Use, abuse: str = "") -> list[str]:
    return [word.removeprefix("@").replace("{}", abuse, 1) for word in use.arguments]


def decent(ended: Ended, statuses: set[int], *, told: bool = True) -> None:
    """What holds of every end. told: whether anybody hears a verdict."""
    said = f"status {ended.status}\n{ended.out[-2000:]}\n{ended.err[-2000:]}"
    assert ended.silence <= MOST_SILENCE, said
    assert ended.status in statuses, said
    for text in (ended.out, ended.err):
        assert "Traceback" not in text, said
        assert "Exception ignored" not in text, said
    assert "not enough memory" not in ended.err, said
    assert ended.bytes < MOST_BYTES, ended.bytes
    if ended.status == 2:
        lines = ended.err.splitlines()
        assert sum("error: " in line or line.startswith("ERROR: ") for line in lines) == 1, said
        assert max(map(len, lines)) <= LONGEST_LINE, said
    if ended.status == 1 and told:
        assert ended.out.strip() or "refuted" in ended.err, said


def tree(folder: Path) -> Mapping[str, object]:
    """Each name there, and what it holds."""
    result: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        small = path.is_file() and path.stat().st_size < 1 << 26 and os.access(path, os.R_OK)
        result[str(path.relative_to(folder))] = path.read_bytes() if small else os.path.islink(path) or path.is_dir()
    return result


# Arguments


@pytest.mark.parametrize(("use", "name"), sampled(((use, name) for use in NUMBERS for name in abuses.NUMBERS), 29))
def test_a_number_that_is_none(use: Use, name: str, folder: Path) -> None:
    before = tree(folder)
    decent(forked(use.module, arguments(use, abuses.NUMBERS[name]), folder), {2})
    assert tree(folder) == before


@pytest.mark.parametrize("use", sampled(((use,) for use in NUMBERS), 9))
def test_a_number_that_is_given_twice(use: Use, folder: Path) -> None:
    argv = arguments(use, "5")
    ended = forked(use.module, [*argv, *argv[argv.index("5") - 1 :][:2]], folder)
    decent(ended, {2})
    assert "is given twice" in ended.err


@pytest.mark.parametrize(("use", "name"), sampled(((use, name) for use in TEXTS for name in abuses.TEXTS), 29))
def test_a_text_that_means_nothing(use: Use, name: str, folder: Path) -> None:
    before = tree(folder)
    decent(forked(use.module, arguments(use, abuses.TEXTS[name]), folder), {2})
    assert tree(folder) == before


@pytest.mark.parametrize(("use", "name"), sampled(((use, x) for use in OTHER_ENDINGS for x in abuses.ENDINGS), 13))
def test_a_file_of_another_kind(use: Use, name: str, folder: Path) -> None:
    """Nothing has the right ending here but what `--dump-weights` may write."""
    ended = forked(use.module, arguments(use, name), folder)
    right = "--dump-weights" in use.line and Path(name).suffix in (".npz", ".safetensors")
    right |= "--export" in use.line and name.endswith(".pt2")
    decent(ended, {0} if right else {2})
    assert (folder / name).exists() == right


# Files that are read


@pytest.mark.parametrize(("use", "name"), sampled(((use, x) for use in READ for x in abuses.FILES), 31))
def test_a_file_that_holds_something_else(use: Use, name: str, folder: Path) -> None:
    place = next(word for word in arguments(use, "bad") if word.startswith("bad"))
    abuses.FILES[name](folder / place)
    before = tree(folder)
    ended = forked(use.module, arguments(use, "bad"), folder)
    readable = name == "unreadable" and os.access(folder / place, os.R_OK)  # by root
    decent(ended, {0, 2, 3} if readable else {2, 3})
    if ended.status == 2:
        assert place in ended.err
    assert tree(folder) == before


@pytest.mark.parametrize(("use", "name"), sampled(((use, x) for use in SIDECAR for x in abuses.FILES), 31))
def test_a_sidecar_that_is_none(use: Use, name: str, folder: Path) -> None:
    (folder / "index.json").unlink()
    abuses.FILES[name](folder / "index.json")
    ended = forked(use.module, arguments(use), folder)
    decent(ended, {2})
    assert "index." in ended.err


# Files that are written


@pytest.mark.parametrize(("use", "name"), sampled(((use, x) for use in WRITTEN for x in abuses.PLACES), 8))
def test_a_place_that_is_taken(use: Use, name: str, folder: Path) -> None:
    place = next(word for word in arguments(use, "out") if word.startswith("out"))
    abuses.PLACES[name](folder / place)
    before = tree(folder)
    decent(forked(use.module, arguments(use, "out"), folder), {2})
    assert tree(folder) == before


@pytest.mark.parametrize(("use", "name"), sampled(((use, x) for use in WRITTEN for x in abuses.NAMES), 9))
def test_a_place_that_is_none(use: Use, name: str, folder: Path) -> None:
    before = tree(folder)
    ended = forked(
        use.module, [word.replace("out", abuses.NAMES[name].format("out")) for word in arguments(use, "out")], folder
    )
    decent(ended, {2})
    assert tree(folder) == before


@pytest.mark.parametrize(("use", "most"), sampled(((use, x) for use in WRITTEN for x in (0, 100)), 4))
def test_a_disk_that_is_full_in_the_middle(use: Use, most: int, folder: Path) -> None:
    place = next(word for word in arguments(use, "out") if word.startswith("out"))
    force = []
    if most:
        (folder / place).write_bytes(abuses.STRANGER)
        force = ["--force"]
    before = tree(folder)
    ended = forked(use.module, [*arguments(use, "out"), *force], folder, most_of_a_file=most or 1)
    assert ended.status == 2 or not ended.err  # what it says goes to a file, too
    assert tree(folder) == before


# Surroundings: an interpreter for each

BARE: Mapping[str, str | None] = {
    **{"HOME": None, "LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb"},
    **{
        "COLUMNS": "1",
        "LINES": "x",
        "NUMBA_CACHE_DIR": None,
        "XDG_CACHE_HOME": "/nowhere",
        "PYTHONDONTWRITEBYTECODE": "1",
    },
}
ODD: Mapping[str, str | None] = {
    "COLUMNS": "many",
    "HOME": "/nowhere",
    "PYTHONIOENCODING": "ascii",
    "NO_COLOR": "1",
    "PATH": None,
}
AROUND: Mapping[
    str, tuple[str, Mapping[str, str | None], set[int]]
] = {  # after the command, the environment, how it may end
    "closed stdout": (">&-", {}, {0, 3}),
    "closed stderr": ("2>&-", {}, {0, 3}),
    "closed stdin": ("<&-", {}, {0, 3}),
    "full disk": (">/dev/full", {}, {2}),
    "one line": ("| head -n 1 > /dev/null", {}, {0, 3, 141}),
    "no line": ("| head -c 0", {}, {0, 3, 141}),
    "bare": ("", BARE, {0, 3}),
    "odd": ("", ODD, {0, 3}),
    "optimized": ("", {"PYTHONOPTIMIZE": "1"}, {0, 3}),
}


def in_a_shell(use: Use, folder: Path, around: str, environment: Mapping[str, str | None]) -> Ended:
    words = [sys.executable, "-m", use.module, *arguments(use)]
    return started(["/bin/bash", "-c", f'set -o pipefail; "$@" {around}', "bash", *words], folder, environment)


@pytest.mark.parametrize(("use", "name"), sampled(((use, name) for name in AROUND for use in USUAL), 47))
def test_surroundings(use: Use, name: str, folder: Path) -> None:
    around, environment, statuses = AROUND[name]
    before = tree(folder)
    decent(in_a_shell(use, folder, around, environment), statuses)
    assert tree(folder) == before


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["closed stdout", "full disk", "one line", "no line", "bare"])
@pytest.mark.parametrize("use", SLOW, ids=str)
def test_surroundings_of_what_is_slow(use: Use, name: str, folder: Path) -> None:
    around, environment, statuses = AROUND[name]
    ended = in_a_shell(use, folder, around, environment)
    decent(
        ended, statuses | {1}, told=name in ("full disk", "bare")
    )  # the claim is refuted, and else nobody hears of it


@pytest.mark.parametrize(("use", "number"), sampled(((use, 0) for use in [*USUAL, *SLOW]), 11))
def test_help_of_which_only_a_line_is_read(use: Use, number: int, folder: Path) -> None:
    decent(in_a_shell(Use(use.module, "--help"), folder, "| head -n 1 > /dev/null", {}), {0, 141})


# Signals and others that write

LONG = uses(
    "constructions.turing --machine bb5 --steps 1000000 --cells 24601",
    "constructions.istree --n 3000 --dump-weights out.npz",
    "constructions.istree --n 40000 --dump-weights out.safetensors",
    "verify.certify istree --n 300",
    "verify.theorem istree --all-n",
    "verify.precision istree --n-max 64",
    "verify.induction",
    "verify.table",
    "circuits multiply --p 201",
)
STOPS = {"SIGINT": (signal.SIGINT, 130), "SIGTERM": (signal.SIGTERM, 143)}
MOMENTS = (0.1, 0.5, 1.0, 2.0, 4.0)


@pytest.mark.parametrize(
    ("use", "name", "moment"),
    sampled(((use, name, moment) for use in LONG for name in STOPS for moment in MOMENTS), 50),
)
def test_a_signal_in_the_middle(use: Use, name: str, moment: float, folder: Path) -> None:
    """Or before it, or after the end. Before Python has set anything up, SIGINT ends it as it ends any program."""
    number, status = STOPS[name]
    begin, sent, before = time.monotonic(), list[float](), tree(folder)

    def stop(process: subprocess.Popen[bytes]) -> None:
        if not sent and time.monotonic() > begin + moment:
            sent.append(moment)
            process.send_signal(number)

    ended = started([sys.executable, "-m", use.module, *arguments(use)], folder, stop=stop)
    early = "Failed to import the site module" in ended.err or ROOT not in ended.err
    if "KeyboardInterrupt" in ended.err and early:  # Python had not come to us
        return
    decent(ended, {0, status})
    whole(folder, before)


def whole(folder: Path, before: Mapping[str, object]) -> None:
    """Nothing of before is gone, no half of a file is there, and weights have their names beside them."""
    after = tree(folder)
    assert before.keys() <= after.keys()
    for name in after.keys() - before.keys() | {name for name in before if name.startswith("out.")}:
        path = folder / name
        assert path.name.startswith("out."), name
        if after[name] == before.get(name):
            continue
        if path.suffix == ".npz":
            with np.load(path) as actual:
                assert [actual[array] for array in actual if array != "sidecar.json"]  # each with its checksum
                assert "sidecar.json" in actual
        elif path.suffix == ".safetensors":
            assert load_file(path)
            assert after.get("out.json") != before.get("out.json")
        else:
            assert json.loads(path.read_text(encoding="utf-8"))["construction"] == "istree"


@pytest.mark.parametrize(
    ("name", "ending"), sampled(((name, end) for name in STOPS for end in (".npz", ".safetensors")), 4)
)
def test_a_signal_while_a_file_is_written(name: str, ending: str, folder: Path) -> None:
    number, status = STOPS[name]
    (folder / f"out{ending}").write_bytes(abuses.STRANGER)
    before, sent = tree(folder), list[Path]()

    def stop(process: subprocess.Popen[bytes]) -> None:
        if not sent and (halves := list(folder.glob(".out.*"))):
            sent.extend(halves)
            process.send_signal(number)

    use = Use("constructions.istree", f"--n 6000 --dump-weights out{ending} --force")
    ended = started([sys.executable, "-m", use.module, *arguments(use)], folder, stop=stop)
    decent(ended, {0, status})
    assert sent
    whole(folder, before)


@pytest.mark.parametrize("use", WRITTEN[:1], ids=str)
def test_two_that_write_one_file(use: Use, folder: Path) -> None:
    words = [sys.executable, "-m", use.module, *arguments(use, "out"), "--force"]
    alone = started(words, folder)
    assert alone.status == 0
    before = tree(folder)
    both = started(["/bin/bash", "-c", '"$@" & "$@"; first=$?; wait $! && exit $first', "bash", *words], folder)
    decent(both, {0})
    assert tree(folder) == before
