"""What a person sees of a run is what happened."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from constructions.turing.library import find
from constructions.turing.machine import Machine, MachineError, parse_standard
from constructions.turing.show import LEAST_CELLS, ConfigurationLine, lines_of, outcome, print_steps
from constructions.turing.simulator import simulate, steps
from tests.turing.machines import machines_with_tapes, run_on_stacks

BB2 = parse_standard("1RB1LB_1LA1RZ")
RIGHT_FOR_GOOD = parse_standard("1RA1RA")


def printed(
    machine: Machine, tape: str, limit: int, *, width: int = 80, terminal: bool = False, most: int = 200
) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system="truecolor" if terminal else "auto")
    print_steps(console, machine.word(tape), steps(machine, tape, limit), simulate(machine, tape, limit), most)
    return out.getvalue()


def lines(machine: Machine, tape: str, limit: int, cells: int) -> Iterator[ConfigurationLine]:
    end = simulate(machine, tape, limit)
    return lines_of(machine.word(tape), steps(machine, tape, limit), range(end.first, end.first + len(end.tape)), cells)


def test_the_busy_beaver_of_two_states() -> None:
    assert printed(BB2, "", 100).splitlines() == [
        "0  A    0 0[0]0",
        "1  B    0 0 1[0]",
        "2  A    0 0[1]1",
        "3  B    0[0]1 1",
        "4  A   [0]1 1 1",
        "5  B    1[1]1 1",
        "6  Z    1 1[1]1",
        "halted in state Z after 6 steps, head on cell 0, 4 cells not blank, 4 on the tape",
    ]


def test_a_wide_tape_is_seen_through_a_window() -> None:
    seen = printed(RIGHT_FOR_GOOD, "", 12, width=24).splitlines()
    assert seen == [
        " 0  A   [0]0 0 0 0 0 0",
        *(f"{n:2}  A    {'1 ' * (n - 1)}1[0]{' '.join('0' * (6 - n))}".rstrip() for n in range(1, 7)),
        " 7  A  … 1 1 1[0]0 0 0",
        " 8  A  … 1 1 1 1[0]0 0",
        " 9  A  … 1 1 1 1 1[0]0",
        "10  A  … 1 1 1 1 1 1[0]",
        "11  A  … 1 1 1 1 1[0]0",
        "12  A  … 1 1 1 1 1 1[0]",
        "still running, in state A, after 12 steps, head on cell 12, 12 cells not blank, 13 on the tape",
    ]


def test_the_rest_of_a_word_is_out_of_sight() -> None:
    first = printed(parse_standard("0RA1RA"), "1" * 30, 5, width=24).splitlines()[0]
    assert first == "0  A   [1]1 1 1 1 1 1 …"


def test_a_long_run_is_cut() -> None:
    assert printed(find("bb4").machine, "", 1000, most=3).splitlines() == [
        "  0  A   [0]0",
        "  1  B    1[0]",
        "  2  A   [1]1",
        "… 105 more steps",
        "halted in state Z after 107 steps, head on cell -9, 13 cells not blank, 14 on the tape",
    ]


def test_one_is_one_step() -> None:
    assert outcome(simulate(parse_standard("------"), "", 9)).startswith(
        "halted in state Z after 1 step, head on cell 1, 1 cell "
    )


def test_a_terminal_sees_the_head_marked_and_a_file_sees_text() -> None:
    assert "\x1b" not in printed(BB2, "", 9)
    coloured = printed(BB2, "", 9, terminal=True)
    assert "\x1b[1;7m0\x1b[0m" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    *lines, end = printed(BB2, "", 9).splitlines()
    assert plain.splitlines()[: len(lines)] == lines
    assert " ".join("".join(plain.splitlines(keepends=True)[len(lines) :]).split()) == end  # wrapped at words


def test_a_tape_that_is_none_is_refused() -> None:
    with pytest.raises(MachineError, match="'2' at place 1"):
        printed(BB2, "2", 9)


@given(machines_with_tapes(), st.integers(0, 60), st.integers(0, 20))
def test_every_line_is_the_configuration_after_its_steps(
    case: tuple[str, Machine, str], limit: int, cells: int
) -> None:
    code, machine, tape = case
    shown = list(lines(machine, tape, limit, cells))
    assert len(shown) == run_on_stacks(code, tape, limit).steps + 1
    for count, line in enumerate(shown):
        end = run_on_stacks(code, tape, count)
        assert (line.steps, line.state, line.head) == (count, end.state, end.head)
        assert len(line.cells) <= max(cells, LEAST_CELLS)
        assert line.first <= line.head < line.first + len(line.cells)
        on_tape = dict(enumerate(end.tape, end.first))
        assert line.cells == "".join(on_tape.get(line.first + i, "0") for i in range(len(line.cells)))
        last = end.first + len(end.tape)
        assert line.before == (end.first < line.first)
        assert line.after == (last > line.first + len(line.cells))
        text = line.text(4).plain
        assert re.findall(r"\[(.)\]", text)[0] == line.cells[line.head - line.first]


@given(machines_with_tapes(), st.integers(24, 60))
def test_a_line_is_no_wider_than_the_console(case: tuple[str, Machine, str], width: int) -> None:
    _, machine, tape = case
    *runs, _ = printed(machine, tape, 60, width=width).splitlines()
    assert max(map(len, runs)) <= width
