"""The families of sequences that lattices search: whatever two sequences are, the question has the two answers that it says."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from circuits.rnn import load_object
from tests.verify.test_adversary import right_answer
from verify.lattices import FAMILIES, by_lattice, prompt_of


@pytest.mark.parametrize("task", FAMILIES)
def test_two_sequences_are_told_apart(task: str) -> None:
    """By the oracle of another test, on random pairs and on pairs that differ at one place alone."""
    generator = random.Random(2)
    for n in (2, 3, 7):
        family = FAMILIES[task](3 * n if task == "istree" else n)
        span, count = family.high - family.low, len(family.places)
        assert [family.base[place] for place in family.places] == [family.low] * count
        for _ in range(60):
            steps = [generator.randint(0, span) for _ in range(count)]
            other = [generator.randint(0, span) for _ in range(count)] if generator.random() < 0.5 else [*steps]
            other[generator.randrange(count)] = generator.randint(0, span)
            if steps == other:
                continue
            first, second = family.sequence(steps), family.sequence(other)
            question = family.ask(first, second, next(i for i in range(count) if steps[i] != other[i]))
            if question is None:
                assert task == "counting"
                assert sorted(first) == sorted(second)
                continue
            assert question.right[0] != question.right[1]
            for sequence, right in zip((first, second), question.right, strict=True):
                assert right_answer(task, prompt_of(task, sequence, question)) == right


def test_forests_are_simple_graphs() -> None:
    """No edge twice, in neither direction, whatever the leaves' stars are: or the prompt is none of the task."""
    generator, family = random.Random(4), FAMILIES["istree"](15)
    for _ in range(200):
        steps, other = ([generator.randint(0, 4) for _ in range(5)] for _ in range(2))
        if steps == other:
            continue
        first, second = family.sequence(steps), family.sequence(other)
        question = family.ask(first, second, next(i for i in range(5) if steps[i] != other[i]))
        assert question is not None
        for tokens in (first, second):
            numbers = [*tokens, *question.more]
            edges = [frozenset(edge) for edge in zip(numbers[::2], numbers[1::2], strict=True)]
            assert len(set(edges)) == len(edges) == 14
            assert {len(edge) for edge in edges} == {2}
            assert set(numbers) == set(range(1, 16))


A, B = 3**161 % 2**256, 7**90 % 2**256
M, V = np.random.default_rng(1).integers(0, 2**63, (2, 4, 4), dtype=np.uint64)


def linear(state: int, token: int) -> int:
    """256 bits."""
    return (A * state + B * token + 5) % 2**256


def kept_as(read: Callable[[Any], int], write: Callable[[int], Any]) -> Any:
    """Returns the same RNN, whose states are written in another way."""
    return lambda: write(9), lambda state, token: write(linear(read(state), token))


def limbs(dtype: str, order: int) -> Any:
    bits = 8 * np.dtype(dtype).itemsize
    return kept_as(
        lambda s: sum(int(x) % 2**bits << bits * i for i, x in enumerate(s[::order].tolist())),
        lambda x: np.array([x >> bits * i & 2**bits - 1 for i in range(256 // bits)], f"u{dtype[1:]}").astype(dtype)[
            ::order
        ],
    )


def by_torch(state: Any, token: int) -> Any:
    return torch.from_numpy(M.astype(np.int64)) @ state + torch.from_numpy(V[0].astype(np.int64)) * token


KEPT: dict[str, Any] = {
    "array": (lambda: np.ones(4, np.uint64), lambda s, t: M @ s + V[0] * np.uint64(t)),
    "tensor": (lambda: torch.zeros(4, dtype=torch.int64), by_torch),
    "bytes": kept_as(lambda s: int.from_bytes(s, "little"), lambda x: x.to_bytes(32, "little")),
    "bytes from the high end": kept_as(lambda s: int.from_bytes(s, "big"), lambda x: x.to_bytes(32, "big")),
    "limbs": limbs("u4", 1),
    "signed limbs from the high end": limbs("i4", -1),
    "parts of other sizes": (
        lambda: ((1,), 0),
        lambda s, t: (((s[0][0] * A + t * B) % 2**200,), (s[1] * 11**20 + s[0][0] + t) % 2**56),
    ),
}


@pytest.mark.parametrize("kept", KEPT)
def test_a_linear_rnn_is_seen_however_its_state_is_kept(kept: str) -> None:
    start, step = KEPT[kept]
    rnn = load_object((start, step, lambda state, query: 0), 256, kept)
    first, second, question = by_lattice(rnn, "index", 64, lambda *_: None) or ([], [], None)
    assert question is not None
    states = []
    for sequence, right in zip((first, second), question.right, strict=True):
        assert right_answer("index", prompt_of("index", sequence, question)) == right
        state = start()
        for token in sequence:
            state = step(state, token)
        states.append(repr(state))
    assert states[0] == states[1]
    assert question.right[0] != question.right[1]


@pytest.mark.parametrize("kept", [lambda s, t: (s ^ t) * A % 2**256, lambda s, t: (s * s + t) % 2**256])
def test_what_is_not_linear_has_no_lattice(kept: Any) -> None:
    rnn = load_object((lambda: 9, kept, lambda state, query: 0), 256, "kept")
    assert by_lattice(rnn, "index", 8, lambda *_: None) is None
