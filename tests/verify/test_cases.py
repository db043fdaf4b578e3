"""A stored case comes back equal, or is refused."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import pytest

from verify.framework import cases
from verify.framework.claim import Counterexample


class Kind(enum.Enum):
    TREE = "tree"


class Edge(NamedTuple):
    low: int
    high: int


@dataclass(frozen=True)
class Graph:
    n: int
    edges: tuple[tuple[int, int], ...]
    kind: Kind = Kind.TREE
    weights: tuple[Fraction, ...] = ()
    size: int = field(init=False, default=0)


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (None, None),
        (True, bool),
        (-3, int),
        (2**80, int),
        ("1-2", str),
        (Fraction(1, 3), Fraction),
        (Fraction(4), Fraction),
        (0.1, float),
        (Kind.TREE, Kind),
        ((1, "a"), tuple[int, str]),
        ((Edge(1, 2), Edge(2, 3)), tuple[Edge, ...]),
        ([Fraction(1, 2)], list[Fraction]),
        ({"x": (1, 2)}, dict[str, tuple[int, int]]),
        (None, int | None),
        (3, int | None),
        ("paper", Literal["paper", "eos"]),
        (Graph(3, ((1, 2), (3, 2)), weights=(Fraction(1, 2),)), Graph),
    ],
)
def test_a_case_comes_back(case: Any, kind: Any) -> None:
    assert cases.from_json(json.loads(json.dumps(cases.to_json(case))), kind) == case


@pytest.mark.parametrize(
    ("data", "kind"),
    [("x", int), (True, int), (1, str), ("later", Literal["paper"]), (3, list[int]), ({}, tuple[int, ...])],
)
def test_other_data_does_not_fit(data: Any, kind: Any) -> None:
    with pytest.raises(ValueError, match="fit"):
        cases.from_json(data, kind)


def of_graph(case: Graph) -> Counterexample | None:
    return None


def of_anything(case):
    return None


def test_the_annotation_says_what_a_case_is() -> None:
    graph = Graph(2, ((1, 2),))
    assert cases.store(graph, of_graph) == {"n": 2, "edges": [[1, 2]], "kind": "tree", "weights": []}
    assert cases.store(7, of_anything) == 7


@pytest.mark.parametrize("case", [Graph(2, ()), (1, 2), Fraction(1, 2), 2**80])
def test_without_one_only_plain_json_is_kept(case: Any) -> None:
    with pytest.raises(TypeError, match="annotate"):
        cases.store(case, of_anything)


@pytest.mark.parametrize("case", [{1, 2}, {1: 2}, object()])
def test_what_json_cannot_hold_is_refused(case: Any) -> None:
    with pytest.raises(TypeError):
        cases.to_json(case)
