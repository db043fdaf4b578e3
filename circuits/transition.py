"""The step circuit of somebody's own RNN: from its table if it is Python, from its gates if it is AIGER.

Source: definition 3.3, Theorem 4.8.
Notation: V words are numbered from 0, in k = ⌈log2 V⌉ bits. A word embeds as k numbers, 1 for a bit 1 and −1 for a bit 0, and the
step writes such numbers: of all words, the one that it writes has the largest product with them, k. A state is s bits.

Idea: a Python step is run once for each state that it reaches and each word. Each bit of the next state and of the word that is
written is then a table over k + s bits. From the last bit to the first, equal halves of tables are joined: a binary decision
diagram, whose nodes are gates. States that are never reached may become anything, and take no gates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits import rnn as door
from circuits.aiger_read import read
from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from circuits.models import Rnn
from circuits.numbers import Number, NumberBuilder
from circuits.ranges import Reads
from circuits.rnn import RnnError
from circuits.step import step
from constructions.models.building import format_of
from precision.format import Arithmetic, Discipline

MOST_BITS = 18  # of a state and a word together, where a step is a table
MOST_WORDS = 1 << 8
LEAST_PRECISION = 5  # of any R_p
Table = NDArray[np.int64]


@dataclass(frozen=True)
class _RnnWords:
    """The words of an RNN; the first `read` of them are those that it reads, the others it only writes."""

    all: tuple[str, ...]
    read: int

    def __post_init__(self) -> None:
        if len(self.all) < 2:
            raise RnnError(f"an RNN has two words or more, not {len(self.all)}")
        if len(self.all) > MOST_WORDS:
            raise RnnError(f"an RNN has at most {MOST_WORDS} words, not {len(self.all):,}")
        for word in self.all:
            if not word or word.split() != [word]:
                raise RnnError(f"a word has no spaces and is not empty: {word!r}")

    @property
    def bits(self) -> int:
        """k."""
        return (len(self.all) - 1).bit_length()


def load_file(
    text: str, words: Path | None, n: int | None, precision_bits: int | None, discipline: Discipline = Discipline.FUSED
) -> Rnn:
    """Returns the RNN of FILE.py[:NAME] or, with its words, of STEP.aag. n: a file without WORDS reads 0 … n. Raises ValueError."""
    if text.partition(":")[0].endswith((".aag", ".aig")):
        if words is None:
            raise RnnError(f"{text} is a circuit: --words says which bits its words are")
        return load_step(read(Path(text)), _document(words), text, precision_bits, discipline)
    if words is not None:
        raise RnnError(f"--words {words} is for a circuit; a Python file says its words itself, WORDS = (…)")
    given = door.load(text)
    tokens = tuple(range((1 if n is None else n) + 1)) if given.words is None else given.words
    return load_python(given, tokens, precision_bits, discipline)


def load_python(
    given: door.FunctionRnn,
    tokens: Sequence[Any],
    precision_bits: int | None = None,
    discipline: Discipline = Discipline.FUSED,
) -> Rnn:
    """Returns the RNN whose circuit is the table of a step over these tokens. Raises RnnError for more than MOST_BITS bits."""
    if given.reads_position:
        raise RnnError(
            f"{given.name}: its step reads the position; a circuit of one step has the state and the word alone"
        )
    if len({str(token) for token in tokens}) < len(tokens):
        raise RnnError(f"{given.name}: two of its words are the same")
    states, following, written = _explore(given, tokens)
    names = tuple(map(str, tokens))
    words = _RnnWords(tuple(dict.fromkeys((*names, *(word for row in written for word in row)))), len(tokens))
    number_of = {word: i for i, word in enumerate(words.all)}
    codes, width = _codes(states, MOST_BITS - words.bits)
    if width + words.bits > MOST_BITS:
        raise RnnError(
            f"{given.name}: {len(states):,} states and {len(words.all)} words take {width + words.bits} bits;"
            f" a step is a table of at most {MOST_BITS}"
        )
    inside = codes[:, None] << words.bits | np.arange(len(tokens))
    after, says = np.full((2, 1 << words.bits + width), -1, np.int64)
    after[inside] = codes[np.array(following)]
    says[inside] = [[number_of[word] for word in row] for row in written]

    def make(builder: Builder, word: list[Bit], state: list[Bit]) -> tuple[list[Bit], list[Bit]]:
        variables = [*word, *state]
        return _tabulate(builder, says, variables, words.bits), _tabulate(builder, after, variables, width)

    initial = [int(codes[0]) >> i & 1 for i in range(width)]
    rnn = _assemble(given.name, words, initial, make, precision_bits, discipline)
    _require_table(rnn, inside.ravel(), says, after, words.bits, width)
    return rnn


def load_step(
    circuit: Circuit,
    document: Any,
    name: str,
    precision_bits: int | None = None,
    discipline: Discipline = Discipline.FUSED,
) -> Rnn:
    """Returns the RNN of a step circuit as it is, between tables that turn words into its inputs and its outputs into words."""
    door.load_circuit(circuit, document, name)  # refuses words that do not fit
    inputs: Mapping[str, str] = document["inputs"]
    count = len(circuit.outputs)
    if 1 << count > 16 * MOST_WORDS:
        raise RnnError(f"{name} has {count} outputs; a word has at most {(16 * MOST_WORDS).bit_length() - 1} bits")
    word_of = {int("0" + bits, 2): word for bits, word in document["outputs"].items()}
    said = [word_of.get(code) or (f"{code:0{count}b}" if count else "") for code in range(1 << count)]
    words = _RnnWords(tuple(dict.fromkeys((*inputs, *said))), len(inputs))
    reads = np.full(1 << words.bits, -1, np.int64)
    reads[: words.read] = [int("0" + bits[::-1], 2) for bits in inputs.values()]
    number_of = {word: i for i, word in enumerate(words.all)}
    codes = [int("0" + f"{code:0{count}b}"[::-1], 2) for code in range(1 << count)] if count else [0]
    says = np.zeros(1 << count, np.int64)
    says[codes] = [number_of[word] for word in said]

    def make(builder: Builder, word: list[Bit], state: list[Bit]) -> tuple[list[Bit], list[Bit]]:
        bits = _tabulate(builder, reads, word, len(circuit.inputs))
        outputs, following = builder.add(circuit, bits, state)
        return _tabulate(builder, says, outputs, words.bits), following

    return _assemble(name, words, circuit.initial, make, precision_bits, discipline)


def _require_table(rnn: Rnn, places: Table, says: Table, after: Table, word_bits: int, width: int) -> None:
    """Raises ArithmeticError unless the circuit's outputs and next state are the table's at these places, each state and word."""
    p, step, lanes = rnn.step.precision_bits, rnn.step, len(places)

    def lane(bits: Table) -> int:
        return int.from_bytes(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes(), "little")

    def column(table: Table, bit: int) -> int:
        return lane(table >> bit & 1)

    one = (1 << lanes) - 1
    inputs = [one * (i == p // 2 - 1) for i in range(p)] * word_bits  # the digit that counts 1; then the sign
    inputs[p - 1 :: p] = [column(places, bit) for bit in range(word_bits)]
    states = [column(places, word_bits + bit) for bit in range(width)]
    outputs, following = step.circuit.run(inputs, [*states, *[0] * (len(step.circuit.states) - width)], lanes)
    said, became = says[places], after[places]
    signs = outputs[p - 1 :: p]
    if signs != [column(said, bit) for bit in range(word_bits)] or following[:width] != [
        column(became, bit) for bit in range(width)
    ]:
        raise ArithmeticError(f"{rnn.name}: its circuit is not its table")


def _document(path: Path) -> Any:
    """Returns what a file of words says. Raises RnnError."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RnnError(f"{path}: {' '.join(str(error).split())}") from error


