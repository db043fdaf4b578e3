"""What decides: checkers of proofs that are data. They use Python's standard library alone, and each is short enough to be read."""
