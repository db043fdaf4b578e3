"""Sort the numbers: a counting sort as a chain of thought.

Source: Weiss, Goldberg, Yahav, "Thinking like Transformers" (arXiv 2106.06981): sort, of different numbers, by how many are less.
Here the numbers 1, 2, … are said in turn, and after each a `+` for each time that it stands in the text.
"""

from typing import Any

from constructions.language import choose, either, is_number, number, numbers, position, program, select, some, word
from constructions.language.values import Output


def oracle(tokens: list[str]) -> str:
    return " ".join(sorted(tokens[:-1], key=int))


def answer(words: list[str]) -> list[str]:
    """Returns each number as often as `+` stands after it."""
    said, value = [], ""
    for text in words:
        value = value if text == "+" else text
        said += [value] if text == "+" else []
    return said


mark = select(word("?")).first(position)
asked = select(word("?")).count() > 0
value, at = select(is_number).last(number), select(is_number).last(position)
often = (select(number, value) & select(asked, 0)).count()
all_said = select(word("+")).count() == mark - 2


def says(n: Any) -> Output:
    """Says n: no number is larger."""
    following = choose(value >= n, "END", value + 1)
    return choose(word("?") == 1, 1, choose(all_said, "END", choose(often > position - at, "+", following)))


sorting = program(
    says,
    prompt=[some(numbers()), "?"],
    thought=[some(either(numbers(), "+"), times=2)],
    stop="END",
    answer=answer,
    oracle=oracle,
    examples=["3 1 2 1", "7", "2 2"],
    source="sort, RASP (2021)",
)
