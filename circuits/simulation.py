"""A Transformer that runs an RNN gate by gate: four blocks, whatever the RNN is.

Source: Theorem 4.8.
Notation: one step is a circuit of C gates, numbered 1 … C (step.py), over R_p, p = 2q + 1. A token of the chain of thought
is a gate with its value, or a word of the RNN. Step a = 0, 1, … is C gate tokens and then the RNN's own word, at positions
n + a(C + 1) + 1 … n + (a + 1)(C + 1) behind a prompt of n words. Step a reads the word of the prompt at position a + 1;
behind the prompt, its own last word. L bounds the positions.

Idea: a gate's operands are the last tokens of two gate numbers; of a gate of the next state, the last one is that of the
step before. So a state bit is read like any operand, and no step needs to be numbered. The bits of an input number are
found one after the other, by comparison: digit 2^(q − r) is 1 iff the number is at least that much more than the digits
before it.

Registers, by the block that writes them:
  embedding  gate, gate_squared, value, is_gate: of a gate token; x[…]: one for each number of a word
  1          what the next gate is, from a table over the gate's number: is_…, left, right (the operands), place (r), weight,
             pick …, initial; last: whether the RNN's word is next
  2          a, b: the operands' values; found; origin: where the first gate token stands; bit; address: of the step's word
  3          in …: the step's word; low: the digits before, 2^(s + 1) for the one s tokens back; number: of the next gate;
             below: what its digits so far and the next one count
  4          out …: the digits and sign of an output number; then the next token

Derivation of the address: with t = position − gate − n = a(C + 1), the word stands at (t + C + 1)/(C + 1) if t < n(C + 1),
at position − gate otherwise. 1/(C + 1) is rounded to m = bits(L) + 2 digits, so the address is off by 1/8 at most, and the
head takes the nearest position.
Derivation of `low`: head s copies the value s tokens back for s ≤ r − 2, and otherwise reads position 1, where it is 0: there the
score has −F(r − s − 3/2), F = 4GL², which outweighs any distance.
Position numbers are compared in units of 1/(C + 1): t + C + 1 against (C + 1)·2^(q−r).

ERRATUM Theorem 4.8
paper says: a token is its gate's value + 1, and the first feed-forward, of width O(C), finds a and b from the position.
we use: a token names its gate.
why: with U units it has at most U bends along the positions, and b falls back to 1 in every step: the table ends.
paper says: a head fetches the bit of the input.
we use: comparisons, one digit after the other.
why: a head reads a linear form of the word's registers; no bit of a number is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from circuits.plan import Plan
from constructions.models.building import chosen_of, format_of
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.heads.copy import before, nearest_key
from constructions.parts.heads.match import Pair, match, match_precision, pair
from constructions.parts.heads.match_close import match_close
from constructions.retrieval.attention import spelled_out_key_precision, spelled_out_position_precision
from constructions.wiring.affine import Affine, Number, as_affine, reg, total
from constructions.wiring.finding import Finding
from constructions.wiring.part import Setting, least_gap, least_odd_precision, log2, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, constant, linear, wire
from constructions.wiring.wired import Wired
from precision.format import Arithmetic, Discipline

SOURCE = "Theorem 4.8"
GATE_NUMBER = Finding(
    id="gate-number",
    source=SOURCE,
    printed="a token is its gate's value; a feed-forward of width O(C) finds the gate from the position",
    used="a token names its gate",
    why="a feed-forward has no more bends than units, and the gates start again in every step",
)
INPUT_BITS = Finding(
    id="input-bits",
    source=SOURCE,
    printed="a head fetches the bit of the input",
    used="digits by comparison, one after the other",
    why="a head reads linear forms, and no bit of a number is one",
)
FINDINGS = (GATE_NUMBER, INPUT_BITS)
TABLE = ("is_and", "is_xor", "is_state", "is_one", "is_input", "is_digit", "initial", "last")
OPERANDS = ("left", squared("left"), "right", squared("right"), "place", "weight")


def least_precision(plan: Plan, discipline: Discipline = Discipline.FUSED) -> int:
    """The least p of the Transformer. Under `sequential` each term of a score must fit by itself."""
    gates, length, q_of_rnn = plan.gates + 1, plan.length, plan.fraction
    largest = max(1, int(np.abs(plan.rnn.words).max())).bit_length()

    def bits(q: int) -> int:
        area = log2(least_gap(q, length)) + 2 * length.bit_length()
        return max(
            area + 3 + (plan.digits + 4).bit_length(),  # the scores of `low`
            2 * length.bit_length() + 4,  # the product that makes the address
            q_of_rnn + gates.bit_length() + max(length.bit_length(), q_of_rnn) + 4,  # comparisons, in steps of 2^−q
            q_of_rnn + 2 * gates.bit_length() + 4,  # the table, summed in order
            3 * gates.bit_length() + 4,
            2 * q_of_rnn + 6,  # digits and sign of an output
            q_of_rnn + largest + len(plan.outputs).bit_length() + 1,  # logits of words
            length.bit_length() + 2,  # the reciprocal
        )

    fused = max(least_odd_precision(bits), match_precision(gates, length))
    if discipline is Discipline.FUSED:
        return fused
    keys = spelled_out_key_precision(gates, length, by_position=True)
    return max(fused, keys, spelled_out_position_precision(length) + 4)


def build(
    plan: Plan,
    precision_bits: int | None = None,
    *,
    printed: Iterable[str] = (),
    discipline: Discipline = Discipline.FUSED,
) -> Wired:
    """The wired Transformer. printed: ids of findings to put back to print. Raises ValueError if p is even or too small."""
    chosen = chosen_of(FINDINGS, printed)
    least = least_precision(plan, discipline)
    fmt = format_of(least, precision_bits, f"{plan.gates:,} gates and {plan.length:,} positions")
    setting = Setting(plan.gates, plan.length, fmt)
    embedding = _embedding(plan)
    blocks = (_look_up(plan, chosen), _operands(plan, setting), _word(plan, setting), _write(plan, setting, chosen))
    model, registers = wire(embedding, blocks, embedding.words, fmt)
    ids = [finding.id for finding in FINDINGS]
    return Wired(
        construction="simulate",
        source=SOURCE,
        variant="printed" if chosen == set(ids) else "repaired",
        printed=tuple(i for i in ids if i in chosen),
        n=plan.prompt,
        arithmetic=Arithmetic(fmt, discipline),
        model=model,
        registers=registers,
        vocabulary=embedding.vocabulary,
        blocks=blocks,
    )


def gate_word(gate: int, value: int) -> str:
    """The token of a gate, numbered from 1."""
    return f"{gate}={value}"


def _embedding(plan: Plan) -> Embedding:
    names = plan.numbers
    rows: list[Mapping[str, Number]] = [
        {name: Fraction(float(value)) for name, value in zip(names, row, strict=True) if name != plan.position}
        for row in plan.rnn.words
    ]
    of_square = squared("gate")
    gates: list[Mapping[str, Number]] = [
        {"gate": g, of_square: g * g, "value": v, "is_gate": 1} for g in range(1, plan.gates + 1) for v in (0, 1)
    ]
    words = [gate_word(g, v) for g in range(1, plan.gates + 1) for v in (0, 1)]
    return Embedding((*plan.rnn.vocabulary, *words), (*rows, *gates), "position")


def _look_up(plan: Plan, printed: frozenset[str]) -> BlockPlan:
    """Block 1: the table, one unit for each gate and its second differences in every register."""
    k = reg("position")
    here = k - plan.prompt if GATE_NUMBER.id in printed else reg("gate")
    rows = plan.rows()
    nothing: dict[str, Number] = {}
    around = [nothing, nothing, *rows, nothing, nothing]
    units = []
    for i in range(len(rows) + 2):
        before, at, after = around[i : i + 3]
        names = dict.fromkeys((*before, *at, *after))
        bends = {
            name: Fraction(after.get(name, 0)) - 2 * Fraction(at.get(name, 0)) + Fraction(before.get(name, 0))
            for name in names
        }
        units.append(Unit(here - (i - 1), as_affine(1), {name: bend for name, bend in bends.items() if bend}))
    filled = dict.fromkeys((*TABLE, *OPERANDS, *(f"pick {name}" for name in plan.numbers)), 0)
    return BlockPlan(
        (),
        (
            Gadget("the next gate", tuple(unit for unit in units if unit.into), {}, "Lemma C.4"),
            constant("registers of gates that this circuit has not", filled),
            constant("1", {"one": 1}),
            square(k, squared("position")),
            indicator(k, 1, {"first": 1}, name="1[position = 1]"),
        ),
    )


def _operands(plan: Plan, setting: Setting) -> BlockPlan:
    """Block 2: the operands, the gate that they make, and where the step's word stands."""
    c = plan.gates
    gate = reg("gate")

    def operand(which: str, reads: Mapping[str, Affine]) -> Head:
        return match_close(f"the last token of gate {which}", (pair("gate", which),), reads, setting)

    one = reg("one")
    first_gate = Pair(gate, one, reg(squared("gate")), one)
    heads = (
        operand("left", {"a": reg("value"), "found": reg("is_gate")}),
        operand("right", {"b": reg("value")}),
        match("the first token of gate 1", (first_gate,), {"origin": reg("position")}, setting),
    )
    a, b, unit = reg("a"), reg("b"), as_affine(1)
    values = (
        Unit(a + b + reg("is_and") - 2, unit, {"bit": 1}),
        Unit(a - b + reg("is_xor") - 1, unit, {"bit": 1}),
        Unit(b - a + reg("is_xor") - 1, unit, {"bit": 1}),
        Unit(a + reg("is_state") - 1, unit, {"bit": 1}),
        Unit(reg("initial") - reg("found"), unit, {"bit": 1}),
        Unit(reg("is_one"), unit, {"bit": 1}),
    )
    behind = reg("position") - gate  # of the step's start: n + a(C + 1)
    digits = plan.length.bit_length() + 2
    reciprocal = Fraction(round(Fraction(1 << digits, c + 1)), 1 << digits)
    since = behind - reg("origin") + (c + 2)  # (a + 1)(C + 1)
    left = (c + 2) * (reg("origin") - 1) - behind  # (n − a)(C + 1), in steps of C + 1
    address = (
        linear("the RNN's own last word", behind, "address"),
        threshold(left, 1, {"address": 1}, times=reciprocal * since - behind, name="within the prompt: word a + 1"),
    )
    return BlockPlan(heads, (Gadget("the next gate's value, unless it is an input bit", values), *address))


