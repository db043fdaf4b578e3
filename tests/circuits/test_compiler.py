"""The circuit of a step is the step of the reference engine: on every state and input of tiny models, on many of the project's."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from circuits.circuit import GateKind
from circuits.compiler import compile_step
from circuits.models import Rnn, find_models
from circuits.runs import embed
from circuits.step import Step
from constructions import counting, index, recall
from constructions.engines.reference import ReferenceEngine, Sparse
from constructions.layers import AttentionHead, Block, FeedForward, Recurrence, Transformer, block_arrays
from constructions.retrieval.retriever import Retriever
from precision import Arithmetic, Discipline, Rounding, fixed_point

BOTH = list(Discipline)


def engine_step(
    model: Transformer, arithmetic: Arithmetic, state: list[int], inputs: dict[int, int]
) -> tuple[list[int], list[int]]:
    """All registers after a step, and the next state, from any state and any embedding, in quanta."""
    engine = ReferenceEngine(model, arithmetic)
    places = [(block.state, register) for block in engine._blocks for register in block.state]
    for (held, register), value in zip(places, state, strict=True):
        held[register] = value
    engine._words = [Sparse(tuple(inputs), tuple(inputs.values()))]
    engine._position = [0] * model.width
    after = engine.append(0)
    return list(after.registers[-1]), [held[register] for held, register in places]


def same_step(model: Transformer, arithmetic: Arithmetic, step: Step, state: list[int], numbers: list[int]) -> None:
    filled = [i for i in range(model.width) if model.words[:, i].any() or model.position[i]]
    read = [i for i in range(model.width) if model.unembed[:, i].any()]
    registers, following = engine_step(model, arithmetic, state, dict(zip(filled, numbers, strict=True)))
    assert step.run(state, numbers) == ([registers[i] for i in read], following)


def tiny(weights: list[float]) -> Transformer:
    """One register of input and state, and one that the output is written to: h ← a·h + b·x, y ← ReLU(c·x + d)·(e·x + f)."""
    a, b, c, d, e, f, g = weights
    carry, feed = np.zeros((2, 2)), np.zeros((2, 2))
    carry[0, 0], feed[0, 0] = a, b
    ffn = FeedForward(
        np.array([[c, 0.0]]),
        np.array([d]),
        np.array([[e, 0.0]]),
        np.array([f]),
        np.array([[0.0], [g]]),
        np.array([0.0, d]),
    )
    block = Block((), ffn, Recurrence(carry, feed))
    return Transformer(np.array([[1.0, 0.0]]), np.zeros(2), (block,), np.array([[1.0, 1.0]]))


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize(
    "weights", [[1, 1, 1, 0, 1, 0, 1], [-0.5, 0.75, 0.25, 0.5, -1.5, 0.25, 1.25], [0.25, -2.25, -0.75, 1, 1, 0, -1]]
)
def test_every_state_and_input(weights: list[float], discipline: Discipline) -> None:
    """p = 5: 31 states times 31 inputs, and the readings of −0."""
    arithmetic, model = Arithmetic(fixed_point(5), discipline), tiny(weights)
    step = compile_step(model, ["x", "y"], arithmetic)
    for state, number in itertools.product(range(-15, 16), repeat=2):
        same_step(model, arithmetic, step, [state], [number])
    negative_zero, zero = [0] * 5, [0, 0, 0, 0, 1]
    assert step.circuit.run(negative_zero, negative_zero) == step.circuit.run(zero, zero)


def random_model(rng: random.Random) -> Transformer:
    """Two blocks of three registers with weights of every kind."""

    def matrix(*shape: int) -> np.ndarray:
        values = [
            rng.choice([0, 0, 1, -1, 2, 0.5, -0.25, rng.randint(-20, 20) / 8]) for _ in range(int(np.prod(shape)))
        ]
        return np.array(values, np.float64).reshape(shape)

    blocks = tuple(
        Block(
            (),
            FeedForward(matrix(3, 3), matrix(3), matrix(3, 3), matrix(3), matrix(3, 3), matrix(3)),
            Recurrence(matrix(3, 3), matrix(3, 3)),
        )
        for _ in range(2)
    )
    return Transformer(np.ones((1, 3)), np.zeros(3), blocks, np.ones((1, 3)))


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("seed", range(6))
def test_random_models(seed: int, discipline: Discipline) -> None:
    rng = random.Random(seed)
    p = rng.choice([5, 7, 9, 13])
    arithmetic, model = Arithmetic(fixed_point(p), discipline), random_model(rng)
    step, top = compile_step(model, ["x", "y", "z"], arithmetic), fixed_point(p).max_quanta
    for _ in range(30):
        draw = [rng.choice([rng.randint(-top, top), rng.randint(-4, 4)]) for _ in range(len(step.states) + 3)]
        same_step(model, arithmetic, step, draw[:-3], draw[-3:])


WITH_WEIGHTS = [name for name in find_models() if name != "parity"]


def load(name: str, discipline: Discipline) -> Rnn:
    return find_models()[name].load(None, 2, discipline)


@pytest.mark.parametrize("discipline", BOTH)
@pytest.mark.parametrize("name", ["shift", "sum", "index", "counting"])
def test_any_state_of_models_of_the_project(name: str, discipline: Discipline) -> None:
    """Any state and input, of numbers small and large."""
    rnn, rng = load(name, discipline), random.Random(name)
    assert rnn.wired is not None
    top, unit = rnn.arithmetic.format.max_quanta, 1 << -rnn.arithmetic.format.quantum_exponent
    step = compile_step(rnn.wired.model, rnn.wired.registers, rnn.arithmetic)
    cut = len(step.states)
    for _ in range(2):
        count = cut + len(step.inputs)
        draw = [rng.choice([0, unit, rng.randint(-3, 3) * unit, rng.randint(-top, top)]) for _ in range(count)]
        same_step(rnn.wired.model, rnn.arithmetic, step, draw[:cut], draw[cut:])


@pytest.mark.parametrize(
    ("name", "discipline"),
    [(name, d) for name in WITH_WEIGHTS for d in BOTH if d is Discipline.FUSED or not name.endswith("-hybrid")],
)
def test_reached_states_of_models_of_the_project(name: str, discipline: Discipline) -> None:
    """Any words one after the other: the engine's registers and states, and every state within its range."""
    rnn, rng = load(name, discipline), random.Random(name)
    assert rnn.wired is not None
    model, state = rnn.wired.model, [0] * len(rnn.step.states)
    read = [i for i in range(model.width) if model.unembed[:, i].any()]
    engine = ReferenceEngine(model, rnn.arithmetic, beyond=True)
    held = [(block.state, register) for block in engine._blocks for register in block.state]
    for place in range(1, 31):
        word = rng.randrange(len(rnn.vocabulary))
        output, state = rnn.step.run(state, embed(rnn, word, place))
        registers = engine.append(word).registers[-1]
        assert (output, state) == ([registers[i] for i in read], [numbers[r] for numbers, r in held])
        ranges = zip(rnn.step.states, state, strict=True)
        assert all(quanta in rnn.reads.states[name] for name, quanta in ranges)


