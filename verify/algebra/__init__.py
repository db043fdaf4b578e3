"""Exact numbers, polynomials and their bounds; n as a symbol, for every n of an interval or above a bound."""
