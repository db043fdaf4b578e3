"""A Transformer that runs an RNN gate by gate: four blocks, whatever the RNN is.

Source: Theorem 4.8.
Notation: one step is a circuit of C gates, numbered 1 … C (step.py), over R_p, p = 2q + 1; T = C + 1. After a prompt of n words,
step a = 0, 1, … is the C values of its gates and then the RNN's own word, at positions n + aT + 1 … n + (a + 1)T. A value v is
the word number v + 1 of the RNN, as in print. Step a reads the word of the prompt at position a + 1; after the prompt, its own
last word. P = position − n, and b = P mod T is the number of the gate at this position, 0 at a word. L bounds the positions.

Idea: the position alone says which gate is next. Block 1 divides P by T, block 2 has a table over b. The operands of a gate stand
at fixed distances, those of a bit of the state in the step before. The bits of an input number are found one after the other,
by comparison: digit 2^(q − r) is 1 iff the number is at least that much more than the digits before it.

Registers, by the block that writes them:
  embedding  says 0, says 1: of the RNN's words 1 and 2; x[…]: one for each number of a word
  1          step: ⌊P/T⌋ = a, by the rounding of a product (gadgets/quotient.py); value: that of a gate's token, 0 in the prompt
  2          source: a + 1; gate: b, that is P − T·a; then what the next gate is, from a table over b: is_…, left, right (how far
             back the operands stand), place (r), weight, pick …, initial; last: whether the RNN's word is next; address: of the
             step's word
  3          a, b: the operands' values; in …: the step's word; low: the digits before, 2^(s + 1) for the one s tokens back;
             bit: the value; number: of the next gate; below: what its digits so far and the next one count
  4          out …: the digits and sign of an output number; then the next token

Derivation of `source`: a head reads the position nearest to step + 1. In R_p that is the position step + 1 itself. Without
rounding, as in floating point, `step` is off by 1/2 − 1/(2T) at most; the scores have a factor GT, so the nearest position leads
by G.
Derivation of `low`: head s copies the value s tokens back for s ≤ r − 2, and otherwise reads position 1, where it is 0: there the
score has −F(r − s − 3/2), F = 4GL², which outweighs any distance.

OPEN Theorem 4.8
paper says: the positions of input bits are found, and a head copies the output there.
it leaves open: how a bit of a number is made of the word's registers. A linear form of them, all that a head reads, is no bit.
we use: comparisons, one digit after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from circuits.plan import Plan
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.gadgets.quotient import quotient, quotient_room
from constructions.parts.gadgets.threshold import threshold
from constructions.parts.heads.copy import before, copy, position_square_precision
from constructions.parts.heads.match import spelled_out_position_precision
from constructions.wiring.affine import Affine, Number, as_affine, reg
from constructions.wiring.finding import Finding
from constructions.wiring.lookup import Lookup, nearest_to
from constructions.wiring.needs import ONE, POSITION
from constructions.wiring.part import Setting, least_gap, least_odd_precision, log2, split_scale
from constructions.wiring.register import squared
from constructions.wiring.wire import BlockPlan, Component, Embedding, Gadget, Head, Unit, constant, linear
from precision.format import Discipline, Format

SOURCE = "Theorem 4.8"
INPUT_BITS = Finding(
    id="input-bits",
    source=SOURCE,
    printed="a head fetches the bit of the input",
    used="digits by comparison, one after the other",
    why="the print does not say how a bit is made of a word's registers: a linear form of them, all that a head reads, is no bit",
)
FINDINGS = (INPUT_BITS,)
TABLE = ("is_and", "is_xor", "is_state", "is_one", "is_input", "is_digit", "initial", "last")
OPERANDS = ("left", "right", "place", "weight")
SAYS = ("says 0", "says 1")  # of the RNN's words 1 and 2


def least_precision(plan: Plan, discipline: Discipline = Discipline.FUSED) -> int:
    """Returns the least p of the Transformer. Under `sequential` each term of a score must fit by itself."""
    turn, length, q_of_rnn = plan.turn, plan.length, plan.fraction
    largest = max(1, int(np.abs(plan.rnn.words).max())).bit_length()
    positions, steps, gates = length.bit_length(), (plan.steps + 1).bit_length(), turn.bit_length()
    of_step = max(2 * steps, 2 * positions if discipline is Discipline.SEQUENTIAL else 0)

    def bits(q: int) -> int:
        gap = log2(least_gap(q, length))
        return max(
            gap + 2 * positions + 3 + (plan.digits + 4).bit_length(),  # the scores of `low`
            gap + gates + of_step + 1,  # those of the step
            quotient_room(turn, length - plan.prompt),
            gates + positions + 1,  # T·position
            positions + steps + 1,  # the product that makes the address
            q_of_rnn + max(steps, q_of_rnn) + 4,  # comparisons, in steps of 2^−q
            q_of_rnn + 2 * gates + 4,  # the table, summed in order
            2 * q_of_rnn + 6,  # digits and sign of an output
            q_of_rnn + largest + len(plan.outputs).bit_length() + 1,  # logits of words
        )

    fused = max(least_odd_precision(bits), position_square_precision(turn, length))
    return fused if discipline is Discipline.FUSED else max(fused, spelled_out_position_precision(length) + 4)


def plan_of(plan: Plan, fmt: Format, printed: frozenset[str]) -> tuple[Embedding, tuple[BlockPlan, ...]]:
    """Returns the embedding and the blocks, not yet matrices. printed: ids of findings to put back to print."""
    setting = Setting(plan.gates, plan.length, fmt)
    blocks = (_divide(plan, fmt), _look_up(plan, setting), _operands(plan, setting), _write(plan, setting, printed))
    return _embedding(plan), blocks


def _embedding(plan: Plan) -> Embedding:
    rows: list[dict[str, Number]] = [
        {name: Fraction(float(x)) for name, x in zip(plan.numbers, row, strict=True) if name != plan.position}
        for row in plan.rnn.words
    ]
    for value, name in enumerate(SAYS):
        rows[value][name] = 1
    return Embedding(plan.rnn.vocabulary, rows, "position")


def _divide(plan: Plan, fmt: Format) -> BlockPlan:
    """Plans block 1: the step from the position, and the value that a gate's token says."""
    k, says = reg("position"), reg(SAYS[1])
    behind = k - plan.prompt
    return BlockPlan(
        (),
        (
            constant("1", {"one": 1}),
            square(k, squared("position")),
            indicator(k, 1, {"first": 1}, name="1[position = 1]"),
            quotient(behind, plan.turn, {"step": 1}, plan.length - plan.prompt, fmt, name="the step"),
            linear("the position after the prompt", behind + plan.turn, "gate"),
            threshold(behind, 1, {"value": 1}, times=says, name="a gate's value, 0 in the prompt"),
        ),
    )


