"""Rounding where the position says where heads look: bounds hold every value of runs, winners are those of a search of all keys."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circuits import simulation
from circuits.circuit import Gate, GateKind
from circuits.models import Rnn
from circuits.simulator import Simulator, expected_tokens
from circuits.step import Step
from constructions.engines.reference import ReferenceEngine
from constructions.rows import Sublayer, UnitRows
from constructions.wiring.wire import Gadget
from precision.format import Discipline, fixed_point
from precision.rounding import round_fraction
from tests.circuits.brought import bring
from verify.algebra.domains import Refused, Undecided
from verify.dossiers.dossier import Subject
from verify.dossiers.simulation import Simulation
from verify.rounding.checker import check
from verify.rounding.model import ExactModel
from verify.rounding.positions import (
    PositionReport,
    RangeOperators,
    Ranges,
    _curve,
    _winners,
    check_positions,
    known,
    total,
)

NAMES = ("latch", "counter", "automaton", "hash", "relu", "gru", "wide hash", "linear recurrence")


def subject(name: str, n: int = 1) -> Subject:
    return Subject(Simulation(rnn=name, simulator=Simulator(brought(name))), n)


@cache
def brought(name: str) -> Any:
    return bring(name)


def judged(one: Subject) -> PositionReport:
    return check_positions(one.dossier.exact_model(one), one.dossier.texts(one))


@pytest.mark.parametrize("name", NAMES)
def test_each_rnn_is_certified(name: str) -> None:
    report = judged(subject(name))
    assert {*report.errors} == {"step"}  # the quotient alone is rounded
    assert all(margin.margin >= margin.needed for margin in report.margins.values())


def test_the_checker_of_states_says_the_same() -> None:
    one = subject("latch")
    model, automaton = one.dossier.exact_model(one), one.dossier.texts(one)
    report, by_states = check_positions(model, automaton), check(model, automaton)
    assert report.errors == by_states.errors
    assert report.margins.keys() == by_states.margins.keys()
    for head, margin in report.margins.items():
        assert abs(margin.margin - by_states.margins[head].margin) < Fraction(1, 1000)
        assert margin.needed == by_states.margins[head].needed


@pytest.mark.parametrize("n", [1, 2])
def test_bounds_hold_what_the_reference_engine_has(n: int) -> None:
    """On texts of words that a run never writes, too."""
    one = subject("latch", n)
    report, automaton, wired = judged(one), one.dossier.texts(one), one.dossier.wired(one)
    rng, met = random.Random(5), 0
    words = dict[int, list[str]]()
    for state in automaton.states:
        here = (
            [wired.vocabulary[v] for v in range(state.numbers[0], state.numbers[1] + 1)]
            if state.family
            else [state.word]
        )
        words.setdefault(state.low, []).extend(here)
    for _ in range(4):
        engine = ReferenceEngine(wired.model, wired.arithmetic)
        for position, texts in sorted(words.items()):
            step = engine.append(wired.vocabulary.index(rng.choice(texts)))
            for stream, registers in zip(report.streams, step.registers[2::2], strict=True):
                for column, value in zip(stream, registers, strict=True):
                    assert column.low[position - 1] <= value <= column.high[position - 1]
                    assert not column.grid or value % (1 << min(column.grid, 200)) == 0
                    met += column.low[position - 1] < column.high[position - 1]
    assert met > 100


def test_a_lead_of_a_quarter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow(simulation.Setting):
        @property
        def gap(self) -> int:
            return super().gap // 4

    monkeypatch.setattr(simulation, "Setting", Narrow)
    with pytest.raises(Refused, match="is needed"):
        judged(subject("counter"))


def test_a_quotient_that_is_added_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    quotient = simulation.quotient

    def twice(*args: Any, **how: Any) -> Gadget:
        gadget = quotient(*args, **how)
        return replace(gadget, units=gadget.units * 2)

    monkeypatch.setattr(simulation, "quotient", twice)
    with pytest.raises(Refused, match="wins without rounding"):
        judged(subject("counter"))


def test_fewer_bits_are_refused() -> None:
    """The same weights' plan over numbers too small for it: a lead, a range or a grid is not there any more."""
    one = subject("counter")
    least = one.dossier.least_precision(one)
    verdicts = []
    for p in range(least - 14, least + 1, 2):
        try:
            judged(replace(one, precision_bits=p))
            verdicts.append(True)
        except Refused:
            verdicts.append(False)
    assert verdicts[-1]
    assert not verdicts[0]
    assert verdicts == sorted(verdicts)


def test_sequential_is_not_covered() -> None:
    one = replace(subject("latch"), discipline=Discipline.SEQUENTIAL)
    with pytest.raises(Undecided, match="fused"):
        judged(one)


# Every circuit of a shape


