"""Heads as printed: where they begin to hold, and what their constants are, by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.wiring.part import Part, printed_precision, roomy_precision
from verify.claims.heads import PRINTED, PrintedHead, leaks_nothing, least_lead_as_printed, only_at
from verify.framework.predicates import NoVerdict
from verify.inputs.trial import Trial
from verify.oracles.printed_heads import COUNT_BY_SCORE, hardest, precision_above
from verify.runs.parts import ByOracle
from verify.runs.probe import compare


@pytest.mark.parametrize("n", [2, 3, 17, 64, 100, 1025])
def test_the_printed_precision_is_the_least_odd_one(n: int) -> None:
    p = printed_precision(n)
    assert p % 2 == 1
    assert 2**p > n**10 >= 2 ** (p - 2)
    assert precision_above(10, n) == p


@pytest.mark.parametrize("part", [match_close.PART, match_nearest.PART])
def test_a_head_fails_below_its_least_n_and_not_from_there_on(part: Part) -> None:
    for n, wrong in ((45, True), (46, False), (47, False)):
        actual = compare(part, hardest(part, n, 30, roomy_precision(n, 9)), "reference", printed=True)
        assert (actual is not None) == wrong, n


def test_the_least_n_follows_from_how_e_to_the_minus_n_is_rounded() -> None:
    """By decimals: one key after by n, in q bits, for Lemma C.16; two of them, for C.13."""
    with localcontext(prec=200):
        for part, keys in ((match_close.PART, 1), (copy.PART, 2)):
            (printed,) = (printed for printed in PRINTED if printed.part is part)
            least = printed.holds_from
            for n, wrong in ((least - 1, True), (least, False)):
                q, leakage = (printed.precision(n) - 1) // 2, keys * Decimal(-n).exp()
                weight = 1 / (1 + leakage)
                assert (1 - weight > Decimal(2) ** -(q + 1)) == wrong


@pytest.mark.parametrize("printed", PRINTED, ids=lambda printed: printed.part.id)
def test_more_bits_lose_a_lead_of_n_and_are_not_what_is_claimed(printed: PrintedHead) -> None:
    """At the named p the hardest columns are right, in many more bits some are wrong, and no row that holds speaks of these."""
    part, n = printed.part, printed.holds_from
    right = only_at(printed.precision, ByOracle(part, "reference", printed=True))
    trials = [hardest(part, n, min(n, 30), printed.precision(n), back) for back in printed.hardest]
    assert [right(trial) for trial in trials] == [None] * len(trials)
    finer = [replace(trial, precision_bits=20 * n + 1) for trial in trials]
    assert any(compare(part, trial, "reference", printed=True) for trial in finer)
    for trial in finer:
        with pytest.raises(NoVerdict, match=f"the claim names p = {printed.precision(n)} for n = {n}"):
            right(trial)
    assert printed.text in printed.claim.statement


def test_a_shipped_head_says_nothing_below_its_least_p() -> None:
    """Too few bits refute no row that holds; at the least p the same columns are right."""
    least = copy.PART.least_precision(64, 12)
    right = ByOracle(copy.PART, "reference")
    assert right(hardest(copy.PART, 64, 12, least)) is None
    with pytest.raises(NoVerdict, match=f"the least p for n = 64 and 12 positions is {least}, not {least - 2}"):
        right(hardest(copy.PART, 64, 12, least - 2))


def test_the_score_of_c14_counts_and_its_printed_product_does_not() -> None:
    trial = hardest(COUNT_BY_SCORE, 64, 12, printed_precision(64))
    assert compare(COUNT_BY_SCORE, trial, "reference", printed=True) is None
    assert compare(count.PART, trial, "reference", printed=True) is not None


def no_equal_key(n: int, precision_bits: int) -> Trial:
    columns = {
        "key": (0, 2, 2),
        "query": (1, 1, 1),
        "payload": (5, 6, 7),
        "wish": (0, 0, 0),
        "count": (Fraction(0), Fraction(1, 2), Fraction(1, 3)),
        "query_count": (Fraction(1),) * 3,
    }
    return Trial(n, 3, precision_bits, {name: tuple(map(Fraction, column)) for name, column in columns.items()})


def test_the_constant_of_c18_is_too_small_for_a_1_and_a_2() -> None:
    at_one = no_equal_key(64, 61)
    actual = compare(match_next.PART, at_one, "reference", printed=True)
    assert actual is not None
    assert actual.shows["expected"] == 5
    with_room = no_equal_key(64, roomy_precision(64, 7))
    assert compare(match_next.PART, with_room, "reference", printed=True) is None
    for power in (3, 4):
        trial = no_equal_key(64, precision_above(10 * power, 64))
        assert compare(match_next.part(1, power), trial, "reference", printed=True) is None
    at_two = no_equal_key(65, precision_above(20, 65))  # 65^10 > 2^60
    assert compare(match_next.part(1, 2), at_two, "reference", printed=True) is not None


def test_the_lead_of_c18_is_more_than_its_proof_has() -> None:
    lead = least_lead_as_printed(64) * 64**5
    assert 66 < lead < Fraction(661, 10)
    m = 63  # the winner is 1/64, the last; 1/63 is next
    target = Fraction(1, m) - Fraction(1, m**2) + Fraction(1, m**3)
    assert lead == ((Fraction(1, 63) - target) ** 2 - (Fraction(1, 64) - target) ** 2) * 64**5


def test_what_a_lead_leaves_by_decimals() -> None:
    with localcontext(prec=100):
        for n in (20, 63, 64, 100, 145, 146, 147, 400):
            q = (printed_precision(n) - 1) // 2
            for share in (Fraction(1), Fraction(1, 4)):
                vanishes = n**2 * (-Decimal(n) * share.numerator / share.denominator).exp() < Decimal(2) ** -(q + 2)
                assert (leaks_nothing(share, n) is None) == vanishes


def test_a_wrong_default_is_seen() -> None:
    """A match that prefers the last key instead of the first is no Lemma C.15."""
    trial = hardest(match_close.PART, 64, 12, roomy_precision(64, 9))
    assert compare(match_close.PART, trial, "reference", printed=True) is None
    assert compare(match.PART, trial, "reference", printed=True) is None
    swapped = Trial(trial.n, trial.length, trial.precision_bits, {**trial.columns})
    wrong = Part(**{**vars(match.PART), "plan": match_close.PART.plan})
    assert compare(wrong, swapped, "reference", printed=True) is not None
