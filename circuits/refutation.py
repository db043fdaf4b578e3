"""Makes a refutation that a small checker reads of what a SAT solver says on its way.

A solver names the clauses that it learns, but not why they follow. circuits/propagation.py finds that out, drops the clauses that
the end does not need, and writes the rest as LRAT. Nothing here is trusted: `verify/trusted/sat.py` checks the lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

USE, SHOW, FORGET = 0, 1, 2  # a clause may be propagated; is to be shown, and may be from then on; may no more


class Refutation:
    """Clauses in the order in which they were stated. The first ones are given, the others follow from those before them.

    A clause is known by its number, from 1 on.
    """

    def __init__(self, given: Iterable[Sequence[int]]) -> None:
        self.clauses: list[Sequence[int]] = [(), *given]
        self.given = len(self.clauses)
        self.hints: dict[int, Collection[int]] = {}
        self.events: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, ...], list[int]] = {}  # of the solver's clauses

    def use(self, number: int) -> None:
        """Lets propagation use a clause that is given, or that has hints."""
        self.events.append((USE, number))

    def forget(self, number: int) -> None:
        """Keeps a clause out of propagation from here on."""
        self.events.append((FORGET, number))

    def state(self, clause: Sequence[int], hints: Collection[int] = ()) -> int:
        """Returns the number of a new clause. hints: clauses that show it one after the other; if none, propagation must."""
        number = len(self.clauses)
        self.clauses.append(clause)
        if hints:
            self.hints[number] = hints
        self.events.append((USE if hints else SHOW, number))
        return number

    def read(self, text: str) -> None:
        """Takes what a solver wrote: a line `1 -2 0` for a clause that it learned, `d 1 -2 0` for one that it forgot.

        An empty clause only says that the assumptions cannot be, so it is left out.
        """
        for line in text.splitlines():
            forgotten = line.startswith("d")
            clause = tuple(map(int, line[forgotten:].split()[:-1]))
            same = tuple(sorted(clause))
            if not forgotten and clause:
                self._numbers.setdefault(same, []).append(self.state(clause))
            elif forgotten and self._numbers.get(same):
                self.forget(self._numbers[same].pop())
