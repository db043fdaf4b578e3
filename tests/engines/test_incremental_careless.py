"""Careless decoders: one line of the compiled code is another one, and the named case tells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from constructions.engines.incremental import Columns
from tests.engines.cases import Trace, reference_trace
from tests.engines.interpreted import Careless, interpreted
from tests.engines.test_incremental_cases import CASES

if TYPE_CHECKING:
    from constructions.engines.incremental.machine import CompiledMachine

MUTANTS: Mapping[str, Careless] = {
    "ties are not rounded away": Careless("adversarial 22", "limbs", " or mode == NEAREST_AWAY", ""),
    "toward zero rounds to nearest": Careless("adversarial 5", "limbs", " and mode != TOWARD_ZERO", ""),
    "lower limbs are not sticky": Careless(
        "a_tie_but_for_the_lowest_limb", "limbs", "half and (sticky or ", "half and ("
    ),
    "rounding up passes the largest": Careless(
        "adversarial 87",
        "limbs",
        "    saturated = resized(largest, whole) < whole\n    element = largest",
        "    saturated = resized(largest, whole - number(1, whole)) < whole - number(1, whole)\n    element = largest",
    ),
    "any number is an element": Careless(
        "adversarial 87", "limbs", "saturated = resized(largest, whole) < whole", "saturated = False"
    ),
    "what is too large is not cut": Careless(
        "adversarial 1", "limbs", "    if most < a:\n        return largest, False\n", ""
    ),
    "what is too small is not cut": Careless(
        "adversarial 9", "limbs", "    if a < -most:\n        return -largest, False\n", ""
    ),
    "all weights are integers": Careless(
        "adversarial 5", "sums", "places - code[at + 1], largest", "0 * places, largest"
    ),
    "one part of a sum will do": Careless(
        "a_weight_beyond_the_largest",
        "sums",
        "if code[at] == 1 and code[at + 1] <= places:",
        "if code[at + 1] <= places:",
    ),
    "parts of sums are not shifted": Careless(
        "a_weight_beyond_the_largest",
        "sums",
        "shifted_left(resized(part, shape.exact), shift)",
        "resized(part, shape.exact)",
    ),
    "a gate of any size is 1": Careless("adversarial 5", "kernel", "if gate != one:", "if False:"),
    "any square fits loosely": Careless(
        "late_squares_that_are_wrong",
        "insertion",
        "return 0 if shifted_left(number(1, exact), fraction_bits) < magnitude(defect) else 2",
        "return 2",
    ),
    "matching squares fit loosely": Careless(
        "a_late_square_that_is_a_quantum_off", "insertion", "squares + d]) != 1:", "squares + d]) == 0:"
    ),
    "preferred squares are not checked": Careless(
        "late_squares_that_are_wrong",
        "insertion",
        "if fit == 0 or (fit == 2 and head[fields.LOOSE] == 0):",
        "if False:",
    ),
    "flat registers are not checked": Careless(
        "beyond_the_second_nearest", "insertion", "            special = True\n            ix", "            ix"
    ),
    "granularity is the wish's": Careless(
        "a larger preference outweighs",
        "insertion",
        "        ix.lists[zeros + d] = min(ix.lists[zeros + d], trailing_zeros(x))\n",
        "",
    ),
    "granularity is the keys'": Careless(
        "wish_between_the_keys",
        "certificate",
        "min(lists[zeros + d], trailing_zeros(v))",
        "lists[zeros + d]",
    ),
    "the least preference is the first": Careless(
        "a smaller preference outweighs",
        "insertion",
        "if least < 0 or order_of(ix, h, preferred, at, low, key_at(ix, h, least)) < 0:",
        "if least < 0:",
    ),
    "the greatest preference is the first": Careless(
        "a larger preference outweighs",
        "insertion",
        "if greatest < 0 or order_of(ix, h, preferred, at, high, key_at(ix, h, greatest)) > 0:",
        "if greatest < 0:",
    ),
    "runs sum their first value": Careless(
        "wish_between_the_keys",
        "insertion",
        "            add_values(ix, h, key, ix.arena[start + middle])\n",
        "            ix.runs[(head[fields.RUNS_AT] + ix.arena[start + middle]) * fields.RUN_FIELDS + fields.RUN_KEYS] += 1\n",
    ),
    "equal roots are equal keys": Careless(
        "equal_keys_with_unequal_squares",
        "insertion",
        "for register in (head_of(ix, h)[fields.ROOT], head_of(ix, h)[fields.SQUARE]):",
        "for register in (head_of(ix, h)[fields.ROOT],):",
    ),
    "any group in the table is the right one": Careless(
        "many_groups", "index", "                same = False\n                break", "                break"
    ),
    "new keys come last in their group": Careless(
        "late_squares_that_are_wrong",
        "insertion",
        "            low = middle + 1\n        else:\n            high = middle\n    if count",
        "            low = middle + 1\n        else:\n            low = middle + 1\n    if count",
    ),
    "preferences cost nothing": Careless(
        "a larger preference outweighs",
        "certificate",
        "    if head[fields.PREFERENCE] == fields.NO_PREFERENCE:\n        return 0.0\n",
        "    return 0.0\n",
    ),
    "a better linear preference elsewhere": Careless(
        "a larger preference outweighs",
        "certificate",
        "head[fields.LEAST] if coefficient < 0.0 else head[fields.GREATEST]",
        "head[fields.GREATEST] if coefficient < 0.0 else head[fields.LEAST]",
    ),
    "the centre has no flat part": Careless(
        "a special key loses to others by what they share",
        "certificate",
        "if ix.lists[list_at(ix, h, fields.FLAT) + i] == 1:",
        "if False:",
    ),
    "the centre has no matching part": Careless(
        "wish_between_the_keys",
        "certificate",
        "    for d in range(head[fields.MATCHING]):\n        v = real",
        "    for d in range(0):\n        v = real",
    ),
    "the centre has no linear preference": Careless(
        "a special key loses to others by their x",
        "certificate",
        "term = coefficient * real(best_linear(ix, h, coefficient), -q)",
        "term = 0.0",
    ),
    "the centre has no quadratic preference": Careless(
        "a_special_key_beside_better_ones",
        "certificate",
        "    elif head[fields.PREFERENCE] == fields.QUADRATIC:\n        if wish_kind",
        "    elif False:\n        if wish_kind",
    ),
    "half the lead will do": Careless(
        "structured 13", "certificate", "needed = lead + 2.0 * quantum", "needed = 0.5 * lead + 2.0 * quantum"
    ),
    "squares have no defect": Careless(
        "squares_a_quantum_off",
        "certificate",
        "    if head[fields.LOOSE] == 1:\n            needed",
        "    if False:\n            needed",
    ),
    "a second run may win": Careless(
        "structured 5",
        "certificate",
        "        elif slot >= 2:\n            return False, best\n",
        "        elif slot >= 2:\n            continue\n",
    ),
    "only the nearest two matter": Careless(
        "equal_keys_with_unequal_squares",
        "certificate",
        "return low - 1, low, low - 2, low + 1",
        "return low - 1, low, -1, -1",
    ),
    "only the last run matters": Careless(
        "rising keys 0",
        "certificate",
        "return runs - 1, -1, runs - 2, -1",
        "return runs - 1, -1, -1, -1",
    ),
    "the largest preference is the best": Careless(
        "adversarial 202",
        "certificate",
        "return 0, -1, 1, -1",
        "return runs - 1, -1, runs - 2, -1",
    ),
    "other groups are far away": Careless(
        "a larger preference outweighs",
        "certificate",
        "if not real(best - run_best, -2 * q) + mismatch >= (short + needed) * SLACK:",
        "if False:",
    ),
    "without a group, any special key wins": Careless(
        "wish_between_the_keys", "certificate", "if not top + mismatch >= limit", "if False and limit"
    ),
    "no score saturates": Careless(
        "adversarial 1",
        "certificate",
        "return top <= ix.largest[0] / SLACK and needed * SLACK - top <= ix.largest[0] / SLACK",
        "return True",
    ),
    "low scores do not saturate": Careless(
        "structured 2", "certificate", " and needed * SLACK - top <= ix.largest[0] / SLACK", ""
    ),
    "high scores do not saturate": Careless(
        "adversarial 1", "certificate", "return top <= ix.largest[0] / SLACK and", "return"
    ),
    "losers need no lead": Careless(
        "beyond_the_second_nearest",
        "certificate",
        "    if not alone or (behind != best and real(best - behind, -2 * q) < needed * SLACK * SLACK):\n",
        "    if not alone:\n",
    ),
    "special keys never win": Careless(
        "beyond_the_second_nearest",
        "certificate",
        "    for i in range(head[fields.SPECIALS]):\n        here = score",
        "    for i in range(0):\n        here = score",
    ),
    "special keys have no values": Careless(
        "wish_between_the_keys", "readout", "for w in range(found[fields.WINNING_SPECIALS]):", "for w in range(0):"
    ),
    "losers leave no trace": Careless("structured 4", "readout", "(1 if length > winners else 0)", "0"),
    "a single winner weighs 1": Careless(
        "structured 13", "readout", "winners == 1 and share == shifted_left(number(1, element), q)", "winners == 1"
    ),
    "matching keys attract": Careless(
        "matches_that_repel",
        "certificate",
        "        if not is_negative(s):\n            return False, 0.0\n        v, kind",
        "        v, kind",
    ),
    "the preferred attracts": Careless(
        "a_query_that_flees",
        "certificate",
        "        if not is_negative(s):\n            return False\n        wish, wish_kind",
        "        wish, wish_kind",
    ),
    "keys are never rounded": Careless("adversarial 1", "kernel", "    elif not exact:\n", "    elif False:\n"),
    "rows of one integer weight are not cut": Careless(
        "adversarial 1", "kernel", "exact = cut(times, largest, ix.shape)", "exact = times, True"
    ),
    "keys of one weight are never rounded": Careless(
        "adversarial 1", "program", "if how == KEY and abs(weight) == self.unit:", "if how == KEY:"
    ),
    "single weights are integers": Careless("structured 13", "program", "if fraction == 0 and abs", "if abs"),
    "negative gates pass": Careless("adversarial 0", "kernel", "if unit < gate:", "if unit != gate:"),
    "sums pass a ReLU": Careless("adversarial 0", "kernel", "if how == RELU and is_negative(total):", "if False:"),
    "every ReLU is stored": Careless(
        "a_gate_that_is_a_register", "program", "if weight == self.unit and how != RELU:", "if weight == self.unit:"
    ),
    "a constant gate is 1": Careless(
        "adversarial 5", "program", "if opens == [(one, program.unit)]:", "if opens[0][0] == one:"
    ),
    "a constant behind a gate is 1": Careless(
        "adversarial 0", "program", "elif raises == [(one, program.unit)]:", "elif raises[0][0] == one:"
    ),
    "residual sums are not cut": Careless("adversarial 9", "kernel", "    total, _ = cut(total, largest, shape)\n", ""),
    "the lead does not grow with the length": Careless(
        "adversarial 147", "kernel", "    while length >> bits:\n        bits += 1\n", ""
    ),
    "keys that break the structure stay": Careless(
        "a_late_square_that_is_a_quantum_off",
        "kernel",
        "            head[fields.STRUCTURED] = 0\n        if",
        "            pass\n        if",
    ),
    "valleys are peaks": Careless("valleys", "vocabulary", "if step(v, low, vec, shape) <= 0 and", "if False and"),
    "valleys have one end": Careless(
        "valleys",
        "vocabulary",
        "start, end, gap, left_out = low, high, low + SIDE, high - low + 1 - 2 * SIDE",
        "start, end = low, low + SIDE - 1",
    ),
    "the lower outermost token needs no lead": Careless(
        "logits_that_rounding_makes_equal", "vocabulary", "low < entry == start or ", ""
    ),
    "the upper outermost token needs no lead": Careless(
        "logits_that_rounding_makes_equal_on_the_way_down", "vocabulary", " or entry == end < high", ""
    ),
    "logits need no lead": Careless(
        "logits_that_rounding_makes_equal",
        "vocabulary",
        "return best if outermost < most else -1",
        "return best",
    ),
    "the last of equal logits wins": Careless("slopes", "vocabulary", "and token < best", "and token > best"),
    "of equal logits, the one looked at first wins": Careless(
        "tokens_out_of_order", "vocabulary", " or (most == logit and token < best)", ""
    ),
    "later parts win": Careless("families_side_by_side", "vocabulary", "if most < logit or (most", "if True or (most"),
    "any bend is one way": Careless(
        "a_family_that_is_not_bent_one_way",
        "bends",
        "(np.all(turns >= 0) or np.all(turns <= 0))",
        "True",
    ),
    "any number of registers may vary": Careless(
        "a_family_of_three_registers", "bends", "if len(varying) > 2:", "if False:"
    ),
    "kinds of tokens are alike": Careless(
        "families_side_by_side", "bends", "kind * FEW_VALUES + which, ret", "0 * which, ret"
    ),
    "the last of equal rows is kept": Careless(
        "tokens_out_of_order", "bends", "order[np.append(True, fresh)]", "order[np.append(fresh, True)]"
    ),
    "weights have one mantissa": Careless("a_weight_beyond_the_largest", "program", "while rest:", "if rest:"),
    "the second mantissa is not shifted": Careless(
        "a_weight_beyond_the_largest",
        "program",
        "rest >> PIECE_BITS, shift + PIECE_BITS",
        "rest >> PIECE_BITS, shift",
    ),
    "a carry reads what was just written": Careless(
        "adversarial 0",
        "program",
        "else state + j, weight.quanta",
        "else following + j, weight.quanta",
    ),
    "losers take nothing from the winners' shares": Careless(
        "structured 4",
        "machine",
        "losers=losers) for losers in (False, True)",
        "losers=False) for losers in (False, True)",
    ),
    "dense sums round to nearest": Careless(
        "adversarial 5",
        "machine",
        "round_shifted(total, self.fraction_bits, fmt, rounding)",
        "round_shifted(total, self.fraction_bits, fmt)",
    ),
    "growing forgets the index": Careless(
        "equal_keys_with_unequal_squares",
        "machine",
        "heads[h, fields.STRUCTURED] and not self.entries.rebuild(self.index, h, self.length, self.t)",
        "False",
    ),
    "what is nearer to a wish behind all keys costs nothing": Careless(
        "a wish behind all keys", "certificate", "    return (scale * behind * distance", "    return (0.0 * distance"
    ),
    "what is nearer to a wish before all keys costs nothing": Careless(
        "a wish before all keys", "certificate", "    return (scale * behind * distance", "    return (0.0 * distance"
    ),
    "all keys lie before every wish": Careless(
        "a_wish_among_the_keys", "certificate", "if preferred_by(ix, h, greatest) < wish:", "if True:"
    ),
    "the centre lies further from the wish than any key": Careless(
        "a_special_key_behind_those_next_to_the_wish",
        "certificate",
        "term = linear - scale * at * at +",
        "term = linear - 3.0 * scale * at * at +",
    ),
    "growing forgets the keys": Careless(
        "beyond_the_second_nearest",
        "machine",
        "            store.resize(max(tokens * row, len(store) + len(store) // STORE_GROWTH), refcheck=False)\n",
        "            self.index = self.index._replace(store=np.zeros(tokens * row, np.uint64))\n",
    ),
    "by floats: who is beside the winner is far behind": Careless(
        "a_wish_among_the_keys",
        "float_filter",
        "if not preferred_lead(own, ix.arena_reals[first + beside], wish, scale, slope) - defect >= needed:",
        "if False:",
    ),
    "by floats: special keys never win": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "    for i in range(head[fields.SPECIALS]):",
        "    for i in range(0):",
    ),
    "by floats: special keys need no lead": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "if not best - blur - behind >= needed:",
        "if not best >= behind:",
    ),
    "by floats: other groups are far away": Careless(
        "a larger preference outweighs",
        "float_filter",
        "if not mismatch - short >= needed:",
        "if False:",
    ),
    "by floats: without a group, any special key wins": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "if not best - blur - (limit",
        "if False and (limit",
    ),
    "by floats: high scores do not saturate": Careless(
        "rising keys 11",
        "float_filter",
        "if not (best + blur <= ix.largest[0] / SLACK and",
        "if not (",
    ),
    "by floats: low scores do not saturate": Careless(
        "structured 2",
        "float_filter",
        " and needed - best + blur <= ix.largest[0] / SLACK",
        "",
    ),
    "by floats: granularity is the keys'": Careless(
        "wish_between_the_keys",
        "float_filter",
        "            grain = min(grain, lowest_bit(v))\n",
        "            pass\n",
    ),
    "by floats: keys are never rounded": Careless(
        "keys_that_agree_only_after_rounding",
        "float_filter",
        " or head[fields.INEXACT] > 0",
        "",
    ),
    "by floats: squares have no defect": Careless(
        "squares_a_quantum_off",
        "float_filter",
        "2.0 * scale * quantum * head[fields.LOOSE] * SLACK",
        "0.0",
    ),
    "by floats: the least is preferred": Careless(
        "a larger preference outweighs",
        "float_filter",
        "wished = greatest if slope > 0.0 else least",
        "wished = least if slope > 0.0 else greatest",
    ),
    "by floats: nobody is nearer to the wish": Careless(
        "a wish before all keys",
        "float_filter",
        "wished = min(max(wish, least), greatest)",
        "wished = own",
    ),
    "by floats: matching keys attract": Careless(
        "matches_that_repel",
        "float_filter",
        "if not s > 0.0 or exact",
        "if exact",
    ),
    "by floats: flat registers count for nothing": Careless(
        "a special key loses to others by what they share",
        "float_filter",
        "shared, sizes = shared + term, sizes + abs(term)",
        "sizes += abs(term)",
    ),
    "by floats: preferences cost nothing": Careless(
        "a larger preference outweighs",
        "float_filter",
        "short = (scale * apart * further + abs(slope) * apart) * SLACK + defect",
        "short = 0.0",
    ),
    "by floats: nobody's preference is met": Careless(
        "a special key loses to others by their x",
        "float_filter",
        "limit = shared + scale * wished * (2.0 * wish - wished) + slope * wished - mismatch",
        "limit = shared - mismatch",
    ),
    "by floats: wishes are exact": Careless(
        "a_wish_that_is_no_float",
        "float_filter",
        "        if not divides(v, 2.0 * s, r):\n            return False, 0.0, 0.0, 0.0\n",
        "",
    ),
    "by floats: coefficients are exact": Careless(
        "a_coefficient_that_is_no_float",
        "float_filter",
        " or exact >> root & exact >> square & 1 == 0",
        "",
    ),
    "by floats: values are exact": Careless(
        "keys_that_are_one_float", "float_filter", "head[fields.NARROW] == 0 or ", ""
    ),
    "by floats: granularity is the wish's": Careless(
        "a_finer_key_beside_the_wish",
        "float_filter",
        "grain = min(grain, lowest_bit(v))",
        "grain = lowest_bit(v)",
    ),
    "by floats: the preferred attracts": Careless(
        "a_preference_that_turns",
        "float_filter",
        "        if not scale > 0.0:\n            return False\n",
        "",
    ),
    "by floats: matching registers count for nothing": Careless(
        "a_special_key_worse_than_the_match",
        "float_filter",
        "shared, sizes = shared + s * v * v, sizes + s * v * v",
        "sizes += s * v * v",
    ),
    "by floats: half the lead will do": Careless(
        "a_lead_that_leaves_a_trace",
        "float_filter",
        "needed = (lead + 2.0 * quantum) * SLACK",
        "needed = (0.5 * lead + 2.0 * quantum) * SLACK",
    ),
}


@cache
def right_trace(name: str) -> Trace:
    return reference_trace(CASES[name]())


def agrees(machine: type[CompiledMachine], name: str) -> bool:
    """Whether it leaves the reference engine's registers and tokens behind."""
    case, right = CASES[name](), right_trace(name)
    with np.errstate(all="ignore"):
        decoder = machine(case.model, case.arithmetic, Columns(), None)
        for place, (token, following) in enumerate(zip(case.tokens, right.next_tokens, strict=True)):
            registers = [column[place] for column in right.registers[-1]]
            if decoder.feed([token]) != [following] or decoder.registers() != registers:
                return False
    return True


def decides_by_floats(mutant: Careless) -> bool:
    """Elsewhere floats may not decide: what they decide hides how the exact certificate would."""
    return mutant.module == "float_filter"


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_decoders_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    machine = interpreted(monkeypatch, mutant, floats=decides_by_floats(mutant))
    assert not agrees(machine, mutant.killer)


@pytest.mark.parametrize("floats", [False, True])
def test_the_source_itself_is_not_caught(floats: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = interpreted(monkeypatch, floats=floats)
    for name in sorted({mutant.killer for mutant in MUTANTS.values() if decides_by_floats(mutant) == floats}):
        assert agrees(machine, name), name
