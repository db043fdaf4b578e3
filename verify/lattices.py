"""Two prompts that a linear RNN must confuse, by a short vector of a lattice: states of hundreds of bits.

Source: the reductions of Lemmas C.24 – C.28, where numbers stand in place of bits. In a sequence of a task some numbers may be any
of a range, and whatever two such sequences are, some question has two right answers (but for Counting, see there). If the state is
a sum of the tokens, each times a number that depends on its place, modulo a power of two, then differences of sequences that leave
one state are a lattice, and sequences that differ by little are its short vectors.

A sequence of n numbers of n values holds n·log2(n) bits, so some two meet long before n is the number of the state's bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from circuits.rnn import FunctionRnn, key
from constructions.istree.graphs import Graph, is_tree
from constructions.retrieval.task import NO, YES

C = 3  # of the c-grams


@dataclass(frozen=True)
class DistinguishingQuestion:
    """What tells two sequences apart. more: tokens that Bob writes; query: what is asked then; right: the two answers."""

    more: list[int]
    query: tuple[int, ...]
    right: tuple[str, str]


@dataclass(frozen=True)
class SequenceFamily:
    """Sequences of a task.

    base: the tokens; places: where a token may be any from low to high; base has low.
    ask(first, second, i): what tells two sequences apart that differ at the i-th of these places, from 0; None if nothing is known.
    """

    base: list[int]
    places: list[int]
    low: int
    high: int
    ask: Callable[[Sequence[int], Sequence[int], int], DistinguishingQuestion | None]

    def sequence(self, steps: Sequence[int]) -> list[int]:
        """Returns the base with something added at each place."""
        tokens = [*self.base]
        for place, step in zip(self.places, steps, strict=True):
            tokens[place] += step
        return tokens


def index(n: int) -> SequenceFamily:
    """Returns all sequences of n numbers up to n. Asked is the place."""

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> DistinguishingQuestion:
        return DistinguishingQuestion([], (i + 1,), (str(first[i]), str(second[i])))

    return SequenceFamily([1] * n, list(range(n)), 1, n, ask)


def ngram(n: int, c: int = C) -> SequenceFamily:
    """Returns blocks of c − 1 times a key and a value of n + 1 … 2n. Asked is the key."""
    base = [token for key in range(1, n + 1) for token in (*[key] * (c - 1), n + 1)]
    places = list(range(c - 1, c * n, c))

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> DistinguishingQuestion:
        return DistinguishingQuestion([], (i + 1,) * (c - 1), (str(first[places[i]]), str(second[places[i]])))

    return SequenceFamily(base, places, n + 1, 2 * n, ask)


def recall(n: int) -> SequenceFamily:
    """Returns keys, each before a value."""
    return ngram(n, 2)


def counting(n: int) -> SequenceFamily:
    """Returns all sequences of n numbers up to n. Asked is a token that stands more often in one than in the other.

    Sequences that are one another's rearrangement are not told apart.
    """

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> DistinguishingQuestion | None:
        for token in range(1, n + 1):
            counts = [sequence.count(token) for sequence in (first, second)]
            if counts[0] != counts[1]:
                right = (YES, NO) if counts[0] > counts[1] else (NO, YES)
                return DistinguishingQuestion([], (token, min(counts)), right)
        return None

    return SequenceFamily([1] * n, list(range(n)), 1, n, ask)


def istree(vertices: int) -> SequenceFamily:
    """Returns a family of forests: n stars, each a centre and one fixed leaf, and n leaves, each on a star of its choice.

    Vertices: 1 … n the leaves, n + 1 … 2n the centres, 2n + 1 … 3n the first leaves. A leaf i is of star a in one forest, of star b
    in the other. Bob joins i to the first leaf of b, and all centres but those of a and b to that of b. In one forest that is a
    tree. In the other, i is of star b already, so there is a cycle.
    """
    n = vertices // 3
    fixed = [vertex for c in range(1, n + 1) for vertex in (n + c, 2 * n + c)]
    base = [*fixed, *(vertex for leaf in range(1, n + 1) for vertex in (leaf, n + 1))]
    places = list(range(2 * n + 1, 4 * n, 2))

    def ask(first: Sequence[int], second: Sequence[int], i: int) -> DistinguishingQuestion:
        a, b = first[places[i]], second[places[i]]
        more = [i + 1, b + n, *(v for c in range(n + 1, 2 * n + 1) if c not in (a, b) for v in (c, b))]
        edges = (tuple(zip(t[::2], t[1::2], strict=True)) for t in ([*first, *more], [*second, *more]))
        one, other = (YES if is_tree(Graph(3 * n, each)) else NO for each in edges)
        return DistinguishingQuestion(more, (), (one, other))

    return SequenceFamily(base, places, n + 1, 2 * n, ask)


FAMILIES: dict[str, Callable[[int], SequenceFamily]] = {
    "index": index,
    "recall": recall,
    "ngram": ngram,
    "counting": counting,
    "istree": istree,
}


SIZES = dict.fromkeys(FAMILIES, (64, 128, 192)) | {"istree": (192, 384, 576)}  # where none is asked for


def prompt_of(task: str, tokens: Sequence[int], question: DistinguishingQuestion) -> str:
    """Returns a sequence and its question as the task writes them."""
    if task == "istree":
        numbers = [*tokens, *question.more]
        return "<s> " + " ".join(f"{u} ~ {v}" for u, v in zip(numbers[::2], numbers[1::2], strict=True))
    return f"<s> {' '.join(map(str, tokens))} ? {' '.join(map(str, question.query))}"


def by_lattice(
    rnn: FunctionRnn, task: str, n: int, wind: Callable[..., object]
) -> tuple[list[int], list[int], DistinguishingQuestion] | None:
    """Returns two sequences of a linear RNN that leave one state, and what tells them apart; None if none is found.

    The state must be of whole numbers that grow by a multiple of each token modulo powers of two, in one of the READINGS.
    """
    if task not in FAMILIES or rnn.reads_words:
        return None
    family = FAMILIES[task](n)
    if not family.places:
        return None
    for rows, moduli in _linear(rnn, family):
        if (pair := _short(rnn, family, rows, moduli, wind)) is not None:
            return pair
    return None


Rows = list[list[int]]


def _short(
    rnn: FunctionRnn, family: SequenceFamily, rows: Rows, moduli: Sequence[int], wind: Callable[..., object]
) -> tuple[list[int], list[int], DistinguishingQuestion] | None:
    """Returns the pair of a short vector. rows, moduli: see `_linear`."""
    size, parts, large = len(rows), len(moduli), 1 << (rnn.state_bits + 16)
    basis = [[int(i == j) for j in range(size)] + [large * value for value in rows[i]] for i in range(size)]
    basis += [[0] * size + [large * moduli[c] * int(c == d) for d in range(parts)] for c in range(parts)]
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


def parts(state: Any) -> list[int] | None:
    """Returns the whole numbers that a state has; those of an array modulo what an entry holds. None if it has others."""
    if type(state) is int:
        return [state]
    if isinstance(state, tuple | list):
        inner = [*map(parts, state)]
        return None if None in inner else [number for part in inner for number in part or ()]
    array = _array(state)
    return None if array is None else [int(x) % (1 << 8 * array.dtype.itemsize) for x in array.ravel().tolist()]


def one_number(order: Literal["little", "big"]) -> Callable[[Any], list[int] | None]:
    """Returns what reads bytes, or an array, as one number. order: which end comes first, of entries too."""

    def read(state: Any) -> list[int] | None:
        if (array := _array(state)) is not None:
            state = array.astype(array.dtype.newbyteorder(order)).tobytes()
        return [int.from_bytes(state, order)] if isinstance(state, bytes) else None

    return read


def _array(state: Any) -> Any:
    """Returns a state of whole numbers as an array of numpy, None if it is none."""
    if hasattr(state, "detach"):
        state = state.detach().cpu().numpy()
    return state if isinstance(state, np.ndarray | np.integer) and state.dtype.kind in "iu" else None


READINGS = (parts, one_number("little"), one_number("big"))


def _linear(rnn: FunctionRnn, family: SequenceFamily) -> Iterator[tuple[Rows, list[int]]]:
    """Yields by how much one more at each place changes the parts of the state, and their moduli, of each reading that is linear.

    The modulus of a part is a power of two: of as many bits as its share of the state's, or else as it is seen to have.
    """
    size, generator = len(family.places), np.random.default_rng(1)
    tried = [[0] * size, *([int(i == place) for i in range(size)] for place in range(size))]
    tried += [generator.integers(0, family.high - family.low + 1, size).tolist() for _ in range(4)]
    states = [rnn.state_after(family.sequence(steps)) for steps in tried]
    for read in READINGS:
        values = [value for value in map(read, states) if value]
        if len(values) < len(states) or len({*map(len, values)}) > 1:
            continue
        zero, units, samples = values[0], values[1 : size + 1], values[size + 1 :]
        seen = [max(map(int.bit_length, column)) for column in zip(*values, strict=True)]
        share = max(rnn.state_bits // len(zero), max(seen))
        for bits in dict.fromkeys(((share,) * len(zero), tuple(seen))):
            moduli = [1 << count for count in bits]
            rows = [[(a - b) % m for a, b, m in zip(after, zero, moduli, strict=True)] for after in units]
            due = [
                [
                    (z + sum(s * row[c] for s, row in zip(steps, rows, strict=True))) % m
                    for c, (z, m) in enumerate(zip(zero, moduli, strict=True))
                ]
                for steps in tried[size + 1 :]
            ]
            if due == [[value % m for value, m in zip(sample, moduli, strict=True)] for sample in samples]:
                yield rows, moduli
