"""What searches find, in texts of any length: patterns against the terms that say it, as automata."""

from __future__ import annotations

from constructions.models.search import FAILED
from constructions.retrieval.task import NO, YES, Question
from verify.claims.models import of_retrieval
from verify.claims.questions import every_question
from verify.dossiers.dossier import LEAST, Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import MODELS, RETRIEVERS
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claims
from verify.oracles.counts import questions
from verify.patterns.pattern import MOST_REPEATED
from verify.patterns.texts import Comparison

DOCUMENTED = (
    "A letter may stand for each numeral: a pattern's numeral matches whole ones alone, as no digit can stand beside it there. In "
    "longer texts too `re` finds what its documentation says."
)
REPEATED = (
    "Patterns that are alike but for how often a part is repeated are parsed alike, up to what `re` takes, "
    f"{MOST_REPEATED} times."
)
FINDS = (
    "After any sequence and any query, of any length and any numbers, a search that does what Python documents finds what the "
    "task asks for; and after short ones Python's `re` does."
)
NUMBERS, LONGEST = (1, 11, 12), 4  # of which one is another's first or last digit
THRESHOLDS = NUMBERS[-1]


def as_documented(comparison: Comparison) -> Counterexample | None:
    """Returns a text in which the pattern and the term find different words; the marked word is one of these."""
    if not (found := comparison.difference()):
        return None
    marked = "" if found.marked is None else found.words[found.marked]
    return Counterexample(text=list(found.words), marked=marked, number=found.number)


def _searches(subject: Subject) -> dict[str, Comparison]:
    searches = subject.dossier.searches(subject) or {}
    return {name: search for name, search in searches.items() if isinstance(search, Comparison)}


@claims("task", RETRIEVERS, lambda task: of_retrieval(task, "rag").claim("found", f"{task}, rag: {FINDS}"))
def test_found(check: Check, task: str) -> None:
    subject = find_subject(task, LEAST, model="rag")
    retriever, comparisons = MODELS[task, "rag"], _searches(subject)
    asked = retriever.query_length

    def as_the_task(question: Question) -> Counterexample | None:
        found, right = retriever.thoughts(question, frozenset())[-1], retriever.task.answer(question)
        if right in (YES, NO):
            found = NO if found == FAILED else YES
        return None if found == right else Counterexample(expected=right, found=found)

    def in_every_text(search: str) -> Counterexample | None:
        return as_documented(comparisons[search])

    check.exhaustive(
        every_question(task, NUMBERS, LONGEST, THRESHOLDS, asked),
        as_the_task,
        count=questions(task, LONGEST, len(NUMBERS), THRESHOLDS, asked),
        range=f"sequences of up to {LONGEST} of the numbers 1, 11 and 12, every query"
        + f", thresholds up to {THRESHOLDS}" * (task == "counting")
        + "; against the oracle",
        size=lambda question: len(question.sequence),
    )
    check.exhaustive(
        comparisons,
        in_every_text,
        count=len(comparisons),
        range=f"the pattern against the task's definition, as automata: every text; a query of {', '.join(comparisons)}",
    )
    counts = any(comparison.reading.counts for comparison in comparisons.values())
    check.argued(f"{DOCUMENTED} {REPEATED}" if counts else DOCUMENTED)
