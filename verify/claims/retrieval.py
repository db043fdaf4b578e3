"""Theorems 4.6, 5.2 and 5.6: the four retrieval tasks by Transformers, by Linear RNNs that search, by hybrid RNNs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions import counting, index, ngram, recall
from constructions.engines import decode_together, find_engine
from constructions.models.search import SearchError
from constructions.parts.heads.count import FINDING as COUNT
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.retrieval.retriever import TIED_HEAD, Retriever
from constructions.retrieval.task import FAILED, NO, YES, Question
from constructions.wiring.finding import Finding
from constructions.wiring.wired import Wired
from precision.format import Discipline
from verify.claims.questions import every_question
from verify.claims.readings_of_heads import AT_LEAST, EMBEDDED, at_least_readings, verdict
from verify.claims.readings_of_searches import as_printed_text, options_of_findings
from verify.dossiers.registry import find_subject
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.hard_questions import LEAST, HardQuestion, hard_questions
from verify.inputs.strategies import SHRINKABLE, Pick
from verify.oracles.counts import questions
from verify.runs.costs import PRECISION

RETRIEVERS: dict[str, Retriever] = {
    f"{retriever.source.removeprefix('Theorem ')}/{retriever.task.name}": retriever
    for retrievers in zip(*(task.DOOR.wirings.values() for task in (index, recall, ngram, counting)), strict=True)
    for retriever in retrievers
}
"""By the stem of their claims' ids: "4.6/index", …; those of one theorem stand together."""
CHUNK = 1 << 14  # questions to a batch of the dense engine
CERTIFIED = (4, 8, 64, 1000)  # n of models with printed factors whose weights are looked at
COUNTS_FROM = 16  # n from which on the printed score of Lemma C.14, with its factor n, counts right in these models
AFFORDABLE = {"reference": 64, "dense": 1024, "native": 1024}  # the largest n that an engine reads in seconds
LONGEST_C = 5  # of the c-grams that are sampled


def about(stem: str, aspect: str, *said: str, source: str = "", **more: Any) -> Claim:
    """Returns a claim about one model. said: after its statement. source: by default the theorem."""
    (theorem, _, task), retriever = stem.partition("/"), RETRIEVERS[stem]
    statement = " ".join((retriever.statement, *said))
    return Claim.about(theorem, task, aspect, source or retriever.source, statement, **more)


@dataclass(frozen=True)
class QuestionCase:
    """A question to the model for n."""

    n: int
    sequence: tuple[int, ...]
    query: tuple[int, ...]

    @property
    def question(self) -> Question:
        """Returns the question of the case."""
        return Question(self.sequence, self.query)


@dataclass(frozen=True)
class SizedModel:
    """A model for n."""

    stem: str
    n: int


@cache
def model(
    stem: str,
    n: int,
    query_length: int,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    p_bits: int | None = None,
) -> Wired:
    """Returns the wired model, built once for each size."""
    return replace(RETRIEVERS[stem], query_length=query_length).build(n, p_bits, printed=printed, discipline=discipline)


def judged(stem: str, case: QuestionCase, answered: str) -> Counterexample | None:
    """Compares the model's answer with the oracle's."""
    expected = RETRIEVERS[stem].task.answer(case.question)
    return None if answered == expected else Counterexample(expected=expected, answered=answered)


# Every small question


def answers(stem: str, device: str, discipline: Discipline) -> Callable[[list[QuestionCase]], Iterator[str]]:
    """Returns a function that answers questions to one model by the dense engine. It makes every search again."""

    def compute(cases: list[QuestionCase]) -> Iterator[str]:
        length = len(cases[0].query)
        wired = model(stem, cases[0].n, length, (), discipline)
        retriever = replace(RETRIEVERS[stem], query_length=length)
        together = [retriever.request(wired, case.question).decoding() for case in cases]
        for decoded in decode_together(together, device):
            yield wired.vocabulary[decoded.produced[-1]]

    return compute


def every_case(task: str, n: int, longest: int, tokens: int, query_length: int) -> Iterator[QuestionCase]:
    """Yields every question about a sequence of up to `longest` tokens from 1 … tokens, to the model for n."""
    for question in every_question(task, range(1, tokens + 1), longest, n, query_length):
        yield QuestionCase(n, question.sequence, question.query)


