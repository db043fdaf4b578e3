"""Say the numbers again, one by one, by the two that were said last: copying by n-grams, here n = 2.

Source: Jelassi, Brandfonbrener, Kakade, Malach, "Repeat after me" (arXiv 2402.01032): a Transformer copies every text in which no
n tokens stand twice one after the other. Where some do, a copy may go on after the wrong ones: such prompts are refused.
"""

from itertools import pairwise

from constructions.language import choose, number, numbers, program, select, some, word


def oracle(tokens: list[str]) -> str:
    return " ".join(tokens[:-1])


def wrong(tokens: list[str]) -> str:
    pairs = [*pairwise(["<s>", *tokens[:-1]])]
    return "" if len({*pairs}) == len(pairs) else "two numbers stand twice one after the other"


# `?` stands for the token before the first one, and nothing before that.
copied = select(number.back(1), number) & select(number.back(2), number.back(1) * ~word("?"))
following, ends = copied.first(number), copied.first(word("?"))
copying = program(
    choose(ends == 1, "END", choose(following == 0, "END", following)),
    prompt=[some(numbers()), "?"],
    thought=[some(numbers())],
    stop="END",
    oracle=oracle,
    wrong=wrong,
    examples=["3 1 2 1", "7"],
    source="copying by n-grams, Jelassi et al. (2024)",
)
