"""Models made to break incremental decoding, compared with the reference engine register by register; and careless decoders.

The keys of `adversarial` hold to a structure for one phase of the sequence and break it in another; scales and even their signs
depend on the query; leads lie around the decisive one; recurrences, blocks without units and blocks without heads stand between.
"""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import engines
from constructions.affine import Affine, Number, reg
from constructions.engines.incremental import Columns
from constructions.engines.reference import ReferenceEngine
from constructions.gadgets.indicator import indicator
from constructions.gadgets.product import square
from constructions.layers import Block, FeedForward, Recurrence, Transformer
from constructions.wiring import BlockPlan, Component, Embedding, Gadget, Head, Unit, constant, wire
from precision.format import Arithmetic, Format, Rounding, fixed_point
from tests.engines.test_incremental import assert_same, fused
from tests.engines.test_indexed import (
    CRAFTED,
    FIXED,
    NARROW,
    ROUNDINGS,
    TABLE,
    Case,
    affine,
    exact,
    in_order,
    library_head,
    raw_head,
    searching,
    words,
)

if TYPE_CHECKING:
    from constructions.engines.incremental_machine import CompiledMachine

pytestmark = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")

SHORT = 16  # tokens, where the decoder is interpreted


def decisive_lead(fmt: Format, length: int) -> float:
    """About where a loser's weight, or that of all losers, begins to round to 0."""
    return (2 - fmt.quantum_exponent + math.log2(length)) * math.log(2)


def moody_head(
    rng: random.Random, registers: Sequence[str], fmt: Format, length: int, reads: dict[str, Affine]
) -> Head:
    """Squared distances with scales that the query decides, which may be 0 or negative; leads around the decisive one."""
    one, components = reg("one"), []
    lead = Fraction(decisive_lead(fmt, length)).limit_denominator(1 << 20)
    for name in rng.sample([*TABLE, "position"], rng.choice((0, 1, 1, 2, 2))):
        scale: Affine = rng.choice((one, one, reg("mood"), reg("mood"), reg("mood") + one))
        strength = exact(lead * Fraction(rng.randint(1, 24), 16) + rng.randint(-2, 2) * fmt.quantum, fmt)
        wish = affine(rng, registers, fmt) if rng.random() < 0.3 else rng.choice((0, 1, 2)) * one
        if wish.terms:
            components.append(Component(reg(f"{name}_squared"), -strength * scale))
            components.append(Component(reg(name), 2 * strength * (scale if wish is one else wish)))
    if rng.random() < 0.4:
        components.append(
            Component(
                rng.choice((reg("position"), reg("tag"), -1 * reg("position"))),
                rng.choice((one, reg("mood"), exact(lead, fmt) * one, exact(lead * reg_scale(rng), fmt) * reg("mood"))),
            )
        )
    if rng.random() < 0.4:
        components.append(Component(rng.choice((reg("first"), reg("tag"), one)), affine(rng, registers, fmt)))
    rng.shuffle(components)
    return Head("moody", tuple(components), reads)


def reg_scale(rng: random.Random) -> Fraction:
    return Fraction(rng.randint(1, 32), 16)


