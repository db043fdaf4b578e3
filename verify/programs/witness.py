"""A small input on which a program does not say what is right: the task's own oracle is asked, not the definition.

Retrieval tasks are asked of the terms, whatever n is. Where a search is written or a chain of thought, the ideal model decodes it.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from constructions.istree.graphs import Graph, is_tree
from constructions.language.interpreter import Input, Spoken
from constructions.retrieval.task import Question
from verify.algebra.polynomial import Polynomial, constant
from verify.certificates.building import Subject, solver_of, wired_of
from verify.certificates.hard_inputs import candidates, text_of
from verify.certificates.ideal import decode
from verify.programs.extraction import Program
from verify.rounding.model import NUMBER, Model
from verify.rounding.rows import as_polynomial

TOKENS, LONGEST = 3, 3  # of the sequences that are tried
GRAPHS = 200  # that are tried at most
LARGEST_RUN = 64  # n
MOST_SCORES = 1_200_000  # of a head, in all runs: half a minute
SHOWN = 160  # characters of what is wrong with a run


def questions(subject: Subject) -> Iterator[Question]:
    """Every one with few different tokens, the shortest sequence first."""
    task, query_length = subject.retriever.task, subject.query_length or subject.retriever.query_length
    numbers = range(1, min(TOKENS, subject.n) + 1)
    for length in range(min(LONGEST, subject.length or subject.n) + 1):
        for sequence in itertools.product(numbers, repeat=length):
            for query in itertools.product(range(0 if task.zero else 1, numbers.stop), repeat=query_length):
                question = Question(sequence, query)
                if all(query[: len(query) - 1 if task.zero else None]) and not task.wrong(question):
                    yield question


def tokens_of(words: Sequence[str], family: str = "") -> list[Spoken]:
    """A prompt as the interpreter reads it."""
    return [(family, int(word)) if word.isdigit() and word != "0" else (word, 0) for word in words]


def said(model: Model, program: Program, words: Sequence[str]) -> str:
    """The word with the largest logit behind these; the first one of several."""
    prompt = Input(tokens_of(words))
    output_registers = {i for numbers in model.families.values() for i in numbers.rows}
    output_registers |= {i for row in model.specials.values() for i, _ in row}
    last = program.stages[-1].registers
    registers = {i: prompt.value(last[i], len(words)) for i in output_registers & last.keys()}
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
    return max(best, key=lambda candidate: candidate[0])[1]


def _at(logit: Polynomial, v: int) -> Fraction:
    return logit.substitute({NUMBER: constant(v)}).constant


def first_wrong(subject: Subject, model: Model, program: Program) -> str | None:
    """The input and what is said there, in words; None if none was found."""
    for question in questions(subject):
        words = question.words()
        answer, right = said(model, program, words), subject.retriever.task.answer(question)
        if answer != right:
            return f"on {' '.join(words)!r} it says {answer}; the right answer is {right}"
    return None


def first_wrong_run(subject: Subject) -> str | None:
    """The same of a construction's model that may write more than its answer, as far as it is run."""
    if subject.n > LARGEST_RUN:
        return None
    wired, solver, scores = wired_of(subject), solver_of(subject), 0
    for given in _tried(subject):
        on = f"on {_text(subject, given)}"
        try:
            run = solver.request(wired, given).run(decode)
            answer = solver.read(run)
        except ValueError as error:  # what it wrote is no search, or no run of a machine
            return f"{on}: {error}"
        if wrong := solver.judge(given, run, answer):
            if isinstance(given, Graph) and answer[1] != (right := "YES" if is_tree(given) else "NO"):
                wrong = f"it says {answer[1] or f'neither within {len(run.tokens)} words'}; the right answer is {right}"
            return f"{on}: {wrong if len(wrong) <= SHOWN else wrong[:SHOWN] + ' …'}"
        scores += (len(run.request.prompt) + len(run.tokens)) ** 2
        if scores > MOST_SCORES:
            return None
    return None


def _tried(subject: Subject) -> Iterable[Graph | Question | int]:
    if subject.construction == "istree":
        return itertools.islice(candidates(subject, random.Random(0), GRAPHS), GRAPHS)
    return [subject.n] if subject.construction == "turing" else questions(subject)


def _text(subject: Subject, given: Graph | Question | int) -> str:
    return f"the word {subject.tape or 'that is empty'}" if isinstance(given, int) else text_of(given)
