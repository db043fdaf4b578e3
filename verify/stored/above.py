"""What was certified of all n from some n on, as a stored document: its cases, and a digest of the inequalities that decide them.

The inequalities themselves stand in verify/proofs.json, and trusted/growth.py shows each of them in each run. Who relies on the
document has the builder go through all of its own cases anew, which takes two seconds, and compares weights and questions with the
stored ones. The cases must be those of the theorem, each once. One of them is judged anew, from its first question to its last:
its weights and what is said of it are as stored, it splits as the theorem does, and what it rests on is among the theorem's
inequalities. Which one: another for other weights, another checker or another seed.

What a forger could do is as in stored.py: the cases that are not judged anew could be made up, for weights that nobody has
judged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from verify.algebra.domains import Undecided
from verify.algebra.nodes import Node, Shown
from verify.algebra.quotients import Unanswered, text
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.above import CasesSurvey, Judge, Known, rounding, unjudged
from verify.certificates.document import CERTIFIED, about
from verify.dossiers.dossier import ENDLESS, About, Json, Subject
from verify.dossiers.registry import find_dossiers
from verify.rounding.model import ExactModel
from verify.stored.intervals import FOLDER, SCHEMA, Stale, checker, digest, name_of
from verify.stored.questions import question, texts_of
from verify.trusted import growth

ROOTS = (0, 1)


@dataclass(frozen=True)
class CaseOfBits:
    """root: whether the number of bits of n's bit length is odd. turns: at each split of the theorem, 1 for its first part.

    found: digests of what was said, its weights among it.
    """

    root: int
    turns: str
    found: str


@dataclass(frozen=True)
class CasesDocument:
    """A document. weights: of the cases that builder and question tell apart, with the question.

    theorem: a digest of all inequalities.
    """

    subject: Subject
    about: About
    weights: tuple[str, ...]
    cases: tuple[CaseOfBits, ...]
    theorem: str

    @property
    def name(self) -> str:
        """Returns the name of the document."""
        return path_of(self.subject, self.about).stem

    @property
    def sha256(self) -> str:
        """Returns a digest of all that it says."""
        return hashlib.sha256(text_of(self).encode()).hexdigest()


def subjects() -> Iterator[tuple[Subject, About]]:
    """Yields all that is stored: those of which the whole takes ten seconds or more."""
    for dossier in find_dossiers().values():
        yield from (entry for entry in dossier.stored if entry[0].last == ENDLESS)


def judge_of(what: About) -> Judge:
    """Returns what is asked of each case."""
    from verify.programs.intervals import as_defined

    return rounding if what == "rounding" else as_defined


def path_of(subject: Subject, what: About) -> Path:
    """Returns where the document stands."""
    return FOLDER / f"{name_of(subject, what)}-above.json"


def make(subject: Subject, what: About) -> tuple[CasesDocument, Any]:
    """Returns the document, and the theorem. Raises Undecided, Unanswered."""
    survey, cases, roots = CasesSurvey(subject, (judge_of(what),)), list[CaseOfBits](), list[Node]()

    def judged(walk: Walk) -> None:
        survey.look(walk)
        if walk.nodes[0] not in roots:
            roots.append(walk.nodes[0])
        cases.append(_case(roots.index(walk.nodes[0]), walk, survey.cases[-1]))

    theorem = theorem_of(judged, subject.dossier.bits_of_bits)
    return CasesDocument(subject, what, weights_of(subject, what), tuple(cases), fingerprint(theorem)), theorem


def _case(root: int, walk: Walk, result: Any) -> CaseOfBits:
    return CaseOfBits(root, "".join(str(int(fork.answer)) for fork in walk.forks), digest(result))


def _asked_of(what: About) -> Judge:
    """Returns a judge that certifies all, and says which question is asked of a case."""

    def asked(subject: Subject, model: ExactModel, texts: TokenAutomaton) -> Json:
        said = digest([question(subject, what, texts), texts_of(model, texts)])
        return {**unjudged(subject, model, texts), "question": said}

    return asked


def weights_of(subject: Subject, about: About, known: Known | None = None) -> tuple[str, ...]:
    """Returns a digest of each case that builder and question tell apart. Its weights are compared with those of one n in it."""
    survey = CasesSurvey(subject, (_asked_of(about),), known={} if known is None else known)
    survey.run()
    if survey.about["verdict"] != CERTIFIED:
        raise Undecided(survey.about["where"], survey.about["what"])
    return tuple(digest(case) for case in survey.cases)


def fingerprint(theorem: Any) -> str:
    """Returns a digest of a theorem, whatever the order in which a run came to the inequalities of a part."""

    def told(part: Any) -> Any:
        shown = [
            [*theorem["inequalities"][one]] if isinstance(one, int) else [*theorem["inequalities"][one[0]], *one[1:]]
            for one in part["shown"]
        ]
        rest = [part["split"], [told(one) for one in part["parts"]]] if "parts" in part else []
        return [sorted(shown, key=str), *rest]

    return digest([theorem["bits_of_bits"], *map(told, theorem["cases"])])


def leaves(part: Any, turns: str = "") -> Iterator[str]:
    """Yields the ways to all cases of a theorem's case."""
    if "parts" not in part:
        yield turns
        return
    for turn, one in zip("10", part["parts"], strict=True):
        yield from leaves(one, turns + turn)


