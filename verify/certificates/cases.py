"""Writes certificates of all large n, in cases of n, which `verify/trusted/cases.py` checks.

Nothing here is trusted. Each case is a way through the builder and the finder, whose comparisons split it. The certificate
keeps the splits, and in each case the weights and a certificate of rounding, whose numbers depend on n.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from verify.algebra.quotients import Unanswered
from verify.algebra.walks import Walk
from verify.trusted.growing import Case, Interned, text_of
from verify.trusted.kernel import Rejected


class WalkCase(Case):
    """The case that a walk comes to: what is not seen in it splits it."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk.nodes[0].box)
        self.walk, self.may_split = walk, True
        self.follow()

    def follow(self) -> None:
        """Goes on to the part that the walk has come to."""
        case = Case(self.walk.nodes[0].box)
        for fork in self.walk.forks:
            case = case.parts(fork.split)[0 if fork.answer else 1]
        self.box = case.box
        self.answers = {question: one for question, one in self.answers.items() if one is not None}
        self.wholes = {}

    def ask(self, polynomial: Interned, relation: str) -> bool:
        """Returns the answer of the part into which the walk turns. Raises Rejected where it has none."""
        if not self.may_split:
            raise Rejected(f"the case needs a split: {text_of(polynomial)} {relation} 0")
        try:
            answer = self.walk.holds(polynomial, relation)
        except Unanswered as error:
            raise Rejected(str(error)) from error
        self.follow()
        if self.decide(polynomial, relation) is not answer:
            raise Rejected(f"not seen by the small checker: {text_of(polynomial)} {relation} 0: {answer}")
        return answer


@contextmanager
def splits(case: Case | None, allowed: bool) -> Iterator[None]:
    """Lets questions split a case, or not: a rule that needs none is better than one that does."""
    if not isinstance(case, WalkCase):
        yield
        return
    before, case.may_split = case.may_split, allowed
    try:
        yield
    finally:
        case.may_split = before
