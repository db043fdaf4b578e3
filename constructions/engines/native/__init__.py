"""Decoding by machine code that all models share: it reads a model's sparse rows as data and does what `reference` does."""

from constructions.engines.native.decoder import NativeDecoder, covers, prepare

__all__ = ["NativeDecoder", "covers", "prepare"]
