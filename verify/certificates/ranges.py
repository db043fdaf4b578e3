"""One check for many n: an interval in which every weight is the same number or the same polynomial of n.

Powers of two, which grow with n, are the same in it; n itself is an atom of the model and of its inputs. The interval ends where a
question that the builder asks of n has another answer (symbolic.py), so that all its n have these weights by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verify.algebra.domains import OtherMatrices
from verify.certificates.above import ALONE, Say, rounding, whole
from verify.certificates.building import ModelSizes, Sizes, at_size, build_beside, model_of, part_of, precision_of
from verify.certificates.document import (
    CERTIFIED,
    REFUSED,
    UNKNOWN,
    Judged,
    about,
    certificate,
    changed,
    judge,
    subject_of,
    tried_on_inputs,
    with_origin,
)
from verify.dossiers.dossier import ENDLESS, LEAST, Json, Subject


@dataclass(frozen=True)
class JudgedInterval(Sizes):
    """What was said of a part. digest: of its weights.

    inputs_run: of the smallest n, whose inputs are all run. compared: as of a part.
    """

    precision_bits: int
    digest: str
    judged: Judged
    inputs_run: int = 0
    compared: tuple[int, ...] = ()


def parts(subject: Subject) -> Iterator[ModelSizes]:
    """Covers all n of the subject, up to where cases begin; or the numbers of cells that are looked at for themselves.

    Raises OtherMatrices where the weights are not those that users get, at the first of these sizes that no part has covered.
    """
    if not subject.counts_n:
        for size in range(subject.n, ALONE + 1):
            model, inputs, wired = build_beside(at_size(subject, size))
            yield ModelSizes(size, size, subject.unit, model, inputs, () if wired is None else (size,))
        return
    low, end = subject.n, _end(subject)
    while low <= end:
        part = part_of(replace(subject, n=low, last=0), end)
        yield part
        low = part.high + 1


def _end(subject: Subject) -> int:
    return max(subject.n, subject.dossier.first_above) if subject.last == ENDLESS else subject.last


def intervals(subject: Subject) -> Iterator[JudgedInterval]:
    """Yields the intervals of `parts`, and runs the inputs of the smallest n. Refuses weights that are not those that users get."""
    low, subject = subject.n, replace(subject, length=None)
    while low < LEAST and low <= _end(subject) and subject.counts_n:
        yield _exhausted(replace(subject, n=low, last=0))
        low += 1
    try:
        for part in parts(replace(subject, n=low)):
            yield _judge(part, subject)
            low = part.high + 1
    except OtherMatrices as refused:
        one = at_size(subject, low)
        yield JudgedInterval(low, low, subject.unit, precision_of(one), model_of(one).digest, Judged.at(refused))


def _judge(part: ModelSizes, subject: Subject) -> JudgedInterval:
    model, judged, high = part.model, judge(part.model, part.inputs), part.high
    if judged.verdict == UNKNOWN and part.low in part.compared:
        judged = tried_on_inputs(judged, at_size(subject, part.low))
        high = part.low if judged.verdict == REFUSED else high  # an input is of one n
    p = model.arithmetic.format.significand_bits + 1
    return JudgedInterval(part.low, high, part.of, p, model.digest, judged, compared=part.compared)


def certificates(
    subject: Subject, tell: Callable[[JudgedInterval], object] = lambda _: None, say: Say = lambda _: None
) -> Json:
    """Returns the certificate; of a subject for many n: of each interval the verdict, up to one that is not certified, and of
    all n above.

    The same of numbers of cells. tell: called with each interval; say: told of each case above. Raises ValueError for a subject
    that makes no sense.
    """
    if not subject.last:
        return with_origin(certificate(subject), subject)
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
    if sizes := subject.dossier.own_sizes:
        document["assumed_invariants"] = dict.fromkeys(document["assumed_invariants"], sizes.assumed)
    return with_origin(whole(document, subject, rounding, say=say), subject)


def differences(
    document: Mapping[str, Any], tell: Callable[[JudgedInterval], object] = lambda _: None, say: Say = lambda _: None
) -> list[str]:
    """Returns the fields in which a stored document is not what the check says now. Raises ValueError for one that is none."""
    return changed(document, certificates(subject_of(document), tell, say))


def _exhausted(subject: Subject) -> JudgedInterval:
    n, document = subject.n, certificate(subject)
    judged, sizes = (
        Judged(document["verdict"], document["where"], document["what"]),
        (n,) if document.get("matrices_sha256") else (),
    )
    inputs, digest = document.get("inputs_run", 0), document.get("weights_sha256") or model_of(subject).digest
    return JudgedInterval(n, n, "n", precision_of(subject), digest, judged, inputs, sizes)
