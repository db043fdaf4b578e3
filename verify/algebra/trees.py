"""All walks through a program: every n, in the cases that it is split into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from verify.algebra.nodes import Node
from verify.algebra.quotients import Unanswered, text
from verify.algebra.walks import Fork, Walk
from verify.trusted import growth


def theorem_of(program: Callable[[Walk], object], bits_of_bits: int) -> Any:
    """Returns what all walks through a program have shown, as verify/trusted/growth.py reads it.

    Raises Unanswered for a program that asks something else when it is run again.
    """
    inequalities: dict[tuple[str, str], int] = {}
    nodes = [Node(growth.root(bits_of_bits, r)) for r in (0, 1)]
    for node in nodes:
        follow(program, node)
    cases = [_write(node, inequalities) for node in nodes]
    return {"bits_of_bits": bits_of_bits, "inequalities": [list(one) for one in inequalities], "cases": cases}


def follow(program: Callable[[Walk], object], node: Node, way: Sequence[Fork] = ()) -> None:
    """Follows each case after these answers to the first questions."""
    walk = Walk(node.box, [fork.answer for fork in way], nodes=[node])
    program(walk)
    walk.end()
    if walk.forks[: len(way)] != list(way):
        raise Unanswered("what is asked again is not what was asked before")
    for i in reversed(range(len(way), len(walk.forks))):
        follow(program, node, [*walk.forks[:i], replace(walk.forks[i], answer=not walk.forks[i].answer)])


def _write(node: Node, inequalities: dict[tuple[str, str], int]) -> Any:
    """Returns a node and its parts, each inequality by its number, at the widest part of which it is seen."""
    entries: list[Any] = []
    for polynomial, relation, answer, factor in filter(None, node.looked_at.values()):
        place = inequalities.setdefault((text(polynomial), relation), len(inequalities))
        entries.append(place if answer is None else [place, answer, text(factor)])
    if not node.parts:
        return {"shown": entries}
    return {"shown": entries, "split": node.split, "parts": [_write(part, inequalities) for part in node.parts]}
