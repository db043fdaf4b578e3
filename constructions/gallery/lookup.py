"""Which number stands at a position of the sequence? The position is asked for after `?`.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): Index, of Theorem 4.6.
"""

from constructions.language import choose, number, numbers, program, some


def oracle(tokens: list[str]) -> str:
    return tokens[int(tokens[-1]) - 1]


def wrong(tokens: list[str]) -> str:
    return "" if int(tokens[-1]) <= len(tokens) - 2 else "the sequence has no such position"


found = number.at(number + 1)  # the sequence begins at position 2
lookup = program(
    choose(found == 0, "FAILED", found),  # `?` is 0, which is no token
    prompt=[some(numbers()), "?", numbers()],
    oracle=oracle,
    wrong=wrong,
    examples=["5 2 5 9 ? 2", "3 ? 1"],
    source="Index, Wen, Dang, Lyu (2024)",
)
