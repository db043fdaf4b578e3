"""IsTree: is an undirected graph a tree? Theorems 4.7, 5.3 and 5.7."""

from constructions.istree import hybrid, rag, transformer
from constructions.istree.door import DOOR as DOOR

CONSTRUCTIONS = (transformer.CONSTRUCTION, rag.CONSTRUCTION, hybrid.CONSTRUCTION)
