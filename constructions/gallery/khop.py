"""2-hop induction: follow the last earlier occurrence twice, and say what stands there, or `none`.

Source: Sanford, Hsu, Telgarsky, "Transformers, parallel computation, and logarithmic depth" (arXiv 2402.09268): hop_k, here k = 2.
A hop leads from position i to the last j ≤ i whose predecessor is the token at i.
"""

from constructions.language import choose, number, numbers, program, select, some


def oracle(tokens: list[str]) -> str:
    at = len(tokens) - 1
    for _ in range(2):
        at = max((j for j in range(1, at + 1) if tokens[j - 1] == tokens[at]), default=-1)
        if at < 0:
            return "none"
    return tokens[at]


hop = select(number.back(1), number)
once = hop.last(number)
twice = hop.last(once)
khop = program(
    choose(twice == 0, "none", twice),
    prompt=[some(numbers())],
    oracle=oracle,
    examples=["1 2 3 1 2 1", "1 1 1", "4 2"],
    source="k-hop induction, Sanford, Hsu, Telgarsky (2024)",
)
