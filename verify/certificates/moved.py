"""What is said of a model in other coordinates, whose certificate over registers is there."""

from __future__ import annotations

from dataclasses import replace

from constructions.layers import Transformer
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.algebra.domains import Refuted
from verify.certificates.basis import Basis, Misfit, misfit
from verify.certificates.building import build_beside
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, Judged, judge, shown_wrong
from verify.certificates.files import Exported
from verify.certificates.hard_inputs import first_wrong
from verify.certificates.runs import LARGEST_RUN
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel

TRIES = 3
MOST_BITS = 200


def judge_moved(judged: Judged, file: Exported) -> Judged:
    """Returns the verdict on a file, for that on its model over registers.

    Under `fused` nothing depends on the order of coordinates or heads. Under `sequential` sums are rounded in the file's order,
    so the check is carried out in it too.
    """
    moved, subject = file.moved, file.subject
    if judged.report is None or moved is None:
        return judged
    if subject.discipline is Discipline.SEQUENTIAL:
        if moved.model is None:
            return Judged(
                UNKNOWN, "the basis", "there is no rule for sums that are rounded term by term in another basis"
            )
        in_order = judge(moved.model, file.automaton)
        return judged if in_order.report is not None else in_order
    if moved.basis is None:
        return judged
    return in_basis(judged, moved.basis, moved.weights, subject, file.model, moved.wired)


def in_basis(
    judged: Judged, basis: Basis, weights: Transformer, subject: Subject, model: ExactModel, wired: Wired
) -> Judged:
    """Returns the verdict on weights in a basis. judged: that on the model over registers; wired: has its words."""
    if judged.report is None or (why := misfit(basis, weights, model, judged.report)) is None:
        return judged
    judged = _unfit(why, enough_bits(basis, subject, why))
    if why.is_weight:
        return judged
    inputs = [*subject.dossier.extreme_inputs(subject, wired)] if subject.n <= LARGEST_RUN else []
    if wrong := first_wrong(wired, weights, inputs):
        shown = f"in this basis the word {wrong[1] + 1} of its answer is wrong"
        judged = shown_wrong(judged, Refuted(wrong[0].text, f"{wrong[0].text}: {shown}"))
    return judged


def enough_bits(basis: Basis, subject: Subject, why: Misfit | None) -> int:
    """Returns a p at which the construction is certified in this basis, the first that its misfits allow; 0 if none is seen."""
    for _ in range(TRIES):
        if why is None or not why.precision_bits or why.precision_bits > MOST_BITS:
            return 0
        at = replace(subject, precision_bits=why.precision_bits)
        judged, why = certified_in(basis, at)
        if judged.verdict == CERTIFIED:
            return at.precision_bits or 0
    return 0


def certified_in(basis: Basis, subject: Subject) -> tuple[Judged, Misfit | None]:
    """Returns the verdict on a construction in a basis, and the reason if it is the basis that does not fit."""
    model, automaton, wired = build_beside(subject)
    judged = judge(model, automaton)
    if judged.report is None or wired is None:
        return judged, None
    if (width := wired.model.width) != len(basis.matrix):
        return Judged(UNKNOWN, "the basis", f"at p = {subject.precision_bits} the model has {width} coordinates"), None
    why = misfit(basis, basis.apply(wired.model), model, judged.report)
    if why is None:
        return judged, None
    return _unfit(why, 0), why


def _unfit(why: Misfit, enough: int) -> Judged:
    """Returns the verdict on a model that does not fit a basis. enough: a p at which it does, 0 if none is seen."""
    if not why.is_covered:
        return Judged(UNKNOWN, why.where, why.what)
    what = why.what + (f"; p = {enough} is enough" if enough else "; no larger p is seen to be enough")
    return Judged(REFUSED if why.is_weight else UNKNOWN, why.where, what, is_unmet=not why.is_weight)
