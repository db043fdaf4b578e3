"""The dossiers of c-gram retrieval."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.gallery.trigram import behind
from constructions.language.terms import Answer
from constructions.models.door import find_door
from verify.dossiers.retrieval.tasks import Retrieval


@dataclass(frozen=True)
class Ngram(Retrieval):
    """The number after the first place of the query's tokens."""

    def define(self) -> Answer:
        return behind(self.tokens_asked).answer


DOSSIERS = tuple(Ngram("ngram", model) for model in find_door("ngram").models)
