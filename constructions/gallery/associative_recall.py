"""Which number stands after the first occurrence of a key in the sequence? The key stands after `?`.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): associative recall, of Theorem 4.6.
"""

from itertools import pairwise

from constructions.language import choose, many, number, numbers, program, select


def oracle(tokens: list[str]) -> str:
    *sequence, _, key = tokens
    return next((after for before, after in pairwise(sequence) if before == key), "FAILED")


following = select(number.back(1), number).first(number)  # `?` has the number 0, and so has position 1
associative_recall = program(
    choose(following == 0, "FAILED", following),
    prompt=[many(numbers()), "?", numbers()],
    oracle=oracle,
    examples=["5 2 5 9 ? 5", "? 1", "3 1 ? 1"],
    source="associative recall, Wen, Dang, Lyu (2024)",
)
