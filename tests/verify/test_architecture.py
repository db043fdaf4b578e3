"""√d, Counting by two blocks, and the printed gadgets: that each of them can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from constructions import counting
from constructions.engines import find_engine
from constructions.engines.reference import ReferenceEngine
from constructions.parts.gadgets import threshold
from constructions.retrieval.retriever import Retriever
from constructions.retrieval.task import Question
from constructions.wiring.affine import reg
from constructions.wiring.wire import BlockPlan
from verify.claims.readings_of_heads import readings_of_finding
from verify.claims.retrieval import RETRIEVERS, model
from verify.inputs.trial import Trial
from verify.oracles.printed_gadgets import CUBIC, THRESHOLD, between, by_matrices
from verify.oracles.scaled_scores import DividingEngine, enlarge_keys, halvings
from verify.oracles.two_block_counting import TWO_BLOCKS
from verify.runs.probe import compare


def test_a_counted_threshold_is_wrong_with_at_least_as_well() -> None:
    """Every token is a key: the query counts itself, and so does a threshold k that equals it. (k + 1)/(keys + 1) < 1 says YES."""
    wrong = [
        (m, k, q)
        for m in range(5)
        for k in range(1, 5)
        for q in range(1, 5)
        if (Fraction(k + 1, m + 1 + (k == q) + 1) < 1) != (m >= k)
    ]
    assert wrong == [(k - 1, k, k) for k in range(1, 5)]


@pytest.mark.parametrize(("width", "k"), [(1, 0), (2, 1), (4, 1), (5, 2), (13, 2), (16, 2), (17, 3), (64, 3), (65, 4)])
def test_d_is_filled_up_to_a_power_of_4(width: int, k: int) -> None:
    assert halvings(width) == k
    assert 4**k >= width > 4 ** (k - 1) or width == 1


def test_scores_that_are_divided_and_not_multiplied_before_are_seen() -> None:
    wired = model("4.6/counting", 8, 2, p_bits=RETRIEVERS["4.6/counting"].least_precision(8) + 8)
    tokens = wired.tokens(Question((2, 1, 2), (2, 1)).words())

    def last(engine: ReferenceEngine) -> object:
        return [engine.append(token) for token in tokens][-1].registers

    plain = last(ReferenceEngine(wired.model, wired.arithmetic))
    assert last(DividingEngine(enlarge_keys(wired.model), wired.arithmetic)) == plain
    narrow = replace(
        wired.model, blocks=wired.model.blocks
    )  # keys as they were: every lead is an eighth of what it was
    assert last(DividingEngine(narrow, wired.arithmetic)) != plain


def says(retriever: Retriever, question: Question, printed: tuple[str, ...] = ()) -> str:
    wired = retriever.build(3, printed=printed)
    return str(retriever.request(wired, question).run(find_engine("reference")).produced[-1])


def test_a_threshold_that_is_the_query_is_not_counted_by_two_blocks() -> None:
    question = Question((1,), (1, 1))
    assert says(TWO_BLOCKS, question) == "NO"
    assert says(counting.TRANSFORMER, question, ("count-query",)) == "YES"
    assert says(counting.TRANSFORMER, Question((1,), (1, 0)), ("count-query",)) == "YES"  # another threshold is right
    assert says(counting.TRANSFORMER, Question((1, 1), (1, 3)), ("count-query",)) == "NO"


def test_the_matrices_of_c5_are_a_threshold_and_its_written_out_form_is_not() -> None:
    trial = Trial(3, 1, 21, {"x": (Fraction(1),)})
    assert compare(THRESHOLD, trial, "reference") is None
    written_out = threshold.threshold(reg("x"), threshold.TEST_THRESHOLD, {"out": 1}, printed=True)
    wrong = replace(THRESHOLD, plan=lambda setting, printed: [BlockPlan((), (written_out,))])
    assert compare(wrong, trial, "reference") is not None
    assert [unit.into["out"] for unit in by_matrices(reg("x"), 1, {"out": 1}).units] == [2, -2]
    assert len(between(reg("x"), 1, 3, {"out": 1}).units) == 4


def test_the_quadratic_is_not_the_cubic() -> None:
    trial = Trial(8, 1, 61, {"x": (Fraction(1, 5),)})
    assert compare(CUBIC, trial, "reference") is None
    wrong = replace(CUBIC, oracle=lambda setting, columns: {"out": [x - x**2 for x in columns["x"]]})
    assert compare(wrong, trial, "reference") is not None


def test_a_finding_that_nobody_has_read_is_named() -> None:
    with pytest.raises(ValueError, match=r"nobody has read C\.99"):
        readings_of_finding("C.99", "4.6/recall")
