"""The models that decide IsTree, by the names of `--model`, and the way to them for callers."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.istree.base import IsTreeModel, IsTreeOptions
from constructions.istree.hybrid import HYBRID
from constructions.istree.rag import RAG
from constructions.istree.transformer import TRANSFORMER
from constructions.models.door import Door

MODELS: Mapping[str, IsTreeModel] = {"transformer": TRANSFORMER, "rag": RAG, "hybrid": HYBRID}
DOOR = Door("istree", MODELS, IsTreeOptions())
