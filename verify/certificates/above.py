"""Every n above some size at once: the same check, of numbers that depend on n, in finitely many cases.

The builder and the checker are given a number of growing.py in place of n, and so come to the same verdict for each n of a case.
Where a question has two answers, both are followed.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from verify import growth
from verify.certificates.building import Subject, build
from verify.certificates.document import CERTIFIED, UNKNOWN, Json, Judged, judge
from verify.certificates.domains import Undecided
from verify.certificates.growing import n_of
from verify.certificates.walks import Unanswered, Walk, theorem_of

BITS_OF_BITS = 7  # every n from 2^63 on
MOST_CASES = 1000


class Stopped(Exception):
    """A case is not certified."""


@dataclass
class Survey:
    """Every n from 2^63 on. cases: precision and digest of each. judged: the last one.

    theorem: all inequalities, as verify/growth.py reads them; None if a case is not certified.
    """

    subject: Subject
    cases: list[tuple[str, str]] = field(default_factory=list)
    judged: Judged = field(default_factory=lambda: Judged(CERTIFIED))
    theorem: Any = None

    def run(self) -> None:
        """Looks at one case after the other, up to one that is not certified."""
        with suppress(Stopped):
            self.theorem = theorem_of(self._judge, BITS_OF_BITS)

    @property
    def about(self) -> Json:
        """The verdict, and where it is not certified first. What is refused may be what no n of the case has."""
        verdict = CERTIFIED if self.theorem else UNKNOWN
        return {"verdict": verdict, "where": self.judged.where, "what": self.judged.what}

    def document(self) -> Json:
        """The same with all cases and inequalities, which verify/growth.py shows once more. Raises Rejected if it does not."""
        if self.theorem:
            growth.check(json.loads(json.dumps(self.theorem)), {})
        cases = [{"precision_bits": bits, "weights_sha256": digest} for bits, digest in self.cases]
        return {**self.about, "n_from": f"2^{(1 << (BITS_OF_BITS - 1)) - 1}", "cases": cases, "theorem": self.theorem}

    def _judge(self, walk: Walk) -> None:
        try:
            model, language = build(replace(self.subject, n=n_of(walk)))
            self.judged = judge(model, language)
        except Undecided as undecided:
            self.judged = Judged(UNKNOWN, undecided.where, undecided.what)
        except Unanswered as error:  # what only a number can be asked
            self.judged = Judged(UNKNOWN, "numbers that grow with n", str(error))
        if self.judged.verdict == CERTIFIED and len(self.cases) == MOST_CASES:
            self.judged = Judged(UNKNOWN, "numbers that grow with n", f"more than {MOST_CASES} cases")
        if self.judged.verdict != CERTIFIED:
            raise Stopped
        self.cases.append((f"{model.arithmetic.format.significand_bits + 1}", model.digest))


@lru_cache(maxsize=4)
def survey(subject: Subject) -> Survey:
    """Of this subject's model, for sequences of up to n tokens."""
    found = Survey(replace(subject, length=None))
    found.run()
    return found
