"""Names what the machine code is given: its arguments, the numbers of a format, and a model's operations."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

FLAG_NUMBERS = 4  # of a place


class CellIndex(IntEnum):
    """Where the machine finds its arguments, 64 bits each: addresses of arrays, and numbers."""

    OPERATIONS = 0
    OPERATION_COUNT = auto()
    REGISTERS = auto()
    HEADS = auto()
    STARTS = auto()
    PLACES = auto()
    WEIGHTS = auto()
    BIASES = auto()
    WORDS = auto()
    UNEMBED = auto()
    WORD_COUNT = auto()
    SLOPED = auto()
    SLOPES = auto()
    SLOPE_COUNT = auto()
    WIDTH = auto()
    MEMORY = auto()
    RECORDS = auto()
    RECORD = auto()  # numbers of one
    SCORES = auto()
    COLUMN = auto()
    SHARES = auto()  # of the winners of a column without losers, by their number; then of one with losers
    SHARE_COUNT = auto()  # of each of the two
    LEAD = auto()
    ASK = auto()
    KEPT = auto()
    KEPT_COUNT = auto()  # sublayers
    TOKENS = auto()
    STOPS = auto()
    KNOWN = auto()  # tokens
    FORMAT = auto()  # see `Constant`
    POSITION = auto()  # of the token at hand, from 1
    ROW_FLAGS = auto()  # of each row; see `Flag`
    ADD_FLAGS = auto()  # of each register that ADD reads
    MEMORY_FLAGS = auto()  # of what rows do not compute, by its address; of scores, by that of the query
    LOGIT_FLAGS = auto()  # of the argmax


class Constant(IntEnum):
    """What rounds x·2^shift: x + BEFORE, + 1 where ODD and the last digit that is kept are 1, + NEGATIVE where x < 0; then the
    digits after the point fall. Of twice the bits of a number.
    """

    SHIFT = 0
    BEFORE = auto()
    ODD = auto()
    NEGATIVE = auto()
    TIE = auto()  # digits after the point that are halfway between two elements; −1 if none are
    LARGEST = auto()


class MachineKind(NamedTuple):
    """bits: of a number. fused: the discipline. flags: whether these are counted, as `reference` counts them."""

    bits: int
    fused: bool
    flags: bool


class Flag(IntEnum):
    """Where two kinds of flags are counted among the numbers of a place; after each count stands the first position."""

    SATURATION = 0
    TIE = 2


class OperationCode(IntEnum):
    """ROWS: first row, rows, where to. ADD: first of the registers listed, how many, where from; COPY: from, to, how many.
    PRODUCT: gates, ups, how many; into the gates. HEAD: its number. KEEP: of which sublayer the stream is kept.
    """

    ROWS = 0
    ADD = 1
    COPY = 2
    PRODUCT = 3
    HEAD = 4
    KEEP = 5
