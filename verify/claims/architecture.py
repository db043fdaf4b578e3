"""What sections 3 and 4 say of the architecture itself: √d, the tied output head, and how many layers Counting takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from constructions.engines import find_engine
from constructions.engines.reference import ReferenceEngine
from constructions.wiring.wired import Wired
from precision.format import Format, fixed_point, floating_point
from precision.rounding import round_fraction, round_ratio
from verify.claims.readings_of_heads import SECOND_COORDINATE, SHARED_LEAD, TIED_HEAD_ID, UNIT_WORDS, tied_outputs
from verify.claims.readings_of_heads import TWO_BLOCKS as TWO_BLOCKS_ID
from verify.claims.retrieval import AFFORDABLE, RETRIEVERS, QuestionCase, SizedModel, cases, every_case, model
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Json, Kind, Reading, claim, claims
from verify.oracles.counts import questions
from verify.oracles.proofs import by_expansion, theorem
from verify.oracles.scaled_scores import DividingEngine, enlarge_keys
from verify.oracles.two_block_counting import TWO_BLOCKS
from verify.runs.costs import PRECISION

# The tied output head


@dataclass(frozen=True)
class Wanted:
    """The number to write, of 1 … n."""

    n: int
    number: int


@claim(
    TIED_HEAD_ID,
    source="section 3.2, the word embedding and the output head, and appendix C.6.2",
    statement="With i·w_1 as the embedding of number i, one token a number, and the embedding as output head, some output makes v,"
    " and v alone, the likeliest number, for every v ≤ n, n ≥ 3.",
    variant="printed",
    kind=Kind.FALSE,
    readings=(
        *tied_outputs(TIED_HEAD_ID, of_model=False),
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
    formats = fixed_point(7), floating_point("F_7,3", 3, 4)  # the paper prints the first and speaks of the second
    entries = [(sign * quanta, fmt) for fmt in formats for quanta in fmt.magnitudes() for sign in (1, -1)]

    def can_be_written(wanted: Wanted) -> Counterexample | None:
        for entry, fmt in entries:
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
        precision="p = 7, fixed point, and floating point with 3 bits of exponent",
    )


# What a tied head writes with a change

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class TiedWords:
    """A choice of words and outputs: the logit of number i is the product of its word with the output.

    words: (n, q) ↦ the words of 1 … n. output: (n, v, format) ↦ the output that is to write v. alone: whether v leads all others.
    theorems: why it leads, for all n. text: which words are tried.
    """

    id: str
    statement: str
    words: Callable[[int, int], list[Vector]]
    output: Callable[[int, int, Format], Vector]
    alone: bool = True
    theorems: Sequence[Json] = ()
    text: str = ""

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        return Claim(self.id, "section 3.2, the word embedding and the output head", self.statement)


def saturating(n: int, v: int, fmt: Format) -> Vector:
    """Returns the least output with which v·y is the largest number: so it is for v … n, and not for v − 1."""
    return (-(-fmt.max_quanta // v) * fmt.quantum,)


def on_a_circle(n: int, q: int) -> list[Vector]:
    """Points of the unit circle, in q digits after the point."""
    angles = [2 * math.pi * i / n for i in range(n)]
    return [tuple(Fraction(round(x * 2**q), 2**q) for x in (math.cos(a), math.sin(a))) for a in angles]


def one_hot(n: int, q: int) -> list[Vector]:
    """Returns a coordinate of its own for each word."""
    return [tuple(Fraction(i == j) for j in range(n)) for i in range(n)]


DIGITS = 10
MOST_TIED = 64  # numbers
TIED_BITS = 4  # bits after the point for each bit of n
EQUAL_LENGTHS = "2*((a*a + b*b) - (a*c + b*d)) == (a - c)**2 + (b - d)**2 + ((a*a + b*b) - (c*c + d*d))"
TIED = (
    TiedWords(
        SHARED_LEAD,
        "With i·w_1 as the embedding of number i and the embedding as output head, some output makes v the first of the likeliest"
        " numbers, for every v ≤ n: v … n saturate and tie, v − 1 does not, and a tie goes to the first word. In R_p,"
        " p = 8·bits(n) + 1.",
        lambda n, q: [(Fraction(i),) for i in range(1, n + 1)],
        saturating,
        alone=False,
    ),
    TiedWords(
        SECOND_COORDINATE,
        "With (i, −i²/2) as the embedding of number i and the embedding as output head, the output of appendix C.6.2 with one"
        " sign turned, (+v, 1), makes v alone the likeliest number, for every v ≤ n. In R_p at p = 8·bits(n) + 1.",
        lambda n, q: [(Fraction(i), -Fraction(i * i, 2)) for i in range(1, n + 1)],
        lambda n, v, fmt: (Fraction(v), Fraction(1)),
        theorems=(theorem("2*((v*v - v*v/2) - (v*i - i*i/2)) == (v - i)**2", v="real", i="real"),),
    ),
    TiedWords(
        UNIT_WORDS,
        "With words of one length as the embedding, such as points of a circle, or a coordinate for each, as decimal digits may"
        " have it, and the embedding as output head, the word of v as output makes v alone the likeliest. In R_p at"
        " p = 8·bits(n) + 1.",
        lambda n, q: one_hot(n, q) if n <= DIGITS else on_a_circle(n, q),
        lambda n, v, fmt: (one_hot if n <= DIGITS else on_a_circle)(n, -fmt.quantum_exponent)[v - 1],
        theorems=(theorem(EQUAL_LENGTHS, a="real", b="real", c="real", d="real"),),
        text=f": a coordinate for each up to n = {DIGITS}, points of a circle above",
    ),
)


@claims("tied", TIED, lambda tied: tied.claim)
def test_a_tied_head_with_a_change(check: Check, tied: TiedWords) -> None:
    for shown in tied.theorems:
        check.proved(
            [by_expansion(shown)], by="expansion", range="the lead of the word that is wanted, in exact arithmetic"
        )

    def is_written(wanted: Wanted) -> Counterexample | None:
        fmt = fixed_point(2 * TIED_BITS * wanted.n.bit_length() + 1)
        output = tied.output(wanted.n, wanted.number, fmt)
        words = tied.words(wanted.n, -fmt.quantum_exponent)
        held = all(round_fraction(x, fmt).quanta * fmt.quantum == x for vector in (output, *words) for x in vector)
        products = (sum((x * y for x, y in zip(word, output, strict=True)), Fraction(0)) for word in words)
        logits = [round_fraction(product, fmt).quanta for product in products]
        first, tops = logits.index(max(logits)) + 1, logits.count(max(logits))
        if held and first == wanted.number and (tops == 1 or not tied.alone):
            return None
        return Counterexample(in_the_format=held, first_of_the_likeliest=first, likeliest=tops)

    most = min(MOST_TIED, check.n_max)
    check.exhaustive(
        [Wanted(n, v) for n in range(1, most + 1) for v in range(1, n + 1)],
        is_written,
        count=most * (most + 1) // 2,
        range=f"every number of 1 … n{tied.text}",
        precision=f"p = {2 * TIED_BITS}·bits(n) + 1",
    )


# The division by √d


MORE_BITS = 8  # √d is 4 or 8, and the keys' largest entries grow by it


@claim(
    "3.1/root-d",
    source="definition 3.1",
    statement="The division by √d can be undone: with d filled up to a power of 4, W_K times √d and 8 bits more, every register of"
    " the models of Theorems 4.6 and 5.6 is the same, in each text that was run.",
)
def test_the_root_of_d(check: Check) -> None:
    def the_same(sized: SizedModel) -> Counterexample | None:
        retriever, n = RETRIEVERS[sized.stem], sized.n
        wired = model(sized.stem, n, retriever.query_length, p_bits=retriever.least_precision(n) + MORE_BITS)
        scaled = enlarge_keys(wired.model)
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
        [SizedModel(stem, n) for stem, retriever in RETRIEVERS.items() if not retriever.searches for n in sizes],
        the_same,
        range="three questions about up to 3 tokens for each model and n",
        precision="p = least_precision(n) + 8",
    )
    check.argued("√d is a power of two: it moves the digits of keys and scores, and 4 bits more on the left hold them.")


def few_questions(sized: SizedModel) -> Iterator[QuestionCase]:
    """Yields three questions about the longest of the short sequences."""
    retriever, short = RETRIEVERS[sized.stem], min(sized.n, 3)
    yield from list(every_case(retriever.task.name, sized.n, short, short, retriever.query_length))[-3:]


# Two layers for Counting


@cache
def two_blocks(n: int, p_bits: int | None) -> Wired:
    """Returns the model, built once for each size."""
    return TWO_BLOCKS.build(n, p_bits)


@claim(
    TWO_BLOCKS_ID,
    theorem="4.6",
    task="counting",
    aspect="two-blocks",
    statement=f"{TWO_BLOCKS.statement} It counts at the query's token, then copies the count; a number i embeds as (i, i², 1).",
)
def test_counting_by_two_blocks(check: Check, engine: str) -> None:
    def right(case: QuestionCase) -> Counterexample | None:
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
        precision=PRECISION,
    )
    check.sampled(
        cases("counting", check.sizes(cap=AFFORDABLE.get(engine, check.n_max))),
        right,
        range="random sequences and queries",
        precision=PRECISION,
        max_examples=80,
    )
