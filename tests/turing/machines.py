"""Machines to test with, and a simulator that shares no code with the one it judges: two stacks, and rules out of the text."""

from __future__ import annotations

from hypothesis import strategies as st

from constructions.turing.machine import LETTERS, Machine, parse_standard
from constructions.turing.simulator import Configuration


def run_on_stacks(code: str, tape: str, limit: int) -> Configuration:
    """The configuration after `limit` steps or at the end."""
    rows = code.split("_")
    left, right = [], list(reversed(tape))
    state, count, head = "A", 0, 0
    while count < limit and ord(state) - ord("A") < len(rows):
        symbol = int(right.pop() if right else "0")
        rule = rows[ord(state) - ord("A")][3 * symbol : 3 * symbol + 3]
        written, move, state = tuple("1RZ" if rule == "---" else rule)
        if move == "R":
            left.append(written)
            head += 1
        else:
            right += [written, left.pop() if left else "0"]
            head -= 1
        count += 1
    right = right or ["0"]
    cells = "".join(left) + "".join(reversed(right))
    return Configuration(ord(state) - ord("A") >= len(rows), count, state, head, head - len(left), cells)


def history_of(code: str, tape: str, limit: int, cells: int) -> tuple[list[str], list[str]]:
    """The prompt and what stands after it, from the text of the machine, on a list of cells."""
    rows = [[row[i : i + 3] for i in range(0, len(row), 3)] for row in code.split("_")]
    word = list(tape) or ["0"]
    head = (cells - len(word)) // 2
    contents: list[str] = ["_"] * head + word + ["_"] * (cells - head - len(word))
    state = "A"

    def shown() -> list[str]:
        return [state + x if place == head else x for place, x in enumerate(contents)]

    prompt = ["<s>", *shown(), ":"]
    behind: list[str] = []
    for _ in range(limit):
        rule = rows[LETTERS.index(state)][int(contents[head])]
        contents[head], move, state = tuple("1RZ" if rule == "---" else rule)
        head += 1 if move == "R" else -1
        if head in (-1, cells):
            return prompt, [*behind, *contents[: max(head - 1, 0)], "OUT"]
        if contents[head] == "_":
            contents[head] = "0"
        behind += [*shown(), "|"]
        if LETTERS.index(state) >= len(rows):
            return prompt, [*behind, "HALT"]
    return prompt, behind


@st.composite
def codes(draw: st.DrawFn, most_states: int = 5, most_symbols: int = 4) -> str:
    """Standard texts; some rules are undefined, some halt in another letter than Z."""
    states, symbols = draw(st.integers(1, most_states)), draw(st.integers(2, most_symbols))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXY"[:states] * 3 + "FHZ"
    digits = "0123456789"[:symbols]
    defined = st.builds("{}{}{}".format, st.sampled_from(digits), st.sampled_from("LR"), st.sampled_from(letters))
    rule = st.one_of(*[defined] * 7, st.just("---"))
    row = st.lists(rule, min_size=symbols, max_size=symbols).map("".join)
    return "_".join(draw(st.lists(row, min_size=states, max_size=states)))


@st.composite
def machines_with_tapes(draw: st.DrawFn) -> tuple[str, Machine, str]:
    """A text, its machine, and a word for it."""
    code = draw(codes())
    machine = parse_standard(code)
    return code, machine, draw(st.text("0123456789"[: machine.symbols], max_size=12))
