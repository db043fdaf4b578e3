"""Says what heads read, for all texts at once, by the rules of a certificate.

Standard library alone. A query is read by the rule that the certificate names. Each rule has a file of its own: `positions.py`,
`winners.py`, `means.py`, `counts.py`.
"""

from __future__ import annotations

from typing import Any

from verify.trusted.abstract_state import POSITION, State
from verify.trusted.candidates import QUERY, SCORE
from verify.trusted.counts import read_count
from verify.trusted.keys import Keys, Reading
from verify.trusted.means import read_mean
from verify.trusted.model import Head, parse, whole
from verify.trusted.positions import read_position
from verify.trusted.rejection import reject
from verify.trusted.winners import read_one


class Reader(Keys):
    """Reads heads of one block."""

    def read(self, query: State, h: int, head: Head, at: int, guide: Any) -> list[State]:
        """Returns the query in parts, with what the head reads in the registers at, at − 1, …

        h: which head it is, from 0. guide: says by which rule it is read, as `rounding.Guide` does.
        """
        where = f"{self.where}, head {h + 1}"
        origin = query
        for j, row in enumerate(head.query):
            query, value = self.machine.row(query, row, f"{where}, query row {j + 1}")
            query = query.having({QUERY - j: value})
        pairs = list(self.pairs(query, h, head, where))
        reading = Reading(self, query, pairs, at, range(len(head.value)), where)
        if query.integer(POSITION).low == 1 and len(reading.candidates) == 1:
            return self.judge([reading.part_of(reading.candidates[0].joint)], reading, h, guide)
        rule = guide.rule(self, reading)
        if rule[0] == "split":
            split = origin.halves(parse(rule[1], self.machine.case), whole(rule[2], self.machine.case))
            return [state for part in split for state in self.read(part, h, head, at, guide)]
        return self.judge(self.apply(rule, reading), reading, h, guide)

    def judge(self, parts: list[State], reading: Reading, h: int, guide: Any) -> list[State]:
        """Returns the parts that head h reads, as `apply` has them. A checker of programs asks here what the keys mean."""
        return parts

    def apply(self, choice: Any, reading: Reading) -> list[State]:
        """Reads the head by a rule of the certificate."""
        rule, *rest = choice
        if rule == "count":
            return read_count(reading, whole(rest[0]))
        if any(not pair.joint.is_integer(pair.joint.register(SCORE)) for pair in reading.pairs):
            reject(f"{reading.where}: a score is not alike in both machines")
        if rule == "position":
            return read_position(reading, parse(rest[0], self.machine.case))
        if rule == "one":
            return read_one(reading, rest[0], rest[1])
        if rule == "mean":
            return read_mean(reading, rest[0], rest[1])
        return reject(f"{reading.where}: {rule} is no rule")
