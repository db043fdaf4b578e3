"""The operators of the reference engine on states: an affine row, a residual addition, a feed-forward sublayer.

Under `fused` a row is one operator; under `sequential` every product and partial sum is one, in index order, the bias last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from constructions.places import name_part
from constructions.rows import Row, Sublayer, Weight
from verify.algebra.domains import Integer, Undecided, with_fields
from verify.algebra.polynomial import ZERO, Polynomial, atom, combination
from verify.rounding.abstract_state import AbstractState
from verify.rounding.rows import as_polynomial

SIGNS = (1, -1)
UNDECIDED_GATE = (Fraction(0), Fraction(1))
HIDDEN = -5_000_000  # pseudo registers of what units hold, counted downwards: splits reach them as they do registers


def dot(
    state: AbstractState, pairs: Sequence[tuple[Weight, Polynomial]], bias: Weight, where: str, fused: bool
) -> tuple[AbstractState, Polynomial]:
    """Returns Σ weight·value + bias, rounded. The values are elements of the format, so that ±value is one, and 0 + value."""
    pairs = [(w, value) for w, value in pairs if value.terms]
    if not bias and (not pairs or (len(pairs) == 1 and pairs[0][0] in SIGNS)):
        return state, _sum(pairs, bias)
    if fused:
        return state.round(_sum(pairs, bias), where)
    result = ZERO
    for w, value in pairs:
        product = value * w
        if w not in SIGNS:
            state, product = state.round(product, where)
        if result.terms:
            state, result = state.round(result + product, where)
        else:
            result = product
    return state.round(result + as_polynomial(bias), where) if bias else (state, result)


def _sum(pairs: Sequence[tuple[Weight, Polynomial]], bias: Weight) -> Polynomial:
    terms = [(value * w, 1) if isinstance(w, Polynomial) else (value, w) for w, value in pairs if value.terms]
    return combination([*terms, (as_polynomial(bias), 1)])


def row_of(state: AbstractState, row: Row, bias: Weight, where: str, fused: bool) -> tuple[AbstractState, Polynomial]:
    """Returns one row of an affine map of the registers."""
    return dot(state, [(w, state.register(i)) for i, w in row], bias, where, fused)


def added(state: AbstractState, register: int, change: Polynomial, where: str) -> AbstractState:
    """Returns a residual addition. Both are elements of the format."""
    old = state.register(register)
    value = old + change
    if old.terms and change.terms:
        state, value = state.round(value, where)
    return state.with_registers({register: value})


def feed_forward(
    state: AbstractState,
    weights: Sublayer,
    where: str,
    names: Sequence[str],
    fused: bool,
    done: frozenset[int] = frozenset(),
) -> Iterator[AbstractState]:
    """Yields the state after the sublayer, in parts where the sign of a gate asks for it.

    done: units that need not be looked at again; what open ones hold stands in the pseudo registers HIDDEN, HIDDEN − 1, …
    """
    hidden: dict[int, Polynomial] = {}
    shut: set[int] = set()
    gates: dict[int, Polynomial] = {}
    for number, unit in enumerate(weights.units):
        if number in done:
            continue
        at = f"{where}, {name_part('unit', number + 1)}"
        if not unit.up_bias and not any(state.register(i).terms for i, _ in unit.up):
            shut.add(number)  # whatever its gate is, it is multiplied by 0
            continue
        if fused:  # a gate that stays shut stays so rounded or saturated
            gate = _sum([(w, state.register(i)) for i, w in unit.gate], unit.gate_bias)
            gate = state.fixed(gate)  # a part may have one n left, whose forms do not speak of it any more
            sign = state.sign(gate)
            if sign < 0:
                shut.add(number)
                continue
            state, rounded = state.round(gate, f"{at}, gate")
            if rounded is not gate:
                gate, sign = rounded, state.sign(rounded)
        else:
            state, gate = row_of(state, unit.gate, unit.gate_bias, f"{at}, gate", fused)
            gate = state.fixed(gate)
            sign = state.sign(gate)
        # Between the corners of a hat or a threshold a gate is 0 or 1: two parts with numbers, not one with a form.
        if sign == 0 or (sign > 0 and state.is_integer_affine(gate) and state.bounds(gate) == UNDECIDED_GATE):
            # A part knows more of gates over the same atoms: those units are computed again.
            unrelated = {i for i, other in gates.items() if other.atoms.isdisjoint(gate.atoms)}
            whole = state.with_registers({HIDDEN - i: hidden[HIDDEN - i] for i in unrelated})
            if sign == 0 or len(whole.parts(gate)) > 1:
                for part in whole.split(gate, f"{at}, gate"):
                    yield from feed_forward(part, weights, where, names, fused, done | unrelated | shut)
                return
        if sign > 0:
            state, up = row_of(state, unit.up, unit.up_bias, f"{at}, up", fused)
            state, hidden[HIDDEN - number] = state.round(gate * up, f"{at}, product")
            gates[number] = gate
        else:
            shut.add(number)
    registers = {**state.registers, **hidden}
    for register, row, bias in weights.down:
        at = f"{where}, register {names[register]}"
        pairs = [(w, registers[HIDDEN - i]) for i, w in row if HIDDEN - i in registers]
        state, change = dot(state, pairs, bias, at, fused)
        state = added(state, register, change, at)
    yield with_fields(state, registers={i: p for i, p in state.registers.items() if i >= 0})


def loosened(
    state: AbstractState, weights: Sublayer, loose: frozenset[int], where: str, names: Sequence[str], fused: bool
) -> tuple[AbstractState, list[AbstractState]]:
    """Returns the state with whole numbers between bounds written to these registers; and the parts in which each has one form.

    The state itself is not split: what the registers depend on is forgotten.
    """
    all_parts: list[AbstractState] = []
    inputs = {i for unit in weights.units for row in (unit.gate, unit.up) for i, _ in row}
    for register, row, bias in weights.down:
        if register not in loose:
            continue
        if register in inputs:  # as it was before
            raise Undecided(where, f"register {names[register]} is read where it is written")
        others = frozenset(range(len(weights.units))) - {i for i, _ in row}
        alone = with_fields(weights, down=((register, row, bias),))
        parts = list(feed_forward(state, alone, where, names, fused, others))
        all_parts += parts
        values = [(part, part.register(register)) for part in parts]
        for part, value in values:
            if not part.is_integer_affine(value) or any(c.denominator != 1 for c in value.terms.values()):
                raise Undecided(where, f"register {names[register]} of {state.label} may be no whole number: {value}")
        ends = [part.bounds(value) for part, value in values]
        name = state.space.fresh("w")
        domain = Integer(int(min(low for low, _ in ends)), int(max(high for _, high in ends)))
        state = with_fields(state, box={**state.box, name: domain}).with_registers({register: atom(name)}).simplified()
    return state, all_parts
