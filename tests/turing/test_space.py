"""The hybrid RNN on a tape that ends: `cells`, OUT, and runs that are too long to be kept as words."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines.known import first_mismatch
from constructions.turing import hybrid, tape_models
from constructions.turing.__main__ import main
from constructions.turing.door import DOOR, MODELS
from constructions.turing.library import find
from constructions.turing.machine import MachineError, parse_standard
from constructions.turing.simulator import MOST_HISTORY
from constructions.wiring.wired import BLOCK, SpelledTokens
from precision.format import Discipline
from tests.constructions.cutting import without_units
from tests.constructions.decoding import decode
from tests.turing.machines import machines_with_tapes, run_on_stacks
from tests.turing.test_models import ENDS_OF_THE_TAPE

BB2 = "1RB1LB_1LA1RZ"


def written(
    code: str, tape: str, steps: int, cells: int, engine: str = "incremental", discipline: Discipline = Discipline.FUSED
) -> list[str]:
    """The prompt and what the model writes, up to HALT, OUT or the last step's cell."""
    one = hybrid.TuringHybrid(parse_standard(code), tape, cells)
    wired, prompt = one.build(steps, discipline=discipline), one.prompt(steps)
    how = {"stop": ("HALT", "OUT"), "guess": one.expected(steps)}
    return [*prompt, *decode(wired, wired.tokens(prompt), engine, 5 * steps + 1, **how)]


def until_it_leaves(code: str, tape: str, steps: int, cells: int) -> int:
    """After how many steps the head is outside, by the machine of two stacks; −1 if it never is."""
    left = (cells - max(len(tape), 1)) // 2
    for n in range(1, steps + 1):
        end = run_on_stacks(code, tape, n)
        if end.steps < n:
            break
        if not -left <= end.head < cells - left and not end.halted:
            return n
    return -1


@given(st.data())
@settings(max_examples=20)
def test_a_run_goes_on_up_to_the_end_of_the_tape(data: st.DataObject) -> None:
    code, _, tape = data.draw(machines_with_tapes())
    steps = data.draw(st.integers(0, 25))
    cells = max(len(tape), 1) + data.draw(st.integers(0, 6))
    discipline = data.draw(st.sampled_from(Discipline))
    words = written(code, tape, steps, cells, "incremental", discipline)
    last = until_it_leaves(code, tape, steps, cells)
    assert (words[-1] == "OUT") == (last >= 0)
    assert tape_models.read(words) == run_on_stacks(code, tape, last if last >= 0 else steps)
    machine = parse_standard(code)
    prompt = hybrid.TuringHybrid(machine, tape, cells).prompt(steps)
    assert words == [*prompt, *hybrid.TuringHybrid(machine, tape, cells).expected(steps)]


@pytest.mark.parametrize("engine", ["reference", "dense", "incremental"])
def test_engines_write_out(engine: str) -> None:
    words = written(BB2, "", 10, 3, engine)
    assert words[-6:] == ["@-1", "1", "@-1", "A", "←", "OUT"]
    assert hybrid.TuringHybrid().left_the_space(words) == (
        "cells: the head would be on cell -2 after 4 steps, and the tape has no such cell"
    )
    assert hybrid.TuringHybrid().left_the_space(words[:-1]) == ""


def test_a_run_in_a_space_that_is_large_enough_is_the_same() -> None:
    machine = find("bb4").machine
    free = hybrid.TuringHybrid(machine).expected(107)
    for cells in (21, 22, 1000):
        wired = hybrid.TuringHybrid(machine, cells=cells).build(107)
        assert len(wired.vocabulary) == cells + len(hybrid.TuringHybrid(machine).build(0).vocabulary) - 3
        assert first_mismatch(wired.model, wired.arithmetic, wired.tokens(["<s>"]), wired.tokens(free))[0] is None


@pytest.mark.parametrize(("code", "unit"), [("1RA---", ENDS_OF_THE_TAPE[0]), ("1LA---", ENDS_OF_THE_TAPE[1])])
def test_each_end_of_the_tape_has_a_unit(code: str, unit: int) -> None:
    machine = parse_standard(code)
    wired = hybrid.TuringHybrid(machine, cells=3).build(5)
    answer = wired.tokens(hybrid.TuringHybrid(machine, cells=3).expected(5))
    assert wired.vocabulary[answer[-1]] == "OUT"
    for silent in (unit, *ENDS_OF_THE_TAPE):
        mutant = without_units(wired.model, 0, [silent])
        wrong, _ = first_mismatch(mutant, wired.arithmetic, wired.tokens(["<s>"]), answer)
        assert (wrong == len(answer) - 1) == (silent == unit)


def test_a_step_that_halts_outside_halts() -> None:
    assert written("1RZ---", "", 5, 1)[1:] == ["@0", "1", "@0", "Z", "→", "HALT"]


