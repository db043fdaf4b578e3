"""Every part as data: bounds that refuse what does not fit, contracts that mean something, claims that notice a wrong weight."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.layers import Transformer
from constructions.parts.gadgets import periodic, quotient
from constructions.parts.heads import copy, count, match, match_close, match_nearest, match_next
from constructions.wiring.part import (
    Integer,
    OneOf,
    Part,
    Real,
    UnitFraction,
    least_gap,
    least_odd_precision,
    log2,
    smallest_gap,
    split_scale,
)
from precision.format import Arithmetic, fixed_point
from verify.claims.gadgets import GADGETS
from verify.inputs.strategies import every_trial, trials
from verify.inputs.trial import Trial, satisfies
from verify.runs.probe import compare, in_domain, round_value, run_model, wire_trial

HEADS = (copy.PART, count.PART, match.PART, match_close.PART, match_nearest.PART, match_next.PART)
PARTS = (*GADGETS, quotient.PART, periodic.PART, *HEADS)
ids = [part.id for part in PARTS]


def least(n: int, length: int) -> None:
    """Each setting's own precision."""


@pytest.mark.parametrize("part", PARTS, ids=ids)
def test_a_part_is_described(part: Part) -> None:
    assert part.source
    assert part.statement.endswith(".")
    for finding in part.findings:
        assert finding.printed != finding.used


@pytest.mark.parametrize("part", PARTS, ids=ids)
def test_least_precision_is_odd_and_never_falls(part: Part) -> None:
    bits = [[part.least_precision(n, length) for length in (1, 2, 7, 64, 1000)] for n in (1, 2, 3, 10, 100, 5000)]
    assert all(b >= 5 and b % 2 for row in bits for b in row)
    assert all(row == sorted(row) for row in bits)
    assert all(list(column) == sorted(column) for column in zip(*bits, strict=True))


@settings(max_examples=25)
@given(st.data(), st.sampled_from(PARTS))
def test_a_part_keeps_its_promise(data: st.DataObject, part: Part) -> None:
    trial = data.draw(trials(part, (2, 3, 9), 6, precision=least, n_covers_length=part is match_next.PART))
    assert compare(part, trial, "reference") is None


@given(st.integers(1, 200), st.integers(1, 10**6))
def test_the_least_gap_makes_the_runner_up_vanish(fraction_bits: int, length: int) -> None:
    import mpmath

    gap = least_gap(fraction_bits, length)
    with mpmath.workdps(60):
        assert length * mpmath.exp(-(gap - 2)) < mpmath.mpf(2) ** -(fraction_bits + 2)
        if gap > 4:  # within a factor of two of what is needed, up to the margin that a rational below log2 e leaves
            assert length * mpmath.exp(-(gap / 2 - 2)) > mpmath.mpf(2) ** -(fraction_bits + 4)


@given(st.one_of(st.integers(1, 40), st.integers(1, 2**70)), st.one_of(st.integers(1, 40), st.integers(1, 2**140)))
def test_the_search_for_the_least_p_begins_below_it(n: int, length: int) -> None:
    """By trying each number of fraction bits."""
    bits = length.bit_length()
    assert all(least_gap(q, length) >= smallest_gap(length) for q in (2 * bits, 2 * bits + 1, 3 * bits))

    def matched(gap: int) -> int:
        area = gap * 4**bits
        return max(log2(4 * area), log2(split_scale(4 * area)[1]) + 2 * n.bit_length())

    def squared(gap: int) -> int:
        return max(n.bit_length(), log2(split_scale(gap)[1]) + 2 * bits + 1)

    for p, needed in (
        (match.match_precision(n, length), matched),
        (copy.position_square_precision(n, length), squared),
    ):
        assert p == 2 * next(q for q in itertools.count(2) if q >= needed(least_gap(q, length))) + 1


