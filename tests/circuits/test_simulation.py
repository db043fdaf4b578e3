"""The Transformer that runs an RNN: every gate and every word, by several engines; what is printed fails; sizes."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from circuits.models import SMALL, SPACE, TURING, Rnn, find_models, simulation_models
from circuits.plan import Plan
from circuits.runs import next_word, run_rnn
from circuits.simulate import main
from circuits.simulation import FINDINGS, least_precision
from circuits.simulator import Simulator, expected_tokens
from constructions.engines import Decoding, decode_by_reference, find_engine, known
from constructions.engines.known import read_text
from constructions.models.search import SearchTool
from constructions.turing import configurations
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from precision import Discipline
from tests.engines.agreement import follow_by_lookups
from verify.certificates.ideal import IdealModel


def load(name: str, n: int = 1, discipline: Discipline = Discipline.FUSED) -> Rnn:
    return SMALL[name].load(None, n, discipline)


def simulation(rnn: Rnn, prompt: list[int], words: int, **how: object) -> tuple[Wired, list[int]]:
    """The Transformer, and what it should write."""
    wired = Simulator(rnn, words).build(len(prompt), **how)
    return wired, expected_tokens(run_rnn(rnn, prompt, words))


def first_mismatch(wired: Wired, prompt: list[int], expected: list[int]) -> int | None:
    return follow_by_lookups(wired.model, wired.arithmetic, prompt, expected)


@pytest.mark.parametrize("prompt", [p for k in (1, 2, 3) for p in itertools.product((0, 1), repeat=k)])
def test_parity_of_every_short_prompt(prompt: tuple[int, ...]) -> None:
    rnn, bits = load("parity"), list(prompt)
    steps = run_rnn(rnn, bits, 2)
    assert [rnn.vocabulary[step.written] for step in steps] == [
        "odd" if sum(bits[: a + 1]) % 2 else "even" for a in range(len(bits) + 1)
    ]
    wired, expected = simulation(rnn, bits, 2)
    assert first_mismatch(wired, bits, expected) is None


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize(("name", "n", "text"), [("shift", 1, "<s> 1 0 1"), ("sum", 1, "1 <s> 1"), ("sum", 2, "1 1")])
def test_words_are_those_of_the_reference_engine(name: str, n: int, text: str, discipline: Discipline) -> None:
    rnn = load(name, n, discipline)
    assert rnn.wired is not None
    prompt = rnn.wired.tokens(text.split())
    decoded = decode_by_reference(Decoding(rnn.wired.model, rnn.wired.arithmetic, prompt, set(), 5)).produced
    assert [step.written for step in run_rnn(rnn, prompt, 5)][len(prompt) - 1 :] == decoded


@pytest.mark.parametrize(
    ("name", "n", "text"), [("shift", 1, "<s> 1 0"), ("shift", 1, "1 0 1 1 0 0 1 0 1 1"), ("sum", 1, "1 0")]
)
def test_linear_rnns(name: str, n: int, text: str) -> None:
    """Ten words take positions beyond the largest number of R_7, 7.875."""
    rnn = load(name, n)
    prompt = [rnn.vocabulary.index(word) for word in text.split()]
    wired, expected = simulation(rnn, prompt, 2)
    assert first_mismatch(wired, prompt, expected) is None


@pytest.mark.parametrize("discipline", list(Discipline))
@pytest.mark.parametrize("name", list(SMALL))
def test_a_single_step_is_certified(name: str, discipline: Discipline) -> None:
    """Gates then rise from token to token, as positions do: both could be searched, and only one of them finds the operand."""
    wired, expected = simulation(load(name, discipline=discipline), [1], 1, discipline=discipline)
    assert first_mismatch(wired, [1], expected) is None


@pytest.mark.parametrize("discipline", list(Discipline))
def test_engines_agree(discipline: Discipline) -> None:
    """On a whole run, or its beginning."""
    rnn = load("parity", discipline=discipline)
    wired, expected = simulation(rnn, [1, 0], 1, discipline=discipline)
    limits = {"incremental": len(expected), "dense": 40, "reference": 24}
    for name, limit in limits.items():
        actual = find_engine(name)(
            Decoding(wired.model, wired.arithmetic, [1, 0], set(), limit, guess=expected[:limit])
        )
        assert actual.produced == expected[:limit], name


def test_the_ideal_model_writes_the_same_tokens() -> None:
    """Over the rationals nothing is rounded: the step comes off by less than a half, and the head takes the nearest position."""
    wired, expected = simulation(load("parity"), [1, 0], 1)
    passes, argmax = IdealModel(wired.model).run([1, 0, *expected])
    assert argmax[1:-1] == expected
    step, source = (wired.registers.index(name) for name in ("step", "source"))
    last = [stream[-1] for stream in passes]
    assert all(abs(row[step] + 1 - row[source]) < Fraction(1, 2) for row in last[2:])
    assert any(row[step] + 1 != row[source] for row in last)


def test_flipped_gates_are_noticed() -> None:
    """The same gates with one other value are not what the Transformer writes."""
    rnn = load("parity")
    wired, expected = simulation(rnn, [1, 0], 1)
    for place in (0, 7, 30, 54, 60):
        wrong = list(expected)
        wrong[place] ^= 1
        assert first_mismatch(wired, [1, 0], wrong) == place


@pytest.mark.parametrize("finding", [finding.id for finding in FINDINGS])
def test_what_is_printed_fails(finding: str) -> None:
    wired, expected = simulation(load("parity"), [1, 1], 1, printed=(finding,))
    place, _ = known.first_mismatch(wired.model, wired.arithmetic, [1, 1], expected)
    assert place is not None
    assert place < 20  # the input bits of the first step


@pytest.mark.parametrize("name", list(SMALL))
def test_no_words_but_those_of_the_rnn(name: str) -> None:
    """A gate's value v is the word number v + 1. Two numbers of a word are added to those that the RNN reads."""
    rnn = load(name)
    wired, expected = simulation(rnn, [1, 1], 2)
    assert wired.vocabulary == rnn.vocabulary
    assert set(expected) <= set(range(len(rnn.vocabulary)))
    filled = [register for register, column in zip(wired.registers, wired.model.words.T, strict=True) if column.any()]
    assert set(filled) - set(rnn.step.inputs) == {"says 0", "says 1"}


