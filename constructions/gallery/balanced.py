"""Are there as many a as b?

A Transformer of two blocks: one head reads the mean of [a] − [b] over all positions, which is 0 or at least 1/L away from it.
"""

from constructions.language import choose, program, select, some, word, words


def oracle(tokens: list[str]) -> str:
    return "YES" if tokens.count("a") == tokens.count("b") else "NO"


balanced = program(
    choose(select(word("a")).count() == select(word("b")).count(), "YES", "NO"),
    prompt=[some(words("a", "b"))],
    oracle=oracle,
    examples=["a b b a", "a", "b a b"],
)
