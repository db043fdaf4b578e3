"""A Post machine: is the number of a's a power of two?

Source: Li and Wang, "Constant bit-size transformers are Turing complete" (arXiv 2506.12027): the text is the queue. Each step reads
the token that stands a window after, which is the queue's head, and writes one at its end. This machine crosses out every other a,
pass by pass; a pass ends at `?`. It writes 4 for an a that stays, and for all other cells the state: how many a's the pass has
seen, 0 none, 1 one, 2 an even number, 3 an odd number from 3 on. After a 4 the state is 2.
"""

from constructions.language import choose, either, number, numbers, position, program, select, some, table, word, words

MOST = 127  # a's: more need more passes than the texts have room for


def oracle(tokens: list[str]) -> str:
    return "YES" if tokens.count("a").bit_count() == 1 else "NO"


def wrong(tokens: list[str]) -> str:
    return "" if tokens.count("a") <= MOST else f"it has more than {MOST} a's"


head = position + 2 - select(word("?")).first(position)  # of the queue, whose first cell stands at position 2
a, ended = (word("a") + (number == 4)).at(head), word("?").at(head)
step = choose(a == 1, table(number, {0: 1, 1: 4, 2: 3, 3: 4, 4: 3}), number - 2 * (number == 4))
stops = choose(number == 1, "YES", choose((number == 2) | (number == 4), "?", "NO"))
post = program(
    choose(word("YES") | word("NO"), "END", choose(ended == 1, stops, step)),
    prompt=[some(words("a", "-")), "?"],
    thought=[some(either(numbers(0, 4), "?", "YES", "NO"), times=8)],
    stop="END",
    answer=lambda words: words[-1:],
    oracle=oracle,
    wrong=wrong,
    examples=["a - a a a", "a a a", "-", "a"],
    source="a Post machine in a window, Li and Wang (2025)",
)
