"""The certified argmax over a vocabulary, against its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.indexed import output_head
from constructions.engines.indexed.column import Column, normalised
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.output_head import OutputHead
from precision.format import Format, fixed_point
from precision.rounding import round_fraction

FORMAT = fixed_point(21)
LEAD = 3 * FORMAT.quantum


@st.composite
def heads(draw: st.DrawFn) -> tuple[list[list[int]], list[list[Fraction]]]:
    """Vocabularies of families and special words, rows in any order; and positions that want numbers, words, or anything."""
    specials = draw(st.integers(0, 4))
    families = draw(st.integers(1, 3))
    rows = []
    for family in range(families):
        low = draw(st.integers(-4, 3))
        high = low + draw(st.integers(1, 8))
        kinds = [int(f == family) for f in range(families)] + [0] * specials
        rows += [[i, i * i, *kinds] for i in range(low, high)]
    rows += [[0] * (2 + families) + [int(s == t) for t in range(specials)] for s in range(specials)]
    rows = draw(st.permutations(rows))
    width = 2 + families + specials
    eighths = st.integers(-48, 48).map(lambda i: Fraction(i, 8))
    wild = st.one_of(eighths, st.just(Fraction(500)), st.just(Fraction(-500)))
    positions = []
    square = draw(st.sampled_from((Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1))))
    for _ in range(draw(st.integers(1, 6))):
        wish = [draw(wild if draw(st.booleans()) else st.just(Fraction(0))) for _ in range(width)]
        if draw(st.integers(0, 5)):
            wish[1] = square
        positions.append(wish)
    return rows, positions


def column(values: list[Fraction]) -> Column:
    """These values, in eighths at most."""
    return normalised(np.array([int(8 * v) for v in values], np.int64), -3)


def definition(row: list[int], wish: list[Fraction], fmt: Format) -> int:
    """The logit, rounded once."""
    return round_fraction(sum((r * w for r, w in zip(row, wish, strict=True)), Fraction(0)), fmt).quanta


def wrong(rows: list[list[int]], positions: list[list[Fraction]]) -> tuple[int, int]:
    """How many positions are certified, and how many of those have another argmax."""
    by_register = [column([Fraction(row[i]) for row in rows]) for i in range(len(rows[0]))]
    wishes = [column([wish[i] for wish in positions]) for i in range(len(rows[0]))]
    certified, tokens = OutputHead(by_register).argmax(wishes, LEAD, FORMAT.max_value)
    bad = 0
    for k, wish in enumerate(positions):
        logits = [definition(row, wish, FORMAT) for row in rows]
        bad += bool(certified[k]) and logits.index(max(logits)) != tokens[k]
    return int(certified.sum()), bad


@settings(max_examples=600, deadline=None)
@given(heads())
def test_a_certified_argmax_is_the_argmax(case: tuple[list[list[int]], list[list[Fraction]]]) -> None:
    assert wrong(*case)[1] == 0


def numbers_and_words() -> list[list[int]]:
    """Two families, and two special words."""
    plain = [[i, i * i, 1, 0, 0, 0] for i in range(1, 26)]
    marked = [[i, i * i, 0, 1, 0, 0] for i in range(26)]
    return [*plain, *marked, [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]


ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def test_what_programs_write_is_certified() -> None:
    """Numbers of two families, special words, and a default: no position is left to the definition."""
    kinds = ((1, 0, 0, 0), (0, 1, 0, 0))
    positions = [[Fraction(2 * v), -ONE, *map(Fraction, kind)] for v in (1, 7, 25) for kind in kinds]
    positions += [[ZERO, -ONE, ZERO, ZERO, HALF, Fraction(word)] for word in (0, 1)]
    assert wrong(numbers_and_words(), positions) == (len(positions), 0)


def test_ties_are_left_to_the_definition() -> None:
    between = [Fraction(5), -ONE, ONE, ZERO, ZERO, ZERO]  # 2 and 3 tie
    two_words = [ZERO, -ONE, ZERO, ZERO, ONE, ONE]
    two_families = [Fraction(14), -ONE, ONE, ONE, ZERO, ZERO]
    assert wrong(numbers_and_words(), [between, two_words, two_families]) == (0, 0)


def test_a_certificate_without_lead_is_noticed() -> None:
    """Two words a quarter of a quantum apart round to the same logit, and the first of them is the argmax."""
    rows = numbers_and_words()
    wish = [ZERO, -ONE, ZERO, ZERO, ONE, ONE + FORMAT.quantum / 4]
    by_register = [column([Fraction(row[i]) for row in rows]) for i in range(6)]
    wishes = [column([w]) for w in wish[:5]] + [normalised(np.array([2**12 + 1]), -12)]
    logits = [definition(row, wish, FORMAT) for row in rows]
    for lead, certain in ((LEAD, False), (FORMAT.quantum / 8, True)):
        certified, tokens = OutputHead(by_register).argmax(wishes, lead, FORMAT.max_value)
        assert bool(certified[0]) == certain
    assert logits.index(max(logits)) != tokens[0]


_init = OutputHead.__init__


def _without_most_words(self: OutputHead, rows: Sequence[Column]) -> None:
    _init(self, rows)
    self.parts = [np.arange(25), np.array([len(rows[0]) - 2])]
    self.keys = [Keys([rows[i].take(part) for i in self.numbers], (), len(part)) for part in self.parts]


@pytest.mark.parametrize("mutant", ["parts", "saturation"])
def test_a_broken_certificate_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mutant == "parts":
        monkeypatch.setattr(OutputHead, "__init__", _without_most_words)
        wish = (8, -1, 0, 1, 0, 0)
    else:
        monkeypatch.setattr(output_head, "at_most", lambda column, limit: np.full(len(column), limit > 0))
        wish = (0, -1, 0, 0, 5000, 6000)
    assert wrong(numbers_and_words(), [[Fraction(w) for w in wish]]) == (1, 1)


def test_a_tie_among_losers_costs_nothing() -> None:
    """A model that writes no number at all: the numbers tie, far below the word that wins."""
    words = [[ZERO, ZERO, ZERO, ZERO, ONE, HALF], [ZERO, ZERO, ZERO, ZERO, -ONE, HALF]]
    assert wrong(numbers_and_words(), words) == (2, 0)
    assert wrong(numbers_and_words(), [[ZERO, ZERO, ZERO, ZERO, -ONE, -ONE]]) == (0, 0)
