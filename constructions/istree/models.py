"""The models that decide IsTree, by the names of `--model` and `--tokens`."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.istree.base import IsTreeModel
from constructions.istree.graphs import LAYOUTS, PAPER
from constructions.istree.hybrid import HYBRID
from constructions.istree.rag import RAG
from constructions.istree.transformer import Transformer

MODELS: Mapping[tuple[str, str], IsTreeModel] = {
    **{("transformer", layout.name): Transformer(layout) for layout in LAYOUTS.values()},
    ("rag", PAPER.name): RAG,
    ("hybrid", PAPER.name): HYBRID,
}
VARIANTS = ("repaired", "printed", "lean")
"""Those of all models; a model that lacks one says so."""