def adversarial(rng: random.Random, longest: int = 60) -> Case:
    """One to three blocks of heads, with a change of the words in use on the way."""
    fmt = rng.choice((*FIXED, *FIXED, *NARROW))
    arithmetic = Arithmetic(fmt, rounding=rng.choice((*ROUNDINGS, Rounding.NEAREST_EVEN)))
    length, vocabulary = rng.randint(2, longest), rng.randint(2, 9)
    rows = words(rng, fmt, vocabulary)
    for row in rows:
        row["mood"] = exact(rng.choice((0, 0, 1, 1, 1, -1, 2, Fraction(1, 2))), fmt)
        row["tag"] = rng.choice((0, 0, 0, 0, 1, exact(rng.randint(-9, 9), fmt)))
    known = [*rows[0], "position", "position_squared", "one", "first"]
    prepare = (
        constant("1", {"one": 1}),
        square(reg("position"), "position_squared"),
        indicator(reg("position"), 1, {"first": 1}),
    )
    blocks = [BlockPlan((), prepare)]
    for number in range(1, rng.choice((2, 2, 3, 4))):
        heads = []
        for index in range(rng.choice((1, 1, 2, 3))):
            names = ["out", f"out{number}_{index}"][: rng.choice((1, 2))]  # heads of all blocks clash in `out`
            reads = {name: affine(rng, known, fmt) for name in names}
            kind = rng.random()
            if kind < 0.6:
                heads.append(moody_head(rng, known, fmt, length, reads))
            elif kind < 0.8:
                heads.append(raw_head(rng, known, fmt, reads))
            else:
                heads.append(library_head(rng, length, fmt, reads))
        written = list(dict.fromkeys(name for head in heads for name in head.reads))
        # What the next block searches by may come from what this one has found.
        into: dict[str, Number] = {rng.choice((*written, *written, "mood", "tag", "a")): rng.choice((1, -1))}
        units = () if rng.random() < 0.3 else (Unit(affine(rng, known, fmt), affine(rng, written, fmt), into),)
        blocks.append(BlockPlan(tuple(heads), (Gadget("product", units),)))
        known = list(dict.fromkeys([*known, *written]))
    unembed: list[dict[str, Number]] = []
    for _ in range(vocabulary):
        wish = rng.randint(-2, 2)
        unembed.append(
            rng.choice(
                ({"position": wish, "one": -wish * wish}, {"out": wish, "a": rng.randint(-1, 1)}, {"a": wish}, {})
            )
        )
    model, _ = wire(
        Embedding(tuple(map(str, range(vocabulary))), tuple(rows), "position"), blocks, unembed, fmt, exact=False
    )
    return Case(with_recurrences(rng, model), arithmetic, phased(rng, vocabulary, length))


