"""The static checker: from the matrices, for every text of an automaton, that p-bit rounding is sound."""
