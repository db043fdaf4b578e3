"""What is seen of all n of a part: inequalities, each looked at once for all the cases that the part is split into."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from verify.algebra.quotients import Interned, Unanswered, interned, inverse, value_at
from verify.trusted import growth
from verify.trusted.growth import Box, Polynomial, by_power, plus, times
from verify.trusted.kernel import Rejected

Shown: TypeAlias = tuple[
    Interned, str, int | None, Interned
]  # the number of an answer and a factor, where it follows so
NOTHING = interned({})
FEW_BITS = 2048  # of a number that is looked at before an inequality is


@dataclass(eq=False)
class Node:
    """A part of all n. looked_at: what is shown of each inequality, None if it is not seen. split: at what, into two parts."""

    box: Box
    looked_at: dict[tuple[Interned, str], Shown | None] = field(default_factory=dict)
    split: Any = None
    parts: Sequence[Node] = ()

    def inequality(self, polynomial: Interned, relation: str) -> Shown | None:
        """Returns the inequality, with the earlier answer that it follows from, if one is needed; None if it is not shown."""
        question = polynomial, relation
        if question not in self.looked_at:
            self.looked_at[question] = None
            with suppress(Rejected):
                self.looked_at[question] = self._look(polynomial, relation)
        return self.looked_at[question]

    def _look(self, polynomial: Interned, relation: str) -> Shown | None:
        if not self._is_false_somewhere(polynomial, relation) and self.box.shows(polynomial, relation):
            return polynomial, relation, None, NOTHING
        own = by_power(polynomial, "n") if self.box.answers else []
        for i, (answer, parts) in enumerate(zip(self.box.answers, self._by_power, strict=True)):
            if 2 < len(parts) == len(own) and len(parts[-1]) == 1:  # another one tells no more than the ends of the box
                factor = times(own[-1], inverse(parts[-1]))
                rest = plus(polynomial, times(factor, answer), -1)
                if self.box.shows(factor, ">=") and self.box.shows(rest, relation):
                    return polynomial, relation, i, interned(factor)
        return None

    @cached_property
    def _by_power(self) -> list[list[Polynomial]]:
        """The answers, by powers of n."""
        return [by_power(answer, "n") for answer in self.box.answers]

    def _is_false_somewhere(self, polynomial: Polynomial, relation: str) -> bool:
        """Tries one n of the box. Most relations that are not shown fail there, which is seen at once."""
        if self._somewhere is None:
            return False
        names = growth.names_of(polynomial) - growth.SYMBOLS
        value = value_at(polynomial, self._somewhere | dict.fromkeys(names, 0))
        return value < 0 or (not value and relation == ">")

    @cached_property
    def _somewhere(self) -> dict[str, int] | None:
        """The symbols at one n of the box, of few bits, if there is one in the middle."""
        of = {"v": self.box.start, "V": 1 << self.box.start}
        for name, power in (("B", "E"), ("n", "")):
            low, high = (value_at(end, of) for end in self.box.ends[name])
            of[name] = middle = (math.ceil(low) + math.floor(high)) // 2
            if middle < low or middle > high or not 0 <= of["B"] <= FEW_BITS:
                return None
            if power:
                of[power] = 1 << of[name]
        return of

    def divided(self, split: Any) -> Sequence[Node]:
        """Returns its two parts. Raises Unanswered if it was split in another way, Rejected if the split is none."""
        if not self.parts or self.split != split:  # a split that was rejected before is rejected again
            boxes = growth.by_exponent(self.box) if split == "v" else growth.parts_of(self.box, split)
            if self.parts:
                raise Unanswered("what is asked again is not what was asked before")
            self.split, self.parts = split, [Node(box) for box in boxes]
        return self.parts
