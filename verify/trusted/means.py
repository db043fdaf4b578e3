"""Reads the mean of several keys of largest score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from verify.trusted.abstract_state import POSITION, Domain, Integer, Share, State
from verify.trusted.candidates import Candidate
from verify.trusted.keys import Reading
from verify.trusted.model import text_of, whole
from verify.trusted.numbers import down, up
from verify.trusted.polynomials import ONE, Polynomial, atom, names_of, plus
from verify.trusted.rejection import reject
from verify.trusted.winners import find_winners


def read_mean(reading: Reading, floor: Any, sure: Any) -> list[State]:
    """Reads several keys of largest score."""
    winners, lost = find_winners(reading, floor, None)
    return [mean(reading, winners.parts, sure, everybody=not lost)]


def mean(reading: Reading, winners: Sequence[Candidate], sure: Any, *, everybody: bool) -> State:
    """Returns what several winners give, each with the weight ROUND(1/m): 0 of zeros; 1 of one key that surely wins; or a sum.

    sure: sets of classes, none in two; each text has one of each set before the query, and it wins: so m is as large as
    there are sets. It is no more than there are such keys, or positions from the first to the last. A sum of whole numbers
    from low to high is from m·low to m·high, and no multiple of a share is rounded; partial sums lie between 0 and it, or
    between these ends. everybody: no key loses.
    """
    keys, query, where = reading.keys, reading.query, reading.where
    top = max(c.upper for c in winners)
    alike = all(c.lower == top for c in winners)
    by_key = {c.key: c for c in winners}
    surely: list[frozenset[int | None]] = []
    for group in sure:
        some: frozenset[int | None] = frozenset(map(whole, group))
        if any(some & other for other in surely) or not keys.is_sure(query.kind, some):  # type: ignore[arg-type]
            reject(f"{where}: a text may have none of these keys")
        if any(key not in by_key or not by_key[key].whole or by_key[key].lower != top for key in some):
            reject(f"{where}: a key that is said to win surely may not")
        surely.append(some)
    if None in by_key and by_key[None].whole and by_key[None].lower == top:
        surely.append(frozenset([None]))
    most = reading.most(winners)
    total, share = query.fresh("m"), query.fresh("r")  # other letters, other names
    values: list[Polynomial] = []
    box: dict[str, Domain] = {**query.box, total: Integer(max(len(surely), 1), most), share: Share(total, 0)}
    if alike and everybody:
        box[share] = Share(POSITION, 0)
    count = atom(POSITION if alike and everybody else total)
    limits: list[tuple[Polynomial, int, int]] = []
    for j in reading.width:
        some_parts = [c for c in winners if c.value(j)]
        if not some_parts:
            values.append({})
            continue
        if (same := next((i for i in range(j) if all(c.value(i) == c.value(j) for c in winners)), None)) is not None:
            values.append(values[same])
            continue
        if not alike:
            reject(f"{where}: keys with different scores may win together")
        read = frozenset(c.key for c in some_parts)
        places = {text_of(c.place) for c in some_parts}
        one_key = len(read) == 1 or (len(places) == 1 and not names_of(some_parts[0].place))
        if read in surely and one_key and all(keys.multiplicity(c) == 1 and c.value(j) == ONE for c in some_parts):
            values.append(atom(share))
            continue
        if not all(c.joint.is_whole(c.value(j)) for c in winners):
            reject(f"{where}: values that are no whole numbers have a mean")
        bounds = [c.joint.bounds(c.value(j)) for c in winners]
        ends = [end for low, high in bounds for end in (up(low), down(high))]
        name = replace(query, box=box).fresh("s")
        box[name] = Integer(min(*ends, 0) * most, max(*ends, 0) * most)
        limits.append((atom(name), min(ends), max(ends)))
        values.append({tuple(sorted((name, share))): 1})
    is_summed = not keys.machine.fused and any(values)
    if is_summed and (most > keys.machine.format.largest or any(c.noise for c in winners)):
        reject(f"{where}: the sum of weights may be rounded")
    state: State | None = replace(query, box=box)
    for summed, low, high in limits:
        state = state and state.restrict(plus(summed, count, -low), 0, None)
        state = state and state.restrict(plus(summed, count, -high), None, 0)
    if state is None:
        reject(f"{where}: a sum that no whole number is")
    for value in values:
        state, _ = state.round(value, where)
    return reading.part(state, values)
