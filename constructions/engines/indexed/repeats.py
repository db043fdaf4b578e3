"""Positions that agree: what depends on a few registers alone is computed once for all positions with the same values there.

Rows are compared by a number of 64 bits made of their values; that those with equal numbers do agree is then checked, value by
value. The number decides nothing but how long a run takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from constructions.engines.indexed.column import Column
from constructions.engines.indexed.mantissas import Array, Digits
from constructions.engines.indexed.pieces import Pieces

FEWER = 2  # times fewer rows than positions, to be worth it
SAMPLE, LEAST_ALIKE = 1 << 12, 8
_FACTOR = 0x9E3779B97F4A7C15  # odd, and its powers are far from multiples of large powers of two


class Rows(NamedTuple):
    """The different rows. places: a position of each, rising. which: for each position, its row. times: positions of each row."""

    places: Array
    which: Array
    times: Array


def different_rows(registers: Sequence[Pieces], length: int) -> Rows | None:
    """Returns the different rows of these registers, in equal pieces; None if few are alike, or seem to be."""
    pieces = list(zip(*(register.pieces for register in registers), strict=True))
    if not pieces:
        return None
    exponents = [register.e for register in registers]
    if length >= FEWER * SAMPLE:  # of few that are alike, hardly any two are in a sample
        sample = np.arange(0, length, length // SAMPLE)
        different = np.unique(_codes([register.take(sample) for register in registers], exponents))
        if len(sample) - len(different) < LEAST_ALIKE:
            return None
    codes = np.concatenate([_codes(piece, exponents) for piece in pieces])
    bits = (length - 1).bit_length()
    codes >>= np.uint64(bits + 2)
    packed = codes.view(np.int64)
    packed <<= bits
    packed |= np.arange(length)
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    new = np.ones(length, bool)
    np.not_equal(packed[1:], packed[:-1], out=new[1:])
    begins = np.flatnonzero(new)
    if len(begins) * FEWER > length:
        return None
    rank = np.argsort(order[begins])
    places = order[begins][rank]
    number = np.empty(len(begins), np.int64)
    number[rank] = np.arange(len(begins))
    which = np.empty(length, np.int64)
    which[order] = number[np.cumsum(new) - 1]
    if not all(_agrees(register, places, which) for register in registers):
        return None
    return Rows(places, which, np.bincount(which))


def _codes(columns: Iterable[Column], exponents: Sequence[int]) -> Array:
    """Returns a number for each place, the same where all columns are. exponents: what the mantissas are taken for."""
    total, factor = None, 1
    for column, e in zip(columns, exponents, strict=True):
        factor = factor * _FACTOR % (1 << 64)
        if total is None:
            total = np.zeros(len(column), np.uint64)
        if not column.is_zero:
            m = column.m
            for i, row in enumerate(m.rows if isinstance(m, Digits) else (m,)):
                shifted = (factor << (column.e - e)) * (2 * i + 1) % (1 << 64)
                total += row.view(np.uint64) * np.uint64(shifted)
    if total is None:
        raise TypeError("there is no total")
    total ^= total >> np.uint64(32)
    total *= np.uint64(_FACTOR)
    return total


def _agrees(register: Pieces, places: Array, which: Array) -> bool:
    """Returns whether each position holds what is at the place of its row."""
    row, begin = register.take(places), 0
    for piece in register.pieces:
        end = begin + len(piece)
        if not piece.equals(row.take(which[begin:end])).all():
            return False
        begin = end
    return True
