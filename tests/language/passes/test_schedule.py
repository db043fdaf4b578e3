"""Each value stands after those that it is made of, and no earlier stage would do; heads and recurrences share no block."""

from __future__ import annotations

import itertools

from constructions.language.passes.operations import Attend, Computation, Cycle, PlacedComputation, Same, Shift
from constructions.language.passes.registers import embedded_forms
from constructions.language.program import Pin
from constructions.language.terms import Monomial, Term
from tests.language.passes.passed import Passed
from tests.language.test_compiler import FOLLOWED, pinned


def stages(one: Passed) -> dict[Monomial, int]:
    """Stage by value, walked in the order of the schedule; fails for a value that stands before a part of it."""
    done: dict[Monomial, int] = dict.fromkeys(embedded_forms(one.facts), 0)

    def after(terms: tuple[Term, ...]) -> int:
        return max((done[value] for term in terms for value, _ in term.items if value), default=0)

    for value, step in one.schedule.values.items():
        if isinstance(step, Same):
            done[value] = after(step.terms)
        else:
            in_heads = isinstance(step.operation, Attend | Cycle | Shift)
            done[value] = 2 * step.block - in_heads
            assert after(step.operation.operands) < done[value], step
            if isinstance(step.operation, Cycle):
                done |= {(atom,): done[value] for atom in step.operation.before}
    return done


def least_block(one: Passed, operation: Computation, done: dict[Monomial, int]) -> int:
    """The first block that has nothing else than this kind beside it, after all operands."""
    ready = max((done[value] for term in operation.operands for value, _ in term.items if value), default=0)
    if not isinstance(operation, Attend | Cycle | Shift):
        return next(b for b in itertools.count(1) if 2 * b > ready)
    other = (Cycle, Shift) if isinstance(operation, Attend) else (Attend,)
    return next(
        b
        for b in itertools.count(1)
        if 2 * b - 1 > ready and not any(isinstance(step.operation, other) for step in one.schedule.blocks.get(b, ()))
    )


def check(one: Passed) -> None:
    done = stages(one)
    for steps in one.schedule.blocks.values():
        kinds = {type(step.operation) for step in steps}
        assert not (Attend in kinds and kinds & {Cycle, Shift})
        for step in steps:
            least = least_block(one, step.operation, done)
            assert step.block == least, step
    assert one.schedule.depth >= max(
        (step.block for step in one.schedule.values.values() if isinstance(step, PlacedComputation)), default=1
    )


def test_a_pin_moves_a_head_and_what_is_made_of_it() -> None:
    early, late = Passed(pinned()), Passed(pinned(Pin(FOLLOWED, 5)))
    for one, block in ((early, 3), (late, 5)):
        heads = [
            number
            for number, steps in one.schedule.blocks.items()
            if any(isinstance(s.operation, Attend) for s in steps)
        ]
        assert (heads, one.schedule.depth) == ([2, block], block)
