"""Long runs of the Linear RNN without search: how they are read."""

from __future__ import annotations

import numpy as np

from constructions.engines import indexed
from tests.turing.test_cot import history_of, model


def test_a_long_run_is_read_in_pieces() -> None:
    """There is no head to index the past for, so the time for a token does not grow with the run."""
    code, cells = "1RB0RB_0LA1LA", 2
    wired = model(code, cells)
    prompt, behind = (wired.tokens(words) for words in history_of(code, "", 10_000, cells))
    assert indexed.Indexed(wired.model, wired.arithmetic).chunk(np.array(behind)) < len(behind)
    lengths: list[int] = []
    wrong, run = indexed.first_mismatch(wired.model, wired.arithmetic, prompt, behind, tick=lengths.append)
    assert (wrong, run.columns.dense_logits) == (None, 0)
    assert len(lengths) > 1
    behind[-2] = wired.token["_"]
    wrong, run = indexed.first_mismatch(wired.model, wired.arithmetic, prompt, behind)
    assert (wrong, run.columns.dense_logits) == (len(behind) - 2, 0)
