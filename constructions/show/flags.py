"""Flags of a run for people: what happened, where, and what that place is called."""

from __future__ import annotations

import re

from constructions.engines.reference import Flags, FlagSite
from constructions.places import ATTENTION, FEED_FORWARD, RECURRENCE, name_part, name_place
from constructions.wiring.wired import Wired

_SUBLAYERS = {"attn": ATTENTION, "state": RECURRENCE, "recurrence": RECURRENCE, "ffn": FEED_FORWARD}
_OF_REGISTERS = ("embedding", "attn.out", "attn.residual", "state", "recurrence.residual", "ffn.down", "ffn.residual")
_INDEXED = re.compile(r"(?P<place>[a-z.0-9]+)\[(?P<index>\d+)\]")


def flag_documents(flags: Flags | None, wired: Wired) -> list[dict[str, object]]:
    """Flags as JSON: what, how often, where first, and what the place is called. An engine that records none says so.

    layer: the block, from 1. place: that block and the part of it, for people. site: the operator, as in names of tensors: its
    indices count from 0. register, part: names, None where there is none.
    """
    if flags is None:
        unknown = dict.fromkeys(("layer", "position", "count", "place", "site", "register", "part"))
        return [{"kind": "not recorded", **unknown}]
    documents: list[dict[str, object]] = []
    for site, count in flags.counts.items():
        register, name, where = name_site(site, wired)
        documents.append(
            {
                "kind": site.kind,
                "layer": site.block,
                "position": flags.first_position[site],
                "count": count,
                "place": where,
                "site": site.site,
                "register": register,
                "part": name,
            }
        )
    return documents


def name_site(site: FlagSite, wired: Wired) -> tuple[str | None, str | None, str]:
    """Returns the register, the head or gadget, and the place, of a flag's site such as "ffn.residual[7]"."""
    match = _INDEXED.fullmatch(site.site)
    operator, index = (match["place"], int(match["index"])) if match else (site.site, None)
    plan = wired.blocks[site.block - 1] if 1 <= site.block <= len(wired.blocks) else None
    register = wired.registers[index] if index is not None and operator in _OF_REGISTERS else None
    if plan is None:
        return register, None, "embedding" if site.block < 1 else "output"
    kind, *pieces = operator.split(".")
    if register is not None or kind not in ("ffn", "attn"):
        return register, None, name_place(site.block, _SUBLAYERS.get(kind, operator))
    if kind == "ffn" and index is not None:
        name = [gadget.name for gadget in plan.gadgets for _ in gadget.units][index]
        return None, name, name_place(site.block, FEED_FORWARD, name_part("unit", index + 1, name))
    if kind == "attn" and len(pieces) == 2:
        number, what = int(pieces[0]), pieces[1]
        head = plan.heads[number]
        read = list(head.reads)[index] if index is not None and what in ("sum", "value") else None
        return read, head.name, name_place(site.block, name_part("head", number + 1, head.name))
    return None, None, name_place(site.block, _SUBLAYERS[kind])
