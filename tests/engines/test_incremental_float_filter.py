"""Careless float filters: one line of what decides by floats is another one, and the named case tells."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.engines.float_filter_cases import FLOAT_FILTER_CASES
from tests.engines.interpreted import Careless, interpreted
from tests.engines.test_incremental import assert_same
from tests.engines.test_incremental_careless import agrees
from tests.engines.test_incremental_cases import CASES as OTHER_CASES

CASES = {**OTHER_CASES, **FLOAT_FILTER_CASES}
MUTANTS: Mapping[str, Careless] = {
    "who is beside the winner is far behind": Careless(
        "a_wish_among_the_keys",
        "float_filter",
        "if not preferred_lead(own, ix.arena_reals[first + beside], wish, scale, slope) - defect >= needed:",
        "if False:",
    ),
    "special keys never win": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "    for i in range(head[fields.SPECIALS]):",
        "    for i in range(0):",
    ),
    "special keys need no lead": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "if not best - blur - behind >= needed:",
        "if not best >= behind:",
    ),
    "other groups are far away": Careless(
        "a larger preference outweighs",
        "float_filter",
        "if not mismatch - short >= needed:",
        "if False:",
    ),
    "without a group, any special key wins": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "if not best - blur - (limit",
        "if False and (limit",
    ),
    "high scores do not saturate": Careless(
        "rising keys 11",
        "float_filter",
        "if not (best + blur <= ix.largest[0] / SLACK and",
        "if not (",
    ),
    "low scores do not saturate": Careless(
        "structured 2",
        "float_filter",
        " and needed - best + blur <= ix.largest[0] / SLACK",
        "",
    ),
    "granularity is the keys'": Careless(
        "wish_between_the_keys",
        "float_filter",
        "            grain = min(grain, lowest_bit(v))\n",
        "            pass\n",
    ),
    "keys are never rounded": Careless(
        "keys_that_agree_only_after_rounding",
        "float_filter",
        " or head[fields.INEXACT] > 0",
        "",
    ),
    "squares have no defect": Careless(
        "squares_a_quantum_off",
        "float_filter",
        "2.0 * scale * quantum * head[fields.LOOSE] * SLACK",
        "0.0",
    ),
    "the least is preferred": Careless(
        "a larger preference outweighs",
        "float_filter",
        "wished = greatest if slope > 0.0 else least",
        "wished = least if slope > 0.0 else greatest",
    ),
    "nobody is nearer to the wish": Careless(
        "a wish before all keys",
        "float_filter",
        "wished = min(max(wish, least), greatest)",
        "wished = own",
    ),
    "matching keys attract": Careless(
        "matches_that_repel",
        "float_filter",
        "if not s > 0.0 or exact",
        "if exact",
    ),
    "flat registers count for nothing": Careless(
        "a special key loses to others by what they share",
        "float_filter",
        "shared, sizes = shared + term, sizes + abs(term)",
        "sizes += abs(term)",
    ),
    "preferences cost nothing": Careless(
        "a larger preference outweighs",
        "float_filter",
        "short = (scale * apart * further + abs(slope) * apart) * SLACK + defect",
        "short = 0.0",
    ),
    "nobody's preference is met": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "limit = shared + scale * wished * (2.0 * wish - wished) + slope * wished - mismatch",
        "limit = shared - mismatch",
    ),
    "wishes are exact": Careless(
        "a_wish_that_is_no_float",
        "float_filter",
        "        if not divides(v, 2.0 * s, r):\n            return False, 0.0, 0.0, 0.0\n",
        "",
    ),
    "coefficients are exact": Careless(
        "a_coefficient_that_is_no_float",
        "float_filter",
        " or exact >> root & exact >> square & 1 == 0",
        "",
    ),
    "values are exact": Careless("keys_that_are_one_float", "float_filter", "head[fields.NARROW] == 0 or ", ""),
    "granularity is the wish's": Careless(
        "a_finer_key_beside_the_wish",
        "float_filter",
        "grain = min(grain, lowest_bit(v))",
        "grain = lowest_bit(v)",
    ),
    "the preferred attracts": Careless(
        "a_preference_that_turns",
        "float_filter",
        "        if not scale > 0.0:\n            return False\n",
        "",
    ),
    "matching registers count for nothing": Careless(
        "a_special_key_worse_than_the_match",
        "float_filter",
        "shared, sizes = shared + s * v * v, sizes + s * v * v",
        "sizes += s * v * v",
    ),
    "half the lead will do": Careless(
        "a_lead_that_leaves_a_trace",
        "float_filter",
        "needed = (lead + 2.0 * quantum) * SLACK",
        "needed = (0.5 * lead + 2.0 * quantum) * SLACK",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_float_filters_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not agrees(interpreted(monkeypatch, MUTANTS[name]), CASES[MUTANTS[name].killer]())


def test_the_source_itself_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = interpreted(monkeypatch)
    for name in sorted({mutant.killer for mutant in MUTANTS.values()}):
        assert agrees(machine, CASES[name]()), name


@pytest.mark.parametrize("name", FLOAT_FILTER_CASES)
def test_every_case_agrees(name: str) -> None:
    assert_same(FLOAT_FILTER_CASES[name]())
