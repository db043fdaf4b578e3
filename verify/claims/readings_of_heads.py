"""How the attention models of Theorems 4.6 and 5.6 were read where they fail as printed: finding by finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constructions import counting
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.retrieval.retriever import TIED_HEAD
from constructions.wiring.finding import Finding
from verify.framework.claim import Kind, Reading, Verdict

TWO_BLOCKS = "4.6/counting-two-blocks"
Told = tuple[Kind, tuple[Reading, ...]]


def tied_head() -> Told:
    """Number i scores i times the output's first entry, whatever the output is."""
    return Kind.FALSE, (
        Reading("the output of appendix C.6.2, n[−v, 1, −1, …, −1], for the number v", False),
        Reading("any other output vector: number i scores i times its first entry", False, "3.2/tied-head"),
    )


def told(id: str, stem: str) -> Told:
    """Of one finding, and the model whose repaired form shows the reading that works."""
    if id == TIED_HEAD.id:
        return tied_head()
    if id == INDICATOR.id:
        return Kind.SLIP, (
            Reading("1[position = 1] by the matrices of Lemma C.3", False),
            Reading("the indicator with the right signs", True, stem, "the written-out form of Lemma C.3"),
        )
    if id == COUNT.id:
        return Kind.SLIP, (
            Reading("COUNT by the printed K and Q of Lemma C.14", False),
            Reading("keys and queries that give its printed score", True, stem, "the score in Lemma C.14"),
        )
    if id == counting.MARGIN.id:
        return Kind.OPEN, (
            Reading("the rounded (k + 1)·ROUND(1/(m + 1)) is compared with exactly 1", False),
            Reading("it is compared with a threshold below 1, with a margin as Lemma C.5 has one", True, stem),
        )
    if id == counting.SELF_COUNT.id:
        inside = Reading("the keys are the tokens of the sequence", True, stem)
        earlier = Reading("the count is taken at the query's token, before the threshold", True, TWO_BLOCKS)
        all_tokens = (
            "every token is a key, and k + 2 makes up for the query itself; a threshold of the same number is counted"
        )
        return Kind.OPEN, (Reading(all_tokens, False), inside, *([earlier] if stem.startswith("4.6") else []))
    raise ValueError(f"nobody has read {id}")


def verdict(findings: Sequence[Finding], stem: str) -> dict[str, Any]:
    """What is expected of a model with these findings put back to print, and why.

    The printed score factors alone are right where they fit.
    """
    left = [finding.id for finding in findings if finding.id != SCORE_RANGE.id]
    if not left:
        return {}
    if len(findings) == 1:
        kind, readings = told(left[0], stem)
        return {"expected": Verdict.REFUTED, "kind": kind, "readings": readings, "slip": left[0]}
    if TIED_HEAD.id in left:
        kind, readings = tied_head()
        return {"expected": Verdict.REFUTED, "kind": kind, "readings": readings, "slip": TIED_HEAD.id}
    readings = (
        Reading("both slips as printed, those of Lemmas C.3 and C.14", False),
        Reading("both set right, and the rest filled in", True, stem, "beside each of them, in Lemmas C.3 and C.14"),
    )
    return {"expected": Verdict.REFUTED, "kind": Kind.SLIP, "readings": readings, "slip": COUNT.id}
