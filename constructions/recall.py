"""Associative recall: which token follows the first occurrence of a key?

Source: Theorem 4.6, "COPY[1] then Match"; Theorems 5.2 and 5.6.
Derivation: c-gram retrieval with c = 2. Transformer: block 2 copies the number 1 position before, block 3 finds the first position
whose copy is the query. After the query itself nothing is read, as its own predecessor `?` has number 0.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from constructions import ngram
from constructions.retrieval.door import door_of
from constructions.retrieval.rag import rag
from constructions.retrieval.task import FAILED, Question


def _answer(question: Question) -> str:
    (key,) = question.query
    if key not in question.sequence:
        return FAILED
    following = question.sequence.index(key) + 1
    return str(question.sequence[following]) if following < len(question.sequence) else FAILED


TASK = replace(
    ngram.TASK,
    name="recall",
    statement="Which token stands after the first occurrence of a key?",
    asks="one key",
    most=1,
    answer=_answer,
    example="5 2 5 9 ? 5",
    samples=(
        Question((1,), (1,)),
        Question((2, 1), (2,)),
        Question((3, 2, 3, 1), (3,)),
        Question((3, 2, 3, 1), (1,)),
        Question((5, 12, 5, 9, 10, 1), (12,)),
    ),
)
PRECISION = "p ≤ 6·bits(n) + 19 for n ≤ 10^6: n³ and a lead of O(log n) must fit (p − 1)/2 digits"
ANSWER = {"answer": "the number after the first occurrence of the key, 0 if there is none"}
TRANSFORMER = replace(
    ngram.TRANSFORMER,
    task=TASK,
    statement="A Transformer of three blocks and two heads returns the token after the first occurrence of a key.",
    precision=PRECISION,
    query_length=1,
    about={
        1: "1, the square of the position, 1[position = 1]",
        2: "copies the number of the position before",
        3: "finds the first position with the key before it; writes the output",
    },
    glossary=ANSWER,
)
RAG = rag(
    TASK,
    ngram.script,
    "A Linear RNN of one block and a search return the token after the first occurrence of a key.",
    (ngram.BOUNDARIES,),
    query_length=1,
)
HYBRID = replace(
    ngram.HYBRID,
    task=TASK,
    statement="A hybrid RNN with one head returns the token after the first occurrence of a key.",
    precision=PRECISION,
    query_length=1,
    about={
        1: "keeps the last two numbers; 1, the square of the position, 1[position = 1]",
        2: "finds the first position with the key before it; writes the output",
    },
    glossary=ANSWER,
)
RETRIEVERS = (TRANSFORMER, RAG, HYBRID)
CONSTRUCTIONS, DOOR = RETRIEVERS, door_of(RETRIEVERS)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(RETRIEVERS))
