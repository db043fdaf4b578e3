"""Every question of a retrieval task about short sequences of a few tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from constructions.retrieval.task import Question


def every_question(task: str, tokens: Sequence[int], longest: int, most: int, query_length: int) -> Iterator[Question]:
    """Yields every question about up to `longest` of these tokens, the shortest first. most: the largest threshold."""
    for length in range(longest + 1):
        of_task: Mapping[str, list[Sequence[int]]] = {
            "index": [range(1, length + 1)],
            "counting": [tokens, range(most + 1)],
        }
        queries = of_task.get(task, [tokens] * query_length)
        for sequence in itertools.product(tokens, repeat=length):
            yield from (Question(sequence, query) for query in itertools.product(*queries))
