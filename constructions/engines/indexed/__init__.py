"""Each softmax column's winners by sorting, with a certificate at run time; the same bits as `reference`."""

from constructions.engines.indexed.chunk import Columns, IndexedRun, State
from constructions.engines.indexed.engine import Followed, Indexed, first_mismatch, run

__all__ = ["Columns", "Followed", "Indexed", "IndexedRun", "State", "first_mismatch", "run"]
