"""Which lemmas there are on the runs of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from constructions.istree.graphs import LAYOUTS
from constructions.turing.machine import parse_standard
from verify.certificates.building import Subject
from verify.induction import frames, machine, search, turning, turns
from verify.induction.search import MODELS, N
from verify.induction.theory import Theory
from verify.programs.frames import Frames

ENDS = {
    ("istree", "transformer"): "steps, each behind those before, end with YES if and only if the graph is a tree",
    ("istree", "rag"): "turns, if the searches find what is defined, end with YES if and only if the graph is a tree",
    ("istree", "hybrid"): "frames, each behind those before, end with YES if and only if the graph is a tree",
    ("turing", "hybrid"): "words, each behind those before, are the machine's run",
    ("turing", "rag"): "words, if the searches find what is defined, are the machine's run",
    ("turing", "cot"): "configurations, each behind those before, are the machine's run on any number of cells",
}
"""What follows from the lemmas of a construction's model, with the induction that is argued."""
Shown: TypeAlias = "tuple[Theory, list[str]]"


def theory_of(subject: Subject) -> Theory | None:
    """The lemmas, for every n; None of a model that answers at once, or of which there are none."""
    if subject.construction == "turing" and subject.model in machine.STEPS:
        return machine.theory(parse_standard(subject.machine), subject.model)
    if subject.construction == "turing":
        return turning.theory(parse_standard(subject.machine))
    if subject.construction != "istree":
        return None
    if subject.model == "hybrid":
        return frames.theory(Frames(frames.N))
    if subject.model == "rag":
        return turns.theory(turns.defined())
    return search.theory(MODELS["lean" if subject.lean else "repaired"](N, LAYOUTS[subject.layout]))


def _counts(subject: Subject) -> Shown:
    return search.theory(MODELS["repaired"](N, LAYOUTS[subject.layout])), ["orders", "order-rises", "others-differ"]


def _apart(subject: Subject) -> Shown:
    return search.theory(MODELS["lean"](N, LAYOUTS[subject.layout])), ["apart"]


def _limited(subject: Subject) -> Shown:
    theory = turns.theory(turns.defined())
    return theory, [
        *(f"{invariant}/{case}" for invariant in theory.invariants for case in theory.kept),
        "down-or-up",
        "records-limited",
    ]


def _queue(subject: Subject) -> Shown:
    return turning.theory(parse_standard(subject.machine)), ["queue"]


SHOWN: Mapping[str, Callable[[Subject], Shown]] = {
    "counts of one vertex": _counts,
    "records of one vertex": _apart,
    "records": _limited,
    "the digit in front of the queue": _queue,
}
"""By which lemmas what certificates of a model assume of its runs holds, for every n."""
