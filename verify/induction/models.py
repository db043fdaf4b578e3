"""Which lemmas there are on the runs of a model."""

from __future__ import annotations

from constructions.istree.graphs import LAYOUTS
from constructions.turing.machine import parse_standard
from verify.certificates.building import Subject
from verify.induction import machine, next_record, search
from verify.induction.search import MODELS, N
from verify.induction.theory import Theory
from verify.programs.frames import Frames


def theory_of(subject: Subject) -> Theory | None:
    """The lemmas, for every n; None of a model that answers at once, or of which there are none."""
    if subject.construction == "turing" and subject.model in machine.STEPS:
        return machine.theory(parse_standard(subject.machine), subject.model)
    if subject.construction != "istree":
        return None
    if subject.model == "hybrid":
        return next_record.theory(Frames(next_record.N))
    if subject.model == "rag":
        return search.theory(MODELS["rag"](N, LAYOUTS["eos"]))
    return search.theory(MODELS["lean" if subject.lean else "repaired"](N, LAYOUTS[subject.layout]))
