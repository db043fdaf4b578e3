"""A finite automaton: where is the token 1 after these permutations of five places?

Source: Merrill and Sabharwal, "The expressive power of transformers with chain of thought" (arXiv 2310.07923): with a step for each
letter, a chain of thought recognizes every regular language. `swap` exchanges places 1 and 2, `turn` sends each place to the next
one. Together they make all permutations of five places, so that the task is complete for NC¹ (Barrington, 1989).

Linear RNNs whose matrices depend on the letter need no chain of thought, if these are products of I − v·vᵀ with eigenvalues from
−1 to 1 (Grazzi et al., arXiv 2411.12537). In this language the matrix of a recurrence is constant: it cannot be one permutation at
`swap` and another at `turn`. `divisible` counts by a constant permutation.
"""

from constructions.language import choose, number, numbers, position, program, select, some, word, words


def oracle(tokens: list[str]) -> str:
    places = [1, 2, 3, 4, 5]
    for token in tokens[:-1]:
        a, b, *rest = places
        places = [b, a, *rest] if token == "swap" else [places[4], *places[:4]]
    return str(places.index(1) + 1)


at = position - select(word("?")).first(position) + 2  # of the next letter
swap, turn = word("swap").at(at), word("turn").at(at)
state = number + word("?")  # the last one that was written; 1 at the beginning
swapped = state + (state == 1) - (state == 2)
turned = state + 1 - 5 * (state == 5)
automaton = program(
    choose(swap == 1, swapped, choose(turn == 1, turned, "END")),
    prompt=[some(words("swap", "turn")), "?"],
    thought=[some(numbers(1, 5))],
    stop="END",
    answer=lambda words: words[-1:],
    oracle=oracle,
    examples=["swap turn turn swap", "turn", "turn turn turn turn turn"],
    source="regular languages by a chain of thought, Merrill and Sabharwal (2024)",
)
