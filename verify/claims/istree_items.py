"""Appendix C.6.2 item by item: what each block of the IsTree Transformer leaves in its registers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from constructions.istree import transformer as istree
from constructions.istree.graphs import Graph
from constructions.wiring.wired import Wired
from verify.framework.batches import Batches
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.inputs.strategies import all_edges, every_input
from verify.oracles.counts import ordered_graphs
from verify.oracles.istree_registers import ITEMS, SearchWalk
from verify.runs.costs import PRECISION
from verify.runs.probe import round_value

Objects = npt.NDArray[np.object_]  # (position, register), in quanta
MOST = 4  # vertices
CHUNK = 256


def graphs() -> Iterator[Graph]:
    """Yields graphs with n − 1 edges: all on up to 3 vertices, and each order of the edges on 4."""
    yield from itertools.chain.from_iterable(every_input(n, [n - 1]) for n in range(1, MOST))
    for edges in itertools.permutations(all_edges(MOST), MOST - 1):
        yield Graph(MOST, edges)


def different(number: int, wired: Wired, walk: SearchWalk, tables: Sequence[Objects]) -> Counterexample | None:
    """Returns the first register that does not hold what the item says. tables: one after each sublayer."""
    fmt = wired.arithmetic.format
    for wanted in ITEMS[number - 1](walk):
        quanta = tables[2 * wanted.block][wanted.position - 1, wired.registers.index(wanted.register)]
        got, expected = Fraction(int(quanta)) * fmt.quantum, round_value(wanted.value, fmt)
        if got != expected:
            where = {"register": wanted.register, "block": wanted.block, "position": wanted.position}
            return Counterexample(**where, expected=expected, got=got)
    return None


def claim_of(number: int) -> Claim:
    """Returns the claim of an item, whose docstring says what is claimed."""
    return Claim(f"C.6.2/item-{number}", f"appendix C.6.2, item {number}", (ITEMS[number - 1].__doc__ or "").strip())


@claims("number", range(1, len(ITEMS) + 1), claim_of)
def test_item(check: Check, number: int) -> None:
    def compute(cases: list[Graph]) -> Iterator[Counterexample | None]:
        from constructions.engines import dense

        wired, walks = istree.TRANSFORMER.build(cases[0].n), [SearchWalk(graph) for graph in cases]
        tokens = [walk.tokens for walk in walks]
        kept = (
            dense.run(wired.model, wired.arithmetic, tokens, device=check.device, keep_registers=True).registers or ()
        )
        for walk, tables in zip(walks, kept, strict=True):
            yield different(number, wired, walk, tables)

    batches = Batches(compute, key=lambda graph: graph.n, chunk=CHUNK)

    def as_said(graph: Graph) -> Counterexample | None:
        return batches.outcome(graph)

    check.sizes(MOST)
    check.exhaustive(
        batches.compute_ahead(graphs()),
        as_said,
        count=sum(ordered_graphs(n, [n - 1]) for n in range(1, MOST)) + math.perm(math.comb(MOST, 2), MOST - 1),
        range="every graph with n − 1 edges, n ≤ 3 in every order and orientation of its edges, n = 4 in every order (dense)",
        precision=PRECISION,
    )
