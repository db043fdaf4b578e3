"""Small models that each defeat some careless decoder (test_incremental_careless.py); the true one agrees with the reference."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from constructions.layers import Block, FeedForward, Transformer
from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, wire
from precision.format import Arithmetic, Format, fixed_point
from tests.engines.cases import CRAFTED, Case, fused, in_order, searching
from tests.engines.test_incremental import assert_same
from tests.engines.test_incremental_adversarial import adversarial, structured

SHORT = 16  # tokens, where the decoder is interpreted
R33, R45 = Arithmetic(fixed_point(33)), Arithmetic(fixed_point(45))


def pair(name: str, value: Number, off: Number = 0) -> dict[str, Number]:
    """A register with its square, which is `off`."""
    return {name: value, f"{name}_squared": Fraction(value) ** 2 + off}


def near(name: str, wish: Affine | Number, scale: Number) -> list[tuple[Affine | Number, Affine | Number]]:
    """Components of −scale·(x − wish)², up to a constant."""
    form = wish if isinstance(wish, Affine) else wish * reg("one")
    return [(reg(f"{name}_squared"), -scale), (reg(name), 2 * scale * form)]


def a_key_of_a_whole_limb() -> Case:
    """2^33·2^33 are 2^128 quanta."""
    rows: list[Mapping[str, Number]] = [{"x": 0, "payload": 1}, {"x": 2**33}]
    return searching(Arithmetic(fixed_point(125)), rows, [(2**33 * reg("x"), 1)], [0, 1, 0, 1], "payload")


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
    return searching(R33, rows, [*near("y", 0, 40), (reg("x"), sign)], [*[0, 2] * 8, 0, 1, 0, 0, 2, 0], "payload")


def a_special_key_beside_better_ones() -> Case:
    """Nothing matches; the special key beats what would match with an average preference, not with the best one."""
    rows = [{**pair("y", y), **pair("x", x), "payload": 10 * y + x} for y in (0, 1) for x in (9, 10)]
    rows.append({**pair("y", 0), **pair("x", 9), "special": 1})
    components = [*near("y", 5, 2), *near("x", 10, 1), (reg("special"), 4)]
    return searching(R33, rows, components, [*[0, 2, 1, 3] * 10, 4, *[0, 3, 1, 2] * 3], "payload")


def a_special_key_without_a_match(slope: int, base: int) -> Case:
    """Nothing matches; the special key loses to ordinary ones by what these have from x, or from what they have in common."""
    rows = [{**pair("y", y), "x": x, "payload": 10 * y + x} for y in (0, 1) for x in (9, 10)]
    rows.append({**pair("y", 0), "x": 9, "special": 1})
    components = [*near("y", -1, 2), (reg("x"), slope), (reg("one"), base), (reg("special"), -4)]
    return searching(R33, rows, components, [*[0, 2, 1, 3] * 10, 4, *[0, 3, 1, 2] * 3], "payload")


def squares_a_quantum_off() -> Case:
    """All keys lie beyond the wish, the last word furthest; its square, a quantum too small, makes it the best."""
    rows = [{"x": Fraction(i, 512), "x_squared": Fraction(s, 2**16), "payload": i} for i, s in enumerate((1, 1, 0))]
    components: list[tuple[Affine | Number, Affine | Number]] = [
        (2**8 * reg("x_squared"), -24576),
        (2**8 * reg("x"), -48),
    ]
    return searching(R33, rows, components, [0, 1, 2] * 14, "payload")


def a_wish_beyond_all_keys(wish: int) -> Case:
    """A match on the far side loses to what is no match and nearest to the wish, then a match wins from beside it."""
    rows = [{**pair("y", y), **pair("x", x), "payload": 50 * y + x} for y in (0, 1) for x in range(1, 12, 2)]
    far, by = ([0, 1], [5, 4]) if wish > 0 else ([5, 4], [0, 1])
    both = [*far, far[0] + 6, far[1] + 6]
    tokens = [*both * 6, by[0] + 6, *far, by[1] + 6, *both, *by, *far]
    return searching(R45, rows, [*near("y", 0, 1000), *near("x", wish, 1)], tokens, "payload")


def a_wish_among_the_keys() -> Case:
    """The match is the last of all keys; what is no match is where x is wished, and better."""
    rows = [{**pair("y", y), **pair("x", x), "payload": 50 * y + x} for y, x in ((1, 0), (1, 5), (1, 1), (0, 40))]
    components = [*near("y", 0, 1000), *near("x", 5, 1)]
    return searching(R45, rows, components, [*[0, 3, 2, 3] * 6, 1, 2, 3, 0, 3, 2], "payload")


def a_special_key_behind_those_next_to_the_wish() -> Case:
    """Nothing matches, all ordinary keys lie before the wish for x; the special key is a little worse than the best of them."""
    rows = [{**pair("y", y), **pair("x", x), "payload": 50 * y + x} for y in (0, 1) for x in (9, 10)]
    rows.append({**pair("y", 0), **pair("x", 9), "special": 1})
    components = [*near("y", 5, 2), *near("x", 100, 1), (reg("special"), 170)]
    return searching(R45, rows, components, [*[0, 2, 1, 3] * 10, 4, *[0, 3, 1, 2] * 3], "payload")


def a_query_that_flees() -> Case:
    """The sign of the squared distance changes with the query: now the key that is furthest wins."""
    rows = [{**pair("x", i), "mood": 1, "payload": i} for i in range(8)]
    rows += [{**row, "mood": -1} for row in rows]
    components = [(reg("x_squared"), -64 * reg("mood")), (reg("x"), 2 * 64 * 3 * reg("mood"))]
    return searching(R33, rows, components, [*range(8), *range(8), 11, 12, 3, 8], "payload")


def matches_that_repel() -> Case:
    """The same; −1 looks like a match then, and the special key leads it by far, but 5 is further."""
    rows = [{**pair("y", y), "mood": mood, "payload": y} for mood in (1, -1) for y in (-1, 0, 1, 2, 5)]
    rows.append({**pair("y", -1), "mood": 1, "special": 1, "payload": 9})
    components = [(reg("y_squared"), -64 * reg("mood")), (reg("y"), 2 * 64 * reg("mood")), (reg("special"), 400)]
    return searching(R33, rows, components, [*[0, 3, 1, 4, 2] * 6, 10, 0, 3, 6, 7, 2], "payload")


def a_weight_beyond_the_largest() -> Case:
    """It becomes the largest element, of 130 digits, which is the only way for a weight to have more than those of a float."""
    fmt, none = fixed_point(131), np.zeros((1, 2))
    up = FeedForward(none, np.ones(1), np.array([[2.0**80, 0.0]]), np.zeros(1), np.array([[0.0], [1.0]]), np.zeros(2))
    rows = np.array([[2.0**-60, 0.0], [-(2.0**-40), 1.0], [1.0, 0.0]])
    return Case(
        Transformer(rows, np.zeros(2), (Block((), up),), np.array([[1.0, 0.0], [0.0, 2.0**-40]])),
        Arithmetic(fmt),
        [0, 1, 2],
    )


def a_gate_that_is_a_register() -> Case:
    """Its ReLU goes to another one; it is −1 at first."""
    into = np.array([[0.0], [1.0]])
    relu = FeedForward(np.array([[1.0, 0.0]]), np.zeros(1), np.zeros((1, 2)), np.ones(1), into, np.zeros(2))
    words = np.array([[-1.0, 0.0], [2.0, 0.0]])
    return Case(Transformer(words, np.zeros(2), (Block((), relu),), np.eye(2)), R33, [0, 1, 0])


# On which floats say too much, if they are asked carelessly

OUT_OF_ORDER = (0, 2, 1, 0, 1, 1, 2, 0, 2, 1)
STEP = Fraction(1, 2**26)  # what the keys of many digits are multiples of


def keys_of_many_digits(steps: Sequence[int], pull: Sequence[Number], scale: int) -> Case:
    """The key of most `pull·x − scale·x²`, in steps; pull: numbers that add up to it, each of no more digits than a float has.

    No weight has more, so the keys are sums that a block before the head makes.
    """
    arithmetic = Arithmetic(fixed_point(191))
    zeros = dict.fromkeys(("x", "x_squared"), 0)
    parts = {f"pull{i}": part * STEP for i, part in enumerate(pull)}
    rows: list[Mapping[str, Number]] = [
        {"one": 1, "high": (x >> 1) * 2 * STEP, "low": x % 2 * STEP, **parts, **zeros, "payload": i}
        for i, x in enumerate(steps)
    ]
    key = reg("high") + reg("low")
    make = Gadget("x", (Unit(reg("one"), key, {"x": 1}),))
    pulled = sum((reg(name) for name in parts), 0 * reg("one"))
    middle = Fraction(float(Fraction(scale * steps[0] ** 2, 2**56)))  # most of what all scores have in common
    head = Head(
        "search",
        (
            Component(reg("x_squared"), -scale / STEP**2 * reg("one")),
            Component(2**30 * reg("x"), 1 / STEP**2 / 2**30 * pulled),
            Component(2**56 * reg("one"), -middle * reg("one")),
        ),
        {"out": reg("payload")},
    )
    embedding = Embedding(tuple(map(str, range(len(rows)))), [dict(row) for row in rows], "position")
    blocks = [BlockPlan((), (make, square(key, "x_squared"))), BlockPlan((head,), ())]
    model, _ = wire(embedding, blocks, [dict(row) for row in rows], arithmetic.format, exact=False)
    return Case(model, arithmetic, OUT_OF_ORDER)


def a_wish_that_is_no_float() -> Case:
    """It is x + 1/5; as a float it is x, and x + 1 would be five thirds as far behind as it is."""
    x = 2**51 + 3
    return keys_of_many_digits((x, x + 1, x + 2), (32 * (5 * x + 1),), 80)


def a_coefficient_that_is_no_float() -> Case:
    """The wish is x + 7/40; as a float, the coefficient of x would have it be x."""
    x = 2**51
    return keys_of_many_digits((x, x + 1, x + 2), (160 * x, 28), 80)


def keys_that_are_one_float() -> Case:
    """The first one is not what is wished."""
    x = 2**53
    return keys_of_many_digits((x + 1, x, x + 6), (160 * x,), 80)


def a_finer_key_beside_the_wish() -> Case:
    """The wish is a whole number; a key half a unit off costs a quarter of what one a unit off would."""
    rows = [{**pair("y", y), "payload": i} for i, y in enumerate((1, Fraction(3, 2), 3))]
    return searching(R45, rows, near("y", 1, 24), OUT_OF_ORDER, "payload")


def a_preference_that_turns() -> Case:
    """The last word is alone in its group, and wants a preferred register far from 0, as no key of its group has."""
    words = ((0, 1, 1), (1, 40, 1), (2, 20, 1), (0, 1, -1))
    rows = [{**pair("y", y), **pair("x", x), "mood": mood, "payload": i} for i, (y, x, mood) in enumerate(words)]
    components = [*near("y", 0, 1000), (reg("x_squared"), -1 * reg("mood")), (reg("x"), 2 * reg("mood"))]
    return searching(R45, rows, components, [1, 0, 2, 0, 1, 2, 0, 3, 1, 3], "payload")


def a_special_key_worse_than_the_match() -> Case:
    """What matches has 1000 more than what does not, and the special key 500."""
    rows = [{**pair("y", y), "payload": y} for y in (4, 5, 6)] + [{**pair("y", 0), "special": 1, "payload": 9}]
    components = [*near("y", 5, 40), (reg("special"), 500)]
    return searching(R45, rows, components, [0, 2, 1, 0, 2, 1, 3, 1, 0, 2, 1], "payload")


def a_lead_that_leaves_a_trace() -> Case:
    """The loser's weight is three quanta."""
    rows = [{**pair("y", y), "payload": 100 * y} for y in (0, 1, 3)]
    return searching(R33, rows, near("y", 0, 10), OUT_OF_ORDER, "payload")


