"""The models that write their tape as text, against a simulator on two stacks and against each other in every engine."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.known import read_text
from constructions.engines.reference import ReferenceEngine
from constructions.layers import block_arrays
from constructions.measures import HYBRID_RNN, LINEAR_RNN, classes
from constructions.models.search import SearchError, search
from constructions.turing.base import HALT
from constructions.turing.hybrid import TuringHybrid
from constructions.turing.library import LIBRARY, find
from constructions.turing.machine import Machine, MachineError, parse_standard
from constructions.turing.rag import TuringRag
from constructions.turing.simulator import Configuration
from constructions.turing.tape_models import TapeModel, read, read_steps
from constructions.wiring.wired import Wired
from precision.format import Discipline
from tests.constructions.cutting import without_units
from tests.constructions.decoding import decode
from tests.engines.agreement import follow_by_lookups
from tests.turing.machines import machines_with_tapes, run_on_stacks

MODELS: tuple[Any, ...] = (TuringHybrid, TuringRag)
models = pytest.mark.parametrize("model", MODELS, ids=["hybrid", "rag"])
disciplines = pytest.mark.parametrize("discipline", Discipline, ids=lambda d: d.value)


def words_of(
    model: type[TapeModel], wired: Wired, machine: Machine, tape: str, steps: int, engine: str, *, guess: bool = True
) -> list[str]:
    """The prompt and what the model writes after it."""
    one = model(machine, tape)
    prompt, expected = one.prompt(steps), one.expected(steps)
    how = {"stop": [HALT], "guess": expected if guess else (), "respond": one.surroundings(wired)}
    return [*prompt, *decode(wired, wired.tokens(prompt), engine, len(expected), **how)]


def written(
    model: type[TapeModel], code: str, tape: str, steps: int, discipline: Discipline = Discipline.FUSED
) -> list[str]:
    """By the engine that `auto` takes."""
    machine = parse_standard(code)
    wired = model(machine, tape).build(steps, discipline=discipline)
    return words_of(model, wired, machine, tape, steps, "auto")


def plainly(words: list[str]) -> tuple[str, str, int, int]:
    """What a run's words say, without regular expressions: the prompt, the last state, steps and head."""
    steps = [i for i, word in enumerate(words) if word in ("←", "→")]
    if not steps:
        return "A", "", 0, 0
    cells: dict[int, str] = {}
    for i in steps:
        cell, symbol, again, _, _ = words[i - 4 : i + 1]
        assert cell == again
        cells[int(cell[1:])] = symbol
    last = steps[-1]
    head = int(words[last - 2][1:]) + (1 if words[last] == "→" else -1)
    return words[last - 1], "".join(cells[c] for c in sorted(cells)), len(steps), head


# Against the machine


@models
@given(st.data())
@settings(max_examples=25)
def test_any_machine_runs_as_on_two_stacks(model: type[TapeModel], data: st.DataObject) -> None:
    code, _, tape = data.draw(machines_with_tapes())
    steps = data.draw(st.integers(0, 40))
    discipline = data.draw(st.sampled_from(Discipline))
    words = written(model, code, tape, steps, discipline)
    expected = run_on_stacks(code, tape, steps)
    assert read(words) == expected
    state, _, count, head = plainly(words)
    assert (state, count, head) == (expected.state, expected.steps, expected.head)


@models
@pytest.mark.parametrize("named", [n for n in LIBRARY if n.steps < 200], ids=lambda n: n.name)
def test_the_library_runs(model: type[TapeModel], named: object) -> None:
    machine = find(getattr(named, "name"))  # noqa: B009
    end = read(written(model, str(machine.machine), machine.example, machine.steps + 1))
    assert (end.halted, end.steps, end.nonblank) == (True, machine.steps, machine.nonblank)


@models
@pytest.mark.parametrize("steps", [5, 6, 7])
def test_a_run_halts_if_its_last_step_is_among_the_steps(model: type[TapeModel], steps: int) -> None:
    words = written(model, "1RB1LB_1LA1RZ", "", steps)
    assert (words[-1] == HALT) == (steps >= 6) == read(words).halted
    assert read(words).steps == min(steps, 6)


@models
@pytest.mark.parametrize("tape", ["", "0", "1", "01", "110", "0000000000"])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_words_longer_than_the_run(model: type[TapeModel], tape: str, steps: int) -> None:
    """The search after a word of n cells is for place n, even if the steps do not reach that far."""
    assert read(written(model, "1RB1LB_1LA1RA", tape, steps)) == run_on_stacks("1RB1LB_1LA1RA", tape, steps)


