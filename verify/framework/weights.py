"""How a claim is certified: by what is computed from weights, and by nothing else."""

from __future__ import annotations

import hashlib
from typing import Literal

from verify.certificates.building import ENDLESS, Subject
from verify.certificates.document import REFUSED, UNKNOWN
from verify.certificates.ranges import certificates
from verify.framework.claim import Counterexample
from verify.framework.seen import Span, Undecided
from verify.programs.intervals import explanations

About = Literal["rounding", "program"]
CHECKERS = {"rounding": certificates, "program": explanations}
"""All that can certify: a claim's test says which by name, and hands in none of its own."""


class Weights:
    """Makes certificates, and remembers whose weights they are about."""

    def __init__(self, about: About) -> None:
        self.check = CHECKERS[about]
        self.hashes: dict[Subject, str] = {}

    def judge(self, subject: Subject) -> Counterexample | None:
        """One model, all its inputs. Raises Undecided."""
        document = self.check(subject)
        where, what = document["where"], document["what"]
        if document["verdict"] == UNKNOWN:
            raise Undecided(f"{subject.construction}, n = {subject.n}: {where}: {what}")
        if document["verdict"] == REFUSED:
            return Counterexample(where=where, what=what)
        self.hashes[subject] = document["weights_sha256"]
        return None

    def digest(self) -> str:
        """The digest of all weights that were certified, in the order of their subjects."""
        return hashlib.sha256("\n".join(self.hashes.values()).encode()).hexdigest()


def sizes_of(subject: Subject) -> Span:
    """The first and the last n that a certificate of this subject is about."""
    return subject.n, None if subject.last == ENDLESS else subject.last or subject.n
