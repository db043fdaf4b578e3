"""How the searches of Theorems 5.2 to 5.4, and the records of 5.8, were read: what fails, and what works, finding by finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constructions import counting, index
from constructions.istree import searches
from constructions.retrieval.grams import BOUNDARIES
from constructions.retrieval.rag import SPACED_COUNT
from constructions.turing import hybrid, rag
from constructions.wiring.finding import Finding
from verify.framework.claim import Claim, Kind, Reading


@dataclass(frozen=True)
class FindingReading:
    """Of one finding. slip: the one slip that it comes from, if others do as well."""

    kind: Kind
    readings: tuple[Reading, ...]
    slip: str = ""


def _blanks(shown: str) -> FindingReading:
    """Returns a blank that is missing after a sign, in our transcription at least: blanks beside formulas are lost."""
    readings = (
        Reading("no blank after the sign, as transcribed; the print may have one", False),
        Reading("a blank on both sides of the sign", True, shown),
    )
    return FindingReading(Kind.OPEN, readings, "blanks")


WALK = "5.3/istree/searches"
OF_FINDINGS: Mapping[str, FindingReading] = {
    index.CHARACTERS.id: FindingReading(
        Kind.SLIP,
        (
            Reading(r"\S is one character, and a token may have two digits", False),
            Reading(
                r"\S+ for \S, a whole token", True, "5.2/index", "the next search of the theorem, which has (\\S+)"
            ),
            Reading(
                "each token is one character, as decimal digits are, which section 3 allows, and no <s> stands in front",
                True,
                "5.2/index/digits",
            ),
        ),
        "characters",
    ),
    SPACED_COUNT.id: FindingReading(
        Kind.OPEN,
        (
            Reading("the number of repetitions is a word between two others: { 3 }, joined by blanks", False),
            Reading("a word spells the whole repetition, about n words more: 5.2/index-words", True, "5.2/index"),
            Reading("the same, about n words more: 5.2/counting-words", True, "5.2/counting"),
        ),
    ),
    counting.ADJACENT.id: FindingReading(
        Kind.SLIP,
        (
            Reading(
                "as printed, wherever the blanks stand: nothing matches what stands between two occurrences", False
            ),
            Reading(
                "something between two occurrences that any tokens match, in the sequence alone",
                True,
                "5.2/counting",
                "the obvious form; Algorithm 2 has .*? for such a gap",
            ),
        ),
    ),
    BOUNDARIES.id: FindingReading(
        Kind.OPEN,
        (
            Reading("a blank between \\b and the first token, and <s> spelled with brackets", False),
            Reading("no blank there: one key", True, "5.2/recall/search"),
            Reading("no blank there: c − 1 keys", True, "5.2/ngram/search"),
        ),
    ),
    searches.FATHER_SPACES.id: _blanks(WALK),
    searches.RECORD_SPACES.id: _blanks(WALK),
    searches.EDGE_SPACES.id: _blanks(WALK),
    searches.TWO_GROUPS.id: FindingReading(
        Kind.SLIP,
        (
            Reading("group(1), which takes no part where the second alternative matches", False),
            Reading("one group around the neighbour in either place", True, "5.3/istree", "the obvious form"),
            Reading(
                "brackets around the two alternatives, and the group that took part is returned",
                True,
                WALK,
                "the obvious form; section 5.1 says `the first capturing group`",
            ),
        ),
    ),
    searches.EDGE_GROUP.id: FindingReading(
        Kind.SLIP,
        (
            Reading("the walked edge stands in the first group, which is what a search returns", False),
            Reading("(?: … ) around the walked edge", True, WALK, "the search of Index, which has (?: … )"),
        ),
    ),
    rag.FIRST_WRITE.id: FindingReading(
        Kind.SLIP,
        (
            Reading(
                "as printed, with or without an outer group, .*?$ or .*$ at the end: the leftmost match is found", False
            ),
            Reading(
                "^.* in front", True, "5.4/search", "the obvious form; Lemma C.31 beside it asks for the last record"
            ),
        ),
    ),
    rag.WHOLE_GROUP.id: FindingReading(
        Kind.OPEN,
        (
            Reading("the proof's outer group, which is then group(1)", False),
            Reading("no outer group, as in the main text", True, "5.4/search"),
        ),
    ),
    rag.CHARACTERS.id: FindingReading(
        Kind.SLIP,
        (
            Reading("{i} after a dot, so that it repeats one character", False),
            Reading(
                r"^(?:\S+\s*){i}(\S)",
                True,
                "5.4/prompt-search",
                "the main text, which takes the search of Index, where {…} stands after the group; (\\S+) in the same section",
            ),
        ),
        "characters",
    ),
    hybrid.OWN_RECORD.id: FindingReading(
        Kind.OPEN,
        (
            Reading("a record counts from its second P on", False),
            Reading("a record counts from the step's last token on", True, "5.8"),
        ),
    ),
    hybrid.CELL_ZERO.id: FindingReading(
        Kind.OPEN,
        (
            Reading("the key is the cell alone, and 0 where there is no record", False),
            Reading(
                "the key is two registers, which MatchClose allows: 1 where a symbol is recorded, and the cell",
                True,
                "5.8/marked-key",
            ),
            Reading("the key is the cell plus a number that makes every cell positive", True, "5.8"),
        ),
    ),
}


def options_of_findings(findings: Iterable[Finding]) -> dict[str, Any]:
    """Returns kind, readings and slip of a claim with these findings put back to print. Of several: a slip if one of them is."""
    read = [OF_FINDINGS[finding.id] for finding in findings if finding.id in OF_FINDINGS]
    if not read:
        return {}
    chief = next((one for one in read if one.kind is Kind.SLIP), read[0])
    readings = dict.fromkeys(reading for one in read for reading in one.readings)
    return {"kind": chief.kind, "readings": tuple(readings), "slip": chief.slip}


def as_printed_text(findings: Sequence[Finding]) -> str:
    """Returns the sentence of a statement that says which lines are as printed: one in its words, several by their names."""
    if len(findings) == 1:
        return f"As printed: {findings[0].printed}."
    return f"All these lines as printed: {', '.join(finding.id for finding in findings)}."


def as_printed(theorem: str, task: str, source: str, statement: str, findings: Sequence[Finding]) -> Claim:
    """Returns the claim with these findings as printed: one alone, or all."""
    more = options_of_findings(findings)
    text = f"{statement} {as_printed_text(findings)}"
    if len(findings) != 1:
        return Claim.about(theorem, task, "printed", source, text, variant="printed", **more)
    (finding,) = findings
    return Claim.about(theorem, task, finding.id, finding.source, text, finding=finding.id, **more)
