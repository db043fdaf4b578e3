"""Theorem 4.6, upper bound: Transformers that solve Index, associative recall, c-gram retrieval and Counting with one token."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions import counting, index, ngram, recall
from constructions.engines import find_engine
from constructions.findings import Finding
from constructions.heads.match import FINDING as SCORE_RANGE
from constructions.layers import block_arrays
from constructions.retrieval.task import SPECIALS, Question
from constructions.retrieval.transformer import Retriever
from constructions.wired import Wired
from precision.format import Discipline
from verify.check import Check
from verify.claim import Claim, Counterexample, Verdict, claim, claims
from verify.strategies import SHRINKABLE, Pick

RETRIEVERS: dict[str, Retriever] = {
    retriever.task.name: retriever
    for retriever in (index.RETRIEVER, recall.RETRIEVER, ngram.RETRIEVER, counting.RETRIEVER)
}
CHUNK = 1 << 14  # questions to a batch of the dense engine
AFFORDABLE = {"reference": 64, "dense": 1024}  # the largest n that an engine reads in seconds
LONGEST_C = 5  # of the c-grams that are sampled
LEAST = 4  # the shortest sequence at scale
LADDER = (10, 100, 1000)
PRECISION = "p = least_precision(n)"


@dataclass(frozen=True)
class Case:
    """A question to the model for n."""

    n: int
    sequence: tuple[int, ...]
    query: tuple[int, ...]

    @property
    def question(self) -> Question:
        """What is asked."""
        return Question(self.sequence, self.query)


@cache
def model(
    task: str,
    n: int,
    query_length: int,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    p_bits: int | None = None,
) -> Wired:
    """The wired model, built once for each size."""
    return RETRIEVERS[task].build(n, p_bits, query_length=query_length, printed=printed, discipline=discipline)


def judged(task: str, case: Case, answered: str) -> Counterexample | None:
    """Against the oracle."""
    expected = RETRIEVERS[task].task.answer(case.question)
    return None if answered == expected else Counterexample(expected=expected, answered=answered)


# Every small question


class Batches:
    """Judges questions one by one, computing them many at a time with the dense engine."""

    def __init__(self, retriever: Retriever, check: Check, discipline: Discipline = Discipline.FUSED) -> None:
        self.task, self.device, self.discipline = retriever.task, check.device, discipline
        self.answers: dict[Case, str] = {}

    def ahead(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The same questions, each judged before it is handed out."""
        while chunk := list(itertools.islice(cases, CHUNK)):
            self._answer(chunk)
            yield from chunk

    def _answer(self, chunk: list[Case]) -> None:
        from constructions.engines import dense

        for (n, length), group in itertools.groupby(chunk, key=lambda case: (case.n, len(case.query))):
            cases = list(group)
            wired = model(self.task.name, n, length, (), self.discipline)
            prompts = [self.task.prompt(case.question, n) for case in cases]
            found = dense.run(wired.model, wired.arithmetic, prompts, device=self.device).next_tokens
            words = (wired.vocabulary[int(tokens[-1])] for tokens in found)
            self.answers.update(zip(cases, words, strict=True))

    def right(self, case: Case) -> Counterexample | None:
        """The verdict on one question; a replayed one is computed alone."""
        if case not in self.answers:
            self._answer([case])
        return judged(self.task.name, case, self.answers.pop(case))


def sequences(longest: int, tokens: int) -> Iterator[tuple[int, ...]]:
    """Every sequence of up to `longest` tokens from 1 … tokens, the shortest first."""
    for length in range(longest + 1):
        yield from itertools.product(range(1, tokens + 1), repeat=length)


def every_query(task: str, sequence: Sequence[int], tokens: int, most: int, query_length: int) -> list[tuple[int, ...]]:
    """Every query; thresholds up to `most`."""
    if task == "index":
        return [(position,) for position in range(1, len(sequence) + 1)]
    if task == "counting":
        return list(itertools.product(range(1, tokens + 1), range(most + 1)))
    return list(itertools.product(range(1, tokens + 1), repeat=query_length))


