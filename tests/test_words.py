"""The words of the code: a docstring starts with a verb, no name is a participle or a preposition, no two classes have one name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from operator import gt
from pathlib import Path

from tests.imports import ROOT

# Of each room that has any: how many docstrings start otherwise, and how many names are such. The numbers may only fall.
# Users write `named` and `at` in programs (constructions/language) and `certified` in claims (verify/framework): these stay.
LEFT = """constructions/language 0 2, verify/certificates 0 5, verify/dossiers 0 11, verify/framework 0 1, verify/stored 0 5,
verify/trusted 5 0"""
PACKAGES = ("circuits", "constructions", "precision", "verify")
NOUNS = """as its this those atoms bits blocks bounds columns coefficients components coordinates differences digits elements
factors graphs inputs integers items keys layers logits machines numbers outputs pairs patterns positions powers products prompts
queries questions readings rows sequences sizes terms theorems times tokens tuples values vertices weights words"""
NAMES = """ahead around asked at begun behind beside beyond built certified counted covered derived drawn due found given kept
listed made named of placed reached said seen shifted shown told told written"""

# What a contract, a term or a rounding calls so, and the static checker's atom of it: the same thing, seen by a checker.
TWICE = {"Integer", "Reciprocal", "Rounded"}
ALONE = Path("verify/trusted")  # each file is read alone, and calls a thing as the code does whose work it checks


def starts_with_a_verb(text: str) -> bool:
    """Returns whether the first word is a verb of a third person, and no plural that docstrings were seen to start with."""
    word = re.split(r"\W", text, maxsplit=1)[0]
    return re.fullmatch("[A-Z][a-z]*s", word) is not None and word.lower() not in NOUNS.split()


def is_a_property(function: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def faults(tree: ast.AST) -> tuple[list[str], list[str]]:
    """Returns the functions whose docstring does not start with a verb, and those whose name is a participle or a preposition."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and not is_a_property(node)]
    texts = [(function.name, ast.get_docstring(function)) for function in functions]
    docstrings = [name for name, text in texts if text is not None and not starts_with_a_verb(text)]
    return docstrings, [name for name, _ in texts if name.strip("_") in NAMES.split()]


def room_of(path: Path) -> str:
    """Returns the folder, two deep below the root at most."""
    return "/".join(path.relative_to(ROOT).parts[:-1][:2])


def classes_of_one_name(trees: Iterable[ast.AST]) -> set[str]:
    """Returns the names that several classes have."""
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {name for name, count in names.items() if count > 1}


def test_a_class_has_a_name_of_its_own() -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    texts = (path.read_text(encoding="utf-8") for path in files if not path.is_relative_to(ROOT / ALONE))
    assert classes_of_one_name(map(ast.parse, texts)) == TWICE


def test_a_class_with_the_name_of_another_is_seen() -> None:
    texts = ("class Step: ...", "class Task: ...", "def make():\n    class Step: ...")
    assert classes_of_one_name(map(ast.parse, texts)) == {"Step"}


def test_docstrings_start_with_verbs_and_names_say_what_is_done() -> None:
    docstrings, names = Counter[str](), Counter[str]()
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        without_verb, badly_named = faults(ast.parse(path.read_text(encoding="utf-8")))
        docstrings[room_of(path)] += len(without_verb)
        names[room_of(path)] += len(badly_named)
    left = {
        room: (int(texts), int(names))
        for room, texts, names in (line.split() for line in LEFT.replace("\n", " ").split(", "))
    }
    now = {room: (docstrings[room], names[room]) for room in docstrings}
    assert [room for room, pair in now.items() if any(map(gt, pair, left.get(room, (0, 0))))] == []


def test_a_docstring_without_a_verb_and_a_participle_are_seen() -> None:
    text = 'def told() -> int:\n    """The number."""\n\n\ndef count() -> int:\n    """Returns the number."""\n'
    assert faults(ast.parse(text)) == (["told"], ["told"])
