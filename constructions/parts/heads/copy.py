"""Copy a register from s positions before.

Source: Lemmas C.7 and C.13.
Notation: k is the query's position, k' the key's. Score −G(k − s − k')², a unique winner that leads by at least G.
Derivation: −G(k'² − 2(k − s)k' + (k − s)²), the query part from the registers k, k² and 1. For k ≤ s the nearest key is
k' = 1, whose register must hold 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from constructions.parts.gadgets.product import square
from constructions.wiring.affine import Affine, reg
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import ONE, POSITION, is_square
from constructions.wiring.part import (
    Columns,
    Contract,
    Expected,
    Integer,
    Part,
    Setting,
    least_gap,
    least_odd_precision,
    log2,
    smallest_gap,
    split_scale,
)
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Head, constant


def nearest_key(
    wanted: Affine, wanted_squared: Affine, shares: tuple[int, int]
) -> tuple[Component, Component, Component]:
    """Returns −G(w − k')², so that the key nearest to the wanted position leads. shares: G's for key and query."""
    k, k_squared, one = reg("position"), reg(squared("position")), reg("one")
    key_scale, query_scale = shares
    return (
        Component(key_scale * k_squared, -query_scale * one),
        Component(key_scale * k, 2 * query_scale * wanted),
        Component(key_scale * one, -query_scale * wanted_squared),
    )


def copy(name: str, offset: int, reads: Mapping[str, Affine], setting: Setting, *, printed: bool = False) -> Head:
    """Wires register := form at position k − offset, for each of `reads`. Needs `position`, `position_squared` and `one`.

    printed: the factor n, as in the paper, instead of the least factor that makes the lead sufficient.
    """
    shares = (1, setting.n) if printed else split_scale(setting.gap)
    head = read_nearest(name, *before(offset), reads, shares)
    return replace(head, needs=(ONE, POSITION))  # the square of k − s follows from that of k


def read_nearest(
    name: str,
    wanted: Affine,
    wanted_squared: Affine,
    reads: Mapping[str, Affine],
    shares: tuple[int, int],
    source: str = "Lemma C.13",
) -> Head:
    """Wires register := form at the position nearest to the wanted one. shares: as of `nearest_key`."""
    components, needs = nearest_key(wanted, wanted_squared, shares), (ONE, POSITION, is_square(wanted_squared, wanted))
    lookup = Lookup(prefer=nearest_to(reg("position"), wanted, shares[0] * shares[1]))
    return Head(name, components, reads, source, needs, lookup)


def before(offset: int) -> tuple[Affine, Affine]:
    """Returns k − offset and its square, over the registers of the query's position k."""
    k, one = reg("position"), reg("one")
    return k - offset * one, reg(squared("position")) - 2 * offset * k + offset * offset * one


def position_square_precision(n: int, length: int) -> int:
    """Returns the least p at which the registers and scaled key and query entries of heads on positions fit, −G·k² among them."""
    square = 2 * length.bit_length()

    def room(gap: int) -> int:
        return max(n.bit_length(), log2(split_scale(gap)[1]) + square + 1)

    return least_odd_precision(lambda q: room(least_gap(q, length)), room(smallest_gap(length)))


def part(offset: int) -> Part:
    """Returns the lemma for s = offset.

    At k = 1 the winner is k' = 1 with the score −G·s², which must not saturate: it needs room, as the registers do.
    """

    def plan(setting: Setting, printed: bool) -> Sequence[BlockPlan]:
        before = BlockPlan((), (constant("1", {"one": 1}), square(reg("position"), squared("position"))))
        return [before, BlockPlan((copy("copy", offset, {"out": reg("x")}, setting, printed=printed),), ())]

    def oracle(setting: Setting, columns: Columns) -> Expected:
        x = columns["x"]
        return {"out": [x[max(k - offset, 0)] for k in range(len(x))]}

    def least(n: int, length: int) -> int:
        winner = least_odd_precision(lambda q: (least_gap(q, length) * (offset**2 + 1)).bit_length())
        return max(winner, position_square_precision(n, max(length, offset)))

    return Part(
        id="C.13",
        name="copy",
        source="Lemmas C.7 and C.13",
        statement="One head copies a register from s positions before.",
        plan=plan,
        contract=lambda setting: Contract(
            {"x": Integer(-setting.n, setting.n)}, {"out": Integer(-setting.n, setting.n)}, {"x": Fraction(0)}
        ),
        oracle=oracle,
        least_precision=least,
    )


PART = replace(part(2), least_precision=position_square_precision)  # where s is 2, the registers' room is enough
