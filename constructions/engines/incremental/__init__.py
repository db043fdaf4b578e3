"""Decoding token by token with an index over the keys of each head; the same bits as `reference`."""

from constructions.engines.incremental.decoder import IncrementalDecoder, compiled_machine, is_compiled
from constructions.engines.incremental.observed import Columns, Observer
from constructions.engines.incremental.program import limbs_needed
from constructions.engines.incremental.sources import is_cached

__all__ = ["Columns", "IncrementalDecoder", "Observer", "compiled_machine", "is_cached", "is_compiled", "limbs_needed"]