def phased(rng: random.Random, vocabulary: int, length: int) -> list[int]:
    """Up to three phases, each with some of the words."""
    tokens: list[int] = []
    for phase in range(phases := rng.choice((1, 2, 2, 3))):
        some = rng.sample(range(vocabulary), rng.randint(1, vocabulary))
        tokens += [
            rng.choice(some) for _ in range(length // phases if phase else length - (phases - 1) * (length // phases))
        ]
    return tokens


def no_units(width: int) -> FeedForward:
    return FeedForward(
        np.zeros((0, width)), np.zeros(0), np.zeros((0, width)), np.zeros(0), np.zeros((width, 0)), np.zeros(width)
    )


def with_recurrences(rng: random.Random, model: Transformer) -> Transformer:
    """Shift registers, running sums and arbitrary carries between the blocks, and blocks that do nothing."""
    width, blocks = model.width, list(model.blocks)
    for _ in range(rng.choice((0, 0, 1, 2))):
        carry, feed = np.zeros((width, width)), np.zeros((width, width))
        for _ in range(rng.randint(0, 4)):
            i, j = rng.randrange(width), rng.randrange(width)
            match rng.randrange(4):
                case 0:  # a running sum
                    carry[i, i], feed[i, j] = 1.0, rng.choice((1.0, -1.0, 0.5))
                case 1:  # a shift register
                    feed[i, j], carry[j, i] = 1.0, 1.0
                case 2:
                    carry[i, j], feed[j, i] = rng.choice((0.5, -1.0, 3.0, 0.3)), rng.choice((1.0, 0.7))
                case _:
                    feed[i, j] = rng.choice((1.0, -2.0, 2.0**-30))
        recurrence = Recurrence(carry, feed) if rng.random() < 0.9 else None
        blocks.insert(rng.randint(0, len(blocks)), Block((), no_units(width), recurrence))
    return Transformer(model.words, model.position, tuple(blocks), model.unembed)


def structured(rng: random.Random, longest: int = 30) -> Case:
    """One head that matches y and prefers some x, with every scale around the one that decides; few keys break the structure."""
    fmt = fixed_point(rng.choice((17, 21, 27, 33, 33, 45, 45, 65, 129)))
    arithmetic = Arithmetic(fmt, rounding=rng.choice((*ROUNDINGS, Rounding.NEAREST_EVEN)))
    length, vocabulary, one = rng.randint(4, longest), rng.randint(3, 8), reg("one")
    lead = decisive_lead(fmt, length)
    grid = rng.choice((Fraction(1), Fraction(1), Fraction(1, 2), Fraction(2)))
    step = rng.choice((Fraction(1), Fraction(1), Fraction(1, 4), fmt.quantum))

    def around(value: float) -> Fraction:
        """A strength for differences of about 1 / value, short of the decisive one or beyond it."""
        decisive = Fraction(lead * value).limit_denominator(1 << 20) * Fraction(rng.randint(3, 40), 16)
        return exact(decisive + rng.randint(-2, 2) * fmt.quantum, fmt)

    defect = rng.choice((0, 0, 0, 1))
    rows: list[dict[str, Number]] = []
    for _ in range(vocabulary):
        y, x = rng.randint(-1, 2) * grid, rng.randint(-3, 4) * step
        odd = rng.random() < 0.1  # the square of y is off
        rows.append(
            {
                "x": x,
                "x_squared": exact(x * x, fmt) + rng.randint(-defect, defect) * fmt.quantum,
                "y": y,
                "y_squared": y * y + odd * rng.choice((-1, 1)) * rng.choice((fmt.quantum, 1)),
                "wish": rng.randint(-1, 2) * grid + rng.choice((0, 0, 0, grid / 2)),
                "want": rng.randint(-4, 5) * step + rng.choice((0, 0, step / 2)),
                "tag": rng.choice((0, 0, 0, 0, 0, 1)),
                "slope": rng.choice((0, 1, 1, -1)),
                "payload": rng.randint(-9, 9),
            }
        )
    components: list[tuple[Affine | Number, Affine | Number]] = []
    if rng.random() < 0.85:
        strength = around(1 / float(grid) ** 2) * rng.choice((1, 1, 2, 4))
        components += [(reg("y_squared"), -strength * one), (reg("y"), 2 * strength * reg("wish"))]
    kind = rng.choice(("none", "linear", "linear", "quadratic", "quadratic"))
    if kind == "linear":
        components.append((reg("x"), around(1 / float(step)) * rng.choice((one, reg("slope")))))
    elif kind == "quadratic":
        strength = around(1 / float(step) ** 2) if rng.random() < 0.7 else around(1 / float(fmt.quantum))
        components += [(reg("x_squared"), -strength * one), (reg("x"), 2 * strength * reg("want"))]
    if rng.random() < 0.6:
        components.append((reg("tag"), around(1.0) * rng.choice((1, -1)) * rng.choice((one, reg("slope")))))
    if rng.random() < 0.4:
        components.append((one, around(rng.choice((1.0, 8.0))) * rng.choice((one, -1 * one, reg("slope")))))
    rng.shuffle(components)
    return searching(arithmetic, rows, components, phased(rng, vocabulary, length), rng.choice(("payload", "position")))


# Cases that each defeat one careless decoder

R33, R45 = Arithmetic(fixed_point(33)), Arithmetic(fixed_point(45))


def pair(name: str, value: Number, off: Number = 0) -> dict[str, Number]:
    """A register with its square, which is `off`."""
    return {name: value, f"{name}_squared": Fraction(value) ** 2 + off}


def near(name: str, wish: Affine | Number, scale: Number) -> list[tuple[Affine | Number, Affine | Number]]:
    """Components of −scale·(x − wish)², up to a constant."""
    form = wish if isinstance(wish, Affine) else wish * reg("one")
    return [(reg(f"{name}_squared"), -scale), (reg(name), 2 * scale * form)]


def a_key_of_a_whole_limb() -> Case:
    """2^21·2^21 are 2^64 quanta."""
    return searching(R45, [{"x": 0, "payload": 1}, {"x": 2**21}], [(2**21 * reg("x"), 1)], [0, 1, 0, 1], "payload")


def a_tie_but_for_the_lowest_limb() -> Case:
    """(2^32 + 1)·2^32 are half a quantum and a little; 2^64 times a quantum is half a unit of score."""
    rows = [{"x": 0, "payload": 1}, {"x": Fraction(2**32 + 1, 2**65)}]
    components: list[tuple[Affine | Number, Affine | Number]] = [(Fraction(1, 2**33) * reg("x"), 2**64)]
    return searching(Arithmetic(fixed_point(131)), rows, components, [0, 1, 0, 1], "payload")


def a_late_square_that_is_a_quantum_off() -> Case:
    """The last word matches like the first, and beats it by 16."""
    rows = [{**pair("y", 0), "payload": 1}, pair("y", 1), pair("y", 2), pair("y", 0, -Fraction(1, 2**16))]
    components = [(2**10 * reg("y_squared"), -(2**10)), (2**10 * reg("y"), 0 * reg("y"))]
    return searching(R33, rows, components, [0, 2, 1, 0, 2, 1, 0, 1, 3, 0, 1, 2], "payload")


def late_squares_that_are_wrong() -> Case:
    """The last word is none of the four nearest, and beats them."""
    rows = [{**pair("x", i), "payload": i} for i in range(5)] + [{**pair("x", 1, -5), "payload": 9}]
    return searching(R33, rows, near("x", 3, 24), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 4, 3, 2], "payload")


