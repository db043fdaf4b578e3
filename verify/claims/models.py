"""The models that claims are about: of which theorem and task each is, and where the paper tells of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from constructions.istree import hybrid, lean, rag, transformer
from constructions.wiring.finding import Finding
from verify.dossiers.dossier import Subject
from verify.dossiers.registry import find_subject
from verify.framework.claim import Claim, F, Kind, Reading, judges


@dataclass(frozen=True)
class Told:
    """A model of a theorem, by the names of its dossier. place: where the paper tells of it, if not in the theorem alone."""

    theorem: str
    task: str
    model: str
    place: str = ""
    variant: str = "repaired"

    def claim(self, aspect: str, statement: str, *, source: str = "", **more: Any) -> Claim:
        """Returns a claim about it. source: by default where the paper tells of the model."""
        aspect, more = f"lean-{aspect}" if self.variant == "lean" else aspect, {"variant": self.variant, **more}
        return Claim.about(self.theorem, self.task, aspect, source or self.place, statement, **more)

    def as_printed(self, finding: Finding, statement: str, kind: Kind, *readings: Reading) -> Claim:
        """Returns the claim with one finding put back to print, alone."""
        text, more = f"{statement} As printed: {finding.printed}.", {"finding": finding.id, "readings": readings}
        return self.claim(finding.id, text, source=finding.source, kind=kind, **more)

    def judges(self, aspect: str, statement: str, **more: Any) -> Callable[[F], F]:
        """Returns a decorator: the function judges this claim about the model."""
        return judges(self.claim(aspect, statement, **more))

    def subject(self, n: int, **options: Any) -> Subject:
        """Returns its weights for n."""
        if self.variant == "lean":
            options = {"lean": True, **options}
        return find_subject(self.task, n, model=self.model, **options)


OF_RETRIEVAL = {"transformer": "4.6", "rag": "5.2", "hybrid": "5.6"}


def of_retrieval(task: str, model: str = "transformer") -> Told:
    """Returns a model of a retrieval task."""
    return Told(OF_RETRIEVAL[model], task, model)


ISTREE = Told("4.7", "istree", "transformer", transformer.SOURCE)
ISTREE_LEAN = Told("4.7", "istree", "transformer", lean.SOURCE, "lean")
ISTREE_RAG = Told("5.3", "istree", "rag", rag.SOURCE)
ISTREE_HYBRID = Told("5.7", "istree", "hybrid", hybrid.SOURCE)
TURING_COT = Told("4.1", "turing", "cot")
TURING_RAG = Told("5.4", "turing", "rag")
TURING_HYBRID = Told("5.8", "turing", "hybrid")
