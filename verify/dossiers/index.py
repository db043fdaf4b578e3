"""The dossiers of index."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.language.terms import Answer, At, NumberOf, Read, SayNumber, as_term
from constructions.models.door import find_door
from verify.dossiers.retrieval.tasks import Retrieval


@dataclass(frozen=True)
class Index(Retrieval):
    """The number at a position."""

    def define(self) -> Answer:
        """The sequence begins at position 2. No position is asked for that it does not have."""
        return SayNumber(as_term(Read(as_term(NumberOf()), At(as_term(NumberOf()) + 1))))


DOSSIERS = tuple(Index("index", model) for model in find_door("index").models)