@models
def test_states_and_symbols_up_to_the_bounds_of_the_format(model: type[TapeModel]) -> None:
    def rule(state: int, symbol: int) -> str:
        following = chr(ord("A") + (5 * state + symbol + 1) % 26)
        return f"{(3 * state + symbol + 1) % 10}{'RL'[(state + symbol) % 3 == 0]}{following}"

    rows = ["".join(rule(state, symbol) for symbol in range(10)) for state in range(25)]
    code = "_".join(rows)
    assert read(written(model, code, "9876543210", 60)) == run_on_stacks(code, "9876543210", 60)


@models
def test_what_is_expected_is_what_the_stacks_do(model: type[TapeModel]) -> None:
    """The oracle of every word is the simulator's; here the other one reads it."""
    for named in LIBRARY:
        steps = min(named.steps, 300)
        one = model(named.machine, named.example)
        words = [*one.prompt(steps), *one.expected(steps)]
        assert read(words) == run_on_stacks(str(named.machine), named.example, steps)


# Engines


@models
@disciplines
def test_only_scores_saturate_and_no_logit_is_computed_densely(model: type[TapeModel], discipline: Discipline) -> None:
    """Those of keys that do not match, below the others."""
    one = model(find("bb3").machine, "1")
    wired = one.build(5, discipline=discipline)
    tokens = wired.tokens([*one.prompt(5), *one.expected(5)])
    engine = ReferenceEngine(wired.model, wired.arithmetic)
    for token in tokens:
        engine.append(token)
    assert all(site.kind == "saturation" and site.site.endswith(".score") for site in engine.flags.counts)


def test_the_hybrid_runs_a_thousand_steps_by_lookups() -> None:
    machine = find("bb5").machine
    wired = TuringHybrid(machine).build(1000)
    answer = wired.tokens(TuringHybrid(machine).expected(1000))
    assert follow_by_lookups(wired.model, wired.arithmetic, wired.tokens(["<s>"]), answer) is None


# Weights


@models
def test_the_class_and_where_it_keeps_something(model: type[TapeModel]) -> None:
    machine = find("bb4").machine
    small = model(machine).build(3)
    assert classes(small.model) == ((HYBRID_RNN,) if model is TuringHybrid else (LINEAR_RNN,))
    recurrences = [block.recurrence for block in small.model.blocks]
    assert recurrences[0] is not None
    assert recurrences[1] is None


@models
def test_one_unit_for_each_rule(model: type[TapeModel]) -> None:
    def rule(state: int, symbol: int, symbols: int) -> str:
        following = chr(ord("A") + (state + symbol * symbol) % 26)
        return f"{(state * state + symbol) % symbols}{'LR'[symbol % 2]}{following}"

    for states, symbols in ((1, 2), (5, 4), (25, 10)):
        rows = ["".join(rule(state, symbol, symbols) for symbol in range(symbols)) for state in range(states)]
        sizes = [
            len(model(parse_standard(code)).build(5).model.blocks[1].feed_forward.gate)
            for code in ("0RA0RA", "_".join(rows))
        ]
        assert sizes[1] - sizes[0] < states * symbols  # as the first one's table is a single unit


ENDS_OF_THE_TAPE = (15, 16)  # units of the hybrid's first block


@models
def test_mutants_die(model: Any) -> None:
    """Without any one unit of the first block or of the table, some run out of a few goes wrong."""
    names = ("bb3", "increment", "bb2x3", "addition")
    runs = [(find(name).machine, find(name).example, min(find(name).steps, 25)) for name in names]
    built = [(model(machine, tape).build(steps), machine, tape, steps) for machine, tape, steps in runs]
    assert all(agrees(model, *item) for item in built)
    first = range(len(built[0][0].model.blocks[0].feed_forward.gate))
    alive = [u for u in first if all(agrees(model, silent(wired, 0, u), *run) for wired, *run in built)]
    assert alive == STILL_RIGHT[model.construction.model]
    wired, *run = built[0]
    units = len(wired.model.blocks[1].feed_forward.gate)
    assert [u for u in range(units - 6, units) if agrees(model, silent(wired, 1, u), *run)] == []


STILL_RIGHT = {  # without position² the score still has 2G·k'·k, which rises towards the last key; no run here meets an end
    "hybrid": [1, *ENDS_OF_THE_TAPE],
    "rag": [],
}


def silent(wired: Wired, block: int, unit: int) -> Wired:
    return replace(wired, model=without_units(wired.model, block, [unit]))


def agrees(model: type[TapeModel], wired: Wired, machine: Machine, tape: str, steps: int) -> bool:
    """Whether each argmax is the next word of the run."""
    one = model(machine, tape)
    prompt, expected = wired.tokens(one.prompt(steps)), wired.tokens(one.expected(steps))
    argmax = read_text(wired.model, wired.arithmetic, [*prompt, *expected[:-1]], ()).next_tokens[len(prompt) - 1 :]
    result = {place + 1 for place, token in enumerate(expected) if wired.vocabulary[token] == "<EndSearch>"}
    return all(a == b for place, (a, b) in enumerate(zip(argmax, expected, strict=True)) if place not in result)


