"""RNNs as a user brings them, each in a few lines, and beside each what it says, by code that shares nothing with it.

SOURCE: files for `--rnn`. CIRCUITS: step circuits for `--circuit`, with their words. SAID: prompt → the word of each step.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from circuits import aiger
from circuits.aiger_read import read
from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.models import Rnn
from circuits.rnn import load_object as door
from circuits.transition import load_python, load_step
from precision.format import Discipline

Said = Callable[[Sequence[int]], list[str]]

SOURCE = {
    "latch": """
STATE_BITS = 1
WORDS = ("hold", "set", "reset")
RNN = (lambda: 0, lambda s, w: {"hold": s, "set": 1, "reset": 0}[w], lambda s, q: ("off", "on")[s])
""",
    "counter": """
STATE_BITS = 3
WORDS = range(2)
RNN = (lambda: 0, lambda s, w: (s + w) % 5, lambda s, q: s)
""",
    "automaton": """
import random
r = random.Random(7)
TABLE = [[r.randrange(9) for _ in range(3)] for _ in range(9)]
STATE_BITS = 4
WORDS = "a b c".split()
RNN = (lambda: "q0", lambda s, w: f"q{TABLE[int(s[1:])]['abc'.index(w)]}", lambda s, q: "yes" if int(s[1:]) % 2 else "no")
""",
    "hash": """
STATE_BITS = 16
WORDS = (0, 1)
RNN = (lambda: 1, lambda s, w: (s * 5 + 77 * w + 1) % 2**16, lambda s, q: s >> 15)
""",
    "relu": """
import numpy as np
W = np.array([[1, -1, 0, 1], [0, 1, 1, -1], [-1, 0, 1, 1], [1, 1, -1, 0]])
U = np.array([1, -1, 2, 0])
STATE_BITS = 8
WORDS = (0, 1)
RNN = (lambda: np.zeros(4, int), lambda s, w: np.clip(W @ s + U * (2 * w - 1), 0, 3), lambda s, q: int(s.sum() > 4))
""",
    "gru": """
