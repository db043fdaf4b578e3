"""Counting by two blocks, as Theorem 4.6 says: the count is taken at the query's token, and then copied to the threshold.

Nothing stands before the first block's head, so the embedding has what it reads: a number i is (i, i², 1), <s> marks position 1.
At the query's token m + 1 tokens are equal to it, itself among them: c = ROUND(1/(m + 2)). The threshold k stands after it and is
not counted. The second block copies c there and compares (k + 2)·c with 1 − h, as `constructions/counting.py` derives it for n + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from constructions import counting
from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import copy
from constructions.parts.heads.count import count
from constructions.retrieval.attention import clear_numbers
from constructions.retrieval.retriever import RetrievalPlan, Retriever
from constructions.retrieval.task import NO, SPECIALS, START, YES, Task
from constructions.wiring.affine import Number, reg
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Embedding, Gadget, Unit, constant


def _embedding(plan: RetrievalPlan, task: Task) -> Embedding:
    numbers = Powers(1, plan.setting.n, {"number": (1, 1), squared("number"): (1, 2), "one": (1, 0)})
    specials: list[Mapping[str, Number]] = [{word: 1, "one": 1} for word in SPECIALS]
    specials[SPECIALS.index(START)] = {START: 1, "one": 1, "first": 1}
    return Embedding(task.vocabulary(plan.setting.n), Numbered((numbers,), (*specials, {"one": 1})), "position")


def _blocks(plan: RetrievalPlan) -> tuple[BlockPlan, ...]:
    setting = plan.setting
    counted = count("occurrences of this token", reg("number"), reg(squared("number")), "occurrences", setting)
    fetched = copy("the query's count", 1, {"of the query": reg("occurrences")}, setting)
    high = 1 - counting.margin(replace(setting, n=setting.n + 1))
    compare = (
        clear_numbers(plan),
        Gadget("(k + 2)·1/(m + 2)", (Unit(reg("number") + 2, reg("of the query"), {YES: -1, NO: 1}),)),
        constant("1 − h", {YES: high, NO: -high}),
    )
    return BlockPlan((counted,), (square(reg("position"), squared("position")),)), BlockPlan((fetched,), compare)


TWO_BLOCKS: Retriever = replace(
    counting.TRANSFORMER,
    architecture="A Transformer of two blocks with one head each",
    findings=(),
    embedding=_embedding,
    blocks=_blocks,
    least_bits=lambda n, length, discipline: counting.TRANSFORMER.least_bits(n + 1, length, discipline),
)
