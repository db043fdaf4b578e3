"""Lemmas C.20 to C.23: what single linear recurrences keep."""

from __future__ import annotations

from constructions.parts.recurrences import first_positions, recent, recite, running_sum
from verify.claims.readings_of_heads import indicator
from verify.framework.check import Check
from verify.framework.claim import claims
from verify.inputs.strategies import every_trial
from verify.oracles.counts import columns
from verify.runs.parts import ByOracle, Columns, Slip, bits_of, run_columns, run_every, shipped_claim

PARTS = (recent.PART, running_sum.PART, first_positions.PART, recite.PART)
UNITS = [Columns(part, ((1, 5),), ((24, 100), (200, 6))) for part in PARTS]
SLIPS = [Slip(part, "C.3", indicator(shipped_claim(part).id)) for part in PARTS if part.findings]


@claims("unit", UNITS, lambda unit: shipped_claim(unit.part))
def test_linear_unit(check: Check, engine: str, unit: Columns) -> None:
    run_columns(check, unit, engine)


@claims("slip", SLIPS, lambda slip: slip.claim)
def test_linear_unit_as_printed(check: Check, engine: str, slip: Slip) -> None:
    part = slip.part
    right = ByOracle(part, engine, printed=True)
    every = every_trial(part, 1, 4, precision=bits_of(check))
    count = columns(part, 1, 4, check.p_bits)
    run_every(check, every, right, "all columns: n = 1 up to 4 positions", count)
