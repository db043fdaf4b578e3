"""The dossiers of c-gram retrieval."""

from verify.dossiers.retrieval.tasks import dossiers_of

DOSSIERS = dossiers_of("ngram")
