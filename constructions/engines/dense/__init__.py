"""Batches in torch, all pairs of positions, on CPU or CUDA; the same bits as `reference`."""

from constructions.engines.dense.engine import DenseRun, EngineError, matches, run

__all__ = ["DenseRun", "EngineError", "matches", "run"]
