"""Each softmax column's winners by sorting, with a certificate at run time; the same bits as `reference`."""

from constructions.engines.indexed.engine import Columns, Followed, Indexed, IndexedRun, State, first_mismatch, run

__all__ = ["Columns", "Followed", "Indexed", "IndexedRun", "State", "first_mismatch", "run"]
