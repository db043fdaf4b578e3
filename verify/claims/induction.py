"""That the steps of a run lead to the right answer, for every n, by induction over them."""

from __future__ import annotations

from constructions.istree import lean, transformer
from verify.framework.check import Check
from verify.framework.claim import Claim, claims
from verify.induction.search import theory

RIGHT = (
    "Behind a prompt of n − 1 edges of a simple graph, the defined steps of Algorithm 1, each behind the ones before, end after "
    "at most 2n − 1 vertices, with YES if and only if the graph is a tree, for every n."
)


@claims(
    "by_counts",
    [
        (Claim.about("4.7", "istree", "lean-search", lean.SOURCE, f"IsTree, lean: {RIGHT}", variant="lean"), False),
        (Claim.about("4.7", "istree", "search", transformer.SOURCE, f"IsTree: {RIGHT}"), True),
    ],
)
def test_search(check: Check, by_counts: bool) -> None:
    text = "what the heads find, invariants at the start and behind each step, and what they say of the answer; every n"
    check.follows(theory(by_counts), range=text)
    check.argued(
        "Induction over the positions. As many vertices are seen as `count` says, so at most n, and n only if all are. "
        "Of n different edges one is not among n − 1. In a connected graph, a vertex not seen has a neighbour nearer to those seen."
    )
