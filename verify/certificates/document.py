"""A certificate as a JSON document: of which weights and inputs it speaks, what it assumes, and what was found.

It is replayed by making it again from the construction and comparing every field; the weights are named by a hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.algebra.domains import OtherMatrices, Refused, Refuted, Undecided
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import build, build_beside, can_be_written, model_of, precision_of
from verify.certificates.building import compared as compared_with_matrices
from verify.certificates.matrices import digest
from verify.certificates.runs import exhaust, is_small, refute
from verify.dossiers.dossier import ENDLESS, Json, Subject
from verify.dossiers.registry import find_dossier
from verify.rounding.checker import Report, check
from verify.rounding.model import ExactModel, first_difference
from verify.rounding.positions import check_positions

SCHEMA = 1
OF_EVERY: Mapping[str, str | None] = {
    "query_length": None,
    "layout": "paper",
}  # which stand in documents of every model
MOST = 1 << 80  # any number in a document
MOST_SINGLE = 400  # states of one position each that are looked at one by one
CERTIFIED, REFUSED, UNKNOWN = "certified", "refused", "unknown"
UNMET = "unmet"
RULES = "docs/programs.md"  # which constructs of programs the checker reads
ANOTHER = "the ideal model is not seen to be that of"


@dataclass(frozen=True)
class Judged:
    """What a check said. where, what: of the first place that is not certified.

    is_unmet: whether an obligation is not met there, by the bounds that the check has; else no rule covers the place.
    """

    verdict: str
    where: str = ""
    what: str = ""
    report: Report | None = None
    is_unmet: bool = False

    @classmethod
    def at(cls, stop: Refused) -> Judged:
        """Returns what a check says that stopped here. A fact refuses the model; bounds that are too wide leave it unknown."""
        is_fact = isinstance(stop, Refuted)
        is_unmet = not is_fact and not isinstance(stop, Undecided)
        return cls(REFUSED if is_fact else UNKNOWN, stop.where, stop.what, is_unmet=is_unmet)

    @property
    def finding(self) -> str:
        """Returns the verdict, or UNMET for an obligation that is not met."""
        return UNMET if self.is_unmet else self.verdict

    @property
    def told(self) -> Json:
        """Returns the beginning of a document."""
        return {"verdict": self.verdict, "where": self.where, "what": self.what}


def judge(model: ExactModel, automaton: TokenAutomaton) -> Judged:
    """Carries out the check."""
    fused = model.arithmetic.discipline is Discipline.FUSED
    at_once = automaton.by_position and (fused or len(automaton.states) > MOST_SINGLE)
    try:
        return Judged(CERTIFIED, report=(check_positions if at_once else check)(model, automaton))
    except Refused as stop:
        return Judged.at(stop)


def compared(judged: Judged, model: ExactModel, subject: Subject) -> Judged:
    """Returns where weights first differ, as unknown, if a certified model is not seen to be the repaired construction ideally."""
    if judged.report is None:
        return judged
    try:
        repaired, automaton = build(replace(subject, printed=()))
    except OtherMatrices as refused:
        return Judged(REFUSED, f"the construction itself, {refused.where}", refused.what)
    return held_against(judged, model, subject.construction, repaired, judge(repaired, automaton))


def held_against(judged: Judged, model: ExactModel, name: str, repaired: ExactModel, own: Judged) -> Judged:
    """Returns `compared`, with the repaired construction of this name and what the check says of it."""
    if judged.report is None:
        return judged
    if own.report is None:
        return Judged(own.verdict, "the construction itself", own.what)
    if not judged.report.first_difference(own.report):
        return judged
    return Judged(UNKNOWN, first_difference(model, repaired), f"rounding is sound, but {ANOTHER} {name}, repaired")


def print_unseen(model: ExactModel, subject: Subject) -> Json:
    """Says that weights as printed and as repaired are the same: the print lies in what is searched for, or in the text."""
    differs = not subject.printed or model.digest != model_of(replace(subject, printed=())).digest
    return {} if differs else {"print_in_weights": False}


def certificate(subject: Subject) -> Json:
    """Returns the document for a construction. Raises ValueError for a subject that makes no sense."""
    header = about(subject)
    if is_small(subject):
        return {**header, **_exhausted(subject)}
    try:
        model, automaton, wired = build_beside(subject)
    except (Undecided, OtherMatrices) as stop:
        return {**header, **Judged.at(stop).told}
    judged = judge(model, automaton)
    judged = compared(judged, model, subject) if subject.printed else judged
    if judged.verdict == UNKNOWN and wired is not None:
        judged = tried_on_inputs(judged, subject)
    file = {"matrices_sha256": _file_digest(subject, model, wired)}
    return {**header, **described(model, automaton, judged), **file, **print_unseen(model, subject)}


def with_origin(document: Json, subject: Subject) -> Json:
    """Returns the document; with the value of the subject's file that stands where the check cannot tell, if there is a file."""
    if document["verdict"] != UNKNOWN or "value" in document:
        return document
    value = subject.dossier.origin(subject, document["where"])
    return {**document, "value": value} if value else document


