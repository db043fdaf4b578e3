"""The families of sequences that lattices search: whatever two sequences are, the question has the two answers that it says."""

from __future__ import annotations

import random

import pytest

from tests.verify.test_adversary import right_answer
from verify.lattices import FAMILIES, prompt_of


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
