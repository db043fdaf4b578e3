"""Known texts: each engine that may read one gives the reference's registers; where an answer is left is the first such place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from constructions.engines import find_engine
from constructions.engines.known import first_mismatch, read_text
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.istree.transformer import TRANSFORMER
from precision.format import FP32, Arithmetic, Discipline
from tests.engines.cases import EngineCase, reference_trace

GRAPH = Graph(5, ((1, 2), (4, 2), (2, 3), (5, 3)))


@pytest.mark.parametrize("name", ["reference", "native", "incremental", "dense", "incremental, undecided"])
@pytest.mark.parametrize("discipline", Discipline)
def test_registers_of_any_sublayers(name: str, discipline: Discipline) -> None:
    """In the order in which they are asked for. undecided: the model says something else of its heads than its matrices do."""
    wired = TRANSFORMER.build(5, discipline=discipline)
    engine, *undecided = name.split(", ")
    model = wired.model
    if undecided:
        assert model.said is not None
        model = replace(model, said=replace(model.said, heads=model.said.heads[::-1]))
    tokens = [*PAPER.prompt(GRAPH), *expected_answer(GRAPH, PAPER)]
    expected = reference_trace(EngineCase(wired.model, wired.arithmetic, tokens))
    found = read_text(model, wired.arithmetic, np.array(tokens), [4, 0, 9], engine=engine)
    assert found.engine == ("reference" if undecided else engine)
    assert [[list(column) for column in stream] for stream in found.streams] == [
        expected.registers[i] for i in (4, 0, 9)
    ]
    assert list(found.next_tokens) == expected.next_tokens


def test_a_text_that_cannot_be_read() -> None:
    wired = TRANSFORMER.build(5)
    with pytest.raises(IndexError, match="at least one token"):
        read_text(wired.model, wired.arithmetic, [])
    with pytest.raises(IndexError):
        read_text(wired.model, wired.arithmetic, [len(wired.vocabulary)])


@pytest.mark.parametrize("engine", ["reference", "dense", "native", "incremental", "auto"])
def test_the_first_other_token(engine: str) -> None:
    wired = TRANSFORMER.build(5)
    prompt, answer = PAPER.prompt(GRAPH), expected_answer(GRAPH, PAPER)
    decode = find_engine(engine)
    wrong, decoded = first_mismatch(wired.model, wired.arithmetic, prompt, answer, decode=decode)
    assert (wrong, list(decoded.produced)) == (None, answer)
    for place in range(len(answer)):
        other = [*answer[:place], (answer[place] + 1) % len(wired.vocabulary), *answer[place + 1 :]]
        wrong, decoded = first_mismatch(wired.model, wired.arithmetic, prompt, other, decode=decode)
        assert (wrong, list(decoded.produced)) == (place, answer[: place + 1])
    with pytest.raises(IndexError):
        first_mismatch(wired.model, wired.arithmetic, [], answer, decode=decode)


def test_an_answer_in_floating_point() -> None:
    wired, arithmetic = TRANSFORMER.build(2), Arithmetic(FP32)
    prompt = PAPER.prompt(Graph(2, ((1, 2),)))
    _, decoded = first_mismatch(wired.model, arithmetic, prompt, [0, 0])
    assert decoded.engine == "reference"
