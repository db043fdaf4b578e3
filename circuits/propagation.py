"""Finds which clauses show another one, by unit propagation with watched literals in machine code.

Source: M. Moskewicz et al., Chaff: Engineering an Efficient SAT Solver, 2001; M. Heule, W. Hunt and N. Wetzler, Trimming while
checking clausal proofs, 2013, for what is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

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


class Solver(NamedTuple):
    """Holds what is true, and why. Literals are 2 x for a variable and 2 x + 1 for its negation; those of a clause are moved about.

    Each clause that is not idle is *watched* at its first two literals. heads, nexts: lists of watches, by literal; a watch is 2 c
    or 2 c + 1 for the clause c. value: by literal, 1 if it is true, −1 if it is false. reason: by variable, the clause that decides
    it. trail: the true literals in order.
    """

    literals: Ints
    starts: Ints
    ends: Ints
    idle: Ints
    heads: Ints
    nexts: Ints
    value: Ints
    reason: Ints
    trail: Ints


def compiled(function: Any) -> Any:
    """Compiles a function to machine code, which is kept in the user's cache."""
    return njit(cache=True)(function)


@compiled
def propagate(
    literals: Ints, size: int, starts: Ints, ends: Ints, events: Ints
) -> Any:  # pragma: no cover - machine code
    """Returns the first clause that propagation does not show, or 0; the hints of all; where those of each clause begin and end.

    An event is USE, SHOW or FORGET with the number of a clause. All literals are less than `size`.
    """
    idle, heads, nexts = (
        np.zeros(len(starts), np.int8),
        np.full(size, -1, np.int64),
        np.full(2 * len(starts), -1, np.int64),
    )
    value, reason, trail = np.zeros(size, np.int8), np.zeros(size // 2, np.int32), np.zeros(size, np.int32)
    solver = Solver(literals, starts, ends, idle, heads, nexts, value, reason, trail)
    marked = np.zeros(size // 2, np.int8)
    firsts = np.zeros((len(starts), 2), np.int64)
    hints = np.zeros(1 << 16, np.int32)
    count, root, root_conflict = 0, 0, 0  # root: so many literals are true for good
    for event in range(len(events)):
        code, number = events[event, 0], events[event, 1]
        if code == FORGET:
            idle[number] = 1
            continue
        if code == SHOW:
            conflict, length = suppose_false(solver, number, root, root_conflict)
            if not conflict:
                conflict, length = follow(solver, root, length)
            if not conflict:
                return number, hints, firsts
            if count + length + 2 > len(hints):
                longer = np.zeros(2 * len(hints) + length, np.int32)
                for i in range(count):
                    longer[i] = hints[i]
                hints = longer
            firsts[number, 0] = count
            count = explain(solver, conflict, number, length, marked, hints, count)
            firsts[number, 1] = count
            for x in trail[root:length]:
                value[x], value[x ^ 1] = 0, 0
        done, first = root, starts[number]
        free = watch(solver, number)
        if free == 0:
            root_conflict = root_conflict or number
        elif free == 1 and value[literals[first]] == 0:
            root = assign(solver, literals[first], number, root)
        if not root_conflict:
            root_conflict, root = follow(solver, done, root)
    return 0, hints, firsts


@compiled
def assign(solver: Solver, x: int, why: int, length: int) -> Any:  # pragma: no cover - machine code
    """Makes a literal true, because of the clause `why`. Returns the new length of the trail."""
    solver.value[x], solver.value[x ^ 1] = 1, -1
    solver.reason[x >> 1] = why
    solver.trail[length] = x
    return length + 1


@compiled
def suppose_false(solver: Solver, number: int, length: int, conflict: int) -> Any:  # pragma: no cover - machine code
    """Makes a clause's literals false. Returns the reason of one that is true already, or `conflict`, and the trail's length."""
    for x in solver.literals[solver.starts[number] : solver.ends[number]]:
        if solver.value[x] == 0:
            length = assign(solver, x ^ 1, 0, length)
        elif solver.value[x] == 1 and not conflict:
            conflict = solver.reason[x >> 1]
    return conflict, length


@compiled
def watch(solver: Solver, number: int) -> Any:  # pragma: no cover - machine code
    """Watches a clause, at literals that are not false if it has such. Returns how many of the two are not false."""
    literals, start, end = solver.literals, solver.starts[number], solver.ends[number]
    slot = start
    for i in range(start, end):
        if solver.value[literals[i]] >= 0 and slot < start + 2:
            literals[slot], literals[i] = literals[i], literals[slot]
            slot += 1
    if end - start > 1:
        for k in range(2):
            solver.nexts[2 * number + k] = solver.heads[literals[start + k]]
            solver.heads[literals[start + k]] = 2 * number + k
    return slot - start


@compiled
def follow(solver: Solver, done: int, length: int) -> Any:  # pragma: no cover - machine code
    """Propagates the trail from `done` on. Returns a clause whose literals are all false, or 0, and the new length of the trail."""
    literals, value, heads, nexts = solver.literals, solver.value, solver.heads, solver.nexts
    while done < length:
        false = solver.trail[done] ^ 1
        done += 1
        before, watch = -1, heads[false]
        while watch >= 0:
            following, clause, k = nexts[watch], watch >> 1, watch & 1
            first = solver.starts[clause]
            other = literals[first + 1 - k]
            moved = solver.idle[clause] == 1
            if not moved and value[other] != 1:
                for j in range(first + 2, solver.ends[clause]):
                    if value[literals[j]] >= 0:
                        new = literals[j]
                        literals[first + k], literals[j] = new, false
                        nexts[watch] = heads[new]
                        heads[new] = watch
                        moved = True
                        break
                if not moved:
                    if value[other] == -1:
                        return clause, length
                    length = assign(solver, other, clause, length)
            if not moved:
                before = watch
            elif before >= 0:
                nexts[before] = following
            else:
                heads[false] = following
            watch = following
    return 0, length


@compiled
def explain(
    solver: Solver, conflict: int, number: int, length: int, marked: Ints, hints: Ints, count: int
) -> Any:  # pragma: no cover - machine code
    """Writes the clauses that lead to a conflict as hints, in the order of propagation. Returns how many hints there are now."""
    literals, starts, ends, begin = solver.literals, solver.starts, solver.ends, count
    for x in literals[starts[number] : ends[number]]:
        marked[x >> 1] = 2  # false by supposition, whatever else shows it
    hints[count] = conflict
    count += 1
    for x in literals[starts[conflict] : ends[conflict]]:
        if marked[x >> 1] == 0:
            marked[x >> 1] = 1
    for true in solver.trail[:length][::-1]:
        if marked[true >> 1] == 1:
            marked[true >> 1] = 0
            why = solver.reason[true >> 1]
            hints[count] = why
            count += 1
            for x in literals[starts[why] : ends[why]]:
                if x >> 1 != true >> 1 and marked[x >> 1] == 0:
                    marked[x >> 1] = 1
    for x in literals[starts[number] : ends[number]]:
        marked[x >> 1] = 0
    hints[begin:count] = hints[begin:count][::-1].copy()
    return count
