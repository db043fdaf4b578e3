"""A certificate is never wrong: exhaustive and random runs stay within the bounds, errors and winners that it states."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any

import pytest

from constructions.istree import lean, transformer
from constructions.istree.graphs import EOS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.retrieval.task import Question
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.verify.certificates.runs import contradictions
from verify.certificates.building import build
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.models import RETRIEVERS
from verify.rounding.checker import Report, check

N = 4


@cache
def certified(name: str, discipline: Discipline, layout: Layout = "paper", *, lean: bool = False) -> Report:
    own: dict[str, Any] = {"layout": layout, "lean": lean} if name == "istree" else {}
    return check(*build(find_subject(name, N, discipline=discipline, **own)))


def prompt(wired: Wired, question: Question) -> list[int]:
    return wired.tokens(question.words())


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("name", RETRIEVERS)
def test_short_prompts(name: str, discipline: Discipline) -> None:
    retriever = RETRIEVERS[name]
    wired, report = retriever.build(N, discipline=discipline), certified(name, discipline)
    for sequence in itertools.chain.from_iterable(itertools.product((1, N), repeat=m) for m in (1, 2, N)):
        queries = itertools.product((1, 2, N), repeat=retriever.query_length)
        for query in random.Random(str(sequence)).sample(list(queries), 2):
            question = Question(sequence, query)
            if not retriever.task.wrong(question):
                tokens = prompt(wired, question)
                assert contradictions(wired, report, tokens, {len(tokens)}) == []


GRAPHS = [
    Graph(4, ((1, 2), (3, 1), (1, 4))),
    Graph(4, ((3, 4), (1, 2), (2, 3))),
    Graph(4, ((1, 2), (2, 3), (3, 1))),
    Graph(4, ((1, 2),)),
    Graph(4, ((1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (2, 4))),
]


@pytest.mark.parametrize(
    ("graph", "layout"), [*((g, PAPER) for g in GRAPHS[::2]), *((g, EOS) for g in GRAPHS[1:4])], ids=str
)
def test_istree(graph: Graph, layout: TokenLayout) -> None:
    wired = transformer.TourTransformer(layout).build(N)
    tokens = [*layout.prompt(graph), *expected_answer(graph, layout)[:-1]]
    everywhere = set(range(1, len(tokens) + 1))
    assert contradictions(wired, certified("istree", Discipline.FUSED, layout.name), tokens, everywhere) == []


@pytest.mark.parametrize("layout", [PAPER, EOS], ids=str)
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_lean(graph: Graph, layout: TokenLayout) -> None:
    """The last graph has a prompt of more tokens than n − 1 edges and a tour would."""
    wired = lean.Lean(layout).build(N)
    tokens = [*layout.prompt(graph), *expected_answer(graph, layout)[:-1]]
    report = certified("istree", Discipline.FUSED, layout.name, lean=True)
    assert contradictions(wired, report, tokens, set(range(1, len(tokens) + 1))) == []
