"""Engines: three ways to run the same weights, bit for bit alike. `reference` is the definition."""
