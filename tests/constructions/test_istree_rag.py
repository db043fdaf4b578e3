"""The IsTree RNN that searches: its text, its searches, sizes, refusals, and that every rule counts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import pytest
from hypothesis import example, given, settings

from constructions.engines import Decoding, dense
from constructions.engines.decoding import find_flags
from constructions.istree import rag
from constructions.istree.graphs import PAPER, Graph, depth_first_tour, is_tree
from constructions.istree.searches import searches
from constructions.layers import Transformer
from constructions.models.search import END_SEARCH, SearchError, SearchTool, retrieve
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline
from tests.constructions.cutting import cuts
from tests.constructions.decoding import decode
from verify.inputs.strategies import graphs

PATH = Graph(2, ((1, 2),))
TRIANGLE = Graph(3, ((1, 2), (2, 3), (3, 1)))
# 5 stands in 15 and 57, 1 in 11: numbers that hold others.
DIGITS = Graph(57, ((1, 11), (5, 15), (57, 5), (11, 5), (15, 51), (1, 57)))


@cache
def built(n: int, printed: tuple[str, ...] = (), discipline: Discipline = Discipline.FUSED) -> Wired:
    return rag.RAG.build(n, printed=printed, discipline=discipline)


def text(wired: Wired, graph: Graph, engine: str, guess: Sequence[str] = ()) -> list[str]:
    limit, respond = rag.RAG.limit(graph.n), SearchTool(wired.vocabulary)
    return decode(wired, PAPER.prompt(graph), engine, limit, stop=("YES", "NO"), guess=guess, respond=respond)


# The expected text, by itself


def judge_text(graph: Graph) -> None:
    """Every search, made by Python's re, finds what the oracle says; its records are Algorithm 1's tour up to a cycle."""
    words, prompt = rag.RAG.expected(graph), [built(graph.n).vocabulary[token] for token in PAPER.prompt(graph)]
    actual = 0
    for place, word in enumerate(words):
        if word == END_SEARCH:
            actual += 1
            assert retrieve([*prompt, *words[: place + 1]]) == [words[place + 1]]
    assert words[-1] == ("YES" if is_tree(graph) else "NO")
    spent, most = (len(words), actual), (64 * graph.n - 43, 6 * graph.n - 4)
    assert spent == most if is_tree(graph) else max(actual - most[1], len(words) - most[0]) <= 0
    heads = [words[i + 1] for i, word in enumerate(words) if word in ("-", "^")]
    tour = [str(v) for v in depth_first_tour(graph)]
    assert heads[: len(tour)] == tour[: len(heads)]


@settings(max_examples=60)
@given(graphs(range(1, 25)))
@example(DIGITS)
@example(TRIANGLE)
@example(Graph(1, ()))
def test_the_expected_text_is_what_its_searches_find(graph: Graph) -> None:
    judge_text(graph)


def test_a_wrong_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = rag.RAG.expected(TRIANGLE)
    wrong = [*right]
    wrong[wrong.index(END_SEARCH) + 1] = "3"
    monkeypatch.setattr(rag.IsTreeRag, "expected", lambda model, graph: wrong)
    with pytest.raises(AssertionError):
        judge_text(TRIANGLE)


# The model


def test_nothing_is_guessed() -> None:
    graph = Graph(3, ((3, 2), (1, 3)))
    assert text(built(3), graph, "reference") == rag.RAG.expected(graph)


@settings(max_examples=10)
@given(graphs(range(1, 20)))
@example(DIGITS)
def test_any_graph(graph: Graph) -> None:
    expected = rag.RAG.expected(graph)
    assert text(built(graph.n), graph, "auto", expected) == expected


def test_nothing_saturates_on_the_longest_prompt() -> None:
    graph = Graph(7, tuple(combinations(range(1, 8), 2)))
    for discipline in Discipline:
        wired = built(7, (), discipline)
        fed = [*PAPER.prompt(graph), *wired.tokens(rag.RAG.expected(Graph(7, graph.edges[:6])))]
        assert len(fed) > rag.RAG.length(7) - 21
        flags = find_flags(Decoding(wired.model, wired.arithmetic, fed, set(), 0), [], len(fed))
        assert not [site for site in flags.counts if site.kind == "saturation" and not site.site.endswith(".score")]


# Searches


def test_searches_of_every_variant_are_told_apart_by_their_first_token() -> None:
    for size in range(len(rag.FINDING_IDS) + 1):
        for chosen in combinations(rag.FINDING_IDS, size):
            plan = searches(frozenset(chosen))
            scripts = {plan.father.script, plan.record.script, plan.first.script, plan.next.script}
            firsts = [script[0] for script in scripts]
            for first in firsts:
                assert sum(script.count(first) for script in scripts) == 1, chosen
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for script in scripts:
                    assert re.compile(" ".join(item if isinstance(item, str) else "7" for item in script)).groups
            assert built(2, chosen).printed == chosen


def test_findings_put_back_spell_the_print() -> None:
    plan = searches(frozenset(rag.FINDING_IDS))

    def spelled(script: Sequence[object]) -> str:
        return "".join(item if isinstance(item, str) else item.value for item in script)  # type: ignore[attr-defined]

    assert spelled(plan.father.script) == spelled(plan.record.script) == r"\b(\S+)\b -\bv\b"
    assert spelled(plan.first.script) == r"\b(\S+)\b ~\bv\b|\bv\b ~\b(\S+)\b"
    assert spelled(plan.next.script) == r"(\bu\b ~\bv\b|\bv\b ~\bu\b).*?" + spelled(plan.first.script)


@pytest.mark.parametrize("finding", rag.FINDING_IDS)
def test_each_finding_alone_spoils_a_verdict(finding: str) -> None:
    graph = {"record-spaces": TRIANGLE, "edge-group": Graph(3, ((1, 2), (1, 3)))}.get(finding, PATH)
    try:
        said = text(built(graph.n, (finding,)), graph, "reference")[-1]
    except SearchError:
        return
    assert said != ("YES" if is_tree(graph) else "NO")


# Sizes and refusals


def test_the_prompt_has_the_papers_tokens() -> None:
    assert built(9).vocabulary[: 9 + len(PAPER.specials)] == PAPER.vocabulary(9)


# Every rule, every comparison and every linear unit is needed. Inputs that use every rule, for the model of n = 4.
INPUTS = (
    Graph(4, ()),
    Graph(4, ((2, 1), (2, 3), (2, 4))),
    Graph(4, ((1, 2), (2, 3), (1, 4))),
    Graph(4, ((2, 3), (1, 2), (4, 1))),
    Graph(4, ((2, 3), (2, 1), (3, 1))),
    Graph(4, ((3, 1), (2, 3), (4, 2), (3, 4))),
)


def answers_all(model: Transformer, arithmetic: Arithmetic, wired: Wired) -> bool:
    """Whether each input gets its expected text; whole sequences at once."""
    expected = [rag.RAG.expected(graph) for graph in INPUTS]
    fed = [[*PAPER.prompt(g), *wired.tokens(words)] for g, words in zip(INPUTS, expected, strict=True)]
    found = dense.run(model, arithmetic, [tokens[:-1] for tokens in fed]).next_tokens
    for graph, tokens, argmax in zip(INPUTS, fed, found, strict=True):
        for place in range(len(PAPER.prompt(graph)) - 1, len(tokens) - 1):
            written = wired.vocabulary[tokens[place]] != END_SEARCH
            if written and argmax[place] != tokens[place + 1]:
                return False
    return True


def test_every_rule_every_comparison_and_every_linear_unit_is_needed() -> None:
    wired = built(4)
    assert answers_all(wired.model, wired.arithmetic, wired)
    every = list(cuts(wired))
    idle = [name for name, model in every if answers_all(model, wired.arithmetic, wired)]
    assert idle == []
    assert len(every) > 60
