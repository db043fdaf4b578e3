"""Step circuits that nobody made for a task: AND and XOR gates drawn at random between latches, inputs and outputs."""

from __future__ import annotations

import random
from typing import NamedTuple

from circuits.builder import Builder
from circuits.circuit import Circuit
from circuits.models import Rnn
from circuits.transition import load_step

Words = dict[str, dict[str, str]]


class DrawnSizes(NamedTuple):
    """How many latches a step circuit has, and how many gates are drawn; folding leaves fewer, words and numbers add some."""

    latches: int
    gates: int
    seed: int = 0


def draw_circuit(drawn: DrawnSizes) -> tuple[Circuit, Words]:
    """Returns a step circuit with two inputs and two outputs, and its words."""
    rng, builder = random.Random(f"{drawn}"), Builder()
    bits = [builder.state(f"s{i}", rng.randrange(2)) for i in range(drawn.latches)]
    bits += [builder.input(f"w{i}") for i in range(2)]
    for _ in range(drawn.gates):
        left, right = rng.sample(bits[-4 * drawn.latches - 8 :], 2)
        bits.append(left ^ right if rng.random() < 0.6 else left & ~right)
    after, says = bits[-drawn.latches :], bits[-2:]
    texts = [f"{w:02b}" for w in range(4)]
    words = {"inputs": {f"in{w}": w for w in texts}, "outputs": {w: f"out{w}" for w in texts}}
    return builder.circuit({f"o{i}": bit for i, bit in enumerate(says)}, after), words


def draw_rnn(drawn: DrawnSizes) -> Rnn:
    """Returns the RNN of a step circuit that is drawn."""
    return load_step(*draw_circuit(drawn), f"{drawn.latches} latches, {drawn.gates} gates drawn")