def _look_up(plan: Plan, setting: Setting) -> BlockPlan:
    """Plans block 2: the gate's number and the table over it, a unit for each gate, second differences in every register."""
    k, k_squared, one = reg("position"), reg(squared("position")), reg("one")
    scale = setting.gap << plan.turn.bit_length()
    source = Head(
        "position step + 1",
        (
            Component(k_squared, -scale * one),
            Component(k, 2 * scale * (reg("step") + one)),
        ),
        {"source": k, "gate": -plan.turn * k},
        "Lemma C.17",
        (ONE, POSITION),
        Lookup(prefer=nearest_to(k, reg("step") + one, scale)),
    )
    here, nothing = reg("gate"), dict[str, Number]()
    around = [nothing, nothing, *plan.rows()]
    units = []
    for corner, (previous, at, following) in enumerate(zip(around, around[1:], around[2:], strict=False), start=-1):
        bends = {
            name: following.get(name, 0) - 2 * at.get(name, 0) + previous.get(name, 0)
            for name in dict.fromkeys((*previous, *at, *following))
        }
        units.append(Unit(here - corner, as_affine(1), {name: bend for name, bend in bends.items() if bend}))
    filled = dict.fromkeys((*TABLE, *OPERANDS, *(f"pick {name}" for name in plan.numbers)), 0)
    own = k - here  # where the last word stands
    return BlockPlan(
        (source,),
        (
            Gadget("the next gate", tuple(unit for unit in units if unit.into), {}, "Lemma C.4"),
            constant("registers of gates that this circuit has not", filled),
            linear("the RNN's own last word", own, "address"),
            threshold(
                plan.prompt - reg("source"),
                0,
                {"address": 1},
                times=reg("source") - own,
                name="within the prompt: word a + 1",
            ),
        ),
    )


