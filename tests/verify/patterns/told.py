"""What is kept of a text if the number is known that is counted with, in place of each that there may be."""

from __future__ import annotations

from collections.abc import Sequence

from verify.patterns.readings import KeptText, TermReading, Word
from verify.patterns.tally import NEAR


def seen_behind(reading: TermReading, words: Sequence[Word], number: int) -> KeptText:
    """What is kept of the text if this is the number that is compared with how much has been counted."""
    (seen,) = (KeptText(tally=tally) for tally in reading.before if tally.left == min(number, NEAR))
    for said in words:
        each = reading.further(seen, said)
        number -= each[0].tally.fresh
        (seen,) = (after for after in each if after.tally.left == max(-NEAR, min(number, NEAR)))
    return seen
