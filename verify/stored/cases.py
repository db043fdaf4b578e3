"""Stored certificates of every n from some n on, which the small checker reads in each run.

A document has the splits of all large n into cases, and the certificates of rounding of these cases. For most models one
certificate stands for all of them. The document has no weights: who relies on it has the builder write the weights and texts of
each of its own cases anew, and `verify/trusted/cases.py` then accepts the whole, or says where it does not. So a document that is
made up proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verify.algebra.nodes import Node
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.above import CasesSurvey, unjudged
from verify.certificates.building import at_size, build
from verify.certificates.cases import WalkCase
from verify.certificates.document import CERTIFIED, about
from verify.certificates.finder import certificate_of
from verify.certificates.statement import Document, rows_of, statement_of
from verify.dossiers.dossier import Json, Subject
from verify.dossiers.registry import find_dossiers
from verify.rounding.model import ExactModel
from verify.stored.intervals import FOLDER, SCHEMA, Stale, digest, name_of
from verify.trusted import cases as trusted
from verify.trusted import growth

PARTS = ("entries", "steps")


def subjects() -> Iterator[Subject]:
    """Yields all of which certificates are stored."""
    for dossier in find_dossiers().values():
        yield from dossier.cases


def path_of(subject: Subject) -> Path:
    """Returns where the document stands."""
    return FOLDER / f"{name_of(subject, 'rounding')}-cases.json"


# Makes a document


def make(subject: Subject) -> Document:
    """Returns the document. Raises Rejected where the small checker has no rule, Undecided, Unanswered."""
    certificates: list[str] = []
    leaves: dict[int, int] = {}
    roots: list[Node] = []

    def judged(walk: Walk) -> None:
        model, texts = build(at_size(subject, n_of(walk)))
        certificate, _ = certificate_of(model, texts, WalkCase(walk))
        text = json.dumps({part: certificate[part] for part in PARTS})
        if text not in certificates:
            certificates.append(text)
        if walk.nodes[0] not in roots:
            roots.append(walk.nodes[0])
        leaves[id(walk.nodes[-1])] = certificates.index(text)

    def write_node(node: Node) -> Document:
        if not node.parts:
            return {"certificate": leaves[id(node)]}
        return {"split": node.split, "parts": [write_node(part) for part in node.parts]}

    bits_of_bits = subject.dossier.bits_of_bits
    theorem_of(judged, bits_of_bits)
    cases = [write_node(root) for root in roots]
    return {"bits_of_bits": bits_of_bits, "certificates": [*map(json.loads, certificates)], "cases": cases}


def text_of(subject: Subject, document: Document) -> str:
    """Returns the text of the document's file."""
    said = {"schema": SCHEMA, "of": about(subject), "about": "rounding", **document}
    return json.dumps(said, ensure_ascii=False) + "\n"


def read(subject: Subject) -> Document | None:
    """Returns the document, if there is one. Raises ValueError for what is none."""
    path = path_of(subject)
    if not path.exists():
        return None
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        document = {name: said[name] for name in ("bits_of_bits", "certificates", "cases")}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path.name} is no document of cases: {error}") from error
    if text_of(subject, document) != path.read_text(encoding="utf-8"):
        raise ValueError(f"{path.name} is not of {name_of(subject, 'rounding')}")
    return document


# Relies on it


@dataclass(frozen=True)
class Accepted:
    """What the small checker accepted. classes: of all cases. cases: how many. weights: a digest of those of all cases.

    theorem: of the builder's comparisons.
    """

    classes: int
    cases: int
    weights: str
    theorem: Any


def accept(subject: Subject, document: Document) -> Accepted:
    """Returns what the small checker accepts, of a document and of the weights and texts that the builder makes now.

    Raises Stale for a document of other cases than the builder's, Rejected where the small checker rejects.
    """
    whole, survey = fill(subject, document)
    weights = digest([case["weights_sha256"] for case in survey.cases])
    return Accepted(trusted.check(json.dumps(whole).encode()), len(survey.cases), weights, survey.theorem)


def fill(subject: Subject, document: Document) -> tuple[Document, CasesSurvey]:
    """Returns a document with the weights and texts of each case, and what the builder's cases are. Raises Stale."""
    models: list[Document] = []
    cases = json.loads(json.dumps(document["cases"]))

    def state(of: Subject, model: ExactModel, texts: TokenAutomaton) -> Json:
        n: Any = of.n
        put(cases, document["bits_of_bits"], n.oracle, len(models))
        models.append({**statement_of(model, texts), "rows": rows_of(model)})
        return unjudged(of, model, texts)

    survey = CasesSurvey(subject, (state,))
    survey.run()
    if survey.about["verdict"] != CERTIFIED:
        raise Stale(f"{survey.about['where']}: {survey.about['what']}")
    return {**document, "cases": cases, "models": models}, survey


def put(cases: Sequence[Document], bits_of_bits: int, walk: Walk, model: int) -> None:
    """Says that the cases below the builder's case, to which the walk came, are of a model. Raises Stale if it splits otherwise."""
    ends = walk.nodes[0].box.ends
    part = next(case for r, case in enumerate(cases) if growth.root(bits_of_bits, r).ends == ends)
    for fork in walk.forks:
        if part.get("split") != json.loads(json.dumps(fork.split)):
            raise Stale("the builder splits its cases in another way")
        part = part["parts"][0 if fork.answer else 1]
    todo = [part]
    while todo:
        part = todo.pop()
        if "parts" in part:
            todo += part["parts"]
        elif "model" in part:
            raise Stale("two cases of the builder are one")
        else:
            part["model"] = model
