"""Theorems 4.6, 5.2 and 5.6: what the models of the retrieval tasks cost, and which class they belong to."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.measures import HYBRID_RNN, LINEAR_RNN, TRANSFORMER
from verify.claims.retrieval import RETRIEVERS, SizedModel, model
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.runs.costs import LADDER, PRECISION, Bound, Cost, require_logarithmic


@dataclass(frozen=True)
class TheoremCost:
    """What one theorem claims of its four models. blocks, heads: of index, recall, ngram (c = 3) and counting. state: at most."""

    theorem: str
    statement: str
    of_class: str
    blocks: tuple[int, ...]
    heads: tuple[int, ...]
    state: int
    most_steps: int
    bits: tuple[tuple[int, int], ...]
    """(a, b) for least_precision(n) ≤ a·(1 + log2 n) + b."""

    @property
    def stems(self) -> list[str]:
        """Its four models."""
        return [stem for stem in RETRIEVERS if stem.startswith(self.theorem)]

    def claim(self, what: str, statement: str) -> Claim:
        """Returns a claim about the theorem's four models."""
        return Claim(f"{self.theorem}/{what}", f"Theorem {self.theorem}", statement)


MATCHING = ((4, 15), (6, 19), (6, 19), (4, 15))
ROWS = (
    TheoremCost(
        "4.6",
        "The Transformers have 2 or 3 blocks with 1 to 3 heads in all (c heads for c-grams), and write one token.",
        TRANSFORMER,
        (2, 3, 3, 3),
        (1, 2, 3, 3),
        0,
        1,
        MATCHING,
    ),
    TheoremCost(
        "5.2",
        "The Linear RNNs have one block and a state of at most 14 numbers (c = 3), and write at most 9 tokens, O(1).",
        LINEAR_RNN,
        (1, 1, 1, 1),
        (0, 0, 0, 0),
        14,
        9,
        ((4, 7),) * 4,
    ),
    TheoremCost(
        "5.6",
        "The hybrid RNNs have two blocks, the second with the only head, at most 6 numbers of state (c = 3), and write one token.",
        HYBRID_RNN,
        (2, 2, 2, 2),
        (1, 1, 1, 1),
        6,
        1,
        MATCHING,
    ),
)


@claims("row", ROWS, lambda row: row.claim("size", f"{row.statement} No matrix but the vocabulary grows with n."))
def test_constant_size(check: Check, row: TheoremCost) -> None:
    def as_small(size: SizedModel) -> Counterexample | None:
        retriever, place = RETRIEVERS[size.stem], row.stems.index(size.stem)
        blocks_and_heads = row.blocks[place], row.heads[place]
        cost = Cost(row.of_class, lambda heads: (len(heads), sum(heads)) == blocks_and_heads, range(row.state + 1))
        if (steps := retriever.steps(frozenset())) > row.most_steps:
            return Counterexample(expected=row.most_steps, steps=steps)
        return cost.excess(*(model(size.stem, n, retriever.query_length) for n in (size.n, LADDER[0])))

    check.chosen(
        [SizedModel(stem, n) for stem in row.stems for n in LADDER],
        as_small,
        range="matrices of all four at n = 10, 100, 1000",
        precision=PRECISION,
    )


def bounds_of(row: TheoremCost) -> str:
    """Says which p suffices for which of its models."""
    tasks = [RETRIEVERS[stem].task.name for stem in row.stems]
    tasks = [
        task + f" (c = {RETRIEVERS[stem].query_length + 1})" * (task == "ngram")
        for task, stem in zip(tasks, row.stems, strict=True)
    ]
    bounds = [f"{slope}·log2 n + {slope + rest}" for slope, rest in row.bits]
    return ", ".join(
        f"p ≤ {bound} for {' and '.join(task for task, own in zip(tasks, bounds, strict=True) if own == bound)}"
        for bound in dict.fromkeys(bounds)
    )


@claims("row", ROWS, lambda row: row.claim("precision", f"O(log n) bits suffice: {bounds_of(row)}."))
def test_logarithmic_precision(check: Check, row: TheoremCost) -> None:
    def bound(slope: int, rest: int) -> Bound:
        return lambda log2: slope * (1 + log2) + rest

    models = zip(row.stems, row.bits, strict=True)
    require_logarithmic(check, [(RETRIEVERS[stem].least_precision, bound(*own)) for stem, own in models])
    if row.of_class == TRANSFORMER and check.p_bits is None:
        subjects = [find_subject(RETRIEVERS[stem].task.name, n) for stem in row.stems for n in LADDER]
        text = "so many bits suffice: every sequence of up to n tokens, every query"
        check.certified(subjects, range=f"{text}; n = {', '.join(map(str, LADDER))}", precision=PRECISION)