def _word(plan: Plan, setting: Setting) -> BlockPlan:
    """Block 3: the step's word, and the digits of the next gate's number so far."""
    k, k_squared, one, address = reg("position"), reg(squared("position")), reg("one"), reg("address")
    key_scale, query_scale = split_scale(2 * setting.gap)
    nearest = Head(
        "the step's word",
        (
            Component(key_scale * k_squared, -query_scale * one, "−2G·k'²"),
            Component(key_scale * k, 2 * query_scale * address, "+4G·k'·address"),
        ),
        {f"in {name}": reg(name) for name in plan.numbers if name != plan.position},
        "Lemma C.17",
    )
    reach = 4 * setting.gap * setting.length_bound**2  # F
    back = [
        Head(
            f"the value {s} tokens back, if it is of the same number",
            (
                *nearest_key(*before(s), f"(k − {s})", split_scale(setting.gap)),
                Component(
                    reg("first"), reach // 2 * ((2 * s + 3) * one - 2 * reg("place")), "F·(s − r + 3/2) at k' = 1"
                ),
            ),
            {f"low{s}": 2 ** (s + 1) * reg("value")},
            "Lemma C.13",
        )
        for s in range(plan.digits + 1)
    ]
    low = total(reg(f"low{s}") for s in range(plan.digits + 1))
    since = reg("position") - reg("gate") - reg("origin") + (plan.gates + 2)
    picks = [
        Unit(reg(f"pick {name}"), since if name == plan.position else reg(f"in {name}"), {"number": 1})
        for name in plan.numbers
    ]
    below = (Unit(low, reg("weight"), {"below": 1}), Unit(as_affine(1), reg("weight"), {"below": 1}))
    return BlockPlan(
        (nearest, *back),
        (
            Gadget("the next gate's number", tuple(picks)),
            Gadget("its digits so far, and the next one", below),
            linear("the digits", low, "low"),
        ),
    )


