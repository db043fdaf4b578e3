"""Stored certificates of every n from some n on, which the small checker reads in each run.

A document has the splits of all large n into cases, and the certificates of rounding of these cases. For most models one
certificate stands for all of them. The document has no weights: who relies on it has the builder write the weights and texts of
each of its own cases anew, and `verify/trusted/cases.py` then accepts the whole, or says where it does not. So a document that is
made up proves nothing.

A long document also has a seal: a digest of all that the small checker read when it accepted each case, weights among it, and
of its own text. Where the seal is that of now, a run has it read one case again: another for other weights, another checker or
another seed. Else it reads all of them. What a forger could do: to compute the seal of a document that nobody has read. He is
caught if the one case is rejected.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from verify.algebra.nodes import Node
from verify.algebra.trees import follow, theorem_of
from verify.algebra.walks import Fork, Walk, n_of
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.above import CasesSurvey, unjudged
from verify.certificates.building import at_size, build
from verify.certificates.cases import WalkCase
from verify.certificates.document import CERTIFIED, about, judge
from verify.certificates.finder import certificate_of
from verify.certificates.statement import Document, rows_of, statement_of
from verify.dossiers.dossier import Json, Subject
from verify.dossiers.registry import find_dossiers
from verify.rounding.model import ExactModel
from verify.stored.intervals import FOLDER, SCHEMA, Stale, digest, name_of
from verify.trusted import cases as trusted
from verify.trusted import growth
from verify.trusted.growing import Case
from verify.trusted.growth import Box
from verify.trusted.kernel import Rejected, reject
from verify.trusted.model import read_json
from verify.trusted.rounding import MOST_BYTES

PARTS = ("entries", "steps")
MOST_EXPONENTS = 3  # that are tried for themselves
MOST_READ = 3_000_000  # characters of certificates, in all cases, that each run has the small checker read


def subjects() -> Iterator[Subject]:
    """Yields all of which certificates are stored."""
    for dossier in find_dossiers().values():
        yield from dossier.cases


def path_of(subject: Subject) -> Path:
    """Returns where the document stands."""
    return FOLDER / f"{name_of(subject, 'rounding')}-cases.json"


# Makes a document


def make(subject: Subject, known: Sequence[Document] = ()) -> Document:
    """Returns the document. known: certificates that are tried before one is looked for.

    Raises Rejected where the small checker has no rule, Undecided, Unanswered.
    """
    return Maker(subject, known).document()


class Whole(Exception):
    """A certificate that was found in a part of a case stands for the whole. case: with its number."""

    def __init__(self, case: Document) -> None:
        super().__init__()
        self.case = case


class Maker:
    """Finds as few cases as it can: a certificate of one is tried with the others, and with wider ones of the same model.

    certificates, models: as texts; these of each case of the builder. ways: all n, and the splits that lead to it.
    """

    def __init__(self, subject: Subject, known: Sequence[Document]) -> None:
        self.subject, self.certificates = subject, [*map(json.dumps, known)]
        self.models: dict[Node, str] = {}
        self.ways: dict[Node, tuple[Box, list[Fork]]] = {}

    def document(self) -> Document:
        """Returns the document."""
        bits, roots = self.subject.dossier.bits_of_bits, list[Node]()

        def state(walk: Walk) -> None:
            model, texts = build(at_size(self.subject, n_of(walk)))
            self.models[walk.nodes[-1]] = json.dumps({**statement_of(model, texts), "rows": rows_of(model)})
            self.ways[walk.nodes[-1]] = walk.nodes[0].box, walk.forks
            if walk.nodes[0] not in roots:
                roots.append(walk.nodes[0])

        theorem_of(state, bits)
        cases = self.cover_both(roots, bits)
        if cases is None:
            cases = [self.cover(root, Case(growth.root(bits, r))) for r, root in enumerate(roots)]
            cases = self.cover_both(roots, bits) or cases
        used = [*dict.fromkeys(leaf["certificate"] for case in cases for leaf in leaves(case))]
        for leaf in [leaf for case in cases for leaf in leaves(case)]:
            leaf["certificate"] = used.index(leaf["certificate"])
        return {
            "bits_of_bits": bits,
            "certificates": [json.loads(self.certificates[number]) for number in used],
            "cases": cases,
        }

    def cover_both(self, roots: Sequence[Node], bits: int) -> list[Document] | None:
        """Returns one case of all n, if the builder's cases are alike for both numbers of bits and known certificates suffice."""
        if self.outline(roots[0]) != self.outline(roots[1]):
            return None
        with suppress(Rejected):
            return [self.cover(roots[0], Case(growth.root(bits, None)), may_find=False)]
        return None

    def outline(self, node: Node) -> object:
        """Returns splits and models."""
        return [node.split, *map(self.outline, node.parts)] if node.parts else self.models[node]

    def models_of(self, node: Node) -> set[str]:
        """Returns those of all cases of the builder in this part."""
        return set[str]().union(*map(self.models_of, node.parts)) if node.parts else {self.models[node]}

    def cover(self, node: Node, case: Case, *, may_find: bool = True) -> Document:
        """Returns the case with its parts, and the number of a certificate in each. Raises Rejected."""
        models = self.models_of(node)
        if (found := self.known(models, case)) is not None:
            return found
        if node.parts:
            inside = zip(node.parts, case.parts(node.split), strict=True)
            before = len(self.certificates)
            parts = [self.cover(part, one, may_find=may_find) for part, one in inside]
            whole = self.known(models, case) if len(self.certificates) > before else None
            return whole or {"split": node.split, "parts": parts}
        if (found := self.known_above(models, case, MOST_EXPONENTS)) is not None:
            return found
        return self.find(node, case) if may_find else reject("no certificate that is known")

    def known_above(self, models: set[str], case: Case, most: int) -> Document | None:
        """Returns the case with known certificates, with the least v split off up to so many times; None if they do not fit."""
        if case.box.fixed or not most or not self.certificates:
            return None
        alone, above = case.parts("v")
        if (first := self.known(models, alone)) is None:
            return None
        rest = self.known_in_parts(models, above, most - 1)
        return rest and {"split": "v", "parts": [first, rest]}

    def known_in_parts(self, models: set[str], case: Case, most: int = MOST_EXPONENTS) -> Document | None:
        """Returns the same, or the case with one certificate if that is enough."""
        return self.known(models, case) or self.known_above(models, case, most)

    def known(self, models: set[str], case: Case) -> Document | None:
        """Returns the case with a certificate that is known, if one stands for all of it."""
        numbers = reversed(range(len(self.certificates))) if len(models) == 1 else ()
        return next(({"certificate": i} for i in numbers for model in models if self.accepts(model, i, case)), None)

    def accepts(self, model: str, certificate: int, case: Case) -> bool:
        """Returns whether the small checker accepts a certificate in a case."""
        arguments = json.loads(model), json.loads(self.certificates[certificate]), case
        try:
            return trusted.safely(lambda: trusted.check_case(*arguments)) > 0
        except Rejected:
            return False

    def find(self, node: Node, case: Case) -> Document:
        """Looks for a certificate in a case of the builder, or for one in each of its parts. Raises Rejected, Undecided."""
        box, way = self.ways[node]
        root, found = Node(box), dict[Node, int]()

        def judged(walk: Walk) -> None:
            model, texts = build(at_size(self.subject, n_of(walk)))
            said = judge(model, texts)
            if said.verdict != CERTIFIED:
                raise Rejected(f"{said.where}: {said.what}")
            certificate, _ = certificate_of(model, texts, said.report, WalkCase(walk))
            text = json.dumps({part: certificate[part] for part in PARTS})
            if text not in self.certificates:
                self.certificates.append(text)
                if len(walk.forks) > len(way) and (whole := self.known_in_parts({self.models[node]}, case)) is not None:
                    raise Whole(whole)
            found[walk.nodes[-1]] = self.certificates.index(text)

        def write_node(part: Node) -> Document:
            if not part.parts:
                return {"certificate": found[part]}
            return {"split": part.split, "parts": [*map(write_node, part.parts)]}

        try:
            follow(judged, root, way)
        except Whole as whole:
            return whole.case
        for fork in way:
            root = root.parts[0 if fork.answer else 1]
        return write_node(root)


