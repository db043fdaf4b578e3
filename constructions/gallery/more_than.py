"""Does a number stand in the sequence more often than a threshold says? Both stand after `?`.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): Counting, of Theorem 4.6.
"""

from constructions.language import choose, many, number, numbers, program, select, word


def oracle(tokens: list[str]) -> str:
    *sequence, _, token, threshold = tokens
    return "YES" if sequence.count(token) > int(threshold) else "NO"


marks = select(word("?")).count()
often = (select(number, number.back(1)) & select(marks, 0)).count()  # in the sequence, where no `?` has been
counting = choose(often > number, "YES", "NO")
more_than = program(
    counting,
    prompt=[many(numbers()), "?", numbers(), numbers(0)],
    oracle=oracle,
    examples=["5 2 5 9 ? 5 1", "? 1 0", "2 12 2 2 10 1 ? 2 2"],
    source="Counting, Wen, Dang, Lyu (2024)",
)