def _write(plan: Plan, setting: Setting, printed: frozenset[str]) -> BlockPlan:
    """Block 4: the next gate with its value, or the RNN's word."""
    one, gate, last = reg("one"), reg("gate"), reg("last")
    heads = []
    read = {name: i for i, name in enumerate(plan.outputs) if name not in plan.fixed}
    for name, i in read.items():
        sign = plan.sign_gate(i)
        output = Pair(gate, sign * one, reg(squared("gate")), sign * sign * one)
        reads = {f"out {name}": reg("low"), f"sign {name}": reg("value")}
        heads.append(match_close(f"the output {name}", (output,), reads, setting))
    closed = 1 << (plan.digits + 3)
    words = tuple(
        Unit(
            reg(f"out {name}") - 2 * reg(f"sign {name}") - closed * (1 - last),
            2 * reg(f"sign {name}") - 1,
            {name: Fraction(1, 1 << (plan.fraction + 2))},
        )
        for name in read
    )
    step = Fraction(1, 1 << plan.fraction)
    digit = reg("number") - reg("below") + (reg("is_input") - 1)
    mirrored = -reg("number") - reg("below") + (reg("is_digit") - 1)
    if INPUT_BITS.id in printed:
        bits: tuple[Gadget, ...] = (linear("the input's number", 2 * reg("number"), "value"),)
    else:
        bits = (
            threshold(
                digit, 0, {"value": 2}, margin=step, name="the next digit of a number that is not negative, or its sign"
            ),
            threshold(mirrored, 0, {"value": 2}, margin=step, name="the next digit of a negative number"),
        )
    embedded = ("gate", squared("gate"), "value", "is_gate", *(name for name in plan.numbers if name != plan.position))
    clear = tuple(Unit(as_affine(1), -reg(name), {name: 1}) for name in embedded)
    return BlockPlan(
        tuple(heads),
        (
            Gadget("clear the embedding", clear),
            linear("the next gate", 2 * gate + 2 - 2 * (plan.gates + 1) * last, "gate"),
            constant("−1 for squares", {squared("gate"): -1}),
            linear("its value", 2 * reg("bit") - 1 + last, "value"),
            *bits,
            Gadget("the RNN's word", words),
            constant("what is the same in all of the RNN's words", plan.fixed),
        ),
    )
