"""Dyck-1: is this a balanced string of brackets?

Source: Yao, Peng, Papadimitriou, Narasimhan, "Self-attention networks can process bounded hierarchical languages"
(arXiv 2105.11115), for Dyck languages. The wiring is ours: the depth as a mean, and how often it was negative as another.
"""

from constructions.language import choose, program, running_sum, some, word, words


def oracle(tokens: list[str]) -> str:
    depth = 0
    for token in tokens:
        depth += 1 if token == "(" else -1
        if depth < 0:
            return "NO"
    return "YES" if depth == 0 else "NO"


depth = running_sum(word("(") - word(")"))
closed_too_early = running_sum(depth < 0)
dyck = program(
    choose((depth == 0) & (closed_too_early == 0), "YES", "NO"),
    prompt=[some(words("(", ")"))],
    oracle=oracle,
    examples=["( ( ) )", "( ) ) (", "("],
    source="Dyck-1",
)
