"""What the ideal model computes, as a JSON document: the program that the weights are, and whether it is the task.

It is replayed by making it again from the construction and comparing every field; the weights are named by a hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from verify.certificates.building import Subject, build
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, about, inputs_of, subject_of
from verify.certificates.domains import Undecided
from verify.certificates.language import Language
from verify.certificates.model import Model
from verify.programs.extraction import Program, extract
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.programs.tasks import ANSWERS, definition
from verify.programs.terms import Atom, Best, Matching, Read, Term
from verify.programs.text import Teller, told_answer, told_stages
from verify.programs.witness import first_wrong

LONGEST = 100  # letters of a term that is not called by a name, where nothing is compared
Json = dict[str, Any]


def explanation(subject: Subject) -> Json:
    """The document for a construction. Raises ValueError for a subject that makes no sense."""
    try:
        return explained(subject, *build(subject))
    except Undecided as undecided:
        return {**_about(subject), "verdict": UNKNOWN, "where": undecided.where, "what": undecided.what}


def _about(subject: Subject) -> Json:
    return {**about(subject), "property": "what the ideal model computes"}


def explained(subject: Subject, model: Model, language: Language) -> Json:
    """The document for a model that is held against this subject's task."""
    found = _about(subject)
    found |= {
        "verdict": UNKNOWN,
        "where": "",
        "what": "",
        "weights_sha256": model.digest,
        "inputs": inputs_of(language),
    }
    try:
        compares = subject.construction in ANSWERS
        program = extract(model, language, None if compares else LONGEST)
    except Undecided as undecided:
        return {**found, "where": undecided.where, "what": undecided.what}
    text = "\n".join(f"{s.where} {[(i, t.order) for i, t in s.registers.items()]}" for s in program.stages)
    found["program"] = [{"where": where, "writes": written} for where, written in told_stages(program)]
    found["program_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    if not compares:
        what = f"no definition of {subject.construction} as {subject.model} is written in the language of programs"
        return {**found, "where": "the task", "what": what}
    found |= compared(subject, model, language, program)
    searches = subject.model == "rag"
    if found["verdict"] != CERTIFIED and not searches and (wrong := first_wrong(subject, model, program)) is not None:
        return {**found, "verdict": REFUSED, "what": wrong, "where": found["where"] or "the answer"}
    return found


def compared(subject: Subject, model: Model, language: Language, program: Program) -> Json:
    """The answers of the program and of the task at each place where an answer is due."""
    answers: Json = {}
    due: Json = {}
    where, what = "", ""
    for i, place in enumerate(language.places):
        defined = definition(subject, place.name) if place.name in language.answers else None
        if defined is None:
            continue
        normal = Normalizer(program.facts.at(frozenset([i])))
        expected = normal_answer(defined, normal)
        due[place.name] = told_answer(expected)
        registers = {r: normal.term(value) for r, value in program.stages[-1].registers.items()}
        try:
            answer = answer_of(model, registers, normal)
        except Undecided as undecided:
            head = next((h for value in registers.values() if (h := _unresolved(value)) is not None), None)
            if not where:
                where, what = undecided.where, undecided.what
                if head is not None:
                    where, what = head.where, f"cannot say who wins: {Teller().chosen(head)}"
            continue
        answers[place.name] = told_answer(answer)
        if answer != expected and not where:
            where, what = f"the answer at {place.name}", "the program is not seen to be the task"
    verdict = CERTIFIED if due and not where else UNKNOWN
    return {"verdict": verdict, "where": where, "what": what, "answers": answers, "task": due}


def _unresolved(value: Term) -> Best | None:
    """A head in it whose winners no rule tells."""
    pending: list[object] = [value]
    while pending:
        match pending.pop():
            case Best() as best:
                return best
            case Term(items):
                pending += [a for monomial, _ in items for a in monomial]
            case Matching(pairs):
                pending += [part for pair in pairs for part in pair]
            case Read(inner, where):
                pending += [inner, where]
            case Atom() as a:
                pending += [getattr(a, name) for name in a.__dataclass_fields__]
    return None


def differences(document: Mapping[str, Any]) -> list[str]:
    """The fields in which a stored document is not what the weights say now. Raises ValueError for one that is none."""
    made = json.loads(json.dumps(explanation(subject_of(document))))
    return [key for key in sorted({*made, *document}) if made.get(key) != document.get(key)]
