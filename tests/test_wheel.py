"""What is installed works away from the checkout: the package, its commands, its data, and the verifier for claims of others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN_CLAIMS = """
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim

def below(bound):
    return lambda number: Counterexample(bound=bound, found=number) if number >= bound else None

@claim("X.1/repaired", source="Lemma X.1", statement="Digits are below 10.")
def test_digits(check: Check) -> None:
    check.exhaustive(range(10), below(10), count=10, range="all digits")

@claim("X.2/repaired", source="Lemma X.2", statement="Digits are below 7.")
def test_some_digits(check: Check) -> None:
    check.exhaustive(range(10), below(7), count=10, range="all digits")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked, built from a copy: setuptools writes beside its sources."""
    folder = tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if tracked.returncode != 0:
        pytest.skip("the wheel is built from what git tracks, and this is no checkout")
    for name in tracked.stdout.decode().split("\0"):
        source, target = ROOT / name, folder / "source" / name
        if name and source.is_file() and not name.startswith("tests/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                target.symlink_to(os.readlink(source))
            else:
                target.write_bytes(source.read_bytes())
    options = ["-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Python in another folder, with what is installed before all else."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def test_every_data_file_is_installed(installed: Path) -> None:
    for package in ("constructions", "precision", "circuits", "verify"):
        wanted = {path.relative_to(ROOT) for path in (ROOT / package).rglob("*") if path.is_file()}
        wanted = {path for path in wanted if path.suffix != ".pyc" and path.suffix not in (".nbi", ".nbc")}
        missing = {str(path) for path in wanted if not (installed / path).is_file() and "__pycache__" not in path.parts}
        assert not missing


def test_the_readme_runs_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    done = run(installed, tmp_path, "-c", code + "\nprint(constructions.__file__)")
    assert done.returncode == 0, done.stderr
    first, *_, where = done.stdout.splitlines()
    assert first == "1 2 3 4 3 2 1 YES"
    assert f"# {first}" in code
    assert Path(where).is_relative_to(installed)


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("constructions --json", '"name": "istree"'),
        ("constructions.istree --edges 1-2,2-3 --html page.html", "YES"),
        ("constructions.turing --machine bb2 --steps 9", "HALT"),
        ("constructions.recall --dump-weights w.safetensors --json", '"w.json"'),
        ("circuits negate --p 9 --json", '"negate"'),
        ("verify.table", "IsTree"),
        ("verify.findings", "# Findings"),
        ("verify.replay C.3/printed", "This case refutes the claim"),
    ],
)
def test_commands_run_where_it_is_installed(installed: Path, tmp_path: Path, command: str, shows: str) -> None:
    done = run(installed, tmp_path, "-m", *command.split())
    assert done.returncode == (1 if "replay" in command else 0), done.stderr + done.stdout
    assert shows in done.stdout


def test_claims_live_in_projects_of_others(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "digits.py").write_text(OWN_CLAIMS)
    done = run(installed, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1, done.stderr + done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "X.2/repaired (Lemma X.2): refuted, expected holds." in done.stdout
    assert "found = 7" in done.stdout
