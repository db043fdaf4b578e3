"""Appendix C.6.2, item 7, as printed: what the two MatchNext heads tell the feed-forward behind them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from constructions.engines import dense
from constructions.istree import transformer as istree
from constructions.istree.blocks import LAYER_7
from constructions.istree.graphs import PAPER, Edge, Graph, depth_first_tour
from constructions.wiring.wired import Wired
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Kind, Reading, Verdict, claims

CENTRE, MOST = 1, 6  # of a star; vertices
WIDER = (2, 20, 58)  # bits above the least p
CHUNK = 1024
BEHIND_HEADS = 13  # tables: the embedding, then two a block; this is the one behind block 7's attention


@dataclass(frozen=True)
class Stars:
    """Two stars around vertex 1, and how many leaves the search has come back from."""

    one: Graph
    other: Graph
    returns: int


@dataclass(frozen=True)
class Filling:
    """A way to read item 5. apart: whether its two heads write registers of their own, the first i8, the second i9."""

    aspect: str
    apart: bool


def stars(n: int) -> Iterator[Graph]:
    """Every order and orientation of a star's edges."""
    for leaves in itertools.permutations(range(2, n + 1)):
        for turned in itertools.product((False, True), repeat=n - 1):
            edges: Iterator[Edge] = (
                (v, CENTRE) if back else (CENTRE, v) for v, back in zip(leaves, turned, strict=True)
            )
            yield Graph(n, tuple(edges))


@cache
def model(n: int, p_bits: int | None) -> Wired:
    """The blocks up to item 7's, its heads as printed and all before repaired."""
    wired = istree.build(n, p_bits, printed=(LAYER_7.id,))
    return replace(wired, model=replace(wired.model, blocks=wired.model.blocks[:7]))


def precisions(n: int) -> list[int]:
    """The least p, and some above it."""
    least = istree.least_precision(n)
    return [least, *(least + more for more in WIDER)]


def text(star: Graph, returns: int) -> list[int]:
    """The prompt and the search up to this return."""
    tour = itertools.islice(depth_first_tour(star), 2 * returns + 1)
    return [*PAPER.prompt(star), *(v - 1 for v in tour)]


def following(star: Graph, returns: int) -> int:
    """Where the search goes next, by a plain search."""
    return list(depth_first_tour(star))[2 * returns + 1]


def views(graphs: Sequence[Graph], returns: int, p_bits: int, device: str) -> list[tuple[int, ...]]:
    """All registers behind block 7's heads at the last position, in quanta: what its feed-forward is given."""
    wired, seen = model(graphs[0].n, p_bits), list[tuple[int, ...]]()
    for start in range(0, len(graphs), CHUNK):
        tokens = [text(graph, returns) for graph in graphs[start : start + CHUNK]]
        run = dense.run(wired.model, wired.arithmetic, tokens, device=device, keep_registers=True)
        seen += [tuple(map(int, tables[BEHIND_HEADS][-1])) for tables in run.registers or ()]
    return seen


def alike(n: int, returns: int, device: str) -> Iterator[Stars]:
    """Each star beside the first one that leaves the same registers, at the least p."""
    first: dict[tuple[int, ...], Graph] = {}
    every = list(stars(n))
    for star, view in zip(every, views(every, returns, precisions(n)[0], device), strict=True):
        yield Stars(first.setdefault(view, star), star, returns)


@claims(
    "finding",
    [
        (
            Claim.about(
                "4.7",
                "istree",
                LAYER_7.id,
                "appendix C.6.2, item 7",
                "Behind two MatchNext heads, one over first and one over second endpoints, some feed-forward sets i14 to the other"
                " end of the next edge, if the registers before it are those that items 1 to 6 name, without a slip.",
                finding=LAYER_7.id,
                expected=Verdict.REFUTED,
                kind=Kind.FALSE,
                readings=(
                    Reading(
                        "Any feed-forward at all: two stars leave equal numbers in every register that it reads, and their next"
                        " vertices differ.",
                        holds=False,
                    ),
                ),
            ),
            LAYER_7,
        )
    ],
)
def test_layer_7(check: Check, finding: object) -> None:
    def told_apart(pair: Stars) -> Counterexample | None:
        wanted = [following(star, pair.returns) for star in (pair.one, pair.other)]
        if wanted[0] == wanted[1]:
            return None
        for p_bits in precisions(pair.one.n):
            one, other = views((pair.one, pair.other), pair.returns, p_bits, check.device)
            if one != other:
                return None
        wired = model(pair.one.n, precisions(pair.one.n)[0])
        quantum = wired.arithmetic.format.quantum
        read = {name: one_of(wired, pair, name, check.device) * quantum for name in ("next1_a", "count1_a", "next1_b", "count1_b")}
        walked = " ".join(str(token + 1) for token in text(pair.one, pair.returns)[-3:])
        return Counterexample(behind=walked, **read, next_vertices=wanted, equal_at=precisions(pair.one.n))
