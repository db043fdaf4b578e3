"""The way to IsTree for callers: its options."""

from __future__ import annotations

from constructions.istree.base import IsTreeModel
from constructions.istree.models import MODELS
from constructions.models.door import LARGEST_N, Door
from precision.format import Discipline


def _model_of(
    model: str, discipline: Discipline, *, n: int | None = None, tokens: str = "paper"
) -> tuple[IsTreeModel, int | None]:
    if (model, tokens) not in MODELS:
        layouts = " or ".join(layout for name, layout in MODELS if name == model)
        raise ValueError(f"the model {model} reads the token layout {layouts}, not {tokens}")
    return MODELS[model, tokens], n


DOOR = Door(
    name="istree",
    models=tuple(dict.fromkeys(model for model, _ in MODELS)),
    model_of=_model_of,
    options={"n": LARGEST_N, "tokens": None},
)
