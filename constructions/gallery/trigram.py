"""Which number stands after the first place of the sequence where two numbers stand? They stand after `?` again.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): c-gram retrieval, of Theorem 4.6, here c = 3.
"""

from constructions.language import choose, many, number, numbers, program, select
from constructions.language.values import Output


def oracle(tokens: list[str]) -> str:
    *sequence, _, first, second = tokens
    triples = zip(sequence, sequence[1:], sequence[2:], strict=False)
    return next((third for *pair, third in triples if pair == [first, second]), "FAILED")


def next_number(length: int) -> Output:
    """Returns what stands after the first place of the last numbers, so many of them; `?` is 0, so none in front of it match."""
    place = select(number.back(1), number)
    for i in range(1, length):
        place = place & select(number.back(i + 1), number.back(i))
    found = place.first(number)
    return choose(found == 0, "FAILED", found)


trigram = program(
    next_number(2),
    prompt=[many(numbers()), "?", numbers(), numbers()],
    oracle=oracle,
    examples=["5 2 5 9 ? 2 5", "? 1 1", "1 2 3 2 ? 3 2"],
    source="c-gram retrieval, Wen, Dang, Lyu (2024)",
)
