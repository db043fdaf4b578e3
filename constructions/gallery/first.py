"""FIRST: is the first token a 1?

Source: Chiang and Cholak, "Overcoming a theoretical limitation of self-attention" (arXiv 2202.12172).
"""

from constructions.language import choose, number, numbers, program, some

START = 2  # `<s>` stands at position 1


def oracle(tokens: list[str]) -> str:
    return "YES" if tokens[0] == "1" else "NO"


first = program(
    choose(number.at(START) == 1, "YES", "NO"),
    prompt=[some(numbers(0, 1))],
    oracle=oracle,
    examples=["1 0 0", "0 1", "1"],
    source="FIRST, Chiang and Cholak (2022)",
)
