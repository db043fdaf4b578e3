"""Say the numbers backwards, one by one.

Source: Weiss, Goldberg, Yahav, "Thinking like Transformers" (arXiv 2106.06981): reverse.
"""

from constructions.language import choose, number, numbers, position, program, select, some, word


def oracle(tokens: list[str]) -> str:
    return " ".join(reversed(tokens[:-1]))


mark = select(word("?")).first(position)  # where `?` stands: after it, t tokens are said
following = number.at(2 * mark - position - 1)
reverse = program(
    choose(following == 0, "END", following),
    prompt=[some(numbers()), "?"],
    thought=[some(numbers())],
    stop="END",
    oracle=oracle,
    examples=["3 1 2", "7"],
    source="reverse, RASP (2021)",
)
