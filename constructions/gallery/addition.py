"""Add two decimal numbers digit by digit, the least significant first.

Source: Nye et al., "Show your work: scratchpads for intermediate computation with language models" (arXiv 2112.00114), for addition
as a chain of thought. There the carries are written too. Here a carry is read off the last two digits that were added and the one
that was written: the digit is less than their sum if and only if 1 was carried.
"""

from random import Random

from constructions.language import choose, number, numbers, optional, position, program, select, some, word


def oracle(tokens: list[str]) -> str:
    first, _, second = "".join(tokens).rstrip("?").partition("+")
    total = int(first[::-1]) + int(second[::-1])
    return " ".join(reversed(str(total).zfill(max(len(first), len(second)))))


def wrong(tokens: list[str]) -> str:
    return "" if len(tokens) == 2 * tokens.index("+") + 2 else "one number has more digits than the other"


def draw(n: int, rng: Random) -> str:
    size, digits = rng.choice((n, rng.randint(1, n))), rng.choice(("0123456789", "09", "45"))
    return " ".join("+".join("".join(rng.choices(digits, k=size)) for _ in range(2)))


plus, mark = select(word("+")).first(position), select(word("?")).first(position)
i, j = position - mark + 2, position - mark + plus + 1  # the next digit of each number
pair = number.at(i) + number.at(j)
carry = (number < pair.back(1)) & ~word("?")
ended = (i > plus) | ((i == plus) & (carry == 0))
addition = program(
    choose(ended, "END", choose(carry, choose(pair > 8, pair - 9, pair + 1), choose(pair > 9, pair - 10, pair))),
    prompt=[some(numbers(0, 9)), "+", some(numbers(0, 9)), "?"],
    thought=[some(numbers(0, 9)), optional(numbers(0, 9))],
    stop="END",
    oracle=oracle,
    wrong=wrong,
    draw=draw,
    examples=["5 7 + 8 2", "9 9 9 + 1 0 0", "0 + 0"],
    source="addition with carries, Nye et al. (2021)",
)
