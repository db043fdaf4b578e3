"""Cut weights of the Linear RNN whose tape turns around are noticed: every unit, rule and entry is needed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from constructions.engines.known import first_mismatch
from constructions.wiring.wired import Wired
from tests.constructions.cutting import with_block, without_units
from tests.turing.machines import history_of
from tests.turing.test_cot import model, reads_the_nearest

CASES = (
    ("1RB1RZ_1LB0RC_1LC1LA", "", 30, 7),
    ("1RB1LA_0LB1RA", "0110", 20, 6),
    ("2RB1LZ0RA_2LA0LB1RB", "10212", 30, 8),
    ("1LA1LA", "", 9, 4),
    ("1RA1RA", "1", 9, 4),
    ("0LB1LB_1RA0RA", "", 9, 3),
    ("0LB0LB_0LB0RA", "01", 12, 5),
    ("1LZ1LZ", "1", 9, 4),
)


def noticed(cut: Wired, case: tuple[str, str, int, int]) -> bool:
    code, tape, limit, cells = case
    prompt, behind = history_of(code, tape, limit, cells)
    wrong, _ = first_mismatch(cut.model, cut.arithmetic, cut.tokens(prompt), cut.tokens(behind))
    return wrong is not None


def test_every_unit_is_needed() -> None:
    """Those that clear the embedding keep the lead; only queues that no run has come to need some of them."""
    kept = []
    for index, plan in enumerate(model(CASES[0][0], CASES[0][3]).blocks):
        names = [(gadget.name, i) for gadget in plan.gadgets for i in range(len(gadget.units))]
        for unit, name in enumerate(names):
            if name[0].startswith("the table"):
                continue
            found = False
            for case in CASES:
                wired = model(case[0], case[3])
                units = len(wired.model.blocks[index].feed_forward.gate)
                place = units - len(names) + unit if index == 0 and unit else unit
                cut = replace(wired, model=without_units(wired.model, index, [place]))
                found = found or noticed(cut, case)
                if not found and name[0] == "clear the embedding":
                    found = not reads_the_nearest(cut, case[3], 16)
            if not found:
                kept.append((index + 1, *name))
    assert kept == []


@pytest.mark.parametrize("case", CASES[:3])
def test_every_unit_of_the_table_is_needed(case: tuple[str, str, int, int]) -> None:
    """Rules that the run does not use are used by others: the machine is run on every short word."""
    code, _, _, cells = case
    wired = model(code, cells)
    for unit in range(1, len(wired.model.blocks[0].feed_forward.gate) - 1):
        cut = replace(wired, model=without_units(wired.model, 0, [unit]))
        words = ("".join(word) for n in range(4) for word in itertools.product("01", repeat=n))
        assert any(noticed(cut, (code, word, 20, cells)) for word in words), unit


def test_every_weight_of_the_recurrences_is_needed() -> None:
    """But for the inputs of the window that no form reads by themselves."""
    wired = model(CASES[0][0], CASES[0][3])
    kept = []
    for index, block in enumerate(wired.model.blocks):
        if block.recurrence is None:
            continue
        for name in ("carry", "feed"):
            matrix = getattr(block.recurrence, name)
            for row, column in zip(*np.nonzero(matrix), strict=True):
                found = False
                for case in CASES:
                    sized = model(case[0], case[3])
                    at = [sized.registers.index(wired.registers[i]) for i in (row, column)]
                    old = sized.model.blocks[index]
                    assert old.recurrence is not None
                    changed = getattr(old.recurrence, name).copy()
                    assert changed[at[0], at[1]]
                    changed[at[0], at[1]] = 0
                    recurrence = replace(old.recurrence, **{name: changed})
                    model_ = with_block(sized.model, index, replace(old, recurrence=recurrence))
                    found = found or noticed(replace(sized, model=model_), case)
                if not found:
                    kept.append((index + 1, name, wired.registers[row], wired.registers[column]))
    assert kept == []
