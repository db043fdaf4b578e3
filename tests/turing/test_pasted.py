"""Machine texts as people paste them, against an interpreter of Morphett's format that knows nothing of ours."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.turing.door import machine_of
from constructions.turing.machine import MachineError, parse_standard, parse_table
from constructions.turing.pasted import looks_like_a_machine, read_machine
from constructions.turing.simulator import simulate

BB2 = "1RB1LB_1LA1RZ"
YAML = """
# the busy beaver, for turingmachine.io
input: ''
blank: 0
start state: A
table:
  A:
    0: {write: 1, R: B}
    1: {L: B}
  B:
    0: {write: 1, L: A}
    1: {R: Z}
  Z:
"""
INCREMENT = """
input: '1011'
blank: ' '
start state: right
synonyms:
  go: {R: right}
table:
  right:
    [1,0]: go
    ' '  : {L: carry}
  carry:
    1      : {write: 0, L}
    [0,' ']: {write: 1, L: done}
  done:
"""


@pytest.mark.parametrize(
    "text",
    [
        BB2,
        BB2.lower(),
        f"  {BB2}\n",
        f"# the busy beaver\n{BB2}  # 6 steps\n",
        f"{BB2} ; 6 steps",
        f"{BB2} // 6 steps",
        "1RB 1LB _ 1LA 1RZ",
        "1RB 1LB_1LA 1RZ",
        "1RB1LB 1LA1RZ",
        "1RB1LB\n1LA1RZ",
        "1RB1LB\n_1LA1RZ",
        "1RB1LB_1LA1R-",
        "1RB1LB_1LA1R_",
        "1RB 1LB  1LA 1RZ",
        "1RB 1LB\n1LA 1RZ",
        "1rb 1lb   1la 1r_",
        f"https://bbchallenge.org/{BB2}",
        f"https://bbchallenge.org/{BB2}&status=halt&s=6",
        f"bbchallenge.org/#/{BB2.lower()}?w=100",
        f"{BB2},halt,6",
        f"  {BB2},6,4  # CSV",
        YAML,
        "A 0 -> 1 R B\nA 1 -> 1 L B\nB 0 -> 1 L A\nB 1 -> 1 R Z",
        "a 0 -> 1 r b  # small\na 1 -> 1 l b\nb 0 -> 1 l a\nb 1 -> 1 r z",
        "A 0 1 R B\nA 1 1 L B\nB 0 1 L A\nB 1 1 R Z",
        "; Morphett\nA 0 1 r B ; comment\nA 1 1 l B\nB 0 1 l A !\nB 1 1 r Z # comment",
    ],
)
def test_one_machine_in_many_hands(text: str) -> None:
    actual = read_machine(text)
    assert actual.machine == parse_standard(BB2)
    assert (actual.symbols, actual.note) == ({}, "")
    assert actual.tape("0110") == "0110"


@pytest.mark.parametrize("row", ["_", " _ ", "_ ", "  ", "   ", "\n"])
@pytest.mark.parametrize("rule", ["", " "])
@pytest.mark.parametrize(
    "machine", ["1RB1RZ_1LB0RC_1LC1LA", "1RB1LB_1LA0LC_1RZ1LD_1RD0RA", "1RB2LA1RA1RA_1LB1LA3RB1RZ"]
)
def test_rows_and_rules_may_stand_apart(machine: str, rule: str, row: str) -> None:
    """Of more than two states, rows two spaces apart were taken for several machines."""
    rows = [rule.join(re.findall("...", given)) for given in machine.split("_")]
    assert read_machine(row.join(rows)).machine == parse_standard(machine)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{BB2}\n1RB---_1LA1RB", f"there are 2 machines in the text, {BB2}, 1RB---_1LA1RB; give one of them"),
        ("\n".join(["1RB1RB_1RA1RZ"] * 6), "there are 6 machines .*, …; give one"),
        (f"{BB2} 6 4", "'6' is not made of rules"),
        ("1RB 1LB 1LA 1RZ", "nothing tells where the row of a state ends"),
        ("---_---", "2 to 10 symbols; the row of state A has rules for 1"),
        ("# nothing", "no machine in the text"),
        ("0 0 1 r 1\n0 0 1 r 2", "line 2: state 0, symbol 0 has a rule already"),
        ("0 0 1 * 1", r"line 1: the move \* stays on its cell"),
        ("0 0 1 r 1\n0 1 rr", "line 2: '0 1 rr' is not a rule; expected one as in 0 _ 1 r carry"),
        ("\n".join(f"0 {c} 1 r 0" for c in "abcdefghijk"), "at most 10 symbols; the text has 13"),
        (
            "\n".join(f"s{k} 0 1 r 0" for k in range(26)),
            "1 to 25 states, and letters to halt in; the text has 26 and 1",
        ),
        ("halt 0 1 r halt", "1 to 25 states"),
        ("https://bbchallenge.org/7888", "names a machine by a number; give its rules"),
        ("table:\n  A: [1", "the text is no YAML"),
        ("table:\n  A:\n    0: R\n", "the YAML has no 'start state'"),
        ("blank: 0\nstart state: A\ntable:\n  A:\n    0: S\n", "line 5: expected one move, L or R"),
        ("blank: 0\nstart state: A\ntable:\n  A:\n    0: {R: A, L: A}\n", "line 5: expected one move"),
        ("blank: 0\nstart state: A\ntable:\n  A:\n    01: R\n", "line 5: '01' is no symbol of one character"),
        ("blank: 0\nstart state: A\ntable:\n  A:\n    [0, 0]: R\n", "line 5: state A, symbol '0' has a rule already"),
        ("blank: 0\nstart state: B\ntable:\n  A:\n    0: R\n", "the start state B has no rule"),
        ("table:\n- A\n", "is not made of `name: …`"),
    ],
)
def test_what_cannot_be_read_is_one_line(text: str, says: str) -> None:
    with pytest.raises(MachineError, match=says) as error:
        read_machine(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("word", ["1011", "0", "", "111111"])
def test_the_binary_increment_of_turingmachine_io(word: str) -> None:
    """Its first example; the oracle is Python's addition."""
    pasted = read_machine(INCREMENT)
    assert "right → A" in pasted.note
    assert pasted.example == "1011"
    run = simulate(pasted.machine, pasted.tape(word), 100)
    digits = {ours: theirs for theirs, ours in pasted.symbols.items()}
    written = "".join(digits[symbol] for symbol in run.tape).strip()
    assert int(written, 2) == int(word or "0", 2) + 1


