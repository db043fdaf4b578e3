"""Somebody's own RNN, from Python and from AIGER: its Transformer writes what the RNN itself does; wrong files are refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from circuits import transition
from circuits.aiger_read import read
from circuits.circuit import Gate, GateKind
from circuits.equivalence import Difference, EqualCircuits, compare
from circuits.models import Rnn
from circuits.rnn import RnnError, load_circuit
from circuits.rnn import load_object as door
from circuits.simulate import main
from circuits.simulator import Simulator, expected_tokens
from circuits.step import Step
from circuits.transition import load_python, load_step
from constructions.engines.incremental import LookupDecoder
from constructions.engines.known import first_mismatch
from constructions.engines.protocol import GaveUp, NotCovered
from precision.format import Discipline
from tests.circuits.brought import SAID, SOURCE, bring, by_aiger, draw, latch_said, step_of
from tests.engines.agreement import follow_by_lookups
from verify.dossiers.simulation import certify
from verify.inputs.step_circuits import DrawnSizes, draw_circuit, draw_rnn
from verify.oracles.step_circuits import steps


@pytest.fixture(scope="module")
def rnns() -> dict[str, Rnn]:
    return {name: bring(name) for name in SOURCE if name != "gru"}


def said(rnn: Rnn, prompt: list[int]) -> list[str]:
    """The words of all steps by the circuit, evaluated gate by gate."""
    return [rnn.vocabulary[step.written] for step in Simulator(rnn).steps(prompt)]


def short(rnn: Rnn, rng: random.Random, longest: int = 12) -> list[int]:
    """Draws a prompt of at most so many words."""
    return draw(rnn, rng, rng.randint(1, longest))


@pytest.mark.parametrize("name", SAID)
def test_the_circuit_is_the_rnn(name: str) -> None:
    rng, rnn = random.Random(1), bring(name)
    for _ in range(250 if len(rnn.step.circuit.gates) < 1000 else 30):
        prompt = short(rnn, rng)
        assert said(rnn, prompt) == SAID[name](prompt), prompt


def mismatch(rnn: Rnn, prompt: list[int], **how: Any) -> int | None:
    """The first token that the Transformer writes otherwise than the circuit."""
    solver = Simulator(rnn)
    wired = solver.build(len(prompt), **how)
    return follow_by_lookups(wired.model, wired.arithmetic, prompt, expected_tokens(solver.steps(prompt)))


# How many prompts of how many words, on every day; `make hostile` runs 1,000 of each RNN.
RUNS = {"latch": 300, "counter": 300, "automaton": 300, "wide hash": 100, "gru": 40, "relu": 40}
LENGTHS = (1, 3, 8)


def require_same_words(name: str, rnn: Rnn, lengths: Sequence[int], prompts: int) -> None:
    """Fails unless the Transformer writes what the RNN says, and the circuit's gates. It decodes, and is given no guess."""
    rng = random.Random(2)
    solver, turn = Simulator(rnn), len(rnn.step.circuit.gates) + 1
    for i, length in enumerate(lengths):
        wired = solver.build(length)
        decoder = LookupDecoder(wired.model, wired.arithmetic, solver.length(length))
        for _ in range((prompts + i) // len(lengths)):
            prompt = draw(rnn, rng, length)
            decoder.restart()
            tokens = decoder.decode(prompt, set(), turn * length)
            assert [rnn.vocabulary[token] for token in tokens[turn - 1 :: turn]] == SAID[name](prompt), prompt
            assert tokens == expected_tokens(solver.steps(prompt)), prompt


@pytest.mark.parametrize("name", RUNS)
def test_the_transformer_is_the_rnn(name: str) -> None:
    require_same_words(name, bring(name), LENGTHS if RUNS[name] >= 300 else (3,), RUNS[name])


@pytest.mark.hostile
@pytest.mark.parametrize(("name", "way"), [*((name, "brought") for name in SAID), *((name, "aiger") for name in SAID)])
def test_the_transformer_is_the_rnn_on_a_thousand_prompts(name: str, way: str, tmp_path: Path) -> None:
    """And its weights are certified, for any prompt as long."""
    rnn = bring(name) if way == "brought" else by_aiger(name, tmp_path / "step.aag")
    lengths = (1, 3) if name in ("hash", "linear recurrence") else (2, 5)
    require_same_words(name, rnn, lengths, 1000)
    for length in lengths:
        assert certify(Simulator(rnn), length, None, Discipline.FUSED, ()).verdict == "certified"


@pytest.mark.parametrize("name", ["latch", "counter", "automaton", "wide hash"])
def test_sequential_is_right_where_it_is_tried(name: str) -> None:
    """It is not certified."""
    rng, rnn = random.Random(5), bring(name, Discipline.SEQUENTIAL)
    for length in (1, 3):
        assert mismatch(rnn, draw(rnn, rng, length), discipline=Discipline.SEQUENTIAL) is None


def test_numbers_of_minus_one_have_a_negative_sign(rnns: dict[str, Rnn]) -> None:
    """A word's number −1 is as large as the step between digits and none: its sign is no further digit."""
    rnn = rnns["counter"]
    assert rnn.words.min() == -1
    tokens, p = expected_tokens(Simulator(rnn).steps([0])), rnn.step.precision_bits
    first = len(rnn.step.states) * p
    assert [tokens[first + p * (i + 1) - 1] for i in range(len(rnn.step.inputs))] == [0] * len(rnn.step.inputs)
    assert mismatch(rnn, [0]) is None


LATCH = "aag 5 2 1 1 2\n2\n4\n6 10 1\n10\n8 3 7\n10 9 5\n"
WORDS = {"inputs": {"hold": "00", "set": "10", "reset": "01"}, "outputs": {"1": "on", "0": "off"}}


def test_a_circuit_goes_in_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "latch.aag"
    path.write_text(LATCH)
    rnn, rng = load_step(read(path), WORDS, "latch.aag"), random.Random(3)
    for _ in range(300):
        prompt = short(rnn, rng)
        assert said(rnn, prompt) == latch_said(prompt, 1)  # the latch is on at reset
    assert mismatch(rnn, [0, 1, 2, 0]) is None


@pytest.mark.parametrize("name", ["latch", "counter", "automaton", "relu"])
def test_python_and_aiger_say_the_same(name: str, rnns: dict[str, Rnn], tmp_path: Path) -> None:
    """The circuit of the Python step, written as AIGER and read again, is another circuit for the same RNN."""
    rnn, path, rng = rnns[name], tmp_path / "step.aag", random.Random(4)
    own = by_aiger(name, path)
    again = load_circuit(read(path), step_of(rnn)[1], "step.aag")
    for _ in range(50):
        prompt = short(rnn, rng)
        state, words = again.start(), []
        for i, number in enumerate(prompt):
            words += again.answer(state, (rnn.vocabulary[number],))
            state = again.step(state, rnn.vocabulary[number], i + 1)
        assert words == SAID[name](prompt) == said(own, prompt)


def changed(rnn: Rnn, place: int, gate: Gate) -> Rnn:
    """The RNN with another gate."""
    step = rnn.step
    gates = (*step.circuit.gates[:place], gate, *step.circuit.gates[place + 1 :])
    circuit = replace(step.circuit, gates=gates)
    return replace(rnn, step=Step(circuit, step.precision_bits, step.states, step.inputs, step.outputs))


def test_another_gate_or_wire_is_seen(rnns: dict[str, Rnn]) -> None:
    """Each gate turned from AND to XOR or back, and each wire moved by one, against the same tokens of the right circuit."""
    rnn, seen, silent = rnns["counter"], 0, list[tuple[int, Gate]]()
    prompts = [[1, 1, 1, 1, 1, 0]]
    right = [expected_tokens(Simulator(rnn).steps(prompt)) for prompt in prompts]
    for place, gate in enumerate(rnn.step.circuit.gates):
        if not gate.computes:
            continue
        mutants = [gate._replace(kind=GateKind.XOR if gate.kind is GateKind.AND else GateKind.AND)]
        mutants += [gate._replace(left=gate.left - 1)] * (gate.left > 0)
        for mutant in mutants:
            other = changed(rnn, place, mutant)
            model = Simulator(other)
            wrong = [
                first_mismatch((wired := model.build(len(prompt))).model, wired.arithmetic, prompt, tokens)[0]
                for prompt, tokens in zip(prompts, right, strict=True)
            ]
            if wrong == [None]:
                silent.append((place, mutant))
            seen += wrong != [None]
    for place, mutant in silent:  # what runs do not see is the same function there: the circuit itself agrees
        other = changed(rnn, place, mutant)
        assert [expected_tokens(Simulator(other).steps(prompt)) for prompt in prompts] == right
    assert seen > len(silent)


def test_a_lead_or_a_grid_of_a_quarter_is_seen(rnns: dict[str, Rnn], monkeypatch: pytest.MonkeyPatch) -> None:
    from circuits import simulation

    class Narrow(simulation.Setting):
        @property
        def gap(self) -> int:
            return super().gap // 4

    rnn, threshold = rnns["counter"], simulation.threshold
    assert mismatch(rnn, [1, 0, 1, 1]) is None
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "Setting", Narrow)
        wired, tokens = Simulator(rnn).build(4), expected_tokens(Simulator(rnn).steps([1, 0, 1, 1]))
        with pytest.raises((NotCovered, GaveUp)):  # other keys keep a weight: no lookup alone gives these columns
            follow_by_lookups(wired.model, wired.arithmetic, [1, 0, 1, 1], tokens)

    def coarse(*args: Any, margin: Fraction | int = 1, **how: Any) -> Any:
        return threshold(*args, margin=4 * Fraction(margin), **how)

    with monkeypatch.context() as patch:
        patch.setattr(simulation, "threshold", coarse)
        assert mismatch(rnn, [1, 0, 1, 1]) is not None


