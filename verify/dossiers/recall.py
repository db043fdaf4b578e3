"""The dossiers of associative recall."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.gallery.associative_recall import associative_recall
from constructions.language.terms import Answer
from constructions.models.door import find_door
from verify.dossiers.retrieval.tasks import Retrieval


@dataclass(frozen=True)
class Recall(Retrieval):
    """The number after the first place of a key."""

    def define(self) -> Answer:
        return associative_recall.output(self.least)


DOSSIERS = tuple(Recall("recall", model) for model in find_door("recall").models)
