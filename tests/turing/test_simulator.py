"""The plain simulator, the compiled one and two stacks of characters agree; every column of a history is the step's."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constructions.turing import simulator
from constructions.turing.machine import Machine, MachineError, parse_standard
from constructions.turing.simulator import (
    MOST_HISTORY,
    MOST_STEPS,
    Configuration,
    TuringStep,
    histories,
    history,
    simulate,
    simulate_fast,
    steps,
)
from tests.turing.machines import machines_with_tapes, run_on_stacks

BB2 = parse_standard("1RB1LB_1LA1RZ")
RULES = ["".join(rule) for rule in itertools.product("01", "LR", "ABZ")]
UNBOUNDED_BOTH_WAYS = "1RB1LA_1LA1RB"  # goes to one end of its ones and then to the other
LEFT_FOR_GOOD, RIGHT_FOR_GOOD = "1LA1LA", "1RA1RA"


@pytest.mark.parametrize("first", RULES)
def test_every_machine_of_two_states_and_two_symbols(first: str) -> None:
    for second, third, fourth in itertools.product(RULES, repeat=3):
        code = f"{first}{second}_{third}{fourth}"
        machine = parse_standard(code)
        expected = run_on_stacks(code, "", 50)
        assert simulate(machine, "", 50) == expected
        assert simulate_fast(machine, "", 50) == expected
        assert expected.nonblank == expected.tape.count("1")
        if expected.halted:  # the busy beaver of two states: 6 steps, 4 ones
            assert expected.steps <= 6
            assert expected.nonblank <= 4


def test_every_step_of_the_busy_beaver_of_two_states() -> None:
    assert list(steps(BB2)) == [
        TuringStep(1, "A", 0, 0, 1, 1, "B"),
        TuringStep(2, "B", 1, 0, 1, -1, "A"),
        TuringStep(3, "A", 0, 1, 1, -1, "B"),
        TuringStep(4, "B", -1, 0, 1, -1, "A"),
        TuringStep(5, "A", -2, 0, 1, 1, "B"),
        TuringStep(6, "B", -1, 1, 1, 1, "Z"),
    ]
    assert simulate(BB2, "", 6) == Configuration(True, 6, "Z", 0, -2, "1111")


@given(machines_with_tapes(), st.integers(0, 400), st.sampled_from((1, 2, 3, 4096)))
@example((UNBOUNDED_BOTH_WAYS, parse_standard(UNBOUNDED_BOTH_WAYS), ""), 400, 1)
@example((LEFT_FOR_GOOD, parse_standard(LEFT_FOR_GOOD), "0110"), 400, 1)
@example((RIGHT_FOR_GOOD, parse_standard(RIGHT_FOR_GOOD), "0110"), 400, 1)
def test_three_simulators_agree(case: tuple[str, Machine, str], limit: int, margin: int) -> None:
    code, machine, tape = case
    expected = run_on_stacks(code, tape, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "FIRST_MARGIN", margin)  # a small one lets the array of cells grow
        assert simulate(machine, tape, limit) == simulate_fast(machine, tape, limit) == expected
        recorded = history(machine, tape, limit)
        pieces = list(histories(machine, tape, limit, piece=10 * margin))
    assert recorded.final == pieces[-1].final == expected
    for name in ("head", "state", "read", "written", "move", "next_state"):
        joined = [number for piece in pieces for number in getattr(piece, name).tolist()]
        assert joined == getattr(recorded, name).tolist()
    columns = (recorded.head, recorded.state, recorded.read, recorded.written, recorded.move, recorded.next_state)
    head, state, read, written, move, next_state = (column.tolist() for column in columns)
    walked = list(steps(machine, tape, limit))
    assert [step.number for step in walked] == list(range(1, expected.steps + 1))
    assert [step.head for step in walked] == head
    assert [step.state for step in walked] == [chr(ord("A") + number) for number in state]
    assert [step.read for step in walked] == read
    assert [step.written for step in walked] == written
    assert [step.move for step in walked] == move
    assert [step.next_state for step in walked] == [chr(ord("A") + number) for number in next_state]


@given(machines_with_tapes(), st.integers(0, 60))
def test_a_history_replays_to_the_final_configuration(case: tuple[str, Machine, str], limit: int) -> None:
    """Last write to a cell wins; that is what an engine that reads the history will find."""
    _, machine, tape = case
    recorded = history(machine, tape, limit)
    cells = dict(enumerate(map(int, tape)))
    for at, read, written in zip(*(c.tolist() for c in (recorded.head, recorded.read, recorded.written)), strict=True):
        assert cells.get(at, 0) == read
        cells[at] = written
    final = recorded.final
    shown = dict(enumerate(map(int, final.tape), final.first))
    assert {cell for cell in cells if cells[cell]} == {cell for cell in shown if shown[cell]}
    assert all(shown[cell] == cells.get(cell, 0) for cell in shown)


@pytest.mark.parametrize("code", [UNBOUNDED_BOTH_WAYS, LEFT_FOR_GOOD, RIGHT_FOR_GOOD])
def test_a_run_outgrows_its_first_cells(code: str) -> None:
    assert simulate_fast(parse_standard(code), "01", 60_000) == run_on_stacks(code, "01", 60_000)


def test_an_undefined_rule_halts_with_a_step_like_1rz() -> None:
    open_, spelled = (parse_standard(f"1RB1LB_1LA{rule}") for rule in ("---", "1RZ"))
    for run in (simulate, simulate_fast):
        assert run(open_, "", 100) == run(spelled, "", 100)
    assert simulate(parse_standard("------"), "", 5) == Configuration(True, 1, "Z", 1, 0, "10")


def test_the_whole_word_is_on_the_tape() -> None:
    for run in (simulate, simulate_fast):
        assert run(parse_standard("0LZ0LZ"), "0110", 5) == Configuration(True, 1, "Z", -1, -1, "00110")
        assert run(BB2, "10", 0) == Configuration(False, 0, "A", 0, 0, "10")
        assert run(BB2, "", 0) == Configuration(False, 0, "A", 0, 0, "0")


def test_without_numba_it_runs_as_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = simulate_fast(BB2, "01", 50), history(BB2, "01", 50).head.tolist()
    monkeypatch.setitem(sys.modules, "numba", None)
    simulator._compile.cache_clear()
    try:
        assert simulator._compile() is simulator._advance
        assert (simulate_fast(BB2, "01", 50), history(BB2, "01", 50).head.tolist()) == fast
        assert simulate_fast(parse_standard(RIGHT_FOR_GOOD), "", 9000) == run_on_stacks(RIGHT_FOR_GOOD, "", 9000)
    finally:
        simulator._compile.cache_clear()


def test_what_is_no_tape_or_no_limit_is_refused_at_once() -> None:
    for run in (steps, simulate, simulate_fast, history):
        with pytest.raises(MachineError, match="'2' at place 1"):
            run(BB2, "2", 5)
        with pytest.raises(MachineError, match="number of steps is 0 … 2\\^62, not -1"):
            run(BB2, "", -1)
    with pytest.raises(MachineError, match="not 4611686018427387905"):
        simulate_fast(BB2, "", MOST_STEPS + 1)
    with pytest.raises(MachineError, match="at most 100000000 steps, not 100000001"):
        history(BB2, "", MOST_HISTORY + 1)


def test_a_history_as_long_as_it_may_be() -> None:
    """The sum of all moves is where the head ends."""
    recorded = history(parse_standard("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA"), "", 10**7)
    assert len(recorded.head) == recorded.final.steps == 10**7
    assert not recorded.final.halted
    assert int(recorded.move.sum(dtype="int64")) == recorded.final.head
    assert bool((recorded.head[1:] == recorded.head[:-1] + recorded.move[:-1]).all())
    assert bool((recorded.state[1:] == recorded.next_state[:-1]).all())
