"""c-gram retrieval: which token follows the first place where the c − 1 tokens of the query stand? Three blocks, for any c ≥ 2.

Source: Theorem 4.6, "COPY[1..c−1] then Match"; Theorems 5.2 and 5.6. Derivation: constructions/retrieval/grams.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from constructions.retrieval.grams import answer, retrievers
from constructions.retrieval.retriever import door_of
from constructions.retrieval.task import Question, Task

if TYPE_CHECKING:
    from constructions.language.terms import Answer


def _define(query_length: int) -> Answer:
    from constructions.gallery.trigram import next_number

    return next_number(query_length).answer


TASK = Task(
    name="ngram",
    statement="Which token stands after the first place where c − 1 tokens stand?",
    does=("return", "the token after the first place where c − 1 tokens stand"),
    asks="the first c − 1 tokens of a c-gram, at least one",
    least=1,
    most=None,
    answer=answer,
    define=_define,
    example="5 2 5 9 ? 2 5",
    samples=(
        Question((1,), (1, 1)),
        Question((2, 1, 2), (2, 1)),
        Question((1, 2, 3, 2), (3, 2)),
        Question((3, 2, 3, 1, 2, 3, 4), (2, 3)),
        Question((5, 12, 5, 9, 10, 1), (12, 5)),
    ),
)
TRANSFORMER, RAG, HYBRID = retrievers(
    TASK,
    2,
    heads="c",
    case="c = 3, ",
    key="query's tokens",
    copies="numbers of the c − 1 positions",
    window="c",
    place="place where the query stands, 0 if there is none",
)
DOOR = door_of(TRANSFORMER, RAG, HYBRID)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(DOOR))
