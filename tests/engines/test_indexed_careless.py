"""Careless indexed engines: each of them the comparison with the reference engine must catch."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from constructions.engines.indexed import head as indexed_head
from constructions.engines.indexed import keys, nearest, squares, winners
from precision.format import Arithmetic, Discipline
from precision.rounding import round_fraction
from tests.engines.cases import (
    CRAFTED,
    Case,
    Trace,
    match_like,
    reference_trace,
)
from tests.engines.test_indexed import assert_same

CORPUS_SIZE = 220


@cache
def corpus() -> Sequence[tuple[Case, Trace]]:
    cases = [make() for make in CRAFTED.values()]
    cases += [match_like(random.Random(seed)) for seed in range(CORPUS_SIZE)]
    return [(case, reference_trace(case)) for case in cases]


def test_the_corpus_agrees_and_takes_both_ways():
    certified = dense = sequential = 0
    for case, expected in corpus():
        columns = assert_same(case, expected)
        certified += columns.certified
        dense += columns.dense
        sequential += columns.certified * (case.arithmetic.discipline is Discipline.SEQUENTIAL)
    assert min(certified, dense) > 1000
    assert sequential > 100


def _share_without_losers(winners: int, arithmetic: Arithmetic, *, losers: bool) -> int:
    return round_fraction(Fraction(1, winners), arithmetic.format, arithmetic.rounding).quanta


_winners = nearest.Keys.winners


def _seeing(shift: int) -> Callable[..., object]:
    def careless(self, coefficients, visible, lead, largest):
        return _winners(self, coefficients, np.clip(visible + shift, 0, self.length), lead, largest)

    return careless


def _any_lead(self, coefficients, visible, lead, largest):
    return _winners(self, coefficients, visible, Fraction(1, 2**400), largest)


_runs, _look_up, _split, _special_key = (
    keys.Preferred.runs,
    keys.look_up,
    squares.split_special,
    nearest.Keys._special_key,
)
_number = winners.Winners.number


_is_beneath = nearest._is_beneath


def _beneath(**changes: object) -> Callable[..., object]:
    names = ("highest", "some", "seen", "outside", "centre", "least")

    def careless(*arguments):
        given = dict(zip(names, arguments, strict=True))
        return _is_beneath(**{name: changes[name](given) if name in changes else given[name] for name in names})

    return careless


MUTANTS: Mapping[str, tuple[object, str, object]] = {
    "any lead will do": (indexed_head, "vanishing_lead", lambda keys, fraction_bits: Fraction(0)),
    "scores and logits are not rounded": (nearest.Keys, "winners", _any_lead),
    "keys are seen one too early": (nearest.Keys, "winners", _seeing(1)),
    "keys are seen one too late": (nearest.Keys, "winners", _seeing(-1)),
    "squares have no defect": (nearest, "_defect_reach", lambda preference: Fraction(0)),
    "equal keys score equally": (keys, "is_function_of", lambda column, rank: True),
    "other groups are far away": (nearest, "_outside", lambda matching, preference, wish, unit: None),
    "wishes are multiples of the granularity": (
        keys,
        "look_up",
        lambda queries, e, values: (_look_up(queries, e, values)[0], np.ones(len(queries), bool)),
    ),
    "one key wins": (winners.Winners, "number", property(lambda self: np.minimum(_number.fget(self), 1))),
    "no key is special": (
        squares,
        "split_special",
        lambda registers, length: (_split(registers, length)[0], np.zeros(0, np.int64)),
    ),
    "special keys never win": (
        nearest.Keys,
        "_special_key",
        lambda *arguments: _special_key(*arguments)._replace(present=np.zeros(len(arguments[4]), bool)),
    ),
    "only the nearest two matter": (keys.Preferred, "runs", lambda *arguments: _runs(*arguments)[:2]),
    "keys rise with the position": (keys, "direction_of", lambda group, rank: 1),
    "no score saturates": (nearest, "_within_range", lambda total, lead, largest: np.ones(len(total), bool)),
    "equal scores are rounded alike": (indexed_head.Head, "_exact_scores", lambda self, query: True),
    "all winners have the same key": (
        indexed_head.Head,
        "_are_alike",
        lambda self, winners: np.ones(len(winners.low), bool),
    ),
    "no sum saturates on its way": (
        indexed_head.Head,
        "_stays_within",
        lambda self, query, length: np.ones(length, bool),
    ),
    "no sum saturates if no product does": (
        indexed_head,
        "sums_stay_within",
        lambda queries, keys, largest: np.ones(len(queries[0]), bool),
    ),
    "keys are never rounded": (indexed_head.Head, "_is_linear", lambda self, *arguments: True),
    "whatever is low saturates": (nearest, "_is_beneath", _beneath(least=lambda given: given["least"] / 2)),
    "all saturate if the best of a group does": (nearest, "_is_beneath", _beneath(outside=lambda given: None)),
    "where all saturate, the first one wins": (
        winners.Winners,
        "number",
        property(lambda self: np.where(self.tie > 0, 1, _number.fget(self))),
    ),
    "losers leave no trace": (indexed_head, "winners_share", _share_without_losers),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_engines_are_caught(name, monkeypatch):
    cases = corpus()
    owner, attribute, mutant = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, mutant)
    for case, expected in cases:
        try:
            assert_same(case, expected)
        except AssertionError:
            return
    pytest.fail(f"no case tells that not: {name}")
