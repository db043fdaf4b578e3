"""Lemmas that no search here can judge. The ledger lists them as not judged, with the reason."""

from __future__ import annotations

from verify.framework.check import Check
from verify.framework.claim import claim


@claim(
    "C.25",
    statement="If PSPACE is not in P/poly, a problem on padded inputs is in linear space and beyond circuits of polynomial size.",
)
def test_padding(check: Check) -> None:
    check.leave(
        "it is about complexity classes; of Theorem 4.1, the simulation of machines is judged, not what follows from it"
    )


@claim("C.30", statement="The statement is lost in our copy of the paper.")
def test_lost_lemma(check: Check) -> None:
    check.leave("our copy of the paper has the number, and not the sentence")
