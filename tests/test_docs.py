"""What the pages of docs/ show is so: commands print what stands below them, Python runs, links lead somewhere."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

from constructions.models.door import find_door
from constructions.models.registry import find_constructions, find_parts
from tests.hostile.commands import SLOW, USUAL
from verify.dossiers.registry import find_dossiers
from verify.findings import PROG, entries, known_findings, main, markdown
from verify.framework.claim import Kind, Verdict
from verify.framework.ledger import contradictions, load_witnesses, read
from verify.framework.order import WITNESSES
from verify.transcription import places_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXACT = ("exactness", "certificates", "programs", "induction", "lower-bounds")
PAGES = (
    *("first-hour", "first-construction", "rasp", "language", "by-hand", "formats", "numbers", *EXACT, "precision"),
    *("engines", "verdicts", "zoo", "certificate-format", "claims"),
)
UNTRIED = ("make setup", "make verify", "make test", ". .venv/bin/activate")  # of the README
REFUTED = r"--printed|--variant printed|replay \S+/printed|verify.adversary"  # what is shown to fail


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Of each block its language, the name of the file that it is, and its text; what takes minutes is `sh`, and left out."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    all_blocks = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', text, re.M | re.S)
    return [block for block in all_blocks if block[0] != "sh"]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command and what stands below it."""
    for piece in block.split("$ ")[1:]:
        command, _, output = piece.partition("\n")
        yield command, output


