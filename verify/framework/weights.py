"""How a claim is certified: by what is computed from weights, and by nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from verify.certificates.document import REFUSED, UNKNOWN
from verify.certificates.ranges import certificates
from verify.certificates.wrong import certified_names
from verify.dossiers.dossier import ENDLESS, About, Subject
from verify.framework.claim import Counterexample, Json
from verify.framework.predicates import NoVerdict, Span
from verify.framework.proofs import load
from verify.programs.intervals import explanations
from verify.stored import above as stored_above
from verify.stored import cases as stored_cases
from verify.stored.above import CasesDocument
from verify.stored.cases import Accepted
from verify.stored.intervals import (
    FOLDER,
    Built,
    NotCertified,
    Renewal,
    Stale,
    StoredInterval,
    name_of,
    path_of,
    read,
)
from verify.trusted.kernel import Rejected

PROOFS = FOLDER.with_name("proofs.json")
CHECKERS = {"rounding": certificates, "program": explanations}
"""All that can certify: a claim's test says which by name, and hands in none of its own."""


class Certifier:
    """Makes certificates, and remembers whose weights they are about."""

    def __init__(self, about: About) -> None:
        self.about, self.check = about, CHECKERS[about]
        self.hashes: dict[Subject, str] = {}

    def judge(self, subject: Subject) -> Counterexample | None:
        """Certifies one model for all its inputs. Raises NoVerdict, also where the checker accepts what is wrong."""
        if not self.hashes and self.about == "rounding" and (wrong := next(certified_names(), "")):
            raise NoVerdict(f"the checker certifies a model that is wrong: {wrong}")
        document = self.check(subject)
        where, what = document["where"], document["what"]
        if document["verdict"] == UNKNOWN:
            raise NoVerdict(f"{subject.construction}, n = {subject.n}: {where}: {what}")
        if document["verdict"] == REFUSED:
            return Counterexample(where=where, what=what)
        self.hashes[subject] = document["weights_sha256"]
        return None

    def digest(self) -> str:
        """Returns the digest of all weights that were certified, in the order of their subjects."""
        return hashlib.sha256("\n".join(self.hashes.values()).encode()).hexdigest()


class StoredDocument:
    """A stored document of a subject, held against the weights of now. seed: of the run. known: what the run has built."""

    def __init__(self, subject: Subject, about: About, seed: int, known: Built) -> None:
        try:
            document = read(subject, about)
        except ValueError as error:
            raise NoVerdict(f"no document of every n: {error}") from error
        if document is None:
            raise NoVerdict(
                f"{path_of(subject, about).name} is not there: python -m verify.store {name_of(subject, about)}"
            )
        self.name, self.sha256, self.intervals = name_of(subject, about), document.sha256, len(document.intervals)
        self.last, self.accepted = document.intervals[-1].high, document.accepted
        self._renewal = Renewal(document, seed, known)
        self._by_low = {one.low: one for one in document.intervals}

    @property
    def built(self) -> Sequence[Subject]:
        """Returns the intervals, the weights of which are all built."""
        return [*map(self._as_subject, self._renewal.document.intervals)]

    @property
    def renewed(self) -> Sequence[Subject]:
        """Returns the subjects that are certified anew."""
        return [*map(self._as_subject, self._renewal.renewed)]

    def build(self, subject: Subject) -> Counterexample | None:
        """Certifies one interval. Raises NoVerdict."""
        return self._judge_interval(self._renewal.build, subject)

    def renew(self, subject: Subject) -> Counterexample | None:
        """Certifies one interval anew. Raises NoVerdict."""
        return self._judge_interval(self._renewal.renew, subject)

    def _as_subject(self, interval: StoredInterval) -> Subject:
        return replace(self._renewal.document.subject, n=interval.low, last=interval.high)

    def _judge_interval(self, look: Callable[[StoredInterval], None], subject: Subject) -> Counterexample | None:
        interval = self._by_low.get(subject.n)
        if interval is None:
            raise NoVerdict(f"{self.name} has no interval from n = {subject.n} on")
        try:
            look(interval)
        except Stale as error:
            raise NoVerdict(str(error)) from error
        except NotCertified as error:
            if error.verdict == UNKNOWN:
                raise NoVerdict(str(error)) from error
            return Counterexample(n=error.low, where=error.where, what=error.what)
        return None


def load_above(subject: Subject, about: About, seed: int) -> tuple[CasesDocument, Json] | None:
    """Returns a stored document of all n from some n on, and its theorem, if both fit the weights of now. seed: of the run."""
    try:
        above = stored_above.read(subject, about)
    except ValueError:
        above = None
    if above is None:
        return None
    objects = (one for parts in load(PROOFS).values() for part in parts.values() for one in part)
    theorems = (one["theorem"] for one in objects if "bits_of_bits" in one["theorem"])
    theorem = next((one for one in theorems if stored_above.fingerprint(one) == above.theorem), None)
    if theorem is None:
        return None
    try:
        stored_above.require(above, theorem)
        stored_above.renew(above, stored_above.chosen(above, seed), theorem)
    except Stale:
        return None
    return above, theorem


def accepted_cases(subject: Subject, seed: int = 0, *, anew: bool = False) -> tuple[Accepted, str, str] | None:
    """Returns what the small checker accepts of all n from some n on, with the weights of now; the document's name and digest.

    seed: of the run. anew: read all cases. None if there is no document, or it is of other weights, or the checker rejects it.
    """
    try:
        document = stored_cases.read(subject)
        if document is None:
            return None
        found = stored_cases.accept(subject, document, seed, anew=anew)
    except (ValueError, Stale, Rejected):
        return None
    text = stored_cases.text_of(subject, document)
    return found, stored_cases.path_of(subject).stem, hashlib.sha256(text.encode()).hexdigest()


def sizes_of(subject: Subject) -> Span:
    """Returns the first and the last n that a certificate of this subject is about."""
    if subject.last == ENDLESS:  # what is said of all n above is said from some n on
        return (min(subject.n, subject.dossier.first_above) if subject.counts_n else subject.n), None
    return subject.n, subject.last or subject.n
