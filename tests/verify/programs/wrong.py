"""Definitions that are not the task, and weights that are not as they were wired."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator

from constructions.language.terms import Answer, If, Say, SayNumber
from tests.verify.subjects import as_model
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import automaton_of, wired_of
from verify.certificates.document import CERTIFIED
from verify.certificates.ideal import IdealModel
from verify.certificates.mutants import CHANGES, mutant, places
from verify.dossiers.dossier import Json, Subject
from verify.programs.decisions import first_mismatch
from verify.programs.document import explained
from verify.programs.extraction import ExtractedProgram
from verify.programs.normal import Normalizer
from verify.rounding.model import ExactModel


def with_one_wrong_word(
    answer: Answer, words: tuple[str, str], families: tuple[str, str] | None = None, *, exchanged: bool = False
) -> Iterator[Answer]:
    """Each with another word in one case in which one is due, or a number of the other family.

    words: two, of which a word that is due is one at most. exchanged: also the two answers of a case.
    """
    match answer:
        case If(bit, then, otherwise):
            yield from (
                If(bit, wrong, otherwise) for wrong in with_one_wrong_word(then, words, families, exchanged=exchanged)
            )
            yield from (
                If(bit, then, wrong) for wrong in with_one_wrong_word(otherwise, words, families, exchanged=exchanged)
            )
            if exchanged:
                yield If(bit, otherwise, then)
        case SayNumber(number, family):
            yield SayNumber(number + 1, family)
            if families is not None:
                yield SayNumber(number, families[families[0] == family])
        case Say(word):
            yield Say(words[words[0] == word])


def unnoticed(
    model: ExactModel, program: ExtractedProgram, normal: Normalizer, due: Answer, others: Iterable[Answer]
) -> list[Answer]:
    """Those of the other answers that are not told from what the program says at a state; the right one is what it says there."""
    here = {register: normal.term(value) for register, value in program.stages[-1].registers.items()}
    assert first_mismatch(model, here, due, normal) is None
    return [other for other in others if first_mismatch(model, here, other, normal) is None]


def certified_changes(
    subject: Subject,
    draw: random.Random,
    count: int,
    judged: Callable[[Subject, ExactModel, TokenAutomaton], Json] = explained,
) -> Iterator[tuple[object, IdealModel]]:
    """Single weights changed, which of some are certified: place and change, and the changed model in exact arithmetic.

    count: of changes that are drawn, of which some are not certified.
    """
    wired, automaton = wired_of(subject), automaton_of(subject)
    kept, quantum = 0, float(wired.arithmetic.format.quantum)
    for place, change in draw.sample(list(itertools.product(places(wired.model), CHANGES)), count):
        weights = mutant(wired.model, place, change, quantum)
        if judged(subject, as_model(subject, wired, weights), automaton)["verdict"] == CERTIFIED:
            kept += 1
            yield (place, change), IdealModel(weights)
    assert kept < count
