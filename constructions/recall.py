"""Associative recall: which token follows the first occurrence of a key?

Source: Theorem 4.6, "COPY[1] then Match"; Theorems 5.2 and 5.6.
Derivation: c-gram retrieval with c = 2 (constructions/retrieval/grams.py). In the Transformer, block 2 copies the number 1 position
before, block 3 finds the first position whose copy is the query. After the query itself nothing is read, as its own predecessor `?`
has number 0.
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
    from constructions.gallery.associative_recall import associative_recall

    return associative_recall.output(query_length)


TASK = Task(
    name="recall",
    statement="Which token stands after the first occurrence of a key?",
    does=("return", "the token after the first occurrence of a key"),
    asks="one key",
    least=1,
    most=1,
    answer=answer,
    define=_define,
    example="5 2 5 9 ? 5",
    samples=(
        Question((1,), (1,)),
        Question((2, 1), (2,)),
        Question((3, 2, 3, 1), (3,)),
        Question((3, 2, 3, 1), (1,)),
        Question((5, 12, 5, 9, 10, 1), (12,)),
    ),
)
TRANSFORMER, RAG, HYBRID = retrievers(
    TASK,
    1,
    heads="two",
    case="",
    key="key",
    copies="number of the position",
    window="two",
    place="occurrence of the key, 0 if there is none",
)
DOOR = door_of(TRANSFORMER, RAG, HYBRID)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(DOOR))
