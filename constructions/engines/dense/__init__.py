"""Batches in torch, all pairs of positions, on CPU or CUDA; the same bits as `reference`."""

from constructions.engines.dense.engine import DenseRun, EngineError, find_device, matches, run

__all__ = ["DenseRun", "EngineError", "find_device", "matches", "run"]