@claims("stem", RETRIEVERS, lambda stem: about(stem, "small", "On every small input."))
def test_every_small_question(check: Check, stem: str) -> None:
    retriever = RETRIEVERS[stem]
    name = retriever.task.name
    # Tokens of the alphabet for each length of query: more would take minutes.
    alphabets = {1: 4, 2: 4, 3: 3, 4: 2} if name == "ngram" else {retriever.query_length: 4}
    counts = " (c = 2 … 5: over 4, 4, 3, 2)" if name == "ngram" else ""
    what = "every token and every threshold up to n" if name == "counting" else "every query"

    def exhaust(text: str, ranges: Sequence[tuple[int, int, int, int]], discipline: Discipline) -> None:
        """Tries all questions. ranges: n, longest sequence, number of tokens, query length. Notes sizes if these are all."""
        everything = all(longest == tokens == n for n, longest, tokens, _ in ranges)
        batches = Batches(
            answers(stem, check.device, discipline), key=lambda case: (case.n, len(case.query)), chunk=CHUNK
        )

        def right(case: QuestionCase) -> Counterexample | None:
            return judged(stem, case, batches.outcome(case))

        within = [some for some in ranges if some[0] <= check.n_max]
        check.exhaustive(
            batches.compute_ahead(itertools.chain.from_iterable(every_case(name, *some) for some in within)),
            right,
            count=sum(questions(name, longest, tokens, n, length) for n, longest, tokens, length in within),
            range=f"{text}, {what}, {discipline.value} (dense)",
            size="own" if everything else None,
            precision=PRECISION,
        )

    if check.n_max >= 6:
        sizes = [(6, 6, tokens, length) for length, tokens in alphabets.items()]
        exhaust(f"n = 6: up to 6 tokens over 4{counts}", sizes, Discipline.FUSED)
    if check.n_max >= 4:
        exhaust("n = 4: up to 4 tokens over 3", [(4, 4, 3, length) for length in alphabets], Discipline.SEQUENTIAL)
    exhaust("n = 1, 2, 3: everything", [(n, n, n, length) for length in alphabets for n in (1, 2, 3)], Discipline.FUSED)


# Counting, with “at least”


COUNTERS = tuple(stem for stem in RETRIEVERS if stem.endswith("/counting"))


@claims("stem", COUNTERS, lambda stem: about(stem, AT_LEAST, "“At least k”, for k ≥ 1, is asked as more than k − 1."))
def test_at_least(check: Check, engine: str, stem: str) -> None:
    def right(case: QuestionCase) -> Counterexample | None:
        """Returns the right answer; the threshold of a case is k − 1."""
        token, threshold = case.query
        wired = model(stem, case.n, 2, (), Discipline.FUSED, check.p_bits)
        answered = RETRIEVERS[stem].request(wired, case.question).run(find_engine(engine)).produced[-1]
        expected = YES if case.sequence.count(token) >= threshold + 1 else NO
        return None if answered == expected else Counterexample(at_least=threshold + 1, answered=answered)

    small = [n for n in (1, 2, 3) if n <= check.n_max]
    check.exhaustive(
        (case for n in small for case in every_case("counting", n, n, n, 2)),
        right,
        count=sum(questions("counting", n, n, n, 2) for n in small),
        range="every sequence, every token and every k from 1 to n + 1",
        precision=check.precision_text(PRECISION),
    )


# Random questions, up to --n-max


