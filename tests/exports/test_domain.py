"""The domain that a sidecar states: just the prompts of the task, read here word by word, and the model is right on all of them."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence

import constructions
from constructions.istree.graphs import Graph
from constructions.retrieval.task import Question
from tests.exports.held_out import HeldOutCase, case_of
from tests.exports.test_network import network_of

ISTREE = [("transformer", "paper"), ("rag", "paper"), ("hybrid", "paper"), ("transformer", "eos")]


@cache
def loaded_domain(name: str, model: str, **how: Any) -> tuple[constructions.LoadedModel, dict[str, Any]]:
    """A model, and its domain with its vocabulary."""
    loaded = constructions.load(name, model, **how)
    domain = loaded.solver.described(loaded.wired)["domain"]
    assert isinstance(domain, dict)
    return loaded, {**domain, "vocabulary": set(loaded.wired.vocabulary)}


def holds(domain: dict[str, Any], words: Sequence[str]) -> bool:
    fits = re.fullmatch(domain["prompt"], " ".join(words)) is not None
    low, high = domain["prompt_tokens"]
    inside = fits and set(words) <= domain["vocabulary"]
    assert not inside or low <= len(words) <= high
    return inside


def is_graph(words: Sequence[str], n: int, start: str, joint: str, end: str) -> bool:
    """By hand: the edges one by one."""
    words = list(words)
    if words[:1] != [start] or (end and words[-1] != end):
        return False
    edges = words[1 : len(words) - bool(end)]
    seen = set()
    if len(edges) % 3:
        return False
    for i in range(0, len(edges), 3):
        u, middle, v = edges[i : i + 3]
        names = {str(vertex) for vertex in range(1, n + 1)}
        if middle != joint or not {u, v} <= names or u == v or frozenset((u, v)) in seen:
            return False
        seen.add(frozenset((u, v)))
    return True


@pytest.mark.parametrize(("model", "layout"), ISTREE)
def test_every_text_of_up_to_three_edges(model: str, layout: str) -> None:
    n, (start, joint, end) = 3, {"paper": ("<s>", "~", ""), "eos": ("[BOS]", "-", "[EOS]")}[layout]
    _, domain = loaded_domain("istree", model, n=n, tokens=layout)
    actual = 0
    for count in range(4):
        for ends in itertools.product("123", repeat=2 * count):
            pairs = zip(ends[::2], ends[1::2], strict=True)
            words = [start, *(word for u, v in pairs for word in (u, joint, v)), *[end] * bool(end)]
            actual += holds(domain, words)
            assert holds(domain, words) == is_graph(words, n, start, joint, end), words
    assert actual == 1 + 6 + 24 + 48  # edges in any order and orientation


@pytest.mark.parametrize(("model", "layout"), ISTREE)
@given(st.data())
def test_any_words(model: str, layout: str, data: st.DataObject) -> None:
    n, (start, joint, end) = 12, {"paper": ("<s>", "~", ""), "eos": ("[BOS]", "-", "[EOS]")}[layout]
    loaded, domain = loaded_domain("istree", model, n=n, tokens=layout)
    vertex = st.integers(0, n + 1).map(str)
    piece = st.tuples(vertex, st.just(joint), vertex) | st.tuples(st.sampled_from(loaded.wired.vocabulary))
    words = [start, *itertools.chain(*data.draw(st.lists(piece, max_size=12))), *[end] * bool(end)]
    assert holds(domain, words) == is_graph(words, n, start, joint, end)


def is_question(task: str, words: Sequence[str], n: int, asked: int) -> bool:
    numbers = {str(i): i for i in range(1, n + 1)}
    if words.count("?") != 1 or words[0] != "<s>":
        return False
    mark = words.index("?")
    sequence, query = words[1:mark], words[mark + 1 :]
    whole = set(sequence) <= numbers.keys() and len(sequence) <= n and len(query) == asked
    if task == "counting":
        return whole and query[0] in numbers and (query[1] in numbers or query[1] == "0")
    return whole and set(query) <= numbers.keys() and (task != "index" or len(sequence) > 0)


@pytest.mark.parametrize(("task", "asked"), [("index", 1), ("recall", 1), ("ngram", 2), ("ngram", 3), ("counting", 2)])
@pytest.mark.parametrize("model", ["transformer", "rag", "hybrid"])
def test_every_short_question(task: str, asked: int, model: str) -> None:
    n = 2
    loaded, domain = loaded_domain(task, model, n=n, query_length=asked)
    words = [word for word in loaded.wired.vocabulary if word not in ("YES", "NO", "FAILED", "<StartSearch>")]
    actual = 0
    for length in range(6):
        for rest in itertools.product(words, repeat=length):
            is_one = is_question(task, ["<s>", *rest], n, asked)
            actual += is_one
            assert holds(domain, ["<s>", *rest]) == is_one, rest
    assert actual >= 12
    assert not holds(domain, words)


@pytest.mark.parametrize("model", ["rag", "hybrid", "cot"])
@pytest.mark.parametrize(("machine", "tape"), [("bb2", ""), ("bb3", "101"), ("1RB2LA1RZ_1LA2RB1LB", "12")])
def test_words_on_a_tape(model: str, machine: str, tape: str) -> None:
    how: dict[str, Any] = {} if model == "rag" else {"cells": 9}
    loaded, domain = loaded_domain("turing", model, machine=machine, tape=tape, steps=4, **how)
    symbols = "01" if machine.startswith("bb") else "012"
    for length in range(len(tape) + 2):
        for word in map("".join, itertools.product(symbols, repeat=length)):
            other = constructions.load("turing", model, machine=machine, tape=word, steps=4, **how)
            prompt = loaded.wired.spelled(other.solver.request(other.wired, 4).prompt) if length <= len(tape) else ()
            same = length == len(tape) or (model == "cot" and {length, len(tape)} == {0, 1} and word in ("", "0"))
            assert not prompt or holds(domain, prompt) == same, (word, prompt)
    assert not holds(domain, ["<s>", *tape, "0"])
    assert domain["size"] == {"steps": 4}


@pytest.mark.parametrize("rnn", ["parity", "shift"])
def test_words_of_an_rnn(rnn: str) -> None:
    loaded, domain = loaded_domain("simulate", "transformer", rnn=rnn, length=3)
    words = loaded.solver.rnn.vocabulary
    for length in range(1, 5):
        assert all(holds(domain, text) == (length == 3) for text in itertools.product(words, repeat=length))


def wrong_about(loaded: constructions.LoadedModel, model: str, asked: Iterable[Any]) -> list[HeldOutCase]:
    """All in one batch: what fills it up stands after the tokens, and is not read."""
    cases = [case_of(loaded, item, "") for item in asked]
    batch = pad_sequence([torch.tensor(case.tokens) for case in cases], batch_first=True)
    found = network_of(loaded, model, "float64")(batch).argmax(-1).tolist()
    return [case for case, row in zip(cases, found, strict=True) if not case.agrees(row)]


@pytest.mark.parametrize("model", ["transformer", "rag", "hybrid"])
def test_the_float_model_is_right_on_the_whole_domain(model: str) -> None:
    """Of all simple graphs on three vertices, and of all questions of Index about up to three numbers."""
    graphs = [
        Graph(3, tuple(edge[::turn] for edge, turn in zip(edges, turned, strict=True)))
        for count in range(4)
        for edges in itertools.permutations([(1, 2), (1, 3), (2, 3)], count)
        for turned in itertools.product((1, -1), repeat=count)
    ]
    assert len(graphs) == 79
    assert not wrong_about(constructions.load("istree", model, n=3), model, graphs)
    questions = [
        Question(sequence, (place,))
        for length in range(1, 4)
        for sequence in itertools.product((1, 2, 3), repeat=length)
        for place in range(1, length + 1)
    ]
    assert not wrong_about(constructions.load("index", model, n=3), model, questions)


def test_a_print_is_not_said_to_be_right() -> None:
    loaded, domain = loaded_domain("istree", "transformer", n=3)
    wired = loaded.solver.build(3, printed=["layer-7"])
    printed = loaded.solver.described(wired)["domain"]
    assert isinstance(printed, dict)
    assert printed["sentence"] == domain["sentence"] + " With what is as printed, an answer may be wrong."


def test_a_long_prompt_is_checked_in_no_time() -> None:
    """What has to be told is one repetition among as many edges as an export may read."""
    _, domain = loaded_domain("istree", "transformer", n=64)
    pairs = random.Random(1).sample([(u, v) for u in range(1, 65) for v in range(u + 1, 65)], 340)
    text = "<s> " + " ".join(f"{u} ~ {v}" for u, v in pairs)
    assert re.fullmatch(domain["prompt"], text)
    for u, v in (pairs[0], pairs[200], pairs[-1]):
        assert not re.fullmatch(domain["prompt"], f"{text} {v} ~ {u}")
        assert not re.fullmatch(domain["prompt"], f"{text} {v} ~ {v}")
