"""The ideal Linear RNN of Theorem 5.3 is Algorithm 2, step by step: its program, extracted and compared, for every input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph
from constructions.models.search import END_SEARCH
from verify.certificates.building import LEAST, Subject, language_of
from verify.certificates.language import Language, Place
from verify.certificates.searches import PROMPT
from verify.claims.certified import BEYOND, LAST
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.inputs.strategies import all_edges, every_input
from verify.oracles.counts import ordered_graphs
from verify.programs.interpreter import Input, Spoken
from verify.programs.tasks import definition, inputs
from verify.programs.terms import Answer
from verify.programs.witness import tokens_of

STEP = (
    "In exact arithmetic, in a text of turns in which each word but the results of searches was due, what is said is the defined "
    "step of Algorithm 2, behind any edges and whatever the searches find."
)


@cache
def compared(n: int) -> tuple[Language, tuple[Answer | None, ...]]:
    """The texts that are compared, and what is due at their places."""
    subject = Subject("istree", n, model="rag")
    texts = inputs(subject, language_of(subject))
    return texts, tuple(definition(subject, place.name) for place in texts.places)


def behind(texts: Language, here: frozenset[int], tokens: Sequence[Spoken], k: int) -> frozenset[int]:
    """The places where the token at position k, from 1, can stand if the one before stands at one of these; at 1, behind none."""
    name, number = tokens[k - 1]

    def fits(place: Place) -> bool:
        if place.word:
            return place.word == name
        (low, _), (_, high) = map(texts.range, place.numbers)
        copied = not place.same or tokens[k - 1 - place.same] == tokens[k - 1]
        return place.family == name and low <= number <= high and copied

    found = (i for i, place in enumerate(texts.places) if not (place.after or here) or not here.isdisjoint(place.after))
    return frozenset(i for i in found if fits(texts.places[i]))


def as_algorithm_2(graph: Graph) -> Counterexample | None:
    """Where the defined step is not what comes next in Algorithm 2's text, or where that text stands at no place."""
    texts, due = compared(graph.n)
    prompt = [PAPER.vocabulary(graph.n)[token] for token in PAPER.prompt(graph)]
    words = [*prompt, *rag.expected_sequence(graph)]
    tokens, here = tokens_of(words, rag.VERTEX), frozenset[int]()
    read = Input(tokens, frozenset([rag.VERTEX]))
    for k in range(1, len(words)):
        here = frozenset(i for i in behind(texts, here, tokens, k) if (i < PROMPT) == (k <= len(prompt)))
        if not here:
            return Counterexample(position=k, found=words[k - 1], due="another token")
        for answer in map(due.__getitem__, here if k >= len(prompt) and words[k - 1] != END_SEARCH else ()):
            said = answer and read.said(answer, k)
            if said != words[k]:
                return Counterexample(position=k, expected=words[k], due=said)
    return None


@claim(theorem="5.3", task="istree", aspect="program", source=rag.SOURCE, statement=f"IsTree, rag: {STEP}")
def test_step(check: Check) -> None:
    few, steps = (1, 2, 3), "the defined steps against Algorithm 2"
    check.exhaustive(
        itertools.chain.from_iterable(map(every_input, few)),
        as_algorithm_2,
        count=sum(map(ordered_graphs, few)),
        range=f"{steps}: every graph on 1 to 3 vertices, every order and orientation of its edges",
        size=lambda graph: graph.n,
    )
    check.exhaustive(
        (Graph(4, edges) for edges in itertools.permutations(all_edges(4), 3)),
        as_algorithm_2,
        count=math.perm(6, 3),
        range=f"{steps}: every graph with 3 edges on 4 vertices, every order of its edges",
        size=4,
    )
    check.sizes(LEAST)
    subject = Subject("istree", LEAST, model="rag")
    subjects, sizes = [subject, replace(subject, n=BEYOND)], f"n = {LEAST} and {BEYOND:,}"
    if check.n_max >= 10**4:
        subjects, sizes = [replace(subject, last=LAST)], f"every n from {LEAST} to 2^64 by intervals"
    text = "the program against the defined step: any edges, any turns behind them, any results of searches"
    check.explained(subjects, range=f"{text}; {sizes}")
