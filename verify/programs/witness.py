"""A small input on which a program does not say what is right: the task's own oracle is asked, not the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from constructions.retrieval.task import Question
from verify.certificates.building import Subject
from verify.certificates.model import NUMBER, Model
from verify.certificates.polynomial import Polynomial, constant
from verify.certificates.rows import as_polynomial
from verify.programs.extraction import Program
from verify.programs.interpreter import Input, Spoken

TOKENS, LONGEST = 3, 3  # of the sequences that are tried


def questions(subject: Subject) -> Iterator[Question]:
    """Every one with few different tokens, the shortest sequence first."""
    task, asked = subject.retriever.task, subject.query_length or subject.retriever.query_length
    numbers = range(1, min(TOKENS, subject.n) + 1)
    for length in range(min(LONGEST, subject.length or subject.n) + 1):
        for sequence in itertools.product(numbers, repeat=length):
            for query in itertools.product(range(0 if task.zero else 1, numbers.stop), repeat=asked):
                question = Question(sequence, query)
                if all(query[: len(query) - 1 if task.zero else None]) and not task.wrong(question):
                    yield question


def tokens_of(words: Sequence[str], family: str = "") -> list[Spoken]:
    """A prompt as the interpreter reads it."""
    return [(family, int(word)) if word.isdigit() and word != "0" else (word, 0) for word in words]


def said(model: Model, program: Program, words: Sequence[str]) -> str:
    """The word with the largest logit behind these; the first one of several."""
    given = Input(tokens_of(words))
    read = {i for numbers in model.families.values() for i in numbers.rows}
    read |= {i for row in model.specials.values() for i, _ in row}
    last = program.stages[-1].registers
    registers = {i: given.value(last[i], len(words)) for i in read & last.keys()}
    best: list[tuple[Fraction, str]] = []
    for numbers in model.families.values():
        logit = sum((p * registers.get(i, Fraction(0)) for i, p in numbers.rows.items()), constant(0))
        low, high = numbers.low, numbers.high
        bend, slope = logit.terms.get((NUMBER, NUMBER), Fraction(0)), logit.terms.get((NUMBER,), Fraction(0))
        top = math.floor(Fraction(-slope) / (2 * bend)) if bend else low
        inside = sorted({low, high, *(min(max(v, low), high) for v in (top, top + 1))})
        best += [(_at(logit, v), str(v)) for v in inside]
    for word, row in model.specials.items():
        weights = ((i, as_polynomial(w).constant) for i, w in row)
        best.append((sum((registers.get(i, Fraction(0)) * w for i, w in weights), Fraction(0)), word))
    return max(best, key=lambda found: found[0])[1]


def _at(logit: Polynomial, v: int) -> Fraction:
    return logit.substitute({NUMBER: constant(v)}).constant


def first_wrong(subject: Subject, model: Model, program: Program) -> str | None:
    """The input and what is said there, in words; None if none was found."""
    for question in questions(subject):
        words = question.words()
        found, right = said(model, program, words), subject.retriever.task.answer(question)
        if found != right:
            return f"on {' '.join(words)!r} it says {found}; the right answer is {right}"
    return None
