"""Circuits as AIGER files, ASCII (.aag) and binary (.aig), both ways.

Source: A. Biere, The AIGER And-Inverter Graph (AIGER) Format, version 20071012; reset values from AIGER 1.9 (2011).
A literal is 2·variable, plus 1 for its negation; literal 0 is false. Variables are numbered inputs first, then state
bits (latches), then ANDs. An XOR is three ANDs, a negation is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from circuits.circuit import Circuit, GateKind
from constructions.exports.files import write_bytes

SUFFIXES = (".aag", ".aig")
And = tuple[int, int, int]  # left-hand side > both right-hand sides, as literals


@dataclass(frozen=True)
class AigerGraph:
    """An and-inverter graph. latches: (literal, next literal, reset). ands: in order of their left-hand sides."""

    inputs: tuple[str, ...]
    latches: tuple[tuple[str, int, int], ...]
    outputs: tuple[tuple[str, int], ...]
    ands: tuple[And, ...]

    @property
    def largest(self) -> int:
        return len(self.inputs) + len(self.latches) + len(self.ands)


def graph(circuit: Circuit) -> AigerGraph:
    """Returns a circuit as an and-inverter graph; equal ANDs are one."""
    literals: list[int] = []
    ands: list[And] = []
    literal_of: dict[tuple[int, int], int] = {}

    def conjunction(a: int, b: int) -> int:
        pair = (max(a, b), min(a, b))
        if pair[1] == 0 or pair[0] == pair[1] ^ 1:
            return 0
        if pair[1] in (1, pair[0]):
            return pair[0]
        if pair not in literal_of:
            literal_of[pair] = 2 * (len(circuit.inputs) + len(circuit.states) + len(ands) + 1)
            ands.append((literal_of[pair], *pair))
        return literal_of[pair]

    for kind, left, right in circuit.gates:
        if kind is GateKind.ONE:
            literals.append(1)
        elif kind is GateKind.INPUT:
            literals.append(2 * (left + 1))
        elif kind is GateKind.STATE:
            literals.append(2 * (len(circuit.inputs) + left + 1))
        else:
            a, b = literals[left], literals[right]
            if kind is GateKind.AND:
                literals.append(conjunction(a, b))
            elif min(a, b) <= 1:  # a negation, or nothing
                literals.append(max(a, b) ^ min(a, b))
            else:
                literals.append(conjunction(conjunction(a, b) ^ 1, conjunction(a ^ 1, b ^ 1) ^ 1))
    return AigerGraph(
        inputs=circuit.inputs,
        latches=tuple(
            (name, literals[place], start)
            for name, place, start in zip(circuit.states, circuit.next_state, circuit.initial, strict=True)
        ),
        outputs=tuple(
            (name, literals[place]) for name, place in zip(circuit.output_names, circuit.outputs, strict=True)
        ),
        ands=tuple(ands),
    )


def ascii_text(circuit: Circuit, comment: str = "") -> str:
    aig = graph(circuit)
    latch = 2 * (len(aig.inputs) + 1)
    lines = [
        _header("aag", aig),
        *(str(2 * (i + 1)) for i in range(len(aig.inputs))),
        *(f"{latch + 2 * i} {_latch(after, start)}" for i, (_, after, start) in enumerate(aig.latches)),
        *(str(literal) for _, literal in aig.outputs),
        *(f"{left} {a} {b}" for left, a, b in aig.ands),
    ]
    return "\n".join(lines) + "\n" + _symbols(aig, comment)


def binary(circuit: Circuit, comment: str = "") -> bytes:
    """Returns the bytes of an .aig file: left-hand sides are understood, an AND is two differences in groups of 7 bits."""
    aig = graph(circuit)
    lines = [
        _header("aig", aig),
        *(_latch(after, start) for _, after, start in aig.latches),
        *(str(literal) for _, literal in aig.outputs),
    ]
    ands = b"".join(_delta(left - a) + _delta(a - b) for left, a, b in aig.ands)
    return ("\n".join(lines) + "\n").encode() + ands + _symbols(aig, comment).encode()


def write(circuit: Circuit, path: Path, comment: str = "") -> None:
    """Writes .aag or .aig, as the name ends. Raises ValueError for another ending."""
    check_suffix(path)
    text = binary(circuit, comment) if path.suffix == ".aig" else ascii_text(circuit, comment).encode()
    write_bytes(path, text)


def check_suffix(path: Path) -> None:
    """Raises ValueError for a name that is neither .aag nor .aig."""
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path}: the name must end in {' or '.join(SUFFIXES)}")


def _header(word: str, aig: AigerGraph) -> str:
    return f"{word} {aig.largest} {len(aig.inputs)} {len(aig.latches)} {len(aig.outputs)} {len(aig.ands)}"


def _latch(after: int, start: int) -> str:
    return f"{after} {start}" if start else str(after)


def _symbols(aig: AigerGraph, comment: str) -> str:
    names = (("i", aig.inputs), ("l", [name for name, _, _ in aig.latches]), ("o", [name for name, _ in aig.outputs]))
    lines = [f"{letter}{i} {name}" for letter, group in names for i, name in enumerate(group)]
    if comment:
        lines += ["c", comment]
    return "".join(line + "\n" for line in lines)


def _delta(number: int) -> bytes:
    groups = bytearray()
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
