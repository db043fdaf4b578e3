"""Every n above some size at once: the same check, of numbers that depend on n, in finitely many cases.

The builder and what judges its model are given a symbol in place of n, with a walk as its oracle. So they come to one verdict for
all n of a case. Where a question has two answers, both are followed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, TypeAlias

from constructions.places import name_place
from verify.algebra.domains import OtherMatrices, Undecided
from verify.algebra.polynomial import Number
from verify.algebra.quotients import Unanswered
from verify.algebra.samples import in_octaves, some_n, values_of
from verify.algebra.symbolic import grows
from verify.algebra.trees import theorem_of
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import build, compared, in_case, model_of
from verify.certificates.document import CERTIFIED, UNKNOWN, Judged, judge
from verify.dossiers.dossier import ENDLESS, Json, Subject
from verify.rounding.model import ExactModel
from verify.trusted import growth

BITS_OF_HALF = 3  # of half a number of cells, rounded down: every m from 8 on
MOST_CASES = 1000
ALONE = 2 * (1 << BITS_OF_HALF - 1) - 1  # cells, up to which each number is looked at for itself
MORE_CELLS = f"more than {ALONE} cells"
Say: TypeAlias = Callable[[str], object]
"""Is told of each case in a line."""
Judge: TypeAlias = Callable[[Subject, ExactModel, TokenAutomaton], Json]
"""Of a model and its inputs: verdict, where and what, the names of what is assumed, and what else is told of a case."""

Known: TypeAlias = dict[tuple[Subject, bool], tuple[ExactModel, bool]]
"""Models of one n, by whether matrices were asked for, and whether users get these."""


def rounding(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Json:
    """Returns whether rounding is sound."""
    judged = judge(model, automaton)
    assumed = list(judged.report.invariants) if judged.report else []
    return {**judged.told, "assumed_invariants": assumed}


def unjudged(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Json:
    """Returns a verdict without judging the model: the walk then asks the questions of its builder alone, in seconds."""
    return {**Judged(CERTIFIED).told, "assumed_invariants": []}


@dataclass
class CasesSurvey:
    """Every n from the dossier's `first_above` on, or every number of cells from 8 on. judges: what is asked of a case's model.

    cases: precision and digest of each, and what the judges have to say. about: the verdict, and where it is not certified first;
    that is refused for matrices of one n alone, as a case may be wider than its n. theorem: all inequalities, as trusted/growth.py
    reads them, or None. known: models of one n that were built, of any survey.
    """

    subject: Subject
    judges: tuple[Judge, ...] = (rounding,)
    cases: list[Json] = field(default_factory=list)
    about: Json = field(default_factory=dict)
    theorem: Any = None
    known: Known = field(default_factory=dict, repr=False)

    def run(self, say: Say = lambda line: None) -> None:
        """Looks at one case after the other, up to one that is not certified."""

        def judged(walk: Walk) -> None:
            self.look(walk)
            say(f"{name_of(self.start)}, case {len(self.cases)}: {CERTIFIED}")

        self.cases = []
        try:
            bits_of_bits = self.subject.dossier.bits_of_bits if self.subject.counts_n else BITS_OF_HALF
            self.theorem = theorem_of(judged, bits_of_bits)
            self.about = Judged(CERTIFIED).told
        except (Undecided, OtherMatrices) as stop:  # the matrices of one n
            self.about = Judged.at(stop).told
        except Unanswered as error:  # what only a number can be asked
            self.about = Judged(UNKNOWN, "numbers that grow with n", str(error)).told

    @property
    def start(self) -> Json:
        """Returns where the cases begin."""
        if not self.subject.counts_n:
            return {f"{self.subject.unit}_from": f"{ALONE + 1}"}
        return {"n_from": f"2^{self.subject.dossier.first_above.bit_length() - 1}"}

    def document(self) -> Json:
        """Returns the same with all cases and inequalities."""
        return {**self.about, **self.start, "cases": self.cases, "theorem": self.theorem}

    def look(self, walk: Walk) -> None:
        """Judges the case that the walk comes to. Raises Undecided, Unanswered."""
        if len(self.cases) == MOST_CASES:
            raise Unanswered(f"more than {MOST_CASES} cases")
        for number, subject in enumerate(in_case(self.subject, n_of(walk))):
            self.cases.append(self._judge(walk, number, subject))

    def _judge(self, walk: Walk, number: int, subject: Subject) -> Json:
        model, automaton = build(subject)
        case = {} if subject.counts_n else {subject.unit: f"{subject.dossier.fields[subject.unit]}"}
        case |= {"precision_bits": f"{model.arithmetic.format.significand_bits + 1}", "weights_sha256": model.digest}
        assumed: list[str] = []
        for judge_case in self.judges:
            answer = judge_case(subject, model, automaton)
            verdict, where, what = (answer.pop(key) for key in ("verdict", "where", "what"))
            if verdict != CERTIFIED:
                raise Undecided(where, what)
            assumed += answer.pop("assumed_invariants")
            case |= answer
        self._compare(walk, number, model)
        return {**case, "assumed_invariants": [*dict.fromkeys(assumed)]}

    def _compare(self, walk: Walk, number: int, model: ExactModel) -> None:
        """Compares with the weights that the builder makes of one n of the case: it may have looked at what kind of number it
        was given.

        These are a few in each octave up to 2^64; or one n, if the case lies above, or is of numbers of cells. So it is for the
        matrices that users get, up to the first n of which they get none.
        """
        octaves = in_octaves(walk.box, walk.forks, int(model.digest, 16)) if self.subject.counts_n else ()
        sizes = [*octaves] or [n for n in [some_n(walk.box, walk.forks)] if n is not None]
        have_matrices = True
        for n in sizes:
            values, subject = values_of(n), in_case(self.subject, n)[number]
            own, have_matrices = self._model_at(subject, matrices=have_matrices)
            here = parts_of(model, partial(value_at, values))
            for (where, its), (_, expected) in zip(here, parts_of(own), strict=True):
                if its != expected:
                    raise Undecided(where, f"n = {n} has other weights than what stands for it")

    def _model_at(self, subject: Subject, *, matrices: bool) -> tuple[ExactModel, bool]:
        """Returns the model of one n, and whether users get matrices of it, which are then compared with it; False if that is not
        asked.
        """
        key = subject, matrices
        if key not in self.known:
            own = model_of(subject)
            self.known[key] = own, matrices and compared(subject, own, few=True) is not None
        return self.known[key]


def value_at(values: Mapping[str, int | Fraction], value: Any) -> Number:
    """Returns a weight where the symbols are these numbers."""
    return value.value_at(values) if grows(value) else value


def parts_of(model: ExactModel, change: Callable[[Any], Number] | None = None) -> Iterator[tuple[str, object]]:
    """Yields every number of a model, place by place. change: returns another number in place of each."""
    value = change or (lambda number: number)
    fmt, families = model.arithmetic.format, model.families.values()
    yield "the format", [value(x) for x in (fmt.significand_bits, fmt.quantum_exponent, fmt.max_quanta)]
    yield "how many tokens there are", [(value(family.low), value(family.high)) for family in families]
    terms = [
        sorted((i, m, value(c)) for i, p in family.rows.items() for m, c in p.terms.items()) for family in families
    ]
    specials = [(word, [(i, value(w)) for i, w in row]) for word, row in model.specials.items()]
    yield "the vocabulary", (terms, specials, [(i, value(w)) for i, w in model.position])
    yield from ((name_place(i), layer.changed(value) if change else layer) for i, layer in enumerate(model.layers, 1))


_surveys = lru_cache(maxsize=4)(CasesSurvey)


def survey(subject: Subject, first: Judge, *others: Judge, say: Say = lambda line: None) -> CasesSurvey:
    """Certifies this subject's model for sequences of up to n tokens. say: told of cases that were not looked at before."""
    result = _surveys(replace(subject, length=None), (first, *others))
    if not result.about:
        result.run(say)
    return result