def no_rule(document: Mapping[str, Any]) -> str:
    """Returns the end of a sentence about an unknown place: which value of a file no rule suffices for, and where rules are
    listed.
    """
    value = document.get("value")
    return f"; no rule of the checker suffices for {value} ({RULES} lists them)" if value else ""


def tried_on_inputs(judged: Judged, subject: Subject) -> Judged:
    """Returns what is said of a model that the check cannot tell of: refused if a hard input shows that it is wrong."""
    try:
        refute(subject)
    except Refuted as refuted:
        return shown_wrong(judged, refuted)
    return judged


def shown_wrong(judged: Judged, shown: Refuted) -> Judged:
    """Returns the verdict where an input shows that the model is wrong; the numbers of an obligation that is not met stay."""
    if not judged.is_unmet and ANOTHER not in judged.what:
        return Judged.at(shown)
    return Judged(REFUSED, judged.where, f"{judged.what}; {shown.what}")


def _file_digest(subject: Subject, model: ExactModel, wired: Wired | None) -> str | None:
    return None if wired is None or not can_be_written(subject, model) else digest(wired)


def _exhausted(subject: Subject) -> Json:
    model = model_of(subject)
    base: Json = {"precision_bits": precision_of(subject), "weights_sha256": model.digest}
    try:
        base["matrices_sha256"] = _file_digest(subject, model, compared_with_matrices(subject, model))
        result = exhaust(subject)
    except Refuted as refuted:
        return {**base, **Judged.at(refuted).told}
    errors = {name: _short(error) for name, error in result.errors.items()}
    run = {"inputs_run": result.inputs, "inputs": result.text, "error_in_steps": errors}
    return {**base, **Judged(CERTIFIED).told, **run}


def about(subject: Subject) -> Json:
    """Returns what was asked for."""
    ends = [f"{subject.n}", None if subject.last == ENDLESS else f"{subject.last}"] if subject.last else None
    own = {**subject.dossier.fields}
    if not subject.counts_n:
        own[subject.unit] = ends
    return {
        "schema": SCHEMA,
        "property": "soundness of rounding",
        "construction": subject.construction,
        "model": subject.model,
        "variant": subject.dossier.variant(subject.printed),
        "printed": list(subject.printed),
        "n": None if ends and not subject.counts_n else ends or subject.n,
        "length": subject.length,
        **OF_EVERY,
        "asked_precision_bits": subject.precision_bits,
        "discipline": subject.discipline.value,
        **own,
    }


