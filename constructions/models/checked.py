"""What the heads of a wired model need, held against a run of it: a slip in the wiring, by block, head, register and position.

`wire` refuses what can be seen without numbers. A square register that holds no square, a constant that is not 1, a key that is
not 0 at position 1: these take a run, which is one of the reference engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.engines.reference import ReferenceEngine
from constructions.places import name_part, name_place
from constructions.wiring.needs import Need, Registers, value
from constructions.wiring.wired import Wired
from precision.rounding import round_fraction


@dataclass(frozen=True)
class Unmet:
    """A need that a run did not meet. block, number of the head in it, position: from 1."""

    block: int
    number: int
    head: str
    position: int
    need: Need
    found: Fraction
    wanted: Fraction

    def __str__(self) -> str:
        return (
            f"{name_place(self.block, name_part('head', self.number, self.head))} needs {self.need}: "
            f"at position {self.position} it is {self.found}, not {self.wanted}"
        )


def check_run(wired: Wired, tokens: Sequence[int]) -> list[Unmet]:
    """Returns each need of a head that these tokens break, with the first position where they do.

    Only what stands in these tokens is looked at: a run proves no need. Raises BeyondBound.
    """
    first: dict[tuple[int, int, str], Unmet] = {}
    for unmet in _unmet(wired, tokens):
        first.setdefault((unmet.block, unmet.number, str(unmet.need)), unmet)
    return list(first.values())


def _unmet(wired: Wired, tokens: Sequence[int]) -> Iterator[Unmet]:
    # The registers do not depend on words that do not occur, so these are left out.
    used = sorted(set(tokens))
    places = {name: place for place, name in enumerate(wired.registers)}
    model = replace(wired.model, words=wired.model.words[used], unembed=wired.model.unembed[:1])
    engine, fmt = ReferenceEngine(model, wired.arithmetic), wired.arithmetic.format
    quantum = fmt.quantum
    for position, token in enumerate(tokens, start=1):
        step = engine.append(used.index(token))
        for number, block in enumerate(wired.blocks, start=1):
            if not block.heads:
                continue
            registers = Registers(step.registers[2 * (number - 1)], places, quantum)
            for i, head in enumerate(block.heads, start=1):
                for need in head.needs:
                    if not need.holds_at(position):
                        continue
                    actual, expected = value(need.form, registers), value(need.equals, registers)
                    if need.squared:
                        expected = round_fraction(expected * expected, fmt).quanta * quantum
                    if actual != expected:
                        yield Unmet(number, i, head.name, position, need, actual, expected)
