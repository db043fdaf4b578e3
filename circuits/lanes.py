"""Numbers as bits, and many cases side by side: bit j of an integer, a *lane*, belongs to case j.

Source: appendix A.2 for the order of a number's bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def number_bits(quanta: int, precision_bits: int) -> tuple[int, ...]:
    """Returns the p bits of an element of R_p, counted in quanta; 0 is +0. Raises ValueError for a number that is none."""
    digits = precision_bits - 1
    if abs(quanta) >= 1 << digits:
        raise ValueError(f"{quanta} quanta are more than R_{precision_bits} has")
    return (*(abs(quanta) >> i & 1 for i in range(digits - 1, -1, -1)), int(quanta >= 0))


def number_quanta(bits: Sequence[int]) -> int:
    """Returns the element of R_p, in quanta, that these bits are; −0 is 0."""
    magnitude = 0
    for bit in bits[:-1]:
        magnitude = 2 * magnitude + bit
    return magnitude if bits[-1] else -magnitude


def pack(codes: Codes, width: int) -> list[int]:
    """Returns the lanes of these codes of `width` bits, the most significant bit's first; case j is codes[j]."""
    shifts = range(width - 1, -1, -1)
    return [
        int.from_bytes(np.packbits((codes >> i & 1).astype(bool), bitorder="little").tobytes(), "little")
        for i in shifts
    ]


def unpack(lanes: Sequence[int], count: int) -> Codes:
    """Returns the codes of `count` cases, from the lanes of their bits, the most significant first."""
    codes = np.zeros(count, np.int64)
    for lane in lanes:
        raw = np.frombuffer(lane.to_bytes(-(-count // 8), "little"), np.uint8)
        codes = 2 * codes + np.unpackbits(raw, count=count, bitorder="little")
    return codes


def encode(quanta: Codes) -> Codes:
    """Encodes elements of R_p: the bits of `number_bits` read as one number, 2·|x| + 1[x ≥ 0], whatever p is."""
    return 2 * np.abs(quanta) + (quanta >= 0)


def decode(codes: Codes) -> Codes:
    """Returns the elements, in quanta, of codes; −0 is 0."""
    return np.where(codes & 1, codes >> 1, -(codes >> 1))