def test_the_word_of_a_text_is_its_own_example() -> None:
    assert machine_of(INCREMENT, None) == machine_of(INCREMENT, "1011")
    assert machine_of(INCREMENT, "")[1] == ""


def test_undefined_rules_of_dots() -> None:
    assert read_machine("1RB..._1LA1R_").machine == parse_standard("1RB---_1LA1RZ")
    assert read_machine("1RB ...  1LA ---").machine == parse_standard("1RB---_1LA---")


def test_what_a_table_lacks_is_said() -> None:
    actual = read_machine("0 0 1 r b\nb 1 1 l halt")
    assert actual.note.endswith("no rule for 0 1, b 0, taken as ---")
    assert str(actual.machine) == "1RB---_---1LZ"


@pytest.mark.parametrize("text", ["bb99", "machine.txt", "/", "a/b_c", "./1RB"])
def test_names_are_no_machines(text: str) -> None:
    assert not looks_like_a_machine(text)
    assert all(map(looks_like_a_machine, ("", BB2, "1rb---", "---1RB_1LA1RZ", "A 0 -> 1 R B", "0 0 1 r 1\n")))


def interpret(
    table: list[tuple[str, str, str, str, str]], start: str, blank: str, word: str, limit: int
) -> tuple[str, int, str]:
    """Morphett's machine: the rule of (state, symbol), or with * for either, the most exact first. State, head, tape."""
    tape, head, state = dict(enumerate(word)), 0, start
    for _ in range(limit):
        if state.startswith("halt"):
            break
        symbol = tape.get(head, blank)
        for key in ((state, symbol), (state, "*"), ("*", symbol), ("*", "*")):
            found = [rule for rule in table if rule[:2] == key]
            if found:
                break
        _, _, write, move, following = found[0]
        tape[head] = symbol if write == "*" else write
        head += 1 if move == "r" else -1
        state = state if following == "*" else following
    return state, head, "".join(tape.get(cell, blank) for cell in range(-limit, limit + 1))


names = st.sampled_from(["0", "carry", "q7", "halt", "halt-no", "*"])
rule = st.tuples(st.sampled_from("01x_*"), st.sampled_from("lr"), names)


@given(st.data())
def test_a_simulators_table_runs_as_in_the_simulator(data: st.DataObject) -> None:
    reads = data.draw(st.sampled_from(["01x_", "01x_*", "*"]))
    table = [(s, r, *data.draw(rule)) for s, r in itertools.product(("0", "carry", "q7"), reads)]
    if data.draw(st.booleans()) and reads != "*":
        table = [entry for entry in table if data.draw(st.booleans())]
        table.append(("*", "*", *data.draw(rule)))
    text = "\n".join(" ".join(entry) for entry in table)
    word, limit = data.draw(st.text("01x", max_size=4)), data.draw(st.integers(0, 12))
    try:
        found = read_machine(text)
        word_read = found.tape(word)
        found.machine.word(word_read)
    except MachineError:
        return  # a symbol of the word that the table never speaks of
    start = "0" if any(entry[0] == "0" for entry in table) or "*" in {e[0] for e in table} else table[0][0]
    spoken = {symbol for _, read, write, *_ in table for symbol in (read, write)}
    blank = "0" if "0" in spoken and "_" not in spoken else "_"
    state, head, tape = interpret(table, start, blank, word, limit)
    end = simulate(found.machine, word_read, limit)
    assert end.halted == state.startswith("halt")
    assert end.head == head
    ours = {place + end.first: digit for place, digit in enumerate(end.tape)}
    back = {digit: symbol for symbol, digit in (found.symbols or {d: d for d in "01"}).items()}
    assert "".join(back[ours.get(cell, "0")] for cell in range(-limit, limit + 1)) == tape


def test_rules_of_any_state_are_rules_of_the_first_one() -> None:
    actual = read_machine("q7 * 1 r q7\n* * 1 l q7")
    assert simulate(actual.machine, "", 1).head == -1  # in state 0, where the simulator starts, and not in q7


def test_a_table_with_an_arrow_is_the_old_one() -> None:
    text = "A 0 -> 1 R B\nB 0 -> ---"
    assert read_machine(text).machine == parse_table(text)


@given(st.text("AB01RLZrl_-*; >#\n→x²") | st.text())
def test_any_text_is_read_or_refused_in_one_short_line(text: str) -> None:
    try:
        read_machine(text)
        said = ""
    except MachineError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 400
