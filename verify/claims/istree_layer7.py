"""Appendix C.6.2, item 7, as printed: what the two MatchNext heads tell the feed-forward after them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from constructions.istree import transformer as istree
from constructions.istree.blocks import LAYER_7
from constructions.istree.graphs import PAPER, Graph, depth_first_tour, is_tree
from constructions.wiring.finding import Finding
from constructions.wiring.wired import Wired
from verify.claims.models import ISTREE
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Kind, Reading
from verify.framework.predicates import Predicate
from verify.inputs.strategies import graphs
from verify.oracles.next_heads import Record, find_walked, read
from verify.runs.costs import PRECISION
from verify.runs.istree_walks import build_model, first_others

SOURCE = "appendix C.6.2, item 7"
SENTENCE = (
    "A feed-forward sets i14 to the other end of the next edge, from what two MatchNext heads return, one over first and one over"
    " second endpoints, and the registers that items 1 to 6 name."
)
ORDERED_ID = "layer-7-ordered"
ORDERED = Reading(
    "Each edge is written smaller end first: then v_l and v_(l−1) tell which of item 5's heads found the edge just walked. The next"
    " edge is that of the other side's MatchNext head if it returns the next count, else of this side's. We choose by several"
    " feed-forwards; whether one is enough we did not try.",
    holds=True,
    shown=f"4.7/{ORDERED_ID}",
)
CENTRE, MOST = 1, 6  # of a star; vertices
TREES = ("stars", "random recursive trees")
WIDER = (2, 20, 58)  # bits above the least p
CHUNK = 1024
HEADS = 13  # of the tables that a run keeps, the embedding and two a block: the one after block 7's attention
SHOWN = ("this1_a", "next1_a", "count1_a", "this1_b", "next1_b", "count1_b")


@dataclass(frozen=True)
class Stars:
    """Two stars around vertex 1, and how many leaves the search has come back from."""

    one: Graph
    other: Graph
    returns: int

    @property
    def n(self) -> int:
        """Returns how many vertices each has."""
        return self.one.n


def stars(n: int) -> Iterator[Graph]:
    """Yields every order and orientation of a star's edges."""
    for leaves in itertools.permutations(range(2, n + 1)):
        for turned in itertools.product((False, True), repeat=n - 1):
            yield Graph(n, tuple((v, CENTRE) if back else (CENTRE, v) for v, back in zip(leaves, turned, strict=True)))


def visits(star: Graph, returns: int) -> list[int]:
    """Returns the search up to this return, and the next vertex, by a plain search."""
    return list(itertools.islice(depth_first_tour(star), 2 * returns + 2))


def alike(sizes: Sequence[int], views: Callable[[Sequence[Graph], int], Sequence[object]]) -> Iterator[Stars]:
    """Yields every star at every return but the last, beside the first one of as many vertices with the same view there."""
    for n in sizes:
        every = list(stars(n))
        for returns in range(1, n - 1):
            first: dict[object, Graph] = {}
            for star, view in zip(every, views(every, returns), strict=True):
                yield Stars(first.setdefault(view, star), star, returns)


def how_many(sizes: Sequence[int]) -> int:
    """Orders times orientations times returns."""
    return sum(math.factorial(n - 1) * 2 ** (n - 1) * max(n - 2, 0) for n in sizes)


def compare_stars(
    check: Check,
    views: Callable[[Sequence[Graph], int], Sequence[object]],
    equal: Callable[[Stars], dict[str, object] | None],
    what: str,
    precision: str,
) -> None:
    """Checks whether stars of equal views go on to one vertex. equal: what two such stars show, else None. what: is viewed."""

    def told_apart(pair: Stars) -> Counterexample | None:
        following = [visits(star, pair.returns)[-1] for star in (pair.one, pair.other)]
        shown = None if following[0] == following[1] else equal(pair)
        return None if shown is None else Counterexample(next_vertices=following, **shown)

    sizes = range(2, min(MOST, check.n_max) + 1)
    text = f"every star in every order and orientation of its edges, after each return, beside the first one of equal {what}"
    check.exhaustive(alike(sizes, views), told_apart, count=how_many(sizes), range=text, precision=precision)


# By the weights


def precisions(n: int) -> list[int]:
    """Returns the least p, and some above it."""
    least = istree.TRANSFORMER.least_precision(n)
    return [least, *(least + more for more in WIDER)]


@cache
def model(n: int, p_bits: int) -> Wired:
    """Returns the blocks up to item 7's, its heads as printed and all before repaired."""
    wired = istree.TRANSFORMER.build(n, p_bits, printed=(LAYER_7.id,))
    return replace(wired, model=replace(wired.model, blocks=wired.model.blocks[:7]))


