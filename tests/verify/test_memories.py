"""RNNs that remember enough: right on every small question, and not confused by the adversary."""

from __future__ import annotations

import itertools

import pytest

from circuits.rnn import FunctionRnn
from constructions.istree.graphs import Graph, is_tree
from verify.adversary import TASKS, Questions, attack, needed_bits
from verify.oracles.memories import MEMORIES, bits, rnn


def size_of(task: str, n: int) -> tuple[int, int]:
    """How many tokens Alice and Bob write for n bits, and the largest number."""
    questions = Questions(task, n, False)
    tokens = questions.tokens((0,) * n)
    more, query = questions.query(n)
    return len(tokens) + len(more), TASKS[task].size(n) if task != "turing" else 4 * max(*tokens, *query, 1)


def memory(task: str, n: int) -> FunctionRnn:
    return rnn(task, *size_of(task, n))


@pytest.mark.parametrize("task", MEMORIES)
def test_every_question_of_the_reductions_is_answered(task: str) -> None:
    for n in range(3, 8):
        questions, remembers = Questions(task, n, False), memory(task, n)
        for x in itertools.product((0, 1), repeat=n):
            for k in TASKS[task].ks(n):
                more, query = questions.query(k)
                state = remembers.state_after([*questions.tokens(x), *more])
                assert remembers.answer(state, query) == [TASKS[task].right_answer(x, k)]


def test_every_short_sequence_is_remembered() -> None:
    """Beyond the reductions: all sequences of up to 4 numbers up to 3, all queries; the answers are written again."""
    for length in range(5):
        for sequence in itertools.product((1, 2, 3), repeat=length):
            states = {task: rnn(task, 4, 3) for task in ("index", "recall", "ngram", "counting")}
            after = {task: one.state_after(sequence) for task, one in states.items()}
            for key in (1, 2, 3):
                due = next((b for a, b in itertools.pairwise(sequence) if a == key), "FAILED")
                assert states["recall"].answer(after["recall"], (key,)) == [str(due)]
                for threshold in range(5):
                    more = "YES" if sequence.count(key) > threshold else "NO"
                    assert states["counting"].answer(after["counting"], (key, threshold)) == [more]
                for second in (1, 2, 3):
                    found = [sequence[i + 2] for i in range(length - 2) if sequence[i : i + 2] == (key, second)]
                    assert states["ngram"].answer(after["ngram"], (key, second)) == [
                        str(found[0]) if found else "FAILED"
                    ]
            for place in range(1, length + 1):
                assert states["index"].answer(after["index"], (place,)) == [str(sequence[place - 1])]


def test_every_small_graph_is_remembered() -> None:
    for n in range(1, 6):
        remembers = rnn("istree", 0, n)
        pairs = list(itertools.combinations(range(1, n + 1), 2))
        for count in range(len(pairs) + 1):
            for edges in itertools.combinations(pairs, count):
                state = remembers.state_after([vertex for edge in edges for vertex in edge])
                assert remembers.answer(state, ()) == ["YES" if is_tree(Graph(n, edges)) else "NO"]


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("task", MEMORIES)
def test_what_remembers_enough_is_not_confused(task: str, n: int) -> None:
    found = attack(memory(task, n), task, n, lambda seen: None, lambda *_: None)
    assert found["outcome"] == "none exists"


@pytest.mark.parametrize("task", MEMORIES)
def test_the_bits_are_the_bound_s_but_for_a_logarithm(task: str) -> None:
    """At most 14 log2 n times what is needed, for n up to 2^20."""
    for n in (8, 64, 1 << 10, 1 << 20):
        tokens, largest = {
            "index": (n, n),
            "recall": (2 * n, 2 * n),
            "ngram": (3 * n, 3 * n),
            "counting": (n, n + 1),
        }.get(task, (2 * n + 4, n + 3))
        needed = needed_bits(task, n) if n < 1000 else n
        assert needed <= bits(task, tokens, largest) <= 14 * n.bit_length() * needed


def test_a_memory_that_forgets_is_confused() -> None:
    """One number less, and the adversary has a pair."""
    remembers = memory("index", 8)

    def forgets(state: tuple[int, ...], token: int, position: int) -> tuple[int, ...]:
        return (*state, 1 if position == 3 else token)

    found = attack(
        FunctionRnn("forgets", 64, remembers.start, forgets, remembers.answer),
        "index",
        8,
        lambda seen: None,
        lambda *_: None,
    )
    assert found["right"][0] != found["right"][1]
    assert found["prompts"][0].endswith("? 3")
