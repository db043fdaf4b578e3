"""c-gram retrieval: which token follows the first place where the c − 1 tokens of the query stand? Three blocks, for any c ≥ 2.

Source: Theorem 4.6, "COPY[1..c−1] then Match".
Derivation: block 2 copies the numbers 1, …, c − 1 positions before. Block 3 compares them at each position with the query's own
tokens, which stand 0, …, c − 2 positions before the last one. A position within the query has `?`, number 0, among the c − 1
positions before it, or <s>, so it never matches. Where nothing matches position 1 is read, and after the end of the sequence
`?` is read: both have the number 0, which becomes FAILED.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from constructions.models.program import back
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import match, match_precision, spelled_out
from constructions.retrieval.attention import (
    copies,
    output_number,
    own_precision,
    pair,
    prepare,
    remember,
)
from constructions.retrieval.door import door_of
from constructions.retrieval.rag import Quote, Script, rag
from constructions.retrieval.retriever import TIED_HEAD, Plan, Retriever
from constructions.retrieval.task import FAILED, Question, Task, nothing_else
from constructions.wiring.affine import reg
from constructions.wiring.finding import Finding
from constructions.wiring.wire import BlockPlan
from precision.format import Discipline


def _answer(question: Question) -> str:
    sequence, query = question.sequence, question.query
    for start in range(len(sequence)):
        if sequence[start : start + len(query)] == query:
            rest = sequence[start + len(query) :]
            return str(rest[0]) if rest else FAILED
    return FAILED


TASK = Task(
    name="ngram",
    statement="Which token stands after the first place where c − 1 tokens stand?",
    asks="the first c − 1 tokens of a c-gram, at least one",
    least=1,
    most=None,
    zero=False,
    answer=_answer,
    wrong=nothing_else,
    example="5 2 5 9 ? 2 5",
    samples=(
        Question((1,), (1, 1)),
        Question((2, 1, 2), (2, 1)),
        Question((1, 2, 3, 2), (3, 2)),
        Question((3, 2, 3, 1, 2, 3, 4), (2, 3)),
        Question((5, 12, 5, 9, 10, 1), (12, 5)),
    ),
)


def blocks(plan: Plan) -> tuple[BlockPlan, ...]:
    """The three blocks for queries of `plan.query_length` tokens."""
    offsets = range(1, plan.query_length + 1)
    heads = tuple(copy(f"@{by}", by, copies(by), plan.setting) for by in offsets)
    head = match(
        "first place with the tokens of the query before it",
        tuple(pair(by, by - 1) for by in offsets),
        {"answer": reg("number")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    return prepare(plan), BlockPlan(heads, ()), BlockPlan((head,), output_number(plan, reg("answer"), can_fail=True))


def hybrid_blocks(plan: Plan) -> tuple[BlockPlan, ...]:
    """The two blocks of the hybrid: a shift register takes the place of the COPY heads."""
    head = match(
        "first place with the tokens of the query before it",
        tuple(pair(by, by - 1, back) for by in range(1, plan.query_length + 1)),
        {"answer": reg("number")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    attention = BlockPlan((head,), output_number(plan, reg("answer"), can_fail=True))
    return remember(plan, attention, plan.query_length, prepare(plan)), attention


def least_bits(n: int, query_length: int, discipline: Discipline) -> int:
    """The least p for queries of this many tokens."""
    length = n + 2 + query_length
    largest = (1 << n.bit_length()) - 1  # of as many digits as one key that is as large as all of them together
    while largest * largest < query_length * n * n:
        largest = 2 * largest + 1
    positions = position_square_precision(n, length)
    fused = max(own_precision(n), positions, match_precision(largest, length))
    return spelled_out(fused, discipline, largest, length)


GLOSSARY = {"answer": "the number after the first place where the query stands, 0 if there is none"}
TRANSFORMER = Retriever(
    task=TASK,
    statement="A Transformer of three blocks and c heads returns the token after the first place where c − 1 tokens stand.",
    findings=(TIED_HEAD, SCORE_RANGE, INDICATOR),
    blocks=blocks,
    least_bits=least_bits,
    precision="p ≤ 6·bits(n) + 19 for c = 3, n ≤ 10^6: n³ and a lead of O(log n) must fit (p − 1)/2 digits",
    query_length=2,
    about={
        1: "1, the square of the position, 1[position = 1]",
        2: "copies the numbers of the c − 1 positions before",
        3: "finds the first position with the query's tokens before it; writes the output",
    },
    glossary=GLOSSARY,
)
BOUNDARIES = Finding(
    id="regex-boundaries",
    source="Theorem 5.2, associative recall and c-gram retrieval",
    printed=r"the search \b k1 … k(c−1) \b(\S+)\b, if the first blank stands in the pattern",
    used=r"the search ^[^?]*? k1 … k(c−1) (\d+)",
    why=r"\b fails between the > of <s> and a blank, so the first tokens are not found; with no blank after \b they are",
)


def script(asked: int, printed: frozenset[str]) -> Script:
    """The search for a number after the query, in the sequence."""
    quotes = tuple(Quote(which) for which in range(asked))
    return (r"\b", *quotes, r"\b(\S+)\b") if BOUNDARIES.id in printed else ("^[^?]*?", *quotes, r"(\d+)")


RAG = rag(
    TASK,
    script,
    "A Linear RNN of one block and a search return the token after the first place where c − 1 tokens stand.",
    (BOUNDARIES,),
    query_length=2,
)
HYBRID = replace(
    TRANSFORMER,
    statement="A hybrid RNN with one head returns the token after the first place where c − 1 tokens stand.",
    blocks=hybrid_blocks,
    about={
        1: "keeps the last c numbers; 1, the square of the position, 1[position = 1]",
        2: "finds the first position with the query's tokens before it; writes the output",
    },
    source="Theorem 5.6",
    model="hybrid",
)
RETRIEVERS = (TRANSFORMER, RAG, HYBRID)
CONSTRUCTIONS, DOOR = RETRIEVERS, door_of(RETRIEVERS)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(RETRIEVERS))