def _operands(plan: Plan, setting: Setting) -> BlockPlan:
    """Plans block 3: the operands and the gate that they make, the step's word, and digits of the next gate's number."""
    k, k_squared, one, place = reg("position"), reg(squared("position")), reg("one"), reg("place")
    key_scale, query_scale = split_scale(setting.gap)

    def read_at(name: str, target: Affine, reads: Mapping[str, Affine]) -> Head:
        components = (
            Component(key_scale * k_squared, -query_scale * one),
            Component(key_scale * k, 2 * query_scale * target),
        )
        lookup = Lookup(prefer=nearest_to(k, target, setting.gap))
        return Head(name, components, reads, "Lemma C.13", (ONE, POSITION), lookup)

    reach = 4 * setting.gap * setting.length_bound**2  # F

    def back(s: int) -> Head:
        bonus = reach // 2 * ((2 * s + 3) * one - 2 * place)
        name, reads = f"the value {s} tokens back, if it is of the same number", {"low": 2 ** (s + 1) * reg("value")}
        head = copy(name, s, reads, setting)
        prefer = nearest_to(k, before(s)[0], setting.gap)
        components = (*head.components, Component(reg("first"), bonus))
        return replace(head, components=components, lookup=Lookup(prefer=prefer, penalty=-bonus))

    words = {f"in {name}": reg(name) for name in plan.numbers if name != plan.position}
    heads = (
        read_at("the left operand", k - reg("left"), {"a": reg("value")}),
        read_at("the right operand", k - reg("right"), {"b": reg("value")}),
        read_at("the step's word", reg("address"), words),
        *map(back, range(plan.digits + 1)),
    )
    a, b, low, unit = reg("a"), reg("b"), reg("low"), as_affine(1)
    values = (
        Unit(a + b + reg("is_and") - 2, unit, {"bit": 1}),
        Unit(a - b + reg("is_xor") - 1, unit, {"bit": 1}),
        Unit(b - a + reg("is_xor") - 1, unit, {"bit": 1}),
        Unit(a + reg("is_state") - 1, unit, {"bit": 1}),
        Unit(reg("initial") + 1 - reg("source"), unit, {"bit": 1}),  # in the first step, where a = 0
        Unit(reg("is_one"), unit, {"bit": 1}),
    )
    picks = tuple(
        Unit(reg(f"pick {name}"), reg("source") if name == plan.position else reg(f"in {name}"), {"number": 1})
        for name in plan.numbers
    )
    below = (Unit(low, reg("weight"), {"below": 1}), Unit(unit, reg("weight"), {"below": 1}))
    return BlockPlan(
        heads,
        (
            Gadget("the next gate's value, unless it is an input bit", values),
            Gadget("the next gate's number", picks),
            Gadget("its digits so far, and the next one", below),
        ),
    )


def _write(plan: Plan, setting: Setting, printed: frozenset[str]) -> BlockPlan:
    """Plans block 4: the next gate's value, or the RNN's word."""
    last = reg("last")
    read = {name: i for i, name in enumerate(plan.outputs) if name not in plan.fixed}
    heads = tuple(
        copy(
            f"the output {name}",
            plan.gates - plan.sign_gate(i),
            {f"out {name}": reg("low"), f"sign {name}": reg("value")},
            setting,
        )
        for name, i in read.items()
    )
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
    beyond = (
        1 << plan.digits - plan.fraction
    )  # more than any number of the RNN: a sign is no digit, however negative the number
    mirrored = -reg("number") - reg("below") + beyond * (reg("is_digit") - 1)
    one = {SAYS[1]: 1, SAYS[0]: -1}
    if INPUT_BITS.id in printed:
        bits: tuple[Gadget, ...] = (Gadget("the input's number", (Unit(as_affine(1), reg("number"), one),)),)
    else:
        bits = (
            threshold(digit, 0, one, margin=step, name="the next digit of a number that is not negative, or its sign"),
            threshold(mirrored, 0, one, margin=step, name="the next digit of a negative number"),
        )
    embedded = (*SAYS, *(name for name in plan.numbers if name != plan.position))
    clear = tuple(Unit(as_affine(1), -reg(name), {name: 1}) for name in embedded)
    return BlockPlan(
        heads,
        (
            Gadget("clear the embedding", clear),
            Gadget("0, unless it is 1 or a word", (Unit(1 - last, as_affine(1), {SAYS[0]: 1}),)),
            Gadget("the gate's value", (Unit(reg("bit"), as_affine(1), one),)),
            *bits,
            Gadget("the RNN's word", words),
            Gadget("what is the same in all of the RNN's words", (Unit(last, as_affine(1), plan.fixed),)),
        ),
    )
