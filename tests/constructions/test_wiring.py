"""From named parts to matrices, and what the wiring refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.numbered import Numbered, Powers
from constructions.wiring.wire import (
    BlockPlan,
    Component,
    Embedding,
    Gadget,
    Head,
    LinearUnit,
    Unit,
    constant,
    linear,
    registers_of,
    wire,
)
from precision.format import fixed_point

FORMAT = fixed_point(17)
X, THIRD = reg("x"), Fraction(1, 3)
EMBEDDING = Embedding(("a", "b"), ({"x": 1}, {"x": 2, "y": Fraction(1, 2)}), "position")


def wired(*blocks: BlockPlan, exact: bool = True):
    return wire(EMBEDDING, blocks, EMBEDDING.words, FORMAT, exact=exact)


@pytest.mark.parametrize("exponent", [-1, Fraction(1, 2), 2.0])
def test_powers_that_are_no_polynomials(exponent: Any) -> None:
    """As polynomials they would be read as others: i^-1 as 1."""
    with pytest.raises(ValueError, match="'y' has the exponent"):
        Powers(1, 4, {"x": (1, 1), "y": (1, exponent)})


def test_registers_become_coordinates_in_the_order_of_first_writing() -> None:
    head = Head("h", (Component(reg("x"), 2 * reg("y")),), {"read": reg("x") - reg("y")})
    block = BlockPlan((head,), (linear("copy", reg("read") + 3, "out"), constant("one", {"one": 1})))
    model, registers = wired(block)
    assert registers == ("x", "y", "position", "read", "out", "one")
    assert registers_of(EMBEDDING, [block]) == registers
    assert model.words.tolist() == [[1, 0, 0, 0, 0, 0], [2, 0.5, 0, 0, 0, 0]]
    assert model.position.tolist() == [0, 0, 1, 0, 0, 0]
    (attention,) = model.blocks[0].heads
    assert attention.key.tolist() == [[1, 0, 0, 0, 0, 0]]
    assert attention.query.tolist() == [[0, 2, 0, 0, 0, 0]]
    assert attention.value.tolist() == [[1, -1, 0, 0, 0, 0]]
    assert attention.out.tolist() == [[0], [0], [0], [1], [0], [0]]
    ffn = model.blocks[0].feed_forward
    assert ffn.gate.tolist() == [[0] * 6]
    assert ffn.gate_bias.tolist() == [1]
    assert ffn.up.tolist() == [[0, 0, 0, 1, 0, 0]]
    assert ffn.up_bias.tolist() == [3]
    assert ffn.down[:, 0].tolist() == [0, 0, 0, 0, 1, 0]
    assert ffn.down_bias.tolist() == [0, 0, 0, 0, 0, 1]
    assert np.array_equal(model.unembed, model.words)
    assert model.parameters == sum(a.size for a in (attention.key,) * 4) + 6 * 3 + 2 + 6


@pytest.mark.parametrize("bits", [9, 17, 41, 131])
@pytest.mark.parametrize(
    "factor", [1, Fraction(3, 4), Fraction(1, 1 << 8), -5, 1 << 40, Fraction(1, 3), Fraction(1, 1 << 60), (1 << 53) + 1]
)
def test_numbers_are_listed_as_their_rows_say(bits: int, factor: Number) -> None:
    """Whatever is in the format goes there; whatever is not is refused with the word, or rounded, as row by row."""
    families = Powers(1, 4, {"x": (1, 1), "y": (factor, 2)}), Powers(-1, 1, {"x": (1, 1), "y": (factor, 0)})
    words = Numbered(families, ({"z": 1}, {}))
    rows = (*({"x": i, "y": factor * i * i} for i in range(1, 5)), *({"x": i, "y": factor} for i in (-1, 0, 1)))
    rows = (*rows, {"z": 1}, {})
    assert (*words,) == rows == (*words[:],)
    assert words[-2:] == [{"z": 1}, {}]

    def matrices(words: Sequence[Mapping[str, Number]], *, exact: bool) -> object:
        embedding = Embedding(tuple("abcdefghi"), words, "position")
        try:
            model, registers = wire(embedding, (), embedding.words, fixed_point(bits), exact=exact)
        except ValueError as error:
            return str(error)
        return model.words.tolist(), model.unembed.tolist(), registers

    for exact in (True, False):
        assert matrices(words, exact=exact) == matrices(rows, exact=exact)
    with pytest.raises(ValueError, match="the word 'a' fills register 'y'"):
        Embedding(tuple("abcdefghi"), words, "y")


def test_constants_of_gadgets_add_up() -> None:
    model, registers = wired(BlockPlan((), (constant("1", {"x": 1}), constant("2", {"x": 2}))))
    assert model.blocks[0].feed_forward.down_bias[registers.index("x")] == 3


def of_head(*components: Component, **reads: Affine) -> BlockPlan:
    return BlockPlan((Head("h", components, reads),), ())


def of_gadgets(*gadgets: Gadget) -> BlockPlan:
    return BlockPlan((), gadgets)


def of_recurrence(**state: Affine) -> BlockPlan:
    return BlockPlan((), (), (LinearUnit("u", {name: (Affine(), form) for name, form in state.items()}),))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (of_head(Component(reg("z"), X)), "block 1, head 1 (h) reads register 'z'"),
        (of_head(r=reg("z")), "head 1 (h) reads register 'z'"),
        (of_gadgets(linear("g", reg("z"), "x")), "block 1, gadget 1 (g) reads register 'z'"),
        (of_gadgets(Gadget("g", (Unit(X, reg("new"), {"new": 1}),))), "gadget 1 (g) reads register 'new'"),
        (of_head(Component(X + 1, X)), "attention has no bias"),
        (of_gadgets(linear("g", 256 * X, "x")), "weight 256 is not an element of R_17"),
        # A constant that attention cannot carry is never dropped.
        (of_head(r=5 - X), "block 1, head 1 (h), what it reads into 'r', 5 − x, has a con"),
        # A weight outside the format is named by where it stands.
        (of_gadgets(linear("g", THIRD * X, "x")), "(g), up, register 'x': weight 1/3 is not an element of R_17"),
        (of_gadgets(linear("g", X + 256, "x")), "block 1, gadget 1 (g), up, its constant, weight 256 is"),
        (of_gadgets(Gadget("g", (Unit(THIRD * X, X, {"y": 1}),))), "gadget 1 (g), gate, register 'x': weight 1/3"),
        (of_gadgets(Gadget("g", (Unit(X, X, {"y": THIRD}),))), "gadget 1 (g), weight, register 'y': weight 1/3"),
        (of_gadgets(constant("c", {"y": THIRD})), "block 1, gadget 1 (c), constant, register 'y': weight 1/3"),
        (of_head(Component(X, THIRD * X)), "block 1, head 1 (h), query, register 'x': weight 1/3"),
        (of_head(Component(THIRD * X, X)), "block 1, head 1 (h), key, register 'x': weight 1/3"),
        (of_head(r=THIRD * X), "block 1, head 1 (h), value, register 'x': weight 1/3"),
        (of_recurrence(s=THIRD * X), "block 1, linear unit 1 (u), the state 's', register 'x': weight 1/3"),
        (of_recurrence(s=X + 1), "block 1, linear unit 1 (u), the state 's' has a constant"),
    ],
)
def test_mistakes_are_named(block: BlockPlan, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        wired(block)


def test_a_head_may_read_what_an_earlier_block_wrote() -> None:
    write = BlockPlan((), (linear("g", reg("x"), "new"),))
    read = BlockPlan((Head("h", (Component(reg("new"), reg("new")),), {"r": reg("new")}),), ())
    wired(write, read)
    with pytest.raises(ValueError, match=r"block 1, head 1 \(h\) reads register 'new'"):
        wired(read, write)


def test_printed_weights_are_rounded_to_the_format() -> None:
    block = BlockPlan((), (linear("third", Fraction(1, 3) * reg("x"), "x"), linear("far", -1000 * reg("y"), "y")))
    model, _ = wired(block, exact=False)
    third, far = model.blocks[0].feed_forward.up[0, 0], model.blocks[0].feed_forward.up[1, 1]
    assert third == round(2**8 / 3) / 2**8
    assert far == -(2.0**8 - 2.0**-8)


def test_a_weight_that_float64_cannot_hold_is_refused_or_goes_towards_zero() -> None:
    wide = fixed_point(121)
    gadget = linear("g", (2**54 + 1) * reg("x"), "x")
    with pytest.raises(ValueError, match="53 significant digits"):
        wire(EMBEDDING, [BlockPlan((), (gadget,))], EMBEDDING.words, wide)
    model, _ = wire(EMBEDDING, [BlockPlan((), (gadget,))], EMBEDDING.words, wide, exact=False)
    assert model.blocks[0].feed_forward.up[0, 0] == 2.0**54


def test_a_word_outside_the_format_is_named() -> None:
    embedding = Embedding(("a", "b"), ({"x": 1}, {"x": 400}), "position")
    with pytest.raises(
        ValueError, match="the embedding of the word 'b', register 'x': weight 400 is not an element of R_17"
    ):
        wire(embedding, (), embedding.words, FORMAT)
    with pytest.raises(ValueError, match="the output row of the word 'a', register 'x': weight 1/3"):
        wire(EMBEDDING, (), ({"x": THIRD}, {}), FORMAT)


ONE, COPY = constant("1", {"one": 1}), linear("copy", X, "new")
PASS = BlockPlan((), ())
AS_BEFORE = "block 2, gadget 1 (again) sets the constant 'one', as block 1, gadget 1 (1) does already"


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        # Two parts that write one helper.
        ([of_gadgets(ONE, constant("also 1", {"one": 1}))], "gadget 2 (also 1) is the same as"),
        ([of_gadgets(ONE, constant("2", {"one": 2}))], "block 1, gadget 2 (2) sets the constant 'one'"),
        ([of_gadgets(ONE), of_gadgets(constant("again", {"one": 1, "two": 2}))], AS_BEFORE),
        ([of_gadgets(COPY, linear("same", X, "new"))], "gadget 2 (same) is the same as block 1, gadget 1 (copy)"),
        (
            [BlockPlan((Head("h", (), {"r": X}), Head("i", (), {"r": X})), ())],
            "head 2 (i) is the same as block 1, head 1",
        ),
        # A helper that has the name of a word, of a family, or of the position.
        ([of_gadgets(constant("1", {"x": 1})), PASS], "gadget 1 (1) writes register 'x', which is that of a word"),
        ([of_gadgets(linear("g", X, "position")), PASS], "gadget 1 (g) writes register 'position'"),
        ([of_head(y=X)], "block 1, head 1 (h) writes register 'y'"),
        ([of_recurrence(y=X)], "block 1, linear unit 1 (u) writes register 'y'"),
    ],
)
def test_clashes_are_refused_by_name(blocks: list[BlockPlan], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        wired(*blocks)


def test_parts_that_add_up_are_no_clash() -> None:
    """Two gadgets into one register, one of them with a constant; the last feed-forward over the embedding."""
    sums = BlockPlan((), (COPY, linear("more", reg("y"), "new"), constant("3", {"new": 3})))
    output = BlockPlan((), (linear("out", reg("new"), "x"), constant("1", {"x": 1}), constant("2", {"x": 2})))
    wired(sums, output)


@pytest.mark.parametrize(
    ("vocabulary", "words", "message"),
    [
        (("a", "a"), ({}, {}), "the token 'a' is in the vocabulary twice"),
        (("a",), ({}, {}), "1 tokens, but 2 rows"),
        (("a",), ({"position": 1},), "the word 'a' fills register 'position'"),
    ],
)
def test_embeddings_that_contradict_themselves(
    vocabulary: tuple[str, ...], words: tuple[dict[str, int], ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Embedding(vocabulary, words, "position")
