"""The Linear RNN whose tape turns around writes what the machine does, configuration by configuration; cut weights are noticed."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines import EngineFailed
from constructions.engines.incremental import decoder
from constructions.engines.known import first_mismatch
from constructions.measures import LINEAR_RNN, measure
from constructions.turing import cot
from constructions.turing.configurations import HALT, OUT
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import LETTERS, parse_standard
from constructions.turing.simulator import simulate
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.constructions.decoding import decode
from tests.engines.agreement import agree
from tests.engines.cases import EngineCase
from tests.turing.machines import codes, history_of, machines_with_tapes


@cache
def model(code: str, cells: int, discipline: Discipline = Discipline.FUSED) -> Wired:
    return cot.Cot(parse_standard(code), cells=cells).build(1, discipline=discipline)


def writes_it(code: str, tape: str, limit: int, cells: int, discipline: Discipline = Discipline.FUSED) -> None:
    """That the model writes it."""
    wired = model(code, cells, discipline)
    prompt, behind = history_of(code, tape, limit, cells)
    fed = wired.tokens(behind)
    if fed:
        wrong, _ = first_mismatch(wired.model, wired.arithmetic, wired.tokens(prompt), fed)
        assert wrong is None, (code, tape, cells, prompt, behind[: wrong + 1])


# The model


@pytest.mark.parametrize("engine", ["reference", "dense", "incremental"])
@pytest.mark.parametrize(
    ("name", "tape", "cells"), [("bb2", "", 6), ("bb3", "", 7), ("increment", "22", 4), ("palindrome", "121", 5)]
)
def test_every_engine_decodes_it_without_a_guess(engine: str, name: str, tape: str, cells: int) -> None:
    code = str(find(name).machine)
    prompt, behind = history_of(code, tape, 1000, cells)
    behind = behind if engine == "reference" else behind[:14]
    try:
        wired = model(code, cells)
        assert decode(wired, wired.tokens(prompt), engine, len(behind), stop=(HALT, OUT)) == behind
    except (EngineFailed, NotImplementedError) as error:
        if engine != "dense" or "recurrence" not in str(error):
            raise
        pytest.skip("no recurrences yet")


@given(machines_with_tapes(), st.integers(0, 9), st.sampled_from(list(Discipline)))
@settings(max_examples=60)
@example(("1LA1LA", None, ""), 0, Discipline.FUSED)
@example(("1RA---", None, ""), 3, Discipline.FUSED)  # no rule to the left
def test_random_machines(case: tuple[str, object, str], more: int, discipline: Discipline) -> None:
    code, _, tape = case
    writes_it(code, tape, 40, max(len(tape), 1) + more, discipline)


@given(codes(2, 3), st.text("01", max_size=3), st.integers(0, 3), st.sampled_from(list(Discipline)))
@settings(max_examples=25)
def test_reference_and_incremental_have_the_same_bits(code: str, tape: str, more: int, discipline: Discipline) -> None:
    cells = max(len(tape), 1) + more
    wired = model(code, cells, discipline)
    prompt, behind = history_of(code, tape, 6, cells)
    agree(EngineCase(wired.model, wired.arithmetic, wired.tokens([*prompt, *behind])), ("incremental",))


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
    wrong, _ = first_mismatch(wired.model, wired.arithmetic, wired.tokens(prompt), wired.tokens(behind))
    assert wrong is None
    assert len(behind) == 6000 > 2 * wired.arithmetic.format.max_value


def test_p_depends_on_the_space_alone() -> None:
    for named in LIBRARY:
        least = [cot.Cot(named.machine, cells=13).least_precision(s) for s in (0, 1, 10**6)]
        assert len(set(least)) == 1
    machine = find("counter").machine
    for cells in range(3, 200):
        assert cot.Cot(machine, cells=cells).least_precision(9) in (5 * (cells + 1) + 2, 5 * (cells + 1) + 3)


def reads_the_nearest(wired: Wired, cells: int, base: int) -> bool:
    """Queues that no run has, after any token: all zeros and all ones after a digit, where the lead is least."""
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
        actual = []
        for cells in (20, 60, 180):
            wired = cot.Cot(named.machine, cells=cells).build(1)
            actual.append(measure(wired.model, wired.arithmetic.format.significand_bits + 1))
            table = len(named.machine.states) * named.machine.symbols
            assert sum(len(block.feed_forward.gate) for block in wired.model.blocks) <= table + 2 + 19
            letters = {word[0] for word in wired.vocabulary if len(word) == 2 and word != "<s>"}
            assert len(wired.vocabulary) == (len(letters) + 1) * named.machine.symbols + 6
        assert {m.parameters for m in actual} == {actual[0].parameters}
        assert all(m.classes == (LINEAR_RNN,) and m.state_numbers == 20 for m in actual)


def test_what_people_are_told() -> None:
    about = cot.Cot(find("bb3").machine)
    wired = about.build(4)
    assert set(about.block_texts) == set(range(1, 1 + len(wired.blocks)))
    fmt = wired.arithmetic.format
    assert 2 * -fmt.quantum_exponent + 1 == about.least_precision(4)
    assert all(constant.value > 0 for constant in about.constants(about.setting(4, fmt), frozenset()))


def test_simulate_agrees_with_the_stacks_at_known_machines() -> None:
    """The champions, by their words: steps and score of the literature."""
    for name, moves, ones in (("bb2", 6, 4), ("bb3", 21, 5), ("bb3-ones", 14, 6), ("bb4", 107, 13)):
        machine = find(name).machine
        one = cot.Cot(machine, cells=31)
        wired, prompt, guess = one.build(200), one.prompt(200), one.expected(200)
        written = decode(wired, wired.tokens(prompt), "auto", 32 * 200, stop=(HALT, OUT), guess=guess)
        end = one.read_words([*prompt, *written])
        assert (end.halted, end.steps, end.nonblank) == (True, moves, ones)
        assert end == simulate(machine, "", 1000)


def test_a_long_run_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no head to index the past for, so the time for a token does not grow with the run."""
    monkeypatch.setattr(decoder.LookupDecoder, "piece", 1 << 13)
    code, cells = "1RB0RB_0LA1LA", 2
    wired = model(code, cells)
    prompt, behind = (wired.tokens(words) for words in history_of(code, "", 10_000, cells))
    lengths: list[int] = []
    wrong, decoded = first_mismatch(wired.model, wired.arithmetic, prompt, behind, tick=lengths.append)
    assert (wrong, decoded.engine) == (None, "incremental")
    assert len(lengths) > 1
    behind[-2] = wired.token["_"]
    wrong, _ = first_mismatch(wired.model, wired.arithmetic, prompt, behind)
    assert wrong == len(behind) - 2
