"""Which number stands after the first place of the sequence where two numbers stand? The model writes a search for it.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): c-gram retrieval, of Theorem 5.2, here c = 3. What is
after `<EndSearch>` comes from outside of the model: what is found by the regular expression that it has written.
"""

from constructions.language import choose, either, many, number, numbers, program, word
from constructions.language.values import Value

# The first place that is not after `?`, and the number there.
BEGIN, FROM, TO, END = "<StartSearch>", "^[^?]*?", r"(\d+)", "<EndSearch>"


def oracle(tokens: list[str]) -> str:
    *sequence, _, first, second = tokens
    triples = zip(sequence, sequence[1:], sequence[2:], strict=False)
    return next((third for *pair, third in triples if pair == [first, second]), "FAILED")


# Both numbers are written three positions after where they stand.
SEARCH: tuple[Value | str, ...] = (BEGIN, FROM, number.back(3), number.back(3), TO)
said = choose(word(TO), END, "stop")
for step, what in enumerate(SEARCH):
    said = choose(word("?").back(2 + step), what, said)
trigram_search = program(
    said,
    prompt=[many(numbers()), "?", numbers(), numbers()],
    thought=[BEGIN, FROM, numbers(), numbers(), TO, END, either(numbers(), "FAILED")],
    stop="stop",
    answer=lambda words: words[-1:],
    oracle=oracle,
    architecture="rnn",
    examples=["5 2 5 9 ? 2 5", "? 1 1", "1 2 3 2 ? 3 2"],
    source="c-gram retrieval by a search, Wen, Dang, Lyu (2024)",
)
