"""Softmax columns without a certificate are said on stderr: how many, of which heads, once a run."""

from __future__ import annotations

import pytest

from constructions.engines import decode_by_reference, find_engine
from constructions.istree import transformer
from constructions.istree.__main__ import main
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.show.columns import report_columns
from precision.format import Discipline

TREE = "1-2,2-3,2-4,2-5,5-6"  # under `sequential` counts tie with products that need rounding


@pytest.mark.parametrize("engine", ["indexed", "reference"])
def test_a_run_says_once_what_took_the_slow_way(engine, capsys):
    assert main(["--engine", engine, "--edges", TREE, "--discipline", "sequential", "--json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "without a certificate" in line]
    assert said == (
        [
            "softmax columns without a certificate, computed one by one: "
            '14 of "next edge" in block 7, 14 of "edge after the next" in block 8'
        ]
        if engine == "indexed"
        else []
    )
    main(["--engine", engine, "--edges", TREE])
    assert "certificate" not in capsys.readouterr().err


def test_the_result_counts_them_by_block_and_head():
    graph = Graph(6, ((1, 2), (2, 3), (2, 4), (2, 5), (5, 6)))
    wired = transformer.build(6, discipline=Discipline.SEQUENTIAL)
    prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
    arguments = (wired.model, wired.arithmetic, prompt, {answer[-1]}, len(answer))
    assert find_engine("indexed")(*arguments, guess=answer).uncertified == {(7, 0): 14, (8, 0): 14}
    assert decode_by_reference(*arguments).uncertified == {}
    assert find_engine("incremental")(*arguments).uncertified == {}  # the plain way has no certificates


def test_few_heads_are_named(capsys):
    wired = transformer.build(4)
    report_columns(wired, {(2, 0): 1, (4, 1): 2000, (7, 0): 5, (9, 0): 3, (8, 0): 3})
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("in block 8, 4 of other heads\n")
    assert f'one by one: 2,000 of "{wired.blocks[3].heads[1].name}" in block 4, 5 of ' in said
    report_columns(wired, {})
    assert capsys.readouterr().err == ""
