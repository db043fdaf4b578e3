"""The ideal model is the task: the program that the weights are, extracted and compared, for every input of one n, with no run."""

from __future__ import annotations

import itertools

from constructions.retrieval.task import Question
from verify.certificates.building import LEAST, MODELS, RETRIEVERS, Subject
from verify.claims.certified import BEYOND
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.oracles.counts import questions
from verify.programs.interpreter import Input
from verify.programs.tasks import ANSWERS
from verify.programs.witness import tokens_of

THEOREMS = {"transformer": "4.6", "rag": "5.2", "hybrid": "5.6"}
TOKENS, LONGEST = 3, 4  # of the sequences on which the definition is compared with the oracle
WHAT = "In exact arithmetic, with attention that averages ties, the answer is the task's definition, for every input."
SEARCHES = "In exact arithmetic, it writes the search that is defined, token by token, and says what was found, for every input."


@claims(
    "key",
    [
        (
            Claim.about(
                THEOREMS[model],
                name,
                "program",
                f"Theorem {THEOREMS[model]}",
                f"{name}{'' if model == 'transformer' else f', {model}'}: {SEARCHES if model == 'rag' else WHAT}",
            ),
            (name, model),
        )
        for name, model in MODELS
        if model in THEOREMS
    ],
)
def test_program(check: Check, key: tuple[str, str]) -> None:
    name, model = key
    task, asked = RETRIEVERS[name].task, RETRIEVERS[name].query_length
    longest = min(LONGEST, check.n_max)
    sizes = (*check.sizes(LEAST, ratio=10**4), *([] if check.n_max < 10**4 else [BEYOND]))
    subjects = [Subject(name, n, model=model) for n in sizes]
    text = f"every sequence of up to n tokens, every query; n = {', '.join(f'{n:,}' for n in sizes)}"
    if model == "rag":
        check.explained(
            subjects, range=f"the program against the search that is defined: {text}; any word as its result"
        )
        return
    definition = ANSWERS[name](asked)

    def as_defined(question: Question) -> Counterexample | None:
        words = question.words()
        said, right = Input(tokens_of(words)).said(definition, len(words)), task.answer(question)
        return None if said == right else Counterexample(expected=right, found=said)

    numbers = range(1, TOKENS + 1)
    last = {"index": range(1, longest + 1), "counting": range(LONGEST + 1)}.get(name, numbers)
    every = (
        question
        for length in range(longest + 1)
        for sequence in itertools.product(numbers, repeat=length)
        for query in itertools.product(*[numbers] * (asked - 1), last)
        if not task.wrong(question := Question(sequence, query))
    )
    check.exhaustive(
        every,
        as_defined,
        count=questions(name, longest, TOKENS, LONGEST, asked),
        range=f"the definition against the oracle: sequences of up to {longest} tokens over {TOKENS}, every query",
        size=lambda question: question.least_n,
    )
    check.explained(subjects, range=f"the program against the definition: {text}")
