"""A certified model of which one block is not what it was: the check from that block on, until it goes on as before.

Up to the block nothing is new. Behind it, if the kinds are those of the certified model, so is all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify.certificates.checker import Entry, Report, behind_block, require_output, require_weights
from verify.certificates.domains import Space
from verify.certificates.kinds import Kind
from verify.certificates.language import Language
from verify.certificates.model import Model


def is_same_function(
    model: Model, language: Language, own: Model, certified: Report, block: int, *, at_once: bool = False
) -> bool:
    """Whether the ideal model is that of the certified one. Raises Refused or Undecided as `check` does.

    own, certified: the model of which the weights of this block were changed, and the report on it. at_once: returns at the first
    difference, though some later place may have to be refused.
    """
    require_weights(model, language)
    start = next((i for i in range(block) if _kept(model, i) != _kept(own, i)), block)
    entry, same = certified.entries[start], True
    space = Space(model.arithmetic.format, entry.names)
    kinds = [replace(kind, space=space) for kind in entry.kinds]
    for number in range(start, len(model.layers)):
        if same and number > block and _goes_on(kinds, space, certified.entries[number]):
            return True
        report = Report(model.registers)
        kinds = behind_block(model, language, number, kinds, report)
        before, behind = certified.entries[number : number + 2]
        same = same and report.told == certified.told[before.trace : behind.trace]
        if at_once and not same:
            return False
    require_output(model, kinds)
    return same


def _kept(model: Model, block: int) -> tuple[frozenset[int], frozenset[int]]:
    """The registers that are read behind a block, and by its feed-forward too."""
    return model.live(block), model.live(block, feed_forward=True)


def _goes_on(kinds: Sequence[Kind], space: Space, entry: Entry) -> bool:
    """Whether a check stands where another one stood."""
    return space.given == entry.names and [replace(kind, space=entry.kinds[0].space) for kind in kinds] == entry.kinds
