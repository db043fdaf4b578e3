"""Both formats: what is read is what was written, and whatever is malformed is one line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.turing.machine import LEFT, RIGHT, Machine, MachineError, Rule, parse_standard, parse_table
from tests.turing.machines import codes

BB2 = "1RB1LB_1LA1RZ"


def test_rules_of_a_text() -> None:
    machine = parse_standard(BB2)
    assert machine.rows == ((Rule(1, RIGHT, "B"), Rule(1, LEFT, "B")), (Rule(1, LEFT, "A"), Rule(1, RIGHT, "Z")))
    assert (machine.states, machine.symbols) == ("AB", 2)
    assert [machine.halts(letter) for letter in "ABCHZ"] == [False, False, True, True, True]


def test_an_undefined_rule_is_executed_as_1rz() -> None:
    machine = parse_standard("1RB---_0LA---")
    assert machine.rows[0][1] is None
    assert machine.rule("A", 1) == Rule(1, RIGHT, "Z")


def test_h_is_a_state_if_it_has_a_row() -> None:
    assert not parse_standard("_".join(["1RH0LA"] * 8)).halts("H")
    assert parse_standard("_".join(["1RH0LA"] * 7)).halts("H")


def test_the_largest_machine() -> None:
    code = "_".join(["".join(f"{9 - symbol}LY" for symbol in range(10))] * 25)
    machine = parse_standard(code)
    assert (len(machine.states), machine.symbols, str(machine)) == (25, 10, code)
    assert machine.halts("Z")


def parse_machine(text: str) -> Machine:
    """A machine in either format; an arrow tells them apart."""
    return (parse_table if re.search("->|→|#", text) else parse_standard)(text)


@given(codes(most_states=25, most_symbols=10))
def test_both_formats_round_trip(code: str) -> None:
    machine = parse_standard(code)
    assert str(machine) == code
    assert parse_table(machine.table()) == machine
    assert parse_machine(code) == parse_machine(machine.table()) == parse_machine(f" {code}\n") == machine


def test_a_table_that_a_person_writes() -> None:
    text = """
    # two states, in any order
    B 1 -> 1 R Z   # the end
    A0->1RB
    A 1 → 1LB

    B 0 -> 1 L A
    """
    assert parse_table(text) == parse_standard(BB2)


def test_what_a_table_leaves_out_is_undefined() -> None:
    assert str(parse_table("A 0 -> 2 R B\nB 2 -> ---")) == "2RB------_---------"
    assert str(parse_table("A 0 -> 0 L A")) == "0LA---"
    assert str(parse_table("A 0 -> 2 L A")) == "2LA------"


def test_tape_words() -> None:
    machine = parse_standard("1RB2LB1RZ_2LA2RB1LB")
    assert machine.word("0120") == (0, 1, 2, 0)
    assert machine.word("") == ()


MALFORMED = [
    ("", "no machine in the text"),
    (" \n", "no machine in the text"),
    ("# nothing\n", "no machine in the text"),
    ("1RB1LB_", "state B: the row '' has 0 characters, not three for each symbol"),
    ("1RB1LB_1LA1R", "state B: the row '1LA1R' has 5 characters"),
    ("1RB1LB_1LA", "state A has rules for 2 symbols, state B for 1"),
    ("1RB_1LA", "2 to 10 symbols; the row of state A has rules for 1"),
    ("1RA" * 11, "2 to 10 symbols; the row of state A has rules for 11"),
    ("_".join(["1RA1RA"] * 26), "1 to 25 states, from A to Y, not 26"),
    ("1RB1LB_1LA2RZ", "state B, symbol 1: writes 2, but the symbols are 0 … 1"),
    ("1RB1XB_1LA1RZ", "state A, symbol 1: '1XB' is not a rule"),
    ("1RB1LB_1LA1R-", "state B, symbol 1: '1R-' is not a rule"),
    ("1rb1lb_1la1rz", "state A, symbol 0: '1rb' is not a rule"),
    ("1RB1LB 1LA1RZ", "state A: the row '1RB1LB 1LA1RZ' has 13 characters"),
    ("1RB1LB_1LA²RZ", "state B, symbol 1: '²RZ' is not a rule"),
    ("1RB1LB\n_1LA1RZ", r"state A: the row '1RB1LB\\n' has 7 characters"),
    ("A 0 -> 1 R B\nA 0 -> 1 R B", "line 2: state A, symbol 0 has a rule already, on line 1"),
    ("A 0 -> 1 R B\n\nC 0 -> 1 R B", "state B has no rule, but C has"),
    ("B 0 -> 1 R B", "state A has no rule, but B has"),
    ("# one\nA 0 -> 1 N B", "line 2: 'A 0 -> 1 N B' is not a rule"),
    ("A 0 -> 12 R B", "line 1: 'A 0 -> 12 R B' is not a rule"),
    ("A ٣ -> 1 R B", "line 1: 'A ٣ -> 1 R B' is not a rule"),
    ("A 0 -> 1 R B C 0 -> 1 R B", "line 1: .* is not a rule"),
    ("Z 0 -> 1 R B", "state A has no rule, but Z has"),
    ("\n".join(f"{letter} 0 -> 1 R A" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "1 to 25 states"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_a_malformed_machine_is_one_line(text: str, message: str) -> None:
    with pytest.raises(MachineError, match=message) as error:
        parse_machine(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "1 to 25 states"),
        (((None, None), (None,)), "state A has rules for 2 symbols, state B for 1"),
        (((Rule(0, 0, "A"), None),), "state A, symbol 0: moves by 0"),
        (((None, Rule(-1, 1, "A")),), "state A, symbol 1: writes -1"),
        (((None, Rule(0, 1, "AB")),), "state A, symbol 1: goes to 'AB'"),
        (((None, Rule(0, 1, "")),), "state A, symbol 1: goes to ''"),
        (((None, Rule(0, 1, "a")),), "state A, symbol 1: goes to 'a'"),
    ],
)
def test_a_malformed_table_of_rules(rows: tuple[tuple[Rule | None, ...], ...], message: str) -> None:
    with pytest.raises(MachineError, match=message):
        Machine(rows)


@pytest.mark.parametrize(
    ("tape", "message"),
    [
        ("012", "'2' at place 3 of the tape is not one of the symbols 0 … 1"),
        ("0 1", "' ' at place 2"),
        ("x", "'x' at place 1"),
        ("-1", "'-' at place 1"),
        ("1²", "'²' at place 2"),
        ("1\n", r"'\\n' at place 2"),
    ],
)
def test_a_malformed_tape_is_one_line(tape: str, message: str) -> None:
    with pytest.raises(MachineError, match=message) as error:
        parse_standard(BB2).word(tape)
    assert "\n" not in str(error.value)


@given(st.text("AB01RLZ_- >#\n→x²") | st.text())
def test_any_text_is_a_machine_or_one_short_line(text: str) -> None:
    actual: Machine | str
    try:
        actual = parse_machine(text)
    except MachineError as error:
        actual = str(error)
    if isinstance(actual, Machine):
        assert parse_machine(str(actual)) == actual
    else:
        assert len(actual.splitlines()) == 1
        assert len(actual) < 200
