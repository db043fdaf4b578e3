"""Softmax columns without a certificate are said on stderr: how many, of which heads, once a run."""

from __future__ import annotations

import pytest

from constructions.engines import Asked, decode_by_reference, find_engine
from constructions.istree import transformer
from constructions.recall import RETRIEVERS, TRANSFORMER
from constructions.retrieval.cli import main
from constructions.show.columns import report_columns

# As printed, scores saturate below the matches' own: nothing tells these columns' winners apart without computing them.
QUESTION = "5 2 7 9 3 ? 7"
READ = 8  # with <s>
PRINTED = ["--printed", "score-range"]


@pytest.mark.parametrize("engine", ["indexed", "reference"])
def test_a_run_says_once_what_took_the_slow_way(engine, capsys):
    main(RETRIEVERS, ["--engine", engine, "--json", *PRINTED, QUESTION])
    said = [line for line in capsys.readouterr().err.splitlines() if "without a certificate" in line]
    head = f"{READ} of block 3, head 1 (first place with the tokens of the query before it)"
    assert said == (
        [f"softmax columns without a certificate, computed one by one: {head}"] if engine == "indexed" else []
    )
    main(RETRIEVERS, ["--engine", engine, QUESTION])
    assert "certificate" not in capsys.readouterr().err


def test_the_result_counts_them_by_block_and_head():
    question = TRANSFORMER.task.parse(QUESTION)
    wired = TRANSFORMER.build(question.least_n, printed=("score-range",))
    arguments = (wired.model, wired.arithmetic, wired.tokens(question.words()), set(), 1)
    assert find_engine("indexed")(Asked(*arguments, guess=wired.tokens(["FAILED"]))).uncertified == {(3, 0): READ}
    assert decode_by_reference(Asked(*arguments)).uncertified == {}
    assert (
        find_engine("incremental")(Asked(*arguments)).uncertified == {}
    )  # of what lookups do not decide the definition does


def test_few_heads_are_named(capsys):
    wired = transformer.TRANSFORMER.build(4)
    report_columns(wired, {(2, 0): 1, (4, 1): 2000, (7, 0): 5, (9, 0): 3, (8, 0): 3})
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("3 of block 8, head 1 (edge after the next), 4 of other heads\n")
    assert "one by one: 2,000 of block 4, head 2 (@3), 5 of block 7, head 1 (next edge), " in said
    report_columns(wired, {})
    assert capsys.readouterr().err == ""
