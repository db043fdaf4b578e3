"""What incremental decoding keeps of the tokens that have gone in."""

from __future__ import annotations

import tracemalloc

import numpy as np

from constructions.turing import hybrid
from constructions.turing.library import find


def test_growing_takes_hardly_more_memory_than_what_is_kept() -> None:
    """Nothing is there twice while it grows, and the store of all registers has no idle room to speak of."""
    from constructions.engines.incremental.machine import CompiledMachine
    from constructions.engines.incremental.observed import Columns

    model = hybrid.Hybrid(find("bb5").machine, cells=200)
    wired = model.build(1500)
    tokens = wired.tokens([*model.prompt(1500), *model.expected(1500)])
    CompiledMachine(wired.model, wired.arithmetic, Columns(), None).feed(tokens[:100])  # loads the compiled code
    machine = CompiledMachine(wired.model, wired.arithmetic, Columns(), None)
    tracemalloc.start()
    try:
        for at in range(0, len(tokens), 100):
            machine.feed(tokens[at : at + 100])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    kept = sum(array.nbytes for array in machine.index if isinstance(array, np.ndarray))
    assert machine.length == len(tokens) > 7000
    assert peak < 1.1 * kept
    row = sum(len(plan.used) + plan.value_width for plan in machine.plans) * machine.limbs * 8
    assert machine.length * row <= machine.index.store.nbytes < 1.1 * machine.length * row
