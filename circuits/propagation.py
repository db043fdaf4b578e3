"""Finds which clauses show another one, by unit propagation with watched literals in machine code.

Source: M. Moskewicz et al., Chaff: Engineering an Efficient SAT Solver, 2001; M. Heule, W. Hunt and N. Wetzler, Trimming while
checking clausal proofs, 2013, for what is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numba import njit  # type: ignore[import-not-found,import-untyped,unused-ignore]

from circuits.refutation import FORGET, SHOW, Refutation

Ints = Any  # arrays of int32 or int64


def lrat_lines(refutation: Refutation) -> Iterator[str]:
    """Yields the steps that the last clause needs, in LRAT. Raises ValueError if propagation does not show a clause."""
    clauses = refutation.clauses
    lengths = np.array([len(clause) for clause in clauses], dtype=np.int64)
    ends = np.cumsum(lengths)
    literals = np.fromiter((x for clause in clauses for x in clause), dtype=np.int32, count=int(ends[-1]))
    coded = (2 * np.abs(literals) + (literals < 0)).astype(np.int32)
    size = 2 * int(np.abs(literals).max(initial=0)) + 2  # found here, as numba takes seconds to compile a maximum
    failed, reasons, firsts = propagate(coded, size, ends - lengths, ends, np.array(refutation.events, dtype=np.int64))
    if failed:
        raise ValueError(f"propagation does not show clause {failed}: {clauses[failed]}")

    def hints_of(number: int) -> Collection[int]:
        return refutation.hints.get(number) or reasons[firsts[number, 0] : firsts[number, 1]].tolist()

    last = len(clauses) - 1
    needed = {last}
    for number in range(last, refutation.given - 1, -1):
        if number in needed:
            needed.update(hints_of(number))
    for number in range(refutation.given, last + 1):
        if number in needed:
            yield " ".join(map(str, (number, *clauses[number], 0, *hints_of(number), 0)))


@njit(cache=True)  # type: ignore[misc,untyped-decorator,unused-ignore]
def propagate(
    literals: Ints, size: int, starts: Ints, ends: Ints, events: Ints
) -> Any:  # pragma: no cover - machine code
    """Returns the first clause that propagation does not show, or 0; the hints of all; where those of each clause begin and end.

    An event is USE, SHOW or FORGET with the number of a clause. Literals are 2 x for a variable and 2 x + 1 for its negation, all
    less than `size`; those of a clause are moved about. Each clause is *watched* at its first two literals. `heads` and `nexts` are
    lists of watches, by literal; a watch is 2 c or 2 c + 1 for the clause c.
    """
    value = np.zeros(size, np.int8)  # by literal: 1 if it is true, −1 if it is false
    reason = np.zeros(size // 2, np.int32)  # by variable
    marked = np.zeros(size // 2, np.int8)
    heads = np.full(size, -1, np.int64)
    nexts = np.full(2 * len(starts), -1, np.int64)
    idle = np.zeros(len(starts), np.int8)
    trail = np.zeros(size, np.int32)
    firsts = np.zeros((len(starts), 2), np.int64)
    hints = np.zeros(1 << 16, np.int32)
    count, length, done, root_conflict = 0, 0, 0, 0
    for event in range(len(events)):
        code, number = events[event, 0], events[event, 1]
        start, end = starts[number], ends[number]
        if code == FORGET:
            idle[number] = 1
            continue
        phases = 2 if code == SHOW else 1
        for phase in range(phases):
            conflict = root_conflict
            root = length
            if phase + 1 < phases:  # its literals are false
                for i in range(start, end):
                    x = literals[i]
                    if value[x] == 0:
                        value[x], value[x ^ 1] = -1, 1
                        reason[x >> 1] = 0
                        trail[length] = x ^ 1
                        length += 1
                    elif value[x] == 1 and not conflict:
                        conflict = reason[x >> 1]
            else:  # it holds from here on
                slot = start
                for i in range(start, end):
                    if value[literals[i]] >= 0 and slot < start + 2:
                        literals[slot], literals[i] = literals[i], literals[slot]
                        slot += 1
                if slot == start:
                    root_conflict = root_conflict or number
                elif slot == start + 1 and value[literals[start]] == 0:
                    x = literals[start]
                    value[x], value[x ^ 1] = 1, -1
                    reason[x >> 1] = number
                    trail[length] = x
                    length += 1
                if end - start > 1:
                    for k in range(2):
                        nexts[2 * number + k] = heads[literals[start + k]]
                        heads[literals[start + k]] = 2 * number + k
            while done < length and not conflict:
                false = trail[done] ^ 1
                done += 1
                before, watch = -1, heads[false]
                while watch >= 0:
                    following, clause, k = nexts[watch], watch >> 1, watch & 1
                    first = starts[clause]
                    other = literals[first + 1 - k]
                    moved = idle[clause] == 1
                    if not moved and value[other] != 1:
                        for j in range(first + 2, ends[clause]):
                            if value[literals[j]] >= 0:
                                new = literals[j]
                                literals[first + k], literals[j] = new, false
                                nexts[watch] = heads[new]
                                heads[new] = watch
                                moved = True
                                break
                        if not moved:
                            if value[other] == -1:
                                conflict = clause
                                break
                            value[other], value[other ^ 1] = 1, -1
                            reason[other >> 1] = clause
                            trail[length] = other
                            length += 1
                    if not moved:
                        before = watch
                    elif before >= 0:
                        nexts[before] = following
                    else:
                        heads[false] = following
                    watch = following
            if phase + 1 == phases:
                if conflict and not root_conflict:
                    root_conflict = conflict
                continue
            if not conflict:
                return number, hints, firsts
            for i in range(start, end):
                marked[literals[i] >> 1] = 2  # false by supposition, whatever else shows it
            begun = count
            if count + length + 2 > len(hints):
                hints = np.concatenate((hints, np.zeros(len(hints) + length, np.int32)))
            hints[count] = conflict
            count += 1
            for j in range(starts[conflict], ends[conflict]):
                if marked[literals[j] >> 1] == 0:
                    marked[literals[j] >> 1] = 1
            for place in range(length - 1, -1, -1):
                x = trail[place]
                if marked[x >> 1] == 1:
                    marked[x >> 1] = 0
                    hints[count] = reason[x >> 1]
                    count += 1
                    for j in range(starts[reason[x >> 1]], ends[reason[x >> 1]]):
                        y = literals[j] >> 1
                        if y != x >> 1 and marked[y] == 0:
                            marked[y] = 1
            for i in range(start, end):
                marked[literals[i] >> 1] = 0
            hints[begun:count] = hints[begun:count][::-1].copy()
            firsts[number, 0], firsts[number, 1] = begun, count
            for place in range(root, length):
                value[trail[place]], value[trail[place] ^ 1] = 0, 0
            length, done = root, root
    return 0, hints, firsts
