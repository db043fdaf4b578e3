"""Theorem 4.1: that three tokens a step are enough for a machine whose tape stays where it is, as numbers and no weights."""

from __future__ import annotations

import itertools

from constructions.turing.machine import parse_standard
from constructions.turing.simulator import steps as simulated
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.inputs.turing_machines import every_run
from verify.oracles.three_tokens import steps
from verify.runs.turing_runs import SpaceCase

STEPS, CELLS, TAPES = 50, (3, 6, 13), ("", "10", "011")


def as_the_machine(case: SpaceCase) -> Counterexample | None:
    """Where sums and last tokens tell another configuration than the simulator's, or a number is too large."""
    machine, start = parse_standard(case.machine), case.cells // 2
    tape = dict(enumerate(map(int, case.tape), start))
    made = 0
    for step, (_, sums, told) in zip(
        simulated(machine, case.tape, case.steps),
        steps(machine, case.tape, case.cells, start, case.steps),
        strict=False,
    ):
        tape[start + step.head] = step.written
        cells = tuple(tape.get(i, 0) for i in range(case.cells))
        right = (step.next_state, start + step.head + step.move, cells)
        if (told.state, told.head, told.tape) != right:
            return Counterexample(step=step.number, expected=right, told=(told.state, told.head, told.tape))
        if sums.largest > 8 << case.cells:
            return Counterexample(step=step.number, largest=sums.largest)
        made += 1
    for step in itertools.islice(simulated(machine, case.tape, case.steps), made, None):
        inside = 0 <= start + step.head + step.move < case.cells
        return Counterexample(step=step.number, expected="a step", told="an end") if inside else None
    return None


@claim(
    theorem="4.1",
    task="turing",
    aspect="token-arithmetic",
    source="Theorem 4.1",
    statement="In exact arithmetic, three tokens a step tell the run of a machine of 2 symbols on m cells to two sums: the state,"
    " 2^(m − P), and a number below 8 times 2^P for the cell's value. What is added to the sums is a product of these; no number is"
    " above 8·2^m.",
)
def test_the_tokens_tell_the_run(check: Check) -> None:
    check.exhaustive(
        (
            SpaceCase(machine, tape, STEPS, cells)
            for cells in CELLS
            for tape in TAPES
            if len(tape) <= cells - cells // 2
            for machine in every_run(STEPS)
        ),
        as_the_machine,
        count=408 * (2 + 3 + 3),
        range="a machine for each run of 2 states and 2 symbols, from a blank tape, 10 and 011, on 3, 6 and 13 cells; 50 steps",
        size=lambda case: case.cells,
    )