def every_case(task: str, n: int, longest: int, tokens: int, query_length: int) -> Iterator[Case]:
    """Every question about a sequence of up to `longest` tokens from 1 … tokens, to the model for n."""
    for sequence in sequences(longest, tokens):
        for query in every_query(task, sequence, tokens, n, query_length):
            yield Case(n, sequence, query)


@claims(
    "retriever",
    [
        (Claim(f"4.6/{name}-small", r.source, f"{r.statement} On every small input."), r)
        for name, r in RETRIEVERS.items()
    ],
)
def test_every_small_question(check: Check, retriever: Retriever) -> None:
    name = retriever.task.name
    lengths = range(1, LONGEST_C) if name == "ngram" else (retriever.query_length,)

    def exhaust(text: str, n: int, longest: int, tokens: int, query_length: int, discipline: Discipline) -> None:
        if n > check.n_max:
            return
        batches = Batches(retriever, check, discipline)
        check.exhaustive(
            batches.ahead(every_case(name, n, longest, tokens, query_length)),
            batches.right,
            range=f"{text}, {discipline.value} (dense)",
            size=lambda case: len(case.sequence),
            precision=PRECISION,
        )

    for query_length in lengths:
        asked = f"c = {query_length + 1}: " if name == "ngram" else ""
        tokens = {3: 3, 4: 2}.get(query_length, 4)  # the queries of c = 4 and 5 over 4 tokens would take a minute
        what = "every query"
        if name == "counting":
            what = "every token and threshold from 0 to 6"
        exhaust(f"{asked}up to 6 tokens from 1 … {tokens}, {what}", 6, 6, tokens, query_length, Discipline.FUSED)
        exhaust(f"{asked}up to 4 tokens from 1 … 3, every query", 4, 4, 3, query_length, Discipline.SEQUENTIAL)
        for n in (1, 2, 3):
            exhaust(f"{asked}the model for n = {n}, every question", n, n, n, query_length, Discipline.FUSED)


# Random questions, up to --n-max


