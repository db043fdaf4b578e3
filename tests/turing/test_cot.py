"""The Linear RNN whose tape turns around writes what the machine does, configuration by configuration; cut weights are noticed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines import EngineFailed, find_engine, indexed
from constructions.engines.indexed.column import Column
from constructions.engines.reference import ReferenceEngine
from constructions.layers import Block, Transformer
from constructions.measures import LINEAR_RNN, measure
from constructions.turing import cot
from constructions.turing.__main__ import main
from constructions.turing.configurations import HALT, OUT
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import LETTERS, MachineError, parse_standard
from constructions.turing.simulator import simulate, steps
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.turing.machines import codes, machines_with_tapes, run_on_stacks

SYMBOLS = "0123456789"


def history_of(code: str, tape: str, limit: int, cells: int) -> tuple[list[str], list[str]]:
    """The prompt and what stands behind it, from the text of the machine, on a list of cells."""
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


@cache
def model(code: str, cells: int, discipline: Discipline = Discipline.FUSED, p: int | None = None) -> Wired:
    return cot.build(parse_standard(code), steps=1, tape="", cells=cells, precision_bits=p, discipline=discipline)


def decoded(wired: Wired, prompt: list[str], engine: str, limit: int, guess: list[str] | None = None) -> list[str]:
    """What the model writes behind the prompt; all by itself if there is no guess."""
    run = find_engine(engine)(
        wired.model,
        wired.arithmetic,
        wired.tokens(prompt),
        {wired.token[HALT], wired.token[OUT]},
        limit,
        guess=wired.tokens(guess or []),
    )
    return [wired.vocabulary[token] for token in run.produced]


def writes_it(code: str, tape: str, limit: int, cells: int, discipline: Discipline = Discipline.FUSED) -> None:
    """By the indexed engine, on the whole run at once."""
    wired = model(code, cells, discipline)
    prompt, behind = history_of(code, tape, limit, cells)
    fed = wired.tokens(behind)
    if fed:
        wrong, run = indexed.first_mismatch(wired.model, wired.arithmetic, wired.tokens(prompt), fed)
        assert wrong is None, (code, tape, cells, prompt, behind[: wrong + 1])
        assert not run.columns.saturations


# The words


@given(machines_with_tapes(), st.integers(0, 40), st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_the_oracle_and_the_reading(case: tuple[str, object, str], limit: int, more: int) -> None:
    code, _, tape = case
    machine, cells = parse_standard(code), max(len(tape), 1) + more
    prompt, behind = history_of(code, tape, limit, cells)
    asked = {"steps": limit, "tape": tape, "cells": cells}
    assert cot.prompt(machine, **asked) == prompt  # type: ignore[arg-type]
    assert cot.expected_sequence(machine, **asked) == behind  # type: ignore[arg-type]
    words = [*prompt, *behind]
    done = behind.count("|")
    assert cot.read(words) == replace(run_on_stacks(code, tape, done), halted=words[-1] == HALT)
    assert list(cot.read_steps(words)) == list(steps(machine, tape, done))
    assert bool(cot.left_the_space(words)) == (words[-1] == OUT)
    assert (words[-1] == OUT) or done == run_on_stacks(code, tape, limit).steps


def test_an_end_outside_the_space_in_words() -> None:
    for code, line in (
        ("1RA1RA", "space: the head left cell 2 after 2 steps, and the tape has the cells -2 … 2"),
        ("1LA1LA", "space: the head left cell -2 after 2 steps, and the tape has the cells -2 … 2"),
    ):
        machine = parse_standard(code)
        asked = {"steps": 9, "tape": "", "cells": 5}
        words = [*cot.prompt(machine, **asked), *cot.expected_sequence(machine, **asked)]  # type: ignore[arg-type]
        assert cot.left_the_space(words) == line
        assert not cot.read(words).halted


def test_words_that_are_no_configurations_cannot_be_read() -> None:
    prompt = ["<s>", "A0", "_", ":"]
    assert cot.read([*prompt, "B0"]).steps == 0
    for words in (["1", "_", "|"], ["1", "_", "|", "HALT"]):
        with pytest.raises(ValueError, match="configuration 1 has no head: 1 _"):
            cot.read([*prompt, *words])
        with pytest.raises(ValueError, match="configuration 1 has no head: 1 _"):
            list(cot.read_steps([*prompt, *words]))


def test_the_command_says_where_the_space_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--machine", "1RA1RA", "--model", "cot", "--steps", "100", "--cells", "5"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("_ _ 1 A0 _ | _ _ 1 1 A0 | _ _ 1 1 OUT\n")
    assert "error: space: the head left cell 2 after 2 steps, and the tape has the cells -2 … 2" in err
    assert main(["--machine", "bb2", "--model", "cot", "--steps", "100", "--cells", "6"]) == 0
    assert "HALT" in capsys.readouterr().out


def test_where_the_space_is_not_given_16_cells_lie_on_both_sides() -> None:
    assert cot.prompt(find("bb2").machine, steps=2, tape="") == ["<s>", "_", "_", "A0", "_", "_", ":"]
    assert len(cot.prompt(find("bb2").machine, steps=1000, tape="11")) == 2 + 2 + 2 * 16
    for named in LIBRARY:
        if named.steps < 5000:
            cells = 145 if named.name == "collatz" else None  # whose numbers move to the right
            assert cot.expected_sequence(named.machine, steps=5000, tape=named.example, cells=cells)[-1] == HALT


def test_refusals() -> None:
    machine = find("bb2").machine
    for given_, line in (
        ({"tape": "012"}, "'2' at place 3 of the tape is not one of the symbols"),
        ({"cells": 0}, "space: this machine can be wired for 1 … 500 cells, not 0"),
        ({"cells": 501}, "space: this machine can be wired for 1 … 500 cells, not 501"),
        ({"tape": "0110", "cells": 3}, "space: 3 cells do not hold the 4 symbols of the tape word"),
        ({"steps": -1}, "0 … 10,000,000 steps, not -1"),
    ):
        with pytest.raises(MachineError, match=line):
            cot.build(machine, **{"steps": 5, "tape": "", **given_})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown finding 'x'; this construction has none"):
        cot.build(machine, steps=5, tape="", printed=["x"])
    with pytest.raises(ValueError, match="p = 53 is too small for 12 cells; the least p it is wired for is 55"):
        cot.build(machine, steps=5, tape="", cells=12, precision_bits=53)
    with pytest.raises(ValueError, match="odd"):
        cot.build(machine, steps=5, tape="", cells=12, precision_bits=56)


# The model


@pytest.mark.parametrize("engine", ["reference", "indexed", "dense", "incremental"])
@pytest.mark.parametrize(
    ("name", "tape", "cells"), [("bb2", "", 6), ("bb3", "", 7), ("increment", "22", 4), ("palindrome", "121", 5)]
)
def test_every_engine_decodes_it_without_a_guess(engine: str, name: str, tape: str, cells: int) -> None:
    code = str(find(name).machine)
    prompt, behind = history_of(code, tape, 1000, cells)
    behind = behind if engine == "reference" else behind[:14]
    try:
        assert decoded(model(code, cells), prompt, engine, len(behind)) == behind
    except (EngineFailed, NotImplementedError) as error:
        if engine != "dense" or "recurrence" not in str(error):
            raise
        pytest.skip("no recurrences yet")


@given(machines_with_tapes(), st.integers(0, 9), st.sampled_from(list(Discipline)))
@settings(max_examples=60, deadline=None)
@example(("1LA1LA", None, ""), 0, Discipline.FUSED)
@example(("1RA---", None, ""), 3, Discipline.FUSED)  # no rule to the left
def test_random_machines(case: tuple[str, object, str], more: int, discipline: Discipline) -> None:
    code, _, tape = case
    writes_it(code, tape, 40, max(len(tape), 1) + more, discipline)


@given(codes(2, 3), st.text("01", max_size=3), st.integers(0, 3), st.sampled_from(list(Discipline)))
@settings(max_examples=25, deadline=None)
def test_reference_and_indexed_have_the_same_bits(code: str, tape: str, more: int, discipline: Discipline) -> None:
    cells = max(len(tape), 1) + more
    wired = model(code, cells, discipline)
    prompt, behind = history_of(code, tape, 6, cells)
    tokens = wired.tokens([*prompt, *behind])
    seen: list[list[Column]] = []
    run = indexed.run(
        wired.model, wired.arithmetic, tokens, observe=lambda block, sublayer, registers: seen.append(list(registers))
    )
    quantum = wired.arithmetic.format.quantum_exponent
    columns = [[column.to_quanta(quantum) for column in registers] for registers in seen]
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    for k, token in enumerate(tokens):
        step = engine.append(token)
        assert [tuple(column[k] for column in registers) for registers in columns] == list(step.registers)
        assert run.next_tokens[k] == step.next_token


@pytest.mark.parametrize(("cells", "tapes"), [(1, ("",)), (2, ("", "10")), (3, ("",))])
def test_every_machine_of_one_state_in_a_small_space(cells: int, tapes: tuple[str, ...]) -> None:
    """Left and right moves, onto visited and new cells, against both edges; halting at once."""
    rules = ["".join(rule) for rule in itertools.product("01", "LR", "AZ")]
    for code in map("".join, itertools.product(rules, repeat=2)):
        for tape in tapes:
            writes_it(code, tape, 8, cells)


def test_every_move_from_every_cell_in_each_state() -> None:
    """A sweep to the right and back, through three states and all symbols of a wide alphabet."""
    sweep = "".join(f"{(x + 3) % 10}RA" for x in range(9)) + "9LB"
    back = "0RA" + "".join(f"{(x + 5) % 10 or 1}LB" for x in range(1, 10))
    for code, tape, cells in (
        (f"{sweep}_{back}", "123456789", 12),
        (f"{sweep}_{back}", "0246813579", 10),
        ("_".join(f"1RB2R{LETTERS[i + 1]}0L{LETTERS[i]}" for i in range(24)), "01020", 9),
    ):
        writes_it(code, tape, 120, cells)


def test_25_states_and_10_symbols() -> None:
    rules = [f"{(7 * i + 3) % 10}{'LR'[i % 3 > 0]}{LETTERS[(11 * i + 4) % 26]}" for i in range(250)]
    code = "_".join("".join(rules[10 * s : 10 * s + 10]) for s in range(25))
    for tape in ("", "98765", "0123456789"):
        writes_it(code, tape, 60, 15)


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5, 8, 30, 120])
def test_any_space(cells: int, discipline: Discipline) -> None:
    for code, tape in (("1RB1LB_1LA1RZ", ""), ("1RB0LB_1LA1RA", "1" * cells), ("0LB1RB_1LA0RA", "01" * (cells // 2))):
        writes_it(code, tape, 30, cells, discipline)


def test_a_run_without_end_in_a_small_space() -> None:
    """More tokens than the format has numbers: positions saturate, and nothing else notices."""
    code, cells = "1RB0RB_0LA1LA", 2
    wired = model(code, cells)
    prompt, behind = history_of(code, "", 2000, cells)
    wrong, run = indexed.first_mismatch(wired.model, wired.arithmetic, wired.tokens(prompt), wired.tokens(behind))
    assert wrong is None
    assert len(behind) == 6000 > 2 * wired.arithmetic.format.max_value
    position = wired.registers.index("position")
    assert list(run.columns.saturations) == [f"embedding[{position}]"]


def test_p_depends_on_the_space_alone() -> None:
    for named in LIBRARY:
        least = [cot.least_precision(named.machine, steps=s, tape="", cells=13) for s in (0, 1, 10**6)]
        assert len(set(least)) == 1
    machine = find("counter").machine
    for cells in range(3, 200):
        assert cot.least_precision(machine, steps=9, tape="", cells=cells) in (5 * (cells + 1) + 2, 5 * (cells + 1) + 3)


@pytest.mark.parametrize("cells", [3, 4, 7, 12])
@pytest.mark.parametrize("more", [2, 40])
def test_more_bits_do_no_harm(cells: int, more: int) -> None:
    code = "1RB1LB_1LA1RZ"
    wired = model(code, cells, Discipline.FUSED, model(code, cells).arithmetic.format.significand_bits + 1 + more)
    prompt, behind = history_of(code, "", 30, cells)
    assert decoded(wired, prompt, "indexed", len(behind), behind) == behind


def reads_the_nearest(wired: Wired, cells: int, base: int) -> bool:
    """Queues that no run has, behind any token: all zeros and all ones behind a digit, where the lead is least."""
    names, blocks = wired.registers, wired.model.blocks
    number, queue, last = names.index("number"), names.index("queue"), float(base) ** (1 - cells)
    recurrence, ffn = blocks[2].recurrence, blocks[2].feed_forward
    assert recurrence is not None
    scale = recurrence.feed[queue, names.index("entering")] / last
    digits = wired.model.words[:-3, number]
    for digit, behind in itertools.product(digits, (0.0, 1 - last, last, 0.5, 0.5 - last)):
        for latest in wired.model.words[: wired.token[HALT]]:
            stream = latest.copy()
            stream[queue] = scale * (digit + behind)
            hidden = np.maximum(ffn.gate @ stream + ffn.gate_bias, 0) * (ffn.up @ stream + ffn.up_bias)
            logits = wired.model.unembed @ (stream + ffn.down @ hidden + ffn.down_bias)
            first, second = np.argsort(-logits, kind="stable")[:2]
            if first >= len(digits) or digits[first] != digit or logits[first] < logits[second] + scale * last:
                return False
            assert np.max(np.abs(logits)) < scale * base**2
    return True


@pytest.mark.parametrize("cells", [2, 3, 6])
def test_the_nearest_digit_is_read_whatever_follows(cells: int) -> None:
    """In float64, which holds all of these numbers."""
    assert reads_the_nearest(model("1RB1LB_1LA1RZ", cells), cells, 16)
    assert reads_the_nearest(model("2RB1LZ0RA_2LA0LB1RB", cells), cells, 16)


# What it costs


def test_constant_size_and_the_class() -> None:
    for named in LIBRARY:
        found = []
        for cells in (20, 60, 180):
            wired = cot.build(named.machine, steps=1, tape="", cells=cells)
            found.append(measure(wired.model, wired.arithmetic.format.significand_bits + 1))
            table = len(named.machine.states) * named.machine.symbols
            assert sum(len(block.feed_forward.gate) for block in wired.model.blocks) <= table + 2 + 19
            letters = {word[0] for word in wired.vocabulary if len(word) == 2 and word != "<s>"}
            assert len(wired.vocabulary) == (len(letters) + 1) * named.machine.symbols + 6
        assert {m.parameters for m in found} == {found[0].parameters}
        assert all(m.classes == (LINEAR_RNN,) and m.state_numbers == 20 for m in found)


def test_what_people_are_told() -> None:
    about = cot.construction(find("bb3").machine, "")
    wired = about.build(4, ())
    assert [name for name in wired.registers if not about.meaning(name)] == []
    assert set(about.blocks) == set(range(1, 1 + len(wired.blocks)))
    fmt = wired.arithmetic.format
    assert 2 * -fmt.quantum_exponent + 1 == about.least_precision(4)
    assert all(constant.value > 0 for constant in about.constants(about.setting(4, fmt), frozenset()))


# Mutants

CASES = (
    ("1RB1RZ_1LB0RC_1LC1LA", "", 30, 7),
    ("1RB1LA_0LB1RA", "0110", 20, 6),
    ("2RB1LZ0RA_2LA0LB1RB", "10212", 30, 8),
    ("1LA1LA", "", 9, 4),
    ("1RA1RA", "1", 9, 4),
    ("0LB1LB_1RA0RA", "", 9, 3),
    ("0LB0LB_0LB0RA", "01", 12, 5),
    ("1LZ1LZ", "1", 9, 4),
)


def noticed(cut: Wired, case: tuple[str, str, int, int]) -> bool:
    code, tape, limit, cells = case
    prompt, behind = history_of(code, tape, limit, cells)
    wrong, _ = indexed.first_mismatch(cut.model, cut.arithmetic, cut.tokens(prompt), cut.tokens(behind))
    return wrong is not None


def with_block(wired: Wired, index: int, block: Block) -> Wired:
    blocks = tuple(block if i == index else old for i, old in enumerate(wired.model.blocks))
    machine: Transformer = replace(wired.model, blocks=blocks)
    return replace(wired, model=machine)


def test_every_unit_is_needed() -> None:
    """Those that clear the embedding keep the lead; only queues that no run has come to need some of them."""
    kept = []
    for index, plan in enumerate(model(CASES[0][0], CASES[0][3]).blocks):
        names = [(gadget.name, i) for gadget in plan.gadgets for i in range(len(gadget.units))]
        for unit, name in enumerate(names):
            if name[0].startswith("the table"):
                continue
            found = False
            for case in CASES:
                wired = model(case[0], case[3])
                ffn = wired.model.blocks[index].feed_forward
                place = len(ffn.gate) - len(names) + unit if index == 0 and unit else unit
                down = ffn.down.copy()
                down[:, place] = 0
                block = replace(wired.model.blocks[index], feed_forward=replace(ffn, down=down))
                cut = with_block(wired, index, block)
                found = found or noticed(cut, case)
                if not found and name[0] == "clear the embedding":
                    found = not reads_the_nearest(cut, case[3], 16)
            if not found:
                kept.append((index + 1, *name))
    assert kept == []


@pytest.mark.parametrize("case", CASES[:3])
def test_every_unit_of_the_table_is_needed(case: tuple[str, str, int, int]) -> None:
    """Rules that the run does not use are used by others: the machine is run on every short word."""
    code, _, _, cells = case
    wired = model(code, cells)
    ffn = wired.model.blocks[0].feed_forward
    for unit in range(1, len(ffn.gate) - 1):
        down = ffn.down.copy()
        down[:, unit] = 0
        cut = with_block(wired, 0, replace(wired.model.blocks[0], feed_forward=replace(ffn, down=down)))
        words = ("".join(word) for n in range(4) for word in itertools.product("01", repeat=n))
        assert any(noticed(cut, (code, word, 20, cells)) for word in words), unit


def test_every_weight_of_the_recurrences_is_needed() -> None:
    """But for the inputs of the window that no form reads by themselves."""
    wired = model(CASES[0][0], CASES[0][3])
    kept = []
    for index, block in enumerate(wired.model.blocks):
        if block.recurrence is None:
            continue
        for name in ("carry", "feed"):
            matrix = getattr(block.recurrence, name)
            for row, column in zip(*np.nonzero(matrix), strict=True):
                found = False
                for case in CASES:
                    sized = model(case[0], case[3])
                    at = [sized.registers.index(wired.registers[i]) for i in (row, column)]
                    old = sized.model.blocks[index]
                    assert old.recurrence is not None
                    changed = getattr(old.recurrence, name).copy()
                    assert changed[at[0], at[1]]
                    changed[at[0], at[1]] = 0
                    recurrence = replace(old.recurrence, **{name: changed})
                    found = found or noticed(with_block(sized, index, replace(old, recurrence=recurrence)), case)
                if not found:
                    kept.append((index + 1, name, wired.registers[row], wired.registers[column]))
    assert kept == []


def test_simulate_agrees_with_the_stacks_at_known_machines() -> None:
    """The champions, by their words: steps and score of the literature."""
    for name, moves, ones in (("bb2", 6, 4), ("bb3", 21, 5), ("bb3-ones", 14, 6), ("bb4", 107, 13)):
        machine = find(name).machine
        wired = cot.build(machine, steps=200, tape="", cells=31)
        prompt = cot.prompt(machine, steps=200, tape="", cells=31)
        guess = cot.expected_sequence(machine, steps=200, tape="", cells=31)
        end = cot.read([*prompt, *decoded(wired, prompt, "indexed", 32 * 200, guess)])
        assert (end.halted, end.steps, end.nonblank) == (True, moves, ones)
        assert end == simulate(machine, "", 1000)
