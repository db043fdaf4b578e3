"""One program for every n of an interval: n is a symbol in the weights, in the inputs and in the task.

The extraction and the comparison are those of one n. What they ask of a number that depends on n (is it positive, is it above
another one) is answered as at the interval's least n, and the interval is cut to where the answer is proved to be the same; what is
left of it is explained anew. So each rule is applied where its conditions hold for every n, and what it replaces by an equal term
is equal for every n.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from constructions.language.terms import fraction
from constructions.rows import Weight
from verify.algebra.domains import SIZE, OtherMatrices
from verify.algebra.interval import of_form, symbol
from verify.algebra.polynomial import Polynomial, constant
from verify.automata.token_automaton import Bound, Consecutive, TokenAutomaton
from verify.certificates.above import Say, whole
from verify.certificates.building import ModelSizes, Sizes, at_size, automaton_of, chosen_sizes, families_of
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, Judged, changed, subject_of, with_origin
from verify.certificates.ranges import parts
from verify.dossiers.dossier import Json, Subject
from verify.programs.document import document_head, explained, explanation
from verify.rounding.model import ExactModel, vocabulary

TOLD = ("verdict", "where", "what", "answers", "task", "assumed_invariants", "value")


@dataclass(frozen=True)
class ProgramInterval(Sizes):
    """Sizes that have this document, in which numbers may depend on n; digest: of their weights and precisions."""

    digest: str
    document: Json


def explanations(
    subject: Subject, tell: Callable[[ProgramInterval], object] = lambda _: None, say: Say = lambda _: None
) -> Json:
    """Returns the document; of a subject for many n: of each interval the verdict, up to one that is not certified, and of all n
    above.

    The answers are those of the last interval. tell: called with each; say: told of each case above. Raises ValueError for a
    subject that makes no sense.
    """
    if not subject.last or subject.n < subject.dossier.least:
        return with_origin(explanation(replace(subject, last=0)), subject)
    summary: Json = {**document_head(subject), "intervals": []}
    for interval in intervals(subject):
        tell(interval)
        document = interval.document
        one = {interval.of: [str(interval.low), str(interval.high)], "weights_sha256": interval.digest}
        summary["intervals"].append({**one, **{key: document.get(key, "") for key in ("program_sha256", "verdict")}})
        summary |= {key: document[key] for key in TOLD if key in document}
        if summary["verdict"] != CERTIFIED:
            summary["where"] = f"{interval.text}, {document['where']}"
    return with_origin(whole(summary, subject, as_defined, say=say), subject)


def as_defined(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Json:
    """Returns whether program and definition agree, where n stands for each n of a case."""
    document = explained(subject, model, automaton)
    assumed = {"assumed_invariants": document.get("assumed_invariants", [])}
    return {**{key: document.get(key, "") for key in ("verdict", "where", "what", "program_sha256")}, **assumed}


def differences(
    document: Mapping[str, Any], tell: Callable[[ProgramInterval], object] = lambda _: None, say: Say = lambda _: None
) -> list[str]:
    """Returns the fields in which a stored document is not what the weights say now. Raises ValueError for one that is none."""
    return changed(document, explanations(subject_of(document), tell, say))


def intervals(subject: Subject) -> Iterator[ProgramInterval]:
    """Covers all n of the subject, up to where cases begin, or the few cells that are looked at alone.

    What is not certified is the last one.
    """
    low = subject.n
    try:
        for interval in _of_sizes(subject) if subject.counts_n else _of_cells(subject):
            low = interval.high + 1
            yield interval
            if interval.document["verdict"] != CERTIFIED:
                return
    except OtherMatrices as refused:  # the matrices that users get
        document = {**document_head(at_size(subject, low)), **Judged.at(refused).told}
        yield ProgramInterval(low, low, subject.unit, "", document)


def _of_sizes(subject: Subject) -> Iterator[ProgramInterval]:
    """Parts that differ in p alone are one: p is nothing to exact arithmetic."""
    for _, same in groupby(parts(subject), key=lambda part: (vocabulary(part.model), part.model.layers)):
        group = [*same]
        digest = _digest(*group)
        for interval in pieces(replace(subject, last=0), group[0].model, group[0].low, group[-1].high):
            yield replace(interval, digest=digest)


def _of_cells(subject: Subject) -> Iterator[ProgramInterval]:
    for part in parts(subject):
        document = explained(at_size(subject, part.low), part.model, part.inputs)
        yield ProgramInterval(part.low, part.high, part.of, _digest(part), document)


def _digest(*some: ModelSizes) -> str:
    return hashlib.sha256("".join(part.model.digest for part in some).encode()).hexdigest()


def pieces(subject: Subject, model: ExactModel, low: int, high: int) -> Iterator[ProgramInterval]:
    """Yields the intervals of a model that stands for each n of an interval."""
    while low <= high:
        one = replace(subject, n=low)
        last, document = low, None
        if low < high:
            n: Any = symbol(low, high)
            symbolic = replace(subject, n=n)
            try:
                document = explained(symbolic, *_size(symbolic, model))
            except TypeError as error:  # it is asked for what is another number at each n
                document = {"verdict": UNKNOWN, "where": "the weights", "what": str(error)}
            last = n.oracle.high
        if document is None or document["verdict"] != CERTIFIED:
            single = explained(one, at_one(model, one), automaton_of(one))
            if document is None or single["verdict"] == REFUSED:  # an input is of one n
                last, document = low, single
        elif subject.dossier.is_by_hand:  # its definition may be another one at a plain n
            for size in chosen_sizes(subject, model, low, last):
                at_size_alone = replace(subject, n=size)
                single = explained(at_size_alone, at_one(model, at_size_alone), automaton_of(at_size_alone))
                if single["verdict"] != CERTIFIED:
                    low, last, document = size, size, single
                    break
        yield ProgramInterval(low, last, "n", model.digest, document)
        if document["verdict"] != CERTIFIED:
            return
        low = last + 1


def _size(subject: Subject, model: ExactModel) -> tuple[ExactModel, TokenAutomaton]:
    """Returns the model and its inputs, where n is the subject's symbol; its interval may be cut for the vocabulary."""
    n: Any = subject.n
    sized_model = _change(model, subject, lambda w: of_form(w, n.oracle) if isinstance(w, Polynomial) else w)
    return sized_model, sized_texts(subject)


