"""Registers: how their names are spelled, and that what they hold is never read off the spelling."""

from __future__ import annotations

import copy
import pickle

import pytest

from constructions.istree.transformer import TRANSFORMER
from constructions.models.program import Words, WriteRule, decide, window
from constructions.wiring.affine import reg
from constructions.wiring.numbered import Family
from constructions.wiring.register import Past, Register, copied, register, register_before, squared
from constructions.wiring.wire import BlockPlan, wire
from precision.format import fixed_point

SPELLED = {
    "x": (register("x"), ("x", False, None, 0)),
    "x_squared": (squared("x"), ("x", True, None, 0)),
    "x@2": (copied("x", 2), ("x", False, Past.COPIED, 2)),
    "x@3": (copied(copied("x", 1), 2), ("x", False, Past.COPIED, 3)),
    "x-0": (register_before("x", 0), ("x", False, Past.KEPT, 0)),
    "x_squared@1": (copied(squared("x"), 1), ("x", True, Past.COPIED, 1)),
    "x_squared-2": (squared(register_before("x", 2)), ("x", True, Past.KEPT, 2)),
}


@pytest.mark.parametrize("name", SPELLED)
def test_a_register_is_its_name_and_knows_what_it_holds(name: str) -> None:
    made, holds = SPELLED[name]
    for same in (made, register(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert (same, hash(same), repr(same)) == (name, hash(name), repr(name))
        assert isinstance(same, Register)
        assert (same.base, same.is_square, same.past, same.before) == holds
    assert made.here == ("x_squared" if holds[1] else "x")


@pytest.mark.parametrize("name", SPELLED)
def test_a_word_that_is_spelled_like_one_says_nothing_of_another(name: str) -> None:
    plain = register(str(name))
    assert (plain.base, plain.is_square, plain.past, plain.before) == (name, False, None, 0)


def test_a_word_with_a_number_behind_a_dash_is_not_looked_for_in_the_past() -> None:
    """`edge-2` is a word here: there is no register `edge` that a window could keep."""
    words = Words((Family("plain", 0, 3),), ("edge-2", "end"))
    block, embedding = BlockPlan((), decide([WriteRule("r", (reg("edge-2"),), "end")], words)), words.embedding()
    assert window([block]) == ()
    _, registers = wire(embedding, [block], embedding.words, fixed_point(9))
    assert "edge-2" in registers
    assert TRANSFORMER.construction.meaning("edge-2") == "1 at the token edge-2, else 0"