@models
def test_machines_of_equal_size_differ_in_the_table_alone(model: type[TapeModel]) -> None:
    """So what is shown of the table for each machine, and of runs for one machine each, holds for all."""
    one, other = (model(parse_standard(code)).build(50) for code in ("1RB1LB_1LA1RZ", "0LA1RB_0RB1LA"))
    assert np.array_equal(one.model.words, other.model.words)
    assert one.arithmetic == other.arithmetic
    first, second = (list(block_arrays(wired.model.blocks[0])) for wired in (one, other))
    assert all(map(np.array_equal, first, second))
    assert one.blocks[1].heads == other.blocks[1].heads
    assert one.blocks[1].gadgets[:-1] == other.blocks[1].gadgets[:-1]
    assert one.blocks[1].gadgets[-1].name == "the table of 4 rules"


@models
def test_cells_embed_as_their_numbers(model: type[TapeModel]) -> None:
    wired = model().build(2000)
    registers = [wired.registers.index(name) for name in ("number", "number_squared", "cell", "symbol")]
    for cell in (-2000, -1, 0, 1, 1999):
        assert wired.model.words[wired.token[f"@{cell}"], registers].tolist() == [cell, cell * cell, 1, 0]
    assert wired.model.unembed is wired.model.words


# Findings


WITNESSES = {
    "own-record": ("1LZ---_------", "", 1),
    "cell-zero": ("1LB---_0RB0LZ", "", 3),
    "first-write": ("0LB---_1RA0LB", "", 10),
    "whole-group": ("0LB---_0LA---", "0", 2),
    "prompt-characters": ("0LZ---_------", "0", 1),
}


@pytest.mark.parametrize("engine", ["reference", "incremental"])
@pytest.mark.parametrize(
    ("model", "finding"), [(m, f.id) for m in MODELS for f in m.construction.findings], ids=lambda x: str(x)[-20:]
)
def test_every_finding_has_a_witness(model: type[TapeModel], finding: str, engine: str) -> None:
    code, tape, steps = WITNESSES[finding]
    machine = parse_standard(code)
    right = run_on_stacks(code, tape, steps)
    for printed in ((), (finding,)):
        wired = model(machine, tape).build(steps, printed=printed)
        try:
            end = read(words_of(model, wired, machine, tape, steps, engine, guess=False))
        except SearchError:
            end = None
        assert (end == right) == (not printed)


# Words


def test_reading_stops_at_what_is_not_written_in_full() -> None:
    assert read(["<s>"]) == Configuration(False, 0, "A", 0, 0, "0")
    assert read(["<s>", "1", "0"]) == Configuration(False, 0, "A", 0, 0, "10")
    assert read(["<s>", "1", "@0", "0", "@0", "B", "←", "@-1", "1", "@-1"]) == Configuration(
        False, 1, "B", -1, -1, "00"
    )
    assert read(["<s>", "@0", "0", "@1", "B", "←"]).steps == 0
    assert read(["<s>", "@0", "1", "@0", "Z", "→", "HALT"]) == Configuration(True, 1, "Z", 1, 0, "10")
    (step,) = read_steps(["<s>", "7", "@0", "1", "@0", "Z", "→", "HALT"])
    assert step == (1, "A", 0, 7, 1, 1, "Z")


def test_the_search_of_the_tape_finds_the_last_write() -> None:
    text = "<s> 1 <StartSearch> ^.* @1 (\\d) @1 <EndSearch> FAILED @1 1 @1 A → @12 3 @12 A ← @1 2 @1 B ← @-1 5 @-1 B →"
    actual = {cell: search(f"^.* @{cell} (\\d) @{cell}", text) for cell in (1, 12, -1, 2, 0)}
    assert actual == {1: "2", 12: "3", -1: "5", 2: None, 0: None}


@pytest.mark.parametrize("text", ["@1 1 @12", "@11 1 @1", "@-1 1 @1"])
def test_a_cell_is_never_part_of_another_one(text: str) -> None:
    """Unequal cells around a symbol are never written; and if they were, only their beginnings could be taken for others."""
    match = re.search(r"^.* @1 (\d) @1( |$)", f"<s> {text}")
    assert match is None


# Bounds


@models
def test_bad_input(model: type[TapeModel]) -> None:
    machine = find("bb2").machine
    with pytest.raises(MachineError, match="not one of the symbols"):
        model(machine, "02").build(3)
    with pytest.raises(MachineError, match="0 … 100,000,000 steps, not -1"):
        model(machine).build(-1)
    with pytest.raises(MachineError, match="2000001 steps may reach"):
        model(machine).prompt(2_000_001)
