"""The operators of the reference engine on kinds: an affine row, a residual addition, a feed-forward sublayer.

Under `fused` a row is one operator; under `sequential` every product and partial sum is one, in index order, the bias last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from constructions.layers import FeedForward
from verify.certificates.kinds import Kind
from verify.certificates.model import Row, sparse
from verify.certificates.polynomial import ZERO, Polynomial, constant, total

UNDECIDED_GATE = (Fraction(0), Fraction(1))
HIDDEN = -5_000_000  # pseudo registers of what units hold, counted downwards: splits reach them as they do registers


def dot(
    kind: Kind, pairs: Sequence[tuple[Fraction, Polynomial]], bias: Fraction, where: str, fused: bool
) -> tuple[Kind, Polynomial]:
    """Σ weight·value + bias, rounded."""
    if fused:
        return kind.settle(total([*(value * w for w, value in pairs), constant(bias)]), where)
    result = ZERO
    for w, value in pairs:
        if value.terms:
            kind, product = kind.settle(value * w, where)
            kind, result = kind.settle(result + product, where)
    return kind.settle(result + constant(bias), where) if bias else (kind, result)


def row_of(kind: Kind, row: Row, bias: Fraction, where: str, fused: bool) -> tuple[Kind, Polynomial]:
    """One row of an affine map of the registers."""
    return dot(kind, [(w, kind.register(i)) for i, w in row], bias, where, fused)


def added(kind: Kind, register: int, change: Polynomial, where: str) -> Kind:
    """A residual addition."""
    kind, value = kind.settle(kind.register(register) + change, where)
    return kind.with_registers({register: value})


@dataclass(frozen=True)
class Unit:
    """One ReGLU unit."""

    gate: Row
    gate_bias: Fraction
    up: Row
    up_bias: Fraction


@dataclass(frozen=True)
class Sublayer:
    """A feed-forward sublayer by rows. down: register, weights over units, bias."""

    units: tuple[Unit, ...]
    down: tuple[tuple[int, Row, Fraction], ...]


def sublayer(weights: FeedForward) -> Sublayer:
    """The rows of these matrices."""
    units = tuple(
        Unit(sparse(gate), Fraction(float(a)), sparse(up), Fraction(float(b)))
        for gate, a, up, b in zip(weights.gate, weights.gate_bias, weights.up, weights.up_bias, strict=True)
    )
    written = np.flatnonzero(weights.down.any(axis=1) | (weights.down_bias != 0)).tolist()
    down = tuple((i, sparse(weights.down[i]), Fraction(float(weights.down_bias[i]))) for i in written)
    return Sublayer(units, down)


def feed_forward(
    kind: Kind, weights: Sublayer, where: str, names: Sequence[str], fused: bool, start: int = 0
) -> Iterator[Kind]:
    """The kind behind the sublayer, in parts where the sign of a gate asks for it.

    start: units before it are done, and what they hold stands in the pseudo registers HIDDEN, HIDDEN − 1, …
    """
    hidden: dict[int, Polynomial] = {}
    for number, unit in enumerate(weights.units[start:], start):
        at = f"{where}, unit {number}"
        if fused:  # a gate that stays shut stays so rounded or saturated
            gate = total([*(kind.register(i) * w for i, w in unit.gate), constant(unit.gate_bias)])
            if kind.sign(gate) < 0:
                continue
        kind, gate = row_of(kind, unit.gate, unit.gate_bias, f"{at}, gate", fused)
        sign = kind.sign(gate)
        # Between the corners of a hat or a threshold a gate is 0 or 1: two parts with numbers, not one with a form.
        if sign == 0 or (sign > 0 and kind.is_integer_affine(gate) and kind.bounds(gate) == UNDECIDED_GATE):
            whole = kind.with_registers(hidden)
            parts = whole.parts(gate)
            if len(parts) > 1:
                for part in parts:
                    yield from feed_forward(part, weights, where, names, fused, number)
                return
            if sign == 0:
                kind.split(gate, f"{at}, gate")
        if sign > 0:
            kind, up = row_of(kind, unit.up, unit.up_bias, f"{at}, up", fused)
            kind, hidden[HIDDEN - number] = kind.settle(gate * up, f"{at}, product")
    held = {**kind.registers, **hidden}
    for register, row, bias in weights.down:
        at = f"{where}, register {names[register]}"
        pairs = [(w, held[HIDDEN - i]) for i, w in row if HIDDEN - i in held]
        kind, change = dot(kind, pairs, bias, at, fused)
        kind = added(kind, register, change, at)
    yield replace(kind, registers={i: p for i, p in kind.registers.items() if i >= 0})
