"""Retrieval tasks by search: a Linear RNN of one block recites a search for the query, and then the result.

Source: Theorem 5.2, Lemmas C.20 and C.23; definition A.5.
Derivation: `?` occurs once, so how long ago it was says what comes next: the j-th token of the search is written j tokens
after the query. The query's numbers are read from the shift register, which makes them quotes in the search. The token after
<EndSearch> is the result; the answer is written after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from constructions.models.model import NOTHING, Ids
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.models.search import END_SEARCH, START_SEARCH, retrieve
from constructions.retrieval.retriever import RetrievalPlan, Retriever
from constructions.retrieval.task import ASK, FAILED, NO, SPECIALS, YES, Question, Task
from constructions.wiring.affine import reg
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Family
from constructions.wiring.part import least_odd_precision
from constructions.wiring.wire import BlockPlan, Embedding
from precision.format import Discipline

PLAIN, REPEAT = "number token", "repetition token"
SPACED_COUNT = Finding(
    id="regex-count",
    source="Theorem 5.2 and A.5",
    printed="a repetition {k}, if the number k is a token of its own",
    used="one token for each k that spells the whole repetition, such as `){3}`: about n words more",
    why="the print does not say how a pattern is cut into tokens; joined by spaces, { 3 } is no repetition but the text itself",
)


@dataclass(frozen=True)
class Quote:
    """The `which`-th number of the query, from 0, plus `plus`; `spelled` with it in place of %d, or the number's own token."""

    which: int
    plus: int = 0
    spelled: str = "%d"


Script = Sequence[str | Quote]
"""What stands between <StartSearch> and <EndSearch>."""


@dataclass(frozen=True, kw_only=True)
class Searcher(Retriever):
    """A retriever that searches. script(query_length, findings): what it writes for that, from <StartSearch> to <EndSearch>."""

    script: Callable[[int, frozenset[str]], Script]

    searches = True

    def steps(self, printed: frozenset[str]) -> int:
        return len(self.script(self.query_length, printed)) + 2  # the result, and the answer

    def thoughts(self, question: Question, printed: frozenset[str]) -> list[str]:
        recited = [
            item if isinstance(item, str) else item.spelled % (question.query[item.which] + item.plus)
            for item in self.script(len(question.query), printed)
        ]
        return [*recited, *retrieve([*question.words(), *recited])]

    def families(self, n: int, printed: Ids = NOTHING) -> tuple[Family, ...]:
        return families(self.task, n, self.script(self.query_length, printed))


def rag(
    task: Task, script: Callable[[int, frozenset[str]], Script], findings: tuple[Finding, ...], query_length: int
) -> Searcher:
    """Returns the Linear RNN that writes script(query_length, findings put back to print)."""

    @cache  # each question asks for it
    def whole(query_size: int, printed: frozenset[str]) -> Script:
        return (START_SEARCH, *script(query_size, printed), END_SEARCH)

    def blocks(plan: RetrievalPlan) -> Sequence[BlockPlan]:
        words = _words(task, 1, whole(plan.query_length, plan.printed))  # names of registers, the same for all n
        written = _rules(task, plan.query_length, whole(plan.query_length, plan.printed))
        block = BlockPlan((), decide(tuple(written), words, idle=ASK))
        return (BlockPlan((), block.gadgets, window([block])),)

    def embedding(plan: RetrievalPlan, task: Task) -> Embedding:
        return _words(task, plan.setting.n, whole(plan.query_length, plan.printed)).embedding()

    def least_bits(n: int, query_size: int, discipline: Discipline) -> int:
        """Returns the least p in which positions and the logits 2v·i of numbers up to n + 1 fit."""
        length = n + 4 + query_size + len(whole(query_size, frozenset()))
        return least_odd_precision(lambda q: max(2 * (n + 1).bit_length() + 1, length.bit_length()))

    return Searcher(
        task=task,
        architecture="A Linear RNN of one block and a search",
        findings=findings,
        blocks=blocks,
        least_bits=least_bits,
        precision="p = 4·bits(n + 1) + 3 for n ≥ 3: 2(n + 1)² must fit (p − 1)/2 digits",
        query_length=query_length,
        about={1: "keeps the last tokens, and writes what comes next: a search, then its result"},
        glossary=_GLOSSARY,
        source="Theorem 5.2",
        model="rag",
        embedding=embedding,
        script=whole,
    )


_GLOSSARY: Mapping[str, str] = {
    PLAIN: "1 at a token that is a number",
    REPEAT: "1 at a token that spells a repetition",
    ASK: "1 at the token ?",
    START_SEARCH: "1 at the token that starts a search",
    END_SEARCH: "1 at the token that ends a search",
}


def _rules(task: Task, query_size: int, script: Script) -> Iterator[WriteRule]:
    for j, item in enumerate(script):
        here = back(ASK, query_size + j)
        if isinstance(item, str):
            yield WriteRule(f"search, token {j + 1}: {item}", (here,), item)
        else:
            value = back(NUMBER, query_size - 1 - item.which + j) + item.plus
            family = PLAIN if item.spelled == "%d" else REPEAT
            yield WriteRule(
                f"search, token {j + 1}: the query's number {item.which + 1}", (here,), Write(value, family)
            )
    result, failed = back(ASK, query_size + len(script) + 1), reg(FAILED)
    if task.zero:
        yield WriteRule(f"{YES} if something was found", (result, 1 - failed), YES)
        yield WriteRule(f"{NO} if nothing was found", (result, failed), NO)
    else:
        yield WriteRule("the number that was found", (result, reg(PLAIN)), Write(reg(NUMBER), PLAIN))
        if task.can_fail:
            yield WriteRule(f"{FAILED} if nothing was found", (result, failed), FAILED)


def _words(task: Task, n: int, script: Script) -> Words:
    pieces = (item for item in script if isinstance(item, str) and item not in SPECIALS)
    return Words(families(task, n, script), (*SPECIALS, *dict.fromkeys(pieces)))


def families(task: Task, n: int, script: Script) -> tuple[Family, ...]:
    """Returns the numbers of a vocabulary: those up to n, and what the search makes of them."""
    least = 0 if task.zero else 1
    ranges = [Family(PLAIN, least, n)]
    for item in script:
        if isinstance(item, Quote):
            low, high = max(0, least + item.plus), n + item.plus
            if item.spelled == "%d":
                ranges[0] = Family(PLAIN, min(ranges[0].low, low), max(ranges[0].high, high))
            else:
                ranges.append(Family(REPEAT, low, high, lambda i, spelled=item.spelled: spelled % i))  # type: ignore[misc]
    return tuple(ranges)