@given(st.one_of(st.integers(1, 40), st.integers(1, 2**70)), st.one_of(st.integers(1, 40), st.integers(1, 2**140)))
def test_the_next_count_has_no_more_bits_than_it_needs(n: int, length: int) -> None:
    """By trying each number of fraction bits, and each power of two for T."""

    def fits(q: int) -> bool:
        gap = least_gap(q, length)
        scale = next(1 << i for i in itertools.count(2) if match_next.least_lead(n + 1) * 2**i >= gap)
        assert match_next.next_scale(gap, n) == scale
        own = max(log2(scale) + 2, log2(split_scale(scale)[1]) + 2 * n.bit_length() + 1)
        area = gap * 4 ** length.bit_length()
        matched = max(log2(4 * area), log2(split_scale(4 * area)[1]) + 2 * n.bit_length(), 2 * length.bit_length())
        return q >= max(own, matched)

    p = match_next.match_next_precision(n, length)
    actual = next(q for q in itertools.count(max(2, p // 2 - 8)) if fits(q))
    assert p == 2 * actual + 1
    assert not any(map(fits, range(2, actual, 1 + actual // 16)))


def test_small_helpers() -> None:
    assert [split_scale(2**e) for e in (0, 1, 5)] == [(1, 1), (1, 2), (4, 8)]
    assert least_odd_precision(lambda q: 7) == 15
    with pytest.raises(ValueError, match="12 is not a power of two"):
        log2(12)


def test_domains_after_rounding() -> None:
    fmt = fixed_point(9)  # steps of 1/16
    assert in_domain(Fraction(3), Integer(-3, 3), fmt)
    assert not in_domain(Fraction(1, 2), Integer(-3, 3), fmt)
    assert in_domain(Fraction(5, 16), UnitFraction(2, 4), fmt)  # 1/3
    assert not in_domain(Fraction(5, 16), UnitFraction(4, 9), fmt)
    assert in_domain(Fraction(1, 16), UnitFraction(12, 12), fmt)
    assert in_domain(Fraction(0), UnitFraction(1, 100), fmt)
    assert not in_domain(Fraction(0), UnitFraction(1, 20), fmt)
    assert in_domain(Fraction(1, 4), Real(Fraction(0), Fraction(1, 4)), fmt)
    assert in_domain(round_value(Fraction(1, 10), fmt), OneOf((Fraction(1, 10),)), fmt)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 80))
def test_unit_fractions_are_found_in_any_range(low: int, width: int, m: int) -> None:
    fmt = fixed_point(9)
    high = low + width
    expected = any(round_value(Fraction(1, i), fmt) == round_value(Fraction(1, m), fmt) for i in range(low, high + 1))
    assert in_domain(round_value(Fraction(1, m), fmt), UnitFraction(low, high), fmt) == expected


def test_contracts_refuse_what_they_exclude() -> None:
    trial = Trial(3, 2, 33, {})
    contract = match.PART.contract(trial.setting)
    good = {
        "key": (Fraction(0), Fraction(1)),
        "query": (Fraction(1), Fraction(3)),
        "payload": (Fraction(-3), Fraction(3)),
    }
    assert satisfies(contract, good)
    for register, column in (("key", (1, 1)), ("query", (0, 1)), ("payload", (4, 0)), ("payload", (Fraction(1, 2), 0))):
        assert not satisfies(contract, {**good, register: tuple(map(Fraction, column))})


# A wrong weight is noticed


def changed(model: Transformer, array: str, block: int, place: tuple[int, ...], by: Fraction) -> Transformer:
    """The model with one weight of one block changed by `by`. array: a field of the feed-forward, or of head 0."""
    old = model.blocks[block]
    owner = old.feed_forward if hasattr(old.feed_forward, array) else old.heads[0]
    weights = np.array(getattr(owner, array))
    weights[place] += float(by)
    new = replace(owner, **{array: weights})
    blocks = list(model.blocks)
    if owner is old.feed_forward:
        blocks[block] = replace(old, feed_forward=new)
    else:
        blocks[block] = replace(old, heads=(new, *old.heads[1:]))
    return replace(model, blocks=tuple(blocks))


MUTANTS = [
    # A gadget's slope, corner, up form, weight and bias; a head's key, query, value and output.
    ("C.1", 0, "gate"),
    ("C.1", 0, "up"),
    ("C.1", 0, "down"),
    ("C.2", 0, "up"),
    ("C.3", 0, "gate_bias"),
    ("C.3", 0, "down"),
    ("C.4", 0, "down"),
    ("C.5", 0, "gate_bias"),
    ("C.6", 0, "up_bias"),
    ("C.13", 1, "value"),
    ("C.14", 1, "key"),
    ("C.15", 1, "value"),
    ("C.16", 1, "out"),
    ("C.17", 1, "value"),
    ("C.18", 1, "out"),
]


@pytest.mark.parametrize(("part_id", "block", "array"), MUTANTS)
def test_one_unit_in_the_last_place_is_noticed(part_id: str, block: int, array: str) -> None:
    """The largest entry of the array, one quantum more: some input of the contract comes out wrong."""
    part = next(part for part in PARTS if part.id == part_id)
    payload = {"payload": tuple(map(Fraction, (4, -4, 3, -3)))} if "payload" in contract_registers(part) else {}
    derived = {name: (Fraction(0),) * 4 for name in ("count", "query_count") if name in contract_registers(part)}
    longest = 4 if part is copy.PART else 1 + block
    cases = every_trial(part, 4, longest, precision=least, pins={**payload, **derived})
    wrong = 0
    for trial in itertools.islice(cases, 400):
        model, registers, tokens = wire_trial(part, trial, printed=False)
        fmt = trial.setting.format
        old = model.blocks[block]
        owner = old.feed_forward if hasattr(old.feed_forward, array) else old.heads[0]
        weights = np.abs(getattr(owner, array))
        place = tuple(int(i) for i in np.unravel_index(weights.argmax(), weights.shape))
        mutant = changed(model, array, block, place, fmt.quantum)
        expected = part.oracle(trial.setting, trial.columns)
        for run, count_wrong in ((model, False), (mutant, True)):
            last = run_model("reference", run, Arithmetic(fmt), tokens).last
            differs = any(
                abs(last[k][registers.index(name)] * fmt.quantum - round_value(value, fmt))
                > part.tolerance(trial.setting) * fmt.quantum
                for name, column in expected.items()
                for k, value in enumerate(column)
                if value is not None
            )
            assert count_wrong or not differs
            wrong += differs
    assert wrong, f"{part_id}: {array} may change by one unit in the last place"


def contract_registers(part: Part) -> set[str]:
    return set(part.contract(Trial(4, 4, 101, {}).setting).requires)
