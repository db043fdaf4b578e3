"""Is the number of tokens divisible by six?

Source: Grazzi et al., "Unlocking state-tracking in linear RNNs through negative eigenvalues" (arXiv 2411.12537). By its abstract,
linear RNNs of finite precision cannot solve parity if all eigenvalues of their matrices are positive, need matrices that are not
triangular to count modulo 3, and can learn any regular language with products of I − v·vᵀ, of eigenvalues from −1 to 1.

There the matrix may depend on the letter. Here it is constant (definition 3.4 of arXiv 2402.18510). The eigenvalue −1 keeps the
parity of the length, a cyclic permutation of three numbers the length modulo 3.

In exact arithmetic, one block of K units with a constant matrix cannot tell the parity of 3·2^K bits. For each unit in turn, fix
the half of the free bits that weigh most in its gate, such that it stays open or shut whatever the others are. The logit of YES
less that of NO is then a polynomial of degree 2 in the three bits that are left. The sign of no such polynomial is their parity
(Minsky and Papert, "Perceptrons", 1969). Units that grow with n can, by a table: `table(running_sum(number), {1: 1, 3: 1, …})`. Of
several blocks, of one size for all lengths, we do not know.
"""

from constructions.language import alternating_sum, choose, program, running_sum, some, word, words


def oracle(tokens: list[str]) -> str:
    return "YES" if len(tokens) % 6 == 0 else "NO"


even = alternating_sum(1) == 1  # at position 1, 3, …: `<s>` and an even number of tokens
third = running_sum(word("<s>"), every=3) == 1  # at position 1, 4, …
divisible = program(
    choose(even & third, "YES", "NO"),
    prompt=[some(words("a", "b"))],
    architecture="rnn",
    oracle=oracle,
    examples=["a b b a b b", "a b b", "b b a b", "a"],
    source="counting modulo 2 and 3, Grazzi et al. (2025)",
)
