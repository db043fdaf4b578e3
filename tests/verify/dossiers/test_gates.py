"""The weights of Theorem 4.8 write the circuit's tokens: proved position by position; each other gate, wire or lead is refused."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from circuits import simulation
from circuits.builder import constants
from circuits.circuit import Gate, GateKind
from circuits.lanes import number_quanta
from circuits.models import Rnn
from circuits.runs import next_word
from circuits.simulation import INPUT_BITS
from circuits.simulator import Simulator, expected_tokens
from circuits.step import Step
from constructions.engines.reference import ReferenceEngine
from tests.circuits.brought import bring
from verify.algebra.domains import Refused, Refuted, Undecided
from verify.dossiers.dossier import Subject
from verify.dossiers.gates import Gates, check_gates
from verify.dossiers.shape import check_table
from verify.dossiers.simulation import Simulation, load


@cache
def brought(name: str) -> Rnn:
    return load(name) if name in ("parity", "shift", "sum") else bring(name)


def looked(rnn: Rnn, n: int = 1, weights_of: Rnn | None = None, **how: Any) -> int:
    """How many values are looked at, of the circuit of one RNN and the weights that are made of another one."""
    subject = Subject(Simulation(rnn=rnn.name, simulator=Simulator(weights_of or rnn)), n, **how)
    return check_gates(Simulator(rnn).task(n), subject.dossier.exact_model(subject), subject.dossier.texts(subject))


@pytest.mark.parametrize(
    ("name", "n"), [("parity", 3), ("shift", 1), ("sum", 2), ("counter", 2), ("relu", 1), ("wide hash", 2)]
)
def test_each_token_is_the_circuits(name: str, n: int) -> None:
    """Each gate is looked at for every step: AND and XOR for four pairs of values, a bit of an input for each word."""
    rnn = brought(name)
    circuit, words = rnn.step.circuit, len(rnn.vocabulary)
    steps = Simulator(rnn).task(n).steps
    gates = 4 * (circuit.operations + circuit.count(GateKind.ONE)) + words * circuit.count(GateKind.INPUT)
    assert looked(rnn, n) > steps * gates


def with_gates(rnn: Rnn, gates: dict[int, Gate], initial: tuple[int, ...] = ()) -> Rnn:
    step = rnn.step
    changed = tuple(gates.get(place, gate) for place, gate in enumerate(step.circuit.gates))
    circuit = replace(step.circuit, gates=changed, initial=initial or step.circuit.initial)
    return replace(rnn, step=Step(circuit, step.precision_bits, step.states, step.inputs, step.outputs))


def test_another_gate_wire_or_start_is_refused() -> None:
    """Each gate of the counter turned, and each of its wires moved; weights of the mutant, held against the circuit."""
    rnn, rng, mutants = brought("counter"), random.Random(4), list[Rnn]()
    for place, gate in enumerate(rnn.step.circuit.gates):
        if gate.computes:
            mutants.append(
                with_gates(
                    rnn, {place: gate._replace(kind=GateKind.XOR if gate.kind is GateKind.AND else GateKind.AND)}
                )
            )
            left, right = (rng.choice([i for i in range(place) if i != read]) for read in (gate.left, gate.right))
            mutants += [
                with_gates(rnn, {place: gate._replace(left=left)}),
                with_gates(rnn, {place: gate._replace(right=right)}),
            ]
    start = rnn.step.circuit.initial
    mutants += [with_gates(rnn, {}, (*start[:i], 1 - start[i], *start[i + 1 :])) for i in range(len(start))]
    for mutant in mutants:
        with pytest.raises(Refused):
            looked(rnn, weights_of=mutant)
    assert len(mutants) > 50


# Every circuit of a shape


def drawn(rnn: Rnn, seed: int) -> Rnn:
    """Returns another RNN of the shape: gates that are no constants are AND, XOR or 1, and read any before; it starts anyhow."""
    rng, circuit = random.Random(seed), rnn.step.circuit
    gates = {}
    for place, (gate, value) in enumerate(zip(circuit.gates, constants(circuit), strict=True)):
        if gate.computes and value is None:
            kind = rng.choice((GateKind.AND, GateKind.XOR, GateKind.XOR, GateKind.ONE)) if place % 5 else GateKind.XOR
            gates[place] = Gate(
                kind, *(rng.randrange(place), rng.randrange(place)) if kind is not GateKind.ONE else (0, 0)
            )
    return with_gates(rnn, gates, tuple(rng.randrange(2) for _ in circuit.initial))


def constant_bits(rnn: Rnn) -> list[int | None]:
    values = constants(rnn.step.circuit)
    return [values[gate] for gate in rnn.step.circuit.outputs]


def test_circuits_of_a_shape_have_one_lemma() -> None:
    """The same is looked at of each, and each of their Transformers writes its circuit's tokens, one after the other."""
    rnn, found = brought("counter"), set[int]()
    others = [one for one in (drawn(rnn, seed) for seed in range(5)) if constant_bits(one) == constant_bits(rnn)]
    for one in (rnn, *others):
        found.add(looked(one))
        solver = Simulator(one)
        wired = solver.build(1)
        tokens = [1, *expected_tokens(solver.steps([1]))]
        engine = ReferenceEngine(wired.model, wired.arithmetic)
        assert [engine.append(token).next_token for token in tokens[:-1]] == tokens[1:]
    assert len(found) == 1
    assert len(others) > 2


