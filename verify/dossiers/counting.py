"""The dossiers of Counting."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.gallery.more_than import more_than
from constructions.language.terms import Answer
from constructions.models.door import find_door
from verify.dossiers.retrieval.tasks import Retrieval


@dataclass(frozen=True)
class Counting(Retrieval):
    """Whether a number stands there more often than a threshold says."""

    def define(self) -> Answer:
        return more_than.output(self.least)


DOSSIERS = tuple(Counting("counting", model) for model in find_door("counting").models)
