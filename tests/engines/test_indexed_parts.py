"""The indexed engine reads a chunk part by part: careless ways are caught, and what parts consist of."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.engines.indexed.chunk import Chunk
from constructions.engines.indexed.column import Column, concatenated, of_integers, zeros
from constructions.engines.indexed.head import Head
from constructions.engines.indexed.mantissas import Array
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.pieces import Pieces
from tests.engines.agreement import assert_same
from tests.engines.cases import (
    match_like,
)
from tests.engines.test_streaming import a_run

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
    cases = [*(match_like(random.Random(seed)) for seed in range(8)), a_run(20)]
    with pytest.raises(AssertionError):
        _ = [assert_same("indexed in parts", case) for case in cases]


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
