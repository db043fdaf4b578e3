"""Printed score factors where numbers are p-bit floating point, as the paper's sentences call them, and not those of R_p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from constructions.engines import Decoding, find_engine
from constructions.istree import transformer as istree
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.models.building import wired_of
from constructions.parts.heads import match, match_close, match_nearest, match_next
from constructions.parts.heads.match import FINDING as SCORE_RANGE
from constructions.wiring.part import Part, printed_precision
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline
from verify.claims.istree import STATEMENT, wrong
from verify.claims.istree_layer7 import TREES
from verify.claims.models import ISTREE
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.framework.predicates import NoVerdict
from verify.inputs.strategies import trials
from verify.inputs.trial import FloatingTrial, Trial, floating_format
from verify.oracles.printed_heads import hardest
from verify.runs.istree_walks import random_graphs
from verify.runs.probe import compare

NAMED = "p = the least odd number above 10·log2 n"
MOST = 10_000  # n for which so few bits of exponent are enough
LONGEST_HARD, LONGEST = 64, 24
BEYOND = 2  # sizes from the least one on that are looked at one by one


def exponent_text(exponent_bits: int) -> str:
    """Says how a statement calls the numbers."""
    return (
        f"Numbers are p-bit floating point: a sign, {exponent_bits} bits of exponent, the rest significand. At {NAMED}, one p for"
        f" each n, n ≤ {MOST:,}."
    )


@dataclass(frozen=True)
class Floating:
    """A head with its printed score factors.

    remark: which factors. exponent_bits: enough for the factors up to n = 10,000; O(log log n) in general. holds_from: the least n
    from which on e^−n is below the least number. hardest: which of the hardest columns are looked at.
    """

    part: Part
    remark: str
    exponent_bits: int
    holds_from: int
    longest: int = LONGEST_HARD
    n_covers_length: bool = False
    hardest: Sequence[int] = (0,)

    @property
    def claim(self) -> Claim:
        """Returns the claim."""
        statement = f"{self.part.statement} {self.remark} {exponent_text(self.exponent_bits)}"
        return Claim(f"{self.part.id}/printed-floating", self.part.source, statement, variant="printed")

    @property
    def precision(self) -> str:
        """The numbers, for the ledger."""
        return f"floating point, {self.exponent_bits} bits of exponent, {NAMED}"

    def columns(self, n: int) -> Iterator[FloatingTrial]:
        """Yields columns in which each position is as near to the winner as can be, and each second one holds 0."""
        length = min(n, self.longest if n < 2 * self.holds_from else LONGEST_HARD)
        for back in self.hardest:
            for parity in (0, 1):
                trial = hardest(self.part, n, length, printed_precision(n), back)
                payload = tuple(Fraction(n if k % 2 == parity else 0) for k in range(length))
                yield self.floating(replace(trial, columns={**trial.columns, "payload": payload}))

    def floating(self, trial: Trial) -> FloatingTrial:
        """Returns the same columns in these numbers."""
        return FloatingTrial(trial.n, trial.length, trial.precision_bits, trial.columns, self.exponent_bits)


FOR_C = "With the printed factors for c = 2."
HEADS = (
    Floating(match.PART, FOR_C, 9, 42),
    Floating(match_close.PART, FOR_C, 9, 225),
    Floating(match_nearest.PART, FOR_C, 9, 225),
    Floating(
        match_next.PART,
        "With the printed factors for A = 1, and x − x² for nxt.",
        8,
        132,
        longest=256,
        n_covers_length=True,
        hardest=(0, 1),
    ),
)


@claims("floating", HEADS, lambda floating: floating.claim)
def test_a_printed_head_in_floating_point(check: Check, floating: Floating) -> None:
    def right(trial: FloatingTrial) -> Counterexample | None:
        named = printed_precision(trial.n), floating.exponent_bits
        if (trial.precision_bits, trial.exponent_bits) != named:
            raise NoVerdict(f"the claim names p = {named[0]} for n = {trial.n}, with {named[1]} bits of exponent")
        return compare(floating.part, trial, "reference", printed=True)

    least = floating.holds_from
    sizes = check.sizes(least, cap=MOST)
    check.fails_below(
        least,
        (trial for n in (*range(least - 1, least + BEYOND), *sizes[1:]) for trial in floating.columns(n)),
        right,
        range="columns in which every position is as near to the winner as can be, and holds 0 where the next one does not",
        precision=floating.precision,
    )
    drawn = trials(
        floating.part,
        sizes,
        LONGEST,
        precision=lambda n, length: printed_precision(n),
        n_covers_length=floating.n_covers_length,
    )
    check.sampled(
        drawn.map(floating.floating),
        right,
        range=f"columns of up to {LONGEST} positions, n ≥ {least}",
        precision=floating.precision,
        max_examples=100,
    )


# The Transformer of Theorem 4.7

EXPONENT_BITS = 8
HOLDS_FROM, LARGEST = 9, 16
FAILING_TREE = Graph(8, ((8, 3), (5, 7), (1, 8), (3, 7), (6, 1), (8, 2), (4, 8)))


@cache
def in_floating_point(n: int) -> Wired:
    """Returns the repaired Transformer with the printed score factors, in floating point of p bits, p just above 10·log2 n."""
    fmt, chosen = floating_format(printed_precision(n), EXPONENT_BITS), frozenset({SCORE_RANGE.id})
    embedding, blocks = istree.TRANSFORMER.plan(n, fmt, chosen)
    arithmetic, about = Arithmetic(fmt, Discipline.FUSED), istree.TRANSFORMER.construction
    return wired_of(about.name, about.source, about.findings, chosen, n, embedding, blocks, arithmetic, exact=False)


@ISTREE.judges(
    "score-range-floating",
    f"{STATEMENT} With the printed score factors. {exponent_text(EXPONENT_BITS)}",
    source=SCORE_RANGE.source,
    variant="printed",
)
def test_istree_in_floating_point(check: Check) -> None:
    def right(graph: Graph) -> Counterexample | None:
        wired, expected = in_floating_point(graph.n), expected_answer(graph, PAPER)
        stop = {PAPER.token(word, graph.n) for word in (PAPER.yes, PAPER.no)}
        asked = Decoding(wired.model, wired.arithmetic, PAPER.prompt(graph), stop, 2 * graph.n + 3, expected)
        return wrong(graph, find_engine("reference")(asked).produced, PAPER)

    sizes = check.sizes(HOLDS_FROM, cap=LARGEST)
    precision = f"floating point, {EXPONENT_BITS} bits of exponent, {NAMED}"
    check.fails_below(HOLDS_FROM, [FAILING_TREE], right, range="a tree on 8 vertices", precision=precision)
    random_graphs(check, sizes, right, examples=40, families=TREES, precision=precision, by="reference")
