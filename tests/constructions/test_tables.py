"""The tables of models, and of pages: each stands under its own name."""

from __future__ import annotations

import pytest

from constructions.engines import no_response
from constructions.istree.graphs import EOS
from constructions.istree.models import MODELS as TREES
from constructions.istree.transformer import TourTransformer
from constructions.models.registry import find_constructions
from constructions.show.markdown import table
from constructions.turing.door import MODELS as MACHINES


def test_models_have_the_names_that_they_are_kept_by() -> None:
    assert [model.construction.model for model in TREES.values()] == [*TREES]
    assert [model.construction.model for model in MACHINES.values()] == [*MACHINES]


def test_the_variant_lean_describes_itself() -> None:
    for name, model in [*TREES.items(), ("transformer", TourTransformer(EOS))]:
        if name != "transformer":
            with pytest.raises(ValueError, match=f"^istree, {name}, has no variant lean; it has repaired, printed$"):
                model.in_variant("lean")
            continue
        assert (model.in_variant("lean").layout, model.in_variant("lean").names) == (model.layout, model.names)
        assert model.in_variant("lean").construction.variants == ("lean",)
        assert model.in_variant("repaired") is model.in_variant("printed") is model


def test_a_model_that_searches_says_so() -> None:
    seen = set()
    for model in find_constructions():
        wired = model.build(4)
        asked = (
            model.request(wired, model.read_input(None, 4)) if model.size == "steps" else next(model.examples(wired))
        )
        assert model.searches == (asked.respond is not no_response), model.names
        seen.add(model.searches)
    assert seen == {True, False}


def test_what_stands_in_a_cell_is_no_markup() -> None:
    assert table(("n", "says"), [(1, "a|b\nc")]) == ["| n | says |", "|---|---|", "| 1 | a\\|b c |"]