@pytest.mark.parametrize("which", ["says", "after"])
def test_a_circuit_that_is_not_its_table_is_refused(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of a table read wrongly while gates are made of it; the right table is compared with them."""
    tabulate, calls = transition._tabulate, iter(range(10))

    def wrong(builder: Any, table: Any, variables: Any, count: int) -> Any:
        if next(calls) == ("says", "after").index(which):
            table = table.copy()
            table[np.flatnonzero(table >= 0)[-1]] ^= 1
        return tabulate(builder, table, variables, count)

    monkeypatch.setattr(transition, "_tabulate", wrong)
    with pytest.raises(ArithmeticError, match="its circuit is not its table"):
        bring("counter")


@pytest.mark.parametrize("seed", range(3))
def test_another_gate_of_a_step_circuit_is_told_apart(seed: int) -> None:
    drawn = DrawnSizes(5, 30, seed)
    circuit, words = draw_circuit(drawn)
    rnn = draw_rnn(drawn)
    assert isinstance(compare(*steps(circuit, words, rnn), proof=False), EqualCircuits)
    place = circuit.next_state[seed]
    gate = circuit.gates[place]
    assert gate.computes
    other = gate._replace(kind=GateKind.XOR if gate.kind is GateKind.AND else GateKind.AND)
    changed = replace(circuit, gates=(*circuit.gates[:place], other, *circuit.gates[place + 1 :]))
    assert isinstance(compare(*steps(changed, words, rnn), proof=False), Difference)


def triple(step: Any, says: Any = lambda state, query: 0, start: Any = lambda: 0, bits: int = 4) -> Any:
    return door((start, step, says), bits, "mine", (0, 1))


CALLS = iter(range(10**9))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: triple(lambda s, w: s + 1), "more than the 2^4 states of STATE_BITS = 4"),
        (lambda: triple(lambda s, w: s + 1, bits=64), "more states than a table of 18 bits"),
        (lambda: triple(lambda s, w, place: 0), "its step reads the position"),
        (lambda: triple(lambda s, w: next(CALLS) % 8), "leads to two states"),
        (lambda: triple(lambda s, w: w, lambda s, q: "two words"), "a word has no spaces"),
        (lambda: triple(lambda s, w: 1 // 0), "ZeroDivisionError"),
        (lambda: triple(lambda s, w: w, lambda s, q: q[0]), "IndexError"),
        (lambda: door((lambda: 0, lambda s, w: w, lambda s, q: 0), 4, "mine", "01"), "WORDS is a sequence"),
    ],
)
def test_what_is_no_step_circuit_is_refused_in_one_line(given: Callable[[], Any], message: str) -> None:
    def build() -> Rnn:
        rnn = given()
        return load_python(rnn, rnn.words)

    with pytest.raises(RnnError) as error:
        build()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_states_that_are_arrays_take_their_own_bits(rnns: dict[str, Rnn]) -> None:
    """In its own bits a linear hash has gates of small carries; a table of 2^16 ranked states would have some hundred thousand."""
    assert len(rnns["hash"].step.circuit.gates) < 2500
    assert np.array_equal(rnns["relu"].words, rnns["relu"].unembed)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, circuit, words = tmp_path / "my.py", tmp_path / "latch.aag", tmp_path / "words.json"
    file.write_text(SOURCE["counter"])
    circuit.write_text(LATCH)
    words.write_text(json.dumps({"schema": 1, **WORDS}))
    code, out, err = run(capsys, "--rnn", str(file), "1 1 1 1 1 1 0")
    assert (code, out) == (0, "1 2 3 4 0 1 1\n")
    assert "gates; width" in err
    code, out, _ = run(capsys, "--circuit", str(circuit), "--words", str(words), "hold reset set")
    assert (code, out) == (0, "on off on\n")
    code, out, err = run(capsys, "--circuit", str(circuit), "--words", str(words), "hold reset", "--certify")
    assert (code, out) == (0, "on off\n")
    assert "certified for every prompt of 2 words: rounding changes nothing; each token is the circuit's" in err
    code, _, err = run(capsys, "--rnn", str(file), "--certify", "--dump-weights")
    assert code == 2
    assert "--certify is about a run" in err
    code, out, err = run(capsys, "--circuit", str(circuit), "hold")
    assert (code, out) == (2, "")
    assert "--words says which bits" in err
    code, _, err = run(capsys, "--circuit", str(circuit), "--words", str(words), "--words", "2", "hold")
    assert code == 2
    assert "which it cannot read" in err
    code, _, err = run(capsys, "--circuit", str(circuit), "--words", str(words), "on")
    assert code == 2
    assert "'on' is not a word" in err
    assert run(capsys, "--rnn", str(tmp_path / "no.py"), "1")[0] == 2
    assert run(capsys, "--rnn", str(file), "--words", str(words), "1")[0] == 2
