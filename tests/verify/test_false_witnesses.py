"""What is told as false is false: each witness once more, by the standard library alone, from the print's own words.

Nothing of this project is imported. Numbers are exact, or rounded to q binary digits behind the point, ties to even.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest

Edges = Sequence[tuple[int, int]]
Number = Fraction | int

FIRST_STAR = ((1, 2), (4, 1), (1, 3), (1, 5), (6, 1))
FOUND, TOLD = (
    ((1, 3), (1, 4), (5, 1), (6, 1), (1, 2)),
    ((1, 6), (1, 4), (5, 1), (3, 1), (1, 2)),
)  # by the search; README's
P = (21, 23, 41, 43, 101)


def rounded(x: Number, q: int | None) -> Fraction:
    """The nearest multiple of 2^−q; None: x itself."""
    return Fraction(x) if q is None else Fraction(round(Fraction(x) * 2**q), 2**q)


def tour(edges: Edges) -> Iterator[int]:
    """Depth first from 1; of a vertex's edges the one that comes first in the text goes first."""

    def visit(v: int, father: int) -> Iterator[int]:
        yield v
        for a, b in edges:
            other = b if a == v else a
            if v in (a, b) and other != father:
                yield from visit(other, v)
                yield v

    return visit(1, 0)


def records(edges: Edges, q: int | None) -> list[tuple[Fraction, ...]]:
    """a, b, n_a, n_b of each edge: 1/(1 + how often the vertex has occurred so far)."""
    out = []
    for i, (a, b) in enumerate(edges):
        often = [1 + sum(v in edge for edge in edges[: i + 1]) for v in (a, b)]
        out.append((Fraction(a), Fraction(b), *(rounded(Fraction(1, m), q) for m in often)))
    return out


def match_next(edges: Edges, v: int, side: int, count: Fraction, q: int | None) -> tuple[Fraction, ...]:
    """What the head over this side returns at v: the record whose count is nearest to nxt(count), or the mean of several."""
    own = [record for record in records(edges, q) if record[side] == v]
    target = next((Fraction(1, k) for least, k in ((0.6, 2), (0.4, 3), (0.3, 4)) if count > least), count)
    near = min((abs(record[2 + side] - target) for record in own), default=Fraction(0))
    nearest = [record for record in own if abs(record[2 + side] - target) == near] or [(Fraction(0),) * 4]
    return tuple(rounded(sum(values, Fraction(0)) / len(nearest), q) for values in zip(*nearest, strict=True))


def seen_behind(edges: Edges, returns: int, q: int | None, apart: bool = False) -> tuple[object, int]:
    """All that layer 7's feed-forward is told, and the vertex that comes next. apart: i8 and i9 from a head of layer 5 each."""
    walk = list(tour(edges))
    before, here, following = walk[2 * returns - 1], walk[2 * returns], walk[2 * returns + 1]
    counts = [Fraction(0), Fraction(0)]
    for a, b, n_a, n_b in records(edges, q):
        if (a, b) == (here, before):
            counts[0] = n_a
        if (a, b) == (before, here):
            counts[1] = n_b
    if not apart:
        counts = [sum(counts, Fraction(0))] * 2
    heads = [match_next(edges, here, side, counts[side], q) for side in (0, 1)]
    own = [sum(v in edge for edge in edges) + walk[: 2 * returns + 1].count(v) for v in (here, before)]
    return (heads, counts, own, here, before, 0), following  # 0: the father of vertex 1


def two_stars(other: Edges, q: int | None) -> None:
    one, right = seen_behind(FIRST_STAR, 2, q)
    two, wanted = seen_behind(other, 2, q)
    assert list(tour(FIRST_STAR))[2:5] == list(tour(other))[2:5] == [1, 4, 1]
    assert one == two
    assert (right, wanted) == (3, 5)


def two_stars_apart() -> None:
    stars = ((1, 2), (3, 1), (4, 1), (5, 1)), ((1, 2), (4, 1), (3, 1), (5, 1))
    (one, right), (two, wanted) = (seen_behind(star, 1, None, apart=True) for star in stars)
    assert one == two
    assert (right, wanted) == (3, 4)


def tied_head() -> None:
    """Number i has the logit i·y, whatever the output's first coordinate y: the one of 2 lies between those of 1 and 3.

    Rounding and the largest number keep that order, so 2 alone is never the largest.
    """
    for y in (-7, -1, 0, 1, 7, Fraction(1, 3), Fraction(-2, 5)):
        for q in (None, 4, 10):
            largest = Fraction(2**4)  # where numbers end
            logits = [max(-largest, min(largest, rounded(i * Fraction(y), q))) for i in (1, 2, 3)]
            assert logits[1] <= max(logits[0], logits[2])


def printed_model() -> None:
    """The tour of the tree 1-2, 1-3 needs the output 2, and `tied_head` says that there is none."""
    assert list(tour(((1, 2), (1, 3)))) == [1, 2, 1, 3, 1]
    tied_head()


WITNESSES: dict[str, list[Callable[[], None]]] = {
    "4.7/layer-7": [
        *(
            lambda star=star, q=q: two_stars(star, q)
            for star in (FOUND, TOLD)
            for q in (None, *((p - 1) // 2 for p in P))
        ),
    ],
    "4.7/layer-7-apart": [two_stars_apart],
    "4.7/tied-head": [tied_head],
    "4.7/printed": [printed_model],
}


@pytest.mark.parametrize("claim", WITNESSES)
def test_the_witness_of_a_false_claim(claim: str) -> None:
    for shown in WITNESSES[claim]:
        shown()


def test_stars_that_differ_are_told_apart() -> None:
    """The replay can fail: one edge turned, and the heads return other numbers."""
    turned = (*FIRST_STAR[:3], (5, 1), FIRST_STAR[4])  # 1/5 is then nearer to 1/4 than 1/3 and 1/6
    assert seen_behind(turned, 2, None)[0] != seen_behind(TOLD, 2, None)[0]