@pytest.mark.parametrize("name", list(SMALL))
def test_step_and_gate_are_known_from_the_position(name: str) -> None:
    """At every position of a run: a = ⌊P/T⌋ and b = P mod T, P counted after the prompt."""
    rnn, prompt = load(name), [1, 0, 1] * 20
    wired, expected = simulation(rnn, prompt, 3)
    tokens = [*prompt, *expected]
    (found,) = read_text(wired.model, wired.arithmetic, tokens, [2 * len(wired.blocks)]).streams
    turn, quanta = len(rnn.step.circuit.gates) + 1, 1 << -wired.arithmetic.format.quantum_exponent
    behind = range(1 - len(prompt), len(expected) + 1)
    columns = {name: found[wired.registers.index(name)] for name in ("step", "gate", "source")}
    assert list(columns["step"]) == [quanta * max(0, place // turn) for place in behind]
    assert list(columns["gate"]) == [quanta * (place if place < 0 else place % turn) for place in behind]
    assert list(columns["source"]) == [quanta * (1 + max(0, place // turn)) for place in behind]


@pytest.mark.parametrize("name", list(SMALL))
def test_sizes(name: str) -> None:
    """Four blocks; parameters linear in the gates: of each gate, one unit of the table; C + 1 tokens a step."""
    rnn = load(name)
    plan = Plan(rnn, 2, 3)
    model = Simulator(rnn, 3).build(2).model
    gates = len(rnn.step.circuit.gates)
    assert len(model.blocks) == 4
    assert len(model.blocks[1].feed_forward.gate) <= gates + 1 + 3  # the table, and the address
    rest = sum(
        array.size
        for block in model.blocks
        for head in block.heads
        for array in (head.query, head.key, head.value, head.out)
    )
    units = sum(len(block.feed_forward.gate) for block in model.blocks)
    assert model.parameters == rest + (3 * model.width + 2) * units + 4 * model.width
    assert plan.length == 2 + (gates + 1) * 4


def test_precision_grows_with_the_logarithm_of_the_positions() -> None:
    rnn = load("parity")
    bits = [least_precision(Plan(rnn, 1 << k, 1)) for k in range(1, 12)]
    steps = np.diff(bits)
    assert (steps >= 0).all()
    assert (steps <= 12).all()


def test_a_circuit_has_at_most_as_many_gates_as_the_precision_allows() -> None:
    """C ≤ 2^(p/2), which the theorem asks for, at the least p; below it, a line that names the gates (the command's tests)."""
    for model in simulation_models().values():
        plan = Plan(model.load(None, model.n), 1, 1)
        assert plan.gates**2 <= 2 ** least_precision(plan)


def test_what_cannot_be_simulated() -> None:
    with pytest.raises(ValueError, match="at least 1, not 0 and 1"):
        Plan(load("parity"), 0, 1)
    least = least_precision(Plan(load("parity"), 1, 1))
    with pytest.raises(ValueError, match=f"55 gates and 57 positions; the least p it is wired for is {least}"):
        Simulator(load("parity")).build(1, least - 2)
    with pytest.raises(ValueError, match="unknown finding 'other'"):
        Simulator(load("parity")).build(1, printed=("other",))
    with pytest.raises(ValueError, match="needs at least one word"):
        run_rnn(load("parity"), [], 1)


def test_every_register_has_a_meaning() -> None:
    rnn = load("shift")
    model = Simulator(rnn)
    assert [name for name in model.build(2).registers if not model.construction.meaning(name)] == []


ANSWERS = {"index": "1", "recall": "1", "ngram": "2", "counting": "YES"}


@pytest.mark.parametrize("name", list(ANSWERS))
def test_searches(name: str) -> None:
    """The same words as the RNN's own run by the reference engine, its searches answered; the Transformer writes every gate."""
    model = simulation_models()[name]
    rnn = model.load(None, model.n)
    assert rnn.wired is not None
    prompt, solver = rnn.wired.tokens(model.prompt.split()), Simulator(rnn, model.words)
    search = SearchTool(rnn.vocabulary)
    decoded = decode_by_reference(
        Decoding(rnn.wired.model, rnn.wired.arithmetic, prompt, set(), model.words + 1, respond=search)
    )
    wired = solver.build(len(prompt))
    done = solver.request(wired, prompt).run(find_engine("auto"))
    answer = solver.read(done)
    assert answer == [rnn.vocabulary[word] for word in decoded.produced]
    assert (answer[-1], solver.judge(prompt, done, answer)) == (ANSWERS[name], "")
    assert [step.result for step in solver.steps(prompt) if step.result is not None] == [decoded.produced[-2]]


def test_bb2_by_its_circuit() -> None:
    """Word by word to its halt, as the machine's simulator says; the beginning by the Transformer."""
    model = simulation_models()[TURING]
    rnn = model.load(None, None)
    assert rnn.wired is not None
    prompt = rnn.wired.tokens(model.prompt.split())
    steps = run_rnn(rnn, prompt, model.words)
    task = configurations.TextTask(find("bb2").machine, 6, "", SPACE)
    assert [rnn.vocabulary[step.written] for step in steps[len(prompt) - 1 :]] == configurations.words_after_prompt(
        task
    )
    assert len(rnn.step.circuit.gates) == 4804


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "1 0 1", "--words", "2")
    assert (code, out) == (0, "even even\n")
    assert "4 steps of 55 gates and a word" in err


def test_command_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--rnn", "parity", "1", "--json", "--engine", "dense")
    document = json.loads(out)
    assert code == 0
    assert (document["construction"], document["rnn"], document["answer"]) == ("simulate", "parity", "odd")
    assert len(document["chain_of_thought"]) == document["gates"] == 55


def test_command_with_trace(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "1 0", "--trace")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 112
    assert lines[4].split() == ["step", "1", "5=1", "STATE", "h.5", "at", "the", "start"]
    assert lines[6].split() == ["step", "1", "7=1", "INPUT", "x[1].2"]
    assert lines[-1].split() == ["step", "2", "word", "odd"]


def test_it_is_listed() -> None:
    from constructions.models.registry import find_constructions

    assert ("simulate", "transformer") in {item.names for item in find_constructions()}
    assert set(SMALL) < set(find_models())


def test_a_word_that_rounding_chooses_is_refused() -> None:
    """Logits of 4 and 8 are both 3.75 in R_5, so the first word wins; in exact arithmetic the second does."""
    rnn = simulation_models()["parity"].load(5, 1)
    unembed = np.zeros_like(rnn.unembed)
    unembed[1:3, 0] = 1, 2
    outputs = [8] + [0] * (unembed.shape[1] - 1)  # 2 in quanta of 1/4
    assert next_word(replace(rnn, unembed=unembed / 2), outputs) == 2
    with pytest.raises(ValueError, match="its logits round"):
        next_word(replace(rnn, unembed=2 * unembed), outputs)
