"""MAJORITY: are there more ones than zeros?

Source: Chiang and Cholak, "Overcoming a theoretical limitation of self-attention" (arXiv 2202.12172): uniform attention.
"""

from constructions.language import choose, is_number, number, numbers, program, running_sum, some


def oracle(tokens: list[str]) -> str:
    return "YES" if tokens.count("1") > tokens.count("0") else "NO"


majority = program(
    choose(running_sum(2 * number - is_number) > 0, "YES", "NO"),  # 1 for a one, −1 for a zero
    prompt=[some(numbers(0, 1))],
    oracle=oracle,
    examples=["1 0 1", "0", "1 0 0 1"],
    source="MAJORITY, Chiang and Cholak (2022)",
)
