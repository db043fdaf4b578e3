"""The indexed engine reads a chunk part by part: the same bits as in one part, however small they are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.engines.indexed import engine as indexed_engine
from constructions.engines.indexed import run
from constructions.engines.indexed.chunk import Chunk
from constructions.engines.indexed.column import Column, concatenated, of_integers, zeros
from constructions.engines.indexed.head import Head
from constructions.engines.indexed.mantissas import Array
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.pieces import Pieces
from constructions.istree.transformer import TRANSFORMER
from precision.format import Discipline
from tests.engines.cases import (
    CRAFTED,
    FIXED,
    NARROW,
    ROUNDINGS,
    Case,
    Trace,
    graph_tokens,
    match_like,
    random_graph,
    reference_trace,
    unstructured,
)
from tests.engines.test_streaming import a_run

SIZES = (1, 7)


def agrees(case: Case, expected: Trace, size: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether parts of so many positions give the reference's bits: every register after the last block, every next token."""
    monkeypatch.setattr(indexed_engine, "PART", size)
    e = case.arithmetic.format.quantum_exponent
    found = run(case.model, case.arithmetic, case.tokens)
    registers = [column.to_quanta(e) for column in found.registers]
    return registers == expected.registers[-1] and found.next_tokens.tolist() == expected.next_tokens


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_cases_agree(name, monkeypatch):
    case = CRAFTED[name]()
    assert all(agrees(case, reference_trace(case), size, monkeypatch) for size in SIZES)


@pytest.mark.parametrize("seed", range(10))
def test_match_like_models_agree(seed, monkeypatch):
    case = match_like(random.Random(seed))
    expected = reference_trace(case)
    assert all(agrees(case, expected, size, monkeypatch) for size in SIZES)


@pytest.mark.parametrize("discipline", Discipline)
def test_models_without_structure_agree(discipline, monkeypatch):
    for seed in range(4):
        rng = random.Random(seed)
        fmt, rounding = rng.choice((*FIXED, *NARROW)), rng.choice(ROUNDINGS)
        case = unstructured(rng, fmt=fmt, rounding=rounding, discipline=discipline)
        assert agrees(case, reference_trace(case), rng.choice(SIZES), monkeypatch)


@pytest.mark.parametrize("discipline", Discipline)
def test_istree_and_a_machine_need_no_more_fallbacks(discipline, monkeypatch):
    """Also a recurrence goes on from part to part; what a head finds out about its keys is the same for all parts."""
    wired = TRANSFORMER.build(5, discipline=discipline)
    tree = Case(wired.model, wired.arithmetic, graph_tokens(random_graph(5, random.Random(5)), "paper"))
    for case in (tree, a_run(20)):
        dense = run(case.model, case.arithmetic, case.tokens).columns.dense
        assert agrees(case, reference_trace(case), 7, monkeypatch)
        assert run(case.model, case.arithmetic, case.tokens).columns.dense <= dense


# Careless parts


def _from_the_first(self: Head, stream: Sequence[Column], begin: int) -> object:
    return _attend(self, stream, 0)


def _in_parts(self: Keys, coefficients: Sequence[Column], visible: Array, *others: object) -> object:
    return _winners(self, coefficients, np.minimum(visible, visible[0] + 2), *others)


def _without_states(self: object, number: int, block: object, part: object, read: object, held: object) -> object:
    return _mix(self, number, block, part, read, {})


_attend, _winners, _mix = Head.attend, Keys.winners, Chunk._mix
MUTANTS = {
    "each part begins at the first key": (Head, "attend", _from_the_first),
    "a part sees little of itself": (Keys, "winners", _in_parts),
    "a recurrence starts again": (Chunk, "_mix", _without_states),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_parts_are_caught(name, monkeypatch):
    monkeypatch.setattr(*MUTANTS[name])
    cases = [match_like(random.Random(seed)) for seed in range(8)] + [a_run(20)]
    assert not all(agrees(case, reference_trace(case), 7, monkeypatch) for case in cases)


# What they consist of


numbers = st.lists(st.integers(-(2**70), 2**70) | st.integers(-130, 130), max_size=5)


@given(
    values=st.lists(numbers, min_size=1, max_size=4), exponents=st.lists(st.integers(-40, 3), min_size=4, max_size=4)
)
def test_pieces_are_joined_exactly(values, exponents):
    pieces = [(of_integers(some, e) if some else zeros(0)).packed() for some, e in zip(values, exponents, strict=False)]
    expected = [number for piece in pieces for number in piece.to_quanta(-40)]
    places = np.arange(0, len(expected), 2)
    for joined in (Pieces(pieces), Pieces([concatenated(*pieces)])):
        assert joined.e == joined.whole().e or joined.whole().is_zero
        assert joined.take(places).to_quanta(-40) == expected[::2]
        assert joined.whole().to_quanta(-40) == expected
    assert Pieces(pieces).take(places).to_quanta(-40) == expected[::2]


@given(values=numbers.filter(bool), e=st.integers(-40, 3))
def test_packing_changes_no_number(values, e):
    column = of_integers(values, e)
    packed = column.packed()
    assert packed.to_quanta(-40) == column.to_quanta(-40)
    assert packed.take(np.arange(len(values))[::-1]).to_quanta(-40) == column.to_quanta(-40)[::-1]
    for place, value in enumerate(values):
        assert packed.at(place) == column.at(place) == value * Fraction(2) ** e