# Output heads


def vocabulary(fmt: Format, unembed: Sequence[Sequence[float]], streams: Sequence[Sequence[float]]) -> Case:
    """Nothing but an output head: each token is a residual stream. Those of `unembed` that are not fed get the stream 0."""
    words = np.zeros((len(unembed), len(unembed[0])))
    words[: len(streams)] = streams
    model = Transformer(words, np.zeros(words.shape[1]), (), np.array(unembed, float))
    return Case(model, Arithmetic(fmt), list(range(len(streams))))


FAMILY = [(float(i), float(i * i), 0.0) for i in range(-9, 10)]  # in order, from token 0 on


def peaks() -> Case:
    """Anywhere in the family and beyond its ends, between two of it, and of several heights."""
    streams = [(2.0 * w, -1.0, 0.0) for w in (-30, -9, -8, -7, -0.5, 0, 0.5, 3, 6.5, 7, 8, 9, 30)]
    return vocabulary(fixed_point(33), FAMILY, streams)


def valleys() -> Case:
    """Either end wins, or both."""
    return vocabulary(fixed_point(33), FAMILY, [(2.0 * w, 1.0, 0.0) for w in (-5, -0.5, 0, 0.5, 5)])


def slopes() -> Case:
    """The square does not count, or nothing does."""
    return vocabulary(fixed_point(33), FAMILY, [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])