def random_case(task: str, n: int, pick: Pick, *, full: bool = False) -> Case:
    """A question to the model for n: keys repeat or not, the query occurs, ends the sequence, or is absent.

    full: the sequence has n tokens.
    """
    length = n if full or pick(0, 3) == 3 else pick(1 if task == "index" else 0, n)
    alphabet = (n, min(3, n), min(10, n), max(1, n // 2))[pick(0, 3)]
    offset = pick(0, n - alphabet)
    sequence = tuple(offset + pick(1, alphabet) for _ in range(length))
    return Case(n, sequence, random_query(task, n, sequence, pick))


def random_query(task: str, n: int, sequence: Sequence[int], pick: Pick) -> tuple[int, ...]:
    """A query of any kind that the task allows."""
    length = len(sequence)
    if task == "index":
        return ((pick(1, length), 1, length)[pick(0, 2)],)
    if task == "counting":
        token = sequence[pick(0, length - 1)] if length and pick(0, 3) else pick(1, n)
        occurs = list(sequence).count(token)
        near = occurs + pick(-2, 2)
        threshold = (near, near, pick(0, n), token)[pick(0, 3)]
        return token, min(max(threshold, 0), n)
    asked = pick(1, LONGEST_C - 1) if task == "ngram" else 1
    if length >= asked and pick(0, 4):
        start = (pick(0, length - asked), length - asked)[pick(0, 5) == 0]
        return tuple(sequence[start : start + asked])
    return tuple(pick(1, n) for _ in range(asked))


@st.composite
def cases(draw: DrawFn, task: str, sizes: Sequence[int]) -> Case:
    """A question to a model for n from `sizes`."""
    n = draw(st.sampled_from(sizes))
    if n <= SHRINKABLE:
        return random_case(task, n, lambda low, high: draw(st.integers(low, high)))
    return random_case(task, n, random.Random(draw(st.integers(0, 2**32))).randint)


def ask(check: Check, task: str, case: Case, printed: tuple[str, ...], discipline: Discipline) -> Counterexample | None:
    """Whether the engine's answer is right."""
    wired = model(task, case.n, len(case.query), printed, discipline, check.p_bits)
    prompt = RETRIEVERS[task].task.prompt(case.question, case.n)
    produced = find_engine(check.engine)(wired.model, wired.arithmetic, prompt, set(), 1).produced
    return judged(task, case, wired.vocabulary[produced[0]])


@dataclass(frozen=True)
class Setup:
    """One way to run a repaired model."""

    retriever: Retriever
    discipline: Discipline

    @property
    def claim(self) -> Claim:
        """What is claimed."""
        mark = "" if self.discipline is Discipline.FUSED else f"-{self.discipline.value}"
        statement = f"{self.retriever.statement} Without chain of thought; rounding {self.discipline.value}."
        return Claim(f"4.6/{self.retriever.task.name}{mark}", self.retriever.source, statement)


SETUPS = [Setup(retriever, discipline) for discipline in Discipline for retriever in RETRIEVERS.values()]


@claims("setup", [(setup.claim, setup) for setup in SETUPS])
def test_random_questions(check: Check, engine: str, setup: Setup) -> None:
    name, discipline = setup.retriever.task.name, setup.discipline
    fused = discipline is Discipline.FUSED
    sizes = check.sizes(cap=AFFORDABLE.get(engine, check.n_max) // (1 if fused else 4))
    precision = PRECISION
    if check.p_bits is not None:
        precision, asked = f"p = {check.p_bits}", LONGEST_C - 1 if name == "ngram" else None
        least = [setup.retriever.least_precision(n, discipline, query_length=asked) for n in sizes]
        sizes = tuple(n for n, bits in zip(sizes, least, strict=True) if bits <= check.p_bits)
        if not sizes:
            check.unknown(f"p = {check.p_bits} is below the least p that is certified, {least[0]} at n = 1")

    def right(case: Case) -> Counterexample | None:
        return ask(check, name, case, (), discipline)

    small, large = [n for n in sizes if n <= 16], [n for n in sizes if n > 16]
    for some, examples in ((small, 150 if fused else 60), (large, 40 if fused else 15)):
        if some:
            check.sampled(
                cases(name, some),
                right,
                range=f"random sequences and queries; n = {', '.join(map(str, some))}",
                size=lambda case: len(case.sequence),
                precision=precision,
                max_examples=examples,
            )


# At scale


@dataclass(frozen=True)
class LargeCase:
    """A question about n tokens, from a seed."""

    n: int
    seed: int

    def case(self, task: str) -> Case:
        """The question itself."""
        return random_case(task, self.n, random.Random(self.seed).randint, full=True)


def at_scale(task: str) -> Callable[[LargeCase], Counterexample | None]:
    """Whether the indexed engine, every softmax column of it certified or dense, gives the right answer."""

    def right(large: LargeCase) -> Counterexample | None:
        from constructions.engines import indexed

        case = large.case(task)
        wired = model(task, case.n, len(case.query))
        run = indexed.run(wired.model, wired.arithmetic, RETRIEVERS[task].task.prompt(case.question, case.n))
        return judged(task, case, wired.vocabulary[int(run.next_tokens[-1])])

    return right


@claims(
    "retriever",
    [(Claim(f"4.6/{name}-scale", r.source, f"{r.statement} At any size."), r) for name, r in RETRIEVERS.items()],
)
def test_at_scale(check: Check, retriever: Retriever) -> None:
    for n in check.sizes(LEAST, ratio=10):
        check.sampled(
            st.builds(LargeCase, st.just(n), st.integers(0, 2**32 - 1)),
            at_scale(retriever.task.name),
            range=f"random sequences of n = {n:,} tokens and random queries (indexed)",
            size=lambda large: large.n,
            precision=PRECISION,
            max_examples=60 if n <= 1000 else 8,
        )


# As printed


@dataclass(frozen=True)
class Printed:
    """A task with findings put back to print."""

    retriever: Retriever
    findings: tuple[Finding, ...]

    @property
    def alone(self) -> bool:
        """Whether everything else is repaired."""
        return len(self.findings) == 1 and len(self.retriever.findings) > 1

    @property
    def claim(self) -> Claim:
        """What is claimed."""
        name, source, statement = self.retriever.task.name, self.retriever.source, self.retriever.statement
        if not self.alone:
            return Claim(f"4.6/{name}/printed", source, statement, variant="printed", expected=Verdict.REFUTED)
        (finding,) = self.findings
        text = f"{statement} As printed: {finding.printed}."
        return Claim(f"4.6/{name}/{finding.id}", finding.source, text, finding=finding.id, expected=Verdict.REFUTED)


PRINTS = [
    Printed(retriever, chosen)
    for retriever in RETRIEVERS.values()
    for chosen in dict.fromkeys([*((finding,) for finding in retriever.findings), retriever.findings])
]


@claims("printed", [(printed.claim, printed) for printed in PRINTS])
def test_as_printed(check: Check, engine: str, printed: Printed) -> None:
    retriever, ids = printed.retriever, tuple(finding.id for finding in printed.findings)
    name = retriever.task.name

    def right(case: Case) -> Counterexample | None:
        return ask(check, name, case, ids, Discipline.FUSED)

    def search(n: int, longest: int, tokens: int) -> None:
        if n <= check.n_max:
            check.exhaustive(
                every_case(name, n, longest, tokens, retriever.query_length),
                right,
                range=f"the model for n = {n}: up to {longest} tokens from 1 … {tokens}, every query",
                size=lambda case: len(case.sequence),
                precision=precision,
            )

    precision = PRECISION if check.p_bits is None else f"p = {check.p_bits}"
    if SCORE_RANGE.id in ids:  # for a smaller n, e^−n alone could be to blame
        if check.p_bits is None:
            precision = "p = the least odd number above 10·log2 n"
        search(8, 3, 2)
    else:
        search(2, 2, 2)
        search(6, 6, 2)


# Sizes


@dataclass(frozen=True)
class Size:
    """One model to measure."""

    task: str
    n: int


SIZES = {"index": (2, 1), "recall": (3, 2), "ngram": (3, 3), "counting": (3, 3)}  # blocks, heads; ngram at c = 3


@claim(
    "4.6/size",
    source=index.RETRIEVER.source,
    statement="The Transformers have constant size, 2 or 3 blocks with 1 to 3 heads in all (c heads for c-grams), "
    "and no matrix but the vocabulary grows with n. The answer is the first token that they write.",
)
def test_constant_size(check: Check) -> None:
    def shapes(built: Wired) -> list[list[tuple[int, ...]]]:
        return [[array.shape for array in block_arrays(block)] for block in built.model.blocks]

    def as_small(size: Size) -> Counterexample | None:
        retriever = RETRIEVERS[size.task]
        built, smallest = (model(size.task, n, retriever.query_length) for n in (size.n, LADDER[0]))
        counted = (len(built.model.blocks), sum(len(block.heads) for block in built.model.blocks))
        if counted != SIZES[size.task]:
            return Counterexample(expected=SIZES[size.task], blocks_and_heads=counted)
        if built.model.words.shape != (size.n + len(SPECIALS) + retriever.task.zero, built.model.width):
            return Counterexample(words=built.model.words.shape)
        return None if shapes(built) == shapes(smallest) else Counterexample(expected=shapes(smallest))

    check.certified(
        [Size(task, n) for task in RETRIEVERS for n in LADDER],
        as_small,
        range="matrices of all four at n = 10, 100, 1000",
        size=lambda size: size.n,
        precision=PRECISION,
    )


@claim(
    "4.6/precision",
    source=index.RETRIEVER.source,
    statement="O(log n) bits suffice: least_precision(n) ≤ 4·(1 + log2 n) + 15 for Index and Counting, 6·(1 + log2 n) + 19 for "
    "recall and 3-grams.",
)
def test_logarithmic_precision(check: Check) -> None:
    bounds = {"index": (4, 15), "counting": (4, 15), "recall": (6, 19), "ngram": (6, 19)}

    def within(size: Size) -> Counterexample | None:
        slope, rest = bounds[size.task]
        least, bound = RETRIEVERS[size.task].least_precision(size.n), slope * (1 + math.log2(size.n)) + rest
        return None if least <= bound + 1e-9 else Counterexample(least=least, bound=bound)

    powers = {2**e + d for e in range(1, 20) for d in (-1, 0, 1)} | {10**6}
    check.certified(
        [Size(task, n) for task in RETRIEVERS for n in sorted(powers)],
        within,
        range="n = 2^e and 2^e ± 1, up to 10^6",
        size=lambda size: size.n,
    )
