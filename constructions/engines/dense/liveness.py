"""Which heads matter only where next tokens are asked for: of what else they read nothing is ever used.

A register is *live* at a position if a later key, value or recurrence may depend on what it holds there, or a logit that is asked
for. At positions that nobody asks about, only keys, values and recurrences count. So a head that writes into registers that are
not live there need not read there: a prompt's tokens prepare what later ones look up, and the heads that look it up are the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constructions.rows import Layer, Row


def heads_asked_alone(layers: Sequence[Layer]) -> frozenset[tuple[int, int]]:
    """Returns the heads that matter only at the positions that are asked about: the block from 1, the head's number from 0.

    Derivation: from the last layer back to the first. After it no register is live. A register that is live after a sublayer is
    live before it, and so is what the units and the heads read that write into one. All keys and values of a head are live, as
    any position that is asked about may read them; a state is made of all registers of all positions before.
    """
    alone: set[tuple[int, int]] = set()
    live: set[int] = set()
    for block, layer in reversed(list(enumerate(layers, start=1))):
        feed = layer.feed_forward
        units = {feed.units[i] for register, row, _ in feed.down if register in live for i, _ in row}
        live |= _read_by(row for unit in units for row in (unit.gate, unit.up))
        owners = [number for number, head in enumerate(layer.heads) for _ in head.value]
        writers = {owners[i] for register, row in layer.out if register in live for i, _ in row}
        for number, head in enumerate(layer.heads):
            live |= _read_by((*head.key, *head.value))
            if number in writers:
                live |= _read_by(head.query)
            else:
                alone.add((block, number))
        if layer.recurrence is not None:
            live |= _read_by(row for _, row in layer.recurrence.feed)
    return frozenset(alone)


def _read_by(rows: Iterable[Row]) -> set[int]:
    """Returns the coordinates that stand in rows."""
    return {coordinate for row in rows for coordinate, _ in row}