def logits_that_rounding_makes_equal(order: int = 1) -> Case:
    """Four on each side of a peak; the first token of these is not beside it. order: −1 for the last number first."""
    rows = [(2.0**-6 * i, 2.0**-8 * j, 0.0) for i, j, _ in FAMILY[::order]]
    return vocabulary(fixed_point(17), rows, [(2.0**-6 * w, -(2.0**-5), 0.0) for w in (-8, -4, 0, 4, 8)])


def logits_that_rounding_makes_equal_on_the_way_down() -> Case:
    """The same, for a family with the last number first."""
    return logits_that_rounding_makes_equal(-1)


def logits_that_saturate() -> Case:
    """All near the peak are the largest element, or all but these are the smallest."""
    return vocabulary(
        fixed_point(17), FAMILY, [(128.0, 0.0, 0.0), (-128.0, 8.0, 0.0), (0.0, -200.0, 0.0), (0.0, 200.0, 0.0)]
    )


def families_side_by_side() -> Case:
    """The second family has 1 more; a token by itself wins over both, or loses."""
    rows = [*FAMILY, *((i, j, 1.0) for i, j, _ in FAMILY), (0.0, 0.0, 2.0)]
    streams = [(2.0 * w, -1.0, kind) for w in (-4, 0, 5) for kind in (-1.0, 0.0, 1.0, 40.0)]
    return vocabulary(fixed_point(33), rows, streams)


