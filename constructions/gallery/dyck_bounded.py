"""Dyck-2 of depth 2: is this a balanced string of two kinds of brackets, never more than two open at a time?

Source: Yao, Peng, Papadimitriou, Narasimhan, "Self-attention networks can process bounded hierarchical languages"
(arXiv 2105.11115): Dyck-(k, D), here k = D = 2. As there, a closing bracket looks for the last opening one in its depth. The wiring
is ours: for each depth a comparison of a mean, a head that looks for the bracket, and one for each wrong pair.
"""

from constructions.language import choose, program, running_sum, select, some, word, words

DEPTH = 2


def oracle(tokens: list[str]) -> str:
    stack: list[str] = []
    for token in tokens:
        if token in "([":
            stack.append(token)
        elif not stack or stack.pop() + token not in ("()", "[]"):
            return "NO"
        if len(stack) > DEPTH:
            return "NO"
    return "NO" if stack else "YES"


height = running_sum(word("(") + word("[") - word(")") - word("]"))
bad = (height < 0) | (height > DEPTH)
for depth in range(DEPTH):
    # The last one of these is the bracket that is closed where the height is the depth again.
    opened = select((height == depth).back(1))
    for opening, closing in ("(]", "[)"):
        bad = bad | ((height == depth) & word(closing) & opened.last(word(opening)))
good = (height == 0) & (running_sum(bad) == 0)
dyck_bounded = program(
    choose(good, "YES", "NO"),
    prompt=[some(words("(", ")", "[", "]"))],
    oracle=oracle,
    examples=["( [ ] ) [ ]", "( [ ) ]", "( [ ( ) ] )", "["],
    source="Dyck-(2, 2), Yao et al. (2021)",
)