def many_groups() -> Case:
    """So many that some meet in the table."""
    rows = [{**pair("y", (-37 * i) % 90), "wish": (11 * i) % 90, "payload": i} for i in range(90)]
    return searching(R45, rows, near("y", reg("wish"), 64), [*range(90), *range(0, 90, 9)], "payload")


def a_preference_that_outweighs_a_match(sign: int) -> Case:
    """What matches has preference 0, what does not 100."""
    rows = [{**pair("y", 0), "x": 0, "payload": 1}, {**pair("y", 1), "x": 100 * sign}, {**pair("y", 1), "x": -sign}]
    return searching(R33, rows, [*near("y", 0, 40), (reg("x"), sign)], [0, 2, 0, 2, 0, 1, 0, 0, 2, 0], "payload")


def a_special_key_beside_better_ones() -> Case:
    """Nothing matches; the special key beats what would match with an average preference, not with the best one."""
    rows = [{**pair("y", y), **pair("x", x), "payload": 10 * y + x} for y in (0, 1) for x in (9, 10)]
    rows.append({**pair("y", 0), **pair("x", 9), "special": 1})
    components = [*near("y", 5, 2), *near("x", 10, 1), (reg("special"), 4)]
    return searching(R33, rows, components, [*[0, 2, 1, 3] * 10, 4, *[0, 3, 1, 2] * 3], "payload")


def squares_a_quantum_off() -> Case:
    """All keys lie beyond the wish, the last word furthest; its square, a quantum too small, makes it the best."""
    rows = [{"x": Fraction(i, 512), "x_squared": Fraction(s, 2**16), "payload": i} for i, s in enumerate((1, 1, 0))]
    components: list[tuple[Affine | Number, Affine | Number]] = [
        (2**8 * reg("x_squared"), -24576),
        (2**8 * reg("x"), -48),
    ]
    return searching(R33, rows, components, [0, 1, 2] * 14, "payload")


