"""Theorems 4.6, 4.7, 5.2, 5.3, 5.6 and 5.7: the wired models solve the very inputs that recurrent models of few bits cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from constructions.engines import find_engine
from constructions.istree.models import MODELS
from constructions.models.search import SearchError
from constructions.wiring.wired import Wired
from verify.claims.models import ISTREE, ISTREE_HYBRID, ISTREE_RAG, Told
from verify.claims.reductions import LARGEST_C, Held, every_pair, lengths, pairs
from verify.claims.retrieval import RETRIEVERS, QuestionCase, about, ask
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claims
from verify.oracles.recall_oracle import INTERLEAVED
from verify.oracles.reductions import COUNTING, INDEX, Reduction, graph_of, ngrams, recalls
from verify.oracles.reductions import ISTREE as OF_TREES

AFFORDABLE = {"reference": 12, "dense": 24, "native": 32, "incremental": 32}  # bits
AFFORDABLE_TREES = {"reference": 4, "dense": 4, "native": 10, "incremental": 10}
ALL_BITS, ALL_TREE_BITS = 3, 2  # of which every x and k are tried
REDUCED = {
    "index": (INDEX, INTERLEAVED),
    "recall": (recalls(),),
    "ngram": tuple(ngrams(c) for c in range(2, LARGEST_C + 1)),
    "counting": (COUNTING,),
}


Judge = Callable[[Held], Counterexample | None]


@st.composite
def held(draw: DrawFn, sizes: tuple[int, ...]) -> Held:
    """Draws random bits and a random k."""
    n = draw(st.sampled_from(sizes))
    return Held(tuple(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))), draw(st.integers(1, n)))


def solve(
    check: Check, reduction: Reduction, right: Judge, most: int, every: int, examples: int, mark: str = ""
) -> None:
    """Tries all inputs of up to `every` bits, then random ones of up to `most`."""
    sizes = check.sizes(cap=most)
    precision = "p = least_precision(n)"
    check.exhaustive(
        every_pair(reduction, lengths(check, every)),
        right,
        count=pairs(reduction, lengths(check, every)),
        range=f"{mark}every x and k, few bits",
        precision=precision,
    )
    check.sampled(
        held(sizes),
        right,
        range=f"{mark}random x and k; {', '.join(map(str, sizes))} bits",
        precision=precision,
        max_examples=examples,
    )


def by_retriever(check: Check, stem: str, reduction: Reduction) -> Judge:
    """Returns whether the model answers what the task's oracle answers."""

    def right(held: Held) -> Counterexample | None:
        question = RETRIEVERS[stem].task.parse(" ".join(reduction.words(held.x, held.k)[1:]))
        case = QuestionCase(reduction.size(held.n), question.sequence, question.query)
        return ask(check, stem, case)

    return right


@claims("stem", RETRIEVERS, lambda stem: about(stem, "reduced", "On the inputs of the lower bound."))
def test_questions_of_the_lower_bound(check: Check, engine: str, stem: str) -> None:
    reductions = REDUCED[RETRIEVERS[stem].task.name]
    for number, reduction in enumerate(reductions, 1):
        mark = f"reduction {number}: " if len(reductions) > 1 else ""
        solve(check, reduction, by_retriever(check, stem, reduction), AFFORDABLE[check.engine], ALL_BITS, 15, mark)


@cache
def tree_model(name: str, vertices: int) -> Wired:
    """Returns the wired model, built once for each size."""
    return MODELS[name].build(vertices)


def about_trees(told: Told) -> Claim:
    """Returns the claim about one model of IsTree."""
    statement = MODELS[told.model].construction.statement
    return told.claim("reduced", f"{statement} On the graphs of the lower bound.")


@claims("told", (ISTREE, ISTREE_RAG, ISTREE_HYBRID), about_trees)
def test_graphs_of_the_lower_bound(check: Check, engine: str, told: Told) -> None:
    chosen = MODELS[told.model]

    def right(held: Held) -> Counterexample | None:
        vertices, words = OF_TREES.size(held.n), OF_TREES.words(held.x, held.k)
        expected = OF_TREES.right_answer(held.x, held.k)
        wired = tree_model(told.model, vertices)
        request = replace(chosen.request(wired, graph_of(vertices, words)), prompt=wired.tokens(words))
        try:
            answered = request.run(find_engine(engine)).produced[-1]
        except SearchError as error:
            return Counterexample(expected=expected, failed=str(error))
        return None if answered == expected else Counterexample(expected=expected, answered=answered)

    solve(check, OF_TREES, right, AFFORDABLE_TREES[check.engine], ALL_TREE_BITS, 5)
