"""The dossiers of Counting."""

from verify.dossiers.retrieval.tasks import dossiers_of

DOSSIERS = dossiers_of("counting")
