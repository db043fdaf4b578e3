"""What holds of every builder: bits and findings that it refuses, names of variants, elements, constant size, meanings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from constructions import counting, index, ngram, recall
from constructions.istree.graphs import LAYOUTS
from constructions.istree.lean import Lean
from constructions.istree.models import MODELS as TREES
from constructions.istree.transformer import TourTransformer
from constructions.layers import block_arrays
from constructions.models.model import Model
from constructions.turing.door import MODELS as MACHINES
from precision.format import Discipline

SOLVERS: dict[str, Model[Any, Any]] = {
    **{f"istree, {name}": model for name, model in TREES.items()},
    "istree, eos": TourTransformer(LAYOUTS["eos"]),
    **{f"istree, lean, {layout}": Lean(LAYOUTS[layout]) for layout in LAYOUTS},
    **{f"{r.task.name}, {r.model}": r for task in (index, recall, ngram, counting) for r in task.DOOR.wirings.values()},
    **{f"turing, {name}": model for name, model in MACHINES.items()},
}
every = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
disciplines = pytest.mark.parametrize("discipline", Discipline, ids=lambda discipline: discipline.value)


@every
@disciplines
def test_too_few_bits_are_refused_with_the_least(solver: Model[Any, Any], discipline: Discipline) -> None:
    for n in (1, 5, 40):
        with pytest.raises(ValueError, match=r"^p = 5 is too small for ") as refused:
            solver.build(n, 5, discipline=discipline)
        least = int(re.findall(r" the least p it is wired for is (\d+)$", str(refused.value))[0])
        assert solver.build(n, discipline=discipline).arithmetic.format.significand_bits + 1 == least
        assert solver.build(n, least, discipline=discipline).arithmetic.discipline is discipline
        with pytest.raises(ValueError, match=f"^p = {least - 2} .* is {least}$"):
            solver.build(n, least - 2, discipline=discipline)
        assert solver.least_precision(n, discipline) == least


@every
def test_other_refusals(solver: Model[Any, Any]) -> None:
    with pytest.raises(ValueError, match="odd number of bits"):
        solver.build(3, 80)
    with pytest.raises(ValueError, match="finding 'layer-8'"):
        solver.build(3, printed=["layer-8"])
    smallest = 0 if solver in MACHINES.values() else 1
    solver.build(smallest)
    with pytest.raises(ValueError, match=r"at least 1|steps, not -1"):
        solver.build(smallest - 1)


@every
def test_variants_are_named(solver: Model[Any, Any]) -> None:
    findings, plain = [finding.id for finding in solver.construction.findings], solver.construction.variants[0]
    assert (solver.build(3).variant, solver.build(3).printed) == (plain, ())
    if findings:
        all_of_them = solver.build(3, printed=reversed(findings))
        assert (all_of_them.variant, all_of_them.printed) == ("printed", tuple(findings))
    if findings[1:]:
        alone = solver.build(3, printed=findings[:1])
        assert (alone.variant, alone.printed) == ("repaired", tuple(findings[:1]))


@every
@disciplines
def test_every_weight_is_an_element_of_the_format(solver: Model[Any, Any], discipline: Discipline) -> None:
    for n in (1, 7, 40):
        wired = solver.build(n, discipline=discipline)
        quantum, largest = float(wired.arithmetic.format.quantum), float(wired.arithmetic.format.max_value)
        for array in (wired.model.words, *(a for block in wired.model.blocks for a in block_arrays(block))):
            assert np.all(np.floor(array / quantum) == array / quantum)
            assert np.all(np.abs(array) <= largest)


@every
def test_the_size_does_not_depend_on_n(solver: Model[Any, Any]) -> None:
    """But for the vocabulary, which grows by as many words for each n."""
    models = [solver.build(n).model for n in (3, 20, 50, 110)]
    shapes = [[array.shape for block in model.blocks for array in block_arrays(block)] for model in models]
    assert shapes[0] == shapes[1] == shapes[2] == shapes[3]
    _, few, more, many = (len(model.words) for model in models)
    assert many - more == 2 * (more - few)


@every
def test_every_register_has_a_meaning(solver: Model[Any, Any]) -> None:
    about = solver.construction
    for printed in ((), [finding.id for finding in about.findings]):
        assert [name for name in solver.build(4, printed=printed).registers if not about.meaning(name)] == []
