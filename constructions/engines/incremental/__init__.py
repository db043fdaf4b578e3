"""Decoding by what heads look up: a model's code is written for it, and each head is a table operation a token."""

from constructions.engines.incremental.decoder import LookupDecoder

__all__ = ["LookupDecoder"]
