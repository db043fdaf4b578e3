"""The witnesses of what is told as `false`, and of the slips in Appendix C, again: by the standard library alone.

Each entry is an id of the ledger and a function that raises AssertionError if the witness does not show what the row says.
Nothing of this project is imported: a reader with the paper in hand can check each of them here, line by line.
"""

from __future__ import annotations

from collections.abc import Callable
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
    """1 2 ? 1: the token behind 1 is 2, of the numbers 1 … 6."""
    sequence, key = (1, 2), 1
    printed_output(6, sequence[sequence.index(key) + 1])


def ngram() -> None:
    """1 1 2 ? 1 1: the token behind 1 1 is 2, of the numbers 1 … 6."""
    sequence = (1, 1, 2)
    assert sequence[:2] == (1, 1)
    printed_output(6, sequence[2])


def index() -> None:
    """2 ? 1: at position 1 stands 2, of the numbers 1 … 6."""
    printed_output(6, (2,)[0])


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


def match_next() -> None:
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
    "C.18/printed": match_next,
}


@pytest.mark.parametrize("id", WITNESSES)
def test_a_witness_shows_what_its_row_says(id: str) -> None:
    WITNESSES[id]()
