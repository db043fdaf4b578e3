"""The witnesses of what is told as `false`, and of the slips in Appendix C, again: by the standard library alone.

Each entry is an id of the ledger and a function that raises AssertionError if the witness does not show what the row says.
Nothing of this project is imported: a reader with the paper in hand can check each of them here, line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest


def relu(x: Fraction | int) -> Fraction:
    return Fraction(max(x, 0))


# The tied output head


def tied_logits(n: int, first: int, rest: int) -> dict[str, int]:
    """Number i is i·w_1, a special word is one of the other coordinates; the logit is the product with the output."""
    return {**{str(i): i * first for i in range(1, n + 1)}, "special": rest}


def no_output_writes_2_of_3() -> None:
    """2 beats 1 only if the output's first entry is positive, and 3 only if it is negative; rounding keeps the order."""
    for first in range(-1000, 1001):
        logits = tied_logits(3, first, 0)
        assert not logits["1"] < logits["2"] > logits["3"]
        saturated = {word: max(-500, min(500, logit)) for word, logit in logits.items()}
        assert not saturated["1"] < saturated["2"] > saturated["3"]


def printed_output(n: int, v: int) -> None:
    """n[−v, 1, −1, …, −1] is to decode to v, the right answer: another word is likelier, and so is the number 1."""
    logits = tied_logits(n, -n * v, -n)
    assert logits["1"] > logits[str(v)]
    assert logits["special"] > logits[str(v)]


def recall() -> None:
    """1 2 ? 1: the token after 1 is 2, of the numbers 1 … 6."""
    sequence, key = (1, 2), 1
    printed_output(6, sequence[sequence.index(key) + 1])


def ngram() -> None:
    """1 1 2 ? 1 1: the token after 1 1 is 2, of the numbers 1 … 6."""
    sequence = (1, 1, 2)
    assert sequence[:2] == (1, 1)
    printed_output(6, sequence[2])


def index() -> None:
    """2 ? 1: at position 1 stands 2, of the numbers 1 … 6."""
    printed_output(6, (2,)[0])


