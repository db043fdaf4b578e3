"""The retrieval tasks."""

from verify.dossiers.retrieval.tasks import DOSSIERS

__all__ = ["DOSSIERS"]
