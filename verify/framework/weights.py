"""How a claim is certified: by what is computed from weights, and by nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from verify.certificates.building import Subject
from verify.certificates.document import REFUSED, UNKNOWN
from verify.framework.claim import Counterexample
from verify.framework.seen import Undecided


class Weights:
    """Makes certificates, and remembers whose weights they are about. make: the document for a model."""

    def __init__(self, make: Callable[[Subject], Mapping[str, Any]]) -> None:
        self.make = make
        self.hashes: dict[Subject, str] = {}

    def judge(self, subject: Subject) -> Counterexample | None:
        """One model, all its inputs. Raises Undecided."""
        document = self.make(subject)
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