def whole(document: Json, subject: Subject, first: Judge, *others: Judge, say: Say = lambda line: None) -> Json:
    """Returns a document of intervals with a digest of their weights, and of a subject without end with what is said above of
    all n.

    Where that is not certified, it is the document's verdict. say: told of each case above.
    """
    digests = [interval["weights_sha256"] for interval in document["intervals"]]
    if subject.last == ENDLESS and document["verdict"] == CERTIFIED:
        above = survey(subject, first, *others, say=say).document()
        digests += [case["weights_sha256"] for case in above["cases"]]
        document = {**document, "above": above}
        if above["verdict"] != CERTIFIED:
            where = f"{name_of(above)}, {above['where']}"
            document |= {"verdict": above["verdict"], "where": where, "what": above["what"]}
    return {**document, "weights_sha256": hashlib.sha256(" ".join(digests).encode()).hexdigest()}


def name_of(above: Json) -> str:
    """Returns what a survey is about, for people."""
    return MORE_CELLS if "cells_from" in above else f"n ≥ {above['n_from']}"


def shown_again(above: Json) -> str:
    """Returns what is certified of all n above, for people. trusted/growth.py shows the inequalities once more; raises Rejected
    if not.
    """
    growth.check(json.loads(json.dumps(above["theorem"])), {})
    cases, inequalities = len(above["cases"]), len(above["theorem"]["inequalities"])
    of = "the number of cells" if "cells_from" in above else "n and its bit length"
    return f"{cases} cases of {of}; {inequalities:,} inequalities, shown again by verify/trusted/growth.py"
