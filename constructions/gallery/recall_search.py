"""Which number stands after the first occurrence of a key in the sequence? The model writes a search for it.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): associative recall, of Theorem 5.2. What is behind
`<EndSearch>` comes from outside of the model: what is found by the regular expression that it has written.
"""

from itertools import pairwise

from constructions.language import choose, either, many, number, numbers, program, word
from constructions.language.values import Value

# The first place that is not after `?`, and the number there.
BEGIN, FROM, TO, END = "<StartSearch>", "^[^?]*?", r"(\d+)", "<EndSearch>"


def oracle(tokens: list[str]) -> str:
    *sequence, _, key = tokens
    return next((second for first, second in pairwise(sequence) if first == key), "FAILED")


# The key is written two positions after where it stands.
SEARCH: tuple[Value | str, ...] = (BEGIN, FROM, number.back(2), TO)
said = choose(word(TO), END, "stop")
for step, what in enumerate(SEARCH):
    said = choose(word("?").back(1 + step), what, said)
recall_search = program(
    said,
    prompt=[many(numbers()), "?", numbers()],
    thought=[BEGIN, FROM, numbers(), TO, END, either(numbers(), "FAILED")],
    stop="stop",
    answer=lambda words: words[-1:],
    oracle=oracle,
    architecture="rnn",
    examples=["5 2 5 9 ? 5", "? 1", "1 2 3 ? 3"],
    source="associative recall by a search, Wen, Dang, Lyu (2024)",
)
