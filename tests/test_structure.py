"""The shape of the project: what may import what, and that the packages are ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

import circuits
import verify
from constructions.models.registry import find_constructions
from tests.imports import BELOW, ROOT, UPWARDS, dotted, floor, imported, modules
from verify.automata.token_automaton import Label
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_dossiers


def upward(graph: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """The arrows to a floor that is not below."""
    arrows = {(start, end) for start, ends in graph.items() for end in ends}
    return {(start, end) for start, end in arrows if floor(end) not in (floor(start), *BELOW[floor(start)])}


def on_a_circle(graph: Mapping[str, Collection[str]]) -> set[str]:
    """The modules that import themselves by way of others: what is left when those without imports go, then theirs, …"""
    left = {name: set(ends) for name, ends in graph.items()}
    while done := {name for name, ends in left.items() if not ends & left.keys()}:
        left = {name: ends for name, ends in left.items() if name not in done}
    while done := left.keys() - {end for ends in left.values() for end in ends}:  # which only lead to a circle
        left = {name: ends for name, ends in left.items() if name not in done}
    return set(left)


def test_imports_flow_one_way() -> None:
    assert upward(modules()) == UPWARDS


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert on_a_circle(modules()) == set()


def test_the_reference_engine_shares_nothing_with_the_others() -> None:
    """All that it uses, by itself or by way of others, are the layers and the scalar definitions of precision/."""
    used, fresh = set[str](), {"constructions.engines.reference"}
    while fresh:
        fresh = {name for start in fresh for name in modules()[start]} - used
        used |= fresh
    scalar = ("format", "rounding", "enclosure", "exponential", "softmax")
    assert used == {"constructions.layers", *(f"precision.{name}" for name in scalar)}


# Theorems about tasks say a task by its name as data, and what checks, counts or instantiates them reads it.
OF_THEOREMS = (
    "verify.trusted",
    "verify.oracles",
    "verify.inputs.hard_questions",
    "verify.framework.proofs",
    "verify.adversary",
    "verify.capacity",
    "verify.lattices",
)
KNOW_NAMES = ("verify.dossiers", "verify.claims", *OF_THEOREMS)


def names_compared(tree: ast.AST, names: Collection[str]) -> set[int]:
    """The lines that compare with one of these names, have it as the key of a dict, or match it."""
    lines = set[int]()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            parts = [node]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        within = (one for part in parts if part is not None for one in ast.walk(part))
        lines |= {one.lineno for one in within if isinstance(one, ast.Constant) and one.value in names}
    return lines


def test_only_dossiers_know_models_by_name() -> None:
    names = {name for one in find_constructions() for name in one.names}
    assert {"index", "istree", "turing", "transformer", "rag", "hybrid", "cot"} <= names
    known = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in (ROOT / "verify").rglob("*.py")
        if not dotted(path).startswith(KNOW_NAMES)
        for line in names_compared(ast.parse(path.read_text(encoding="utf-8")), names)
    }
    assert known == set()


def test_a_name_that_is_compared_is_seen() -> None:
    text = (
        "if (a.name, a.model) == ('x', 'rag'): pass\nb = {'rag': 1, 2: 'rag'}\nc in ('hybrid',)\nf('rag')\nrag = 'rag'"
    )
    assert names_compared(ast.parse(text), {"rag", "hybrid"}) == {1, 2, 3}
    assert names_compared(ast.parse("match a:\n    case 'rag':\n        pass"), {"rag"}) == {2}


PARSERS = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix"}
PARSERS |= {"match", "fullmatch", "search"}


def is_about_a_label(node: ast.AST) -> bool:
    """Whether it is one, what it is made of, or its text; by name."""
    match node:
        case ast.Name("label") | ast.Attribute(attr="label"):
            return True
        case ast.Attribute(of, name):
            return name in Label.__dataclass_fields__ and is_about_a_label(of)
        case ast.Call(ast.Name("str"), [of]) | ast.Subscript(of) | ast.FormattedValue(of):
            return is_about_a_label(of)
        case ast.JoinedStr(parts) | ast.Tuple(parts):
            return any(map(is_about_a_label, parts))
    return False


def is_text(node: ast.AST) -> bool:
    """Whether it is a string that is written there, or several."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(isinstance(one, ast.JoinedStr) or isinstance(getattr(one, "value", None), str) for one in items)


