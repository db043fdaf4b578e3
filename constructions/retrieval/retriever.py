"""A retrieval task and one model that solves it.

Source: Theorems 4.6, 5.2 and 5.6.
A prompt is `<s> s_1 … s_m ? query`; the last token that is generated is the answer. n bounds both the numbers and m.

Registers of the embedding: number, number_squared (0 at other tokens), one per special token, position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from constructions.engines import no_response
from constructions.models.construction import Construction, Derived, lead_of, numbers_of
from constructions.models.door import Door
from constructions.models.model import NOTHING, Ids, Model, Planned, PromptDomain, RunAnswer
from constructions.models.options import ModelOptions, option
from constructions.models.request import Request, Run
from constructions.models.search import SearchTool
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.parts.heads.match import match_scale, printed_room
from constructions.retrieval.task import ASK, FAILED, LONGEST_QUERY, NO, SPECIALS, START, YES, Question, Task
from constructions.wiring.affine import Number
from constructions.wiring.finding import Finding
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.part import Setting
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Embedding
from constructions.wiring.wired import Wired
from precision.format import Discipline, Format

SATURATED = "; a score too negative for it saturates"
EXAMPLE_LENGTH = 40  # of the sequence in the longest worked example
COPIES = ("number", squared("number"))

TIED_HEAD = Finding(
    id="tied-head",
    source="section 3 (embedding) and Theorem 4.6",
    printed="with number i as one token, embedded as i·w1, and the embedding as output head, some output makes any number v the"
    " likeliest, such as n[−v, 1, −1, …, −1] (C.6.2)",
    used="number i embeds as (i, i²); the output (2v, −1) gives number i the logit v² − (v − i)²",
    why="a tied head that is linear in i is largest at an end of the vocabulary, never at v in between, whatever the output vector:"
    " it fails as soon as one token stands for each of three numbers. A remark allows decimal digits, a token each, and"
    " leaves their embedding open: as words with coordinates of their own they can all be written, as d·w1 they cannot",
)


@dataclass(frozen=True)
class RetrievalPlan:
    """What the blocks of a task are written from."""

    setting: Setting
    query_length: int
    printed: frozenset[str]

    def says(self, finding: Finding) -> bool:
        """Returns whether the blocks are as printed where this finding repairs them."""
        return finding.id in self.printed


def number_embedding(plan: RetrievalPlan, task: Task) -> Embedding:
    """Embeds number i as (i, i²), or as i alone where printed so; each special token as a 1; 0, if a query may hold it, as 0."""
    names = COPIES[:1] if plan.says(TIED_HEAD) else COPIES
    numbers = Powers(1, plan.setting.n, {name: (1, power) for power, name in enumerate(names, start=1)})
    others: tuple[Mapping[str, Number], ...] = (*({word: 1} for word in SPECIALS), *[{}] * task.zero)
    return Embedding(task.vocabulary(plan.setting.n), Numbered((numbers,), others), "position")


@dataclass(frozen=True)
class Retriever(Model[Question, str]):
    """A task and one model that solves it.

    architecture: what solves the task, such as "A Transformer of two blocks". blocks: the weights as a plan.
    embedding: the tokens. least_bits(n, query_length, discipline): the least p it is wired for. precision: that as a formula, for
    people. about: what each block does. glossary: register → meaning. more_constants: those that no other task has.
    query_length: of the model that is listed; others are built by naming theirs.
    """

    task: Task
    architecture: str
    findings: tuple[Finding, ...]
    blocks: Callable[[RetrievalPlan], Sequence[BlockPlan]]
    least_bits: Callable[[int, int, Discipline], int]
    precision: str
    query_length: int
    about: Mapping[int, str]
    glossary: Mapping[str, str]
    more_constants: Callable[[Setting], Sequence[Derived]] = lambda setting: ()
    source: str = "Theorem 4.6"
    model: str = "transformer"
    embedding: Callable[[RetrievalPlan, Task], Embedding] = number_embedding

    def as_hybrid(self, **fields: Any) -> Retriever:
        """Returns the hybrid RNN of the same task, with these fields."""
        return replace(self, architecture="A hybrid RNN with one head", source="Theorem 5.6", model="hybrid", **fields)

    def steps(self, printed: frozenset[str]) -> int:
        """Returns how many tokens follow a prompt, results of searches included; the last one is the answer."""
        return 1

    def thoughts(self, question: Question, printed: frozenset[str]) -> list[str]:
        """Returns what should stand before the answer."""
        return []

    # What people are told

    @property
    def statement(self) -> str:
        """Returns the claim about the model, as a sentence."""
        verb, rest = self.task.does
        return f"{self.architecture} {verb}{'' if self.searches else 's'} {rest}."

    @property
    def construction(self) -> Construction:
        return Construction(
            name=self.task.name,
            source=self.source,
            statement=self.statement,
            model=self.model,
            findings=self.findings,
            precision=self.precision,
            glossary={**GLOSSARY, **self.glossary},
        )

    @property
    def block_texts(self) -> Mapping[int, str]:
        return self.about

    def constants(self, setting: Setting, printed: Ids) -> Sequence[Derived]:
        fmt = setting.format
        constants = [*numbers_of(fmt, "" if self.searches else SATURATED)]
        if self.searches:
            return (*constants, *self.more_constants(setting))
        constants.append(lead_of(setting, "; the runners-up then get weight exactly 0"))
        if SCORE_RANGE in self.findings:
            as_printed = SCORE_RANGE.id in printed
            scale = match_scale(setting, as_printed)
            mismatch, default = ("n^(4c+1)", "n^(2c+2) − n") if as_printed else ("4·G·L²", "2·G·L²")
            kind = " as printed, c = 2" if as_printed else f", L = {setting.length_bound} above every position"
            constants.append(Derived("S", Fraction(scale.mismatch), f"{mismatch}{kind}: what unequal keys cost"))
            constants.append(Derived("D", Fraction(scale.default), f"{default}: what position 1 costs as the default"))
        return (*constants, *self.more_constants(setting))

    def with_options(self, options: RetrievalOptions, discipline: Discipline = Discipline.FUSED) -> Retriever:
        """Raises ValueError for a length that no query has."""
        length, task = options.query_length, self.task
        if length is None:
            return self
        if length < task.least or (task.most is not None and length > task.most):
            raise ValueError(f"query_length = {length}: the query of {task.name} is {task.asks}")
        return replace(self, query_length=length)

    # Weights

    def length(self, n: int) -> int:
        """Returns the longest prompt, <s>, n tokens, ?, the query, and what follows it with all or nothing as printed."""
        return max(self.length_with(n, frozenset(f.id for f in findings)) for findings in ((), self.findings))

    def length_with(self, n: int, printed: frozenset[str]) -> int:
        """Returns the longest text's number of tokens, with these findings as printed."""
        return n + 2 + self.query_length + self.steps(printed) - 1

    def longest(self, n: int, printed: Ids) -> int:
        """Returns the most tokens that any finding takes: one alone may take more than none or all of them."""
        return max(self.length(n), self.length_with(n, printed))

    def least_precision(self, n: int, discipline: Discipline = Discipline.FUSED, printed: Ids = NOTHING) -> int:
        least = self.least_bits(n, self.query_length, discipline)
        return max(least, printed_room(n)) if SCORE_RANGE.id in printed else least

    def plan(self, n: int, fmt: Format, printed: Ids = NOTHING, listed: int | None = None) -> Planned:
        plan = RetrievalPlan(self.setting(n, fmt), self.query_length, printed)
        few = plan if listed is None else replace(plan, setting=replace(plan.setting, n=listed))
        return self.embedding(few, self.task), tuple(self.blocks(plan))

    # Runs

    def request(self, wired: Wired, given: Question) -> Request:
        """Asks a model wired for queries of this length. Raises ValueError for a question beyond its n, with the bound."""
        n, query_length = wired.n, len(given.query)
        if (largest := max((*given.sequence, *given.query), default=0)) > n:
            raise ValueError(f"{largest} is above {n}, the largest number that this model is certified for")
        if len(given.sequence) > n:
            raise ValueError(f"the sequence has {len(given.sequence)} tokens; this model is certified for {n} at most")
        if query_length != self.query_length:
            raise ValueError(f"the query has {query_length} tokens; this model is wired for {self.query_length}")
        printed = frozenset(wired.printed)
        expected = [*self.thoughts(given, printed), self.task.answer(given)]
        return Request(
            wired,
            wired.tokens(given.words()),
            set(),
            self.steps(printed),
            [wired.token.get(word, 0) for word in expected],
            SearchTool(wired.vocabulary) if self.searches else no_response,
        )

    def read(self, run: Run) -> str:
        """Returns the answer, the last word; a search and its result may stand before it."""
        return run.produced[-1]

    def judge(self, given: Question, run: Run, answer: str) -> str:
        """Compares the answer with the task's oracle; says how they differ, or "". Words before the answer do not count."""
        expected = self.task.answer(given)
        return "" if answer == expected else f"the model answers {answer}; the right answer is {expected}"

    # Callers

    def read_input(self, given: object, n: int | None) -> Question:
        if isinstance(given, str):
            return self.task.parse(given)
        if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, Sequence) for part in given):
            sequence, query = given
            return self.task.parse(" ".join(map(str, (*sequence, ASK, *query))))
        if isinstance(given, Question):
            return given
        example = self.task.example
        raise ValueError(
            f"a question is text such as {example!r}, or the sequence and the query as two lists, not {given!r}"
        )

    def fitting(self, given: Question) -> tuple[Retriever, int]:
        return replace(self, query_length=len(given.query)), given.least_n

    def examples(self, wired: Wired, given: Question | None = None) -> Iterator[Request]:
        """Yields the sample questions that fit n and the query's length, and one with numbers from all over 1 … n."""
        n, length = wired.n, self.query_length
        samples = [q for q in self.task.samples if len(q.query) == length and q.least_n <= n]
        samples += [q for q in (self._spread(length, n), given) if q is not None and q not in samples]
        return (self.request(wired, sample) for sample in samples)

    def _spread(self, query_length: int, n: int) -> Question | None:
        """Returns a question about numbers up to n, its query in the sequence but not in front; None if n is too small."""
        sequence = tuple(1 + i * i * n // EXAMPLE_LENGTH**2 for i in range(min(n, EXAMPLE_LENGTH)))
        start = len(sequence) // 2
        query = self.task.query_of(sequence[start : start + query_length], start, 0)
        question = Question(sequence, query)
        return question if len(query) == query_length and not self.task.wrong(question) else None

    def run_answer(self, run: Run, answer: str) -> RunAnswer:
        return RunAnswer(run.produced[:-1], answer)

    def particulars(self) -> Mapping[str, object]:
        return {"model": self.model, "query_length": self.query_length}

    def domain(self, wired: Wired) -> PromptDomain:
        """Describes the prompts: any sequence of up to n numbers, and a query of the length that the weights are wired for."""
        n, query_length, task = wired.n, self.query_length, self.task
        least = int(task.place)  # tokens of the sequence
        number = r" [1-9]\d*"
        query = number + r" \d+" if task.zero else f"(?:{number}){{{query_length}}}"
        sentence = (
            f"A prompt is {START}, a sequence of {least} to {n} numbers from 1 to {n}, {ASK}, and the query, numbers up to {n}"
            f" as well: {task.asks}{'' if task.most is not None else f', here {query_length}'}."
        )
        if task.place:
            sentence += " The position is one of the sequence."
        prompt = f"{START}(?:{number}){{{least},{n}}} {re.escape(ASK)}{query}"
        return PromptDomain(sentence, prompt, (2 + least + query_length, 2 + n + query_length))


@dataclass(frozen=True)
class RetrievalOptions(ModelOptions):
    """query_length: of the queries; by default that of the task."""

    query_length: int | None = option(None, "tokens of a query", most=LONGEST_QUERY, has_flag=False)


def door_of(*retrievers: Retriever) -> Door[Retriever]:
    """Returns the door of one task, solved by each of these models."""
    return Door(retrievers[0].task.name, {one.model: one for one in retrievers}, RetrievalOptions())


GLOSSARY: Mapping[str, str] = {
    "number": "this token's number, 0 at special tokens; at the end, the output",
    "position": "this token's position, from 1",
    "one": "1 everywhere",
    "first": "1 at position 1, else 0",
    **dict.fromkeys((YES, NO, FAILED), "an answer: the output writes it, no token of a prompt has it"),
}
