"""What the parts of a model are called, wherever people read it: by number, from 1, and by name.

Tensors in files are the exception. Their names count from 0: `blocks.5.attn.0.W_Q` is of block 6, head 1.
"""

from __future__ import annotations

FEED_FORWARD, RECURRENCE, ATTENTION = "feed-forward", "recurrence", "attention"


def name_part(kind: str, number: int = 0, name: str = "") -> str:
    """Returns a part of a block: `head 2 (father)`, `linear unit 1 (recent)`, `unit 7`.

    number: from 1, in the order of the block's parts of this kind; 0 for a part without a number. name: "" for one without.
    """
    counted = f"{kind} {number}" if number else kind
    return f"{counted} ({name})" if name else counted


def name_place(block: int, *parts: str) -> str:
    """Returns a block, from 1, or what stands in it: `block 6`, `block 6, head 1 (father)`."""
    return ", ".join([f"block {block}", *parts])
