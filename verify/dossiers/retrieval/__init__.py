"""The retrieval tasks.

tasks      the dossiers of index, associative recall, c-gram retrieval and counting, with their definitions and texts
searches   what their searches find: patterns beside the definitions
"""

from verify.dossiers.retrieval.tasks import DOSSIERS

__all__ = ["DOSSIERS"]