def a_query_that_flees() -> Case:
    """The sign of the squared distance changes with the query: now the key that is furthest wins."""
    rows = [{**pair("x", i), "mood": 1, "payload": i} for i in range(8)]
    rows += [{**row, "mood": -1} for row in rows]
    components = [(reg("x_squared"), -64 * reg("mood")), (reg("x"), 2 * 64 * 3 * reg("mood"))]
    return searching(R33, rows, components, [*range(8), *range(8), 11, 12, 3, 8], "payload")


def _fused(make: Callable[[], Case]) -> Case:
    return fused(make())


def _rising(seed: int) -> Case:
    return in_order(random.Random(seed))


def _drawn(draw: Callable[[random.Random, int], Case], seed: int) -> Case:
    return draw(random.Random(seed), SHORT)


CASES: Mapping[str, Callable[[], Case]] = {
    **{name: partial(_fused, make) for name, make in CRAFTED.items()},
    **{
        make.__name__: make
        for make in (
            a_key_of_a_whole_limb,
            a_tie_but_for_the_lowest_limb,
            a_late_square_that_is_a_quantum_off,
            late_squares_that_are_wrong,
            many_groups,
            a_special_key_beside_better_ones,
            squares_a_quantum_off,
            a_query_that_flees,
        )
    },
    "a larger preference outweighs": partial(a_preference_that_outweighs_a_match, 1),
    "a smaller preference outweighs": partial(a_preference_that_outweighs_a_match, -1),
    **{f"rising keys {seed}": partial(_rising, seed) for seed in range(12)},
    **{f"structured {seed}": partial(_drawn, structured, seed) for seed in (2, 4, 13, 38, 44, 55)},
    **{
        f"adversarial {seed}": partial(_drawn, adversarial, seed) for seed in (0, 1, 5, 6, 9, 22, 45, 87, 113, 147, 120)
    },
}


# Careless decoders: one line of the compiled code is another one, and the named case tells


class Careless(NamedTuple):
    """killer: the case that tells. module: which file; its text `old` becomes `new`."""

    killer: str
    module: str
    old: str
    new: str


