"""What followed the last earlier occurrence of the last number, or `none`: an induction head.

Source: Sanford, Hsu, Telgarsky, "One-layer transformers fail to solve the induction heads task" (arXiv 2408.14332), for the task.
"""

from itertools import pairwise

from constructions.language import choose, number, numbers, program, select, some


def oracle(tokens: list[str]) -> str:
    earlier = [after for before, after in pairwise(tokens) if before == tokens[-1]]
    return earlier[-1] if earlier else "none"


followed = select(number.back(1), number).last(number)
induction = program(
    choose(followed == 0, "none", followed),
    prompt=[some(numbers())],
    oracle=oracle,
    examples=["3 1 4 1 5 3", "1", "2 7 2 7 2"],
    source="induction heads, Sanford, Hsu, Telgarsky (2024)",
)
