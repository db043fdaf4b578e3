"""What certificates of recurrent models assume of runs, each invariant a claim of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from constructions.engines import indexed
from constructions.engines.indexed.column import Column
from constructions.turing import cot
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from verify.certificates.configurations import queue
from verify.claims.turing import CHAMPIONS, champion
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.runs.turing_runs import COT, SpaceCase, cases

QUEUE = "4.1/invariant-queue"
LONGEST = 64  # steps of a run


def columns_of(wired: Wired, tokens: Sequence[int], block: int) -> dict[str, Column]:
    """Every register behind a block, from 1, at each token."""
    seen: list[Sequence[Column]] = []
    model = replace(wired.model, blocks=wired.model.blocks[:block])
    indexed.run(model, wired.arithmetic, tokens, observe=lambda block, part, registers: seen.append(registers))
    return dict(zip(wired.registers, seen[-1], strict=True))


def _not_in_front(case: SpaceCase) -> Counterexample | None:
    """Where another digit leaves than the one that entered as many tokens before as there are cells."""
    model = COT.solver_of(case)
    invariant = queue(case.cells)
    wired = model.build(case.steps)
    request = model.request(wired, case.steps)
    read = [*request.prompt, *map(int, request.guess[:-1])]  # behind the last word, HALT perhaps, nothing is asked
    columns = columns_of(wired, read, block=2)
    early, late = columns[invariant.early], columns[invariant.late]
    for k in range(len(late)):
        entered = early.at(k - invariant.by) if k >= invariant.by else 0
        if late.at(k) != entered:
            return Counterexample(position=k + 1, entered=entered, leaves=late.at(k))
    return None


@claim(
    QUEUE,
    task="turing",
    source=cot.SOURCE,
    statement="Behind the prompt, a token's digit is the one that entered the queue as many tokens before as there are cells; "
    "in the prompt none leaves, nor has one entered.",
)
def test_queue(check: Check) -> None:
    judged: Callable[[Any], Counterexample | None] = _not_in_front
    check.chosen(
        [champion(COT, find(name)) for name in CHAMPIONS if find(name).steps <= min(check.n_max, LONGEST)],
        judged,
        range=f"the champions that run up to {LONGEST} steps, and a step behind their end (indexed)",
        size=lambda case: case.steps,
        precision=COT.precision,
    )
    check.sampled(
        cases(COT, check.sizes(cap=LONGEST)),
        judged,
        range="random machines of up to 5 states and 4 symbols, words of up to 6, up to 8 cells besides (indexed)",
        size=lambda case: case.steps,
        precision=COT.precision,
        max_examples=15,
    )
