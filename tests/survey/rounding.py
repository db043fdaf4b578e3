"""Judges checkers of rounding by runs: `python -m tests.survey.rounding [FAMILY …] [--cases N] [--seed S]`, one line a finding.

A case is a small model near the edge of a rule, and its texts. What a checker certifies of it must hold of the run of `reference`
on each of these texts, held against exact arithmetic.
Exit status: 0 nothing was found, 1 something was, 2 a wrong option.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tests.survey.checkers import RoundingChecker, bounds_rounding, follows_rounding
from tests.survey.command import run
from tests.survey.edges import DRAWN, FAMILIES
from tests.verify.certificates.runs import contradictions
from tests.verify.rounding.small import texts

CHECKERS: Mapping[str, RoundingChecker] = {"bounds": bounds_rounding, "follows": follows_rounding}


@dataclass
class Outcome:
    """How many cases were judged, how many each checker certified, and the findings."""

    cases: int = 0
    certified: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def survey(
    families: Sequence[str], most: int, seed: int, checkers: Mapping[str, RoundingChecker] = CHECKERS
) -> Outcome:
    """Judges up to so many cases of each family."""
    outcome = Outcome()
    for family in families:
        for number, (wired, automaton) in enumerate(islice(FAMILIES[family](random.Random(seed)), most)):
            outcome.cases += 1
            for name, checker in checkers.items():
                if (promise := checker(wired, automaton)) is None:
                    continue
                outcome.certified[name] += 1
                for text in texts(wired, automaton):
                    answers = {k for k, (_, label) in enumerate(text, start=1) if label in automaton.answers}
                    if wrong := contradictions(wired, promise, [token for token, _ in text], answers):
                        words = " ".join(wired.vocabulary[token] for token, _ in text)
                        outcome.findings.append(f"{family} {number}, {name}: certified; on {words!r}, {wrong[0]}")
                        break
    return outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints each finding; returns the exit status."""

    def judge(families: Sequence[str], most: int, seed: int) -> Sequence[str]:
        outcome = survey(families, most, seed)
        counts = ", ".join(f"{count} certified by {name}" for name, count in outcome.certified.items())
        print(f"{outcome.cases} cases; {counts or 'none certified'}; {len(outcome.findings)} wrongly", file=sys.stderr)
        return outcome.findings

    return run(
        "tests.survey.rounding", __doc__ or "", FAMILIES, ("--cases", DRAWN, "of each family at most"), judge, arguments
    )


if __name__ == "__main__":
    sys.exit(main())
