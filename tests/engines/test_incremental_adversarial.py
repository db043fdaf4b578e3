"""Models made to break incremental decoding, compared with the reference engine register by register.

The keys of `adversarial` hold to a structure for one phase of the sequence and break it in another; scales and even their signs
depend on the query; leads lie around the decisive one; recurrences, blocks without units and blocks without heads stand between.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.layers import Block, Recurrence, Transformer
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, constant, wire
from precision.format import Arithmetic, Format, Rounding, fixed_point
from tests.engines.cases import (
    FIXED,
    NARROW,
    ROUNDINGS,
    TABLE,
    Case,
    affine,
    exact,
    library_head,
    no_units,
    raw_head,
    searching,
    words,
)
from tests.engines.test_incremental import assert_same


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
    embedding = Embedding(tuple(map(str, range(vocabulary))), tuple(rows), "position")
    with mock.patch("constructions.wiring.wire.refuse_clashes"):  # what would be a slip of an author is meant here
        model, _ = wire(embedding, blocks, unembed, fmt, exact=False)
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


@settings(max_examples=60, deadline=None)
@given(rng=st.randoms(use_true_random=False), draw=st.sampled_from((adversarial, structured)))
def test_models_made_to_break_it_agree(rng: random.Random, draw: Callable[[random.Random], Case]) -> None:
    assert_same(draw(rng))


def test_memory_that_grows_all_the_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constructions.engines.incremental.machine.FIRST_CAPACITY", 1)
    certified = searches = 0
    for seed in range(40):
        columns = assert_same((adversarial, structured)[seed % 2](random.Random(f"growing {seed}")))
        certified, searches = certified + columns.certified, searches + columns.searches
    assert min(certified, searches) > 100
