"""Slips that formulas alone would not show, a precision too small or a factor that stops growing: some claim does not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from constructions.istree import transformer
from constructions.parts.heads import match_next
from constructions.retrieval.retriever import Retriever
from verify.claims import (
    architecture,
    istree_hybrid,
    istree_models,
    next_fraction,
    printed_searches,
    retrieval_size,
    turing_size,
)
from verify.claims.models import ISTREE
from verify.claims.printed_searches import SEARCH, TapeRun, by_search, records
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Claim, Row, Verdict
from verify.framework.options import Options
from verify.framework.predicates import NoVerdict, WitnessFound
from verify.inputs.turing_machines import Size

SIZES = Options(n_max=10_000)
FIRST, SECOND, UNIT = architecture.TIED


def judged(test: Callable[..., None], *more: Any) -> Row:
    """What a claim's test says, without pytest around it."""
    check, note = Check(Claim("X.1", "here", "It holds."), SIZES), ""
    try:
        test(check, *more)
    except WitnessFound:
        pass
    except NoVerdict as error:
        note = str(error)
    return check.row(0.0, note)


def sound(n: int) -> Row:
    """Whether IsTree's weights are certified for this n."""

    def rounding(check: Check) -> None:
        check.certified([find_subject("istree", n)], range=f"n = {n}")

    return judged(rounding)


def test_too_few_bits_for_istree_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer.TourTransformer, "least_precision", lambda *arguments: 5)
    row = judged(istree_models.test_logarithmic_precision, ISTREE)
    assert row.verdict is Verdict.REFUTED
    assert row.witness is not None
    assert row.witness.shows["where"].startswith("the weights")


def test_too_few_bits_for_retrieval_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Retriever, "least_precision", lambda *arguments, **more: 5)
    assert judged(retrieval_size.test_logarithmic_precision, retrieval_size.ROWS[0]).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "other",
    [
        replace(FIRST, alone=True),  # the lead is shared
        replace(FIRST, output=lambda n, v, fmt: (-FIRST.output(n, v, fmt)[0],)),
        replace(SECOND, output=lambda n, v, fmt: (Fraction(-v), Fraction(1))),  # the printed sign
        replace(SECOND, words=lambda n, q: [(Fraction(i), Fraction(i * i, 2)) for i in range(1, n + 1)]),
        replace(UNIT, words=lambda n, q: [tuple(i * x for x in word) for i, word in enumerate(UNIT.words(n, q), 1)]),
        replace(UNIT, output=lambda n, v, fmt: UNIT.output(n, 1, fmt)),
    ],
)
def test_a_tied_head_without_its_change_is_refuted(other: architecture.TiedWords) -> None:
    unproved = replace(other, theorems=())
    row = judged(architecture.test_a_tied_head_with_a_change, unproved)
    assert row.verdict is Verdict.REFUTED


def test_two_records_of_an_edge_tie_without_a_quarter() -> None:
    _, two_records = istree_hybrid.KEYS
    row = judged(istree_hybrid.test_no_tie, replace(two_records, quarters=0))
    assert row.verdict is Verdict.REFUTED


def test_numbers_of_two_digits_are_not_found_by_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_searches, "DIGITS", (1, 12))
    assert judged(printed_searches.test_the_kth_digit).verdict is Verdict.REFUTED


@pytest.mark.parametrize("slip", [lambda n: min(n, 600), lambda n: min(n + 1, 600), lambda n: n // 2 + 1])
def test_a_lead_that_stops_growing_is_refuted(monkeypatch: pytest.MonkeyPatch, slip: Callable[[int], int]) -> None:
    right = match_next.least_lead
    monkeypatch.setattr(match_next, "least_lead", lambda largest: right(slip(largest)))
    row = judged(next_fraction.test_least_lead)
    assert row.verdict is Verdict.REFUTED
    assert row.witness is not None
    assert {"scale", "lead", "gap"} <= set(row.witness.shows)


def test_a_lead_that_stops_growing_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    right = match_next.least_lead
    monkeypatch.setattr(match_next, "least_lead", lambda largest: right(min(largest, 600)))
    row = sound(10_000)
    assert row.verdict is Verdict.UNKNOWN
    assert "scores of first endpoint may differ by" in row.note


def test_a_blank_behind_the_cell_loses_a_record_at_the_end_of_the_text() -> None:
    """Why 5.4/blank leaves out words of one symbol: a blank is right for `11 a 11`, and wrong there."""
    told_apart, last = (TapeRun("1RB1LB_1LA1RZ", "0" * zeros + "1", 1, False) for zeros in (10, 0))
    with_blank, as_in_the_text, with_boundary = (
        records(by_search(search)) for search in (r"^.*P (.) P .*?$", r"^.*P (.) P.*?$", SEARCH)
    )
    assert with_blank(told_apart) is None
    assert as_in_the_text(told_apart) is not None
    lost = with_blank(last)
    assert lost is not None
    assert (lost.shows["step"], lost.shows["holds"], lost.shows["found"]) == (1, "b", "FAILED")
    assert with_boundary(last) is with_boundary(told_apart) is None


@pytest.mark.parametrize("about", turing_size.COSTS, ids=lambda about: about.theorem)
def test_a_large_machine_takes_more_bits_than_the_champion_of_the_claim(about: Any) -> None:
    (slope, rest), large = turing_size.COSTS[about][1], about.solver(Size(25, 10, 1).machine)
    assert large.least_precision(1) > slope + rest
    assert turing_size.cost_claim(about).statement.endswith(f"of {turing_size.CHAMPION}.")