def changed(rnn: Rnn, gates: dict[int, Gate], change: Any) -> int:
    """Looks at the model of a circuit, whose block 3 is changed."""
    own = with_gates(rnn, gates)
    subject = Subject(Simulation(rnn=rnn.name, simulator=Simulator(own)), 1)
    model = subject.dossier.exact_model(subject)
    layers = (*model.layers[:2], change(model.layers[2], model.registers.index), model.layers[3])
    return check_gates(Simulator(own).task(1), replace(model, layers=layers), subject.dossier.texts(subject))


def computed(rnn: Rnn) -> list[tuple[int, Gate]]:
    return [(place, gate) for place, gate in enumerate(rnn.step.circuit.gates) if gate.computes]


@pytest.fixture
def any_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks nothing of the RNN's own logits: gates that make no words may be any."""
    monkeypatch.setattr(Gates, "_require_exact_logits", lambda self: None)


@pytest.mark.usefixtures("any_logits")
def test_a_head_that_is_right_for_one_circuit_alone_is_refused() -> None:
    """All gates of this circuit have the gate before them on the right. A head that always looks there is wrong for another."""
    rnn = brought("counter")
    gates = {place: Gate(GateKind.AND, gate.left, place - 1) for place, gate in computed(rnn)}

    def fixed(block: Any, index: Any) -> Any:
        right = index("right")
        read = [any(i == right for row in head.query for i, _ in row) for head in block.heads]
        assert sum(read) == 1
        heads = [
            replace(head, query=tuple(tuple((i, w) for i, w in row if i != right) for row in head.query))
            for head in block.heads
        ]
        return replace(block, heads=tuple(heads))

    assert changed(rnn, gates, lambda block, index: block) > 0
    with pytest.raises(Refuted, match="the operand b"):
        changed(rnn, gates, fixed)


@pytest.mark.usefixtures("any_logits")
@pytest.mark.parametrize(
    ("register", "kind"), [("is_xor", GateKind.AND), ("is_and", GateKind.XOR), ("is_one", GateKind.AND)]
)
def test_a_unit_that_one_circuit_does_without_is_missed(register: str, kind: GateKind) -> None:
    rnn = brought("counter")
    gates = {place: gate._replace(kind=kind) for place, gate in computed(rnn)}
    if register == "is_one":
        ones = [place for place, gate in enumerate(rnn.step.circuit.gates) if gate.kind is GateKind.ONE]
        gates |= dict.fromkeys(ones, Gate(GateKind.AND, 0, 0))

    def without(block: Any, index: Any) -> Any:
        feed, name = block.feed_forward, index(register)
        units = [replace(u, up=(), up_bias=0) if any(i == name for i, _ in u.gate) else u for u in feed.units]
        assert units != list(feed.units)
        return replace(block, feed_forward=replace(feed, units=tuple(units)))

    with pytest.raises(Refuted, match=f"a gate's value, {register.removeprefix('is_').upper()} of operands"):
        changed(rnn, gates, without)


def check_counter(rnn: Rnn | None = None) -> None:
    solver = Simulator(rnn or brought("counter"))
    check_table(solver.task(1), solver.build(1).arithmetic.format)


