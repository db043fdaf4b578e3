"""What the survey judges: checkers that hold weights against a definition, or against texts.

Another checker is judged with the same two types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from constructions.language.model import ProgramModel
from constructions.language.program import Program
from constructions.language.terms import Answer
from constructions.language.values import Output
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from verify.algebra.domains import Refused, Undecided
from verify.automata.program_texts import text_automaton
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.definition import definition_of
from verify.certificates.document import CERTIFIED
from verify.certificates.finder import certificate_of
from verify.certificates.ghosts import with_ghosts
from verify.certificates.small import judged
from verify.dossiers.dossier import Subject
from verify.dossiers.written import ProgramDossier
from verify.programs import document
from verify.programs.extraction import extract
from verify.programs.text import ProgramPrinter
from verify.rounding.model import described
from verify.trusted.kernel import Rejected
from verify.trusted.model import read_rows
from verify.trusted.program import check as check_program
from verify.trusted.rounding import check

Certifies: TypeAlias = Callable[[Answer], bool]
ProgramChecker: TypeAlias = Callable[[Wired, Program], Certifies]
"""Takes weights, and a program that says which texts they are for; returns whether the weights are certified to say an answer."""


def explains(wired: Wired, program: Program) -> Certifies:
    """Returns the verdict of `explain`; it reads the weights once."""
    automaton = text_automaton(program.texts, wired.n, (wired.n, wired.n))
    numbers = [int(word) for word in wired.vocabulary if word.isdecimal()]
    families = [Family("", min(numbers), max(numbers))] if numbers else []
    try:
        model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, families)
        read = extract(model, automaton)
        listing = ProgramPrinter(read, None)
    except Undecided:
        return lambda answer: False

    def certifies(answer: Answer) -> bool:
        defined = replace(program, says=Output(answer))
        subject = Subject(ProgramDossier("survey", program.architecture, ProgramModel(defined)), wired.n)
        return bool(document.steps(subject, model, read, listing)["verdict"] == CERTIFIED)

    return certifies


def follows_program(wired: Wired, program: Program) -> Certifies:
    """Returns the verdict of the small checker of programs, on certificates that are found; it certifies rounding once."""
    automaton = text_automaton(program.texts, wired.n, (wired.n, wired.n))
    numbers = [int(word) for word in wired.vocabulary if word.isdecimal()]
    families = [Family("", min(numbers), max(numbers))] if numbers else []
    try:
        model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, families)
        rounding, rows = certificate_of(model, automaton)
    except (Rejected, Refused, Undecided):
        return lambda answer: False

    def certifies(answer: Answer) -> bool:
        try:
            definition = json.dumps(definition_of(answer)).encode()
            certificate = with_ghosts(rounding, lambda: read_rows(json.loads(rows)), definition)
            check_program(json.dumps(certificate).encode(), rows, b"{}", definition)
        except Rejected:
            return False
        return True

    return certifies


@dataclass(frozen=True)
class Promise:
    """What a checker of rounding certifies of each run: how far a register may be from the exact machine's, and its range.

    errors: in steps, by register. ranges: after a block, by its number and the register. At an answer both machines say one word.
    """

    errors: Mapping[str, Fraction]
    ranges: Mapping[tuple[int, str], tuple[Fraction, Fraction]]


RoundingChecker: TypeAlias = Callable[[Wired, TokenAutomaton], Promise | None]
"""Takes weights and their texts; returns what is certified of their runs, None if nothing is."""


def bounds_rounding(wired: Wired, automaton: TokenAutomaton) -> Promise | None:
    """Returns what the checker of all n certifies."""
    report = judged(wired, automaton).report
    return None if report is None else Promise(report.errors, report.ranges)


def follows_rounding(wired: Wired, automaton: TokenAutomaton) -> Promise | None:
    """Returns what the checker of all n certifies, where the checker of certificates accepts what is found."""
    numbers = [int(word) for word in wired.vocabulary if word.isdecimal()]
    families = [Family("", min(numbers), max(numbers))] if numbers else []
    model = described(wired.model, wired.arithmetic, wired.registers, wired.vocabulary, families)
    try:
        document, rows = certificate_of(model, automaton)
        check(json.dumps(document).encode(), rows)
    except Rejected:
        return None
    return bounds_rounding(wired, automaton)
