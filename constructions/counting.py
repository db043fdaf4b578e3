"""Counting: does a token occur more than k times?

Source: Theorem 4.6, "COPY the query, COUNT → 1/(m + 1), FFN compares (k + 1)·1/(m + 1) with 1"; Theorems 5.2 and 5.6.
Notation: m is the number of occurrences of the query in the sequence, k the threshold, c = ROUND(1/(m + 1)), b = bits(n + 1).
Transformer, three blocks with three heads: block 2 copies the query's token to the threshold after it, and counts the `?` so
far: 1/(1 + 0) within the sequence, 1/(1 + 1) from `?` on, so 2x − 1 of it is 1 there and 0 here. Only numbers of the sequence
become keys of the count in block 3. Its feed-forward writes 1 − h − (k + 1)c to YES and the negative to NO, and the larger one
is the answer: the comparison is made where the next token is chosen, as no feed-forward compares a product that it computes
itself. The product is exact, as k + 1 is an integer. If m > k it is at most 1 − 1/(n + 1) + ε with ε = (n + 1)·2^−(q+1), below
1 − h. If m ≤ k it is at least 1 − ε, above 1 − h. Both hold for h = 2^−(b+1) and q ≥ 2b: then ε < h, and h + ε ≤ 2^−b < 1/(n +
1).
Hybrid, two blocks with one head: a shift register keeps the query's token, a running sum of 1[?] says where the sequence ends.
Linear RNN: searches for ^(<s>)(?>[^?]*? v *?\\b){k + 1}. The group (?>…) is atomic: each repetition takes the next v and no
other, or a search that fails would try every choice of k + 1 places.

ERRATUM Theorem 5.2, Counting
paper says: (\\b v \\b){k + 1}.
we use: the search above.
why: the print asks for v next to v; what stands between two of them must match as well.

OPEN in Theorem 4.6, Counting
paper says: count the query "in the input sequence"; multiply the threshold with 1/(m + 1) and compare the result with 1.
we use: keys from the sequence alone; compare (k + 1)·ROUND(1/(m + 1)) with 1 − h.
why: COUNT over every token counts the query itself, which a constant makes up for, and a threshold that is the same number, which
no constant does. And where 1/(k + 1) is rounded down, (k + 1)·ROUND(1/(k + 1)) is less than exactly 1, so that m = k is taken for
m > k; a threshold with a margin, as in Lemma C.5, is not so strict.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.models.construction import Derived
from constructions.models.program import back
from constructions.parts.gadgets.indicator import FINDING as INDICATOR
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.count import PART as COUNT_PART
from constructions.parts.heads.count import count
from constructions.parts.heads.match import spelled_out
from constructions.parts.recurrences.running_sum import running_sum
from constructions.retrieval.attention import (
    brought,
    clear_numbers,
    copies,
    own_precision,
    prepare,
    remember,
)
from constructions.retrieval.rag import SPACED_COUNT, Quote, Script, rag
from constructions.retrieval.retriever import RetrievalPlan, Retriever, door_of
from constructions.retrieval.task import ASK, NO, YES, Question, Task
from constructions.wiring.affine import Affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, least_odd_precision
from constructions.wiring.register import register, squared
from constructions.wiring.wire import BlockPlan, Gadget, Unit, constant
from precision.format import Discipline

if TYPE_CHECKING:
    from constructions.language.terms import Answer

MARGIN = Finding(
    id="count-margin",
    source="Theorem 4.6, Counting",
    printed="the feed-forward compares (k + 1)·1/(m + 1) with 1",
    used="(k + 1)·ROUND(1/(m + 1)) is compared with 1 − 2^−(bits(n + 1) + 1)",
    why="ROUND(1/(k + 1)) may lie below 1/(k + 1): then m = k are taken for more than k; where it compares, the print leaves open",
)
SELF_COUNT = Finding(
    id="count-query",
    source="Theorem 4.6, Counting, and Lemma C.14",
    printed="COUNT gives 1/(m + 1); the print does not say which tokens are counted",
    used="COUNT over the tokens before `?`",
    why="of all tokens up to the query's end, the query itself is counted, and so is a threshold that is the same number",
)


def _answer(question: Question) -> str:
    token, threshold = question.query
    return YES if question.sequence.count(token) > threshold else NO


def _define(query_length: int) -> Answer:
    from constructions.gallery.more_than import more_than

    return more_than.output(query_length)


TASK = Task(
    name="counting",
    statement="Does a token occur more than k times?",
    does=("say", "whether a token occurs more than k times"),
    asks="a token and a threshold",
    least=2,
    most=2,
    answer=_answer,
    define=_define,
    zero=True,
    example="5 2 5 9 ? 5 1",
    samples=(
        Question((), (1, 0)),
        Question((1,), (1, 0)),
        Question((1,), (1, 1)),
        Question((2, 1, 2), (2, 1)),
        Question((3, 2, 3, 1), (3, 2)),
        Question((2, 12, 2, 2, 10, 1), (2, 2)),
    ),
)


def _blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    setting, printed = plan.setting, plan.says(COUNT)
    one, ask = reg("one"), reg(ASK)
    before = copy("@1", 1, copies(1), setting)
    if plan.says(SELF_COUNT):
        second = BlockPlan((before,), ())
    else:
        ask_count = count(f"has there been a {ASK}", ask, ask, "asked", setting, query=(one, one), printed=printed)
        second = BlockPlan((before, ask_count), (_numbers_inside(2 * reg("asked") - 1),))
    return prepare(plan), second, _count_and_compare(plan, brought)


def _hybrid_blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    attention = _count_and_compare(plan, back)
    block = prepare(plan, squares=False)
    if not plan.says(SELF_COUNT):
        ask_sum = running_sum(f"how many {ASK} so far", reg(ASK), "asked")
        block = BlockPlan((), (*block.gadgets, _numbers_inside(1 - reg("asked"))), (ask_sum,))
    return remember(plan, attention, 1, block), attention


def _numbers_inside(inside: Affine) -> Gadget:
    """Returns the gadget that copies number and square into `counted` where `inside` is 1."""
    units = tuple(Unit(inside, reg(of("number")), {of("counted"): 1}) for of in (register, squared))
    return Gadget(f"numbers before {ASK}", units)


def _count_and_compare(plan: RetrievalPlan, before: Callable[[str, int], Affine]) -> BlockPlan:
    """Returns the last block; before(name, 1): the register that holds `name` of the position before."""
    setting = plan.setting
    key = "number" if plan.says(SELF_COUNT) else "counted"
    head = count(
        "occurrences of the query",
        reg(key),
        reg(squared(key)),
        "occurrences",
        setting,
        query=(before("number", 1), before(squared("number"), 1)),
        printed=plan.says(COUNT),
    )
    # As printed, NO from 1 on: half a step below 1 is the same, and doubled it is an element of the format.
    as_printed, more = plan.says(MARGIN), 2 if plan.says(SELF_COUNT) else 1
    scale, half = (2, setting.format.quantum / 2) if as_printed else (1, margin(setting))
    compare = Unit(reg("number") + more, reg("occurrences"), {YES: -scale, NO: scale})
    output = (
        clear_numbers(plan),
        Gadget(f"(k + {more})·1/(m + {more}) on NO, its negative on YES", (compare,)),
        constant("1 − h on YES, its negative on NO", {YES: scale * (1 - half), NO: scale * (half - 1)}),
    )
    return BlockPlan((head,), output)


def margin(setting: Setting) -> Fraction:
    """Returns h, at most half the distance of (k + 1)/(m + 1) from 1 for any k < m ≤ n."""
    return Fraction(1) / (2 << (setting.n + 1).bit_length())


def _least_bits(n: int, query_length: int, discipline: Discipline) -> int:
    length = n + 2 + query_length
    compared = least_odd_precision(lambda q: 2 * (n + 1).bit_length())
    fused = max(own_precision(n), compared, position_square_precision(n, length), COUNT_PART.least_precision(n, length))
    return spelled_out(fused, discipline, n, length, by_position=False)


def _more_constants(setting: Setting) -> Sequence[Derived]:
    return (Derived("h", margin(setting), "2^−(bits(n + 1) + 1): (k + 1)/(m + 1) is compared with 1 − h"),)


TRANSFORMER = Retriever(
    task=TASK,
    architecture="A Transformer of three blocks and three heads",
    findings=(MARGIN, SELF_COUNT, COUNT, INDICATOR),
    blocks=_blocks,
    least_bits=_least_bits,
    precision="p ≤ 4·bits(n) + 15 for n ≤ 10^6: n² and a lead of O(log n) must fit (p − 1)/2 digits",
    query_length=2,
    about={
        1: "1, the square of the position, 1[position = 1]",
        2: "copies the query's token to the threshold; keeps the numbers before ? for the count",
        3: "counts the query's occurrences; writes the output",
    },
    glossary={
        "asked": "1 before ?, 1/2 from it on",
        "counted": "the token's number in the sequence, 0 elsewhere",
        "occurrences": "1/(1 + how often the query's token occurs in the sequence)",
    },
    more_constants=_more_constants,
)
ADJACENT = Finding(
    id="regex-adjacent",
    source="Theorem 5.2, Counting",
    printed=r"the search (\b v \b){k + 1}, in the sequence, with any blanks after v",
    used=r"the search ^(<s>)(?>[^?]*? v *?\b){k + 1}",
    why="it finds occurrences of v next to each other; something must match what stands between two of them",
)


def _script(query_length: int, printed: frozenset[str]) -> Script:
    opening, closing = (r"(?x)^[^?]*?(\b", r"\b\s*)") if ADJACENT.id in printed else ("^(<s>)(?>[^?]*?", r"*?\b)")
    if SPACED_COUNT.id in printed:
        return (opening, Quote(0), closing + "{", Quote(1, 1), "}")
    return (opening, Quote(0), Quote(1, 1, closing + "{%d}"))


RAG = rag(TASK, _script, (ADJACENT, SPACED_COUNT), query_length=2)
HYBRID = TRANSFORMER.as_hybrid(
    blocks=_hybrid_blocks,
    about={
        1: "keeps the last two numbers and whether ? has been; keeps the numbers before ? for the count",
        2: "counts the query's occurrences; writes the output",
    },
    glossary={**TRANSFORMER.glossary, "asked": "0 before ?, 1 from it on"},
)
DOOR = door_of(TRANSFORMER, RAG, HYBRID)


if __name__ == "__main__":
    from constructions.retrieval.cli import main

    sys.exit(main(DOOR))
