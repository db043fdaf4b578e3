"""IsTree: is a graph, given edge by edge, a tree?

models    the dossiers of the Transformer, the hybrid and the Linear RNN with searches
texts     their inputs as token automata
steps     a step of Algorithm 1, as a program; turns: of Algorithm 2; frames: of the search in frames
results   what the searches of Algorithm 2 find, as terms; searches: their patterns beside these
lemmas    steps, turns and frames end with YES if and only if the graph is a tree, for every n
runs      small exact runs, along which what lemmas use is true; walks_in_frames: runs of the search in frames
"""

from verify.dossiers.istree.models import DOSSIERS

__all__ = ["DOSSIERS"]