def leaves(part: Document) -> Iterator[Document]:
    """Yields the cases that are not split."""
    for one in part.get("parts", ()):
        yield from leaves(one)
    if "parts" not in part:
        yield part


def text_of(subject: Subject, document: Document) -> str:
    """Returns the text of the document's file, in which certificates are compressed: they repeat themselves."""
    packed = b64encode(zlib.compress(json.dumps(document["certificates"]).encode(), 9)).decode()
    return json.dumps({**header(subject), **document, "certificates": packed}, ensure_ascii=False) + "\n"


def header(subject: Subject) -> Document:
    """Returns what a file says of whose document it is."""
    said = {"schema": SCHEMA, "of": about(subject), "about": "rounding"}
    result: Document = json.loads(json.dumps(said))
    return result


def read(subject: Subject) -> Document | None:
    """Returns the document, if there is one. Raises ValueError for what is none."""
    path = path_of(subject)
    if not path.exists():
        return None
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        text = zlib.decompressobj().decompress(b64decode(said["certificates"]), MOST_BYTES)
        document = {name: said[name] for name in ("bits_of_bits", "cases", "seal") if name in said}
        document["certificates"] = json.loads(text)
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise ValueError(f"{path.name} is no document of cases: {error}") from error
    if {**header(subject), **document} != {**said, "certificates": document["certificates"]}:
        raise ValueError(f"{path.name} is not of {name_of(subject, 'rounding')}")
    return document


