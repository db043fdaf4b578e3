"""What the keys of a head have in common so far: a guess that the index then checks at every key (see incremental_index.py).

Registers that are the same at all keys but a few are flat. Of the others, one is the square of another, whose coefficient in the
present query is negative, or one may be left over as the linear preference. A wrong guess costs time, never a bit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from constructions.engines.incremental import fields

Array = Any


@dataclass
class Structure:
    """exceptions: how many keys differ, for each flat register. specials: the special keys, in order. ordinary: a key that is not.

    matching: (root, square). preference: its kind, root and square; loose: whether its square may be a quantum off.
    """

    ordinary: int
    exceptions: dict[int, int] = field(default_factory=dict)
    specials: list[int] = field(default_factory=list)
    matching: list[tuple[int, int]] = field(default_factory=list)
    preference: tuple[int, int, int] = (fields.NO_PREFERENCE, 0, 0)
    loose: bool = False


class Keys:
    """What the search asks of the keys. Shapes: registers (keys, used, limbs), uint64."""

    def __init__(self, registers: Array, coefficients: list[int], inexact: list[int], fits: Any) -> None:
        self.registers, self.coefficients, self.inexact, self.fits = registers, coefficients, inexact, fits

    @property
    def number(self) -> int:
        """How many keys there are."""
        return len(self.registers)

    def common(self, register: int) -> int:
        """A key with the value of all keys but MOST_EXCEPTIONS, if there is one: then most of any twice as many and one have it."""
        places = np.linspace(0, self.number - 1, min(self.number, 2 * fields.MOST_EXCEPTIONS + 1)).astype(np.int64)
        values = [value.tobytes() for value in self.registers[places, register]]
        ((value, _),) = Counter(values).most_common(1)
        return int(places[values.index(value)])

    def differing(self, register: int, key: int) -> list[int]:
        """The keys whose register differs from that of `key`."""
        column = self.registers[:, register]
        keys: list[int] = np.flatnonzero(np.any(column != column[key], axis=1)).tolist()
        return keys

    def rises(self, register: int, places: Array) -> bool:
        """Whether the register rises from each of these keys to the next."""
        column = self.registers[places, register]
        limbs = [
            column[:, i].astype(np.int64) if i == column.shape[1] - 1 else column[:, i] for i in range(column.shape[1])
        ]
        above = np.zeros(max(0, len(column) - 1), bool)
        for limb in limbs:
            above = np.where(limb[1:] == limb[:-1], above, limb[1:] > limb[:-1])
        return bool(np.all(above))

    def granularity(self, register: int, places: Array) -> int:
        """The power of two, in quanta, that all values are multiples of."""
        common = np.bitwise_or.reduce(self.registers[places, register], axis=0)
        value = int.from_bytes(common.tobytes(), "little")
        return value & -value if value else 1


def search(keys: Keys) -> Structure | None:
    """A structure of the keys, or None."""
    length, exceptions = keys.number, dict[int, int]()
    special = set(keys.inexact)
    used = keys.registers.shape[1]
    for register in range(used):
        differing = keys.differing(register, keys.common(register))
        if len(differing) <= fields.MOST_EXCEPTIONS and len(differing) < max(1, length - 1):
            exceptions[register] = len(differing)
            special.update(differing)
    if len(special) > fields.MOST_SPECIAL or len(special) == length:
        return None
    ordinary = next(key for key in range(length) if key not in special)
    structure = Structure(ordinary, exceptions, sorted(special))
    varying = [i for i in range(used) if i not in structure.exceptions]
    roots = _find_roots(keys, structure, varying)
    rest = [i for i in varying if i not in roots and i not in {root for root, _ in roots.values()}]
    places = np.setdiff1d(np.arange(length), structure.specials)
    pairs = [(root, square) for square, (root, _) in roots.items()]
    inexact = [(root, square) for square, (root, fit) in roots.items() if fit == 2]
    if len(rest) > 1 or len(inexact) > 1 - len(rest):
        return None
    preferred = inexact[0] if inexact else None
    if rest:
        structure.preference = (fields.LINEAR, rest[0], rest[0])
    else:
        rising = [pair for pair in pairs if keys.rises(pair[0], places) and len(places) > 1]
        if preferred is None and rising:
            preferred = rising[0]
        elif preferred is None and len(pairs) > 1:
            preferred = min(pairs, key=lambda pair: _mismatch(keys, pair, places))
        if preferred is not None:
            structure.preference = (fields.QUADRATIC, *preferred)
            structure.loose = bool(inexact)
    structure.matching = [pair for pair in pairs if pair != preferred]
    return structure


def _find_roots(keys: Keys, structure: Structure, varying: list[int]) -> dict[int, tuple[int, int]]:
    """square → its root and how well it fits, 1 or 2."""
    roots: dict[int, tuple[int, int]] = {}
    taken: set[int] = set()
    for square in varying:
        if square in taken or keys.coefficients[square] >= 0:
            continue
        fits = [(keys.fits(structure, root, square), root) for root in varying if root != square]
        for fit, root in sorted(pair for pair in fits if pair[0]):
            if root not in taken and root not in roots:
                roots[square] = (root, fit)
                taken.add(root)
                break
    return roots


def _mismatch(keys: Keys, pair: tuple[int, int], places: Array) -> int:
    """What a least mismatch costs, up to a factor that all pairs share."""
    return -keys.coefficients[pair[1]] * keys.granularity(pair[0], places) ** 2