def random_case(task: str, n: int, pick: Pick, *, full: bool = False) -> QuestionCase:
    """Returns a question to the model for n: keys repeat or not, the query occurs, ends the sequence, or is absent.

    full: the sequence has n tokens.
    """
    length = n if full or pick(0, 3) == 3 else pick(1 if task == "index" else 0, n)
    alphabet = (n, min(3, n), min(10, n), max(1, n // 2))[pick(0, 3)]
    offset = pick(0, n - alphabet)
    sequence = tuple(offset + pick(1, alphabet) for _ in range(length))
    return QuestionCase(n, sequence, random_query(task, n, sequence, pick))


def random_query(task: str, n: int, sequence: Sequence[int], pick: Pick) -> tuple[int, ...]:
    """Returns a query of any kind that the task allows."""
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
def cases(draw: DrawFn, task: str, sizes: Sequence[int]) -> QuestionCase:
    """Draws a question to a model for some n in `sizes`."""
    n = draw(st.sampled_from(sizes))
    if n <= SHRINKABLE:
        return random_case(task, n, lambda low, high: draw(st.integers(low, high)))
    return random_case(task, n, random.Random(draw(st.integers(0, 2**32))).randint)


def ask(
    check: Check,
    stem: str,
    case: QuestionCase,
    printed: tuple[str, ...] = (),
    discipline: Discipline = Discipline.FUSED,
    engine: str = "",
) -> Counterexample | None:
    """Returns whether the engine's answer is right; a search that cannot be carried out is a wrong one."""
    wired = model(stem, case.n, len(case.query), printed, discipline, check.p_bits)
    retriever = replace(RETRIEVERS[stem], query_length=len(case.query))
    try:
        produced = retriever.request(wired, case.question).run(find_engine(engine or check.engine)).produced
    except SearchError as error:
        return Counterexample(expected=retriever.task.answer(case.question), failed=str(error))
    return judged(stem, case, produced[-1])


@dataclass(frozen=True)
class RetrievalSetup:
    """One way to run a repaired model."""

    stem: str
    discipline: Discipline

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        retriever = RETRIEVERS[self.stem]
        mark = "" if self.discipline is Discipline.FUSED else self.discipline.value
        how = "With one search" if retriever.searches else "Without chain of thought"
        return about(self.stem, mark, f"{how}; rounding {self.discipline.value}.")


SETUPS = [RetrievalSetup(stem, discipline) for discipline in Discipline for stem in RETRIEVERS]


@claims("setup", SETUPS, lambda setup: setup.claim)
def test_random_questions(check: Check, engine: str, setup: RetrievalSetup) -> None:
    retriever, discipline = RETRIEVERS[setup.stem], setup.discipline
    name = retriever.task.name
    fused = discipline is Discipline.FUSED
    sizes = check.sizes(cap=AFFORDABLE.get(engine, check.n_max) // (1 if fused else 4))
    longest = replace(retriever, query_length=LONGEST_C - 1) if name == "ngram" else retriever
    sizes = check.certified_sizes(sizes, lambda n: longest.least_precision(n, discipline))

    right = partial(ask, check, setup.stem, discipline=discipline)
    small, large = [n for n in sizes if n <= 16], [n for n in sizes if n > 16]
    for some, examples in ((small, 150 if fused else 60), (large, 40 if fused else 15)):
        if some:
            check.sampled(
                cases(name, some),
                right,
                range=f"random sequences and queries; n = {', '.join(map(str, some))}",
                precision=check.precision_text(PRECISION),
                max_examples=examples,
            )


# At scale


@dataclass(frozen=True)
class LargeCase:
    """A question about n tokens, from a seed."""

    n: int
    seed: int

    def case(self, task: str) -> QuestionCase:
        """Returns the question itself."""
        return random_case(task, self.n, random.Random(self.seed).randint, full=True)


@claims("stem", RETRIEVERS, lambda stem: about(stem, "scale", "At large sizes."))
def test_at_scale(check: Check, stem: str) -> None:
    task = RETRIEVERS[stem].task.name

    def right(large: LargeCase) -> Counterexample | None:
        """Returns the right answer; the threshold of a case is k − 1."""
        return ask(check, stem, large.case(task), engine="auto")

    def right_if_hard(hard: HardQuestion) -> Counterexample | None:
        """Compares the model's answer to an extreme question with the oracle's."""
        return ask(check, stem, QuestionCase(hard.n, *hard.prompt(task)), engine="auto")

    for n in check.sizes(LEAST, ratio=50):
        hard = hard_questions(task, n)
        which = f"extreme questions: {', '.join(case.name for case in hard)};" if n == LEAST else "the same questions,"
        text = f"{which} n = {n:,}"
        check.chosen(hard, right_if_hard, range=text, precision=PRECISION)
        check.sampled(
            st.builds(LargeCase, st.just(n), st.integers(0, 2**32 - 1)),
            right,
            range=f"random sequences of n = {n:,} tokens and random queries",
            precision=PRECISION,
            max_examples=40 if n <= 1000 else 3,
        )


# As printed


@dataclass(frozen=True)
class PrintedTask:
    """A task with findings put back to print."""

    stem: str
    findings: tuple[Finding, ...]

    @property
    def alone(self) -> bool:
        """Returns whether everything else is repaired."""
        return len(self.findings) == 1 and len(RETRIEVERS[self.stem].findings) > 1

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        searched = options_of_findings(self.findings)
        searched["readings"] = (*searched.get("readings", ()), *at_least_readings(self.stem))
        more = searched if RETRIEVERS[self.stem].searches else verdict(self.findings, self.stem)
        embedded = [EMBEDDED] if TIED_HEAD in self.findings else []
        if not self.alone:
            others = [finding for finding in self.findings if finding is not TIED_HEAD]
            lines = [as_printed_text(others)] if others else []
            return about(self.stem, "printed", *embedded, *lines, variant="printed", **more)
        (finding,) = self.findings
        text = " ".join(embedded or [as_printed_text([finding])])
        if finding is SCORE_RANGE:
            text += " At a p with room for the printed factors, one p for each n."
        if finding is SCORE_RANGE and RETRIEVERS[self.stem].task.name == "ngram":
            text += f" Weights for c = {RETRIEVERS[self.stem].query_length + 1}."
        return about(self.stem, finding.id, text, source=finding.source, finding=finding.id, **more)


PRINTS = [
    PrintedTask(stem, chosen)
    for stem, retriever in RETRIEVERS.items()
    for chosen in dict.fromkeys([*((finding,) for finding in retriever.findings), retriever.findings])
]


SHOWN_BY = {
    index.CHARACTERS.id: QuestionCase(10, (10,), (1,)),
    counting.ADJACENT.id: QuestionCase(6, (1, 2, 1), (1, 1)),
    COUNT.id: QuestionCase(COUNTS_FROM, (1,), (1, 0)),
}
"""Of slips: a question that is answered wrong by this slip alone. Among several printed lines it shows that a slip is to blame."""


@claims("printed", PRINTS, lambda printed: printed.claim)
def test_as_printed(check: Check, engine: str, printed: PrintedTask) -> None:
    retriever, ids = RETRIEVERS[printed.stem], tuple(finding.id for finding in printed.findings)
    name, tied = retriever.task.name, TIED_HEAD.id in ids

    right = partial(ask, check, printed.stem, printed=ids)

    def beside_the_point(case: QuestionCase) -> tuple[bool, bool]:
        """Returns a key that sorts last: no answer, which definitions exclude; of a tied head, the ends of the vocabulary."""
        answer = retriever.task.answer(case.question)
        return answer == FAILED, tied and answer in ("1", str(case.n))

    def search(n: int, longest: int, tokens: int) -> None:
        if n <= check.n_max:
            check.exhaustive(
                sorted(every_case(name, n, longest, tokens, retriever.query_length), key=beside_the_point),
                right,
                count=questions(name, longest, tokens, n, retriever.query_length),
                range=f"the model for n = {n}: up to {longest} tokens from 1 … {tokens}, every query",
                size=n if longest == tokens == n else None,
                precision=precision,
            )

    precision = check.precision_text(PRECISION)
    if SCORE_RANGE.id in ids:
        precision = check.precision_text("p with room for the printed factors")
    if ids == (index.CHARACTERS.id,):  # numbers of one digit have one character
        search(9, 3, 9)
        search(10, 2, 10)
        return
    slips = [id for id in ids if id in SHOWN_BY]
    if len(ids) > 1 and slips and (case := SHOWN_BY[slips[0]]).n <= check.n_max:
        text = f"a question that {slips[0]} alone gets wrong"
        check.chosen([case], right, range=text, precision=precision)
    if COUNT.id in ids:  # below, C.14's factor n alone could be to blame
        search(COUNTS_FROM, 2, 2)
        return
    if not tied:
        search(2, 2, 2)
    search(6, 6, 2)
    if ids == (SCORE_RANGE.id,):
        sizes = check.sizes(cap=AFFORDABLE.get(engine, check.n_max) // 4)
        check.sampled(
            cases(name, sizes), right, range="random sequences and queries", precision=precision, max_examples=60
        )
        if check.p_bits is None and check.n_max >= CERTIFIED[0]:
            subjects = [
                find_subject(name, n, model=retriever.model, printed=ids) for n in CERTIFIED if n <= check.n_max
            ]
            text = "every sequence of up to n tokens, every query"
            check.certified(subjects, range=f"{text}: nothing is rounded wrongly", precision=precision)
            check.explained(subjects, range=f"{text}: the weights are the task")
