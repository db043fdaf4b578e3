"""The models that decide IsTree, by the names of `--model` and `--tokens`, and the way to them for callers."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.istree.base import IsTreeModel
from constructions.istree.graphs import LAYOUTS, PAPER
from constructions.istree.hybrid import HYBRID
from constructions.istree.rag import RAG
from constructions.istree.transformer import TourTransformer
from constructions.models.door import LARGEST_N, Door
from precision.format import Discipline

MODELS: Mapping[tuple[str, str], IsTreeModel] = {
    **{("transformer", layout.name): TourTransformer(layout) for layout in LAYOUTS.values()},
    ("rag", PAPER.name): RAG,
    ("hybrid", PAPER.name): HYBRID,
}
VARIANTS = ("repaired", "printed", "lean")
"""Those of all models; a model that lacks one says so."""
CONSTRUCTIONS = tuple(model for (_, layout), model in MODELS.items() if layout == PAPER.name)


def _model_of(
    model: str, discipline: Discipline, *, n: int | None = None, tokens: str = PAPER.name
) -> tuple[IsTreeModel, int | None]:
    if (model, tokens) not in MODELS:
        layouts = " or ".join(layout for name, layout in MODELS if name == model)
        raise ValueError(f"the model {model} reads the token layout {layouts}, not {tokens}")
    return MODELS[model, tokens], n


DOOR = Door("istree", tuple(dict.fromkeys(model for model, _ in MODELS)), _model_of, {"n": LARGEST_N, "tokens": None})
