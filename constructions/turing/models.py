"""The models that run Turing machines, by the names of `--model`."""

from __future__ import annotations

from collections.abc import Mapping

from constructions.turing.base import TuringModel
from constructions.turing.cot import Cot
from constructions.turing.hybrid import Hybrid
from constructions.turing.rag import Rag

MODELS: Mapping[str, TuringModel] = {"cot": Cot(), "rag": Rag(), "hybrid": Hybrid()}
