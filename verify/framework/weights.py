"""How a claim is certified: by the static checker's word about weights, and by nothing else."""

from __future__ import annotations

import hashlib

from verify.certificates.building import Subject
from verify.certificates.document import REFUSED, UNKNOWN, certificate
from verify.framework.claim import Counterexample
from verify.framework.seen import Undecided


class Weights:
    """Makes certificates, and remembers whose weights they are about."""

    def __init__(self) -> None:
        self.hashes: dict[Subject, str] = {}

    def judge(self, subject: Subject) -> Counterexample | None:
        """One model, all its inputs. Raises Undecided."""
        document = certificate(subject)
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