@pytest.mark.parametrize("n", [3, 7, 20])
def test_a_tied_head_writes_every_number_with_a_change(n: int) -> None:
    """Ties go to the first; a sign turned and a second coordinate; a coordinate for each digit. All fail without the change."""
    largest = 10_000

    def first(logits: Sequence[Fraction | int]) -> int:
        return logits.index(max(logits)) + 1

    for v in range(1, n + 1):
        y = -(-largest // v)
        assert first([min(i * y, largest) for i in range(1, n + 1)]) == v
        for sign in (1, -1):
            logits = [sign * v * i - Fraction(i * i, 2) for i in range(1, n + 1)]
            assert (first(logits) == v) == (sign == 1 or v == 1)
        assert first([int(i == v) for i in range(1, n + 1)]) == v


# Slips of Appendix C: the printed line fails, and the form that stands beside it does not


def product() -> None:
    def by(sign: int, x: int, y: int) -> Fraction:
        return relu(x) * y + sign * relu(-x) * y

    assert by(1, -1, 1) == 1 != -1
    assert all(by(-1, x, y) == x * y for x in range(-5, 6) for y in range(-5, 6))


def indicator() -> None:
    """B = 2: the matrices' signs, and those of the written-out form."""
    half, high, low = Fraction(1, 2), Fraction(3, 5), Fraction(2, 5)

    def by(signs: tuple[int, int, int, int], x: int, at: int) -> Fraction:
        corners = (x - at - half, x - at + half, at - x - high, at - x + low)
        return 10 * sum((s * relu(c) for s, c in zip(signs, corners, strict=True)), Fraction(0)) + 10

    assert by((1, -1, -1, 1), 0, 2) == 20 != 0
    assert all(by((1, -1, 1, -1), x, at) == (x == at) for x in range(-5, 6) for at in range(-5, 6))


def threshold() -> None:
    """u = 0, ε = 1: what is written out, and the matrices."""
    margin = Fraction(1)

    def written_out(x: int) -> Fraction:
        return 2 / margin * (relu(x - margin) - relu(x + Fraction(1, 2)))

    def matrices(x: int) -> Fraction:
        return 2 / margin * (relu(x + margin) - relu(x + margin / 2))

    assert written_out(0) == -1 != 1
    assert all(matrices(x) == (x >= 0) for x in range(-9, 10))


def counting() -> None:
    """Keys X' and queries X: the printed K and Q prefer larger keys, the printed score prefers equal ones."""
    n, query = 64, 2

    def product_of(key: int, first: bool) -> int:
        k, q = (1 + first, key, key**2), (query**2, -query, 1)
        return n * sum(a * b for a, b in zip(k, q, strict=True))

    def score(key: int, first: bool) -> int:
        return -n * (key - query) ** 2 + n * first * query**2

    assert product_of(5, False) > product_of(query, False)
    assert score(0, True) == score(query, False) == 0
    assert all(score(key, False) <= -n for key in range(10) if key != query)


def default_ties() -> None:
    """n = 64, A = 1, p = 61: no key is equal, and the default saturates together with a key that is not."""
    n, p = 64, 61
    assert 2**p > n**10 >= 2 ** (p - 2)
    largest = Fraction(2 ** (p - 1) - 1, 2 ** ((p - 1) // 2))
    own, target = Fraction(1), Fraction(1, 2)

    def score(key: int, count: Fraction, first: bool, query: int = 1) -> Fraction:
        bonus = n**7 * query**2 + n**5 * own**2 - n**6 if first else 0
        return -Fraction(n**7) * (key - query) ** 2 - n**5 * (target - count) ** 2 + bonus

    default, other = score(0, Fraction(0), True), score(0, Fraction(0), False)
    assert default > other
    assert max(default, -largest) == max(other, -largest) == -largest


# Layer 7 of Theorem 4.7, and its tied head

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


def no_output_writes_2() -> None:
    """Number i has the logit i·y, whatever the output's first coordinate y: the one of 2 lies between those of 1 and 3.

    Rounding and the largest number keep that order, so 2 alone is never the largest.
    """
    for y in (-7, -1, 0, 1, 7, Fraction(1, 3), Fraction(-2, 5)):
        for q in (None, 4, 10):
            largest = Fraction(2**4)  # where numbers end
            logits = [max(-largest, min(largest, rounded(i * Fraction(y), q))) for i in (1, 2, 3)]
            assert logits[1] <= max(logits[0], logits[2])


def printed_model() -> None:
    """The tour of the tree 1-2 comes to 2; with the output n[−2, 1, −1, …, −1] number i has the logit −2n·i, so 1 is said."""
    assert list(tour(((1, 2),))) == [1, 2, 1]
    n, v = 2, 2
    assert max((1, 2), key=lambda i: -n * v * i) == 1


def stars_of_layer_7() -> None:
    for star in (FOUND, TOLD):
        for q in (None, *((p - 1) // 2 for p in P)):
            two_stars(star, q)


WITNESSES: dict[str, Callable[[], None]] = {
    "3.2/tied-head": no_output_writes_2_of_3,
    "4.6/index/printed": index,
    "4.6/recall/tied-head": recall,
    "4.6/recall/printed": recall,
    "4.6/ngram/tied-head": ngram,
    "4.6/ngram/printed": ngram,
    "5.6/index/printed": index,
    "5.6/recall/tied-head": recall,
    "5.6/recall/printed": recall,
    "5.6/ngram/tied-head": ngram,
    "5.6/ngram/printed": ngram,
    "C.1/printed": product,
    "C.3/printed": indicator,
    "C.5/written-out": threshold,
    "C.14/printed": counting,
    "C.18/printed": default_ties,
    "4.7/layer-7": stars_of_layer_7,
    "4.7/layer-7-apart": two_stars_apart,
    "4.7/tied-head": no_output_writes_2,
    "4.7/printed": printed_model,
}


@pytest.mark.parametrize("id", WITNESSES)
def test_a_witness_shows_what_its_row_says(id: str) -> None:
    WITNESSES[id]()


def test_stars_that_differ_are_told_apart() -> None:
    """The replay can fail: one edge turned, and the heads return other numbers."""
    turned = (*FIRST_STAR[:3], (5, 1), FIRST_STAR[4])  # 1/5 is then nearer to 1/4 than 1/3 and 1/6
    assert seen_behind(turned, 2, None)[0] != seen_behind(TOLD, 2, None)[0]