def drawn(name: str, seed: int) -> Rnn:
    """Returns the RNN with other gates: after the state and input bits each is an AND, an XOR or 1, and reads any before it."""
    rnn, rng = brought(name), random.Random(seed)
    step, p = rnn.step, rnn.step.precision_bits
    first = p * (len(step.states) + len(step.inputs))
    gates = list(step.circuit.gates)
    for place in range(first, len(gates)):
        kind = rng.choice((GateKind.AND, GateKind.XOR, GateKind.XOR, GateKind.ONE))
        reads = (rng.randrange(place), rng.randrange(place)) if kind is not GateKind.ONE else (0, 0)
        gates[place] = Gate(kind, *reads)
    initial = tuple(rng.randrange(2) for _ in step.circuit.initial)
    circuit = replace(step.circuit, gates=tuple(gates), initial=initial)
    return replace(rnn, step=Step(circuit, p, step.states, step.inputs, step.outputs))


def of_every(name: str, n: int = 1) -> Subject:
    one = subject(name, n)
    dossier: Any = one.dossier
    return replace(one, dossier=replace(dossier, every_circuit=True))


@pytest.mark.parametrize(("name", "n"), [("latch", 1), ("counter", 3), ("linear recurrence", 1)])
def test_every_circuit_of_a_shape_is_certified(name: str, n: int) -> None:
    report = judged(of_every(name, n))
    assert all(margin.margin >= margin.needed for margin in report.margins.values())


def by_name(model: ExactModel) -> list[dict[str, Any]]:
    """Returns the words, then of each block its heads and what it writes to each register; registers by their names."""

    def row(entries: Any) -> Any:
        return frozenset((model.registers[i], str(w)) for i, w in entries)

    words = {word: row(entries) for word, entries in model.specials.items()}
    numbers = {name: row(family.rows.items()) for name, family in model.families.items()}
    result: list[dict[str, Any]] = [{**words, **numbers, "position": row(model.position)}]
    for layer in model.layers:
        heads = {
            f"head {h}": [[*map(row, x)] for x in (one.query, one.key, one.value)] for h, one in enumerate(layer.heads)
        }
        out = {f"out {model.registers[i]}": entries for i, entries in layer.out}
        units = [(row(u.gate), u.gate_bias, row(u.up), u.up_bias) for u in layer.feed_forward.units]
        down = {model.registers[i]: {units[j]: w for j, w in row} for i, row, _ in layer.feed_forward.down}
        result.append({**heads, **out, **down})
    return result


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_a_shape_hold_other_circuits(seed: int) -> None:
    """Their weights differ in what block 2 writes from its table; a run's registers lie between the bounds."""
    one = of_every("counter")
    report, rnn = judged(one), drawn("counter", seed)
    solver = Simulator(rnn)
    assert not solver.task(1).fixed
    other = Subject(Simulation(rnn="other", simulator=solver), 1)
    model, own = other.dossier.exact_model(other), one.dossier.exact_model(one)
    free = {item.register for item in one.dossier.texts(one).free}
    for mine, its in zip(by_name(model), by_name(own), strict=True):
        assert {name for name in mine.keys() | its.keys() if mine.get(name) != its.get(name)} <= free
    judged(other)
    wired = other.dossier.wired(other)
    tokens = [1, *expected_tokens(solver.steps([1]))]
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    for position, token in enumerate(tokens[:-1], start=1):
        step = engine.append(token)
        assert step.next_token == tokens[position]
        for stream, registers in zip(report.streams, step.registers[2::2], strict=True):
            for name, value in zip(model.registers, registers, strict=True):
                column = stream[own.registers.index(name)]
                assert column.low[position - 1] <= value <= column.high[position - 1]


def test_a_shape_says_how_far_back_operands_stand() -> None:
    one = of_every("counter")
    model, automaton = one.dossier.exact_model(one), one.dossier.texts(one)
    left = next(item for item in automaton.free if item.register == "left")
    narrow = replace(left, bounds=tuple((low, min(high, 3)) for low, high in left.bounds))
    with pytest.raises(Undecided, match="register left is not between"):
        check_positions(model, replace(automaton, free=(narrow,)))


def test_where_any_key_may_be_read_the_target_is_whole() -> None:
    """Half a position farther back, two keys would be as near."""
    one = of_every("counter")
    model, automaton = one.dossier.exact_model(one), one.dossier.texts(one)
    block = model.layers[2]
    head = block.heads[0]
    half = tuple(
        tuple((i, w if i != model.registers.index("left") else w * Fraction(1, 128)) for i, w in row)
        for row in head.query
    )
    layers = (*model.layers[:2], replace(block, heads=(replace(head, query=half), *block.heads[1:])), model.layers[3])
    with pytest.raises(Undecided, match="whole number"):
        check_positions(replace(model, layers=layers), automaton)


# Operators


def column(values: list[tuple[int, int]]) -> Ranges:
    low, high = (np.array([f(pair) for pair in values], object) for f in (min, max))
    return Ranges(low, high, 0, 0)


PAIRS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=4)