MUTANTS: Mapping[str, Careless] = {
    "ties are not rounded away": Careless(
        "adversarial 22",
        "limbs",
        " or mode == NEAREST_AWAY",
        "",
    ),
    "toward zero rounds to nearest": Careless(
        "adversarial 5",
        "limbs",
        " and mode != TOWARD_ZERO",
        "",
    ),
    "lower limbs are not sticky": Careless(
        "a_tie_but_for_the_lowest_limb",
        "limbs",
        " or not is_zero(t, at, offset)",
        "",
    ),
    "high limbs are lost": Careless(
        "a_key_of_a_whole_limb",
        "limbs",
        "        elif limb != ZERO:\n            saturated = True\n",
        "",
    ),
    "rounding up passes the largest": Careless(
        "adversarial 87",
        "limbs",
        "saturated = up  # of the largest element",
        "saturated = False",
    ),
    "add drops a carry": Careless(
        "adversarial 6",
        "limbs",
        "        if two < carry:\n            over = ONE\n",
        "",
    ),
    "products drop a carry": Careless(
        "beyond_the_second_nearest",
        "limbs",
        "while carry != ZERO and place < at + size",
        "while False",
    ),
    "any square fits loosely": Careless(
        "late_squares_that_are_wrong",
        "index",
        "        return 2\n    return 0\n",
        "        return 2\n    return 2\n",
    ),
    "matching squares fit loosely": Careless(
        "a_late_square_that_is_a_quantum_off",
        "index",
        "squares + d], t) != 1:",
        "squares + d], t) == 0:",
    ),
    "preferred squares are not checked": Careless(
        "late_squares_that_are_wrong",
        "index",
        "if fit == 0 or (fit == 2 and head[LOOSE] == 0):",
        "if False:",
    ),
    "flat registers are not checked": Careless(
        "beyond_the_second_nearest",
        "index",
        "            special = True\n            ix",
        "            ix",
    ),
    "granularity is the wish's": Careless(
        "a larger preference outweighs",
        "index",
        "        ix.lists[zeros + d] = min(ix.lists[zeros + d], trailing_zeros(ix.store, x, limbs))\n",
        "",
    ),
    "granularity is the keys'": Careless(
        "wish_between_the_keys",
        "certificate",
        "min(lists[zeros + d], trailing_zeros(t, wish + d * limbs, limbs))",
        "lists[zeros + d]",
    ),
    "the least preference is the first": Careless(
        "a smaller preference outweighs",
        "index",
        "if head[LEAST] < 0 or compare(ix, h, at, key_at(ix, h, head[LEAST])) < 0:",
        "if head[LEAST] < 0:",
    ),
    "the greatest preference is the first": Careless(
        "a larger preference outweighs",
        "index",
        "if head[GREATEST] < 0 or compare(ix, h, at, key_at(ix, h, head[GREATEST])) > 0:",
        "if head[GREATEST] < 0:",
    ),
    "runs sum their first value": Careless(
        "wish_between_the_keys",
        "index",
        "            add_values(ix, h, key, run, t)\n            return",
        "            return",
    ),
    "equal roots are equal keys": Careless(
        "equal_keys_with_unequal_squares",
        "index",
        "for register in (ix.heads[h, ROOT], ix.heads[h, SQUARE]):",
        "for register in (ix.heads[h, ROOT],):",
    ),
    "any group in the table is the right one": Careless(
        "many_groups",
        "index",
        "                same = False\n                break",
        "                break",
    ),
    "new keys come last in their group": Careless(
        "late_squares_that_are_wrong",
        "index",
        "            low = middle + 1\n        else:\n            high = middle\n    if count",
        "            low = middle + 1\n        else:\n            low = middle + 1\n    if count",
    ),
    "preferences cost nothing": Careless(
        "a larger preference outweighs",
        "certificate",
        "    if head[PREFERENCE] == NO_PREFERENCE:\n        return 0.0\n",
        "    return 0.0\n",
    ),
    "a better linear preference elsewhere": Careless(
        "a larger preference outweighs",
        "certificate",
        "head[LEAST] if coefficient < 0.0 else head[GREATEST]",
        "head[GREATEST] if coefficient < 0.0 else head[LEAST]",
    ),
    "the centre has no flat part": Careless(
        "structured 44",
        "certificate",
        "if ix.lists[list_at(ix, h, FLAT) + i] == 1:",
        "if False:",
    ),
    "the centre has no matching part": Careless(
        "wish_between_the_keys",
        "certificate",
        "    for d in range(head[MATCHING]):\n        v = real",
        "    for d in range(0):\n        v = real",
    ),
    "the centre has no linear preference": Careless(
        "structured 44",
        "certificate",
        "term = coefficient * real(t, DIFFERENCE, limbs, -q)",
        "term = 0.0",
    ),
    "the centre has no quadratic preference": Careless(
        "a_special_key_beside_better_ones",
        "certificate",
        "    elif head[PREFERENCE] == QUADRATIC:\n        if wish_kind",
        "    elif False:\n        if wish_kind",
    ),
    "half the lead will do": Careless(
        "structured 13",
        "certificate",
        "needed = lead + 2.0 * quantum",
        "needed = 0.5 * lead + 2.0 * quantum",
    ),
    "squares have no defect": Careless(
        "squares_a_quantum_off",
        "certificate",
        "    if head[LOOSE] == 1:\n            needed",
        "    if False:\n            needed",
    ),
    "a second run may win": Careless(
        "keys_that_agree_only_after_rounding",
        "certificate",
        "        elif slot >= 2:\n            return False\n",
        "        elif slot >= 2:\n            continue\n",
    ),
    "only the nearest two matter": Careless(
        "equal_keys_with_unequal_squares",
        "certificate",
        "places = (low - 1, low, low - 2, low + 1)",
        "places = (low - 1, low, -1, -1)",
    ),
    "only the last run matters": Careless(
        "equal_keys_with_unequal_squares",
        "certificate",
        "places = (runs_here - 1, -1, runs_here - 2, -1)",
        "places = (runs_here - 1, -1, -1, -1)",
    ),
    "the largest preference is the best": Careless(
        "adversarial 113",
        "certificate",
        "                places = (0, -1, 1, -1)\n",
        "                places = (runs_here - 1, -1, runs_here - 2, -1)\n",
    ),
    "other groups are far away": Careless(
        "a larger preference outweighs",
        "certificate",
        "if not difference(t, best, run_best, size, q) + mismatch >= (short + needed) * SLACK:",
        "if False:",
    ),
    "without a group, any special key wins": Careless(
        "wish_between_the_keys",
        "certificate",
        "if not top + mismatch >= limit",
        "if False and limit",
    ),
    "no score saturates": Careless(
        "adversarial 1",
        "certificate",
        "return top <= ix.largest[0] / SLACK and needed * SLACK - top <= ix.largest[0] / SLACK",
        "return True",
    ),
    "low scores do not saturate": Careless(
        "structured 2",
        "certificate",
        " and needed * SLACK - top <= ix.largest[0] / SLACK",
        "",
    ),
    "high scores do not saturate": Careless(
        "adversarial 1",
        "certificate",
        "return top <= ix.largest[0] / SLACK and",
        "return",
    ),
    "the last winner is the first": Careless(
        "wish_between_the_keys",
        "certificate",
        "if first < 0 or key < first:",
        "if True:",
    ),
    "losers need no lead": Careless(
        "beyond_the_second_nearest",
        "certificate",
        "    if behind != ABSENT and difference(t, best, behind, size, q) < needed * SLACK * SLACK:\n        return False\n",
        "",
    ),
    "special keys never win": Careless(
        "beyond_the_second_nearest",
        "certificate",
        "    for i in range(head[SPECIALS]):\n        into = scores",
        "    for i in range(0):\n        into = scores",
    ),
    "special keys have no values": Careless(
        "wish_between_the_keys",
        "certificate",
        "for w in range(found[2]):",
        "for w in range(0):",
    ),
    "losers leave no trace": Careless(
        "structured 4",
        "certificate",
        "(1 if length > number else 0)",
        "0",
    ),
    "a single winner weighs 1": Careless(
        "structured 13",
        "certificate",
        "number == 1 and equal(ix.shares, share, vec, one, limbs)",
        "number == 1",
    ),
    "matching keys attract": Careless(
        "adversarial 45",
        "certificate",
        "if t[s_at + size - 1] >> TOP != ONE or find_wish",
        "if find_wish",
    ),
    "the preferred attracts": Careless(
        "a_query_that_flees",
        "certificate",
        "        if t[s_at + size - 1] >> TOP != ONE:\n            return False\n        wish_kind",
        "        wish_kind",
    ),
    "keys are never rounded": Careless(
        "adversarial 1",
        "kernel",
        " and how == KEY",
        " and False",
    ),
    "negative gates pass": Careless(
        "adversarial 0",
        "kernel",
        "if t[SUM + size - 1] >> TOP == ONE or is_zero",
        "if is_zero",
    ),
    "residual sums are not cut": Careless(
        "adversarial 9",
        "kernel",
        "if less(t, LARGEST, vec, into, limbs):",
        "if False:",
    ),
    "the lead does not grow with the length": Careless(
        "adversarial 147",
        "kernel",
        "    while length >> bits:\n        bits += 1\n",
        "",
    ),
    "keys that break the structure stay": Careless(
        "a_late_square_that_is_a_quantum_off",
        "kernel",
        "            head[STRUCTURED] = 0\n        if",
        "            pass\n        if",
    ),
    "a carry reads what was just written": Careless(
        "adversarial 0",
        "program",
        "range(state, state + program.width))\n",
        "range(following, following + program.width))\n",
    ),
    "losers take nothing from the winners' shares": Careless(
        "structured 4",
        "machine",
        "round_beside_reciprocal(m, -1, fmt, rounding)",
        "round_ratio(one, m, fmt, rounding)",
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
        "heads[h, fields.STRUCTURED] and not self.entries.rebuild(self.index, h, keys, self.t)",
        "False",
    ),
    "growing forgets the keys": Careless(
        "beyond_the_second_nearest",
        "machine",
        "            self.index.store[target : target + count] = old.store[source : source + count]\n",
        "",
    ),
}

