"""Judges a checker by pairs: `python -m tests.survey.pairs [FAMILY …] [--pairs N] [--seed S]`, one line a finding.

A pair is a small program A, compiled, and a definition B, which is A with a single change. If the checker certifies that the
weights say B, then they say B on each text up to n. The exact machine says what the weights say; the interpreter says what B says.
Neither shares code with the checker.
Exit status: 0 nothing was found, 1 something was, 2 a wrong option.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from constructions.language.program import Program
from constructions.language.terms import Answer
from tests.survey import handmade, programs
from tests.survey.changes import changes_of
from tests.survey.checkers import ProgramChecker, explains
from tests.survey.command import run
from tests.survey.weights import Weights, compiled
from verify.programs.text import told_answer

ALL_PAIRS = 3000
WORDS = ("yes", "no")


def _compile(of: Callable[[random.Random], Iterator[Program]]) -> Callable[[random.Random], Iterator[Weights]]:
    return lambda draw: compiled(of(draw))


FAMILIES: Mapping[str, Callable[[random.Random], Iterator[Weights]]] = {
    **{name: _compile(of) for name, of in programs.FAMILIES.items()},
    **{f.__name__: f for f in (handmade.ties, handmade.cycles)},
}


@dataclass
class Outcome:
    """How many pairs were tried, certified, and different; and the findings, one line each."""

    pairs: int = 0
    certified: int = 0
    different: int = 0
    findings: list[str] = field(default_factory=list)

    def add(self, family: str, answer: Answer, difference: str, certified: bool) -> None:
        """Counts a pair; notes a finding if it is certified and different."""
        self.pairs += 1
        self.certified += certified
        self.different += bool(difference)
        if certified and difference:
            self.findings.append(f"{family}: certified is {told_answer(answer)}; {difference}")


def drawn(families: Sequence[str], draw: random.Random) -> Iterator[tuple[str, Weights]]:
    """Yields weights with the name of their family, of each family in turn."""
    waiting = [(family, FAMILIES[family](draw)) for family in families]
    while waiting:
        for item in [*waiting]:
            family, all_weights = item
            if (weights := next(all_weights, None)) is None:
                waiting.remove(item)
            else:
                yield family, weights


def survey(
    all_weights: Iterable[tuple[str, Weights]],
    most: int,
    draw: random.Random,
    checker: ProgramChecker = explains,
    each: int = 40,
    stop: bool = False,
) -> Outcome:
    """Judges up to so many pairs. each: the most changes of one definition; stop: at the first finding."""
    outcome = Outcome()
    for family, weights in all_weights:
        certifies = checker(weights.wired, weights.program)
        changed = [*changes_of(weights.answer, WORDS)]
        answers = (weights.answer, *weights.definitions, *draw.sample(changed, min(each, len(changed))))
        for answer in answers:
            if outcome.pairs == most or (stop and outcome.findings):
                return outcome
            outcome.add(family, answer, weights.difference(answer), certifies(answer))
    return outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints each finding; returns the exit status."""

    def judge(families: Sequence[str], most: int, seed: int) -> Sequence[str]:
        draw = random.Random(seed)
        outcome = survey(drawn(families, draw), most, draw)
        print(
            f"{outcome.pairs} pairs, of which {outcome.different} differ; {outcome.certified} certified, "
            f"{len(outcome.findings)} of them wrongly",
            file=sys.stderr,
        )
        return outcome.findings

    return run(
        "tests.survey.pairs", __doc__ or "", FAMILIES, ("--pairs", ALL_PAIRS, "how many at most"), judge, arguments
    )


if __name__ == "__main__":
    sys.exit(main())
