"""How often each number stands in the text, said number by number behind a chain of thought.

Source: Weiss, Goldberg, Yahav, "Thinking like Transformers" (arXiv 2106.06981): hist. There a head says a count at once. Here the
first thoughts say of each number the how manieth of its kind it is: one more than the thought on the one before. Behind `=` the
thought on the last of its kind is said again.
"""

from typing import Any

from constructions.language import choose, number, numbers, position, program, select, some, word
from constructions.language.values import Output


def oracle(tokens: list[str]) -> str:
    return " ".join(str(tokens[:-1].count(token)) for token in tokens[:-1])


mark, line = select(word("?")).first(position), select(word("=")).first(position)
before = select(number.back(1), number).last(position) - 1  # where the same number stood before, 0 if nowhere
asked = select(word("?")).count() > 0
i, j = position - mark + 2, position - line + 2  # the number that the next thought is on, and the next answer
twin = before.at(i)
ordinal = 1 + number.at(mark + twin - 1 + (twin == 0))  # `?` is 0, and stands for no twin
last = (select(number, number.at(j)) & select(asked, 0)).last(position)
answer = number.at(mark + last - 1)


def says(n: Any) -> Output:
    """n: no number is larger."""
    thought = choose(word("?").at(i) == 1, "=", choose(ordinal > n, "END", ordinal))
    return choose(line == 1, thought, choose((word("?").at(j) == 1) | (answer == 0), "END", answer))


histogram = program(
    says,
    prompt=[some(numbers()), "?"],
    thought=[some(numbers()), "=", some(numbers())],
    stop="END",
    answer=lambda words: words[words.index("=") + 1 :],
    oracle=oracle,
    examples=["3 1 3 3", "7", "1 2 2 1"],
    source="hist, RASP (2021)",
)
