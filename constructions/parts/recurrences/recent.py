"""Keep registers of the last k inputs: a shift register.

Source: Lemma C.20.
Derivation: h_t[x-0] = X_t[x] and h_t[x-j] = h_{t−1}[x-(j − 1)]: every row of A and B has a single 1, so nothing is ever rounded.
State: one number for each register and each of the k inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from constructions.wiring.affine import Affine, reg
from constructions.wiring.part import Columns, Contract, Expected, Integer, Part, Setting
from constructions.wiring.register import register_before
from constructions.wiring.wire import BlockPlan, LinearUnit


def recent(name: str, registers: Sequence[str], depth: int) -> LinearUnit:
    """Wires `x-j` := register x of j inputs before, for each x of `registers` and j = 0 … depth − 1; 0 before the first input."""
    rows: dict[str, tuple[Affine, Affine]] = {}
    for x in registers:
        for j in range(depth):
            rows[register_before(x, j)] = (reg(register_before(x, j - 1)), Affine()) if j else (Affine(), reg(x))
    return LinearUnit(name, rows, "Lemma C.20")


def part(registers: Sequence[str], depth: int) -> Part:
    """Returns the lemma for these registers and the last `depth` inputs."""

    def oracle(setting: Setting, columns: Columns) -> Expected:
        length = len(columns[registers[0]])
        return {
            f"{x}-{j}": [columns[x][t - j] if t >= j else Fraction(0) for t in range(length)]
            for x in registers
            for j in range(depth)
        }

    def contract(setting: Setting) -> Contract:
        number = Integer(-setting.n, setting.n)
        outs = [register_before(x, j) for x in registers for j in range(depth)]
        return Contract(dict.fromkeys(registers, number), dict.fromkeys(outs, number), {})

    return Part(
        id="C.20",
        name="recent inputs",
        source="Lemma C.20",
        statement="A linear recurrence of Ck numbers keeps C registers of the last k inputs.",
        plan=lambda setting, printed: [BlockPlan((), (), (recent("recent", registers, depth),))],
        contract=contract,
        oracle=oracle,
        least_precision=lambda n, length: max(5, 2 * max(n.bit_length(), length.bit_length()) + 1),
    )


PART = part(["x"], 3)
