"""Layers 4, 5, 7 and 8 of IsTree as the paper prints them, for the finding `layer-7`.

Source: appendix C.6.2, items 4, 5, 7 and 8.
Every edge leaves one record, at its second endpoint: both endpoints a and b with both counts. Two heads look for the edge just
walked, and two MatchNext heads, one over a and one over b, for the next one. A vertex that stands first in some edges and second
in others thus has its counts divided between the two heads, against the precondition of Lemma C.18.

The print leaves open how "the other endpoint (or 0)" is chosen from the two heads' results, and which end of an edge is
written first. Here a result counts if its count is exactly 1/(m + 1) after 1/m, tested by walked − count − walked·count = 0. Where
both do, that of the other head than found the walked edge is taken, and this head is told as if the smaller end of each edge came
first. Then the choice is right:

  A head that has the next count returns it. One that lacks it returns another count, or where two are equally near the target,
  their mean, which is the target. For m ≥ 4 the target nxt(1/m) is not 1/(m + 1). For m < 4 two counts have that mean only as
  (1/2 + 1/6)/2 = 1/3 and (1/3 + 1/6)/2 = 1/4. The walked count is one of both, so it is the walked edge's head that lacks the
  next count, and the other one has it.

In a text with an edge the other way round no choice is right for all graphs (claim 4.7/layer-7): two stars leave the same numbers
here and have other next vertices. All this takes more than one feed-forward, given to the print in extra blocks without attention,
so that what is refuted is the heads and not the size of one sublayer.
"""

from __future__ import annotations

from fractions import Fraction

from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.interval import interval
from constructions.parts.gadgets.next_fraction import next_fraction
from constructions.parts.gadgets.product import square
from constructions.parts.heads.match import match, pair
from constructions.parts.heads.match_next import match_next
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.part import Setting
from constructions.wiring.register import copied, squared
from constructions.wiring.wire import BlockPlan, Gadget, Head, Unit

SIDES = (("a", "b"), ("b", "a"))  # the endpoint that is matched, the other one


def edge_units(second_endpoint: Affine) -> list[Unit]:
    """Returns one record an edge: a, b, their counts, and the squares, at the second endpoint."""
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
    """Returns the edge just walked in either orientation, added up: the head that finds nothing reads 0 at position 1."""
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


def _heads(setting: Setting, printed_scores: bool, number: int, target: str) -> tuple[Head, ...]:
    """Returns the two MatchNext heads of a round. Each reads what a record has: both endpoints, both counts."""
    return tuple(
        match_next(
            f"edge {number} after, {here} here",
            (pair(here, "current"),),
            reg(f"count_{here}"),
            reg(squared(f"count_{here}")),
            reg(target),
            {
                f"{what}{number}_{here}": reg(form)
                for what, form in (
                    ("this", here),
                    ("next", there),
                    ("count", f"count_{here}"),
                    ("other_count", f"count_{there}"),
                )
            },
            setting,
            printed=printed_scores,
        )
        for here, there in SIDES
    )


def _round(
    setting: Setting, resolution: int, printed_scores: bool, number: int, other_end: str, after: str, target: str
) -> tuple[BlockPlan, ...]:
    """Returns the two heads, then the choice between their results.

    other_end: the register with the other end of the walked edge. after: the one with the count to continue.
    """
    ahead, one = reg("current") - reg(other_end), as_affine(1)
    second = Gadget(
        "the walked edge is written smaller end first, this one second",
        (Unit(ahead, one, {f"of{number}_b": 1}), Unit(ahead - 1, one, {f"of{number}_b": -1})),
    )
    products = [
        Gadget(
            f"{after}·count{number}_{here}",
            (Unit(reg(after), reg(f"count{number}_{here}"), {f"product{number}_{here}": 1}),),
        )
        for here, _ in SIDES
    ]
    half_step = Fraction(1, 2 * resolution)
    hits = [
        interval(
            reg(after) - reg(f"count{number}_{here}") - reg(f"product{number}_{here}"),
            -half_step,
            half_step,
            {f"hit{number}_{here}": 1},
            margin=half_step,
            name=f"the head over {here} returns the next count",
        )
        for here, _ in SIDES
    ]
    both, of_b = reg(f"hit{number}_a") + reg(f"hit{number}_b") - 1, reg(f"of{number}_b")
    # Of two hits the walked edge's own is dropped: 1 where both hit and the walked edge is of that side, else not positive.
    dropped = {"a": both - of_b, "b": both - 1 + of_b}
    choice = [
        Gadget(
            f"{into}, from {here}",
            (
                Unit(reg(f"hit{number}_{here}"), reg(f"{read}{number}_{here}"), {into: 1}),
                Unit(dropped[here], reg(f"{read}{number}_{here}"), {into: -1}),
            ),
        )
        for here, _ in SIDES
        for read, into in (("next", f"candidate{number}"), ("count", f"count{number}"))
    ]
    candidate = f"candidate{number}"
    return (
        BlockPlan(_heads(setting, printed_scores, number, target), (*products, second)),
        BlockPlan((), tuple(hits)),
        BlockPlan((), tuple(choice)),
        BlockPlan((), (square(reg(candidate), squared(candidate)),)),
    )


def search_blocks(setting: Setting, resolution: int, printed_scores: bool) -> tuple[BlockPlan, ...]:
    """Plans layers 7 and 8, each with its extra blocks; leaves the two candidates."""
    first = _round(setting, resolution, printed_scores, 1, "previous", "walked", "target")
    prepare = (
        next_fraction(reg("count1"), "target2"),
        indicator(reg("candidate1") - reg("father"), 0, {"skip": 1}, name="the next edge leads to the father"),
    )
    second = _round(setting, resolution, printed_scores, 2, "candidate1", "count1", "target2")
    return (*first, BlockPlan((), prepare), *second)