def test_what_is_expected_in_numbers() -> None:
    for name in MODELS:
        for steps, cells in ((0, 5), (3, 5), (6, 9)):
            space = None if name == "rag" else cells
            model = replace(MODELS[name], machine=parse_standard(BB2), tape="1", cells=space)
            wired = model.build(steps)
            words = list(wired.spelled(model.expected_tokens(wired, steps)))
            assert words == model.expected(steps)


@given(st.lists(st.integers(0, 2), max_size=9), st.slices(9))
def test_spelled_words_are_a_sequence(tokens: list[int], part: slice) -> None:
    words = SpelledTokens(("a", "b", "c"), np.array(tokens, np.int32))
    plain = ["abc"[token] for token in tokens]
    assert (len(words), list(words), words[part]) == (len(plain), plain, plain[part])
    assert [words[i] for i in range(-len(plain), len(plain))] == plain * 2

    for cut in range(len(tokens) + 1):
        halves = SpelledTokens(words.vocabulary, words.tokens[cut:], words.tokens[:cut])
        assert (len(halves), list(halves), halves[part]) == (len(plain), plain, plain[part])
        assert [halves[i] for i in range(-len(plain), len(plain))] == plain * 2


def test_spelled_words_beyond_a_block() -> None:
    tokens = np.arange(2 * BLOCK + 3) % 3
    assert "".join(SpelledTokens(("a", "b", "c"), tokens)) == ("abc" * BLOCK)[: len(tokens)]


@pytest.mark.parametrize("piece", [1, 2, 3, 4, 5, 7, 11, 1000])
def test_reading_a_piece_at_a_time(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = find("bb3").machine
    words = ["<s>", *hybrid.TuringHybrid(machine).expected(25)]
    torn = [*words[:13], "@5", "1", "@5", *words[13:30], "@0", *words[30:]]
    expected = [(list(tape_models.read_steps(w)), tape_models.read(w)) for w in (words, torn)]
    assert [len(steps) for steps, _ in expected] == [21, 19]
    monkeypatch.setattr(tape_models, "PIECE", piece)
    assert [(list(tape_models.read_steps(w)), tape_models.read(w)) for w in (words, torn)] == expected
    vocabulary = tuple(sorted({*words, *torn}))
    numbers = [np.array([vocabulary.index(word) for word in w]) for w in (words, torn)]
    spelled = [SpelledTokens(vocabulary, tokens[3:], tokens[:3]) for tokens in numbers]
    assert [(list(tape_models.read_steps(w)), tape_models.read(w)) for w in spelled] == expected


def test_bounds() -> None:
    machine = parse_standard(BB2)
    with pytest.raises(MachineError, match="3 cells do not hold the 4 symbols"):
        hybrid.TuringHybrid(machine, "0110", 3).build(3)
    with pytest.raises(MachineError, match=r"4,000,001 cells at most, and 2000001 steps may reach 4,000,003"):
        hybrid.TuringHybrid(machine).prompt(2_000_001)
    with pytest.raises(MachineError, match=r"4,000,001 cells at most$"):
        hybrid.TuringHybrid(machine, cells=4_000_002).prompt(3)
    assert hybrid.TuringHybrid(machine, "1", 5).prompt(MOST_HISTORY) == ["<s>", "1"]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--machine", BB2, "--cells", "3", "--engine", "incremental", "--json"]) == 2
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["halted"], document["steps"], document["answer"]) == (False, 4, None)
    assert document["chain_of_thought"][-1] == "OUT"
    assert "the head would be on cell -2 after 4 steps" in said.err
    assert said.err.count("\n") == 1
    assert main(["--machine", BB2, "--cells", "5"]) == 0
    assert "halted in state Z after 6 steps" in capsys.readouterr().out
    assert main(["--machine", BB2, "--cells", "3", "--dump-weights"]) == 0
    assert "outside" in capsys.readouterr().out


def test_a_run_that_deviates_is_refuted_where_it_does_and_shown_to_its_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle is broken here, not the model: what differs first is named."""

    class Broken(hybrid.TuringHybrid):
        def tokens(self, n: int) -> hybrid.Tokens:
            tokens = super().tokens(n).copy()
            tokens[7] += 1
            return tokens

    command = ["--machine", BB2, "--steps", "6", "--engine", "incremental"]
    assert main(command) == 0
    whole_run = capsys.readouterr().out.splitlines()[0]
    broken = replace(DOOR, wirings={**MODELS, "hybrid": Broken()})
    monkeypatch.setattr("constructions.turing.__main__.DOOR", broken)
    assert main(command) == 1
    said = capsys.readouterr()
    assert "word 8 after the prompt is @1; the machine's run has @2" in said.err
    assert said.out.splitlines()[0] == whole_run