def labels_parsed(tree: ast.AST) -> set[int]:
    """The lines that compare a label, or what it is made of, with a string, or take its text apart."""
    lines = set[int]()
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left, _, others):
                parsed = any(map(is_text, [left, *others])) and any(map(is_about_a_label, [left, *others]))
            case ast.Call(ast.Attribute(of, name), arguments):
                parsed = name in PARSERS and any(map(is_about_a_label, [of, *arguments]))
            case _:
                continue
        lines |= {node.lineno} if parsed else set()
    return lines


def test_nobody_takes_the_text_of_a_label_apart() -> None:
    """Nobody compares it with a string either: labels are values (verify/automata/token_automaton.py)."""
    subjects = [Subject(dossier, 6) for dossier in find_dossiers().values()]
    automata = [subject.dossier.compared_texts(subject, subject.dossier.texts(subject)) for subject in subjects]
    texts = {str(state.label) for automaton in automata for state in automaton.states}
    assert {"second endpoint", "a step, 3, cell", "a turn - behind second endpoint, 1", "result FAILED"} <= texts
    texts = {text for text in texts if " " in text} - {"query 1", "query 2"}  # registers are called so too
    known = set[str]()
    for path in (ROOT / "verify").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known |= {f"{path.relative_to(ROOT)}:{line}" for line in labels_parsed(tree) | names_compared(tree, texts)}
    assert known == set()


def test_a_label_that_is_parsed_is_seen() -> None:
    text = (
        "label.part == 'a step'\nstr(state.label).startswith('a')\nlabel in ('x', y)\nf'{label}'.split(', ')\n"
        "'turn' in label\nre.search('a', str(label))\nstate.label == f'a {i}'\nlabel.part == STEP\nf(label, 'x').word == y"
    )
    assert labels_parsed(ast.parse(text)) == {1, 2, 3, 4, 5, 6, 7}
    assert names_compared(ast.parse("state == 'a step, 1'"), {"a step, 1"}) == {1}


def test_a_forbidden_import_is_seen() -> None:
    tree = ast.parse("def f():\n    from verify.framework import claim, Claim\nimport constructions.layers, numpy")
    known = {"verify.framework", "verify.framework.claim", "constructions.layers", "constructions"}
    assert imported(tree, known) == {"verify.framework", "verify.framework.claim", "constructions.layers"}
    assert upward({"constructions.engines.dense": {"constructions.layers", "constructions.parts.setting"}}) == {
        ("constructions.engines.dense", "constructions.parts.setting")
    }
    assert upward({"constructions.show.run": {"constructions.index", "constructions.engines"}}) == {
        ("constructions.show.run", "constructions.index")
    }


def test_a_circle_is_seen() -> None:
    assert on_a_circle({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set(), "e": {"a"}}) == {"a", "b", "c"}
    assert on_a_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


def test_the_ways_lead_through_what_is_there() -> None:
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("CONTRIBUTING.md", "docs/architecture.md"))
    places = re.findall(r"`((?:\w+/)+\w+\.py)`(?:: `(\w+)`)?", text)
    assert ("istree/blocks.py", "_block_7") in places
    for path, name in places:
        (actual,) = (base / path for base in (ROOT, ROOT / "constructions") if (base / path).exists())
        assert not name or f"\ndef {name}(" in actual.read_text(encoding="utf-8"), (path, name)


@pytest.mark.parametrize("package", [circuits, verify])
def test_the_package_is_ours_and_not_its_namesake(package: object) -> None:
    assert Path(str(getattr(package, "__file__", ""))).is_relative_to(ROOT)


def test_the_map_is_as_the_code_is() -> None:
    """`python -m tests.architecture` writes the picture and the lines of files anew."""
    from tests import architecture

    assert architecture.drawn() == architecture.PICTURE.read_text(encoding="utf-8")
    text = architecture.PAGE.read_text(encoding="utf-8")
    without_lines = re.sub(r"\| [\d,]+ \|$", "| |", text, flags=re.M)
    assert architecture.page(without_lines) == text != without_lines
    rooms = {name.rpartition(".")[2] for name in BELOW}
    assert {
        Path(name).stem for row in re.findall(r"^\| (`.*?) \|", text, re.M) for name in re.findall(r"`([\w/.]+)`", row)
    } >= rooms
