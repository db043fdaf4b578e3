"""Makes a refutation that a small checker reads of what a SAT solver says on its way.

A solver names the clauses that it learns, but not why they follow. `Refutation.lines` finds that out by unit propagation, drops the
clauses that the end does not need, and writes the rest as LRAT. Nothing here is trusted: `verify/trusted/sat.py` checks the lines.
Source: M. Heule, W. Hunt and N. Wetzler, Trimming while checking clausal proofs, 2013, for what is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

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

    def lines(self) -> Iterator[str]:
        """Yields the steps in LRAT. Raises ValueError if propagation does not show a clause."""
        from circuits.propagation import propagate  # machine code, for those who ask for a proof

        lengths = np.array([len(clause) for clause in self.clauses], dtype=np.int64)
        ends = np.cumsum(lengths)
        literals = np.fromiter((x for clause in self.clauses for x in clause), dtype=np.int32, count=int(ends[-1]))
        coded = 2 * np.abs(literals) + (literals < 0)
        failed, reasons, firsts = propagate(
            coded.astype(np.int32), ends - lengths, ends, np.array(self.events, dtype=np.int64)
        )
        if failed:
            raise ValueError(f"propagation does not show clause {failed}: {self.clauses[failed]}")

        def hints_of(number: int) -> Collection[int]:
            return self.hints.get(number) or reasons[firsts[number, 0] : firsts[number, 1]].tolist()

        last = len(self.clauses) - 1
        needed = {last}
        for number in range(last, self.given - 1, -1):
            if number in needed:
                needed.update(hints_of(number))
        for number in range(self.given, last + 1):
            if number in needed:
                yield " ".join(map(str, (number, *self.clauses[number], 0, *hints_of(number), 0)))