def _explore(given: door.FunctionRnn, tokens: Sequence[Any]) -> tuple[list[Any], list[list[int]], list[list[str]]]:
    """Returns the states that are reached, the start first; the next state's number and the word written, by state and token."""
    following, written = list[list[int]](), list[list[str]]()
    most = (
        min(1 << given.state_bits, (1 << MOST_BITS) // len(tokens)) if given.state_bits <= MOST_BITS else 1 << MOST_BITS
    )
    with door.guard(given.name.partition(":")[0]) as wind:
        states = [given.start()]
        number_of, says = {door.key(states[0]): 0}, dict[int, str]()
        while len(following) < len(states):
            wind()
            row, before = list[int](), states[len(following)]
            for token in tokens:
                state = given.step(before, token, 0)
                if door.key(given.step(before, token, 0)) != (key := door.key(state)):
                    raise RnnError(f"{given.name}: from the same state, {token!r} leads to two states")
                if key not in number_of:
                    number_of[key] = len(states)
                    states.append(state)
                    if len(states) > most:
                        raise RnnError(_too_many(given, len(tokens)))
                if (number := number_of[key]) not in says:
                    says[number] = given.answer(states[number], ())[-1]
                row.append(number)
            following.append(row)
            written.append([says[number] for number in row])
    return states, following, written


def _too_many(given: door.FunctionRnn, words: int) -> str:
    """Returns the line for an RNN with more states than it declares, or than a table has room for."""
    if given.state_bits + (words - 1).bit_length() <= MOST_BITS:
        return f"{given.name}: it reaches more than the 2^{given.state_bits} states of STATE_BITS = {given.state_bits}"
    return (
        f"{given.name}: it reaches more states than a table of {MOST_BITS} bits, of state and word, has room for;"
        " an AIGER circuit of the step may have any number"
    )


def _codes(states: Sequence[Any], room: int) -> tuple[Table, int]:
    """Returns a number for each state, and its bits: those of the state's own whole numbers if there is room, else its rank."""
    try:
        fields = np.array([np.asarray(state).ravel() for state in states])
    except ValueError:
        fields = np.zeros(0)
    if fields.ndim == 2 and fields.dtype.kind in "biu":
        columns = [column - column.min() for column in fields.astype(object).T]
        widths = [int(column.max()).bit_length() for column in columns]
        if sum(widths) <= room:
            codes, width = np.zeros(len(states), np.int64), 0
            for column, bits in zip(columns, widths, strict=True):
                codes, width = codes + (column.astype(np.int64) << width), width + bits
            return codes, width
    return np.arange(len(states)), (len(states) - 1).bit_length()


def _tabulate(builder: Builder, table: Table, variables: Sequence[Bit], count: int) -> list[Bit]:
    """Returns the bits of a table's entries, the lowest first. An entry −1 may be anything. Variable i is bit i of a place."""
    result = []
    for bit in range(count):
        nodes = [builder.zero, builder.one]
        ids = np.where(table < 0, -1, table >> bit & 1)
        for variable in reversed(variables):
            low, high = np.split(ids, 2)
            low, high = np.where(low < 0, high, low), np.where(high < 0, low, high)
            pairs, place = np.unique(np.stack((low, high), axis=1), axis=0, return_inverse=True)
            made = []
            for a, b in pairs.tolist():
                if a != b:
                    nodes.append(nodes[a] ^ (variable & (nodes[a] ^ nodes[b])))
                made.append(a if a == b else len(nodes) - 1)
            ids = np.array(made, np.int64)[place.reshape(-1)]
        result.append(nodes[max(int(ids[0]), 0)])
    return result


def _assemble(
    name: str,
    words: _RnnWords,
    initial: Sequence[int],
    make: Any,
    precision_bits: int | None,
    discipline: Discipline,
) -> Rnn:
    """Returns the RNN whose step is make(builder, bits of the word, bits of the state) → (bits of the word written, next state)."""
    fmt = format_of(max(LEAST_PRECISION, 2 * words.bits.bit_length() + 1), precision_bits, name)
    numbers = NumberBuilder(Builder(), fmt)
    builder, p = numbers.builder, numbers.digits + 1
    states = [f"h{i + 1}" for i in range(max(1, -(-len(initial) // p)))]
    padding = len(states) * p - len(initial)
    start = [*initial, *[0] * padding]
    bits = [builder.state(f"{state}.{i + 1}", start[j * p + i]) for j, state in enumerate(states) for i in range(p)]
    inputs = [f"x[{i + 1}]" for i in range(words.bits)]
    word = [~numbers.input(f"{x}.").negative for x in inputs]
    written, following = make(builder, word, bits[: len(initial)])
    one = numbers.constant(1 << numbers.fraction).magnitude
    outputs = {f"o[{i + 1}]": Number(one, ~bit) for i, bit in enumerate(written)}
    after = [*following, *[builder.zero] * padding]
    next_state = [numbers.from_bits(after[i : i + p]) for i in range(0, len(after), p)]
    rows = np.array([[1.0 if i >> j & 1 else -1.0 for j in range(words.bits)] for i in range(len(words.all))])
    unit = 1 << numbers.fraction
    return Rnn(
        name=name,
        source="Theorem 4.8",
        n=len(words.all) - 1,
        arithmetic=Arithmetic(fmt, discipline),
        vocabulary=words.all,
        step=step(numbers, states, inputs, outputs, next_state),
        reads=Reads({}, {x: [unit * int(value) for value in column] for x, column in zip(inputs, rows.T, strict=True)}),
        words=rows,
        position=np.zeros(words.bits),
        unembed=rows,
        unread=frozenset(range(words.read, len(words.all))),
    )
