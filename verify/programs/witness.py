"""A small input on which a program does not say what is right: the task's own oracle is asked, not the definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from constructions.language.interpreter import Input, Spoken
from verify.algebra.polynomial import Polynomial, constant
from verify.dossiers.dossier import Subject
from verify.programs.extraction import ExtractedProgram
from verify.rounding.model import NUMBER, ExactModel
from verify.rounding.rows import as_polynomial


def tokens_of(words: Sequence[str], family: str = "") -> list[Spoken]:
    """Returns a prompt as the interpreter reads it."""
    return [(family, int(word)) if word.isdecimal() and word != "0" else (word, 0) for word in words]


def likeliest_word(model: ExactModel, program: ExtractedProgram, words: Sequence[str]) -> str:
    """Returns the word with the largest logit after these words, by the terms; the first of several."""
    prompt = Input(tokens_of(words))
    last = program.stages[-1].registers
    registers = {i: prompt.value(last[i], len(words)) for i in model.read_by_output & last.keys()}
    best: list[tuple[Fraction, str]] = []
    for numbers in model.families.values():
        logit = sum((p * registers.get(i, Fraction(0)) for i, p in numbers.rows.items()), constant(0))
        low, high = numbers.low, numbers.high
        bend, slope = logit.terms.get((NUMBER, NUMBER), Fraction(0)), logit.terms.get((NUMBER,), Fraction(0))
        top = math.floor(Fraction(-slope) / (2 * bend)) if bend else low
        inside = sorted({low, high, *(min(max(v, low), high) for v in (top, top + 1))})
        best += [(_logit_of(logit, v), str(v)) for v in inside]
    for word, row in model.specials.items():
        weights = ((i, as_polynomial(w).constant) for i, w in row)
        best.append((sum((registers.get(i, Fraction(0)) * w for i, w in weights), Fraction(0)), word))
    return max(best, key=lambda candidate: candidate[0])[1]


def _logit_of(logit: Polynomial, v: int) -> Fraction:
    return logit.substitute({NUMBER: constant(v)}).constant


def first_wrong(subject: Subject, model: ExactModel, program: ExtractedProgram) -> str | None:
    """Describes an input on which the program answers wrongly, and its answer; None if none was found."""
    for words, right in subject.dossier.questions(subject):
        answer = likeliest_word(model, program, words)
        if answer != right:
            return f"on {' '.join(words)!r} it says {answer}; the right answer is {right}"
    return None