def sized_texts(subject: Subject) -> TokenAutomaton:
    """Returns the inputs, where n is the subject's symbol."""
    n: Any = subject.n
    automaton = subject.dossier.texts(subject)

    def bound(value: Bound) -> Any:
        return fraction(of_form(value, n.oracle)) if isinstance(value, Polynomial) else value

    states = tuple(
        replace(p, low=bound(p.low), high=bound(p.high), numbers=(bound(p.numbers[0]), bound(p.numbers[1])))
        for p in automaton.states
    )
    invariants = (replace(i, most=bound(i.most)) if isinstance(i, Consecutive) else i for i in automaton.invariants)
    return replace(automaton, states=states, invariants=tuple(invariants))


def at_one(model: ExactModel, subject: Subject) -> ExactModel:
    """Returns the model of one n."""
    size = {SIZE: constant(subject.n)}
    return _change(model, subject, lambda w: w.substitute(size).constant if isinstance(w, Polynomial) else w)


def _change(model: ExactModel, subject: Subject, change: Callable[[Weight], Weight]) -> ExactModel:
    """Returns the model with other weights, and with the numbers of the subject's vocabulary."""
    families = dict(model.families)
    for one in families_of(subject):
        families[one.name] = replace(families[one.name], low=one.low, high=one.high)
    words = {word: tuple((i, change(w)) for i, w in row) for word, row in model.specials.items()}
    position = tuple((i, change(w)) for i, w in model.position)
    layers = tuple(layer.changed(change) for layer in model.layers)
    return replace(model, families=families, specials=words, position=position, layers=layers)
