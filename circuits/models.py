"""The RNNs whose step is made a circuit: small ones for their own sake, and every Linear RNN of this project.

Source: definition 3.3; Lemmas C.20 and C.21; Theorems 4.1 and 5.2 to 5.4.
An RNN here is its step, and the words that it reads and writes: a token embeds as words[token] + position·(its place)
over the step's inputs, and the next token is the argmax of unembed·output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from circuits.builder import Builder
from circuits.compiler import compile_step, filled_registers
from circuits.numbers import NumberBuilder
from circuits.step import Step, input_number, state_number, step
from constructions.layers import Matrix
from constructions.models.building import format_of, wired_of
from constructions.models.construction import Construction
from constructions.models.program import NUMBER, Family, Rule, Words, Write, back, decide, window
from constructions.models.registry import find_constructions
from constructions.parts.recurrences.running_sum import running_sum
from constructions.wiring.affine import Affine, as_affine, reg
from constructions.wiring.part import least_odd_precision
from constructions.wiring.wire import BlockPlan, Gadget, Unit, constant
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline, fixed_point

LARGEST_N = 1 << 12
DEFAULT_N = 4
KEPT = 3  # tokens, by the shift register


@dataclass(frozen=True, eq=False)
class Rnn:
    """An RNN as Theorem 4.8 takes it: the circuit of a step, and the fixed embeddings.

    n: the largest number that it has a token for. wired: its matrices, if it is a Linear RNN of this project.
    Shapes: words (vocabulary, inputs), position (inputs,), unembed (vocabulary, outputs), all over the step's numbers.
    """

    name: str
    source: str
    n: int
    arithmetic: Arithmetic
    vocabulary: tuple[str, ...]
    step: Step
    words: Matrix
    position: Matrix
    unembed: Matrix
    wired: Wired | None = None


@dataclass(frozen=True)
class Model:
    """A family of RNNs: one for each n and p. least_precision(n): the least p at which it does what it is for."""

    name: str
    source: str
    statement: str
    least_precision: Callable[[int], int]
    build: Callable[[int, Arithmetic], Rnn]

    def largest_n(self, precision_bits: int) -> int:
        """The largest n that p bits are enough for, up to a cap. Raises ValueError if there is none."""
        if self.least_precision(1) > precision_bits:
            raise ValueError(
                f"p = {precision_bits} is too small for {self.name}; the least p is {self.least_precision(1)}"
            )
        n = 1
        while 2 * n <= LARGEST_N and self.least_precision(2 * n) <= precision_bits:
            n *= 2
        while n < LARGEST_N and self.least_precision(n + 1) <= precision_bits:
            n += 1
        return n

    def load(self, precision_bits: int | None, n: int | None, discipline: Discipline = Discipline.FUSED) -> Rnn:
        """The RNN for p and n: without p the least one for n, without n the largest one for p, without both a small
        one.

        Raises ValueError for a p that is even, or too small; the message names the least p.
        """
        if n is None:
            n = (
                DEFAULT_N
                if precision_bits is None
                else self.largest_n(fixed_point(precision_bits).significand_bits + 1)
            )
        fmt = format_of(self.least_precision(n), precision_bits, f"{self.name} at n = {n}")
        return self.build(n, Arithmetic(fmt, discipline))


def linear(name: str, source: str, wired: Wired) -> Rnn:
    """A Linear RNN of this project."""
    model = wired.model
    inputs, outputs = filled_registers(model.words, model.position), filled_registers(model.unembed)
    return Rnn(
        name=name,
        source=source,
        n=wired.n,
        arithmetic=wired.arithmetic,
        vocabulary=wired.vocabulary,
        step=compile_step(model, wired.registers, wired.arithmetic),
        words=model.words[:, inputs],
        position=model.position[inputs],
        unembed=model.unembed[:, outputs],
        wired=wired,
    )


# Numbers as tokens: 0 … n and the first token <s>


def _number_words(n: int) -> Words:
    return Words((Family("value", 0, n),), ("<s>",))


def _number_precision(n: int) -> int:
    """2v·i and i² for v, i up to n, exactly."""
    return least_odd_precision(lambda q: 2 * n.bit_length() + 1)


def _writes(value: Affine, words: Words) -> tuple[Gadget, ...]:
    return decide([Rule(f"write {value}", (as_affine(1),), Write(value, "value"))], words)


def shift_register(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes the number that stands two tokens before the last one."""
    words = _number_words(n)
    block = BlockPlan((), _writes(back(NUMBER, KEPT - 1), words))
    block = BlockPlan((), block.gadgets, window([block]))
    return linear(
        "shift", "Lemma C.20", wired_of("shift", "Lemma C.20", (), frozenset(), n, words, (block,), arithmetic)
    )


def number_sum(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes the sum of all numbers so far, or n if it is more."""
    words = _number_words(n)
    rest = Gadget("shown := min(sum, n)", (Unit(n - reg("sum"), as_affine(-1), {"shown": 1}),))
    blocks = (
        BlockPlan((), (rest, constant("n", {"shown": n})), (running_sum("sum", reg(NUMBER), "sum"),)),
        BlockPlan((), _writes(reg("shown"), words)),
    )
    return linear("sum", "Lemma C.21", wired_of("sum", "Lemma C.21", (), frozenset(), n, words, blocks, arithmetic))


def parity(n: int, arithmetic: Arithmetic) -> Rnn:
    """Writes whether the number of 1s so far is even or odd, from one number of state: h ← h + x − 2·h·x.

    Not a Linear RNN: its transition multiplies state and input.
    """
    numbers = NumberBuilder(Builder(), arithmetic.format)
    unit, discipline = 1 << numbers.fraction, arithmetic.discipline
    states, inputs = ["h"], ["x[1]", "x[even]", "x[odd]"]
    h = state_number(numbers, states[0])
    x, _, _ = (input_number(numbers, name) for name in inputs)
    both = numbers.multiply(h, x)
    odd = numbers.dot([(unit, numbers.add(h, x)), (-2 * unit, both)], 0, discipline)
    outputs = {"o[1]": numbers.constant(0), "o[even]": numbers.dot([(-unit, odd)], unit, discipline), "o[odd]": odd}
    made = step(numbers, states, inputs, outputs, [odd])
    vocabulary = ("0", "1", "even", "odd")
    rows = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float64)
    return Rnn("parity", "definition 3.3", n, arithmetic, vocabulary, made, rows, np.zeros(3), rows)


SMALL = {
    model.name: model
    for model in (
        Model("shift", "Lemma C.20", "writes the number two tokens before", _number_precision, shift_register),
        Model("sum", "Lemma C.21", "writes the sum of the numbers so far, at most n", _number_precision, number_sum),
        Model("parity", "definition 3.3", "writes whether there were even or odd many 1s", lambda n: 5, parity),
    )
}


def find_models() -> dict[str, Model]:
    """Every model by name: the small ones, then the Linear RNNs among the constructions."""
    found = dict(SMALL)
    for item in find_constructions():
        if item.model in ("rag", "cot"):
            name = item.name if item.name not in found else f"{item.name}-{item.model}"
            found[name] = Model(name, item.source, item.statement, item.least_precision, partial(_build, name, item))
    return found


def _build(name: str, item: Construction, n: int, arithmetic: Arithmetic) -> Rnn:
    """The weights of a Linear RNN are the same at every precision."""
    return linear(name, item.source, replace(item.build(n, ()), arithmetic=arithmetic))
