"""Reads the key at a position that the query says."""

from __future__ import annotations

from dataclasses import replace

from verify.trusted.abstract_state import BESIDE, POSITION, State
from verify.trusted.candidates import PLACE, SCORE
from verify.trusted.keys import Reading
from verify.trusted.numbers import Number
from verify.trusted.polynomials import Polynomial, atom, names_of, plus, times
from verify.trusted.rejection import reject


def read_position(reading: Reading, f: Polynomial) -> list[State]:
    """Reads the key at position f: scores are −cost·(h − f)² + rest, h the key's position, f and the rest the query's.

    So the key at f wins, if there is one: there is a key at each position up to the query's. If f lies after it, the
    query's own position wins, and if f < 1 the first. Two positions on one side of f, `away` from it at least, differ by
    cost·((away + 1)² − away²) in their scores at least; on both sides only the nearest matters, at f itself, and cost is
    what it leads by. A key after f, where there is one at f, may have any score that is as far below.
    """
    query, where, k = reading.query, reading.where, atom(POSITION)
    if not query.is_form(f) or not query.is_whole(f):
        reject(f"{where}: the position that is looked for is no whole number")
    name, rest = POSITION + BESIDE, dict[tuple[str, ...], Number]()
    cost: Number = 0
    for c in reading.candidates:
        if c.key is not None and (name, name) in c.exact:
            cost = -c.exact[name, name]
            apart = plus(atom(name), f, -1)
            rest = c.joint.fixed(plus(c.exact, times(apart, apart), cost))
            if not names_of(rest) & c.own:
                break
    else:
        reject(f"{where}: no score is that of a distance")
    if cost <= 0:
        reject(f"{where}: a score rises with the distance")
    offset = query.fixed(plus(k, f, -1))
    parts, scores = [], []
    for c in reading.candidates:
        target = c.say(f)
        distance = plus(c.place, target, -1)
        if not c.joint.same(plus(c.say(rest), times(distance, distance), -cost), c.exact):
            exists = c.joint.bounds(target)[0] >= 1 and c.joint.bounds(distance)[0] > 0
            if names_of(rest) or not exists or c.upper > rest.get((), 0) - cost:
                reject(f"{where}: a score is not that of a distance")
            continue
        cases: list[State | None] = []
        if c.key is None:
            cases.append(c.joint.restrict(plus(target, c.place, -1), 0, None))
        elif names_of(offset):
            cases.append(c.joint.restrict(distance, 0, 0))
        elif by := frozenset(b for b in query.before if c.key in reading.keys.back(b, offset.get((), 0) - 1)):
            cases.append(replace(c.joint, before=by).restrict(distance, 0, 0))
        if c.key is not None or query.integer(POSITION).low == 1:
            first = c.joint.restrict(target, None, 0)
            cases.append(first and first.restrict(first.register(PLACE), 1, 1))
        for part in cases:
            if part is not None:
                score = part.fixed(part.register(SCORE))
                scores.append(part.reach(score, part.bounds(score)))
                parts.append(reading.part_of(part))
    away = max(1 - query.bounds(f)[1], query.bounds(plus(f, k, -1))[0], 0)
    noise = 2 * max(c.noise for c in reading.candidates)
    if max(high for _, high in scores) + noise > reading.keys.machine.format.largest:
        reject(f"{where}: the largest score saturates")
    reading.require_lead(cost * (2 * away + 1) - noise, min(low for low, _ in scores) - noise)
    return parts
