"""Index: which token stands at position i?

Source: Theorem 4.6, "Match on positions, 2 layers"; Theorems 5.2 and 5.6.
Transformer: two blocks and one head. Its first block has no heads, so with a recurrence that is 0 it is the hybrid as well.
Derivation: the i-th token of the sequence stands at position i + 1, after <s>. Score −G(k' − (i + 1))², a unique winner that
leads by at least G; i and i² are the last token's embedding, so the query is linear in the registers.
Linear RNN: searches for ^<s> (?:\\S+ ){i − 1}(\\S+).

ERRATUM Theorem 5.2, Index
paper says: ^(?:\\S\\s*){i−1}(\\S).
we use: the search above.
why: \\S is one character; a token is \\S+, as the paper writes it in its next search. So the print is right up to 9, where each
number has one digit. Where the prompt has an <s>, we skip it in the print as well.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from constructions.parts.heads.copy import position_square_precision, read_nearest
from constructions.parts.heads.match import spelled_out_position_precision
from constructions.retrieval.attention import output_number, own_precision, prepare
from constructions.retrieval.rag import SPACED_COUNT, Quote, Script, rag
from constructions.retrieval.retriever import TIED_HEAD, RetrievalPlan, Retriever, door_of
from constructions.retrieval.task import Question, Task
from constructions.wiring.affine import reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import least_gap, least_odd_precision, log2, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan
from precision.format import Discipline

if TYPE_CHECKING:
    from constructions.language.terms import Answer


def _answer(question: Question) -> str:
    (position,) = question.query
    return str(question.sequence[position - 1])


def _define(query_length: int) -> Answer:
    """Defines the answer as the number at the token after the position asked for: the sequence begins at position 2."""
    from constructions.language.terms import At, NumberOf, Read, SayNumber, as_term

    return SayNumber(as_term(Read(as_term(NumberOf()), At(as_term(NumberOf()) + 1))))


TASK = Task(
    name="index",
    statement="Which token stands at a position?",
    does=("return", "the token at a position that is asked for"),
    asks="one position, from 1",
    least=1,
    most=1,
    answer=_answer,
    define=_define,
    place=True,
    example="5 2 5 9 ? 2",
    samples=(
        Question((1,), (1,)),
        Question((2, 1), (2,)),
        Question((3, 2, 3, 1), (4,)),
        Question((5, 12, 5, 9, 10, 1), (2,)),
    ),
)


def _blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    one = reg("one")
    target, target_squared = reg("number") + one, reg(squared("number")) + 2 * reg("number") + one
    head = read_nearest(
        "token at the position asked for",
        target,
        target_squared,
        {"answer": reg("number")},
        split_scale(plan.setting.gap),
        "Lemma C.13 with a position that is read",
    )
    return prepare(plan, first=False), BlockPlan((head,), output_number(plan, reg("answer"), can_fail=False))


def _least_bits(n: int, query_length: int, discipline: Discipline) -> int:
    length = n + 2 + query_length
    # A target i + 1 is a position; the lead itself must fit, so that a runner-up at saturation has no weight.
    lead = least_odd_precision(lambda q: log2(least_gap(q, length)) + 1)
    fused = max(own_precision(n), position_square_precision(n, length), lead)
    return fused if discipline is Discipline.FUSED else max(fused, spelled_out_position_precision(length))


TRANSFORMER = Retriever(
    task=TASK,
    architecture="A Transformer of two blocks and one head",
    findings=(TIED_HEAD,),
    blocks=_blocks,
    least_bits=_least_bits,
    precision="p ≤ 4·bits(n) + 15 for n ≤ 10^6: n² and a lead of O(log n) must fit (p − 1)/2 digits",
    query_length=1,
    about={1: "1 and the square of the position", 2: "reads the token at the position asked for; writes the output"},
    glossary={"answer": "the number of the token at the position asked for"},
)
CHARACTERS = Finding(
    id="regex-characters",
    source="Theorem 5.2, Index",
    printed=r"the search ^(?:\S\s*){i−1}(\S), after <s>",
    used=r"the search ^<s> (?:\S+ ){i−1}(\S+)",
    why=r"\S is one character, and a number from 10 on has two or more; \S+ is a token, as in the paper's next search",
)


def _script(query_length: int, printed: frozenset[str]) -> Script:
    spaced = SPACED_COUNT.id in printed
    counted: Script
    if CHARACTERS.id in printed:
        counted = (r"(?:\S\s*){", Quote(0, -1), r"}(\S)") if spaced else (Quote(0, -1, r"(?:\S\s*){%d}(\S)"),)
    elif spaced:
        counted = (r"(?:\S+", "){", Quote(0, -1), r"}(\S+)")
    else:
        counted = (r"(?:\S+", Quote(0, -1, r"){%d}(\S+)"))
    return ("^<s>", *counted)


RAG = rag(TASK, _script, (CHARACTERS, SPACED_COUNT), query_length=1)
HYBRID = TRANSFORMER.as_hybrid()
DOOR = door_of(TRANSFORMER, RAG, HYBRID)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(DOOR))
