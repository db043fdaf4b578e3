"""The Linear RNN that writes three tokens a step writes what the machine does; every part of it is needed."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines.known import first_mismatch, read_text
from constructions.engines.reference import ReferenceEngine
from constructions.layers import Transformer
from constructions.turing.configurations import HALT, OUT
from constructions.turing.library import find
from constructions.turing.machine import LETTERS, MachineError, parse_standard
from constructions.turing.three_tokens import MachineSpace, build, expected_sequence, prompt
from constructions.wiring.wired import Wired
from precision.format import Discipline, fixed_point
from tests.constructions.cutting import cuts
from tests.constructions.decoding import decode
from tests.turing.machines import codes


@cache
def model(code: str, cells: int, discipline: Discipline = Discipline.FUSED) -> Wired:
    return build(parse_standard(code), cells=cells, discipline=discipline)


def history_of(code: str, tape: str, limit: int, cells: int) -> tuple[list[str], list[str]]:
    """The prompt and what stands after it, from the text of the machine, on a list of cells."""
    rows = [[row[i : i + 3] for i in range(0, len(row), 3)] for row in code.split("_")]
    symbols = len(rows[0])
    base = next(power for power in (2, 4, 8, 16) if power >= symbols)
    word = tape or "0"
    head = (cells - len(word)) // 2
    contents = ["0"] * head + list(word) + ["0"] * (cells - head - len(word))
    given_words = ["<s>", *contents[:head], "A", *contents[head:], ":"]
    state, behind = "A", list[str]()
    for _ in range(limit):
        rule = rows[LETTERS.index(state)][int(contents[head])]
        left_behind, move, state = tuple("1RZ" if rule == "---" else rule)
        contents[head] = left_behind
        head += 1 if move == "R" else -1
        if head in (-1, cells):
            return given_words, [*behind, state, "OUT"]
        symbol = 2 ** (int(left_behind) + symbols * int(contents[head]))
        behind += [state, str(base ** (cells - head)), str(symbol * base**head)]
        if LETTERS.index(state) >= len(rows):
            return given_words, [*behind, "HALT"]
    return given_words, behind


def first_wrong(wired: Wired, weights: Transformer, code: str, tape: str, limit: int, cells: int) -> int | None:
    """The index of the first word that differs."""
    before, behind = history_of(code, tape, limit, cells)
    wrong, _ = first_mismatch(weights, wired.arithmetic, wired.tokens(before), wired.tokens(behind))
    return wrong


@st.composite
def runs(draw: st.DrawFn) -> tuple[str, str, int]:
    """A machine of 2 or 3 symbols, a word and a space whose numbers are not too large."""
    code = draw(codes(5, 3))
    symbols = len(code.split("_")[0]) // 3
    tape = draw(st.text("012"[:symbols], max_size=3))
    return code, tape, draw(st.integers(max(len(tape), 1), 6 if symbols == 2 else 3))


@given(runs(), st.sampled_from(list(Discipline)))
@settings(max_examples=40)
@example(("1LA1LA", "", 1), Discipline.FUSED)
@example(("1RA---", "", 4), Discipline.FUSED)  # no rule to the left
@example(("2LB2RA2RB_1RA1LB1LZ", "222", 3), Discipline.SEQUENTIAL)
@example(("_".join(f"1R{LETTERS[i + 1]}1L{LETTERS[i]}" for i in range(25)), "1", 1), Discipline.SEQUENTIAL)
def test_random_machines(run: tuple[str, str, int], discipline: Discipline) -> None:
    code, tape, cells = run
    before, behind = history_of(code, tape, 30, cells)
    machine = parse_standard(code)
    assert prompt(machine, tape, cells) == before
    assert expected_sequence(machine, tape, cells, 30) == behind
    wired = model(code, cells, discipline)
    assert first_wrong(wired, wired.model, code, tape, 30, cells) is None


@pytest.mark.parametrize("engine", ["reference", "dense", "incremental"])
@pytest.mark.parametrize(("name", "tape", "cells"), [("bb2", "", 6), ("bb3", "1", 5)])
def test_every_engine_decodes_it_without_a_guess(engine: str, name: str, tape: str, cells: int) -> None:
    code = str(find(name).machine)
    before, behind = history_of(code, tape, 1000, cells)
    assert behind[-1] in (HALT, OUT)
    wired = model(code, cells)
    assert decode(wired, wired.tokens(before), engine, len(behind) + 1, stop=(HALT, OUT)) == behind


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize(("code", "tape", "cells"), [("1RB1LB_1LA1RZ", "", 6), ("2LB2RA2RB_1RA1LB1LZ", "21", 2)])
def test_nothing_is_rounded_or_saturates(code: str, tape: str, cells: int, discipline: Discipline) -> None:
    """At the least p the registers are those that a format of 20 bits more gives."""
    wired = model(code, cells, discipline)
    bits = wired.arithmetic.format.significand_bits + 1
    wider = build(parse_standard(code), cells=cells, precision_bits=bits + 20, discipline=discipline)
    before, behind = history_of(code, tape, 12, cells)
    tokens = wired.tokens([*before, *behind])
    columns = read_text(wired.model, wired.arithmetic, tokens).streams
    engine, exact = (ReferenceEngine(w.model, w.arithmetic) for w in (wired, wider))
    for k, token in enumerate(tokens):
        step, right = engine.append(token), exact.append(token)
        assert [tuple(column[k] for column in registers) for registers in columns] == list(step.registers)
        assert [[x << 10 for x in registers] for registers in step.registers] == [list(r) for r in right.registers]
        assert [x << 10 for x in step.logits] == list(right.logits)
    assert not engine.flags.counts


HARD = (
    ("1RB1RZ_1LB0RC_1LC1LA", "", 30, 5),
    ("1RB1LA_0LB1RA", "011", 20, 6),
    ("0LB1LB_1RA0RA", "", 9, 3),
    ("0LB0LB_0LB0RA", "01", 12, 5),
    ("1LA1LA", "", 9, 4),
    ("1RA1RA", "1", 9, 4),
    ("1LB1LB_1LB1RB", "11", 20, 5),
    ("1RB0RA_1LB0RZ", "111", 20, 6),
    ("1RB1LB_1LA1RZ", "", 20, 6),
    ("1RZ1RZ", "01", 9, 4),
    ("1RB---_1LC---_------_------_------", "", 4, 2),  # the letter E is the number 4, and so is a mirror on the left
)
IDLE = {
    "block 2, the symbols of e ≥ 8, unit 2": "bends after the last e",
    "block 2, 1/e for e ≥ 8, unit 2": "bends after the last e",
}


def test_every_part_is_needed() -> None:
    """But for those above, and units that clear the embedding of words whose lead would still do."""
    kept: set[str] | None = None
    for code, tape, limit, cells in HARD:
        wired = model(code, cells)
        unseen = set[str]()
        for name, weights in cuts(wired, units=True):
            if "the table of" in name or "clear the embedding" in name or (kept is not None and name not in kept):
                continue
            if first_wrong(wired, weights, code, tape, limit, cells) is None:
                unseen.add(name)
        kept = unseen
    assert kept == set(IDLE)


@pytest.mark.parametrize(
    ("code", "cells", "bits", "message"),
    [
        ("1RB1LB_1LA1RZ", 0, None, "cells: this model is wired for 1 cell or more, not 0"),
        ("1RB1LB_1LA1RZ", 19, None, "numbers up to 2^21; this model is wired for numbers up to 2^20"),
        ("1RB1LB_1LA1RZ", 4, 25, "p = 25 is too small for 4 cells; the least p it is wired for is 27"),
        ("1RB1LB_1LA1RZ", 4, 28, "28"),
    ],
)
def test_what_cannot_be_wired_is_refused(code: str, cells: int, bits: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("^", r"\^")):
        build(parse_standard(code), cells=cells, precision_bits=bits)


def test_a_word_longer_than_the_space_is_refused() -> None:
    with pytest.raises(MachineError, match="3 cells do not hold the 4 symbols"):
        prompt(find("bb2").machine, "1111", 3)


@pytest.mark.parametrize("cells", [1, 4, 10])
def test_the_least_p_is_the_least_that_holds_the_words(cells: int) -> None:
    """With two bits less the square of the largest number is no element of the format."""
    space = MachineSpace(find("bb2").machine, cells)
    p = space.least_bits(Discipline.FUSED)
    assert fixed_point(p - 2).max_value < space.top**2 <= fixed_point(p).max_value - 1
