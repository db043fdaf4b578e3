"""How dossiers are looked for: by its name one is found without the code of other tasks."""

import json
import subprocess
import sys

import pytest

from constructions.models.registry import find_constructions
from verify.dossiers.registry import find_dossier, find_dossiers

TASKS = {model.names[0] for model in find_constructions()}
RUN = """import contextlib, importlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    module = importlib.import_module(sys.argv[1])
    main = getattr(module, 'main', None) or importlib.import_module('constructions.retrieval.cli').main
    status = main(*([] if hasattr(module, 'main') else [module.DOOR]), sys.argv[2:])
print(json.dumps([status, [*sys.modules]]))"""


def loaded_tasks(*command: str) -> set[str]:
    """The tasks of which a command that holds loads code."""
    done = subprocess.run([sys.executable, "-c", RUN, *command], capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stdout)
    assert status == 0
    parts = [name.split(".") for name in modules]
    return {
        part[i]
        for i, top in enumerate(("constructions", "verify"), 1)
        for part in parts
        if part[0] == top and len(part) > i
    } & TASKS


@pytest.mark.parametrize(
    ("task", "command"),
    [
        ("recall", ("verify.certify", "recall", "--n", "4")),
        ("recall", ("verify.theorem", "--n", "5", "--model=hybrid", "recall")),
        ("istree", ("verify.certify", "--tokens", "eos", "--variant", "lean", "istree", "--n", "5")),
        ("turing", ("verify.explain", "turing", "--machine", "bb2", "--n", "2")),
        ("ngram", ("verify.precision", "ngram", "--n", "6")),
        ("index", ("verify.explain", "index", "--model", "rag", "--n", "4")),
        ("istree", ("constructions.istree.__main__", "--edges", "1-2,2-3")),
        ("counting", ("constructions.counting", "--n", "3", "--dump-weights")),
        ("turing", ("constructions.turing.__main__", "--machine", "bb2", "--steps", "2")),
    ],
)
def test_a_command_loads_no_other_tasks_code(task: str, command: tuple[str, ...]) -> None:
    assert loaded_tasks(*command) == {task}


def test_a_name_finds_what_looking_everywhere_finds() -> None:
    for names, dossier in find_dossiers().items():
        assert find_dossier(*names) == dossier
    assert find_dossier("recall", "cot") is None
