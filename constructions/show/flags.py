"""Flags of a run for people: what happened, where, and what that place is called."""

from __future__ import annotations

import re

from constructions.engines.reference import Flags, FlagSite
from constructions.wiring.wired import Wired

_INDEXED = re.compile(r"(?P<place>[a-z.0-9]+)\[(?P<index>\d+)\]")


def flag_documents(flags: Flags | None, wired: Wired) -> list[dict[str, object]]:
    """Flags as JSON: what, how often, where first, and what the place is called. An engine that records none says so."""
    if flags is None:
        unknown = dict.fromkeys(("layer", "position", "count", "site", "register", "part"))
        return [{"kind": "not recorded", **unknown}]
    documents: list[dict[str, object]] = []
    for site, count in flags.counts.items():
        register, part = name_site(site, wired)
        documents.append(
            {
                "kind": site.kind,
                "layer": site.block,
                "position": flags.first_position[site],
                "count": count,
                "site": site.site,
                "register": register,
                "part": part,
            }
        )
    return documents


def name_site(site: FlagSite, wired: Wired) -> tuple[str | None, str | None]:
    """The register, and the head or gadget, that a flag's site such as "ffn.residual[7]" belongs to; None where it has none."""
    found = _INDEXED.fullmatch(site.site)
    place, index = (found["place"], int(found["index"])) if found else (site.site, None)
    plan = wired.blocks[site.block - 1] if 1 <= site.block <= len(wired.blocks) else None
    if index is not None and place in ("embedding", "attn.out", "attn.residual", "ffn.down", "ffn.residual"):
        return wired.registers[index], None
    if plan is None:
        return None, None
    if place in ("ffn.gate", "ffn.up", "ffn.product") and index is not None:
        owners = [gadget.name for gadget in plan.gadgets for _ in gadget.units]
        return None, owners[index]
    pieces = place.split(".")
    if pieces[0] == "attn" and len(pieces) == 3:
        head = plan.heads[int(pieces[1])]
        register = list(head.reads)[index] if index is not None and pieces[2] in ("sum", "value") else None
        return register, head.name
    return None, None
