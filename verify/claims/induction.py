"""That the steps of a run lead to the right answer, for every n, by induction over them."""

from __future__ import annotations

from constructions.istree import lean, transformer
from constructions.istree.graphs import LAYOUTS
from verify.dossiers.istree.lemmas.search import MODELS, N, theory
from verify.framework.check import Check
from verify.framework.claim import Claim, claims

RIGHT = (
    "Behind a prompt of n − 1 edges of a simple graph, or in the layout eos of any number, the defined steps of Algorithm 1, each "
    "behind the ones before, end after at most 2n − 1 vertices, with YES if and only if the graph is a tree, for every n."
)
RANKS = (
    "A graph has no cycle if and only if there are ranks by which no edge joins equals and no vertex has two edges to lower "
    "ones, and vertex 1 none; it is connected if and only if no set with vertex 1 that is closed under edges misses a vertex."
)
ARGUED = f"Induction over the positions. {RANKS}"


OF_MODELS = {
    "lean": Claim.about("4.7", "istree", "lean-search", lean.SOURCE, f"IsTree, lean: {RIGHT}", variant="lean"),
    "repaired": Claim.about("4.7", "istree", "search", transformer.SOURCE, f"IsTree: {RIGHT}"),
}


@claims("model", OF_MODELS, OF_MODELS.__getitem__)
def test_search(check: Check, model: str) -> None:
    text = "what the heads find, invariants at the start and behind each step, and what they say of the answer; every n"
    for layout in LAYOUTS.values():
        check.follows(theory(MODELS[model](N, layout)), range=f"{text}, layout {layout.name}")
    check.argued(ARGUED)
