"""A construction's model for any n, wired with a few of its numbers; the polynomials that these lie on describe the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from constructions import counting, index, ngram, recall
from constructions.istree import lean, transformer
from constructions.istree.graphs import Layout
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.retrieval.retriever import Plan, Retriever
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, printed_precision
from precision.format import Arithmetic, Discipline, fixed_point
from verify.certificates import language
from verify.certificates.domains import Undecided
from verify.certificates.language import Language
from verify.certificates.model import Model, at_size, line_through, planned

LEAST = 4
FEW = 5  # numbers that are wired: more than fix a quadratic polynomial
RETRIEVERS: dict[str, Retriever] = {
    module.TRANSFORMER.task.name: module.TRANSFORMER for module in (index, recall, ngram, counting)
}
COVERED = (*RETRIEVERS, "istree")


@dataclass(frozen=True)
class Subject:
    """Which model, and which inputs. length: the most tokens of a sequence, by default n.

    precision_bits: by default the least. layout: of a graph's tokens. lean: the variant of istree.
    """

    construction: str
    n: int
    length: int | None = None
    precision_bits: int | None = None
    discipline: Discipline = Discipline.FUSED
    printed: tuple[str, ...] = ()
    query_length: int | None = None
    layout: Layout = "paper"
    lean: bool = False


def findings_of(construction: str) -> Sequence[Finding]:
    """What a construction can put back to print."""
    return transformer.FINDINGS if construction == "istree" else RETRIEVERS[construction].findings


def precision_of(subject: Subject) -> int:
    """The p that is asked for, or the one that the model is built with."""
    if subject.precision_bits is not None:
        return subject.precision_bits
    if SCORE_RANGE.id in subject.printed:
        return printed_precision(subject.n)
    if subject.lean:
        return lean.least_precision(subject.n, subject.discipline, layout=subject.layout)
    if subject.construction == "istree":
        return transformer.least_precision(subject.n, subject.discipline)
    retriever = RETRIEVERS[subject.construction]
    return retriever.least_precision(subject.n, subject.discipline, query_length=subject.query_length)


def build(subject: Subject) -> tuple[Model, Language]:
    """The model and its inputs. Raises ValueError for a subject that makes no sense, Undecided for one beyond the rules."""
    if subject.n < LEAST or (subject.length or LEAST) < LEAST:
        raise Undecided(
            "the input",
            f"n and the length must be at least {LEAST}: below, a rule cannot tell a number from a position",
        )
    return model_of(subject), language_of(subject)


def language_of(subject: Subject) -> Language:
    """The inputs."""
    n = subject.n
    if subject.construction == "istree":
        return language.istree(n, n, subject.layout)
    asked = subject.query_length or RETRIEVERS[subject.construction].query_length
    return language.retrieval(subject.construction, n, subject.length or n, asked)


def model_of(subject: Subject) -> Model:
    """The model, for any n from 1 on. Raises ValueError for a subject that makes no sense."""
    n, few, chosen = subject.n, min(subject.n, FEW), frozenset(subject.printed)
    fmt = fixed_point(precision_of(subject))
    if subject.lean:
        embedding, blocks = lean.plan(n, fmt, layout=subject.layout, vertices=few)
    elif subject.construction == "istree":
        embedding, blocks = transformer.plan(n, fmt, layout=subject.layout, printed=chosen, vertices=few)
    else:
        retriever = RETRIEVERS[subject.construction]
        asked = subject.query_length or retriever.query_length
        plan = Plan(Setting(n, retriever.sequence_length(n, asked), fmt), asked, chosen)
        embedding = retriever.embedding(replace(plan, setting=replace(plan.setting, n=few)), retriever.task)
        blocks = tuple(retriever.blocks(plan))
    arithmetic = Arithmetic(fmt, subject.discipline)
    return planned(embedding, blocks, arithmetic, few, n, rounded=bool(chosen))


def compared(low: int, high: int) -> list[int]:
    """Sizes of an interval: both ends, those beside them and the middle."""
    return sorted({low, min(low + 1, high), (low + high) // 2, max(high - 1, low), high})


def between(subject: Subject, low: int, high: int) -> tuple[Model, Language]:
    """One model for all sizes from low to high, with n an atom of its weights and inputs. Raises ValueError if there is none.

    It is held against the models of the sizes in `compared`.
    """
    first, last = (build(replace(subject, n=n))[0] for n in (low, high))
    model = line_through(first, low, last, high) if low < high else first
    for n in compared(low, high):
        if model is None or build(replace(subject, n=n))[0].layers != at_size(model, n).layers:
            raise ValueError(f"the weights of n = {low} … {high} are no affine forms of n")
    assert model is not None
    sized = replace(model, numbers=replace(first.numbers, high=high))
    if subject.construction == "istree":
        return sized, language.istree(low, high, subject.layout)
    return sized, build(replace(subject, n=high))[1]  # the inputs of the largest size contain those of all others
