"""One check for many n: an interval in which every weight is the same number or the same polynomial of n.

Powers of two, which grow with n, are the same in it; n itself is an atom of the model and of its inputs. The interval ends where a
question that the builder asks of n has another answer (symbolic.py), so that all its n have these weights by construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from verify.certificates.above import survey
from verify.certificates.building import ENDLESS, LEAST, Subject, sized
from verify.certificates.document import CERTIFIED, Json, Judged, certificate, judge


@dataclass(frozen=True)
class Interval:
    """n from low to high have the same weights or forms of n, at the same p. digest: of these.

    inputs_run: of the smallest n, whose inputs are all run.
    """

    low: int
    high: int
    precision_bits: int
    digest: str
    judged: Judged
    inputs_run: int = 0


def intervals(subject: Subject) -> Iterator[Interval]:
    """Covers all n of the subject."""
    low, end = subject.n, subject.last
    subject = replace(subject, last=0)
    while low < LEAST and low <= end:
        yield _exhausted(replace(subject, n=low))
        low += 1
    while low <= end:
        model, inputs, high = sized(replace(subject, n=low), end)
        p = model.arithmetic.format.significand_bits + 1
        yield Interval(low, high, p, model.digest, judge(model, inputs))
        low = high + 1


def certified(subject: Subject) -> Json:
    """The certificate; of a subject for every n of an interval: the verdict, where it is not certified first, and digests."""
    if not subject.last:
        return certificate(subject)
    if subject.last == ENDLESS:
        found = survey(subject)
        return {**found.about, "weights_sha256": " ".join(digest for _, digest in found.cases)}
    digests: list[str] = []
    for interval in intervals(subject):
        judged = interval.judged
        digests.append(interval.digest)
        if judged.verdict != CERTIFIED:
            where = f"n = {interval.low} … {interval.high}, {judged.where}"
            return {"verdict": judged.verdict, "where": where, "what": judged.what}
    return {"verdict": CERTIFIED, "where": "", "what": "", "weights_sha256": " ".join(digests)}


def _exhausted(subject: Subject) -> Interval:
    n, made = subject.n, certificate(subject)
    judged = Judged(made["verdict"], made["where"], made["what"])
    return Interval(n, n, made["precision_bits"], made["weights_sha256"], judged, made.get("inputs_run", 0))
