"""Softmax columns without a certificate are said on stderr: how many, of which heads, once a run."""

from __future__ import annotations

import itertools

import pytest

from constructions.engines import decode_by_reference, find_engine
from constructions.istree import lean, transformer
from constructions.istree.__main__ import main
from constructions.istree.graphs import PAPER, Graph, expected_answer
from constructions.show.columns import report_columns

# Squares of positions saturate in `lean` where a graph has many more edges than a tree: they are no squares any more.
EDGES = tuple(itertools.combinations(range(1, 7), 2))
READ = 3 * len(EDGES) + 1  # tokens, all but the answer
COMPLETE = ",".join(f"{u}-{v}" for u, v in EDGES)


@pytest.mark.parametrize("engine", ["indexed", "reference"])
def test_a_run_says_once_what_took_the_slow_way(engine, capsys):
    assert main(["--engine", engine, "--edges", COMPLETE, "--variant", "lean", "--json"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "without a certificate" in line]
    heads = ", ".join(f'{READ} of "@{i}" in block 2' for i in (1, 2, 3))
    assert [line.rpartition(",")[0] for line in said] == (
        [f"softmax columns without a certificate, computed one by one: {heads}"] if engine == "indexed" else []
    )
    main(["--engine", engine, "--edges", "1-2", "--variant", "lean"])
    assert "certificate" not in capsys.readouterr().err


def test_the_result_counts_them_by_block_and_head():
    graph = Graph(6, EDGES)
    wired = lean.build(6)
    prompt, answer = PAPER.prompt(graph), expected_answer(graph, PAPER)
    arguments = (wired.model, wired.arithmetic, prompt, {answer[-1]}, len(answer))
    uncertified = find_engine("indexed")(*arguments, guess=answer).uncertified
    assert {place: uncertified[place] for place in ((2, 0), (2, 1), (2, 2))} == dict.fromkeys(
        ((2, 0), (2, 1), (2, 2)), READ
    )
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
