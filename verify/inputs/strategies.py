"""What random inputs are made of: columns from a part's contract, graphs from families. Everything shrinks to the simplest case."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from constructions.istree.graphs import Edge, Graph
from constructions.wiring.part import Contract, Domain, Integer, OneOf, Part, Real, UnitFraction
from verify.inputs.trial import Trial, satisfies

PRECISION_SURPLUS = (0, 2, 8, 20)  # bits above the least precision that are tried as well

Item = TypeVar("Item")
Columns = Mapping[str, tuple[Fraction, ...]]
Pins = Mapping[str, Sequence[Fraction]]  # register → the value that it is to hold at position 1, 2, …


# Columns


def values(domain: Domain) -> SearchStrategy[Fraction]:
    """Draws elements of a domain, the ends more often than chance has it."""
    match domain:
        case Integer(low, high):
            ends = st.sampled_from(sorted({low, high}, key=abs))
            return st.one_of(st.integers(low, high), ends).map(Fraction)
        case UnitFraction(low, high):
            return st.one_of(st.integers(low, high), st.sampled_from((low, high))).map(lambda m: Fraction(1, m))
        case Real(low, high):
            return st.fractions(low, high, max_denominator=64)
        case OneOf(choices):
            return st.sampled_from(choices)


def crowd(domain: Domain) -> SearchStrategy[Fraction]:
    """Draws elements of a domain out of a few, so that equal ones are common."""
    if isinstance(domain, Integer):
        return st.integers(domain.low, min(domain.low + 2, domain.high)).map(Fraction)
    return values(domain)


def columns_of(element: SearchStrategy[Fraction], count: int) -> SearchStrategy[list[Fraction]]:
    return st.lists(element, min_size=count, max_size=count)


def every_value(domain: Domain) -> list[Fraction]:
    """Returns all elements of a finite domain, the smallest magnitudes first."""
    match domain:
        case Integer(low, high):
            return sorted(map(Fraction, range(low, high + 1)), key=lambda x: (abs(x), x))
        case UnitFraction(low, high):
            return [Fraction(1, m) for m in range(low, high + 1)]
        case OneOf(choices):
            return list(choices)
        case Real():
            raise ValueError("a real domain has no list of its elements")


def complete(part: Part, contract: Contract, columns: Columns, n: int) -> Columns:
    """Fills in the dependent registers. ValueError if that leaves the precondition."""
    if contract.derive is not None:
        columns = {name: tuple(column) for name, column in contract.derive(columns).items()}
    if not satisfies(contract, columns):
        raise ValueError(f"{part.id}: columns outside the contract at n = {n}: {columns}")
    return columns


@st.composite
def trials(
    draw: DrawFn,
    part: Part,
    sizes: Sequence[int],
    longest: int,
    *,
    precision: Callable[[int, int], int | None],
    n_covers_length: bool = False,
) -> Trial:
    """Draws a setting with n from `sizes`, and columns of it up to `longest` positions.

    precision(n, length): bits to use, or None for the least ones and some more. n_covers_length: whether n bounds the length too.
    """
    n = draw(st.sampled_from(sizes))
    most = min(longest, n) if n_covers_length else longest
    count = draw(st.one_of(st.integers(1, min(most, 6)), st.integers(1, most)))
    length = draw(st.sampled_from(sorted({count, most}))) if n_covers_length else draw(st.integers(count, longest))
    bits = precision(n, length)
    if bits is None:
        least = part.least_precision(n, length)
        bits = least + draw(st.sampled_from(PRECISION_SURPLUS))
    trial = Trial(n, length, bits, {})
    contract = part.contract(trial.setting)
    columns: dict[str, tuple[Fraction, ...]] = {}
    for name, domain in contract.requires.items():
        way = draw(st.sampled_from((crowd, values, None)))
        drawn = [draw(values(domain))] * count if way is None else draw(columns_of(way(domain), count))
        if name in contract.first:
            drawn[0] = contract.first[name]
        columns[name] = tuple(drawn)
    return Trial(n, length, bits, complete(part, contract, columns, n))


def every_trial(
    part: Part, n: int, longest: int, *, precision: Callable[[int, int], int | None], pins: Pins | None = None
) -> Iterator[Trial]:
    """Yields all columns of up to `longest` positions, the shortest first. A pinned register holds its given values.

    Registers that the contract derives are to be pinned to anything: they are overwritten.
    """
    pins = pins or {}
    for length in range(1, longest + 1):
        trial = Trial(n, length, precision(n, length) or part.least_precision(n, length), {})
        contract = part.contract(trial.setting)
        free = [name for name in contract.requires if name not in pins]
        choices = [
            [contract.first[name]] if k == 0 and name in contract.first else every_value(contract.requires[name])
            for k in range(length)
            for name in free
        ]
        for flat in itertools.product(*choices):
            columns = {name: flat[i :: len(free)] for i, name in enumerate(free)}
            columns |= {name: tuple(pins[name][:length]) for name in pins}
            yield Trial(n, length, trial.precision_bits, complete(part, contract, columns, n))


# Graphs


Pick = Callable[[int, int], int]  # an integer from low to high, by hypothesis or by a generator of random numbers


def path(n: int) -> list[Edge]:
    return [(i, i + 1) for i in range(1, n)]


def star(n: int) -> list[Edge]:
    return [(1, i) for i in range(2, n + 1)]


def double_star(n: int, pick: Pick) -> list[Edge]:
    """Returns two joined hubs, the other vertices divided between them."""
    split = pick(2, max(n, 2))
    return [(1 if i <= split else 2, i) for i in range(3, n + 1)] + ([(1, 2)] if n > 1 else [])


def caterpillar(n: int, pick: Pick) -> list[Edge]:
    """Returns a path with the other vertices hanging from it."""
    spine = pick(1, n)
    return path(spine) + [(pick(1, spine), leaf) for leaf in range(spine + 1, n + 1)]


def recursive_tree(n: int, pick: Pick) -> list[Edge]:
    """Returns each vertex joined to an earlier one."""
    return [(pick(1, i - 1), i) for i in range(2, n + 1)]


def unicyclic(n: int, pick: Pick) -> list[Edge]:
    """Returns a tree and one more edge: connected, m = n."""
    return add_edges(n, recursive_tree(n, pick), n, pick)


def cyclic_and_disconnected(n: int, pick: Pick) -> list[Edge]:
    """Draws m = n − 1 edges with a cycle: a tree on some vertices, and as many more edges as vertices are left out.

    For n ≤ 3 there is no such graph, and a tree comes instead.
    """
    fewest = next(c for c in range(1, n + 1) if c * (c - 1) // 2 >= n - 1)
    covered = pick(fewest, max(n - 1, fewest))
    return add_edges(covered, recursive_tree(covered, pick), n - 1, pick)


def forest(n: int, pick: Pick) -> list[Edge]:
    """Returns a recursive tree without some of its edges."""
    return [edge for edge in recursive_tree(n, pick) if pick(0, 3)]


def any_edges(n: int, pick: Pick) -> list[Edge]:
    return add_edges(n, [], pick(0, 2 * n), pick)


def isolated_root(n: int, pick: Pick) -> list[Edge]:
    """Draws up to 3n edges that leave vertex 1 alone."""
    return [(u + 1, v + 1) for u, v in add_edges(n - 1, [], pick(0, 3 * n), pick)]


def add_edges(n: int, edges: list[Edge], total: int, pick: Pick) -> list[Edge]:
    """Returns the edges and random ones on top, `total` if there are as many."""
    total = min(total, n * (n - 1) // 2)
    known = {frozenset(edge) for edge in edges}
    result = list(edges)
    while len(result) < total:
        u = pick(1, n)
        v = pick(1, n)
        for _ in range(n * n):  # the next free pair in order
            if u != v and frozenset((u, v)) not in known:
                break
            u, v = (u, v + 1) if v < n else (u % n + 1, 1)
        known.add(frozenset((u, v)))
        result.append((u, v))
    return result


ISOLATED_ROOT = "graphs whose root is isolated"
FAMILIES: Mapping[str, Callable[[int, Pick], list[Edge]]] = {
    "stars": lambda n, pick: star(n),
    "paths": lambda n, pick: path(n),
    "caterpillars": caterpillar,
    "double stars": double_star,
    "random recursive trees": recursive_tree,
    "unicyclic graphs": unicyclic,
    "disconnected graphs with a cycle and n − 1 edges": cyclic_and_disconnected,
    "forests": forest,
    "graphs with up to 2n edges": any_edges,
    ISOLATED_ROOT: isolated_root,
}
SHRINKABLE = 64  # vertices, beyond which hypothesis cannot draw every edge and a seed stands for the graph


@st.composite
def graphs(draw: DrawFn, sizes: Sequence[int], families: Sequence[str] = tuple(FAMILIES)) -> Graph:
    """Draws a graph of some family with random labels, edge order and orientations; n from `sizes`."""
    n = draw(st.sampled_from(sizes))
    family = draw(st.sampled_from(families))
    if n <= SHRINKABLE:
        return label(n, family, lambda low, high: draw(st.integers(low, high)))
    return label(n, family, random.Random(draw(st.integers(0, 2**32))).randint)


def label(n: int, family: str, pick: Pick) -> Graph:
    """Returns a graph of the family; an isolated root keeps its label. Picks of the smallest numbers leave all in order."""
    edges = FAMILIES[family](n, pick)
    names = [1, *shuffle(range(2, n + 1), pick)] if family == ISOLATED_ROOT else shuffle(range(1, n + 1), pick)
    named = [(names[u - 1], names[v - 1]) for u, v in edges]
    return Graph(n, tuple(shuffle([(v, u) if pick(0, 1) else (u, v) for u, v in named], pick)))


def shuffle(items: Sequence[Item], pick: Pick) -> list[Item]:
    result = list(items)
    for i in range(len(result) - 1):
        j = pick(i, len(result) - 1)
        result[i], result[j] = result[j], result[i]
    return result


def all_edges(n: int) -> list[Edge]:
    return list(itertools.combinations(range(1, n + 1), 2))


def every_input(n: int, counts: Sequence[int] | None = None) -> Iterator[Graph]:
    """Yields every graph on n vertices with every order and orientation of its edges; `counts`: only these numbers of edges."""
    edges = all_edges(n)
    for m in range(len(edges) + 1) if counts is None else counts:
        for chosen in itertools.combinations(edges, m):
            for order in itertools.permutations(chosen):
                for turns in itertools.product((False, True), repeat=m):
                    yield Graph(n, tuple((v, u) if turn else (u, v) for (u, v), turn in zip(order, turns, strict=True)))


def every_labelled_graph(n: int) -> Iterator[Graph]:
    """Yields every graph on n vertices, in one order and orientation of its edges."""
    edges = all_edges(n)
    for m in range(len(edges) + 1):
        for chosen in itertools.combinations(edges, m):
            yield Graph(n, chosen)


def every_labelled_tree(n: int) -> Iterator[Graph]:
    """Yields the n^(n − 2) trees on n ≥ 2 vertices, from their Prüfer codes."""
    for code in itertools.product(range(1, n + 1), repeat=n - 2):
        degree = [0] + [1 + code.count(v) for v in range(1, n + 1)]
        edges = []
        for v in code:
            leaf = next(u for u in range(1, n + 1) if degree[u] == 1)
            edges.append((leaf, v))
            degree[leaf] -= 1
            degree[v] -= 1
        u, v = (w for w in range(1, n + 1) if degree[w] == 1)
        yield Graph(n, (*edges, (u, v)))