def tokens_out_of_order() -> Case:
    """The family is shuffled; two of its numbers stand there twice."""
    order = sorted(range(len(FAMILY)), key=lambda i: (7 * i) % 19)
    rows = [FAMILY[i] for i in (*order, 3, 15)]
    return vocabulary(fixed_point(33), rows, [(2.0 * w, -1.0, 0.0) for w in (-9, -6, -0.5, 0.5, 6, 9)])


def a_family_that_is_not_bent_one_way() -> Case:
    """Cubes: two peaks."""
    cubes = [(float(i), float(i**3), 0.0) for i in range(-9, 10)]
    return vocabulary(fixed_point(33), cubes, [(w, c, 0.0) for w in (-75.0, 0.0, 48.0, 75.0) for c in (1.0, -1.0)])


def a_family_of_three_registers() -> Case:
    """The first is another family's number."""
    rows = [(float((5 * n) % 19), i, j) for n, (i, j, _) in enumerate(FAMILY)]
    return vocabulary(fixed_point(33), rows, [(z, 2.0 * w, -1.0) for w in (-4, 0, 5) for z in (-9.0, 0.0, 9.0)])


VOCABULARIES = (
    peaks,
    valleys,
    slopes,
    logits_that_rounding_makes_equal,
    logits_that_rounding_makes_equal_on_the_way_down,
    logits_that_saturate,
    families_side_by_side,
    tokens_out_of_order,
    a_family_that_is_not_bent_one_way,
    a_family_of_three_registers,
)


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
            a_wish_among_the_keys,
            a_special_key_behind_those_next_to_the_wish,
            a_query_that_flees,
            matches_that_repel,
            a_weight_beyond_the_largest,
            a_gate_that_is_a_register,
            a_wish_that_is_no_float,
            a_coefficient_that_is_no_float,
            keys_that_are_one_float,
            a_finer_key_beside_the_wish,
            a_preference_that_turns,
            a_special_key_worse_than_the_match,
            a_lead_that_leaves_a_trace,
            *VOCABULARIES,
        )
    },
    "a larger preference outweighs": partial(a_preference_that_outweighs_a_match, 1),
    "a smaller preference outweighs": partial(a_preference_that_outweighs_a_match, -1),
    "a special key loses to others by their x": partial(a_special_key_without_a_match, 16, 0),
    "a special key loses to others by what they share": partial(a_special_key_without_a_match, 0, 160),
    "a wish behind all keys": partial(a_wish_beyond_all_keys, 100),
    "a wish before all keys": partial(a_wish_beyond_all_keys, -100),
    **{f"rising keys {seed}": partial(_rising, seed) for seed in range(12)},
    **{f"structured {seed}": partial(_drawn, structured, seed) for seed in (2, 4, 5, 13, 38, 44, 55)},
    **{
        f"adversarial {seed}": partial(_drawn, adversarial, seed)
        for seed in (0, 1, 5, 6, 9, 22, 45, 87, 120, 147, 152, 202)
    },
}


@pytest.mark.parametrize("name", CASES)
def test_every_case_agrees(name: str) -> None:
    assert_same(CASES[name]())