# Relies on it


@dataclass(frozen=True)
class Accepted:
    """What the small checker accepted. classes: of the cases that it read now. cases: of the builder. weights: a digest of theirs.

    theorem: of the builder's comparisons. seal: of all that was read, now or when the document was made. is_whole: whether now.
    """

    classes: int
    cases: int
    weights: str
    theorem: Any
    seal: str
    is_whole: bool


def accept(subject: Subject, document: Document, seed: int = 0, *, anew: bool = False) -> Accepted:
    """Returns what the small checker accepts, of a document and of the weights and texts that the builder makes now.

    seed: of the run. anew: read all cases, whatever the document's seal. Raises Stale for a document of other cases than the
    builder's, Rejected where the small checker rejects.
    """
    filled, survey = fill(subject, document)
    seal = digest([filled, checker()])
    is_whole = anew or document.get("seal") != seal
    number = int(hashlib.sha256(f"{seal} {seed}".encode()).hexdigest(), 16)

    def read_cases() -> int:
        some = [*trusted.cases_of(read_json(json.dumps(filled).encode()))]
        return sum(trusted.check_case(*one) for one in (some if is_whole else [some[number % len(some)]]))

    classes = trusted.safely(read_cases)
    weights = digest([case["weights_sha256"] for case in survey.cases])
    return Accepted(classes, len(survey.cases), weights, survey.theorem, seal, is_whole)


@cache
def checker() -> str:
    """Returns a digest of the text of all that the small checker is made of."""
    files = sorted(Path(trusted.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()


def sealed(document: Document, found: Accepted) -> Document:
    """Returns a document that was accepted, with its seal if to read all of it takes long."""
    sizes = [len(json.dumps(one)) for one in document["certificates"]]
    read_in_all = sum(sizes[leaf["certificate"]] for case in document["cases"] for leaf in leaves(case))
    return {**document, "seal": found.seal} if read_in_all > MOST_READ else document


def fill(subject: Subject, document: Document) -> tuple[Document, CasesSurvey]:
    """Returns a document with the weights and texts of each case, and what the builder's cases are. Raises Stale."""
    models: list[Document] = []
    cases = json.loads(json.dumps(document["cases"]))

    def state(of: Subject, model: ExactModel, texts: TokenAutomaton) -> Json:
        n: Any = of.n
        one = {**statement_of(model, texts), "rows": rows_of(model)}
        if one not in models:
            models.append(one)
        put(cases, document["bits_of_bits"], n.oracle, models.index(one))
        return unjudged(of, model, texts)

    survey = CasesSurvey(subject, (state,))
    survey.run()
    if survey.about["verdict"] != CERTIFIED:
        raise Stale(f"{survey.about['where']}: {survey.about['what']}")
    parts = {field: document[field] for field in ("bits_of_bits", "certificates")}
    return {**parts, "cases": cases, "models": models}, survey


def put(cases: Sequence[Document], bits_of_bits: int, walk: Walk, model: int) -> None:
    """Says that the builder's case, to which the walk came, is of a model: in the document's parts of it, or a case that has it.

    Raises Stale for a document that splits otherwise, or has cases of two models in one.
    """
    ends = walk.nodes[0].box.ends
    r = next(r for r in (0, 1) if growth.root(bits_of_bits, r).ends == ends)
    part = cases[r if len(cases) > 1 else 0]
    for fork in walk.forks:
        if "parts" not in part:
            break
        if part.get("split") != json.loads(json.dumps(fork.split)):
            raise Stale("the builder splits its cases in another way")
        part = part["parts"][0 if fork.answer else 1]
    for leaf in leaves(part):
        if leaf.setdefault("model", model) != model:
            raise Stale("cases of two models are one")
