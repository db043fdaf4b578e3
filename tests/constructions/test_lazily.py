"""Models that are imported when they are asked for: each made once, under its own name, and the names are there before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from constructions.istree.models import MODELS as TREES
from constructions.istree.models import VARIANTS as OF_TREES
from constructions.models.lazily import Lazily
from constructions.models.solver import Solver
from constructions.turing.models import MODELS as MACHINES
from constructions.turing.models import VARIANTS as OF_MACHINES


def test_values_are_made_once_when_they_are_asked_for() -> None:
    made: list[str] = []

    def maker(name: str) -> list[str]:
        made.append(name)
        return [name]

    values = Lazily({"b": lambda: maker("b"), "a": lambda: maker("a")})
    assert list(values) == ["b", "a"]
    assert len(values) == 2
    assert "a" in values
    assert "c" not in values
    assert made == []
    assert values["a"] == ["a"]
    assert values["a"] is values["a"]
    assert made == ["a"]
    assert list(values.values()) == [["b"], ["a"]]
    assert made == ["a", "b"]
    with pytest.raises(KeyError, match="c"):
        values["c"]


def test_models_have_the_names_that_they_are_kept_by() -> None:
    assert [(model.construction.model, model.layout.name) for model in TREES.values()] == [*TREES]
    assert [model.construction.model for model in MACHINES.values()] == [*MACHINES]


@pytest.mark.parametrize(("models", "variants"), [(TREES, OF_TREES), (MACHINES, OF_MACHINES)], ids=["istree", "turing"])
def test_the_variants_on_offer_are_those_of_the_models(
    models: Mapping[object, Solver[Any, Any]], variants: tuple[str, ...]
) -> None:
    assert tuple(dict.fromkeys(name for model in models.values() for name in model.construction.variants)) == variants


def test_the_variant_lean_describes_itself() -> None:
    for model in TREES.values():
        if model.lean is None:
            assert "lean" not in model.construction.variants
            continue
        assert model.of("lean") is model.of("lean")
        assert model.of("lean").construction is model.construction.of("lean")
        assert model.of("lean").construction.variants == ("lean",)
