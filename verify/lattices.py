"""Two prompts that a linear RNN must confuse, by a short vector of a lattice: states of hundreds of bits.

Source: the reductions of Lemmas C.24 – C.28, where numbers stand in place of bits. In a sequence of a task some numbers may be any
of a range, and whatever two such sequences are, some question has two right answers (but for Counting, see there). If the state is
a sum of the tokens, each times a number that depends on its place, modulo a power of two, then differences of sequences that leave
one state are a lattice, and sequences that differ by little are its short vectors.

A sequence of n numbers of n values holds n·log2(n) bits, so some two meet long before n is the number of the state's bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from circuits.rnn import Rnn, key
from constructions.istree.graphs import Graph, is_tree
from constructions.retrieval.task import NO, YES

C = 3  # of the c-grams


@dataclass(frozen=True)
class Question:
    """What tells two sequences apart. more: tokens that Bob writes; query: what is asked then; right: the two answers."""

    more: list[int]
    query: tuple[int, ...]
    right: tuple[str, str]


@dataclass(frozen=True)
class Family:
    """Sequences of a task.

    base: the tokens; places: where a token may be any from low to high; base has low.
    ask(first, second, i): what tells two sequences apart that differ at the i-th of these places, from 0; None if nothing is known.
    """

    base: list[int]
    places: list[int]
    low: int
    high: int
    ask: Callable[[Sequence[int], Sequence[int], int], Question | None]

    def sequence(self, steps: Sequence[int]) -> list[int]:
        """Returns the base with something added at each place."""
        tokens = [*self.base]
        for place, step in zip(self.places, steps, strict=True):
            tokens[place] += step
        return tokens


def index(n: int) -> Family:
    """Returns all sequences of n numbers up to n. Asked is the place."""

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> Question:
        return Question([], (i + 1,), (str(first[i]), str(second[i])))

    return Family([1] * n, list(range(n)), 1, n, ask)


def ngram(n: int, c: int = C) -> Family:
    """Returns blocks of c − 1 times a key and a value of n + 1 … 2n. Asked is the key."""
    base = [token for key in range(1, n + 1) for token in (*[key] * (c - 1), n + 1)]
    places = list(range(c - 1, c * n, c))

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> Question:
        return Question([], (i + 1,) * (c - 1), (str(first[places[i]]), str(second[places[i]])))

    return Family(base, places, n + 1, 2 * n, ask)


def recall(n: int) -> Family:
    """Returns keys, each before a value."""
    return ngram(n, 2)


def counting(n: int) -> Family:
    """Returns all sequences of n numbers up to n. Asked is a token that stands more often in one than in the other.

    Sequences that are one another's rearrangement are not told apart.
    """

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> Question | None:
        for token in range(1, n + 1):
            counts = [sequence.count(token) for sequence in (first, second)]
            if counts[0] != counts[1]:
                right = (YES, NO) if counts[0] > counts[1] else (NO, YES)
                return Question([], (token, min(counts)), right)
        return None

    return Family([1] * n, list(range(n)), 1, n, ask)


def istree(vertices: int) -> Family:
    """Returns forests of so many vertices: n stars with a centre and one leaf that never changes, and n leaves, each of some star.

    Vertices: 1 … n the leaves, n + 1 … 2n the centres, 2n + 1 … 3n the first leaves. A leaf i is of star a in one forest, of star b
    in the other. Bob joins i to the first leaf of b, and all centres but those of a and b to that of b. In one forest that is a
    tree. In the other, i is of star b already, so there is a cycle.
    """
    n = vertices // 3
    fixed = [vertex for c in range(1, n + 1) for vertex in (n + c, 2 * n + c)]
    base = [*fixed, *(vertex for leaf in range(1, n + 1) for vertex in (leaf, n + 1))]
    places = list(range(2 * n + 1, 4 * n, 2))

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> Question:
        a, b = first[places[i]], second[places[i]]
        more = [i + 1, b + n, *(v for c in range(n + 1, 2 * n + 1) if c not in (a, b) for v in (c, b))]
        edges = (tuple(zip(t[::2], t[1::2], strict=True)) for t in ([*first, *more], [*second, *more]))
        one, other = (YES if is_tree(Graph(3 * n, each)) else NO for each in edges)
        return Question(more, (), (one, other))

    return Family(base, places, n + 1, 2 * n, ask)


FAMILIES: dict[str, Callable[[int], Family]] = {
    "index": index,
    "recall": recall,
    "ngram": ngram,
    "counting": counting,
    "istree": istree,
}


SIZES = dict.fromkeys(FAMILIES, (64, 128, 192)) | {"istree": (192, 384, 576)}  # where none is asked for


def prompt_of(task: str, tokens: Sequence[int], question: Question) -> str:
    """Returns a sequence and its question as the task writes them."""
    if task == "istree":
        numbers = [*tokens, *question.more]
        return "<s> " + " ".join(f"{u} ~ {v}" for u, v in zip(numbers[::2], numbers[1::2], strict=True))
    return f"<s> {' '.join(map(str, tokens))} ? {' '.join(map(str, question.query))}"


def by_lattice(
    rnn: Rnn, task: str, n: int, wind: Callable[..., object]
) -> tuple[list[int], list[int], Question] | None:
    """Returns two sequences of a linear RNN that leave one state, and what tells them apart; None if none is found.

    The state must be a number, or a tuple of numbers, that grows by a multiple of each token modulo powers of two.
    """
    if task not in FAMILIES or rnn.reads_words:
        return None
    family = FAMILIES[task](n)
    if not family.places:
        return None
    if (linear := _rows(rnn, family)) is None:
        return None
    rows, modulus = linear
    size, parts, large = len(rows), len(rows[0]), 1 << (rnn.state_bits + 16)
    basis = [[int(i == j) for j in range(size)] + [large * value for value in rows[i]] for i in range(size)]
    basis += [[0] * size + [large * modulus * int(c == d) for d in range(parts)] for c in range(parts)]
    from flint import fmpz_mat

    wind(0)  # the reduction is no step of the user's
    reduced = fmpz_mat(basis).lll().tolist()
    wind()
    for row in reduced:
        differences = [int(value) for value in row]
        steps = differences[:size]
        if any(differences[size:]) or not any(steps) or max(map(abs, steps)) > family.high - family.low:
            continue
        first, second = (family.sequence([max(sign * d, 0) for d in steps]) for sign in (1, -1))
        question = family.ask(first, second, next(i for i, d in enumerate(steps) if d))
        if question is not None and key(rnn.state_after(first)) == key(rnn.state_after(second)):
            return first, second, question
    return None


def _rows(rnn: Rnn, family: Family) -> tuple[list[list[int]], int] | None:
    """Returns by how much one more at each place changes the parts of the state, and their modulus; None if that is not linear."""

    def state(steps: Sequence[int]) -> list[int] | None:
        after = rnn.state_after(family.sequence(steps))
        values = after if isinstance(after, tuple | list) else (after,)
        return [int(v) for v in values] if all(type(v) is int for v in values) else None

    size = len(family.places)
    if not (zero := state([0] * size)):
        return None
    modulus = 1 << max(rnn.state_bits // len(zero), max(value.bit_length() for value in zero))
    rows = []
    for place in range(size):
        if (after := state([int(i == place) for i in range(size)])) is None or len(after) != len(zero):
            return None
        rows.append([(a - b) % modulus for a, b in zip(after, zero, strict=True)])
    generator = np.random.default_rng(1)
    for _ in range(4):
        steps = generator.integers(0, family.high - family.low + 1, size).tolist()
        due = [(z + sum(s * row[c] for s, row in zip(steps, rows, strict=True))) % modulus for c, z in enumerate(zero)]
        if [value % modulus for value in state(steps) or []] != due:
            return None
    return rows, modulus