def run(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns what a command prints, which runs in this process."""
    python, dash_m, module, *argv = shlex.split(command, comments=True)
    assert (python, dash_m) == ("python", "-m")
    monkeypatch.setattr(sys, "argv", [module, *argv])
    capsys.readouterr()
    spec = find_spec(module)
    if spec is not None and spec.submodule_search_locations:
        spec = find_spec(f"{module}.__main__")
    assert spec is not None
    assert spec.origin
    with pytest.raises(SystemExit) as end:
        runpy.run_path(spec.origin, run_name="__main__")  # by its path: pytest's importer of a plugin has no code
    assert end.value.code == (1 if re.search(REFUTED, command) and "--help" not in command else 0), command
    return capsys.readouterr().out


@pytest.fixture
def in_packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, str], None]]:
    """Lets a module of a page, such as constructions/NAME.py in a folder, stand in its package as long as the test runs."""
    modules: list[str] = []

    def place(folder: Path, file: str) -> None:
        *above, name = Path(file).with_suffix("").parts
        package = importlib.import_module(".".join(above))
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder.joinpath(*above))])
        modules.append(".".join((*above, name)))
        find_dossiers.cache_clear()
        find_door.cache_clear()

    yield place
    for module in modules:
        package, _, name = module.rpartition(".")
        sys.modules.pop(module, None)
        vars(sys.modules[package]).pop(name, None)
    find_dossiers.cache_clear()
    find_door.cache_clear()


WRITES = r"--(?:html|dump-weights|aiger|dot|svg|ledger|export \w+) ([\w.-]+\.\w+)"


@pytest.mark.parametrize("page", ["README.md", "docs/first-hour.md", "docs/commands.md"])
def test_git_ignores_what_the_commands_of_a_page_write(page: str) -> None:
    """And what stands beside it: the names of weights, the sidecar of an export, the journal of a ledger."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    written = set(re.findall(WRITES, (ROOT / page).read_text(encoding="utf-8")))
    assert written
    written |= {str(Path(name).with_suffix(".json")) for name in written if name.endswith(".safetensors")}
    written |= {f"{name}.json" for name in written if name.endswith(".pt2")}
    written |= {f"{name}.part" for name in written if name == "run.json"}
    assert not [name for name in written if not any(fnmatch(name, pattern) for pattern in ignored)]


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run_in_order(
    page: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    in_packages: Callable[[Path, str], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # the pages show what a pipe gets
    names: dict[str, object] = {}
    actual = blocks(page)
    assert {kind for kind, _, _ in actual} <= {"console", "python"}
    assert actual
    for kind, file, block in actual:
        if file:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block, encoding="utf-8")
            if "/" in file:
                in_packages(tmp_path, file)
            continue
        if kind == "python":
            assert "assert" in block
            exec(compile(block, f"{page}.md", "exec"), names)
            continue
        for command, wanted in commands(block):
            lines = [line.rstrip() for line in run(command, capsys, monkeypatch).splitlines()]
            expected = [line.rstrip() for line in wanted.splitlines()]
            if expected[-1:] == ["…"]:
                expected.pop()
                assert len(lines) > len(expected)
                lines = lines[: len(expected)]
            assert lines == expected, command


def test_the_readme_runs_as_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each command but make's, in order, from a folder of the user's; what is printed there is what a terminal shows.

    One that the page of exactness runs and shows, and whose output the README leaves out, runs there.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = (DOCS / "exactness.md").read_text(encoding="utf-8")  # runs as a page
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (program,) = re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S)
    (tmp_path / "again.py").write_text(program, encoding="utf-8")
    ran = 0
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for command, wanted in commands(block):
            if command.partition("#")[0].strip() in UNTRIED:
                continue
            if not wanted.strip() and f"$ {command}\n" in shown:
                continue
            lines = [line.rstrip() for line in run(command, capsys, monkeypatch).splitlines()]
            expected = [line.rstrip() for line in wanted.splitlines() if not line.startswith("engine: ")]
            if expected[-1:] == ["…"]:
                expected.pop()
                assert len(lines) > len(expected)
            assert lines[: len(expected)] == expected
            ran += 1
    assert ran == 7


def printed_commands(*pages: str) -> list[str]:
    """Each `python -m` line of a page's blocks, without its comment and what follows `&&`."""
    texts = [(DOCS / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    blocks = [block for text in texts for block in re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.M | re.S)]
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if "python -m" in line]
    return [re.split(r" +#| && ", line)[0] for line in lines]


LONG = r"--steps|--export|mine\.py|turing-cot"
LONG += r"|verify\.(?:theorem istree|replay|induction|adversary|capacity|precision recall|training)"
PRINTED = printed_commands("commands", "circuits", "exports")


@pytest.mark.parametrize("command", [one for one in PRINTED if not re.search(LONG, one)])
def test_a_printed_command_runs_in_a_folder_of_the_user(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that take seconds; one that reads a file of another is run after it, and what reads a pipe by a shell."""
    monkeypatch.chdir(tmp_path)
    before = [one for one in PRINTED if "--against" in command and one.split("--")[0] == command.split("--")[0]][:1]
    for one in (*(one for one in before if one != command), command):
        if "|" not in one:
            printed = run(one, capsys, monkeypatch)
        else:
            argv = ["bash", "-c", one.replace("python -m", f"{shlex.quote(sys.executable)} -m")]
            printed = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=True).stdout
        assert printed or [*tmp_path.iterdir()]


HELP: dict[str, str] = {}


@pytest.fixture
def helps(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """The help of a module's command."""

    def text(command: str) -> str:
        if command not in HELP:
            HELP[command] = run(f"python -m {command} --help", capsys, monkeypatch)
        return HELP[command]

    return text


@pytest.mark.parametrize("command", [one for one in PRINTED if re.search(LONG, one)])
def test_a_long_printed_command_has_the_options_that_it_names(command: str, helps: Callable[[str], str]) -> None:
    _, _, module, *argv = shlex.split(command[command.index("python -m") :])
    text = helps(module)
    assert [one for one in argv if one.startswith("--") and not re.search(rf"{one}\b", text)] == []


GENERATED = ("findings", "ledger")  # whose commands are tested as claims are
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(p for p in DOCS.glob("*.md") if p.stem not in GENERATED)]


def inline(pattern: str) -> list[tuple[str, str]]:
    """Each page, and each text between backticks outside of its blocks that begins with the pattern."""
    found = []
    for path in sorted(TEXTS):
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        found += [
            (path.relative_to(ROOT).as_posix(), code.replace("\n", " "))
            for code in re.findall(rf"`({pattern}[^`]*)`", text)
        ]
    return sorted(set(found))


@pytest.mark.parametrize(("page", "command"), inline("python -m [a-z]"))
def test_a_command_in_a_sentence_is_one(page: str, command: str, helps: Callable[[str], str]) -> None:
    """It names a module, its options, and where it takes one of a few words, one of these."""
    _, _, module, *argv = shlex.split(command.partition(" > ")[0])
    if module.startswith("tests."):
        assert find_spec(module) is not None
        return
    if f'title="{module.replace(".", "/")}.py"' in (ROOT / page).read_text(encoding="utf-8"):
        module = "constructions run"  # a model that the page makes takes the options that all take
    text = helps(f"{module} {argv[0]}" if argv[:1] in (["run"], ["zoo"]) else module)
    for option, value in pairwise([*argv, ""]):
        if option.startswith("--"):
            assert re.search(rf"(?<![\w-]){option}\b", text), f"{page}: {command}"
            choices = re.search(rf"(?<![\w-]){option} \{{([^}}]*)\}}", text)
            assert choices is None or value.isupper() or value in choices[1].split(",")


@pytest.mark.parametrize(("page", "command"), inline("pytest "))
def test_a_run_of_pytest_in_a_sentence_is_one(page: str, command: str, pytestconfig: pytest.Config) -> None:
    for word in shlex.split(command)[1:]:
        if word.startswith("--"):
            assert pytestconfig.getoption(word, default=...) is not ..., f"{page}: {command}"
        elif word.endswith("/") or word.startswith("tests/"):
            assert (ROOT / word).exists(), f"{page}: {command}"


def test_each_target_of_make_and_each_extra_on_a_page_is_one() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.M))
    named = {command.split()[1] for _, command in inline("make ")}
    assert {"verify", "extras-test"} <= named <= targets
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    wanted = {name for _, command in inline("pip install ") for name in re.findall(r"\[([\w,]+)\]", command)}
    assert "parquet" in wanted <= set(extras)


