"""The cells of the paper's architectures, each written again here in fractions, and what their states are."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from circuits.architectures.caches import Rmt, Tova, Window
from circuits.architectures.cell import TRAINED, Cell, rounded
from circuits.architectures.gates import Gru, Lstm, Mamba, Rwkv
from circuits.architectures.matrices import DECAY, LinearAttention, MLstm, RetNet
from circuits.architectures.train import RoundedTensors, rights
from circuits.rnn import key, load

CELLS: tuple[type[Cell], ...] = (LinearAttention, RetNet, MLstm, Gru, Lstm, Rwkv, Mamba, Window, Tova, Rmt)
P = 7
QUANTUM, MOST = Fraction(1, 8), Fraction(63, 8)  # of R_7
Vector = list[Fraction]
FOLDER = Path(__file__).parents[2] / "circuits" / "architectures"


def near(x: Fraction) -> Fraction:
    """The nearest element of R_7; Python rounds a half to even."""
    return min(max(round(x / QUANTUM) * QUANTUM, -MOST), MOST)


def by(function: Any, x: Fraction) -> Fraction:
    """A function of a number, rounded, with 60 digits."""
    with mp.workdps(60):
        value = function(mp.mpf(x.numerator) / x.denominator)
        return near(Fraction(int(mp.floor(value * 2**100 + 0.5)), 2**100))


def exp(x: Fraction) -> Fraction:
    return by(mp.exp, x)


def sigmoid(x: Fraction) -> Fraction:
    return by(lambda v: 1 / (1 + mp.exp(-v)), x)


def tanh(x: Fraction) -> Fraction:
    return by(mp.tanh, x)


def softplus(x: Fraction) -> Fraction:
    return by(lambda v: mp.log1p(mp.exp(v)), x)


def dot(x: Vector, matrix: Any, column: int) -> Fraction:
    return sum((a * Fraction(float(row[column])) for a, row in zip(x, matrix, strict=True)), Fraction(0))


def fractions(array: Any) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(array, float).reshape(-1).tolist()]


def again(cell: Cell, state: Any, x: Vector) -> list[Fraction]:
    """The state's numbers after one step, in the order of the arrays."""
    w, d = cell.weights, cell.d

    def read(name: str, *more: tuple[Vector, str]) -> Vector:
        columns = w[name].shape[1]
        pairs = [(x, name), *more]
        return [near(sum((dot(v, w[n], c) for v, n in pairs), Fraction(0))) for c in range(columns)]

    parts = [fractions(part) for part in state]
    match cell:
        case LinearAttention():
            k, v = [exp(a) for a in read("key")], read("value")
            return [
                *(near(parts[0][i * d + j] + near(k[i] * v[j])) for i in range(d) for j in range(d)),
                *(near(parts[1][i] + k[i]) for i in range(d)),
            ]
        case RetNet():
            k, v = read("key"), read("value")
            faded = [near(Fraction(DECAY) * s) for s in parts[0]]
            return [near(faded[i * d + j] + near(k[i] * v[j])) for i in range(d) for j in range(d)]
        case MLstm():
            (i,), (f,) = [exp(a) for a in read("in")], [sigmoid(a) for a in read("forget")]
            k, v = read("key"), read("value")
            return [
                *(
                    near(near(f * parts[0][a * d + b]) + near(near(i * v[a]) * k[b]))
                    for a in range(d)
                    for b in range(d)
                ),
                *(near(near(f * n) + near(i * b)) for n, b in zip(parts[1], k, strict=True)),
            ]
        case Gru():
            h = parts[0]
            z, r = ([sigmoid(a) for a in read(f"x_{g}", (h, f"h_{g}"))] for g in ("update", "reset"))
            new = [tanh(a) for a in read("x_new", ([near(a * b) for a, b in zip(r, h, strict=True)], "h_new"))]
            return [near(near((1 - a) * b) + near(a * c)) for a, b, c in zip(z, h, new, strict=True)]
        case Lstm():
            c, h = parts
            sums = {g: read(f"x_{g}", (h, f"h_{g}")) for g in ("in", "forget", "out", "new")}
            c = [
                near(near(sigmoid(f) * old) + near(sigmoid(i) * tanh(g)))
                for f, old, i, g in zip(sums["forget"], c, sums["in"], sums["new"], strict=True)
            ]
            return [*c, *(near(sigmoid(o) * tanh(a)) for o, a in zip(sums["out"], c, strict=True))]
        case Rwkv():
            a, b, last = parts
            k, v = (read(f"now_{what}", (last, f"last_{what}")) for what in ("key", "value"))
            fade, weight = [exp(-abs(f)) for f in fractions(w["decay"])], [exp(u) for u in k]
            return [
                *(near(near(f * s) + near(u * t)) for f, s, u, t in zip(fade, a, weight, v, strict=True)),
                *(near(near(f * s) + u) for f, s, u in zip(fade, b, weight, strict=True)),
                *x,
            ]
        case Mamba():
            delta = [softplus(a) for a in read("delta")]
            into, rate = read("into"), fractions(abs(w["rate"]))
            count = len(into)
            return [
                near(
                    near(exp(-near(delta[i] * rate[i * count + j])) * parts[0][i * count + j])
                    + near(near(delta[i] * x[i]) * into[j])
                )
                for i in range(d)
                for j in range(count)
            ]
    raise TypeError(cell)


