"""Is the p that a model is wired for more than it needs? Hard inputs that fail a few bits below it.

Source: Theorems 4.6 and 4.7, whose "O(log n) bits" leaves the constants open. `python -m verify.precision` looks at every p.
"""

from __future__ import annotations

from functools import partial

from verify.bits.search import emulate, first_failure
from verify.bits.subjects import BitsSubject, find_subject
from verify.claims.models import ISTREE, ISTREE_LEAN, of_retrieval
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims

# By how many bits less than the p(n) of its formula a model fails at the latest.
GAPS = {
    find_subject("index"): 8,
    find_subject("recall"): 6,
    find_subject("ngram"): 6,
    find_subject("counting"): 8,
    find_subject("istree"): 6,
    find_subject("istree", "lean"): 2,
}
LARGEST = {"repaired": 64, "lean": 256}  # beyond, runs take long
RATIO = 4  # of a size to the one before


def ladder(subject: BitsSubject, top: int) -> list[int]:
    """Returns the sizes that are looked at: the least with a hard input, four times as many while there are, and the top."""
    sizes = [subject.dossier.least_hard or 1]
    while (n := sizes[-1] * RATIO) < top:
        sizes.append(n)
    return [*sizes, top] if sizes[-1] < top else sizes


def claim_of(subject: BitsSubject) -> Claim:
    """Returns the claim about one model."""
    gap = GAPS[subject]
    at = "p(n) − 2" if gap == 2 else f"one of the p from p(n) − {gap} to p(n) − 2"
    sizes = ", ".join(map(str, ladder(subject, LARGEST[subject.variant])))
    statement = f"Fewer bits are too few at n = {sizes}: at {at} a hard input fails."
    if subject.construction != "istree":
        return of_retrieval(subject.construction).claim("least-bits", statement)
    told = ISTREE_LEAN if subject.variant == "lean" else ISTREE
    return told.claim("least-bits", statement, source=f"Theorem {told.theorem}")


def fails_below(subject: BitsSubject, gap: int, n: int) -> Counterexample | None:
    """Returns None if a hard input fails at one of these p, else the counterexample to the claim that one does."""
    wired_for, cases = subject.wired_for(n), subject.cases(n)
    for precision_bits in range(wired_for - 2, wired_for - gap - 1, -2):
        wired = subject.build(n, precision_bits)
        if first_failure(wired, cases, emulate(wired.model, wired.arithmetic)) is not None:
            return None
    return Counterexample(wired_for=wired_for, no_failure_down_to=wired_for - gap)


@claims("subject", GAPS, claim_of)
def test_few_bits_less_are_too_few(check: Check, subject: BitsSubject) -> None:
    check.sizes(subject.dossier.least_hard or 1)  # or skips
    sizes = [n for n in ladder(subject, LARGEST[subject.variant]) if n <= check.n_max]
    check.within(*map(str, sizes))
    check.chosen(
        sizes,
        partial(fails_below, subject, GAPS[subject]),
        range=f"n = {', '.join(map(str, sizes))}",
        precision="p(n) − 2, fused" if GAPS[subject] == 2 else f"p(n) − {GAPS[subject]} … p(n) − 2, fused",
    )
