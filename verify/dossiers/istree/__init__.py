"""IsTree: is a graph, given edge by edge, a tree?"""

from verify.dossiers.istree.models import DOSSIERS

__all__ = ["DOSSIERS"]
