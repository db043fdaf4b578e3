"""The ideal model of a machine whose tape turns around is the machine: its program, and that its words are the machine's run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from constructions.language.interpreter import Input
from constructions.turing.library import find
from constructions.turing.machine import parse_standard
from precision.format import Discipline
from verify.automata.token_automaton import Label
from verify.certificates.above import ALONE
from verify.claims.models import TURING_COT
from verify.claims.run_invariants import QUEUE
from verify.claims.standard import PRECISION, SOUND, answered, first_other
from verify.claims.turing_program import FOLLOWED, due_answer
from verify.dossiers.dossier import Subject
from verify.dossiers.turing.lemmas.turning import theory
from verify.dossiers.turing.models import every_cells
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.inputs.turing_machines import every_run, every_space
from verify.oracles.counts import RUNS, small_spaces
from verify.runs.turing_runs import COT, SpaceCase, cases, digits_of

STEPS, SPACE, MOST_STEPS, MANY = 10, 7, 1000, 100
FAMILIES = frozenset(["blank", "cell", "head", "halted", "turn", "outside"])
ROWS = "up to b^m configurations of one head each, more than there are rows of m digits below b"
CASES = (
    "n stands for the numbers of ⌊m/2⌋ bits, the case for two m. A run of b^m steps comes to a row of cells twice, so it has ended "
    "before, or never ends."
)
OF_THREE = "Of bb2 on 9 cells, bb3 and counter on 5:"
PROGRAM = (
    "Turing machines, cot: In exact arithmetic, what is said after a prompt of m cells and any configurations of one head each is "
    "the cell of the next one that the cell before and the two beside it tell by the machine's rules; OUT where the head would "
    f"leave the space, HALT after a configuration whose state has no row. Given the invariant of {QUEUE}."
)
RUN = (
    "Turing machines, cot: The defined words, each after the ones before, are the machine's run: each configuration has the "
    "machine's head, state and symbols; HALT is said after one just if its state has no row, and OUT just where the head would "
    f"leave the space; for the machines {', '.join(FOLLOWED)}, for every word, any number of cells and any number of steps."
)


def as_the_machine(case: SpaceCase) -> Counterexample | None:
    """Returns where the defined words, each after the ones before, are not those of the simulator's run."""
    machine = parse_standard(case.machine)
    model = COT.solver_of(case)
    prompt, written = model.prompt(case.steps), model.expected(case.steps)
    subject = TURING_COT.subject(case.steps, machine=case.machine, tape=case.tape, cells=case.cells)
    read = Input(digits_of(machine, [*prompt, *written]), FAMILIES)
    before = read.tokens[len(prompt) - 1 : -1]
    # States of one word or kind have one definition.
    return first_other(read, len(prompt), (due_answer(subject, Label(word)) for word, _ in before))


@TURING_COT.judges("program", f"{OF_THREE} {PROGRAM}")
def test_program(check: Check) -> None:
    check.sizes(STEPS)  # or skips
    right: Callable[[Any], Counterexample | None] = as_the_machine
    said = "the defined words against the simulator"
    check.exhaustive(
        (SpaceCase(machine, "", STEPS, SPACE) for machine in every_run(STEPS)),
        as_the_machine,
        count=RUNS,
        range=f"{said}: a machine of 2 states and 2 symbols for each of their {RUNS} runs, {STEPS} steps in {SPACE} cells",
    )
    check.exhaustive(
        (SpaceCase(code, tape, STEPS, cells) for code, tape, cells in every_space()),
        as_the_machine,
        count=small_spaces(),
        range=f"{said}: every machine of 1 state and 2 symbols in 1, 2 and 3 cells, blank or 10, {STEPS} steps",
        size=lambda case: case.cells,
    )
    check.sampled(
        cases(COT, range(1, 2 * STEPS)),
        right,
        range=f"{said}: random machines of up to 5 states and 4 symbols, words of up to 6; up to {2 * STEPS - 1} steps",
        max_examples=40,
    )

    def subject(name: str, cells: int, tape: str = "") -> Subject:
        machine = str(find(name).machine)
        return TURING_COT.subject(MOST_STEPS, machine=machine, tape=tape, cells=cells)

    subjects = [subject("bb2", 9), subject("bb3", 5), subject("counter", 5, "31113")]
    text = f"up to {MOST_STEPS:,} steps of bb2 on 9 cells, bb3 on 5, counter on 5"
    if check.n_max >= 10**4:
        subjects.append(subject("bb2", MANY))
        text += f"; of bb2 on {MANY}"
    check.explained(subjects, range=f"the program against the definition: any configurations, {text}")


@TURING_COT.judges(
    "cells-program", f"For every number of cells m, after up to b^m configurations, of the machine bb2: {PROGRAM}"
)
def test_every_number_of_cells(check: Check) -> None:
    check.sizes(10**4)
    subject = every_cells(TURING_COT.subject(1, machine=str(find("bb2").machine)))
    text = f"bb2, every number of cells, those from {ALONE + 1} on in cases; {ROWS}"
    check.explained([subject], range=text)
    answered(check, "program", {subject: None})
    check.argued(CASES)


@TURING_COT.judges(
    "cells-rounding",
    f"Turing machines, cot: For every number of cells m, of the machine bb2, any text of {ROWS}: {SOUND} "
    f"Given the invariant of {QUEUE}.",
)
def test_rounding_of_every_number_of_cells(check: Check) -> None:
    check.sizes(10**4)
    if check.p_bits is not None:
        check.unknown("p grows with the number of cells")
    fused = every_cells(TURING_COT.subject(1, machine=str(find("bb2").machine)))
    subjects = [fused, replace(fused, discipline=Discipline.SEQUENTIAL)]
    text = f"bb2, every number of cells, those from {ALONE + 1} on in cases; any word, {ROWS}; fused and sequential"
    check.certified(subjects, range=text, precision=PRECISION)
    answered(check, "rounding", dict.fromkeys(subjects))
    check.argued(CASES)


@TURING_COT.judges("run", RUN)
def test_run(check: Check) -> None:
    for name in FOLLOWED:
        text = f"{name}: each cell of the next configuration, what is said where the head leaves the space, and after the last one"
        check.follows(theory(find(name).machine), range=text)
    check.argued("Induction over the configurations.")