def registers(graphs: Sequence[Graph], returns: int, p_bits: int, device: str) -> list[tuple[int, ...]]:
    """Returns all registers after block 7's heads at the last position, in quanta: what its feed-forward is given."""
    from constructions.engines import dense

    wired, seen = model(graphs[0].n, p_bits), list[tuple[int, ...]]()
    for start in range(0, len(graphs), CHUNK):
        some = graphs[start : start + CHUNK]
        tokens = [[*PAPER.prompt(graph), *(v - 1 for v in visits(graph, returns)[:-1])] for graph in some]
        run = dense.run(wired.model, wired.arithmetic, tokens, device=device, keep_registers=[HEADS])
        seen += [tuple(map(int, tables[HEADS][-1])) for tables in run.registers or ()]
    return seen


@ISTREE.judges(
    LAYER_7.id,
    f"{SENTENCE} i8 and i9 both hold the count of the edge just walked. Either end of an edge stands first.",
    source=SOURCE,
    finding=LAYER_7.id,
    kind=Kind.OPEN,
    readings=(
        Reading(
            "Either end of an edge stands first, and any feed-forward: two stars leave equal numbers in each register that it"
            " reads, at p = 43, 45, 63 and 101, and go on to other vertices.",
            holds=False,
        ),
        Reading(
            "Each of item 5's heads writes one of i8 and i9, and (1, 0) stands where the search comes from the father.",
            holds=False,
            shown="4.7/layer-7-apart",
        ),
        ORDERED,
    ),
)
def test_layer_7(check: Check) -> None:
    def views(graphs: Sequence[Graph], returns: int) -> Sequence[object]:
        return registers(graphs, returns, precisions(graphs[0].n)[0], check.device)

    def equal(pair: Stars) -> dict[str, object] | None:
        found: list[tuple[int, ...]] = []
        for p_bits in precisions(pair.n):
            found = registers((pair.one, pair.other), pair.returns, p_bits, check.device)
            if found[0] != found[1]:
                return None
        wired = model(pair.n, precisions(pair.n)[-1])
        names, quantum = list(wired.registers), wired.arithmetic.format.quantum
        shown = {name: found[0][names.index(name)] * quantum for name in SHOWN}
        return {**shown, "equal_at_p": precisions(pair.n)}

    precision = f"p = least_precision(n), and {', '.join(map(str, WIDER))} bits more"
    compare_stars(check, views, equal, "registers", precision)


# In exact arithmetic


def apart(star: Graph, returns: int) -> tuple[Record, ...]:
    """Returns what item 7's heads return, and i8 and i9, if each of the two has a head of item 5 for itself."""
    *_, before, here, _ = visits(star, returns)
    counts = find_walked(star.edges, here, before)
    return (*(read(star.edges, here, side, counts[side]) for side in (0, 1)), counts)


def with_side(star: Graph, returns: int) -> tuple[Record, ...]:
    """Returns the same if both hold the count of the edge just walked, and one more register says which head found it."""
    *_, before, here, _ = visits(star, returns)
    counts = find_walked(star.edges, here, before)
    return (*(read(star.edges, here, side, counts[0] + counts[1]) for side in (0, 1)), counts)


def by_ideal_heads(check: Check, view: Callable[[Graph, int], tuple[Record, ...]]) -> None:
    """Checks whether stars of equal views go on to the same vertex."""

    def equal(pair: Stars) -> dict[str, object] | None:
        one, other = view(pair.one, pair.returns), view(pair.other, pair.returns)
        return {"first_head": one[0], "second_head": one[1]} if one == other else None

    def views(graphs: Sequence[Graph], returns: int) -> Sequence[object]:
        return [view(graph, returns) for graph in graphs]

    compare_stars(check, views, equal, "numbers", "exact")


@ISTREE.judges(
    "layer-7-apart",
    f"{SENTENCE} i8 is what item 5's first head found, i9 what its second head found, 0 if it found nothing. Either end"
    " of an edge stands first.",
    source=SOURCE,
    variant="printed",
    kind=Kind.OPEN,
    readings=(
        Reading(
            "Any feed-forward: a head whose count is 0 reads its last edge, so stars with other edges in between look alike.",
            holds=False,
        ),
        Reading(
            "i8 and i9 both hold the count of the edge just walked, and either end of an edge stands first.",
            holds=False,
            shown="4.7/layer-7",
        ),
        ORDERED,
    ),
    slip=LAYER_7.id,
)
def test_layer_7_apart(check: Check) -> None:
    by_ideal_heads(check, apart)


