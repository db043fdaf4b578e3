"""Parts that are run on many columns together write what they write on each of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from constructions.parts.gadgets import product
from constructions.parts.heads import match_nearest
from constructions.parts.recurrences import recent
from constructions.wiring.part import Part
from verify.inputs.strategies import every_trial
from verify.inputs.trial import Trial
from verify.runs.parts import ByOracle
from verify.runs.probe import run_part, run_together, setting_of

PARTS = (product.PART, match_nearest.PART, recent.PART)
ENGINES = ("reference", "dense", "incremental")


def drawn(part: Part, engine: str) -> Sequence[Trial]:
    """Returns some columns of one setting, in an order that shares beginnings, and out of order; one of them twice."""
    n = 1 if part is match_nearest.PART else 2  # listing those of n = 2 takes seconds
    every = every_trial(part, n, 3, precision=lambda n, length: part.least_precision(n, length))
    trials = [trial for trial in every if trial.length == 3]
    rng = Random(engine)
    first = rng.randrange(len(trials) - 12)
    return [*trials[first : first + 12], *rng.sample(trials, 6), trials[first]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.id)
def test_together_is_one_by_one(part: Part, engine: str) -> None:
    trials = drawn(part, engine)
    assert len({setting_of(trial) for trial in trials}) == 1
    assert list(run_together(part, trials, engine)) == [run_part(part, trial, engine) for trial in trials]


def test_a_mutant_of_the_columns_is_noticed() -> None:
    """What is written depends on every column: the outcomes of columns that end differently are different ones."""
    trials = drawn(product.PART, "reference")[:12]
    written = [run.values["out"] for run in run_together(product.PART, trials, "reference")]
    wanted = [list(product.PART.oracle(trial.setting, trial.columns)["out"]) for trial in trials]
    assert written == wanted
    assert len({*map(tuple, written)}) > 1


def test_settings_are_not_mixed() -> None:
    """Columns of several settings are run apart, whatever their order."""
    part, right = match_nearest.PART, ByOracle(match_nearest.PART, "reference")
    trials = [
        trial for n in (2, 1, 2) for trial in list(every_trial(part, n, 2, precision=lambda n, length: None))[-8:]
    ]
    assert [right(trial) for trial in right.runs.compute_ahead(trials)] == [None] * len(trials)
    assert not right.runs.known


def test_equal_trials_have_equal_hashes() -> None:
    part = product.PART
    one, *others = every_trial(part, 2, 2, precision=lambda n, length: None)
    turned = Trial(one.n, one.length, one.precision_bits, dict(reversed([*one.columns.items()])))
    assert one == turned
    assert hash(one) == hash(turned)
    assert len({one, turned, *others}) == 1 + len(others)