@given(PAIRS, st.lists(st.tuples(st.integers(-8, 8), st.integers(-6, 6).filter(bool)), min_size=1, max_size=5))
def test_curves_have_the_bounds_of_all_values(pairs: list[tuple[int, int]], bends: list[tuple[int, int]]) -> None:
    bounds = _curve(column(pairs), bends)
    for place, pair in enumerate(pairs):
        values = [sum(w * max(0, x - t) for t, w in bends) for x in range(min(pair), max(pair) + 1)]
        assert (bounds.low[place], bounds.high[place]) == (min(values), max(values))


@given(
    st.lists(st.integers(-30, 30), min_size=6, max_size=6),
    st.integers(1, 4),
    st.lists(st.integers(-40, 40), min_size=6, max_size=6),
)
@settings(max_examples=200)
def test_winners_are_those_of_all_keys(slopes: list[int], bend: int, first: list[int]) -> None:
    """Scores −bend·k² + slope·k and, at key 1, an addition: query columns (bend, slope, addition)."""
    queries = [np.array(x, object) for x in ([-bend] * 6, slopes, first)]
    winner, best, lead = _winners(queries, [(1, 0, 0), (0, 1, 0), (0, 0, 0)], [1, 1, 1], "here")
    for place in range(1, 6):
        scores = {k: -bend * k * k + slopes[place] * k + (first[place] if k == 1 else 0) for k in range(1, place + 2)}
        ranked = sorted(scores.values(), reverse=True)
        assert best[place] == ranked[0] == scores[winner[place]]
        assert lead[place] == ranked[0] - ranked[1]


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=5), st.integers(1, 3))
def test_known_numbers_are_rounded_as_the_format_says(values: list[int], scale: int) -> None:
    machine = RangeOperators(fixed_point(9), len(values))
    raw = np.array(values, object)
    rounded = [round_fraction(Fraction(x, 1 << scale) * machine.format.quantum, machine.format) for x in values]
    exact = Ranges(raw, raw, scale, -scale)
    if any(abs(Fraction(x, 1 << scale)) > machine.format.max_quanta for x in values):
        return
    result = machine.settled(exact, "here")
    assert [x * machine.format.quantum for x in result.low.tolist()] == [
        r.quanta * machine.format.quantum for r in rounded
    ]
    for place, x in enumerate(values):
        assert result.exactly[place] == Fraction(x, 1 << scale)


def test_what_may_be_rounded_and_is_not_known_is_undecided() -> None:
    machine = RangeOperators(fixed_point(9), 1)
    odd = Ranges(np.array([1], object), np.array([3], object), 1, -1)
    with pytest.raises(Undecided, match="may round"):
        machine.settled(odd, "here")
    with pytest.raises(Refused, match="saturates: position 1"):
        machine.settled(known(np.array([256], object)), "here")
    assert total([], 3, "here").grid > 1000


def test_equal_units_on_equal_numbers_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another weight, bias, reader, bound, grid or ideal number is looked at anew, as a machine of its own does."""
    unit = UnitRows(((0, Fraction(1)),), Fraction(0), ((1, Fraction(2)),), Fraction(0))
    layer = Sublayer((unit,), ((1, ((0, Fraction(1)),), Fraction(0)),))
    numbers = [np.array(values, object) for values in ([16, 32, 48], [16, 16, 0])]
    column, other = map(known, numbers)
    looked: list[int] = []
    written = RangeOperators._outputs
    monkeypatch.setattr(RangeOperators, "_outputs", lambda *of: looked.append(1) or written(*of))

    def contents(columns: Sequence[Ranges]) -> list[object]:
        return [one.content for one in columns]

    changes: list[tuple[list[Ranges], Sublayer]] = [
        ([column, other], layer),
        ([known(numbers[1]), other], layer),
        ([replace(column, low=numbers[1]), other], layer),
        ([column, replace(other, high=numbers[0])], layer),
        ([replace(column, grid=0), other], layer),
        ([replace(column, ideal=np.array([Fraction(x) + 1 for x in (16, 32, 48)], object)), other], layer),
        ([column, other], replace(layer, units=(replace(unit, up=((1, Fraction(1)),)),))),
        ([column, other], replace(layer, units=(replace(unit, up_bias=Fraction(1)),))),
        ([column, other], replace(layer, units=(replace(unit, gate_bias=Fraction(-1)),))),
        ([column, other], replace(layer, down=((0, ((0, Fraction(1)),), Fraction(0)),))),
        ([column, other], replace(layer, down=((1, ((0, Fraction(2)),), Fraction(0)),))),
    ]
    machine = RangeOperators(fixed_point(17), 3)
    for number, (stream, some) in enumerate(changes, start=1):
        first = contents(machine.fed(stream, some, "here"))
        assert len(looked) == number
        again = [replace(one, low=one.low.copy(), high=one.high.copy()) for one in stream]
        assert contents(machine.fed(again, some, "here")) == first
        assert len(looked) == number
        apart = RangeOperators(fixed_point(17), 3)
        alone = contents(apart.fed(stream, some, "here"))
        looked.pop()
        assert alone == first
