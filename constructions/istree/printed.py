"""Layers 4, 5, 7 and 8 of IsTree as the paper prints them, for the finding `layer-7`.

Source: appendix C.6.2, items 4, 5, 7 and 8.
Every edge leaves one record, at its second endpoint: both endpoints a and b with both counts. Two heads look for the edge just
walked, and two MatchNext heads, one over a and one over b, for the next one. A vertex that stands first in some edges and second
in others thus has its counts divided between the two heads, against the precondition of Lemma C.18.

The print leaves open how "the other endpoint (or 0)" is chosen from the two heads' results. Here it is the one whose
count is exactly 1/(m + 1) after 1/m, tested by walked − count − walked·count = 0. That takes more than one
feed-forward, given to the print in extra blocks without attention, so that what is refuted is the heads and not the
size of one sublayer.
"""

from __future__ import annotations

from fractions import Fraction

from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.interval import interval
from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.parts.heads.match import match, pair
from constructions.parts.heads.match_next import match_next
from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Setting
from constructions.wiring.register import copied, squared
from constructions.wiring.wire import BlockPlan, Gadget, Head, Unit

SIDES = (("a", "b"), ("b", "a"))  # the endpoint that is matched, the endpoint that is read


def edge_units(second_endpoint: Affine) -> list[Unit]:
    """One record an edge: a, b, their counts, and the squares, at the second endpoint."""
    units = []
    for side, vertex, count in (("a", copied("vertex", 2), copied("count", 2)), ("b", "vertex", "count")):
        units += [
            Unit(second_endpoint, reg(vertex), {side: 1}),
            Unit(second_endpoint, reg(squared(vertex)), {squared(side): 1}),
            Unit(second_endpoint, reg(count), {f"count_{side}": 1}),
            Unit(reg(count) - 1 + second_endpoint, reg(count), {squared(f"count_{side}"): 1}),
        ]
    return units


def walked_heads(setting: Setting, printed_scores: bool) -> tuple[Head, ...]:
    """The edge just walked in either orientation, added up: the head that finds nothing reads 0 at position 1."""
    return tuple(
        match(
            f"edge just walked, {here} first",
            (pair(here, "current"), pair(there, "previous")),
            {"walked": reg(f"count_{here}")},
            setting,
            printed=printed_scores,
        )
        for here, there in SIDES
    )


def _round(
    setting: Setting, resolution: int, printed_scores: bool, number: int, after: str, target: str
) -> tuple[BlockPlan, BlockPlan]:
    """Two MatchNext heads, then the choice between their results; `after` is the register with the count to continue."""
    heads = tuple(
        match_next(
            f"edge {number} after, {here} here",
            (pair(here, "current"),),
            reg(f"count_{here}"),
            reg(squared(f"count_{here}")),
            reg(target),
            {
                f"next{number}_{here}": reg(there),
                squared(f"next{number}_{here}"): reg(squared(there)),
                f"count{number}_{here}": reg(f"count_{here}"),
            },
            setting,
            printed=printed_scores,
        )
        for here, there in SIDES
    )
    products = [
        Gadget(
            f"{after}·count{number}_{here}",
            (Unit(reg(after), reg(f"count{number}_{here}"), {f"product{number}_{here}": 1}),),
        )
        for here, _ in SIDES
    ]
    half_step = Fraction(1, 2 * resolution)
    choice = []
    for here, _ in SIDES:
        defect = reg(after) - reg(f"count{number}_{here}") - reg(f"product{number}_{here}")
        for read, into in (
            (f"next{number}_{here}", f"candidate{number}"),
            (squared(f"next{number}_{here}"), squared(f"candidate{number}")),
            (f"count{number}_{here}", f"count{number}"),
        ):
            choice.append(
                interval(
                    defect,
                    -half_step,
                    half_step,
                    {into: 1},
                    margin=half_step,
                    times=reg(read),
                    name=f"{into} from {here}",
                )
            )
    return BlockPlan(heads, tuple(products)), BlockPlan((), tuple(choice))


def search_blocks(setting: Setting, resolution: int, printed_scores: bool) -> tuple[BlockPlan, ...]:
    """Layers 7 and 8, each with its extra block; leaves the two candidates."""
    first = _round(setting, resolution, printed_scores, 1, "walked", "target")
    prepare = (
        next_fraction(reg("count1"), "target2"),
        indicator(reg("candidate1") - reg("father"), 0, {"skip": 1}, name="the next edge leads to the father"),
    )
    second = _round(setting, resolution, printed_scores, 2, "count1", "target2")
    return (*first, BlockPlan((), prepare), *second)
