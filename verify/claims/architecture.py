"""What sections 3 and 4 say of the architecture itself: √d, the tied output head, and how many layers Counting takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from constructions.engines import find_engine
from constructions.engines.reference import ReferenceEngine
from constructions.wiring.wired import Wired
from precision.format import fixed_point
from precision.rounding import round_ratio
from verify.claims.readings_of_heads import TWO_BLOCKS as TWO_BLOCKS_ID
from verify.claims.readings_of_heads import tied_outputs
from verify.claims.retrieval import AFFORDABLE, RETRIEVERS, Case, cases, every_case, model
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Kind, Reading, Verdict, claim
from verify.oracles.counts import questions
from verify.oracles.proofs import by_expansion, theorem
from verify.oracles.scaled_scores import DividingEngine, with_larger_keys
from verify.oracles.two_block_counting import TWO_BLOCKS
from verify.runs.costs import PRECISION

# The tied output head


@dataclass(frozen=True)
class Wanted:
    """The number to write, of 1 … n."""

    n: int
    number: int


@claim(
    "3.2/tied-head",
    source="section 3.2, the word embedding and the output head, and appendix C.6.2",
    statement="With i·w_1 as the embedding of number i, one token a number, and the embedding as output head, some output makes v,"
    " and v alone, the likeliest number, for every v ≤ n, n ≥ 3.",
    variant="printed",
    expected=Verdict.REFUTED,
    kind=Kind.FALSE,
    readings=(
        *tied_outputs("3.2/tied-head"),
        Reading(
            "the output of C.6.2, and any second coordinate f(i): −v·i + f(i) is largest at i = v for no two v in a row",
            False,
        ),
    ),
    slip="tied-head",
)
def test_numbers_that_a_tied_head_can_write(check: Check) -> None:
    check.proved(
        [by_expansion(theorem("(v*c - (v - 1)*c)*(v*c - (v + 1)*c) == -c**2", v="real", c="real"))],
        by="expansion",
        range="the leads of v over v − 1 and over v + 1 are never both positive",
    )
    of_v, of_next = "(-v*v + f) - (-v*(v + 1) + g)", "(-(v + 1)*(v + 1) + g) - (-(v + 1)*v + f)"
    check.proved(
        [by_expansion(theorem(f"{of_v} + {of_next} == -1", v="real", f="real", g="real"))],
        by="expansion",
        range="C.6.2's output and a second coordinate, f or g: the leads of v over v + 1, of v + 1 over v are never both positive",
    )
    fmt = fixed_point(7)
    entries = [sign * quanta for quanta in range(fmt.max_quanta + 1) for sign in (1, -1)]

    def can_be_written(wanted: Wanted) -> Counterexample | None:
        for entry in entries:
            logits = [round_ratio(i * entry, 1, fmt).quanta for i in range(1, wanted.n + 1)]
            if all(logit < logits[wanted.number - 1] for i, logit in enumerate(logits, 1) if i != wanted.number):
                return None
        return Counterexample(outputs_tried=len(entries), number_never_alone_in_front=wanted.number)

    every = [Wanted(n, v) for n in (3, 4) for v in range(1, n + 1)]
    check.exhaustive(
        every,
        can_be_written,
        count=3 + 4,
        range="every number of 1 … n, every first entry of an output",
        size=lambda wanted: wanted.n,
        precision="p = 7",
    )


# The division by √d


@dataclass(frozen=True)
class Sized:
    """A model for n."""

    stem: str
    n: int


MORE_BITS = 8  # √d is 4 or 8, and the keys' largest entries grow by it


@claim(
    "3.1/root-d",
    source="definition 3.1",
    statement="The division by √d can be undone: with d filled up to a power of 4, W_K times √d and 8 bits more, every register of"
    " the models of Theorems 4.6 and 5.6 is the same.",
)
def test_the_root_of_d(check: Check) -> None:
    def the_same(sized: Sized) -> Counterexample | None:
        retriever, n = RETRIEVERS[sized.stem], sized.n
        wired = model(sized.stem, n, retriever.query_length, p_bits=retriever.least_precision(n) + MORE_BITS)
        scaled = with_larger_keys(wired.model)
        for case in few_questions(sized):
            plain = ReferenceEngine(wired.model, wired.arithmetic)
            divided = DividingEngine(scaled, wired.arithmetic)
            for place, token in enumerate(wired.tokens(case.question.words()), 1):
                left, right = plain.append(token), divided.append(token)
                if (left.registers, left.logits) != (right.registers, right.logits):
                    return Counterexample(question=str(case.question), position=place)
        return None

    sizes = check.sizes(cap=AFFORDABLE["reference"])
    check.chosen(
        [Sized(stem, n) for stem, retriever in RETRIEVERS.items() if not retriever.searches for n in sizes],
        the_same,
        range="the last questions about up to 3 tokens",
        size=lambda sized: sized.n,
        precision="p = least_precision(n) + 8",
    )


def few_questions(sized: Sized) -> Iterator[Case]:
    """Three questions about the longest of the short sequences."""
    retriever, short = RETRIEVERS[sized.stem], min(sized.n, 3)
    yield from list(every_case(retriever.task.name, sized.n, short, short, retriever.query_length))[-3:]


# Two layers for Counting


@cache
def two_blocks(n: int, p_bits: int | None) -> Wired:
    """The model, built once for each size."""
    return TWO_BLOCKS.build(n, p_bits)


@claim(
    TWO_BLOCKS_ID,
    theorem="4.6",
    task="counting",
    aspect="two-blocks",
    source=TWO_BLOCKS.source,
    statement=f"{TWO_BLOCKS.statement} It counts at the query's token, then copies the count; a number i embeds as (i, i², 1).",
)
def test_counting_by_two_blocks(check: Check, engine: str) -> None:
    def right(case: Case) -> Counterexample | None:
        wired = two_blocks(case.n, check.p_bits)
        shape = [len(block.heads) for block in wired.model.blocks]
        answered = TWO_BLOCKS.request(wired, case.question).run(find_engine(engine or check.engine)).produced[-1]
        expected = TWO_BLOCKS.task.answer(case.question)
        return None if (answered, shape) == (expected, [1, 1]) else Counterexample(expected=expected, answered=answered)

    small = [n for n in (1, 2, 3) if n <= check.n_max]
    check.exhaustive(
        (case for n in small for case in every_case("counting", n, n, n, 2)),
        right,
        count=sum(questions("counting", n, n, n, 2) for n in small),
        range="every sequence, every token and every threshold up to n",
        size=lambda case: case.n,
        precision=PRECISION,
    )
    check.sampled(
        cases("counting", check.sizes(cap=AFFORDABLE.get(engine, check.n_max))),
        right,
        range="random sequences and queries",
        size=lambda case: case.n,
        precision=PRECISION,
        max_examples=80,
    )
