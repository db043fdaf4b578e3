"""Lemmas C.20 to C.23: what single linear recurrences keep."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from constructions.parts.recurrences import first_positions, recent, recite, running_sum
from constructions.wiring.part import Part
from verify.claims.readings_of_heads import indicator
from verify.framework.check import Check
from verify.framework.claim import Claim, Kind, Verdict, claims
from verify.inputs.strategies import every_trial
from verify.oracles.counts import all_columns, columns
from verify.runs.parts import asked, by_oracle, claimed_sizes, refuses_shifts, run_every, run_random

UNITS: Sequence[Part] = (recent.PART, running_sum.PART, first_positions.PART, recite.PART)
LONGEST = 24
LONGEST_OF_ALL = 200


def named(part: Part) -> str:
    """The id of the claim about what we ship."""
    return f"{part.id}/repaired" if part.findings else part.id


@claims("part", UNITS, lambda part: Claim(named(part), part.source, part.statement))
def test_linear_unit(check: Check, engine: str, part: Part) -> None:
    right = by_oracle(part, engine)
    refuses_shifts(check, part, engine)
    small = claimed_sizes(check, part, [1], 5)
    every = itertools.chain.from_iterable(every_trial(part, n, 5, precision=asked(check)) for n in small)
    count = all_columns(part, [(n, 5) for n in small], check.p_bits)
    run_every(check, every, right, "all columns: n = 1 up to 5 positions", count)
    for longest, examples in ((LONGEST, 100), (LONGEST_OF_ALL, 6)):
        text = f"columns of up to {longest} positions"
        run_random(check, part, right, text, longest=longest, examples=examples)


@claims(
    "part",
    [part for part in UNITS if part.findings],
    lambda part: Claim(
        f"{part.id}/printed",
        part.source,
        part.statement,
        "printed",
        expected=Verdict.REFUTED,
        kind=Kind.SLIP,
        readings=indicator(named(part)),
        slip="C.3",
    ),
)
def test_linear_unit_as_printed(check: Check, engine: str, part: Part) -> None:
    right = by_oracle(part, engine, printed=True)
    every = every_trial(part, 1, 4, precision=asked(check))
    count = columns(part, 1, 4, check.p_bits)
    run_every(check, every, right, "all columns: n = 1 up to 4 positions", count)
