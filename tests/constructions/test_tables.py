"""The tables of models, and of pages: each stands under its own name, and the variants on offer are theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from constructions.istree.models import MODELS as TREES
from constructions.istree.models import VARIANTS as OF_TREES
from constructions.models.model import Model
from constructions.show.markdown import table
from constructions.turing.models import MODELS as MACHINES
from constructions.turing.models import VARIANTS as OF_MACHINES


def test_models_have_the_names_that_they_are_kept_by() -> None:
    assert [(model.construction.model, model.layout.name) for model in TREES.values()] == [*TREES]
    assert [model.construction.model for model in MACHINES.values()] == [*MACHINES]


@pytest.mark.parametrize(("models", "variants"), [(TREES, OF_TREES), (MACHINES, OF_MACHINES)], ids=["istree", "turing"])
def test_the_variants_on_offer_are_those_of_the_models(
    models: Mapping[object, Model[Any, Any]], variants: tuple[str, ...]
) -> None:
    assert tuple(dict.fromkeys(name for model in models.values() for name in model.construction.variants)) == variants


def test_the_variant_lean_describes_itself() -> None:
    for (name, layout), model in TREES.items():
        if name != "transformer":
            with pytest.raises(ValueError, match=f"^istree, {name}, has no variant lean; it has repaired, printed$"):
                model.in_variant("lean")
            continue
        assert (model.in_variant("lean").layout.name, model.in_variant("lean").names) == (layout, model.names)
        assert model.in_variant("lean").construction.variants == ("lean",)
        assert model.in_variant("repaired") is model.in_variant("printed") is model


def test_what_stands_in_a_cell_is_no_markup() -> None:
    assert table(("n", "says"), [(1, "a|b\nc")]) == ["| n | says |", "|---|---|", "| 1 | a\\|b c |"]
