"""What is alike is computed once: rows that repeat, and runs of queries between two of them, against plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.indexed import chunk, nearest, repeats, run, winners
from constructions.engines.indexed.column import Column, of_integers
from constructions.engines.indexed.nearest import Keys
from constructions.engines.indexed.pieces import Pieces
from constructions.engines.indexed.repeats import different_rows
from constructions.engines.indexed.winners import Winners
from tests.engines.cases import FIXED, NARROW, ROUNDINGS, Case, match_like, unstructured
from tests.engines.test_streaming import a_run

WIDE = 2**70


def column(values: list[int], e: int = 0) -> Column:
    return of_integers(values, e)


# Rows


@given(
    pieces=st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from((0, 1, WIDE))), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    ),
    exponents=st.lists(st.integers(-2, 2), min_size=4, max_size=4),
)
@settings(max_examples=200)
def test_rows_that_repeat_are_found(pieces, exponents):
    """Pieces of one register may have other exponents and widths."""
    scaled = [[(a, b * Fraction(2) ** e) for a, b in piece] for piece, e in zip(pieces, exponents, strict=False)]
    rows = [row for piece in scaled for row in piece]
    registers = [
        Pieces([column([a for a, _ in piece]) for piece in pieces]),
        Pieces([column([b for _, b in piece], e).packed() for piece, e in zip(pieces, exponents, strict=False)]),
    ]
    actual = different_rows(registers, len(rows))
    if actual is None:
        assert len(set(rows)) * 2 > len(rows) or len({len(f"{b}") for _, b in rows}) > 1  # or one number, two widths
        return
    assert actual.places.tolist() == sorted(actual.places.tolist())
    assert [rows[actual.places[which]] for which in actual.which] == rows
    assert actual.times.tolist() == [actual.which.tolist().count(i) for i in range(len(actual.places))]


def test_a_sample_tells_that_none_are_alike(monkeypatch):
    lengths, codes = [], repeats._codes

    def counted(columns, exponents):
        lengths.append(len(columns[0]))
        return codes(columns, exponents)

    monkeypatch.setattr(repeats, "_codes", counted)
    many = 4 * repeats.SAMPLE
    assert different_rows([Pieces([Column(np.arange(many), 0, many)])], many) is None
    assert lengths == [repeats.SAMPLE]
    actual = different_rows([Pieces([Column(np.arange(many) % 1000, 0, 1000)])], many)
    assert actual is not None
    assert actual.which.tolist() == [place % 1000 for place in range(many)]


def test_a_number_of_a_row_decides_nothing(monkeypatch):
    monkeypatch.setattr(repeats, "_codes", lambda columns, exponents: np.zeros(len(columns[0]), np.uint64))
    assert different_rows([Pieces([column([1, 2, 1, 2, 1])])], 5) is None
    actual = different_rows([Pieces([column([3, 3, 3])])], 3)
    assert actual is not None
    assert actual.which.tolist() == [0, 0, 0]


def outcome(case: Case) -> tuple[object, ...]:
    found = run(case.model, case.arithmetic, case.tokens)
    e = case.arithmetic.format.quantum_exponent
    registers = [register.to_quanta(e) for register in found.registers]
    return registers, found.next_tokens.tolist(), found.columns


@pytest.mark.parametrize("discipline", ["fused", "sequential"])
def test_all_is_counted_as_often_as_it_occurs(discipline, monkeypatch):
    """Registers, tokens, saturations and logits by definition, with rows that repeat and with each for itself."""
    rng = random.Random(discipline)
    cases = [a_run(20), *(match_like(rng) for _ in range(4))]
    for _ in range(12):
        case = unstructured(
            rng, fmt=rng.choice((*FIXED, *NARROW)), rounding=rng.choice(ROUNDINGS), discipline=discipline
        )
        cases.append(case._replace(tokens=[*case.tokens] * 4))
    actual = [outcome(case) for case in cases]
    assert any(columns.saturations for _, _, columns in actual)
    monkeypatch.setattr(chunk, "different_rows", lambda registers, length: None)
    assert [outcome(case) for case in cases] == actual


# Runs of queries


def asked(rng: random.Random, queries: int, keys: int) -> tuple[Keys, list[Column], np.ndarray, Fraction, Fraction]:
    """Keys of a few kinds at rising places; queries for runs of a kind, and for places that rise or fall by equal steps."""
    kinds, places = rng.sample([1, 2] * (keys // 2), keys), sorted(rng.sample(range(-40, 40), keys))
    ones, scale = [1] * keys, rng.choice((1, 8))
    registers = [column(row) for row in (kinds, [k * k for k in kinds], places, [x * x for x in places], ones)]
    switches = sorted(rng.choices(range(queries), k=2))
    wanted = [1 + (sum(switch <= q for switch in switches) % 2) for q in range(queries)]
    visible = np.array(sorted(rng.choices(rng.sample(range(1, keys + 1), 2), k=queries)))
    start, step = rng.randint(-45, 45), rng.randint(-5, 5)
    if rng.random() < 0.5:  # away from a key that is not seen at first
        start, step = places[min(int(visible[0]) + 1, keys - 1)], rng.randint(-2, -1)
    wishes = [start + step * q for q in range(queries)]
    mismatch = 2**17
    shift = [rng.choice((0, 0, 0, 0, 30_000, -30_000)) - mismatch * k * k for k in wanted]
    coefficients = [
        column([2 * mismatch * k for k in wanted]),
        column([-mismatch] * queries),
        column([2 * scale * v for v in wishes]),
        column([-scale] * queries),
        column(shift),
    ]
    return (
        Keys(registers, (), keys),
        coefficients,
        visible,
        Fraction(rng.randint(1, 9)),
        Fraction(rng.choice((30_000, 10**6))),
    )


def is_right(
    found: Winners, keys: Keys, coefficients: list[Column], visible: np.ndarray, lead: Fraction, largest: Fraction
) -> bool:
    """Whether each certified query says what all scores, computed one by one, say."""
    for q in np.flatnonzero(found.certified).tolist():
        scores = [
            sum((c.at(q) * x.at(k) for c, x in zip(coefficients, keys.structure.registers, strict=True)), Fraction(0))
            for k in range(visible[q])
        ]
        if found.tie[q]:
            if found.tie[q] != visible[q] or max(scores) > -largest:
                return False
            continue
        won = {*found.order[found.low[q] : found.high[q]].tolist()}
        won |= {int(key) for key, wins in zip(found.special, found.special_wins[:, q], strict=True) if wins}
        best = max(scores)
        if won != {k for k, score in enumerate(scores) if score == best} or not lead - largest < best <= largest:
            return False
        if any(best > score > best - lead for score in scores):
            return False
    return True


def trials(number: int) -> Iterator[bool]:
    rng = random.Random(7)
    for _ in range(number):
        keys, *query = asked(rng, rng.randint(6, 20), 2 * rng.randint(9, 12))
        found = keys.winners(*query)
        yield found is None or is_right(found, keys, *query)


def test_winners_of_runs_are_right(monkeypatch):
    runs, over_runs = [], winners.over_runs

    def counted(begins, *others):
        runs.append(len(begins))
        return over_runs(begins, *others)

    monkeypatch.setattr(nearest, "over_runs", counted)
    assert all(trials(100))
    assert len(runs) > 30


def _unseen(found: winners.Found) -> winners.Found:
    return found._replace(seen=np.zeros_like(found.seen))


def _over_runs(change):
    def careless(begins, shift, least, most, search):
        return winners.over_runs(*change(begins, shift, least, most, search))

    return careless


MUTANTS = {
    "what is seen in between": lambda b, shift, least, most, search: (
        b,
        shift,
        least,
        most,
        lambda p: _unseen(search(p)),
    ),
    "what shifts all scores": lambda b, shift, least, most, search: (b, column([0] * len(shift)), least, most, search),
    "where a run ends": lambda b, shift, least, most, search: (b[:1], shift, least, most, search),
    "that scores saturate": lambda b, shift, least, most, search: (b, shift, -(most**9), most**9, search),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_runs_are_caught(name, monkeypatch):
    monkeypatch.setattr(nearest, "over_runs", _over_runs(MUTANTS[name]))
    assert not all(trials(100))


def test_queries_of_a_run_want_the_same(monkeypatch):
    """Between the wishes 3 and 4 the default wins by, there is 3½, which is nearer to the key of 3, seen from then on."""
    scale = 32  # of the key 0 the query wants 5 a unit: D is 0.6 of it less than 9, about 15.4, and 16 times the scale
    keys = Keys([column([0, 3, 5, 3]), column([0, 9, 25, 9]), column([1, 0, 0, 0])], (), 4)
    coefficients = [
        column([6 * scale, 7 * scale, 8 * scale]),
        column([-scale] * 3),
        column([269, 381, 493]),
    ]
    query = coefficients, np.array([1, 2, 2]), Fraction(1), Fraction(10**6)
    actual = keys.winners(*query)
    assert actual is not None
    assert is_right(actual, keys, *query)
    starts = winners.run_starts
    monkeypatch.setattr(nearest, "run_starts", lambda wishes, others, length: starts([], others, length))
    careless = keys.winners(*query)
    assert careless is not None
    assert not is_right(careless, keys, *query)
