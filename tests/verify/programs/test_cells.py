"""The program of a machine as chain of thought on every number of cells at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.turing import cot
from tests.verify.certificates.test_above import walk_of
from tests.verify.certificates.test_cells import CELLS, SMALL, every, in_walk, number_of
from verify.algebra.domains import Integer
from verify.algebra.symbolic import told_apart
from verify.algebra.walks import Walk, n_of
from verify.automata.token_automaton import Label, State, TokenAutomaton
from verify.certificates.above import ALONE, BITS_OF_HALF
from verify.certificates.building import build
from verify.certificates.document import CERTIFIED, UNKNOWN
from verify.dossiers.dossier import Subject
from verify.dossiers.turing import turning
from verify.programs import reachability
from verify.programs.intervals import ProgramInterval, as_defined, intervals
from verify.trusted.growth import root


def judged(subject: Subject, weights: Subject | None = None) -> str:
    return str(as_defined(subject, *build(weights or subject))["verdict"])


@pytest.mark.parametrize("cells", [8, 9])
def test_what_is_said_is_what_is_defined(cells: int) -> None:
    """Of each number of cells: nothing is split."""
    walk, verdict = in_walk(SMALL, cells, judged)
    assert verdict == CERTIFIED
    assert not walk.forks


@pytest.mark.parametrize("machine", ["1RZ0LA", "1LZ1LA", "1RA1LA"])
def test_another_machine_is_not_the_task(machine: str) -> None:
    assert in_walk(SMALL, 8, lambda one: judged(one, one.with_options(machine=machine)))[1] == UNKNOWN


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_cell_beside_the_one_that_is_due(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    monkeypatch.setattr(turning, "Later", lambda code, steps, of=turning.Later: of(code, steps + wrong))
    assert in_walk(SMALL, 9, judged)[1] == UNKNOWN


def test_a_definition_that_is_wrong_on_one_number_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    own = turning.Later
    monkeypatch.setattr(turning, "Later", lambda code, steps: own(code, steps + (1 if steps == 9 else 0)))
    assert in_walk(SMALL, 10, judged)[1] == UNKNOWN


@pytest.mark.parametrize("halt", [lambda queue: queue.scale, lambda queue: 1])
def test_a_logit_that_is_too_small(monkeypatch: pytest.MonkeyPatch, halt: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(cot.QueueScale, "halt", property(halt))
    monkeypatch.setattr(cot.QueueScale, "least_bits", property(lambda queue: 8 * queue.cells + 1))
    assert in_walk(SMALL, 8, judged)[1] == UNKNOWN


PLACES = st.integers(2, 6).flatmap(
    lambda count: st.lists(
        st.sets(st.integers(0, count - 1), min_size=1, max_size=3), min_size=count - 1, max_size=count - 1
    )
)


@given(PLACES, CELLS, st.sets(st.integers(0, 3)), st.sets(st.integers(-1, 1), min_size=1), st.data())
def test_where_a_token_may_stand_far_back(
    after: list[set[int]], cells: int, near: set[int], far: set[int], data: st.DataObject
) -> None:
    """All states that are found step by step are among those that are found where steps grow."""
    states = [State(Label("start"), 1, 1, (), "s")]
    states += [State(Label(f"{i}"), 2, 10**6, tuple(sorted(before)), f"{i}") for i, before in enumerate(after)]
    texts = TokenAutomaton(tuple(states), frozenset(), (1, 1))
    some = st.frozensets(st.sampled_from(range(len(states))), min_size=1)
    allowed = {step: data.draw(some) for step in near}, {step: data.draw(some) for step in far}
    begin, before = data.draw(some), data.draw(st.sampled_from(sorted(far)))
    ranges = [Integer(1, 1), *[Integer(2, 10**6)] * len(after)]

    def found(m: Any) -> frozenset[int]:
        tokens = {told_apart(step): states.__contains__ for step, states in allowed[0].items()}
        tokens |= {told_apart(m + step): states.__contains__ for step, states in allowed[1].items()}
        return reachability.standing(texts, ranges, begin, tokens, (1, 10**6), m + before)

    n = number_of(cells)
    _, wide = walk_of(n, lambda walk: found(2 * n_of(walk).bit_length() + cells % 2), BITS_OF_HALF)
    assert found(cells) <= wide


def test_steps_that_may_be_few_are_not_followed() -> None:
    """Of 2^(B − 2) steps, which are fewer than are followed where B is 3."""
    bits = n_of(Walk(root(2, 0))).bit_length()
    texts = TokenAutomaton(
        (State(Label("a"), 1, 1, (), "a"), State(Label("b"), 2, 9, (0, 1), "b")), frozenset(), (1, 1)
    )
    with pytest.raises(TypeError):
        reachability.earlier(texts, frozenset([1]), bits)


def test_each_small_number_of_cells_is_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from verify.programs import intervals as module

    seen: list[Any] = []

    def told(subject: Any, *_: Any) -> dict[str, Any]:
        seen.append((subject.dossier.cells, subject.n))
        return {"verdict": CERTIFIED}

    monkeypatch.setattr(module, "explained", told)
    actual = list(intervals(every()))
    assert all(isinstance(one, ProgramInterval) and one.of == "cells" for one in actual)
    assert seen == [(m, 16**m) for m in range(1, ALONE + 1)]
