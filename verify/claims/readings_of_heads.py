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
from verify.framework.claim import Kind, Reading

TWO_BLOCKS = "4.6/counting-two-blocks"
AT_LEAST = "at-least"
Told = tuple[Kind, tuple[Reading, ...]]


TIED_HEAD_ID = "3.2/tied-head"
SHARED_LEAD, SECOND_COORDINATE, UNIT_WORDS = (f"{TIED_HEAD_ID}-{what}" for what in ("first", "second", "unit"))
EMBEDDED = "Number i embeds as i·w_1, the embedding is the output head, and the output is n[−v, 1, −1, …, −1] of appendix C.6.2."


def tied_outputs(shown: str = "", stem: str = "4.6/index", *, of_model: bool = True) -> tuple[Reading, ...]:
    """Returns the readings of logits in which number i scores i times the output's first entry, whatever the output is.

    shown: the claim that shows so. stem: the model with another embedding. of_model: whether the row is about a model, of which the
    other changes show the head alone.
    """
    head = "the head alone: " if of_model else ""
    other = Reading(
        "number i embeds as (i, i²), and the output (2v, −1) is tied to it",
        True,
        stem,
        changes="the embedding of numbers",
    )
    return (
        Reading("the output of appendix C.6.2, n[−v, 1, −1, …, −1]: number i has −n·v·i, so 1 is the likeliest", False),
        Reading(
            "any output: the logits of v − 1, v and v + 1 are in arithmetic progression, and rounding keeps their order, so v alone"
            " is never the likeliest",
            False,
            shown,
        ),
        Reading(
            f"{head}v … n saturate together, v − 1 does not, and a tie goes to the first word, as A.4 is filled in here",
            True,
            SHARED_LEAD,
            changes="C.6.2's output, and “peaked at the correct output token”: v shares the lead with larger numbers",
        ),
        Reading(
            f"{head}one sign of C.6.2's output turned, and its second coordinate used: (+v, 1) against (i, −i²/2)",
            True,
            SECOND_COORDINATE,
            changes="a sign of the output, and the second coordinate of a number's word",
        ),
        Reading(
            f"{head}words of one length: digits with a coordinate each, as a remark of section 3 allows, or points of a circle, as"
            " appendix B may have them",
            True,
            UNIT_WORDS,
            changes="the embedding of numbers",
        ),
        other,
    )


def indicator(shown: str) -> tuple[Reading, ...]:
    """Returns the readings of a row that Lemma C.3's matrix makes wrong. shown: the claim about the same with our indicator."""
    return (
        Reading("the matrices of Lemma C.3, W3 = 10[1, −1, −1, 1]", False),
        Reading(
            "the signs as written out, W3 = 10[1, −1, 1, −1], with corners in R_p: 8, 5/8 and 3/8 for 10, 0.6 and 0.4",
            True,
            "C.3/written-out-dyadic",
            "the form written out beside the matrices",
        ),
        Reading("another indicator with the right signs: ours", True, shown),
    )


def threshold(more: tuple[Reading, ...] = ()) -> tuple[Reading, ...]:
    """Returns the readings of a row that Lemma C.5's written-out form makes wrong."""
    return (
        Reading("the written-out form, (2/ε)(ReLU(x − u − ε) − ReLU(x − u + 0.5))", False),
        Reading(
            "the matrices, W3's first two entries: (2/ε)(ReLU(x − u + ε) − ReLU(x − u + ε/2))",
            True,
            "C.5/printed",
            "the matrices of the same lemma",
        ),
        *more,
    )


def count(shown: str) -> tuple[Reading, ...]:
    """Returns the readings of a row that Lemma C.14's K and Q make wrong."""
    return (
        Reading("K = n[1 + 1[k'=1], X, X²], Q = [X², −X, 1], as printed", False),
        Reading(
            "K and Q that give the printed score, such as n[X², X, 1 − 1[k'=1]] and [−1, 2X, −X²]",
            True,
            shown,
            "the score −n(X' − X)² + n·1[k' = 1]X² of the same lemma",
        ),
    )


def at_least_readings(stem: str) -> tuple[Reading, ...]:
    """Returns the readings of "at least k" in Counting's rows; three sentences of the paper say so. stem: the repaired model."""
    if not stem.endswith("/counting"):
        return ()
    return (
        Reading("“at least k”, which is more than k − 1: the same line fails, one threshold higher", False),
        Reading("“at least k”, asked as more than k − 1, with the rest repaired", True, f"{stem}-{AT_LEAST}"),
    )


def readings_of_finding(id: str, stem: str) -> Told:
    """Returns the readings of one finding, and the model whose repaired form shows the reading that works."""
    if id == TIED_HEAD.id:
        return Kind.FALSE, tied_outputs(TIED_HEAD_ID, stem)
    if id == INDICATOR.id:
        return Kind.SLIP, (*indicator(stem), *at_least_readings(stem))
    if id == COUNT.id:
        return Kind.SLIP, (*count(stem), *at_least_readings(stem))
    if id == counting.MARGIN.id:
        return Kind.OPEN, (
            Reading("the rounded (k + 1)·ROUND(1/(m + 1)) is compared with exactly 1", False),
            Reading(
                "numbers are p-bit floating point: (k + 1)·ROUND(1/(k + 1)) lies below 1 as well, with 24 digits at k + 1 = 41",
                False,
            ),
            Reading("it is compared with a threshold below 1, with a margin as Lemma C.5 has one", True, stem),
            *at_least_readings(stem),
        )
    if id == counting.SELF_COUNT.id:
        inside = Reading("the keys are the tokens of the sequence", True, stem)
        earlier = Reading("the count is taken at the query's token, before the threshold", True, TWO_BLOCKS)
        all_tokens = (
            "every token is a key, and (k + 2)/(m + 2) < 1 makes up for the query itself; a threshold of the same number is"
            " counted"
        )
        at_least = Reading(
            "“at least k”: (k + 1)/(m + 2) < 1, where the query's own occurrence needs no correction; a threshold of the same"
            " number is counted too",
            False,
        )
        _, asked_less = at_least_readings(stem)
        more = [earlier] if stem.startswith("4.6") else []
        return Kind.OPEN, (Reading(all_tokens, False), at_least, inside, asked_less, *more)
    raise ValueError(f"nobody has read {id}")


def verdict(findings: Sequence[Finding], stem: str) -> dict[str, Any]:
    """Returns what is expected of a model with these findings put back to print, and why.

    The printed score factors alone are right where they fit, as far as tried.
    """
    left = [finding.id for finding in findings if finding.id != SCORE_RANGE.id]
    if not left:
        return {}
    if len(findings) == 1:
        kind, readings = readings_of_finding(left[0], stem)
        return {"kind": kind, "readings": readings, "slip": left[0]}
    if TIED_HEAD.id in left:
        readings = tied_outputs(TIED_HEAD_ID, stem)
        if INDICATOR.id in left:  # by it the model answers FAILED before its head is asked
            readings = (
                *readings,
                Reading("with C.3 set right the tied head still fails", False, f"{stem}/{TIED_HEAD.id}"),
            )
        return {"kind": Kind.FALSE, "readings": readings, "slip": TIED_HEAD.id}
    readings = (
        Reading("both slips as printed, those of Lemmas C.3 and C.14", False),
        Reading("both set right, and the rest filled in", True, stem, "beside each of them, in Lemmas C.3 and C.14"),
        *at_least_readings(stem),
    )
    return {"kind": Kind.SLIP, "readings": readings, "slip": COUNT.id}