def described(model: ExactModel, automaton: TokenAutomaton, judged: Judged) -> Json:
    """Returns what was checked, and what was found."""
    document: Json = {
        **judged.told,
        "precision_bits": model.arithmetic.format.significand_bits + 1,
        "weights_sha256": model.digest,
        "inputs": inputs_of(automaton),
        "answers": sorted(map(str, automaton.answers)),
    }
    if judged.report is not None:
        report = judged.report
        document |= {
            "assumed_invariants": report.invariants,
            "heads": [
                {
                    "head": model.head(*head),
                    "lead": str(x.margin),
                    "needed": str(x.needed),
                    "least_largest_score": str(x.winning),
                }
                for head, x in report.margins.items()
            ],
            "error_in_steps": {name: _short(error) for name, error in report.errors.items()},
            "kinds": report.states,
            "ideal_sha256": report.ideal,
        }
    return document


def inputs_of(automaton: TokenAutomaton) -> list[Json]:
    """Returns the states of the automaton that reads the inputs that are meant."""
    return [
        {
            "place": str(state.label),
            "positions": [f"{state.low}", f"{state.high}"],
            "token": state.word or [f"{end}" for end in state.numbers],
            "after": [str(automaton.states[i].label) for i in state.after],
            **({"every": state.every} if state.every > 1 else {}),
            **({"holds": [str(content) for content in state.contents]} if state.contents else {}),
            **({} if state.behind is None else {"number_at_most_position_minus": state.behind}),
        }
        for state in automaton.states
    ]


def _short(error: Fraction) -> str:
    """Writes an error, rounded up to a multiple of 2^−20."""
    return str(Fraction(-(-error.numerator * 2**20 // error.denominator), 2**20))


def subject_of(document: Mapping[str, Any]) -> Subject:
    """Returns what a document speaks of; one of many n has the first and the last, in digits. Raises ValueError for one that is
    none.
    """
    match document.get("n"):
        case [str(first), (str() | None) as last] if (first + (last or "")).isdecimal():
            low, high = int(first), ENDLESS if last is None else int(last)
            one = subject_of({**document, "n": low})
            if one.dossier.one_n or one.printed or one.length or not (high == ENDLESS or low <= high < MOST):
                raise ValueError(f"this is no certificate: there is none of every n from {first} to {last}")
            return replace(one, last=high)
    try:
        name, model, printed = (
            str(document["construction"]),
            str(document["model"]),
            tuple(map(str, document["printed"])),
        )
        numbers = [document[key] for key in ("n", "length", "asked_precision_bits")]
        discipline, variant = Discipline(document["discipline"]), document["variant"]
        dossier = find_dossier(str(document.get("program_file") or name), model)
        if dossier is None or not set(printed) <= {finding.id for finding in dossier.findings}:
            raise ValueError(f"no construction {name!r} as {model} with {', '.join(printed) or 'nothing'} as printed")
        dossier = dossier.read(document)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no certificate: {error}") from error
    if dossier.own_sizes and numbers[0] is None:
        numbers[0] = 1
    if any(x is not None and type(x) is not int for x in numbers) or not all(0 < x < MOST for x in numbers if x):
        raise ValueError(f"this is no certificate: n, length and p are whole numbers, not {numbers}")
    n, length, p = numbers
    if type(n) is not int:
        raise ValueError(f"this is no certificate: n is a whole number, not {n}")
    if length and not dossier.has_length:
        raise ValueError(f"this is no certificate: inputs of {name} as {model} have no length of their own")
    if variant not in dossier.variants:
        raise ValueError(f"this is no certificate: {name} as {model} has no variant {variant}")
    subject = Subject(dossier, n, length, p, discipline, printed)
    if not subject.counts_n:
        return replace(subject, last=ENDLESS)
    own = {**OF_EVERY, **dossier.fields}
    if odd := [key for key, value in own.items() if document.get(key, value) != value]:
        raise ValueError(f"this is no certificate: {name} as {model} has no {odd[0]} {str(document[odd[0]])[:40]!r}")
    return subject


def changed(document: Mapping[str, Any], made: Json) -> list[str]:
    """Returns the fields in which a stored document differs, but for the name of a file, whose weights are named by their hash."""
    now, stored = json.loads(json.dumps(made)), {key: value for key, value in document.items() if key != "file"}
    return [key for key in sorted({*now, *stored}) if key not in now or now[key] != stored.get(key)]
