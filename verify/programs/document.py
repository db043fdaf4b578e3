"""What the ideal model computes, as a JSON document: the program that the weights are, and whether it is the task.

It is replayed by making it again from the construction and comparing every field; the weights are named by a hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from constructions.language.terms import ZERO, Matched, Term
from verify.algebra.domains import OtherMatrices, Undecided
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import build
from verify.certificates.document import CERTIFIED, REFUSED, UNKNOWN, Judged, about, inputs_of
from verify.dossiers.dossier import Json, Subject
from verify.programs.decisions import first_mismatch
from verify.programs.extraction import ExtractedProgram, QueueTerm, extract
from verify.programs.facts import Facts, Group
from verify.programs.forms import at_first, expanded, read_alone, unresolved
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.programs.shares import denominator
from verify.programs.text import ProgramPrinter, TermPrinter, told_answer
from verify.programs.texts import ending
from verify.programs.witness import first_wrong
from verify.rounding.model import ExactModel


def explanation(subject: Subject) -> Json:
    """Returns the document for a construction. Raises ValueError for a subject that makes no sense."""
    try:
        document = explained(subject, *build(subject))
    except (Undecided, OtherMatrices) as stop:
        return {**document_head(subject), **Judged.at(stop).told}
    if document["verdict"] == UNKNOWN and isinstance(subject.n, int) and (wrong := subject.dossier.wrong_run(subject)):
        document |= {"verdict": REFUSED, "what": wrong}
    return document


def document_head(subject: Subject) -> Json:
    """Returns the head of a document: which model, which inputs, and which property is judged."""
    return {**about(subject), "property": "what the ideal model computes"}


def explained(subject: Subject, model: ExactModel, automaton: TokenAutomaton) -> Json:
    """Returns the document for a model that is held against this subject's task."""
    dossier = subject.dossier
    automaton = dossier.compared_texts(subject, automaton)
    document = document_head(subject)
    document |= {**Judged(UNKNOWN).told, "weights_sha256": model.digest, "inputs": inputs_of(automaton)}
    try:
        program = extract(model, automaton, naming=dossier.named_sums, shorten=bool(subject.printed))
    except Undecided as undecided:
        return {**document, **Judged.at(undecided).told}
    text = "\n".join(f"{s.digested} {[(i, t.order) for i, t in s.registers.items()]}" for s in program.stages)
    shown = next((i for i, state in enumerate(automaton.states) if state.label == automaton.shown), 0)
    defined = dossier.is_defined(subject)
    normal = Normalizer(program.facts.ending(shown)) if shown and defined and dossier.is_stepwise else None
    listing = ProgramPrinter(program, normal)
    document["program"] = [{"where": where, "writes": written} for where, written in listing.stages]
    document["program_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    if not defined:
        as_printed = " with anything as printed" * bool(subject.printed)
        what = f"no definition of {subject.construction} as {subject.model}{as_printed} is written in the language of programs"
        return {**document, "where": "the task", "what": what}
    if dossier.is_stepwise:
        return document | steps(subject, model, program, listing)
    document |= compared(subject, model, automaton, program)
    if document["verdict"] == CERTIFIED or not isinstance(subject.n, int):
        return document  # an input is of one n
    wrong = first_wrong(subject, model, program)
    if wrong is not None:
        document |= {"verdict": REFUSED, "what": wrong, "where": document["where"] or "the answer"}
    return document


def compared(subject: Subject, model: ExactModel, automaton: TokenAutomaton, program: ExtractedProgram) -> Json:
    """Returns the answers of the program and of the task at each state where an answer is due."""
    answers: Json = {}
    due: Json = {}
    where, what = "", ""
    for i, state in enumerate(automaton.states):
        defined = subject.dossier.definition(subject, state.label) if state.label in automaton.answers else None
        if defined is None:
            continue
        normal = Normalizer(program.facts.facts_at(frozenset([i])))
        expected = normal_answer(defined, normal)
        due[str(state.label)] = told_answer(expected)
        registers = {r: normal.term(value) for r, value in program.stages[-1].registers.items()}
        try:
            answer = answer_of(model, registers, normal)
        except Undecided as undecided:
            if not where:
                where, what = _unresolved(registers) or (undecided.where, undecided.what)
            continue
        answers[str(state.label)] = told_answer(answer)
        if answer != expected and not where:
            where, what = f"the answer at {state.label}", "the program is not seen to be the task"
    verdict = CERTIFIED if due and not where else UNKNOWN
    return {"verdict": verdict, "where": where, "what": what, "answers": answers, "task": due}


def steps(subject: Subject, model: ExactModel, program: ExtractedProgram, listing: ProgramPrinter) -> Json:
    """Returns whether the program gives the due answer in each case that a step distinguishes."""
    answers: Json = {}
    due: Json = {}
    where, what, value = "", "", ""
    last = {j: value for j, value in program.stages[-1].registers.items() if j in model.read_by_output}
    heads = any(layer.heads for layer in model.layers)
    for i, state in enumerate(program.facts.automaton.states):
        defined = subject.dossier.definition(subject, state.label)
        if defined is None:
            continue
        normal = Normalizer(program.facts.ending(i))
        printer = listing.printer
        if listing.normal is None or normal.facts != listing.normal.facts:
            printer = TermPrinter(listing.names, here=_find(program, normal) if heads else {})
        due[str(state.label)] = printer.answer(normal_answer(defined, normal))
        here = {r: normal.term(value) for r, value in last.items()}
        mismatch = first_mismatch(model, here, defined, normal)
        if mismatch is None:
            answers[str(state.label)] = due[str(state.label)]
        elif not where:
            where, what = f"the answer at {state.label}", mismatch.text(printer, normal)
            if (head := _unresolved(here)) is not None:
                where, what = head
            else:
                value = subject.dossier.origin(subject, where, mismatch.terms)
    odd = [group.name for group in program.facts.groups if not _is_defined(group, subject, program)]
    odd += [passed.name for passed in program.queues if not _is_passed(passed, subject, program)]
    if not where and odd:
        where, what = "the invariants", f"the registers of {', '.join(odd)} are not seen to hold what is defined"
    verdict = CERTIFIED if due and not where else UNKNOWN
    assumed = [*(group.name for group in program.facts.groups), *(passed.name for passed in program.queues)]
    return {
        "verdict": verdict,
        "where": where,
        "what": what,
        "answers": answers,
        "task": due,
        "assumed_invariants": assumed,
        **({"value": value} if value else {}),
    }


def _is_defined(group: Group, subject: Subject, program: ExtractedProgram) -> bool:
    """Returns whether an invariant of counts is about registers that hold what the definition says it of, none of it assumed."""
    normal = Normalizer(replace(program.facts, groups=(), known={}, parts={}))
    number, order = subject.dossier.invariant_terms(subject)
    counts = denominator(normal.term(group.count), normal)
    return normal.term(group.key) == normal.term(number) and counts == normal.term(order)


def _is_passed(passed: QueueTerm, subject: Subject, program: ExtractedProgram) -> bool:
    """Returns whether the queue returns what the definition says, and takes nothing at the first two positions.

    What enters at the others is said as many positions later, or the answers would not be those that are due.
    """
    normal = Normalizer(program.facts)
    (leaving,) = subject.dossier.invariant_terms(subject)
    if normal.term(expanded(passed.late)) != normal.term(leaving):
        return False
    automaton = program.facts.automaton
    second = (ending(automaton, i, 2) for i, state in enumerate(automaton.states) if 0 in state.after)
    early = (Normalizer(Facts(texts, frozenset([i]))).term(passed.early) for texts, i in second)
    return not at_first(passed.early, program.facts.start) and all(value == ZERO for value in early)


def _find(program: ExtractedProgram, normal: Normalizer) -> dict[Term, str]:
    """Returns what heads find at this state, and the registers that hold it."""
    last = {program.names[i]: normal.term(value) for i, value in program.stages[-1].registers.items()}
    alone = ((name, value, read_alone(value)) for name, value in last.items())
    return {value: name for name, value, a in alone if a is not None and isinstance(a.where, Matched)}


def _unresolved(registers: Mapping[int, Term]) -> tuple[str, str] | None:
    """Returns the first head whose winners no rule tells, and its scores."""
    head = next((h for value in registers.values() if (h := unresolved(value)) is not None), None)
    return (head.where, f"cannot say who wins: {TermPrinter().chosen(head)}") if head is not None else None