def test_each_option_in_a_sentence_is_one_of_some_command(
    helps: Callable[[str], str], pytestconfig: pytest.Config
) -> None:
    others = ("constructions run", "constructions zoo", "verify.adversary", "verify.capacity", "verify.training")
    texts = " ".join(helps(command) for command in sorted({*others, *(use.module for use in (*USUAL, *SLOW))}))
    for page, code in inline("--[a-z]"):
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code):
            known = re.search(rf"(?<![\w-]){option}\b", texts) or pytestconfig.getoption(option, default=...) is not ...
            assert known, f"{page}: {code}"


def test_the_parts_of_a_page_are_called_as_it_says() -> None:
    text = (DOCS / "by-hand.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `([\w/]+)\.py`: (.*?) \|", text.partition("<!-- parts: begin -->")[2], re.M)
    calls = [(file, *call) for file, cell in table for call in re.findall(r"`(\w+)\((.*?)\)`", cell)]
    assert len(calls) > 9
    for file, name, given in calls:
        part = getattr(importlib.import_module(f"constructions.parts.{file.replace('/', '.')}"), name)
        required = [p.name for p in inspect.signature(part).parameters.values() if p.default is p.empty]
        assert given.split(", ") == required, name


def test_every_page_is_in_the_menu_and_every_link_leads_somewhere() -> None:
    menu = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(menu) == sorted(path.name for path in DOCS.glob("*.md"))
    for name in menu:
        text = re.sub(r"^```.*?^```$", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r"(?<!`)\]\(([^)#\s]+)\)", text) if name != "findings.md" else []:
            inside = "/" not in link and (DOCS / link).exists()  # a site of these pages has nothing else
            assert inside or link.startswith("https://"), f"{name}: {link}"


def test_every_refuted_claim_stands_once_on_the_page_of_findings() -> None:
    rows = read(DOCS / "ledger.json")
    text = markdown(rows, load_witnesses(WITNESSES))
    for row in rows:
        wanted = 1 if row.verdict is Verdict.REFUTED else 0
        assert text.count(f"`python -m verify.replay {row.claim.id}`") == wanted
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert titles[:3] == ["False", "Slips", "Left open"]
    lists = [*(item.construction.findings for item in find_constructions()), *(part.findings for part in find_parts())]
    assert {finding.printed for findings in lists for finding in findings} <= set(known_findings())
    for finding in known_findings().values():
        assert places_of(finding.source)


def test_the_rows_of_one_slip_are_told_as_one() -> None:
    rows = read(DOCS / "ledger.json")
    slips = {of[0].claim.slip: {row.claim.id for row in of} for of in entries(rows, Kind.SLIP)}
    assert {"4.7/C.3", "4.6/recall/C.3"} <= slips["C.3"]


def test_no_finding_and_no_reading_stands_twice_on_the_page() -> None:
    """Rows with one finding are one section, and a reading is told once, whatever a row says it is about."""
    text = markdown(read(DOCS / "ledger.json"), load_witnesses(WITNESSES))
    sections = {part.splitlines()[0]: part for part in text.split("\n### ")[1:]}
    assert len(sections) == text.count("\n### ")
    for part in sections.values():
        readings = [line.split("**: ", 1)[1] for line in part.splitlines() if line.startswith("- **this reading")]
        assert not [one for one in readings for other in readings if one != other and one.endswith(f": {other}")]
    assert {"5.2/ngram/printed", "5.2/recall/printed"} <= set(
        re.findall(r'id="([^"]+)"', sections["5.2, regex-boundaries"])
    )
    assert "tie goes to the first word" in sections["3.2, tied-head"]


def test_every_refuted_claim_has_a_kind_and_readings_that_the_ledger_bears_out() -> None:
    rows = read(DOCS / "ledger.json")
    refuted = [row for row in rows if row.verdict is Verdict.REFUTED]
    assert not [row.claim.id for row in refuted if row.claim.kind is None]
    assert not contradictions(rows)
    judged = {row.claim.id for row in rows}
    assert not {reading.shown for row in refuted for reading in row.claim.readings} - judged - {""}


def test_a_file_that_is_no_ledger_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text("{}")
    assert main([str(tmp_path / "l.json"), "--into", str(tmp_path / "f.md")]) == 2
    assert "l.json" in capsys.readouterr().err
    assert main([str(tmp_path / "none.json")]) == 2


def test_the_findings_are_printed_and_no_file_is_written_unasked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "findings.md"
    page.parent.mkdir()
    page.write_text("mine")
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Findings\n")
    assert page.read_text() == "mine"
    assert main(["--into", str(page)]) == 2
    assert (
        capsys.readouterr().err
        == f"{PROG}: error: --into: {page} exists and is no page of findings; --force overwrites it\n"
    )
    assert page.read_text() == "mine"
    assert main(["--into", str(page), "--force"]) == 0
    assert main(["--into", str(page)]) == 0  # this one is of the same command
    assert capsys.readouterr().out == ""
    assert page.read_text(encoding="utf-8") == printed
    assert list(tmp_path.rglob("*")) == [page.parent, page]
    assert main(["--into", "/dev/full"]) == 2
    assert capsys.readouterr().err == f"{PROG}: error: --into /dev/full: is a device or a pipe, not a file\n"
