"""Reading AIGER files, ASCII and binary: a circuit, or one line that says where the file is wrong.

Source: as `aiger`. Three ANDs that are an XOR become one again. Bad states (AIGER 1.9, lines `b`) are outputs. Constraints,
justice and fairness are not circuits and are refused, and so is a state bit without an initial value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from circuits.builder import Bit, Builder
from circuits.circuit import Circuit
from constructions.exports.files import open_input

MOST_VARIABLES = 1 << 24
MOST_BYTES = 1 << 28


class AigerError(ValueError):
    """A file that is no circuit; the message is one line."""


@dataclass
class _Cursor:
    """Where in the file we are."""

    data: bytes
    at: int = 0
    line: int = 0

    def next_line(self, what: str) -> str:
        """Returns the next line, which should be `what`."""
        self.line += 1
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise AigerError(f"line {self.line}: the file ends where {what} should be")
        text, self.at = self.data[self.at : end], end + 1
        try:
            return text.rstrip(b"\r").decode("utf-8")
        except UnicodeDecodeError:
            raise AigerError(f"line {self.line}: not text, where {what} should be") from None

    def numbers(self, what: str, least: int, most: int) -> list[int]:
        """Returns the numbers of the next line."""
        words = self.next_line(what).split(" ")
        if not least <= len(words) <= most or not all(word.isascii() and word.isdecimal() for word in words):
            raise AigerError(f"line {self.line}: {_short(' '.join(words))} where {what} should be")
        return [int(word) if len(word) < 20 else 1 << 60 for word in words]

    def delta(self, what: str) -> int:
        """Returns a difference in groups of 7 bits."""
        number = shift = 0
        while True:
            if self.at >= len(self.data):
                raise AigerError(f"byte {self.at}: the file ends within {what}")
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
            if shift > 35:
                raise AigerError(f"byte {self.at}: a difference of more than 35 bits, in {what}")


@dataclass
class _File:
    """What a file says, as literals. bad: how many of the outputs, the last ones, are bad states."""

    largest: int
    bad: int = 0
    inputs: list[int] = field(default_factory=list)
    latches: list[tuple[int, int, int]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    ands: dict[int, tuple[int, int]] = field(default_factory=dict)  # by variable
    names: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Circuit:
    """Returns the circuit in a file. Raises AigerError, and OSError."""
    with open_input(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise AigerError(f"{path}: more than {MOST_BYTES >> 20} MiB")
    try:
        return parse(data)
    except AigerError as error:
        raise AigerError(f"{path}: {error}") from None


def parse(data: bytes) -> Circuit:
    """Returns the circuit that the bytes of a file describe. Raises AigerError."""
    cursor = _Cursor(data)
    word, _, counts = cursor.next_line("the header `aag M I L O A` or `aig M I L O A`").partition(" ")
    fields = counts.split(" ")
    if word not in ("aag", "aig") or not all(x.isascii() and x.isdecimal() and len(x) < 20 for x in fields):
        raise AigerError("line 1: the header should be `aag M I L O A` or `aig M I L O A`")
    if not 5 <= len(fields) <= 9:
        raise AigerError(f"line 1: the header has {len(fields)} numbers, not 5")
    largest, inputs, latches, outputs, ands, *properties = map(int, fields)
    if any(properties[1:]):
        raise AigerError("line 1: constraints, justice and fairness are not read, only circuits")
    bad = sum(properties)
    if largest > MOST_VARIABLES or outputs + bad > MOST_VARIABLES:
        raise AigerError(f"line 1: more than {MOST_VARIABLES} variables or outputs")
    if inputs + latches + ands > largest or (word == "aig" and inputs + latches + ands < largest):
        raise AigerError(
            f"line 1: {inputs} inputs, {latches} state bits and {ands} ANDs do not make {largest} variables"
        )
    file = _File(largest, bad=bad)
    if word == "aag":
        _read_ascii(cursor, file, inputs, latches, outputs + bad, ands)
    else:
        _read_binary(cursor, file, inputs, latches, outputs + bad, ands)
    _read_symbols(cursor, file)
    return _circuit(file)


def _read_ascii(cursor: _Cursor, file: _File, inputs: int, latches: int, outputs: int, ands: int) -> None:
    defined = {0}

    def define(literal: int, what: str) -> int:
        if literal & 1 or literal // 2 in defined or literal > 2 * file.largest:
            raise AigerError(f"line {cursor.line}: {what} {literal} is odd, beyond {2 * file.largest} or there already")
        defined.add(literal // 2)
        return literal

    for _ in range(inputs):
        file.inputs.append(define(cursor.numbers("an input", 1, 1)[0], "input"))
    for _ in range(latches):
        literal, after, *start = cursor.numbers("a state bit", 2, 3)
        file.latches.append((define(literal, "state bit"), after, _start(cursor, literal, start)))
    for _ in range(outputs):
        file.outputs.append(cursor.numbers("an output", 1, 1)[0])
    for _ in range(ands):
        literal, a, b = cursor.numbers("an AND", 3, 3)
        file.ands[define(literal, "AND") // 2] = (a, b)


def _read_binary(cursor: _Cursor, file: _File, inputs: int, latches: int, outputs: int, ands: int) -> None:
    file.inputs = [2 * (i + 1) for i in range(inputs)]
    for i in range(latches):
        literal = 2 * (inputs + i + 1)
        after, *start = cursor.numbers("a state bit", 1, 2)
        file.latches.append((literal, after, _start(cursor, literal, start)))
    for _ in range(outputs):
        file.outputs.append(cursor.numbers("an output", 1, 1)[0])
    for i in range(ands):
        literal = 2 * (inputs + latches + i + 1)
        a = literal - cursor.delta(f"AND {i + 1} of {ands}")
        b = a - cursor.delta(f"AND {i + 1} of {ands}")
        if not 0 <= b <= a < literal:
            raise AigerError(f"byte {cursor.at}: AND {i + 1} of {ands} reads literals that are not before it")
        file.ands[literal // 2] = (a, b)


def _start(cursor: _Cursor, literal: int, start: Sequence[int]) -> int:
    if start and start[0] not in (0, 1):
        raise AigerError(f"line {cursor.line}: state bit {literal} starts as neither 0 nor 1")
    return start[0] if start else 0


def _read_symbols(cursor: _Cursor, file: _File) -> None:
    counts = {"i": len(file.inputs), "l": len(file.latches), "o": len(file.outputs) - file.bad, "b": file.bad}
    while cursor.at < len(cursor.data):
        line = cursor.next_line("a name or a comment")
        if line == "c":
            return
        place, _, name = line.partition(" ")
        number = place[1:]
        is_place = place[:1] in counts and number.isascii() and number.isdecimal() and len(number) < 20
        if not is_place or int(number) >= counts[place[0]] or not name:
            raise AigerError(f"{_short(line)} where a name, as in `i0 a1`, or the comment `c` should be")
        if (key := f"{place[0]}{int(number)}") in file.names:
            raise AigerError(f"line {cursor.line}: {key} has two names, {_short(file.names[key])} and {_short(name)}")
        file.names[key] = name


def _circuit(file: _File) -> Circuit:
    """Returns the graph as a circuit. Raises AigerError for one that is cyclic, dangles, or calls two bits alike."""
    builder = Builder()
    bits: dict[int, Bit] = {0: builder.zero}  # by variable
    try:
        for i, literal in enumerate(file.inputs):
            bits[literal // 2] = builder.input(file.names.get(f"i{i}", f"i{i}"))
        for i, (literal, _, start) in enumerate(file.latches):
            bits[literal // 2] = builder.state(file.names.get(f"l{i}", f"l{i}"), start)
    except ValueError as error:
        raise AigerError(str(error)) from None
    roots = [*file.outputs, *(after for _, after, _ in file.latches)]
    for variable in file.ands:
        _define(variable, file, bits)
    for literal in roots:
        if literal // 2 not in bits:
            raise AigerError(f"literal {literal} is read, and nothing defines it")
    read_out = [_literal(bits, literal) for literal in roots]
    outputs: dict[str, Bit] = {}
    for i, bit in enumerate(read_out[: len(file.outputs)]):
        first_bad = len(file.outputs) - file.bad
        key = f"o{i}" if i < first_bad else f"b{i - first_bad}"
        name = file.names.get(key, key)
        if name in outputs:
            raise AigerError(f"two outputs are called {_short(name)}")
        outputs[name] = bit
    return builder.circuit(outputs, read_out[len(file.outputs) :])


def _define(variable: int, file: _File, bits: dict[int, Bit]) -> None:
    """Defines an AND after all that it reads, without recursion: a path may be long."""
    path, open_ = [variable], set[int]()
    while path:
        top = path[-1]
        if top in bits:
            path.pop()
            continue
        if top not in file.ands:
            raise AigerError(f"literal {2 * top} is read, and nothing defines it")
        missing = [literal // 2 for literal in file.ands[top] if literal // 2 not in bits]
        if missing:
            if top in open_:
                raise AigerError(f"AND {2 * top} reads itself, directly or by way of others")
            open_.add(top)
            path += missing
            continue
        a, b = file.ands[top]
        pair = _xor_of(a, b, file)
        if pair is None:
            bits[top] = _literal(bits, a) & _literal(bits, b)
        else:
            bits[top] = _literal(bits, pair[0]) ^ _literal(bits, pair[1])
        path.pop()


def _xor_of(a: int, b: int, file: _File) -> tuple[int, int] | None:
    """Returns x, y if a ∧ b is x ⊕ y: both are negated ANDs, of x, y and of ¬x, ¬y."""
    if a & b & 1 and a // 2 in file.ands and b // 2 in file.ands:
        first, second = file.ands[a // 2], file.ands[b // 2]
        if {x ^ 1 for x in first} == set(second) and first[0] != first[1]:
            return first
    return None


def _literal(bits: dict[int, Bit], literal: int) -> Bit:
    bit = bits[literal // 2]
    return ~bit if literal & 1 else bit


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
