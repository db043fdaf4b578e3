"""The models that decide IsTree, by the names of `--model` and `--tokens`, and the way to them for callers."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.istree.base import IsTreeModel, IsTreeOptions
from constructions.istree.graphs import LAYOUTS, PAPER
from constructions.istree.hybrid import HYBRID
from constructions.istree.rag import RAG
from constructions.istree.transformer import TRANSFORMER, Transformer
from constructions.models.door import Door

WIRINGS: Mapping[str, IsTreeModel] = {"transformer": TRANSFORMER, "rag": RAG, "hybrid": HYBRID}
MODELS: Mapping[tuple[str, str], IsTreeModel] = {
    **{("transformer", layout.name): Transformer(layout) for layout in LAYOUTS.values()},
    **{(name, PAPER.name): model for name, model in WIRINGS.items()},
}
DOOR = Door("istree", WIRINGS, IsTreeOptions())