@pytest.mark.parametrize("fault", ["missing", "twice", "late"])
def test_a_table_that_no_circuit_has_is_refused(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = simulation._look_up
    check_counter()

    def wrong(plan: Any, setting: Any) -> Any:
        block = look_up(plan, setting)
        table = block.gadgets[0]
        units = list(table.units)
        match fault:
            case "missing":
                del units[-1]
            case "twice":
                units[-1] = replace(units[-1], into={name: w * 2 for name, w in units[-1].into.items()})
            case "late":
                units[-1] = replace(units[-1], gate=units[-1].gate - Fraction(1, 2))
        return replace(block, gadgets=(replace(table, units=tuple(units)), *block.gadgets[1:]))

    monkeypatch.setattr(simulation, "_look_up", wrong)
    with pytest.raises(Refused, match="block 2"):
        check_counter()


def test_a_plan_that_looks_at_the_gates_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a unit more where a circuit has few XOR gates."""
    operands = simulation._operands

    def peeks(plan: Any, setting: Any) -> Any:
        block = operands(plan, setting)
        few = plan.rnn.step.circuit.count(GateKind.XOR) < 3
        return replace(block, gadgets=(*block.gadgets, block.gadgets[0])) if few else block

    monkeypatch.setattr(simulation, "_operands", peeks)
    with pytest.raises(Refuted, match="that of any circuit of the shape"):
        check_counter()


def test_words_are_the_rnns() -> None:
    rnn = brought("counter")
    rows = rnn.words.copy()
    rows[[0, 1]] = rows[[1, 0]]
    with pytest.raises(Refuted, match="has other numbers than the RNN's word"):
        looked(rnn, weights_of=replace(rnn, words=rows, unembed=rows))


@pytest.mark.parametrize("name", ["parity", "shift", "sum", "counting", "counter"])
def test_the_rnns_rounded_logits_are_exact(name: str) -> None:
    """Whatever bits its output has, its word is the first with the largest exact product."""
    rnn = load(name) if name == "counting" else brought(name)
    circuit, p = rnn.step.circuit, rnn.step.precision_bits
    values = constants(circuit)
    free = [i for i, gate in enumerate(circuit.outputs) if values[gate] is None]
    assert 1 <= len(free) <= 11
    for bits in itertools.product((0, 1), repeat=len(free)):
        read = dict(zip(free, bits, strict=True))
        output = [read.get(i, values[gate] or 0) for i, gate in enumerate(circuit.outputs)]
        numbers = [number_quanta(output[i : i + p]) for i in range(0, len(output), p)]
        logits = [sum(Fraction(float(w)) * x for w, x in zip(row, numbers, strict=True)) for row in rnn.unembed]
        assert next_word(rnn, numbers) == logits.index(max(logits))


@pytest.mark.parametrize("factor", [2, 0.5])
def test_logits_that_the_rnn_may_round_are_not_passed_over(factor: float) -> None:
    """Twice the rows of sum reach beyond its largest number; half of them may need one digit more."""
    rnn = brought("sum")
    rnn = replace(rnn, words=factor * rnn.words, unembed=factor * rnn.unembed)
    with pytest.raises(Undecided, match="the RNN's output head: its logit of"):
        looked(rnn)


def test_what_is_printed_is_refused() -> None:
    with pytest.raises(Refuted, match="a bit of the word"):
        looked(brought("parity"), printed=(INPUT_BITS.id,))


@pytest.mark.parametrize("margin", [4, 8])
def test_a_coarser_comparison_is_refused(margin: int, monkeypatch: pytest.MonkeyPatch) -> None:
    threshold = simulation.threshold

    def coarse(*args: Any, **how: Any) -> Any:
        return threshold(*args, **{**how, "margin": margin * how.get("margin", 1)})

    monkeypatch.setattr(simulation, "threshold", coarse)
    with pytest.raises(Refused):
        looked(brought("counter"))


def test_a_lead_of_a_quarter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow(simulation.Setting):
        @property
        def gap(self) -> int:
            return super().gap // 4

    monkeypatch.setattr(simulation, "Setting", Narrow)
    with pytest.raises(Refused, match="is needed"):
        looked(brought("counter"))


@pytest.mark.parametrize(
    "register", ["left", "right", "place", "weight", "is_and", "is_xor", "is_state", "is_input", "initial", "last"]
)
def test_a_table_that_is_wrong_at_one_gate_is_refused(register: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rnn, rows_of = brought("linear recurrence" if register == "initial" else "counter"), simulation.Plan.rows

    def wrong(plan: Any) -> Any:
        rows = rows_of(plan)
        places = [
            b
            for b, row in enumerate(rows)
            if row.get(register) and (register not in ("place", "is_input") or row.get("weight") == 1)
        ]
        row = rows[place := places[len(places) // 2]]
        return [*rows[:place], {**row, register: row[register] + 1 if register == "place" else 0}, *rows[place + 1 :]]

    monkeypatch.setattr(simulation.Plan, "rows", wrong)
    with pytest.raises(Refused):
        looked(rnn, 1 if register == "initial" else 2)
