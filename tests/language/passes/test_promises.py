"""What each pass makes of known and of random programs is right, by the check of its own file."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings

from tests.language.passes import (
    test_answer,
    test_expand,
    test_facts,
    test_parts,
    test_registers,
    test_schedule,
    test_selects,
)
from tests.language.passes.passed import PROGRAMS, passed, passed_if_compiled
from tests.language.passes.test_expand import SPLIT, THREE
from tests.language.programs import Written, programs

PASSES = (test_facts, test_selects, test_expand, test_answer, test_schedule, test_registers, test_parts)
known = cache(passed)


@pytest.mark.parametrize("module", PASSES, ids=lambda module: module.__name__.rpartition("_")[2])
@pytest.mark.parametrize("written", [*PROGRAMS, SPLIT, THREE], ids=lambda written: written.says[:60])
def test_of_a_known_program(written: Written, module: object) -> None:
    module.check(known(written))  # type: ignore[attr-defined]


@settings(max_examples=30)
@example(SPLIT)
@given(programs())
def test_of_a_random_program(written: Written) -> None:
    one = passed_if_compiled(written)
    for module in PASSES:
        module.check(one)
