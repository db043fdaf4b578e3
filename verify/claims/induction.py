"""That the steps of a run lead to the right answer, for every n, by induction over them."""

from __future__ import annotations

from constructions.istree import lean
from verify.framework.check import Check
from verify.framework.claim import Claim, claims
from verify.induction.search import theory

RIGHT = (
    "Behind a prompt of n − 1 edges of a simple graph, the defined steps of Algorithm 1, each behind the ones before, end after "
    "at most 2n − 1 vertices, with YES if and only if the graph is a tree, for every n."
)


@claims(
    "by_counts",
    [(Claim.about("4.7", "istree", "lean-search", lean.SOURCE, f"IsTree, lean: {RIGHT}", variant="lean"), False)],
)
def test_search(check: Check, by_counts: bool) -> None:
    check.follows(
        theory(),
        range="invariants of the search at its start and behind each step, and what they say of its answer; every n",
    )
    check.argued(
        "Induction over the positions. As many vertices are seen as `count` says, so at most n, and n only if all are. "
        "Of n different edges one is not among n − 1. In a connected graph, a vertex not seen has a neighbour nearer to those seen."
    )