MODULES = ("limbs", "index", "certificate", "kernel", "entries", "program", "structure", "machine")
FEW_TOKENS = 4  # after which memory grows


def interpreted(monkeypatch: pytest.MonkeyPatch, mutant: Careless | None = None) -> type[CompiledMachine]:
    """The decoder from its source, changed by the mutant, and not compiled."""

    def leave(*arguments: object, **options: object) -> Callable[[object], object]:
        return lambda function: function

    def high_product(generator: object) -> Callable[[int, int], np.uint64]:
        return lambda a, b: np.uint64(int(a) * int(b) >> 64)

    monkeypatch.setattr("numba.njit", leave)
    monkeypatch.setattr("numba.extending.intrinsic", high_product)
    for module in MODULES:
        name = f"{engines.__name__}.incremental_{module}"
        path = Path(engines.__file__).parent / f"incremental_{module}.py"
        text = path.read_text(encoding="utf-8")
        if mutant is not None and mutant.module == module:
            assert text.count(mutant.old) == 1, "the mutant no longer fits the source"
            text = text.replace(mutant.old, mutant.new)
        loaded = ModuleType(name)
        loaded.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, loaded)
        monkeypatch.setattr(engines, f"incremental_{module}", loaded, raising=False)
        exec(compile(text, path, "exec"), loaded.__dict__)
    loaded.__dict__["FIRST_CAPACITY"] = FEW_TOKENS
    return cast("type[CompiledMachine]", loaded.__dict__["CompiledMachine"])


