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
from typing import Any

from constructions.language.terms import fraction
from constructions.rows import Weight
from verify.algebra.domains import SIZE, OtherMatrices
from verify.algebra.interval import of_form, symbol
from verify.algebra.polynomial import Polynomial, constant
from verify.automata.token_automaton import Bound, Consecutive, TokenAutomaton
from verify.certificates.above import ALONE, Say, whole
from verify.certificates.building import at_size, automaton_of, build, families_of, sized
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, changed, subject_of
from verify.dossiers.dossier import ENDLESS, LARGEST_N, Json, Subject
from verify.programs.document import asked, explained, explanation
from verify.rounding.model import Model, first_difference

TOLD = ("verdict", "where", "what", "answers", "task", "assumed_invariants")


@dataclass(frozen=True)
class Interval:
    """n from low to high have this document, in which numbers may depend on n; digest: of their weights and precisions.

    of: what they are numbers of.
    """

    low: int
    high: int
    digest: str
    document: Json
    of: str = "n"

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.of} = {self.low}" + (f" … {self.high}" if self.low < self.high else "")


def explanations(
    subject: Subject, tell: Callable[[Interval], object] = lambda _: None, say: Say = lambda _: None
) -> Json:
    """The document; of a subject for many n: of each interval the verdict, up to one that is not certified, and of all n above.

    The answers are those of the last interval. tell: called with each; say: told of each case above. Raises ValueError for a
    subject that makes no sense.
    """
    if not subject.last or subject.n < subject.dossier.least:
        return explanation(replace(subject, last=0))
    summary: Json = {**asked(subject), "intervals": []}
    for interval in intervals(subject):
        tell(interval)
        document = interval.document
        one = {interval.of: [str(interval.low), str(interval.high)], "weights_sha256": interval.digest}
        summary["intervals"].append({**one, **{key: document.get(key, "") for key in ("program_sha256", "verdict")}})
        summary |= {key: document[key] for key in TOLD if key in document}
        if summary["verdict"] != CERTIFIED:
            summary["where"] = f"{interval.text}, {document['where']}"
    return whole(summary, subject, as_defined, say=say)


def as_defined(subject: Subject, model: Model, automaton: TokenAutomaton) -> Json:
    """Whether the program is what is defined, where n stands for each n of a case."""
    document = explained(subject, model, automaton)
    assumed = {"assumed_invariants": document.get("assumed_invariants", [])}
    return {**{key: document.get(key, "") for key in ("verdict", "where", "what", "program_sha256")}, **assumed}


def differences(
    document: Mapping[str, Any], tell: Callable[[Interval], object] = lambda _: None, say: Say = lambda _: None
) -> list[str]:
    """The fields in which a stored document is not what the weights say now. Raises ValueError for one that is none."""
    return changed(document, explanations(subject_of(document), tell, say))


def intervals(subject: Subject) -> Iterator[Interval]:
    """Covers all n of the subject, up to 2^64, or the few cells that are looked at alone; what is not certified is the last one."""
    if subject.all_cells:
        yield from _of_cells(subject)
        return
    low = subject.n
    try:
        for interval in _of_sizes(subject):
            low = interval.high + 1
            yield interval
    except OtherMatrices as refused:  # the matrices that users get
        yield Interval(low, low, "", _refused(subject, refused))


def _refused(subject: Subject, refused: OtherMatrices) -> Json:
    return {**asked(subject), "verdict": REFUSED, "where": refused.where, "what": refused.what}


def _of_sizes(subject: Subject) -> Iterator[Interval]:
    end = LARGEST_N if subject.last == ENDLESS else subject.last
    low, subject = subject.n, replace(subject, last=0)
    model, _, high = sized(subject, end)
    while True:
        digest = hashlib.sha256(model.digest.encode())
        other, further = model, high
        while high < end:  # p is nothing to exact arithmetic
            other, _, further = sized(replace(subject, n=high + 1), end)
            if first_difference(model, other):
                break
            digest.update(other.digest.encode())
            high = further
        for interval in pieces(subject, model, low, high):
            yield replace(interval, digest=digest.hexdigest())
            if interval.document["verdict"] != CERTIFIED:
                return
        if high >= end:
            return
        low, model, high = high + 1, other, further


def _of_cells(subject: Subject) -> Iterator[Interval]:
    for cells in range(subject.n, ALONE + 1):
        one = at_size(subject, cells)
        try:
            model, automaton = build(one)
        except OtherMatrices as refused:
            yield Interval(cells, cells, "", _refused(one, refused), "cells")
            return
        digest = hashlib.sha256(model.digest.encode()).hexdigest()
        yield Interval(cells, cells, digest, document := explained(one, model, automaton), "cells")
        if document["verdict"] != CERTIFIED:
            return


def pieces(subject: Subject, model: Model, low: int, high: int) -> Iterator[Interval]:
    """As `intervals`, of a model that stands for each of these n."""
    while low <= high:
        one = replace(subject, n=low)
        last, document = low, None
        if low < high:
            n: Any = symbol(low, high)
            symbolic = replace(subject, n=n)
            try:
                document = explained(symbolic, *_sized(symbolic, model))
            except TypeError as error:  # it is asked for what is another number at each n
                document = {"verdict": UNKNOWN, "where": "the weights", "what": str(error)}
            last = n.oracle.high
        if document is None or document["verdict"] != CERTIFIED:
            single = explained(one, at_one(model, one), automaton_of(one))
            if document is None or single["verdict"] == REFUSED:  # an input is of one n
                last, document = low, single
        yield Interval(low, last, model.digest, document)
        if document["verdict"] != CERTIFIED:
            return
        low = last + 1


def _sized(subject: Subject, model: Model) -> tuple[Model, TokenAutomaton]:
    """The model and its inputs, where n is the subject's symbol; its interval may be cut for the vocabulary."""
    n: Any = subject.n
    sized_model = _changed(model, subject, lambda w: of_form(w, n.oracle) if isinstance(w, Polynomial) else w)
    automaton = subject.dossier.symbolic_texts(subject)

    def bound(value: Bound) -> Any:
        return fraction(of_form(value, n.oracle)) if isinstance(value, Polynomial) else value

    states = tuple(
        replace(p, low=bound(p.low), high=bound(p.high), numbers=(bound(p.numbers[0]), bound(p.numbers[1])))
        for p in automaton.states
    )
    invariants = (replace(i, most=bound(i.most)) if isinstance(i, Consecutive) else i for i in automaton.invariants)
    return sized_model, replace(automaton, states=states, invariants=tuple(invariants))


def at_one(model: Model, subject: Subject) -> Model:
    """The model of one n."""
    size = {SIZE: constant(subject.n)}
    return _changed(model, subject, lambda w: w.substitute(size).constant if isinstance(w, Polynomial) else w)


def _changed(model: Model, subject: Subject, change: Callable[[Weight], Weight]) -> Model:
    """With other weights, and the numbers of the subject's vocabulary."""
    families = dict(model.families)
    for one in families_of(subject):
        families[one.family] = replace(families[one.family], low=one.low, high=one.high)
    words = {word: tuple((i, change(w)) for i, w in row) for word, row in model.specials.items()}
    position = tuple((i, change(w)) for i, w in model.position)
    layers = tuple(layer.changed(change) for layer in model.layers)
    return replace(model, families=families, specials=words, position=position, layers=layers)