@pytest.mark.parametrize("kind", [LinearAttention, RetNet, MLstm, Gru, Lstm, Rwkv, Mamba])
def test_a_step_is_the_architecture_s_in_fractions(kind: type[Cell]) -> None:
    """Along a walk of 12 tokens: each number is rounded where the formula says, and nowhere else."""
    cell = kind(3, P, seed=4)
    state, generator = cell.start(), np.random.default_rng(1)
    for position, token in enumerate(generator.integers(1, 30, 12).tolist(), start=1):
        rows = (fractions(cell.weights[name][place]) for name, place in (("embedding", token), ("position", position)))
        x = [near(a + b) for a, b in zip(*rows, strict=True)]
        due = again(cell, state, x)
        state = cell.step(state, token, position)
        assert [v for part in state for v in fractions(part)] == due


@pytest.mark.parametrize("kind", CELLS)
def test_a_state_has_the_bits_that_it_says(kind: type[Cell]) -> None:
    """Each number is of R_p, and there are as many as are counted."""
    for d, p in ((2, 5), (3, 7)):
        cell = kind(d, p)
        state = cell.start()
        for position in range(1, 30):
            state = cell.step(state, position % 7 + 1, position)
            size = sum(part.size for part in state)
            assert size * (8 if isinstance(cell, Window | Tova) else p) == cell.STATE_BITS
            numbers = np.concatenate([part.reshape(-1) for part in state])
            if isinstance(cell, Window | Tova):
                assert numbers.dtype == np.uint8
            else:
                quanta = numbers * 2 ** ((p - 1) // 2)
                assert (quanta == np.rint(quanta)).all()
                assert (abs(quanta) < 2 ** (p - 1)).all()
        assert 1 <= cell.answer(state, (3,)) + 1 <= 64


def test_a_window_keeps_the_sinks_and_the_last_tokens() -> None:
    cell = Window(5, 7)
    state = cell.start()
    for position, token in enumerate([7, 8, 9, 1, 2, 3, 4], start=1):
        state = cell.step(state, token, position)
    assert state[0].tolist() == [7, 8, 2, 3, 4]


def test_tova_drops_the_token_of_the_least_score() -> None:
    cell = Tova(4, 7)
    state, words = cell.start(), [7, 8, 9, 1]
    for position, token in enumerate(words, start=1):
        state = cell.step(state, token, position)
    w = cell.weights
    rows = {t: fractions(w["embedding"][t]) for t in (*words, 5)}
    asked = [near(dot(rows[5], w["query"], c)) for c in range(cell.units)]
    scores = {
        t: near(sum((near(dot(rows[t], w["key"], c)) * asked[c] for c in range(cell.units)), Fraction(0))) for t in rows
    }
    least = min(scores, key=scores.__getitem__)
    assert cell.step(state, 5, 5)[0].tolist() == [t for t in (*words, 5) if t != least]


def test_functions_are_rounded_once() -> None:
    o = rounded(P)
    elements = np.arange(-63, 64) / 8
    for table, function in ((o.exp, exp), (o.sigmoid, sigmoid), (o.tanh, tanh), (o.softplus, softplus)):
        assert [Fraction(v) for v in table(elements).tolist()] == [function(Fraction(v)) for v in elements.tolist()]


@pytest.mark.parametrize(("kind", "name"), [(Gru, "GRU"), (Lstm, "LSTM"), (Mamba, "Mamba")])
def test_trained_weights_answer_as_stored_and_better_than_chance(kind: type[Cell], name: str) -> None:
    stored = json.loads(TRAINED.read_text(encoding="utf-8"))[name]
    cell = kind(stored["d"], stored["p"], trained=name)
    for n in (2, 3, 4):
        assert list(rights(cell, n)) == stored["right"][str(n)]
    right, all_questions = stored["right"]["4"]
    assert right > 0.75 * all_questions
    drawn = kind(stored["d"], stored["p"])
    assert rights(drawn, 4)[0] < right


def test_what_is_trained_is_the_same_step() -> None:
    """On torch, with gradients, a step gives the state that numpy gives."""
    torch = pytest.importorskip("torch")
    for kind in (LinearAttention, RetNet, MLstm, Gru, Lstm, Rwkv, Mamba):
        cell = kind(3, P)
        weights = {n: torch.tensor(w, dtype=torch.float64, requires_grad=True) for n, w in cell.weights.items()}
        state, tensors = cell.start(), tuple(torch.zeros(2, *shape, dtype=torch.float64) for shape in cell.parts(3))
        o = RoundedTensors(P)
        for position, token in enumerate((3, 1, 4, 1, 5), start=1):
            state = cell.step(state, token, position)
            x = o.round(weights["embedding"][token] + weights["position"][position])
            tensors = cell.next(o, weights, tensors, torch.stack([x, x]))
        for part, tensor in zip(state, tensors, strict=True):
            assert tensor.detach().numpy().tolist() == [part.tolist()] * 2
        sum(tensor.sum() for tensor in tensors).backward()
        assert any(w.grad is not None and w.grad.abs().sum() > 0 for w in weights.values())


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("matrices", name) for name in ("linear_attention", "retnet", "mlstm")),
        *(("gates", name) for name in ("gru", "lstm", "rwkv", "mamba")),
        *(("caches", name) for name in ("window", "tova", "rmt")),
    ],
)
def test_the_door_takes_each(file: str, name: str) -> None:
    rnn = load(f"{FOLDER / file}.py:{name}")
    states = [rnn.state_after(tokens) for tokens in ((1, 2, 1), (1, 2, 1), (2, 2, 1))]
    assert key(states[0]) == key(states[1])
    assert rnn.state_bits > 0
    assert not math.isnan(float(rnn.answer(states[2], (1,))[0]))
