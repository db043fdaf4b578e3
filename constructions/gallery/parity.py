"""PARITY, with a chain of thought: the parity of the first bit, of the first two, and so on; the answer is the last one.

Source: Chiang and Cholak, "Overcoming a theoretical limitation of self-attention" (arXiv 2202.12172), for the task. They wire it
without a chain of thought, by the cosine of a mean; this chain is ours.
"""

from constructions.language import choose, number, numbers, position, program, select, some, word


def oracle(tokens: list[str]) -> str:
    return str(tokens.count("1") % 2)


mark = select(word("?")).first(position)
bit = number.at(position - mark + 2)  # the next one
ended = word("?").at(position - mark + 2)
parity = program(
    choose(ended == 1, "END", number + bit - 2 * number * bit),  # the sum without carry; `?` counts as 0
    prompt=[some(numbers(0, 1)), "?"],
    thought=[some(numbers(0, 1))],
    stop="END",
    answer=lambda words: words[-1:],
    oracle=oracle,
    examples=["1 0 1 1", "0"],
    source="PARITY",
)
