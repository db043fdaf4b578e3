"""The dossiers of associative recall."""

from verify.dossiers.retrieval.tasks import dossiers_of

DOSSIERS = dossiers_of("recall")
