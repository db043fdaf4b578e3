"""Decoding by what heads look up: a model's code is written for it, and each head is a table operation a token."""

from constructions.engines.incremental.decoder import GaveUp, LookupDecoder, NotCovered

__all__ = ["GaveUp", "LookupDecoder", "NotCovered"]
