"""Inputs that are no worked examples, and what a model has to write about them, by an engine with the bits of `reference`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

import constructions
from constructions.api import LoadedModel
from constructions.engines import find_engine
from constructions.exports.limits import TRIED, longest_sequence
from constructions.istree.graphs import Graph
from constructions.models.search import END_SEARCH
from constructions.retrieval.task import Question
from constructions.turing.machine import parse_standard
from verify.inputs.hard_graphs import FAMILIES, LEAST
from verify.inputs.hard_questions import QUESTIONS

RNNS = {"parity": (8, 100), "shift": (4, 73), "sum": (3, 27)}  # how many words a prompt has, and how many prompts
BUSY = ("bb2", "bb3", "1RB0LA_1LB1RA", "1RB0RA_1RB1RA")  # the last two never halt: there and back, and one way
MACHINES, CELLS = 20, 5  # words of one length, which the weights and the vocabulary do not depend on
FEW, MANY = 2, 200


@dataclass(frozen=True)
class HeldOutCase:
    """What a model reads, and the token that it has to write after each of these positions, from 0."""

    tokens: tuple[int, ...]
    written: dict[int, int]

    def agrees(self, argmax: Sequence[int]) -> bool:
        return all(argmax[place] == token for place, token in self.written.items())


def entries(*names: str) -> list[Any]:
    """Each entry of the table with each of its float formats; of these models alone, if any are named."""
    return [
        pytest.param(*key, name, marks=pytest.mark.exports)
        for key, formats in TRIED.items()
        for name in formats
        if not names or key[1] in names
    ]


@cache
def asked(
    name: str, model: str, variant: str, n: int, count: int
) -> Sequence[tuple[LoadedModel, Sequence[HeldOutCase]]]:
    """Models of this size, each with its cases, so many in all.

    Of many, `reference` writes the words of the first FEW and `dense` those of the others; of a few, the algorithm alone.
    """
    result, left = [], count
    engines = itertools.chain(["reference"] * FEW, itertools.repeat("dense")) if count == MANY else itertools.repeat("")
    for loaded, inputs in models(name, model, n, variant):
        given = itertools.islice(inputs, left)
        result.append((loaded, [case_of(loaded, item, next(engines)) for item in given]))
        left -= len(result[-1][1])
        if not left:
            return result
    raise AssertionError(f"{left} of {count} inputs are missing")


def case_of(loaded: LoadedModel, given: Any, engine: str) -> HeldOutCase:
    """One input, and what the algorithm writes: the engine, if one is named, writes the same."""
    wired, solver = loaded.wired, loaded.solver
    if loaded.door.name == "turing":
        solver, given = replace(solver, tape=given), loaded.n
    request = solver.request(wired, solver.read_input(given, loaded.n))
    expected = [int(token) for token in request.guess]
    assert not engine or request.run(find_engine(engine)).tokens.tolist() == expected
    sequence, written, response = [*request.prompt, *expected], dict[int, int](), list[int]()
    for place in range(len(request.prompt), len(sequence)):
        if response:
            assert sequence[place] == response.pop(0)
            continue
        written[place - 1] = sequence[place]
        if wired.vocabulary[sequence[place]] == END_SEARCH:
            response = list(request.respond(sequence[: place + 1]))
    return HeldOutCase(tuple(sequence[:-1]), written)


def models(name: str, model: str, n: int, variant: str = "repaired") -> Iterator[tuple[LoadedModel, Iterator[Any]]]:
    """Models of this size and endless inputs for each, the hardest first.

    Of Turing machines, MACHINES and words for each; of Theorem 4.8, a model of each RNN; and 200 inputs for all of them.
    """
    draw = random.Random(f"{name} {model} {n}")
    if name == "simulate":
        for rnn, (words, count) in RNNS.items():
            loaded = constructions.load(name, model, rnn=rnn, length=words)
            yield loaded, iter(draw.sample(list(itertools.product(loaded.solver.rnn.vocabulary, repeat=words)), count))
        return
    if name == "turing":
        tapes = ["".join(word) for word in itertools.product("01", repeat=CELLS)]
        for machine in (*BUSY, *(parse_standard(_machine(draw)) for _ in range(MACHINES - len(BUSY)))):
            loaded = constructions.load(name, model, machine=machine, tape=tapes[0], steps=n)
            yield loaded, iter([tapes[0], *draw.sample(tapes[1:], MANY // MACHINES - 1)])
        return
    loaded = constructions.load(name, model, n=n, variant=variant)
    if name == "istree":
        longest, needed = longest_sequence(loaded.wired, model, "float64"), loaded.wired.model.longest
        most = (longest - 2 * n) // 3 if needed is None or needed > longest else n * (n - 1) // 2
        yield loaded, itertools.chain(_hard_graphs(n, most), _graphs(draw, n, most))
    else:
        yield loaded, itertools.chain(_hard_questions(name, n), _questions(draw, name, n))


def _hard_graphs(n: int, most_edges: int) -> Iterator[Graph]:
    """One of each family, as much of the longest as there is room for."""
    for family in FAMILIES.values() if n >= LEAST else ():
        yield Graph(n, tuple(family(n)[:most_edges]))


def _hard_questions(name: str, n: int) -> Iterator[Question]:
    for sequence, query in QUESTIONS[name](n).values() if n >= LEAST else ():
        yield Question(sequence, query[:2])


def _machine(draw: random.Random) -> str:
    def rule() -> str:
        return "---" if draw.random() < 0.1 else f"{draw.choice('01')}{draw.choice('LR')}{draw.choice('ABZ')}"

    return "_".join(rule() + rule() for _ in "AB")


def _graphs(draw: random.Random, n: int, most_edges: int) -> Iterator[Graph]:
    """Trees, trees with an edge moved, some with more edges or less; the first has as many as may be."""
    pairs = [(u, v) for u in range(1, n + 1) for v in range(u + 1, n + 1)]
    yield Graph(n, tuple(pairs[:most_edges]))
    while True:
        names = draw.sample(range(1, n + 1), n)
        edges = [(names[i], names[draw.choice([i - 1, draw.randrange(i)])]) for i in range(1, n)]
        kind = draw.randrange(4)
        if kind == 1:
            edges[draw.randrange(n - 1)] = draw.choice(pairs)
        elif kind == 2:
            edges += draw.sample(pairs, draw.randrange(min(len(pairs), most_edges - n)))
        elif kind == 3:
            edges = edges[draw.randrange(n - 1) :]
        fresh = {frozenset(edge): edge for edge in draw.sample(edges, len(edges))}
        yield Graph(n, tuple(edge if draw.random() < 0.5 else edge[::-1] for edge in fresh.values()))


def _questions(draw: random.Random, name: str, n: int) -> Iterator[Question]:
    while True:
        length, top = draw.choice([n, draw.randint(2, n)]), draw.choice([2, 4, n])
        sequence = tuple(draw.randint(1, min(top, n)) for _ in range(length))
        place, other = draw.randrange(length), draw.randint(1, n)
        key = draw.choice([sequence[place], other])
        if name == "index":
            yield Question(sequence, (place + 1,))
        elif name == "recall":
            yield Question(sequence, (key,))
        elif name == "ngram":
            yield Question(
                sequence,
                draw.choice([(key, other), sequence[place : place + 2]]) if place + 1 < length else (key, other),
            )
        else:
            yield Question(sequence, (key, max(0, sequence.count(key) - draw.randint(0, 1))))
