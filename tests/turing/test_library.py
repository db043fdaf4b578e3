"""Each machine does what its sentence says, stated again in plain Python."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.turing.library import LIBRARY, NamedMachine, find
from constructions.turing.machine import MachineError
from constructions.turing.simulator import simulate, simulate_fast, steps

ENOUGH = 10**9
# Steps and score, from the literature.
CHAMPIONS = {
    "bb2": (6, 4),
    "bb3": (21, 5),
    "bb3-ones": (14, 6),
    "bb4": (107, 13),
    "bb5": (47_176_870, 4098),
    "bb2x3": (38, 9),
    "bb2x4": (3_932_964, 2050),
}


def digits(number: int) -> str:
    """In binary, highest digit first, with the library's symbols; nothing for 0."""
    return f"{number:b}".replace("1", "2").replace("0", "1") if number else ""


def value(word: str) -> int:
    """Of a number, highest digit first."""
    assert set(word) <= {"1", "2"}
    return sum(2**place for place, symbol in enumerate(reversed(word)) if symbol == "2")


@pytest.mark.parametrize("named", LIBRARY, ids=lambda named: named.name)
def test_the_example_ends_as_it_says(named: NamedMachine) -> None:
    end = simulate_fast(named.machine, named.example, ENOUGH)
    assert (end.halted, end.steps, end.nonblank) == (True, named.steps, named.nonblank)


@pytest.mark.parametrize("name", CHAMPIONS)
def test_champions_have_the_steps_and_the_score_of_the_literature(name: str) -> None:
    named = find(name)
    assert (named.steps, named.nonblank) == CHAMPIONS[name]
    assert named.example == ""


def test_the_champion_of_five_states_has_the_tape_of_the_literature() -> None:
    end = simulate_fast(find("bb5").machine, "", ENOUGH)
    assert len(end.tape) == 12_289


def test_names() -> None:
    assert len({named.name for named in LIBRARY}) == len(LIBRARY)
    assert all(find(named.name) is named for named in LIBRARY)
    with pytest.raises(MachineError, match="no machine is called 'bb6'; there are bb2, bb3"):
        find("bb6")


@given(st.integers(0, 2**40), st.integers(0, 3))
def test_increment(number: int, leading_zeros: int) -> None:
    end = simulate(find("increment").machine, "1" * leading_zeros + digits(number), ENOUGH)
    assert end.halted
    assert value(end.tape.strip("0")) == number + 1


@pytest.mark.parametrize("length", range(10))
def test_palindrome(length: int) -> None:
    machine = find("palindrome").machine
    for word in map("".join, itertools.product("12", repeat=length)):
        end = simulate_fast(machine, word, ENOUGH)
        assert end.state == ("Y" if all(word[i] == word[-1 - i] for i in range(length)) else "N")


def test_addition() -> None:
    machine = find("addition").machine
    for a, b in itertools.product(range(15), repeat=2):
        end = simulate_fast(machine, "1" * a + "0" + "1" * b, ENOUGH)
        assert end.halted
        assert end.tape.strip("0") == "1" * (a + b)


def collatz_values(start: int) -> list[int]:
    """Where the map n/2, (3n + 1)/2 leads, until 1."""
    values = [start]
    while values[-1] != 1:
        n = values[-1]
        values.append((3 * n + 1) // 2 if n % 2 else n // 2)
    return values


def assert_collatz(start: int) -> None:
    """Whenever state A begins a round, the number on the tape is the next value; in the end it is 1."""
    machine, word = find("collatz").machine, digits(start)[::-1]
    cells = dict(enumerate(word))
    actual = []
    for step in steps(machine, word):
        if step.state == "A":
            onwards = (cells.get(cell, "0") for cell in itertools.count(step.head))
            rest = "".join(itertools.takewhile(lambda symbol: symbol != "0", onwards))
            actual.append(value(rest[::-1]))
        cells[step.head] = str(step.written)
    assert actual == collatz_values(start)
    end = simulate_fast(machine, word, ENOUGH)
    assert end.halted
    assert end.tape.strip("0") == "2"


def test_collatz_of_small_numbers() -> None:
    for start in range(1, 128):
        assert_collatz(start)


@given(st.integers(1, 2**20))
def test_collatz(start: int) -> None:
    assert_collatz(start)


@pytest.mark.parametrize("places", range(15))
def test_the_counter_lasts_about_4_times_2_to_its_digits(places: int) -> None:
    word = "3" + "1" * places + "3"
    end = simulate_fast(find("counter").machine, word, ENOUGH)
    assert end.halted
    assert end.steps == 2 ** (places + 2) - places - 2
    assert (end.first, end.tape) == (0, word)  # it has been on no other cell


@given(st.text("12", max_size=8))
def test_the_counter_counts(word: str) -> None:
    """Whenever the head is at the left end in state A, the number has grown by one."""
    tape = f"3{word}3"
    cells = list(tape)
    actual = []
    for step in steps(find("counter").machine, tape):
        if step.state == "A" and step.head == 0:
            actual.append(value("".join(cells[1:-1])[::-1]))
        cells[step.head] = str(step.written)
    assert actual == list(range(value(word[::-1]), 2 ** len(word)))
