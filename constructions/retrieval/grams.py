"""What follows the first place where the query's tokens stand: the models of c-gram retrieval, and of associative recall, c = 2.

Source: Theorem 4.6, "COPY[1..c−1] then Match"; Theorems 5.2 and 5.6.
Derivation: block 2 copies the numbers 1, …, c − 1 positions before. Block 3 compares them at each position with the query's own
tokens, which stand 0, …, c − 2 positions before the last one. A position within the query has `?`, number 0, among the c − 1
positions before it, or <s>, so it never matches. Where nothing matches position 1 is read, and after the end of the sequence
`?` is read: both have the number 0, which becomes FAILED.
"""

from __future__ import annotations

from collections.abc import Callable

from constructions.models.program import back
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import match, match_precision, spelled_out
from constructions.retrieval.attention import brought, output_number, own_precision, pair, prepare, remember
from constructions.retrieval.attention import copies as copies_of
from constructions.retrieval.rag import Quote, Script, rag
from constructions.retrieval.retriever import TIED_HEAD, RetrievalPlan, Retriever
from constructions.retrieval.task import FAILED, Question, Task
from constructions.wiring.affine import Affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.wire import BlockPlan
from precision.format import Discipline

BOUNDARIES = Finding(
    id="regex-boundaries",
    source="Theorem 5.2, associative recall and c-gram retrieval",
    printed=r"the search \b k1 … k(c−1) \b(\S+)\b, if the first blank stands in the pattern",
    used=r"the search ^[^?]*? k1 … k(c−1) (\d+)",
    why=r"\b fails between the > of <s> and a blank, so the first tokens are not found; with no blank after \b they are",
)


def answer(question: Question) -> str:
    """Returns the number after the first place of the sequence where the query stands, by the meaning of the words."""
    sequence, query = question.sequence, question.query
    for start in range(len(sequence)):
        if sequence[start : start + len(query)] == query:
            rest = sequence[start + len(query) :]
            return str(rest[0]) if rest else FAILED
    return FAILED


def _find(plan: RetrievalPlan, before: Callable[[str, int], Affine]) -> BlockPlan:
    """Returns the last block; before(name, i): the register that holds `name` of i positions before."""
    head = match(
        "first place with the tokens of the query before it",
        tuple(pair(by, by - 1, before) for by in range(1, plan.query_length + 1)),
        {"answer": reg("number")},
        plan.setting,
        printed=plan.says(SCORE_RANGE),
    )
    return BlockPlan((head,), output_number(plan, reg("answer"), can_fail=True))


def _blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    heads = (copy(f"@{by}", by, copies_of(by), plan.setting) for by in range(1, plan.query_length + 1))
    return prepare(plan), BlockPlan(tuple(heads), ()), _find(plan, brought)


def _hybrid_blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    """Returns the blocks of the hybrid, in which a shift register replaces the COPY heads."""
    attention = _find(plan, back)
    return remember(plan, attention, plan.query_length, prepare(plan)), attention


def _least_bits(n: int, query_length: int, discipline: Discipline) -> int:
    length = n + 2 + query_length
    largest = (1 << n.bit_length()) - 1  # of as many digits as one key that is as large as all of them together
    while largest * largest < query_length * n * n:
        largest = 2 * largest + 1
    positions = position_square_precision(n, length)
    fused = max(own_precision(n), positions, match_precision(largest, length))
    return spelled_out(fused, discipline, largest, length)


def _script(asked: int, printed: frozenset[str]) -> Script:
    quotes = tuple(Quote(which) for which in range(asked))
    return (r"\b", *quotes, r"\b(\S+)\b") if BOUNDARIES.id in printed else ("^[^?]*?", *quotes, r"(\d+)")


def retrievers(
    task: Task, query_length: int, *, heads: str, case: str, key: str, copies: str, window: str, place: str
) -> tuple[Retriever, Retriever, Retriever]:
    """Returns the Transformer, the Linear RNN and the hybrid of a task, for queries of this many tokens.

    The rest is for people. heads: how many. case: of which c the formula of p is. key: the query. copies: what the second block
    copies. window: how many numbers the recurrence keeps. place: after what the answer stands, and when it is 0.
    """
    prepared = "1, the square of the position, 1[position = 1]"
    finds = f"finds the first position with the {key} before it; writes the output"
    transformer = Retriever(
        task=task,
        architecture=f"A Transformer of three blocks and {heads} heads",
        findings=(TIED_HEAD, SCORE_RANGE, INDICATOR),
        blocks=_blocks,
        least_bits=_least_bits,
        precision=f"p ≤ 6·bits(n) + 19 for {case}n ≤ 10^6: n³ and a lead of O(log n) must fit (p − 1)/2 digits",
        query_length=query_length,
        about={1: prepared, 2: f"copies the {copies} before", 3: finds},
        glossary={"answer": f"the number after the first {place}"},
    )
    about = {1: f"keeps the last {window} numbers; {prepared}", 2: finds}
    searcher = rag(task, _script, (BOUNDARIES,), query_length)
    return transformer, searcher, transformer.as_hybrid(blocks=_hybrid_blocks, about=about)
