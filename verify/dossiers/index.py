"""The dossiers of index."""

from verify.dossiers.retrieval.tasks import dossiers_of

DOSSIERS = dossiers_of("index")
