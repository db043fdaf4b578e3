"""The way to a retrieval task for callers: its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from constructions.models.door import LARGEST_N, Door
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import LONGEST_QUERY
from precision.format import Discipline


def door_of(retrievers: Sequence[Retriever]) -> Door:
    """The door of one task, solved by each of these models."""
    by_model = {retriever.model: retriever for retriever in retrievers}

    def model_of(
        model: str, discipline: Discipline, *, n: int | None = None, query_length: int | None = None
    ) -> tuple[Retriever, int | None]:
        retriever, task = by_model[model], retrievers[0].task
        if query_length is None:
            return retriever, n
        if query_length < task.least or (task.most is not None and query_length > task.most):
            raise ValueError(f"query_length = {query_length}: the query of {task.name} is {task.asks}")
        return replace(retriever, query_length=query_length), n

    options = {"n": LARGEST_N, "query_length": LONGEST_QUERY}
    return Door(retrievers[0].task.name, tuple(by_model), model_of, options)
