"""Configurations as text: the words, the simulator's sequence in them, how they are read, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.turing import cot
from constructions.turing.__main__ import main
from constructions.turing.configurations import HALT, OUT, left_the_space, read, read_steps
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import MachineError, parse_standard
from constructions.turing.simulator import steps
from tests.turing.machines import history_of, machines_with_tapes, run_on_stacks


@given(machines_with_tapes(), st.integers(0, 40), st.integers(0, 9))
@settings(max_examples=150)
def test_the_oracle_and_the_reading(case: tuple[str, object, str], limit: int, more: int) -> None:
    code, _, tape = case
    machine, cells = parse_standard(code), max(len(tape), 1) + more
    prompt, behind = history_of(code, tape, limit, cells)
    model = cot.Cot(machine, tape, cells)
    assert model.prompt(limit) == prompt
    assert model.expected(limit) == behind
    words = [*prompt, *behind]
    done = behind.count("|")
    assert read(words) == replace(run_on_stacks(code, tape, done), halted=words[-1] == HALT)
    assert list(read_steps(words)) == list(steps(machine, tape, done))
    assert bool(left_the_space(words)) == (words[-1] == OUT)
    assert (words[-1] == OUT) or done == run_on_stacks(code, tape, limit).steps


def test_an_end_outside_the_space_in_words() -> None:
    for code, line in (
        ("1RA1RA", "cells: the head left cell 2 after 2 steps, and the tape has the cells -2 … 2"),
        ("1LA1LA", "cells: the head left cell -2 after 2 steps, and the tape has the cells -2 … 2"),
    ):
        machine = parse_standard(code)
        model = cot.Cot(machine, cells=5)
        words = [*model.prompt(9), *model.expected(9)]
        assert left_the_space(words) == line
        assert not read(words).halted


def test_words_that_are_no_configurations_cannot_be_read() -> None:
    prompt = ["<s>", "A0", "_", ":"]
    assert read([*prompt, "B0"]).steps == 0
    for words in (["1", "_", "|"], ["1", "_", "|", "HALT"]):
        with pytest.raises(ValueError, match="configuration 1 has no head: 1 _"):
            read([*prompt, *words])
        with pytest.raises(ValueError, match="configuration 1 has no head: 1 _"):
            list(read_steps([*prompt, *words]))


def test_the_command_says_where_the_space_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--machine", "1RA1RA", "--model", "cot", "--steps", "100", "--cells", "5"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("_ _ 1 A0 _ | _ _ 1 1 A0 | _ _ 1 1 OUT\n")
    assert "error: cells: the head left cell 2 after 2 steps, and the tape has the cells -2 … 2" in err
    assert main(["--machine", "bb2", "--model", "cot", "--steps", "100", "--cells", "6"]) == 0
    assert "HALT" in capsys.readouterr().out


def test_where_the_space_is_not_given_16_cells_lie_on_both_sides() -> None:
    assert cot.Cot(find("bb2").machine).prompt(2) == ["<s>", "_", "_", "A0", "_", "_", ":"]
    assert len(cot.Cot(find("bb2").machine, "11").prompt(1000)) == 2 + 2 + 2 * 16
    for named in LIBRARY:
        if named.steps < 5000:
            cells = 145 if named.name == "collatz" else None  # whose numbers move to the right
            assert cot.Cot(named.machine, named.example, cells).expected(5000)[-1] == HALT


def test_refusals() -> None:
    machine = find("bb2").machine
    for (tape, cells, n), line in (
        (("012", None, 5), "'2' at place 3 of the tape is not one of the symbols"),
        (("", 0, 5), "cells: this machine can be wired for 1 … 500 cells, not 0"),
        (("", 501, 5), "cells: this machine can be wired for 1 … 500 cells, not 501"),
        (("0110", 3, 5), "cells: 3 cells do not hold the 4 symbols of the tape word"),
        (("", None, -1), "0 … 10,000,000 steps, not -1"),
    ):
        with pytest.raises(MachineError, match=line):
            cot.Cot(machine, tape, cells).build(n)
    with pytest.raises(ValueError, match="p = 53 is too small for 12 cells; the least p it is wired for is 55"):
        cot.Cot(machine, cells=12).build(5, precision_bits=53)
