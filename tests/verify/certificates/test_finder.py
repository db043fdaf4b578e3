"""The finder of certificates: it rests on the small checker alone, and what it joins is covered."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from verify.certificates import finder, join, recurrence
from verify.certificates.join import match
from verify.certificates.recurrence import KeptFinder
from verify.trusted.abstract_state import ONE, Format, Integer, Polynomial, Share, State, atom, number, plus
from verify.trusted.kernel import Rejected
from verify.trusted.machine import Machine
from verify.trusted.model import Block
from verify.trusted.rounding import Checker

FORMAT = Format(21)
LIVE = frozenset((0, 1))


def state(k: tuple[int, int], registers: dict[int, Polynomial], **atoms: Any) -> State:
    return State(FORMAT, {"n": Integer(5, 5), "k": Integer(*k), **atoms}, registers)


def checker() -> Checker:
    """As much of a checker as holds states against each other, and applies rows."""
    found = object.__new__(Checker)
    found.format, found.case, found.machine, found.invariants = FORMAT, None, Machine(FORMAT, fused=True), []
    return found


def joined(*parts: State) -> list[State]:
    """The classes of parts of one label, each of which is covered by its class."""
    classes, places = join.join([("", part) for part in parts], LIVE)
    for part, place in zip(parts, places, strict=True):
        target = classes[place][1]
        checker().require_covered(part, target, match(target, part, LIVE), LIVE)
    return [one for _, one in classes]


@pytest.mark.parametrize("module", [finder, join, recurrence])
def test_no_static_checker_is_asked(module: Any) -> None:
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    assert {name for name in imported if name.startswith("verify.rounding")} <= {"verify.rounding.model"}


def test_parts_that_differ_in_bounds_are_one_class() -> None:
    first = state((2, 4), {0: atom("a"), 1: atom("k")}, a=Integer(0, 3))
    second = state((9, 9), {0: plus(atom("b"), ONE), 1: number(9)}, b=Integer(6, 8))
    (one,) = joined(first, second)
    assert [one.integer(name)[:2] for name in one.box] == [(5, 5), (2, 9), (0, 9)]


def test_parts_that_are_others_are_not() -> None:
    first = state((2, 4), {0: atom("a")}, a=Integer(0, 3))
    for other in (
        state((2, 4), {0: {("a",): 2}}, a=Integer(0, 3)),
        state((1, 1), {0: atom("a")}, a=Integer(0, 3)),
        state((2, 4), {0: atom("r")}, a=Integer(2, 3), r=Share("a", 0)),
        state((2, 4), {0: atom("a"), 1: ONE}, a=Integer(0, 3)),
    ):
        assert len(joined(first, other)) == 2


def test_a_part_with_equal_atoms_is_of_the_class_where_they_may_differ() -> None:
    first = state((2, 4), {0: atom("a"), 1: atom("b")}, a=Integer(0, 3), b=Integer(0, 3))
    second = state((3, 7), {0: atom("a"), 1: atom("a")}, a=Integer(2, 5))
    (one,) = joined(first, second)
    assert [one.integer(name)[:2] for name in one.box] == [(5, 5), (2, 7), (0, 5), (0, 5)]


def kept(carry: int, fed: tuple[int, int]) -> list[tuple[int, State]]:
    """What h_t = carry·h_{t−1} + x_t keeps, x in these bounds, in texts of five tokens of one kind."""
    first = state((1, 1), {}, a=Integer(*fed))
    later = State(FORMAT, {"n": Integer(5, 5), "k": Integer(2, 5), "a": Integer(*fed)}, {0: atom("a")}, kind=1)
    classes = [first, State(FORMAT, later.box, later.registers, kind=1, before=frozenset((0, 1)))]
    rows = {0: [(0, number(carry))]} if carry else {}
    block = Block([], [], [], [], rows, {0: [(0, ONE)]})
    return [*KeptFinder(checker(), block, classes, LIVE, "a block").find()]


def test_what_a_recurrence_keeps() -> None:
    (_, nothing), (_, held) = kept(0, (2, 3))
    assert [nothing.registers, held.integer("x2")[:2]] == [{}, (2, 3)]
    _, (_, total) = kept(1, (2, 3))
    assert total.integer("x2")[:2] == (0, 12)  # three for each of four positions
    with pytest.raises(Rejected, match="made of itself"):
        kept(2, (2, 3))