def require(above: CasesDocument, theorem: Any, known: Known | None = None) -> None:
    """Raises Stale for a document of other weights or another theorem, or of weights that are others for an int.

    known: as a survey has it.
    """
    if fingerprint(theorem) != above.theorem:
        raise Stale("the stored theorem is another one")
    if theorem["bits_of_bits"] != above.subject.dossier.bits_of_bits:
        raise Stale("the stored theorem is about other n")
    ways = sorted((root, turns) for root in ROOTS for turns in leaves(theorem["cases"][root]))
    if ways != sorted((case.root, case.turns) for case in above.cases):
        raise Stale(f"{above.name} has other cases than the theorem")
    try:
        now = weights_of(above.subject, above.about, known)
    except (Undecided, Unanswered) as error:
        raise Stale(str(error)) from error
    if now != above.weights:
        raise Stale(f"{above.name} is of other weights, texts or definitions")


def chosen(above: CasesDocument, seed: int) -> CaseOfBits:
    """Returns the case that is judged anew."""
    key = f"{above.sha256} {checker()} {seed}"
    return min(above.cases, key=lambda case: hashlib.sha256(f"{key} {case.root} {case.turns}".encode()).digest())


def renew(above: CasesDocument, case: CaseOfBits, theorem: Any, known: Known | None = None) -> None:
    """Judges one case anew, with all that the theorem says of it. Raises Stale."""
    node = Node(growth.root(above.subject.dossier.bits_of_bits, case.root))
    walk = Walk(node.box, [turn == "1" for turn in case.turns], nodes=[node])
    survey = CasesSurvey(above.subject, (judge_of(above.about),), known={} if known is None else known)
    try:
        survey.look(walk)
    except (Undecided, Unanswered) as error:
        raise Stale(f"a case is not certified: {error}") from error
    if _case(case.root, walk, survey.cases[-1]) != case:
        raise Stale(f"a case is not as {above.name} has it")
    _require_path(walk, theorem["cases"][case.root], theorem["inequalities"])


def _require_path(walk: Walk, part: Any, inequalities: Sequence[Any]) -> None:
    """Raises an error unless the theorem splits as the walk did, and has what was shown on the way."""
    case_inequalities = {_tell(shown) for some in (walk.shown, *(fork.shown for fork in walk.forks)) for shown in some}
    there = set[tuple[str, str]]()
    for fork in (*walk.forks, None):
        there |= {tuple(inequalities[one if isinstance(one, int) else one[0]]) for one in part["shown"]}
        if (None if fork is None else json.loads(json.dumps(fork.split))) != part.get("split"):
            raise Stale("a case is split in another way than the theorem says")
        if fork is not None:
            part = part["parts"][0 if fork.answer else 1]
    if not case_inequalities <= there:
        raise Stale(
            f"{len(case_inequalities - there)} of {len(case_inequalities)} inequalities of a case are not in the theorem"
        )


def _tell(shown: Shown) -> tuple[str, str]:
    return text(shown[0]), shown[1]


def text_of(above: CasesDocument) -> str:
    """Returns the text of the document's file."""
    said = {"schema": SCHEMA, "of": about(above.subject), "about": above.about, "theorem": above.theorem}
    said |= {"weights": above.weights, "cases": [asdict(case) for case in above.cases]}
    return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def read(subject: Subject, what: About) -> CasesDocument | None:
    """Returns the document, if there is one. Raises ValueError for what is none."""
    path = path_of(subject, what)
    if not path.exists():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        above = CasesDocument(
            subject,
            what,
            tuple(document["weights"]),
            tuple(CaseOfBits(**one) for one in document["cases"]),
            document["theorem"],
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path.name} is no document of all n above: {error}") from error
    if json.loads(text_of(above)) != document:
        raise ValueError(f"{path.name} is not of {name_of(subject, what)}")
    return above