@pytest.mark.parametrize("retriever", [index.HYBRID, recall.HYBRID, counting.HYBRID], ids=lambda x: x.construction.name)
def test_what_is_recurrent_in_a_hybrid(retriever: Retriever) -> None:
    """The registers of the whole model after its first block; the same weights at every precision."""
    rnn = find_models()[f"{retriever.construction.name}-hybrid"].load(None, 4)
    assert rnn.wired is not None
    for more in (0, 2, 20):
        whole = retriever.build(4, rnn.step.precision_bits + more)
        for ours, theirs in zip(rnn.wired.model.blocks, whole.model.blocks[:-1], strict=True):
            assert all(map(np.array_equal, block_arrays(ours), block_arrays(theirs)))
    whole = retriever.build(4)
    engine, state, rng = ReferenceEngine(whole.model, whole.arithmetic), [0] * len(rnn.step.states), random.Random(4)
    read = [whole.registers.index(name[2:-1]) for name in rnn.step.outputs]
    for place in range(1, 8):
        word = rng.randrange(len(rnn.vocabulary))
        output, state = rnn.step.run(state, embed(rnn, word, place))
        registers = engine.append(word).registers
        assert output == [registers[-3][i] for i in read]  # before the attention, and the feed-forward after it


@pytest.mark.parametrize("name", ["shift", "sum", "parity", "recall"])
def test_the_numbering_of_the_theorem(name: str) -> None:
    rnn = load(name, Discipline.FUSED)
    step, p = rnn.step, rnn.step.precision_bits
    gates, state, count = step.circuit.gates, p * len(step.states), len(step.circuit.gates)
    assert [gate[:2] for gate in gates[:state]] == [(GateKind.STATE, i) for i in range(state)]
    assert step.circuit.next_state == tuple(range(count - state, count))
    assert step.circuit.outputs == tuple(range(count - state - p * len(step.outputs), count - state))
    assert all(gates[i].computes for i in (*step.circuit.outputs, *step.circuit.next_state))
    assert step.circuit.initial == (*[0] * (p - 1), 1) * len(step.states)


def test_parity() -> None:
    """Every number of 1s: the state is their parity, at p = 5."""
    rnn = find_models()["parity"].load(5, None)
    for bits in itertools.product((0, 1), repeat=6):
        state = [0]
        for bit in bits:
            output, state = rnn.step.run(state, [bit * 4, 0, 0])
        odd = sum(bits) % 2
        assert (output, state) == ([0, 4 * (1 - odd), 4 * odd], [4 * odd])


def test_attention_is_no_step() -> None:
    head = AttentionHead(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    empty = np.zeros((0, 1))
    ffn = FeedForward(empty, np.zeros(0), empty, np.zeros(0), empty.T, np.zeros(1))
    model = Transformer(np.ones((1, 1)), np.zeros(1), (Block((head,), ffn),), np.ones((1, 1)))
    with pytest.raises(ValueError, match="block 1 has attention"):
        compile_step(model, ["x"], Arithmetic(fixed_point(5)))


def test_other_roundings_are_refused() -> None:
    arithmetic = Arithmetic(fixed_point(5), Discipline.FUSED, Rounding.TOWARD_ZERO)
    with pytest.raises(ValueError, match="round to nearest even, not toward-zero"):
        compile_step(tiny([1] * 7), ["x", "y"], arithmetic)


@pytest.mark.parametrize("name", list(find_models()))
def test_precisions_that_are_too_small(name: str) -> None:
    model = find_models()[name]
    least = model.least_precision(3)
    assert model.largest_n(least) >= 3
    if least > 5:
        with pytest.raises(ValueError, match=f"too small for {name} at n = 3; the least p it is wired for is {least}"):
            model.load(least - 2, 3)
