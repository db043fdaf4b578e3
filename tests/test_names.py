"""Generic code names no model and no option of one: it asks a model for its options, and finds it by what callers say."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

import pytest

from constructions.models.door import find_door
from constructions.models.options import ModelOptions
from constructions.models.registry import find_constructions
from tests.imports import PACKAGES, ROOT, dotted
from verify.dossiers.registry import find_dossiers

# What is about certain tasks, and says so by its place or its name.
OF_TASKS = {
    "constructions.parts": "lemmas: heads and gadgets have names of their own",
    "constructions.gallery": "one program a file",
    "circuits.models": "RNNs that are made of certain models",
    "circuits.simulate": "a model with options of its own",
    "circuits.simulator": "the same",
    "verify.dossiers": "what verification asks of certain models",
    "verify.claims": "sentences of the paper about certain models",
    "verify.oracles": "right answers of certain tasks",
    "verify.inputs": "hard inputs of certain tasks",
    "verify.runs": "how runs of certain tasks are judged",
    "verify.training": "experiments with certain models",
    "verify.trusted": "theorems about tasks have the task's name as data",
    "verify.framework.proofs": "the same theorems",
    "verify.adversary": "the same theorems, as a command",
    "verify.capacity": "a table of the paper's architectures",
    "verify.lattices": "claims as a lattice of what implies what, by their ids",
    "verify.reach": "a page about certain claims",
    "verify.table": "a page about certain claims",
}
ANYWHERE = ("",)
ORDINARY = {  # words that mean something else, too, and where
    "n": ANYWHERE,  # the size of every model
    "words": ANYWHERE,  # of a vocabulary
    "tokens": ANYWHERE,  # which every model reads
    "steps": ANYWHERE,  # of a run
    "length": ANYWHERE,  # of a sequence
    "index": ANYWHERE,  # a place in a list
    "rnn": ANYWHERE,  # any recurrent network
    "transformer": ("constructions.language",),  # an architecture that programs are compiled to
    "hybrid": ("constructions.language",),
    "layout": (
        "constructions.engines.incremental",  # where registers stand
        "verify.certificates.files",  # the order of coordinates
        "verify.certificates.document",  # a field of the stored documents of every model
        "verify.bits.drawing",  # of a figure
    ),
    "query_length": ("verify.certificates.document",),  # another such field
    "machine": (  # which runs code or floats; of a checker, the exact one or the p-bit one
        *("constructions.engines.linking", "constructions.engines.native", "verify.rounding.positions"),
        *(f"verify.certificates.{name}" for name in ("finder", "ghosts", "recurrence")),
    ),
    "cells": (
        *("constructions.engines.incremental", "constructions.engines.native"),  # of memory
        *("constructions.show.terminal", "constructions.api"),  # of a table
        *("verify.screen", "verify.findings", "verify.precision", "verify.readme"),
    ),
}


def names_of_models() -> set[str]:
    models = find_constructions()
    doors = {name: find_door(name) for name, _ in (model.names for model in models)}
    dossiers = [one for one in find_dossiers().values() if one.has_door or one.items()]
    return {
        *(name for model in models for name in model.names),
        *(name for one in dossiers for name in (one.construction, one.model)),
        *(name for door in doors.values() for name in (door.size, *_options(door.options))),
        *(name for one in dossiers for name in _options(one)),
    }


def _options(options: ModelOptions) -> Iterator[str]:
    return (name for field, one in options.items().items() for name in (field, one.keyword))


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each identifier, attribute, keyword and text of a module, with its line. A text is a name only if it is nothing else."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)) | ast.arg(arg=name) | ast.Constant(value=str(name)):
                yield node.lineno, name
            case ast.ImportFrom(module=module, names=aliases):
                yield from (
                    (node.lineno, name) for name in (*(module or "").split("."), *(one.name for one in aliases))
                )


def named(module: str, tree: ast.AST, names: Collection[str]) -> set[int]:
    """The lines that have one of these names, as a word or as an option of a command."""
    return {
        line
        for line, text in names_in(tree)
        for name in (text.removeprefix("--").replace("-", "_"),)
        if (name in names or text in names) and not any(is_in(module, place) for place in ORDINARY.get(name, ()))
    }


def is_in(module: str, place: str) -> bool:
    return not place or f"{module}.".startswith(f"{place}.")


def test_generic_code_names_no_model_and_no_option() -> None:
    names = names_of_models()
    assert {
        "istree",
        "recall",
        "rag",
        "layout",
        "tokens",
        "lean",
        "machine",
        "cells",
        "all_cells",
        "query_length",
    } <= names
    tasks = {f"constructions.{name}" for name, _ in (model.names for model in find_constructions())}
    own = {*tasks, "constructions.retrieval", *OF_TASKS}
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    modules = {dotted(path): path for path in paths}
    found = {
        f"{module}:{line}"
        for module, path in modules.items()
        if not any(is_in(module, place) for place in own)
        for line in named(module, ast.parse(path.read_text(encoding="utf-8")), names)
    }
    assert found == set()
    places = {*own, *(place for places in ORDINARY.values() for place in places if place)}
    assert [place for place in places if not any(is_in(module, place) for module in modules)] == []


PLANTED = (
    "if document['layout'] == 'paper': pass",
    "args.all_cells",
    "replace(one, lean=True)",
    "parser.add_argument('--all-cells')",
    "from constructions.istree import graphs",
    "model == 'rag'",
    "def f(query_length): pass",
    "machine = 1",
)


@pytest.mark.parametrize("line", PLANTED)
def test_a_name_is_seen(line: str) -> None:
    assert named("verify.certify", ast.parse(line), names_of_models()) == {1}


def test_a_word_is_not_seen_where_it_means_something_else() -> None:
    assert named("verify.bits.drawing", ast.parse("Figure(layout=words[index])"), names_of_models()) == set()
    assert named("verify.bits.search", ast.parse("Figure(layout=words[index])"), names_of_models()) == {1}
