"""The models that run Turing machines, by the names of `--model`."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.turing.base import TuringModel
from constructions.turing.cot import Cot
from constructions.turing.hybrid import TuringHybrid
from constructions.turing.rag import TuringRag

MODELS: Mapping[str, TuringModel] = {"cot": Cot(), "rag": TuringRag(), "hybrid": TuringHybrid()}
VARIANTS = ("repaired", "printed")
"""Those of all models; a model that lacks one says so."""
