"""What all cells have: numbers of R_p with a rounding after each operator, embeddings, an answer, and the bits of a state.

A step is written once, over any numbers that `operators` calculates with. `RoundedArrays` is R_p on numpy arrays; `train` has
one that torch can differentiate. Shapes: vectors are (…, d), so that a step also takes a batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import mpmath
import numpy as np

from precision import Format, exp_array, fixed_point, round_values

TOKENS = (
    64  # rows of an embedding: half are of the sequence's tokens, half of the query's; each is taken modulo its half
)
HALF = TOKENS // 2
PLACES = 64  # positions that have a vector of their own, which is added to a token's; a position is taken modulo this
TRAINED = Path(__file__).parent / "trained.json"
Array = Any  # of numpy, or of torch where weights are trained


class RoundedArrays:
    """The operators of a step on numpy arrays of R_p, each rounded to nearest.

    exp, sigmoid, tanh and softplus are tables of all elements of R_p: exp is that of `precision`, the others are mpmath's, rounded.
    """

    def __init__(self, precision_bits: int) -> None:
        self.format = fixed_point(precision_bits)
        self.exp = _table(self.format, None)
        self.sigmoid = _table(self.format, lambda x: 1 / (1 + mpmath.exp(-x)))
        self.tanh = _table(self.format, mpmath.tanh)
        self.softplus = _table(self.format, lambda x: mpmath.log1p(mpmath.exp(x)))

    def round(self, x: Array) -> Array:
        """Returns the elements of R_p that are nearest to x."""
        return round_values(x, self.format)


def _table(fmt: Format, function: Callable[[Any], Any] | None) -> Callable[[Array], Array]:
    quantum, most = float(fmt.quantum), fmt.max_quanta
    elements = np.arange(-most, most + 1) * quantum
    values = (
        exp_array(elements, fmt).value
        if function is None
        else round_values(np.array([float(function(mpmath.mpf(x))) for x in elements]), fmt)
    )
    return lambda x: values[(x / quantum).astype(np.int64) + most]


rounded = cache(RoundedArrays)


class Cell:
    """A recurrent layer of d units with numbers of p bits, as `circuits.rnn` takes it.

    A subclass has `shapes(d)` of its weights, `parts(d)`, the shapes of its state, and `next(o, w, state, x)`, the step.
    Weights are drawn by `seed`, or read from `trained.json` by name.
    """

    name: ClassVar[str]

    def __init__(self, d: int, precision_bits: int, seed: int = 0, trained: str | None = None) -> None:
        self.d, self.precision_bits, self.operators = d, precision_bits, rounded(precision_bits)
        self.weights = self.load_weights(trained) if trained else self.draw_weights(seed)

    @property
    def STATE_BITS(self) -> int:
        """p bits for each number of the state."""
        return self.precision_bits * sum(int(np.prod(shape)) for shape in self.parts(self.d))

    def shapes(self, d: int) -> dict[str, tuple[int, ...]]:
        """Returns the shapes of the weights of a step."""
        raise NotImplementedError

    def parts(self, d: int) -> list[tuple[int, ...]]:
        """Returns the shapes of the arrays of a state."""
        raise NotImplementedError

    def next(self, o: Any, w: dict[str, Array], state: tuple[Array, ...], x: Array) -> tuple[Array, ...]:
        """Returns the state after an embedding x. o: the operators; w: the weights."""
        raise NotImplementedError

    def all_shapes(self) -> dict[str, tuple[int, ...]]:
        """Returns the shapes of all weights: embeddings, step, answer."""
        size = sum(int(np.prod(shape)) for shape in self.parts(self.d))
        return {
            "embedding": (TOKENS, self.d),
            "position": (PLACES, self.d),
            **self.shapes(self.d),
            "answer": (size, TOKENS),
        }

    def draw_weights(self, seed: int) -> dict[str, Array]:
        """Returns random weights, rounded to R_p."""
        generator = np.random.default_rng(seed)
        return {
            name: self.operators.round(generator.normal(size=shape) * (1.0 if shape[0] >= HALF else shape[0] ** -0.5))
            for name, shape in self.all_shapes().items()
        }

    def load_weights(self, name: str) -> dict[str, Array]:
        """Returns trained weights, which are stored in quanta."""
        quantum = float(self.operators.format.quantum)
        quanta = json.loads(TRAINED.read_text(encoding="utf-8"))[name]["quanta"]
        return {what: np.array(rows, np.float64) * quantum for what, rows in quanta.items()}

    def start(self) -> tuple[Array, ...]:
        """Returns the first state."""
        return tuple(np.zeros(shape) for shape in self.parts(self.d))

    def step(self, state: tuple[Array, ...], token: int, position: int) -> tuple[Array, ...]:
        o, w = self.operators, self.weights
        x = o.round(w["embedding"][token % HALF] + w["position"][position % PLACES])
        return self.next(o, w, state, x)

    def answer(self, state: tuple[Array, ...], query: tuple[int, ...]) -> int:
        """Reads the query and returns the likeliest token."""
        for token in query:
            state = self.next(self.operators, self.weights, state, self.weights["embedding"][HALF + token % HALF])
        flat = np.concatenate([part.reshape(-1) for part in state])
        return int(np.argmax(flat @ self.weights["answer"]))


def outer(a: Array, b: Array) -> Array:
    """Returns the products of each entry of a with each of b."""
    return a[..., :, None] * b[..., None, :]
