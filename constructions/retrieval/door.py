"""The way to a retrieval task for callers: its options, the questions that they write, the worked examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from constructions.models.door import LARGEST_N, Domain, Door, Said
from constructions.models.solver import Request, Run
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import ASK, LONGEST_QUERY, START, Question
from constructions.wiring.wired import Wired
from precision.format import Discipline

EXAMPLE_LENGTH = 40  # of the sequence in the longest worked example


def door_of(retrievers: Sequence[Retriever]) -> Door[Retriever, Question, str]:
    """The door of one task, solved by each of these models."""
    by_model = {retriever.model: retriever for retriever in retrievers}

    def solver(
        model: str, discipline: Discipline, *, n: int | None = None, query_length: int | None = None
    ) -> tuple[Retriever, int | None]:
        retriever, task = by_model[model], retrievers[0].task
        if query_length is None:
            return retriever, n
        if query_length < task.least or (task.most is not None and query_length > task.most):
            raise ValueError(f"query_length = {query_length}: the query of {task.name} is {task.asks}")
        return replace(retriever, query_length=query_length), n

    return Door(
        name=retrievers[0].task.name,
        models=tuple(by_model),
        solver=solver,
        options={"n": LARGEST_N, "query_length": LONGEST_QUERY},
        read=_read,
        fitting=lambda retriever, question: (replace(retriever, query_length=len(question.query)), question.least_n),
        examples=examples,
        said=_said,
        about=_about,
        domain=_domain,
    )


def _read(retriever: Retriever, given: object, n: int | None) -> Question:
    if isinstance(given, str):
        return retriever.task.parse(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, Sequence) for part in given):
        sequence, query = given
        return retriever.task.parse(" ".join(map(str, (*sequence, ASK, *query))))
    if isinstance(given, Question):
        return given
    example = retriever.task.example
    raise ValueError(
        f"a question is text such as {example!r}, or the sequence and the query as two lists, not {given!r}"
    )


def examples(retriever: Retriever, wired: Wired, given: Question | None = None) -> Iterator[Request]:
    """Questions that fit this n and length of query; numbers all over 1 … n are in the last."""
    n, length = wired.n, retriever.query_length
    samples = [q for q in retriever.task.samples if len(q.query) == length and q.least_n <= n]
    samples += [q for q in (_spread(retriever, length, n), given) if q is not None and q not in samples]
    return (retriever.request(wired, sample) for sample in samples)


def _spread(retriever: Retriever, query_length: int, n: int) -> Question | None:
    """A question about numbers all over 1 … n whose query stands in the sequence, but not in front; None if n is too small."""
    sequence = tuple(1 + i * i * n // EXAMPLE_LENGTH**2 for i in range(min(n, EXAMPLE_LENGTH)))
    start = len(sequence) // 2
    query = sequence[start : start + query_length]
    if retriever.task.name == "index":
        query = (start + 1,)
    elif retriever.task.zero:
        query = (*query[:1], 0)
    question = Question(sequence, query)
    return question if len(query) == query_length and not retriever.task.wrong(question) else None


def _said(retriever: Retriever, run: Run, answer: str) -> Said:
    return Said(run.produced[:-1], answer)


def _about(retriever: Retriever) -> Mapping[str, object]:
    return {"model": retriever.model, "query_length": retriever.query_length}


def _domain(retriever: Retriever, wired: Wired) -> Domain:
    """Any sequence of up to n numbers, and a query of the length that it is wired for."""
    n, query_length, task = wired.n, retriever.query_length, retriever.task
    least = 1 if task.wrong(Question((), (1,) * query_length)) else 0  # tokens of the sequence
    number = r" [1-9]\d*"
    query = number + r" \d+" if task.zero else f"(?:{number}){{{query_length}}}"
    sentence = (
        f"A prompt is {START}, a sequence of {least} to {n} numbers from 1 to {n}, {ASK}, and the query, numbers up to {n} as well:"
        f" {task.asks}{'' if task.most is not None else f', here {query_length}'}."
    )
    if task.name == "index":
        sentence += " The position is one of the sequence."
    prompt = f"{START}(?:{number}){{{least},{n}}} {re.escape(ASK)}{query}"
    return Domain(sentence, prompt, (2 + least + query_length, 2 + n + query_length))