def agrees(machine: type[CompiledMachine], case: Case) -> bool:
    """Whether it leaves the reference engine's registers and tokens behind."""
    with np.errstate(all="ignore"):
        ours, theirs = (
            machine(case.model, case.arithmetic, Columns(), None),
            ReferenceEngine(case.model, case.arithmetic),
        )
        for token in case.tokens:
            step = theirs.append(token)
            if ours.feed([token]) != step.next_token or ours.registers() != list(step.registers[-1]):
                return False
    return True


@pytest.mark.parametrize("name", MUTANTS)
def test_careless_decoders_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not agrees(interpreted(monkeypatch, MUTANTS[name]), CASES[MUTANTS[name].killer]())


def test_the_source_itself_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = interpreted(monkeypatch)
    for name in sorted({mutant.killer for mutant in MUTANTS.values()}):
        assert agrees(machine, CASES[name]()), name


# The compiled decoder


@pytest.mark.parametrize("name", CASES)
def test_every_case_agrees(name: str) -> None:
    assert_same(CASES[name]())


@settings(max_examples=60, deadline=None)
@given(rng=st.randoms(use_true_random=False), draw=st.sampled_from((adversarial, structured)))
def test_models_made_to_break_it_agree(rng: random.Random, draw: Callable[[random.Random], Case]) -> None:
    assert_same(draw(rng))


def test_memory_that_grows_all_the_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constructions.engines.incremental_machine.FIRST_CAPACITY", 1)
    certified = searches = 0
    for seed in range(40):
        columns = assert_same((adversarial, structured)[seed % 2](random.Random(f"growing {seed}")))
        certified, searches = certified + columns.certified, searches + columns.searches
    assert min(certified, searches) > 100
