"""How often each number stands in the text, said number by number.

Source: Weiss, Goldberg, Yahav, "Thinking like Transformers" (arXiv 2106.06981): hist. As there, one head says a count at once.
"""

from constructions.language import choose, number, numbers, position, program, select, some, word


def oracle(tokens: list[str]) -> str:
    return " ".join(str(tokens[:-1].count(token)) for token in tokens[:-1])


mark = select(word("?")).first(position)
asked = select(word("?")).count() > 0
i = position - mark + 2  # the number that the next word is about
often = (select(number, number.at(i)) & select(asked, 0)).count()
histogram = program(
    choose(i == mark, "END", often),
    prompt=[some(numbers()), "?"],
    thought=[some(numbers(0))],
    stop="END",
    oracle=oracle,
    examples=["3 1 3 3", "7", "1 2 2 1"],
    source="hist, RASP (2021)",
)
