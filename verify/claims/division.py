"""Theorem 4.8: the gate in every step. A product that is rounded once is a whole quotient; a period of units is a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from constructions.engines.known import read_text
from constructions.parts.gadgets import periodic, quotient
from constructions.wiring.affine import reg
from constructions.wiring.wire import BlockPlan, Embedding, wire
from precision.format import Arithmetic, fixed_point
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.oracles.division_theorems import rounds_to_the_quotient, units_of_a_period
from verify.runs.parts import run_one_position

EXHAUSTIVE_TOP = 128  # of x, in the engine
DIVISORS, LARGEST = 24, 192  # of the hypothesis
BITS = (4, 8, 16, 32)  # of x/d, where its hard inputs are
TURN, PERIODS, P_BITS = 31, 3226, 101
POSITIONS = TURN * PERIODS


@dataclass(frozen=True)
class Division:
    """x/divisor for x up to `largest`."""

    divisor: int
    largest: int


@dataclass(frozen=True)
class Period:
    """A step of a run, from 0, with all of its positions."""

    period: int


def hypothesis_holds(case: Division) -> Counterexample | None:
    """Returns how a unit is not as the theorem assumes: gate 2^−s·X, constant within half a step of 2^(s−q)/d, S > X·d."""
    d, largest = case.divisor, case.largest
    q = max(2, quotient.quotient_room(d, largest))
    unit = quotient.quotient_unit(reg("x"), d, largest, fixed_point(2 * q + 1), {"out": 1})
    slope, offset, constant = unit.gate.terms["x"], unit.gate.constant, unit.up.constant * 2**q
    scale = 1 / slope
    twice_error = 2 * (constant - scale / d)
    right = (
        unit.up.terms == {}
        and offset == -slope * Fraction(d - 1, 2)
        and scale.denominator == constant.denominator == 1
        and abs(twice_error) <= 1
        and scale > d * (largest - Fraction(d - 1, 2))
        and all((number * 2**q).denominator == 1 for number in (slope, offset))
    )
    return None if right else Counterexample(scale=scale, offset=offset, constant=constant, twice_error=twice_error)


def divides(case: Division) -> Counterexample | None:
    """Returns the quotient at every multiple of d less 1, at it, and 1 more, next to the ends of the range; by integers alone."""
    d, largest = case.divisor, case.largest
    s = quotient.quotient_shift(d, largest)
    top = largest // d
    multiples = {m * d + off for m in (0, 1, 2, top // 2, top - 1, top) for off in (-1, 0, 1)}
    for x in sorted({*multiples, largest - 1, largest} & set(range(largest + 1)) if largest < 1 << 20 else multiples):
        if not 0 <= x <= largest:
            continue
        half, rest = divmod(2 << s, 2 * d)  # ρ in steps: 2^s/d, to nearest
        rho = half + (2 * rest > 2 * d or (2 * rest == 2 * d and half % 2))
        product = max(0, 2 * x - d + 1) * rho  # in steps of 2^−(s+1)
        nearest = (product + (1 << s)) >> (s + 1)
        if nearest != x // d:
            return Counterexample(x=x, expected=x // d, got=nearest)
    return None


@claim(quotient.PART.id, statement=quotient.PART.statement)
def test_quotient(check: Check, engine: str) -> None:
    check.proved(
        rounds_to_the_quotient(),
        by="the distance to m ± 1/2 as a sum of products of what is known",
        range="all d ≥ 1 and all x: the product lies less than 1/2 step from ⌊x/d⌋, or its gate is not above 0",
    )
    check.argued("A product less than half a step from m steps is rounded to m steps. The two units add up to m.")
    cases = [Division(d, largest) for largest in range(1, LARGEST + 1) for d in range(1, DIVISORS + 1)]
    text = f"what the theorem assumes, read off the weights: d to {DIVISORS}, bounds of x to {LARGEST}"
    check.exhaustive(cases, hypothesis_holds, count=DIVISORS * LARGEST, range=text, size=lambda case: case.largest)
    hard = [Division(d, (d << e) + d // 2) for d in (2, 3, 7, 31, 56, 108, 133, 4805, 65537) for e in BITS]
    text = "at multiples of d, 1 less and 1 more, up to 2^32·d, by integers alone"
    check.chosen(hard, divides, range=text, size=lambda case: case.largest)

    run_one_position(check, quotient.PART, engine, EXHAUSTIVE_TOP)


@claim(
    periodic.PART.id, statement=f"{periodic.PART.statement} Run at the least p; for d = {TURN} at p = {P_BITS} as well."
)
def test_gate_number(check: Check, engine: str) -> None:
    check.proved(
        [*rounds_to_the_quotient(), *units_of_a_period()],
        by="the distance to m ± 1/2 as a sum of products of what is known; what each unit divides, by expansion",
        range="all d ≥ 1 and all x: unit j is ⌊(x − j + d)/d⌋, a + 1 or a at x = a·d + b",
    )
    check.argued(
        "Units j and j + 1 differ at j = b alone, and there by 1; so the sum of entry times difference is entry b."
    )

    run_one_position(check, periodic.PART, engine, EXHAUSTIVE_TOP)
    table = [(7 * b * b + 3 * b + 1) % TURN for b in range(TURN)]
    tables = {"gate": list(range(TURN)), "out": table}
    fmt, scale = fixed_point(P_BITS), periodic.table_scale(tables)
    position = reg("position") - 1
    block = BlockPlan((), (periodic.periodic(position, tables, "period", POSITIONS, fmt),))
    embedding = Embedding(("token",), ({},), "position")
    model, registers = wire(embedding, (block,), ({},), fmt)
    (found,) = read_text(model, Arithmetic(fmt), [0] * POSITIONS, [2]).streams
    quantum_bits = -fmt.quantum_exponent
    columns = {name: found[registers.index(name)] for name in (*tables, "period")}

    def knows(case: Period) -> Counterexample | None:
        a = case.period
        here = slice(a * TURN, (a + 1) * TURN)
        got = {name: [scale * int(x) for x in column[here]] for name, column in columns.items()}
        wanted = {"gate": range(TURN), "out": table, "period": [a] * TURN}
        for name, values in wanted.items():
            if got[name] != [value << quantum_bits for value in values]:
                return Counterexample(register=name, expected=list(values), got_in_quanta=got[name])
        return None

    check.exhaustive(
        map(Period, range(PERIODS)),
        knows,
        count=POSITIONS,
        inputs=lambda _: TURN,
        range=f"C + 1 = {TURN}, every position to {POSITIONS:,}, p = {P_BITS}",
        size=lambda _: POSITIONS,  # n of its weights
        precision=f"p = {P_BITS}",
    )
