"""Ranges of a state by induction, and small cones: values case by case, gates from a table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits.builder import Builder
from circuits.cones import MOST, Cones, Table, synthesize
from circuits.ranges import PATIENCE, Range, Reads, invariant, range_of


def found(step: dict[str, Range], *names: str) -> dict[str, Range]:
    """The invariant of h ← h + step, clipped at ±100, and whatever else follows it."""

    def following(reads: Reads) -> list[Range]:
        def after(name: str) -> Range:
            held, more = reads.states[name], step[name]
            return Range(max(-100, held.low + more.low), min(100, held.high + more.high), min(held.step, more.step))

        return [after(name) for name in names]

    return dict(invariant(names, Reads(), 100, following).states)


def test_what_does_not_grow_settles() -> None:
    assert found({"h": Range(0, 0)}, "h") == {"h": Range(0, 0)}


def test_what_grows_is_let_go_on_that_side_alone() -> None:
    assert found({"h": Range(0, 3)}, "h") == {"h": Range(0, 100)}
    assert found({"h": Range(-1, 0)}, "h") == {"h": Range(-100, 0)}
    assert PATIENCE * 3 < 100


@given(st.lists(st.integers(-500, 500), min_size=1))
def test_ranges_of_values(values: list[int]) -> None:
    within = range_of(values)
    assert all(value in within for value in values)
    assert (0 in within, within.low in (0, *values), within.high in (0, *values)) == (True, True, True)
    if any(values):
        assert any(value >> within.step & 1 for value in values)


def test_a_range_is_around_0() -> None:
    with pytest.raises(ValueError, match="1 … 3 is no range around 0"):
        Range(1, 3)


@given(st.integers(1, 6), st.data())
def test_tables_become_gates(leaves: int, data: st.DataObject) -> None:
    """Any values on any cases that can come, in two's complement."""
    b = Builder()
    bits = tuple(b.input(f"x{i}") for i in range(leaves))
    cases = sorted(data.draw(st.sets(st.integers(0, (1 << leaves) - 1), min_size=1)))
    values = data.draw(st.lists(st.integers(-8, 7), min_size=len(cases), max_size=len(cases)))
    made = synthesize(b, Table(bits, np.array(cases), np.array(values)), 4)
    circuit = b.circuit({f"o{i}": bit for i, bit in enumerate(made)})
    for case, value in zip(cases, values, strict=True):
        output, _ = circuit.run([case >> i & 1 for i in range(leaves)])
        assert sum(bit << i for i, bit in enumerate(output)) == value % 16


def test_cones_see_the_cases_that_can_come() -> None:
    b = Builder()
    cones, x, y, h = Cones(b), b.input("x"), b.input("y"), [b.state(f"h{i}") for i in range(3)]
    cones.read_word(x, [True, False, False])
    cones.read_word(~y, [True, False, True])
    cones.read_state(h, Range(0, 5))
    words = cones.table({x: 1, y: 2}, 0)
    assert words is not None
    assert sorted(words.values.tolist()) == [0, 1, 2]  # never both
    state = cones.table({bit: 1 << i for i, bit in enumerate(h)}, 10)
    assert state is not None
    assert sorted(state.values.tolist()) == [10, 11, 12, 13, 14, 15]
    product = cones.table({x & h[2]: 4, x ^ y: 1}, 0)
    assert product is not None
    assert sorted(set(product.values.tolist())) == [0, 1, 5]


def test_wide_cones_have_no_table() -> None:
    b = Builder()
    cones, bits = Cones(b), [b.input(f"x{i}") for i in range(MOST + 1)]
    assert cones.table(dict.fromkeys(bits, 1), 0) is None
    assert cones.table(dict.fromkeys(bits[1:], 1), 0) is not None
    assert cones.table({bits[0]: 1 << 62}, 0) is None
