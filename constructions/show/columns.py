"""What a run says of its softmax columns: those that took the slow way, for want of a certificate."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.places import name_part, name_place
from constructions.show import cli
from constructions.wiring.wired import Wired

MOST_HEADS = 3  # that the line names


def report_columns(wired: Wired, uncertified: Mapping[tuple[int, int], int]) -> None:
    """Writes one line on stderr, if there are any: how many, and of which heads, the most first. uncertified: as in `Decoded`."""
    if not uncertified:
        return
    heads = sorted(uncertified, key=lambda place: (-uncertified[place], place))
    named = [f"{uncertified[place]:,} of {_name(wired, *place)}" for place in heads[:MOST_HEADS]]
    if len(heads) > MOST_HEADS:
        named.append(f"{sum(uncertified[place] for place in heads[MOST_HEADS:]):,} of other heads")
    cli.say(f"softmax columns without a certificate, computed one by one: {', '.join(named)}")


def _name(wired: Wired, block: int, head: int) -> str:
    return name_place(block, name_part("head", head + 1, wired.blocks[block - 1].heads[head].name))
