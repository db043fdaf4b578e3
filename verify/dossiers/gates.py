"""Proves of Theorem 4.8's weights, for every circuit of a shape, that the next token is the circuit's if all before it are.

Notation: as in circuits/simulation.py. Gates count from 0 here: the token of gate g in step a stands at n + a·T + g + 1.

What is shown of every circuit of one shape (shape.py) and prompts of n words, whatever their words are:
1. The table. Block 2 says at each gate what it is, of every circuit. So below, a row of the table may be any row.
2. Where heads look. An operand's head looks at the token of that gate, whichever gate before it is; of a state bit, at the one that
   it becomes, in the step before, or in the first step at a 0. The step's word is found, and the bits of a number before the next
   one, or else a 0.
3. What is written there. AND, XOR and 1 for both values of each operand; a bit of an input for each word; the word's registers for
   the least and the largest number of each output, of either sign, on which they depend by one line.
All else that a head may read lies between its bounds, and changes nothing. The word is then the one whose row has the largest
product with the output, in exact arithmetic.
4. The RNN's own word. Its logits are such products, rounded to its own p: whatever bits the output has, none is rounded.
By induction over positions (rnn/lemmas/gates.smt2), a run is the circuit's.

Numbers are those of the rounded machine. What is right is said by the circuit and `circuits.runs`, not by what makes the weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from circuits.builder import constants
from circuits.circuit import Gate, GateKind
from circuits.lanes import number_bits, number_quanta
from circuits.plan import Plan
from circuits.runs import embed as read_by_rnn
from circuits.simulation import SAYS
from constructions.rows import HeadRows, Sublayer
from precision.format import Discipline
from verify.algebra.domains import Refuted, Undecided
from verify.automata.token_automaton import TokenAutomaton
from verify.dossiers.shape import check_table, free_of
from verify.rounding.model import ExactModel
from verify.rounding.positions import Array, RangeOperators, Ranges, embedded, known, rows_of_words

OPERANDS, OUTPUTS = 2, 3  # blocks, from 0
COMPUTED = (GateKind.AND, GateKind.XOR, GateKind.ONE)
KINDS = {"is_and": GateKind.AND, "is_xor": GateKind.XOR, "is_one": GateKind.ONE}
DISTANCES = {"a": "left", "b": "right"}  # the registers that say how far back an operand stands
NOTHING: Mapping[str, Ranges] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Gates:
    """A circuit's plan, and the exact layers that are held against it."""

    plan: Plan
    model: ExactModel
    automaton: TokenAutomaton

    def check(self) -> int:
        """Returns how many values of tokens were looked at. Raises Refuted with the first that is another one, or Undecided."""
        self._require_form()
        self._require_exact_logits()
        self._require_table()
        return self._where_heads_look() + self._values() + self._bits() + self._words()

    # The machine

    @cached_property
    def machine(self) -> RangeOperators:
        return RangeOperators(self.model.arithmetic.format, len(self.places))

    @cached_property
    def places(self) -> Array:
        """The positions of tokens that are read."""
        return np.arange(1, self.plan.length)

    @cached_property
    def step(self) -> Array:
        """The step that the next token is of, at each position; below 0 in the prompt."""
        return (self.places - self.plan.prompt) // self.plan.turn

    @cached_property
    def next_gate(self) -> Array:
        """The gate that is next at each position, C for a word, −1 in the prompt."""
        return np.where(self.step < 0, -1, (self.places - self.plan.prompt) % self.plan.turn)

    def register(self, name: str) -> int:
        """Returns its coordinate."""
        return self.model.registers.index(name)

    def quanta(self, number: int, fraction: int) -> int:
        """Returns a number in steps 2^−fraction, in steps of the format."""
        return number << self.machine.fraction - fraction

    @cached_property
    def words(self) -> Sequence[Mapping[int, Any]]:
        """The rows of the words, in order."""
        rows = rows_of_words(self.model)
        bits = [row for (family, _, _), row in rows.items() if family]
        others = {text: row for (family, text, _), row in rows.items() if not family}
        return [*bits, *(others[word] for word in self.plan.rnn.vocabulary[len(bits) :])]

    @cached_property
    def token_registers(self) -> frozenset[int]:
        """The coordinates that words have numbers in."""
        return frozenset(i for row in self.words for i in row)

    @cached_property
    def stream(self) -> Sequence[Ranges]:
        """The registers at block 3, of any circuit of the shape."""
        stream = self._after_two_blocks(self.automaton)
        for free in free_of(self.plan):
            i = self.register(free.register)
            stream[i] = self.machine.freed(stream[i], free, "block 2")
        return stream

    @cached_property
    def before(self) -> Sequence[Ranges]:
        """`stream` without the token's own registers, as `_require_form` shows that they do not matter."""
        nothing = known(np.zeros(len(self.places), object))
        return [nothing if i in self.token_registers else column for i, column in enumerate(self.stream)]

    def _after_two_blocks(self, automaton: TokenAutomaton) -> list[Ranges]:
        stream = embedded(self.model, automaton, self.model.arithmetic.format)
        for number, layer in enumerate(self.model.layers[:OPERANDS]):
            values = [
                v
                for h, one in enumerate(layer.heads)
                for v in self.machine.read(stream, one, self.model.head(number, h))[0]
            ]
            stream = self.machine.mixed(stream, values, layer, f"block {number + 1}")
            stream = self.machine.fed(stream, layer.feed_forward, f"block {number + 1}")
        return stream

    @cached_property
    def heads(self) -> Sequence[Sequence[tuple[HeadRows, tuple[str, ...], Array, list[Ranges]]]]:
        """Returns for each head of blocks 3 and 4 the registers that it writes, where it looks, and bounds of what it reads.

        Where an operand's head looks is another question, see `_require_operand`: between its bounds, anywhere.
        """
        found = []
        stream = list(self.stream)
        for number in (OPERANDS, OUTPUTS):
            layer, start, here = self.model.layers[number], 0, []
            for h, head in enumerate(layer.heads):
                where = self.model.head(number, h)
                places = range(start, start + len(head.value))
                out = [(self.model.registers[i], j) for i, row in layer.out for j, w in row if w == 1]
                names = [[name for name, j in out if j == place] for place in places]
                if any(len(one) != 1 for one in names):
                    raise Undecided(where, "it writes more than one register, or none")
                (first, last), _ = self.machine.look(stream, head, where)
                if first is not last and names[0][0] not in DISTANCES:
                    raise Undecided(where, "where it looks is not known")
                values, _ = self.machine.read(stream, head, where)
                here.append((head, tuple(one[0] for one in names), np.array(first.tolist(), np.int64), values))
                start += len(head.value)
            found.append(here)
            values = [value for _, _, _, read in here for value in read]
            stream = self.machine.mixed(stream, values, layer, f"block {number + 1}")
            stream = self.machine.fed(stream, layer.feed_forward, f"block {number + 1}")
        return found

    def _require_form(self) -> None:
        """Raises Undecided unless a token's own registers are read by heads alone, and cleared by the last block."""
        names, registers, layers = self.model.registers, self.token_registers, self.model.layers
        for number, layer in enumerate(layers):
            read = {i for unit in layer.feed_forward.units for row in (unit.gate, unit.up) for i, _ in row}
            looks = {i for head in layer.heads for row in (*head.query, *head.key) for i, _ in row}
            writes = {i for i, _ in layer.out} | {i for i, _, _ in layer.feed_forward.down}
            at = f"block {number + 1}"
            if (
                looks & registers
                or (number and number < OUTPUTS and read & registers)
                or (number < OUTPUTS and writes & registers)
            ):
                raise Undecided(at, "the word of a token is read or written by more than its own heads")
        block = layers[OPERANDS]
        written = [i for i, _, _ in block.feed_forward.down]
        if {self.register("low"), self.register("value")} & {*written} or self.register("value") in {
            i for i, _ in block.out
        }:
            raise Undecided("block 3", "the values of tokens are written anew")
        cleared = {unit.up[0][0] for unit in layers[OUTPUTS].feed_forward.units if self._clears(unit)}
        if not registers <= cleared:
            raise Undecided("block 4", f"{names[min(registers - cleared)]} is not cleared")
        self._require_values()

    @staticmethod
    def _clears(unit: Any) -> bool:
        return not unit.gate and unit.gate_bias == 1 and len(unit.up) == 1 and unit.up[0][1] == -1 and not unit.up_bias

    def _require_values(self) -> None:
        """Raises Refuted unless `value` is what a gate's token says; the registers of a word are those that the RNN reads."""
        gates = self.next_gate > 0
        for bit in (0, 1):
            states = tuple(replace(s, numbers=(bit, bit)) if gates[s.low - 1] else s for s in self.automaton.states)
            column = self._after_two_blocks(replace(self.automaton, states=states))[self.register("value")]
            one = bit << self.machine.fraction
            if (column.low[gates] != one).any() or (column.high[gates] != one).any():
                raise Refuted("block 1, register value", f"is not {bit} at a token that says {bit}")
        plan = self.plan
        for word, row in enumerate(self.words):
            numbers = read_by_rnn(plan.rnn, word, 0)
            wanted = {
                self.register(x): v for x, v in zip(plan.numbers, numbers, strict=True) if v and x != plan.position
            }
            says = {self.register(name) for name in SAYS}
            own = {i: w for i, w in row.items() if i not in says}
            if {i: self.quanta(w, plan.fraction) for i, w in wanted.items()} != own:
                raise Refuted("the embedding", f"{plan.rnn.vocabulary[word]} has other numbers than the RNN's word")

    def _require_exact_logits(self) -> None:
        """Raises Undecided unless the RNN's logits are exact: whole weights, and no partial sum beyond the largest number.

        Bits of the output that are not constant may have any value.
        """
        rnn, p = self.plan.rnn, self.plan.digits + 1
        values, ends = constants(rnn.step.circuit), list[tuple[int, int]]()
        for start in range(0, len(rnn.step.circuit.outputs), p):
            *magnitude, sign = (values[gate] for gate in rnn.step.circuit.outputs[start : start + p])
            signs, filled = (
                (0, 1) if sign is None else (sign,),
                [[b if b is not None else x for b in magnitude] for x in (0, 1)],
            )
            numbers = [number_quanta([*bits, s]) for bits in filled for s in signs]
            ends.append((min(numbers), max(numbers)))
        for word, row in zip(rnn.vocabulary, rnn.unembed.tolist(), strict=True):
            products = [sorted((int(w) * low, int(w) * high)) for w, (low, high) in zip(row, ends, strict=True)]
            if rnn.arithmetic.discipline is Discipline.FUSED:
                products = [[sum(low for low, _ in products), sum(high for _, high in products)]]
            reach = sum(max(-low, high) for low, high in products)
            if any(w != int(w) for w in row) or reach > rnn.arithmetic.format.max_quanta:
                raise Undecided(
                    "the RNN's output head", f"its logit of {word} may be rounded, and its word another one"
                )

    # Where heads look

    def _where_heads_look(self) -> int:
        plan, looked = self.plan, 0
        for h, (_, names, first, values) in enumerate(self.heads[0]):
            if names[0] in DISTANCES:
                looked += self._require_operand(h, names[0], values[0])
            elif names[0] != "low":
                word = np.where(self.step < plan.prompt, self.step + 1, plan.prompt + self.step * plan.turn)
                self._require(first == word, self._is(GateKind.INPUT), "the step's word")
                looked += int(self._is(GateKind.INPUT).sum())
        for s, first, value in self._backs():
            reach = np.where(self._is(GateKind.INPUT), np.where(self._bit < plan.digits, self._bit - 1, -1), -2)
            signs = np.isin(self.next_gate, [plan.sign_gate(i) for i in range(len(plan.outputs))])
            reach = np.where(signs, plan.digits, reach)
            self._require(first == self.places - s, reach >= s, f"the value {s} tokens back")
            self._require((value.low == 0) & (value.high == 0), (reach > -2) & (reach < s), f"no value {s} tokens back")
            looked += int((reach > -2).sum())
        for name, (first, _) in self._outputs().items():
            i = plan.outputs.index(name)
            wanted = plan.prompt + self.step * plan.turn + plan.sign_gate(i)
            self._require(first == wanted, self.next_gate == plan.gates, f"the output {name}")
            looked += int((self.next_gate == plan.gates).sum())
        return looked

    def _require_operand(self, h: int, name: str, value: Ranges) -> int:
        """Requires that a head looks at the operand, whichever gate before the next one that is; returns how many it may look at.

        What is looked for is a sum of registers, so between two distances it changes as it does at these.
        """
        circuit, turn, b = self.plan.rnn.step.circuit, self.plan.turn, self.next_gate
        following = [circuit.next_state[gate.left] if gate.kind is GateKind.STATE else 0 for gate in circuit.gates]
        state = self._is(GateKind.STATE) & (name == "a")
        start = state & (self.step == 0)
        self._require((value.low == 0) & (value.high == 0), start, f"the operand {name}, at the start")
        back = turn - 1 + b - np.array([*following, 0, 0])[b]  # how far before the gate that the bit becomes stands
        where, register = self.model.head(OPERANDS, h), self.register(DISTANCES[name])
        for far in (False, True):
            distance = np.where(state, back, np.where(self._computed, (b - 1) * far, 0)).astype(object)
            stream = list(self.stream)
            stream[register] = known(np.where(self._computed, distance << self.machine.fraction, stream[register].low))
            low, high = self.machine.aim(stream, self.model.layers[OPERANDS].heads[h], where)
            wanted = self.places - distance
            asked = self._computed | (state & ~start)
            self._require((low == wanted) & (high == wanted), asked, f"the operand {name}")
        return int((b * self._computed).sum() + state.sum())

    @property
    def _computed(self) -> Array:
        """True where the next gate is after the state and input bits, so that it may be AND, XOR or 1."""
        return self._is(*COMPUTED)

    def _require_table(self) -> None:
        """Raises Refuted unless block 2 says of each gate what it is: that of this circuit, and then of each of the shape."""
        stream, circuit = self._after_two_blocks(self.automaton), self.plan.rnn.step.circuit
        after = self.step >= 0
        gate = stream[self.register("gate")]
        wanted = (
            np.where(after, self.next_gate, np.minimum(gate.low >> self.machine.fraction, -1)) << self.machine.fraction
        )
        self._require((gate.low == wanted) & (gate.high == wanted), self.places > 0, "the number of the gate")
        rows: dict[str, list[int]] = {name: [] for name in (*KINDS, *DISTANCES.values(), "initial")}
        for b, (kind, left, right) in enumerate(circuit.gates):
            for name, value in rows.items():
                says = {"left": b - left - 1, "right": b - right - 1, "initial": 0}
                value.append(KINDS[name] is kind if name in KINDS else says[name])
            if kind is GateKind.STATE:
                rows["initial"][-1] = circuit.initial[left]
        for name, row in rows.items():
            column = stream[self.register(name)]
            told = self._is(GateKind.AND, GateKind.XOR) if name in DISTANCES.values() else after
            wanted = np.array([*map(int, row), 0, 0], object)[self.next_gate] << self.machine.fraction
            self._require((column.low == wanted) & (column.high == wanted), told, f"the register {name} of a gate")
        check_table(self.plan, self.machine.format)

    def _backs(self) -> Iterator[tuple[int, Array, Ranges]]:
        """Yields the heads that read values some tokens back: how many, where, and what. Raises Undecided if one is missing."""
        found = {}
        for head, names, first, values in self.heads[0]:
            if names == ("low",):
                ((register, weight),) = head.value[0]
                s = int(weight).bit_length() - 2
                if self.model.registers[register] != "value" or weight != 1 << (s + 1):
                    raise Undecided("block 3", "a head reads more than a value")
                found[s] = first, values[0]
        if [*found] != [*range(self.plan.digits + 1)]:
            raise Undecided("block 3", "not each value some tokens back is read")
        yield from ((s, *item) for s, item in found.items())

    def _outputs(self) -> dict[str, tuple[Array, list[Ranges]]]:
        """Returns the heads of block 4 by the output that they read."""
        found = {}
        for head, names, first, values in self.heads[1]:
            read = [self.model.registers[i] for row in head.value for i, w in row if w == 1]
            name = names[0].removeprefix("out ")
            if read != ["low", "value"] or names != (f"out {name}", f"sign {name}"):
                raise Undecided("block 4", "a head reads another thing than an output")
            found[name] = first, values
        if {*found} != {*self.plan.outputs} - {*self.plan.fixed}:
            raise Undecided("block 4", "not each output is read")
        return found

    def _require(self, holds: Array, where: Array, what: str) -> None:
        """Raises Refuted with the first position of `where` at which something does not hold."""
        wrong = np.flatnonzero(where & ~holds.astype(bool))
        if len(wrong):
            place = wrong[0]
            raise Refuted(
                what, f"at position {place + 1}, before gate {self.next_gate[place] + 1} of step {self.step[place] + 1}"
            )

    # What is written

    @cached_property
    def _gate(self) -> Sequence[Gate | None]:
        return [*self.plan.rnn.step.circuit.gates, None]

    def _is(self, *kinds: GateKind) -> Array:
        """Returns an array, true at the positions whose next gate is of one of these kinds."""
        table = np.array([gate is not None and gate.kind in kinds for gate in self._gate] + [False])
        return table[self.next_gate]

    @cached_property
    def _bit(self) -> Array:
        """Returns which bit of its number the next gate is, from 0, where it is of an input."""
        p = self.plan.digits + 1
        table = [gate.left % p if gate is not None and gate.kind is GateKind.INPUT else 0 for gate in self._gate]
        return np.array([*table, 0])[self.next_gate]

    def _registers(
        self, own: Mapping[str, Ranges], outputs: Mapping[str, Ranges], table: Mapping[str, Ranges] = NOTHING
    ) -> list[Ranges]:
        """Returns the registers after block 4, where some heads read these numbers, the others what they may.

        own, outputs: by the registers that heads of blocks 3 and 4 write; `low s` is of the value s tokens back. table: what
        block 2 has written, where it is not to be what it may be of any circuit.
        """
        feed = self.model.layers[OUTPUTS].feed_forward
        kept = [j for j, unit in enumerate(feed.units) if not self._clears(unit)]
        place = {j: i for i, j in enumerate(kept)}
        down = tuple((i, tuple((place[j], w) for j, w in row if j in place), bias) for i, row, bias in feed.down)
        last = Sublayer(tuple(feed.units[j] for j in kept), down)
        stream, lows = list(self.before), itertools.count()
        for name, column in table.items():
            stream[self.register(name)] = column
        for number, given in ((OPERANDS, own), (OUTPUTS, outputs)):
            layer, values = self.model.layers[number], list[Ranges]()
            for _, names, _, read in self.heads[number - OPERANDS]:
                keys = [f"low {next(lows)}"] if names == ("low",) else names
                values += [given.get(key, column) for key, column in zip(keys, read, strict=True)]
            stream = self.machine.mixed(stream, values, layer, f"block {number + 1}")
            stream = self.machine.fed(stream, layer.feed_forward if number == OPERANDS else last, f"block {number + 1}")
        return stream

    def _tokens(self, stream: Sequence[Ranges], asked: Array) -> Array:
        """Returns the token that is written where asked, the first with the largest logit. Raises Undecided for one not known."""
        best, token = np.zeros(len(self.places), object), np.zeros(len(self.places), np.int64)
        for word, row in enumerate(self.words):
            weights = tuple((i, Fraction(w, 1 << self.machine.fraction)) for i, w in row.items())
            logit = self.machine.settled(self.machine.dot(weights, stream, 0, "the output head"), "the output head")
            if (logit.low != logit.high)[asked].any():
                raise Undecided(
                    "the output head", f"the logit of {self.plan.rnn.vocabulary[word]} depends on more than it should"
                )
            ahead = logit.low > best if word else np.full(len(self.places), True)
            best, token = np.where(ahead, logit.low, best), np.where(ahead, word, token)
        return token

    def _constant(self, number: int) -> Ranges:
        return known(np.full(len(self.places), number << self.machine.fraction, object))

    def _values(self) -> int:
        """Looks at each gate but inputs, for both values of its operands; as AND, XOR and 1, and of either start."""
        looked, state = 0, self._is(GateKind.STATE)
        start = state & (self.step == 0)
        for a, b, (kind, initial) in itertools.product((0, 1), (0, 1), zip(COMPUTED, (0, 1, 0), strict=True)):
            value = {GateKind.AND: a & b, GateKind.XOR: a ^ b, GateKind.ONE: 1}[kind]
            wanted = np.where(start, initial, np.where(state, a, value))
            asked = self._computed | (state & ~(start & (a == 1)))  # at the start, a is 0
            table = {
                name: known((self._computed & (of is kind)).astype(object) << self.machine.fraction)
                for name, of in KINDS.items()
            }
            table["initial"] = known((state & (initial == 1)).astype(object) << self.machine.fraction)
            stream = self._registers({"a": self._constant(a), "b": self._constant(b)}, {}, table)
            self._require(
                self._tokens(stream, asked) == wanted, asked, f"a gate's value, {kind.name} of operands {a} and {b}"
            )
            looked += int(asked.sum())
        return looked

    def _bits(self) -> int:
        """Looks at each bit of an input, for every word."""
        plan, asked, looked = self.plan, self._is(GateKind.INPUT), 0
        p, steps = plan.digits + 1, int(self.step.max()) + 1
        number = np.array(
            [gate.left // p if gate is not None and gate.kind is GateKind.INPUT else 0 for gate in self._gate] + [0]
        )
        which = number[self.next_gate]
        for word, row in enumerate(self.words):
            # bits[a, j, r]: of number j in step a
            bits = np.array(
                [
                    [number_bits(x, p) for x in read_by_rnn(plan.rnn, word, a + 1)]
                    for a in (range(steps) if plan.position else (0,))
                ]
            )
            of_step = np.clip(self.step, 0, len(bits) - 1)
            own = {f"in {x}": self._word(row.get(self.register(x), 0)) for x in plan.numbers if x != plan.position}
            for s, _, column in self._backs():
                read = asked & (self._bit < plan.digits) & (self._bit > s)
                digits = bits[of_step, which, np.maximum(self._bit - 1 - s, 0)].astype(object)
                mine = digits << self.machine.fraction + s + 1
                low, high = np.where(read, mine, column.low), np.where(read, mine, column.high)
                own[f"low {s}"] = Ranges(low, high, 0, min(column.grid, self.machine.fraction))
            wanted = bits[of_step, which, self._bit]
            stream = self._registers(own, {})
            self._require(
                self._tokens(stream, asked) == wanted, asked, f"a bit of the word {plan.rnn.vocabulary[word]}"
            )
            looked += int(asked.sum())
        return looked

    def _word(self, quanta: int) -> Ranges:
        return known(np.full(len(self.places), int(quanta), object))

    def _words(self) -> int:
        """Looks at the registers of the word that is next, for each output's least and largest magnitude and both signs."""
        plan, asked, looked = self.plan, self.next_gate == self.plan.gates, 0
        most = (1 << plan.digits) - 1
        heads = self._outputs()
        for name, sign, magnitude in itertools.product(heads, (0, 1), (0, most)):
            given = {f"out {name}": self._constant(2 * sign + 4 * magnitude), f"sign {name}": self._constant(sign)}
            column = self._registers({}, given)[self.register(name)]
            wanted = self.quanta(magnitude if sign else -magnitude, plan.fraction)
            self._require((column.low == wanted) & (column.high == wanted), asked, f"the output {name}")
            looked += int(asked.sum())
        stream = self._registers({}, {})
        for name, number in plan.fixed.items():
            column, wanted = stream[self.register(name)], int(number * (1 << self.machine.fraction))
            self._require((column.low == wanted) & (column.high == wanted), asked, f"the output {name}")
        for i in sorted(self.token_registers - {self.register(name) for name in plan.outputs}):
            self._require((stream[i].low == 0) & (stream[i].high == 0), asked, f"{self.model.registers[i]} of a word")
        return looked


def check_gates(plan: Plan, model: ExactModel, automaton: TokenAutomaton) -> int:
    """Returns how many values were looked at, where the weights write the circuit's tokens. Raises Refuted or Undecided."""
    return Gates(plan, model, automaton).check()
