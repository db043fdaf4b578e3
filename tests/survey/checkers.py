"""What the survey judges: checkers that hold weights against a definition, or against texts.

Another checker is judged with the same two types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from constructions.language.model import ProgramModel
from constructions.language.program import Program
from constructions.language.terms import Answer
from constructions.language.values import Output
from constructions.wiring.numbered import Family
from constructions.wiring.wired import Wired
from verify.algebra.domains import Undecided
from verify.automata.written import of_texts
from verify.certificates.document import CERTIFIED
from verify.dossiers.dossier import Subject
from verify.dossiers.written import ProgramDossier
from verify.programs import document
from verify.programs.extraction import extract
from verify.programs.text import ProgramPrinter
from verify.rounding.model import described

Certifies: TypeAlias = Callable[[Answer], bool]
ProgramChecker: TypeAlias = Callable[[Wired, Program], Certifies]
"""Takes weights, and a program that says which texts they are for; returns whether the weights are certified to say an answer."""


def explains(wired: Wired, program: Program) -> Certifies:
    """Returns the verdict of `explain`; it reads the weights once."""
    automaton = of_texts(program.texts, wired.n, (wired.n, wired.n))
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