@ISTREE.judges(
    "layer-7-side",
    "With one register more than the print names, which of item 5's two heads found the edge just walked, stars that look"
    " alike to the feed-forward go on to the same vertex, in exact arithmetic: the two printed heads tell it enough.",
    source=SOURCE,
)
def test_layer_7_side(check: Check) -> None:
    by_ideal_heads(check, with_side)


# Smaller end first


def by_algorithm_1(check: Check, finding: Finding) -> tuple[Batches[Graph, Counterexample | None], Predicate[Graph]]:
    """Judges the model with the finding put back to print by Algorithm 1: many graphs at once, and one alone."""

    def printed(n: int) -> Wired:
        return build_model("transformer", PAPER.name, "repaired", n, (finding.id,), p_bits=check.p_bits)

    def other(graph: Graph, first: int | None) -> Counterexample | None:
        return None if first is None else Counterexample(is_tree=is_tree(graph), first_other_token=first)

    batches = first_others("transformer", PAPER, printed, check.device, CHUNK, other)

    def right(graph: Graph) -> Counterexample | None:
        return batches.outcome(graph)

    return batches, right


def ordered(graph: Graph) -> Graph:
    """Returns the same graph, the smaller end of each edge first."""
    return Graph(graph.n, tuple((min(edge), max(edge)) for edge in graph.edges))


def every_ordered(n: int, edges: int | None = None) -> Iterator[Graph]:
    """Yields every graph with this number of edges, by default with any, in every order of its edges."""
    pairs = list(itertools.combinations(range(1, n + 1), 2))
    for size in range(len(pairs) + 1) if edges is None else (edges,):
        yield from (Graph(n, order) for order in itertools.permutations(pairs, size))


def every_ordered_star(n: int) -> Iterator[Graph]:
    """Yields every star, around each vertex, in every order of its edges."""
    for centre in range(1, n + 1):
        for leaves in itertools.permutations([v for v in range(1, n + 1) if v != centre]):
            yield ordered(Graph(n, tuple((centre, v) for v in leaves)))


@ISTREE.judges(
    ORDERED_ID,
    "With item 7's two MatchNext heads, over first and over second endpoints, and each edge written smaller end first, a"
    " Transformer decides by Algorithm 1's chain of thought whether a graph is a tree. What is chosen between the two heads takes 8"
    " blocks more than the print's 9, all without attention.",
    source=SOURCE,
    finding=LAYER_7.id,
)
def test_layer_7_ordered(check: Check) -> None:
    batches, right = by_algorithm_1(check, LAYER_7)
    precision = check.precision_text(PRECISION)
    few = [n for n in range(1, 5) if n <= check.n_max]
    check.exhaustive(
        batches.compute_ahead(itertools.chain.from_iterable(map(every_ordered, few))),
        right,
        count=sum(math.perm(math.comb(n, 2), size) for n in few for size in range(math.comb(n, 2) + 1)),
        range="every graph on 1 to 4 vertices, every order of its edges (dense)",
        precision=precision,
    )
    if check.n_max >= 5:
        check.exhaustive(
            batches.compute_ahead(graph for graph in every_ordered(5, 4) if is_tree(graph)),
            right,
            count=5**3 * math.factorial(4),
            range="every tree on 5 vertices, every order of its edges (dense)",
            size=5,
            precision=precision,
        )
    if sizes := [n for n in (6, 7) if n <= check.n_max]:
        check.exhaustive(
            batches.compute_ahead(itertools.chain.from_iterable(map(every_ordered_star, sizes))),
            right,
            count=sum(map(math.factorial, sizes)),
            range="every star on 6 or 7 vertices, around each of them, every order of its edges (dense)",
            precision=precision,
        )
    check.sampled(
        graphs(check.sizes(8, cap=64), TREES).map(ordered),
        right,
        range=f"{', '.join(TREES)} of 8 to 64 vertices (dense)",
        precision=precision,
        max_examples=200,
        ahead=batches,
    )
    check.argued(
        "In exact arithmetic, for every graph: a head that has the next count returns it. One that lacks it returns another count,"
        " or where two are equally near the target, their mean, which is the target. From m = 4 on the target is not the next count"
        " 1/(m + 1). Before, two counts have that mean only as (1/2 + 1/6)/2 = 1/3 and (1/3 + 1/6)/2 = 1/4. The walked count is one"
        " of both, so it is the walked edge's head that lacks the next count, and the other one has it."
    )
