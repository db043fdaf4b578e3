"""The two MatchNext heads of C.6.2's item 7, in exact arithmetic, over the edges alone.

Source: appendix C.6.2, items 4 to 7; Lemma C.18.
An edge a ~ b is one record (a, b, n_a, n_b), where n_v = 1/(1 + j) at the j-th edge of v. A head looks among the records whose
first (or second) endpoint is v for the count nearest to nxt of the count of the edge just walked. Where several are equally near,
softmax averages them; where there is none, it reads zeros at position 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from constructions.istree.graphs import Edge

Record = tuple[Fraction, ...]  # a, b, n_a, n_b
NOTHING: Record = (Fraction(0),) * 4


def records(edges: Sequence[Edge]) -> list[Record]:
    """Returns a record for each edge, in their order."""
    seen: Counter[int] = Counter()
    out = list[Record]()
    for a, b in edges:
        seen.update((a, b))
        out.append((Fraction(a), Fraction(b), Fraction(1, 1 + seen[a]), Fraction(1, 1 + seen[b])))
    return out


def nxt(x: Fraction) -> Fraction:
    """Returns the printed target after the count x, on the arguments for which the print gives one."""
    for least, target in ((Fraction(2, 3), 2), (Fraction(2, 5), 3), (Fraction(3, 10), 4)):
        if x >= least:
            return Fraction(1, target)
    return x - x**2 + x**3


def read(edges: Sequence[Edge], vertex: int, side: int, count: Fraction) -> Record:
    """Returns what the head over this side (0: first endpoints, 1: second) returns at `vertex` after an edge of this count."""
    own = [record for record in records(edges) if record[side] == vertex]
    if not own:
        return NOTHING
    distance = {record: abs(record[2 + side] - nxt(count)) for record in own}
    nearest = [record for record in own if distance[record] == min(distance.values())]
    return tuple(sum(values) / len(nearest) for values in zip(*nearest, strict=True))


def find_walked(edges: Sequence[Edge], vertex: int, before: int) -> tuple[Fraction, Fraction]:
    """Returns what item 5's two heads find of the edge: its count where `vertex` is its first endpoint, and its second."""
    by_ends, here, there = {record[:2]: record for record in records(edges)}, Fraction(vertex), Fraction(before)
    return by_ends.get((here, there), NOTHING)[2], by_ends.get((there, here), NOTHING)[3]