import numpy as np
W = np.array([[2, -1, 1], [-1, 2, -2], [1, -2, 1]])
V = np.array([[1, -2, 1], [2, 1, -1], [-1, 1, 2]])
U = np.array([3, -3, 2])
STATE_BITS = 9
WORDS = (0, 1)
def step(h, w):
    x = 2 * w - 1
    z = np.clip((W @ h + 3 * x) // 4 + 2, 1, 4)
    r = np.clip((W.T @ h - x) // 4 + 3, 0, 4)
    c = np.clip(V @ (r * h // 4) + U * x, -3, 3)
    return ((4 - z) * h + z * c) // 4
RNN = (lambda: np.zeros(3, int), step, lambda h, q: int(h[0] > 0))
""",
}


def latch_said(prompt: Sequence[int], start: int = 2) -> list[str]:
    """start: what it holds before the first word, 1 for on, 2 for off."""
    return [
        "on" if next((w for w in reversed(prompt[: i + 1]) if w), start) == 1 else "off" for i in range(len(prompt))
    ]


def automaton_said(prompt: Sequence[int]) -> list[str]:
    draw = random.Random(7)
    cells = [draw.randrange(9) for _ in range(27)]
    state, said = 0, []
    for word in prompt:
        state = cells[3 * state + word]
        said.append(("no", "yes")[state & 1])
    return said


def hash_said(prompt: Sequence[int]) -> list[str]:
    state, said = 1, []
    for word in prompt:
        state = (5 * state + (78 if word else 1)) & 0xFFFF
        said.append(str(state // 32768))
    return said


def relu_said(prompt: Sequence[int]) -> list[str]:
    a = b = c = d = 0
    said = []
    for word in prompt:
        x = 1 if word else -1
        sums = (a - b + d + x, b + c - d - x, c + d - a + 2 * x, a + b - c)
        a, b, c, d = (min(3, max(0, value)) for value in sums)
        said.append("1" if a + b + c + d > 4 else "0")
    return said


def gru_said(prompt: Sequence[int]) -> list[str]:
    a = b = c = 0
    said = []

    def cut(low: int, value: int, high: int) -> int:
        return sorted((low, value, high))[1]

    for word in prompt:
        x = 1 if word else -1
        z = [cut(1, (total + 3 * x) // 4 + 2, 4) for total in (2 * a - b + c, 2 * b - a - 2 * c, a - 2 * b + c)]
        r = [cut(0, (total - x) // 4 + 3, 4) for total in (2 * a - b + c, 2 * b - a - 2 * c, a - 2 * b + c)]
        d, e, f = (gate * value // 4 for gate, value in zip(r, (a, b, c), strict=True))
        new = [cut(-3, total, 3) for total in (d - 2 * e + f + 3 * x, 2 * d + e - f - 3 * x, e + 2 * f - d + 2 * x)]
        a, b, c = ((4 - u) * old + u * late >> 2 for u, old, late in zip(z, (a, b, c), new, strict=True))
        said.append(str(int(a > 0)))
    return said


# Circuits: adders over bits, the lowest first


def add(a: Sequence[Bit], b: Sequence[Bit], carry: Bit) -> Iterator[Bit]:
    """Yields the bits of a + b + carry modulo 2^len(a)."""
    for x, y in zip(a, b, strict=True):
        yield x ^ y ^ carry
        carry = (x & y) | (carry & (x ^ y))


def circuit_of(bits: int, inputs: int, start: int, step: Any, says: Any) -> Circuit:
    """Returns the circuit of step(builder, word, state) → state, which says some of its bits."""
    builder = Builder()
    state = [builder.state(f"s{i}", start >> i & 1) for i in range(bits)]
    word = [builder.input(f"w{i}") for i in range(inputs)]
    after = list(step(builder, word, state))
    return builder.circuit({f"o{i}": bit for i, bit in enumerate(says(after))}, after)


def mixed(builder: Builder, word: Sequence[Bit], state: Sequence[Bit]) -> Iterator[Bit]:
    """40 bits: x = s ⊕ ⌊s/2^7⌋; s ← 5x + w."""
    zero, bits = builder.zero, len(state)
    x = [a ^ b for a, b in zip(state, [*state[7:], *[zero] * 7], strict=True)]
    return add(x, [zero, zero, *x[: bits - 2]], word[0])


def tripled(builder: Builder, word: Sequence[Bit], state: Sequence[Bit]) -> Iterator[Bit]:
    """256 bits: s ← 3s + w, w a number of four bits."""
    zero, bits = builder.zero, len(state)
    twice = list(add([zero, *state[: bits - 1]], [*word, *[zero] * (bits - len(word))], zero))
    return add(state, twice, zero)


WIDE_START = int("9e3779b97f4a7c15" * 4, 16)
CIRCUITS: dict[str, tuple[Circuit, dict[str, dict[str, str]]]] = {
    "wide hash": (
        circuit_of(40, 1, 0x9E3779B97F, mixed, lambda after: [after[39]]),
        {"inputs": {"0": "0", "1": "1"}, "outputs": {"0": "0", "1": "1"}},
    ),
    "linear recurrence": (
        circuit_of(256, 4, WIDE_START, tripled, lambda after: after[254:]),
        {
            "inputs": {str(w): f"{w:04b}"[::-1] for w in range(16)},
            "outputs": {f"{w:02b}"[::-1]: f"top{w}" for w in range(4)},
        },
    ),
}


def wide_hash_said(prompt: Sequence[int]) -> list[str]:
    state, said = 0x9E3779B97F, []
    for word in prompt:
        state = (5 * (state ^ (state >> 7)) + word) % 2**40
        said.append(str(state >> 39))
    return said


def linear_said(prompt: Sequence[int]) -> list[str]:
    state, said = WIDE_START, []
    for word in prompt:
        state = (3 * state + word) % 2**256
        said.append(f"top{state >> 254}")
    return said


SAID: dict[str, Said] = {
    "latch": latch_said,
    "counter": lambda prompt: [str(sum(prompt[: i + 1]) % 5) for i in range(len(prompt))],
    "automaton": automaton_said,
    "hash": hash_said,
    "relu": relu_said,
    "gru": gru_said,
    "wide hash": wide_hash_said,
    "linear recurrence": linear_said,
}


def bring(name: str, discipline: Discipline = Discipline.FUSED) -> Rnn:
    """Returns the RNN as the command makes it."""
    if name in CIRCUITS:
        return load_step(*CIRCUITS[name], name, None, discipline)
    module: dict[str, Any] = {}
    exec(SOURCE[name], module)
    given = door(module["RNN"], module["STATE_BITS"], name, module["WORDS"])
    return load_python(given, tuple(module["WORDS"]), None, discipline)


def step_of(rnn: Rnn) -> tuple[Circuit, dict[str, dict[str, str]]]:
    """Returns the step of an RNN over the bits of its words, the lowest first, and the words."""
    builder, step, p = Builder(), rnn.step, rnn.step.precision_bits
    states = [builder.state(f"s{i}", value) for i, value in enumerate(step.circuit.initial)]
    one = [
        builder.constant(int(i == p // 2 - 1)) for i in range(p - 1)
    ]  # the digit that counts 1; a sign is a bit of the word
    read_bits = [bit for i, _ in enumerate(step.inputs) for bit in (*one, builder.input(f"w{i}"))]
    outputs, following = builder.add(step.circuit, read_bits, states)
    circuit = builder.circuit({f"o{i}": bit for i, bit in enumerate(outputs[p - 1 :: p])}, following)
    bits = {word: f"{i:0{len(step.inputs)}b}"[::-1] for i, word in enumerate(rnn.vocabulary)}
    known = len(rnn.vocabulary) - len(rnn.unread)
    return circuit, {"inputs": dict([*bits.items()][:known]), "outputs": {code: word for word, code in bits.items()}}


def by_aiger(name: str, path: Path) -> Rnn:
    """Returns the RNN as the command makes it of an AIGER file, which is written here and read again."""
    circuit, words = CIRCUITS[name] if name in CIRCUITS else step_of(bring(name))
    aiger.write(circuit, path)
    return load_step(read(path), words, name)


def draw(rnn: Rnn, rng: random.Random, length: int) -> list[int]:
    """Returns the words of a prompt, as numbers."""
    return [rng.randrange(len(rnn.vocabulary) - len(rnn.unread)) for _ in range(length)]
