"""Small models on which floats say too much, if they are asked carelessly; see test_incremental_float_filter.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Number, reg
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, wire
from precision.format import Arithmetic, fixed_point
from tests.engines.cases import Case, searching
from tests.engines.test_incremental_cases import R33, R45, near, pair

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


FLOAT_FILTER_CASES: Mapping[str, Callable[[], Case]] = {
    make.__name__: partial(make)
    for make in (
        a_wish_that_is_no_float,
        a_coefficient_that_is_no_float,
        keys_that_are_one_float,
        a_finer_key_beside_the_wish,
        a_preference_that_turns,
        a_special_key_worse_than_the_match,
        a_lead_that_leaves_a_trace,
    )
}
