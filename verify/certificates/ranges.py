"""One check for many n: an interval in which every weight is the same number or the same polynomial of n.

Powers of two, which grow with n, are the same in it; n itself is an atom of the model and of its inputs. The interval ends where a
question that the builder asks of n has another answer (symbolic.py), so that all its n have these weights by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verify.algebra.domains import OtherMatrices
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.above import ALONE, Say, rounding, whole
from verify.certificates.building import at_size, build_beside, model_of, precision_of, sized_beside
from verify.certificates.document import (
    CERTIFIED,
    REFUSED,
    Judged,
    about,
    certificate,
    changed,
    judge,
    subject_of,
)
from verify.dossiers.dossier import ENDLESS, LARGEST_N, LEAST, Json, Subject
from verify.rounding.model import Model


@dataclass(frozen=True)
class Interval:
    """n from low to high have the same weights or forms of n, at the same p. digest: of these.

    inputs_run: of the smallest n, whose inputs are all run. of: what they are numbers of. compared: those at which the weights were
    held against the matrices that users get.
    """

    low: int
    high: int
    precision_bits: int
    digest: str
    judged: Judged
    inputs_run: int = 0
    of: str = "n"
    compared: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.of} = {self.low}" + (f" … {self.high}" if self.low < self.high else "")


def intervals(subject: Subject) -> Iterator[Interval]:
    """Covers all n of the subject, up to 2^64; or the numbers of cells that are looked at for themselves."""
    if subject.all_cells:
        for cells in range(subject.n, ALONE + 1):
            one = at_size(subject, cells)
            try:
                model, inputs, wired = build_beside(one)
            except OtherMatrices as refused:
                yield replace(_refused(one, refused), low=cells, high=cells, of="cells")
                return
            sizes: tuple[int, ...] = () if wired is None else (cells,)
            yield _judged(cells, cells, model, inputs, "cells", sizes)
        return
    low, end = subject.n, LARGEST_N if subject.last == ENDLESS else subject.last
    subject = replace(subject, length=None, last=0)
    while low < LEAST and low <= end:
        yield _exhausted(replace(subject, n=low))
        low += 1
    while low <= end:
        try:
            model, inputs, high, sizes = sized_beside(replace(subject, n=low), end)
        except OtherMatrices as refused:
            yield _refused(replace(subject, n=low), refused)
            return
        yield _judged(low, high, model, inputs, compared=sizes)
        low = high + 1


def _judged(
    low: int, high: int, model: Model, inputs: TokenAutomaton, of: str = "n", compared: tuple[int, ...] = ()
) -> Interval:
    p = model.arithmetic.format.significand_bits + 1
    return Interval(low, high, p, model.digest, judge(model, inputs), of=of, compared=compared)


def _refused(subject: Subject, refused: OtherMatrices) -> Interval:
    """Of the interval that begins at this n, whose weights are not those that users get."""
    judged = Judged(REFUSED, refused.where, refused.what)
    return Interval(subject.n, subject.n, precision_of(subject), model_of(subject).digest, judged)


def certificates(
    subject: Subject, tell: Callable[[Interval], object] = lambda _: None, say: Say = lambda _: None
) -> Json:
    """The certificate; of a subject for many n: of each interval the verdict, up to one that is not certified, and of all n above.

    The same of numbers of cells. tell: called with each interval; say: told of each case above. Raises ValueError for a subject
    that makes no sense.
    """
    if not subject.last:
        return certificate(subject)
    document: Json = {
        **about(subject),
        "verdict": CERTIFIED,
        "where": "",
        "what": "",
        "assumed_invariants": {},
        "intervals": [],
    }
    for interval in intervals(subject):
        tell(interval)
        judged = interval.judged
        one = {"precision_bits": interval.precision_bits, "weights_sha256": interval.digest, "verdict": judged.verdict}
        one |= {"inputs_run": interval.inputs_run} if interval.inputs_run else {}
        one["compared_at"] = [str(size) for size in interval.compared]
        document["intervals"].append({interval.of: [str(interval.low), str(interval.high)], **one})
        document["assumed_invariants"] |= judged.report.invariants if judged.report else {}
        if judged.verdict != CERTIFIED:
            document |= {"verdict": judged.verdict, "where": f"{interval.text}, {judged.where}", "what": judged.what}
            break
    if subject.all_cells:
        every_size = subject.dossier.every_size
        document["assumed_invariants"] = {key: every_size(text) for key, text in document["assumed_invariants"].items()}
    return whole(document, subject, rounding, say=say)


def differences(
    document: Mapping[str, Any], tell: Callable[[Interval], object] = lambda _: None, say: Say = lambda _: None
) -> list[str]:
    """The fields in which a stored document is not what the check says now. Raises ValueError for one that is none."""
    return changed(document, certificates(subject_of(document), tell, say))


def _exhausted(subject: Subject) -> Interval:
    n, document = subject.n, certificate(subject)
    judged, sizes = (
        Judged(document["verdict"], document["where"], document["what"]),
        (n,) if document.get("matrices_sha256") else (),
    )
    inputs = document.get("inputs_run", 0)
    return Interval(n, n, document["precision_bits"], document["weights_sha256"], judged, inputs, compared=sizes)
