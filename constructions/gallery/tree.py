"""Do these edges make a tree? A depth-first search from vertex 1, as a chain of thought.

Source: Wen, Dang, Lyu, "RNNs are not Transformers (Yet)" (arXiv 2402.18510): IsTree, of Theorem 4.7. The wiring is ours: from the
neighbour that it comes from, the search goes to the next one in the text, and after the last one to the first. So it comes back to
the father last. An edge is written `u v ;`. It leaves a record of u at the `;` and one of v at the next token.
"""

from random import Random

from constructions.language import choose, either, is_number, many, number, numbers, position, program, select, word


def oracle(tokens: list[str]) -> str:
    edges = [*zip(tokens[:-1:3], tokens[1:-1:3], strict=False)]
    vertices, reached = {"1"}.union(*edges), {"1"}
    for _ in edges:
        reached = reached.union(*(edge for edge in edges if reached & {*edge}))
    return "YES" if reached == vertices and len(vertices) == len(edges) + 1 else "NO"


def wrong(tokens: list[str]) -> str:
    u, v, ends = tokens[:-1:3], tokens[1:-1:3], tokens[2:-1:3]
    pairs = {frozenset(pair) for pair in zip(u, v, strict=False) if len({*pair} - {";"}) == 2}
    return "" if len(u) == len(pairs) == ends.count(";") == len(ends) else "not the edges of a simple graph"


def draw(n: int, rng: Random) -> str:
    """Returns a tree; in every other one an edge goes to some vertex instead, which may close a cycle."""
    edges = [(v, rng.randint(1, v - 1)) for v in range(2, rng.choice((n, rng.randint(1, n))) + 1)]
    if edges and rng.random() < 0.5:
        edges[rng.randrange(len(edges))] = (rng.randint(1, n), rng.randint(1, n))
    vertex = dict(enumerate(rng.sample(range(1, n + 1), n), start=1))
    pairs = [rng.sample((vertex[u], vertex[v]), 2) for u, v in rng.sample(edges, len(edges))]
    return " ".join(f"{u} {v} ;" for u, v in pairs)


mark, asked = select(word("?")).first(position), select(word("?")).first(word("?"))
thought, current, previous = asked * is_number, asked * number, number.back(1)
own, other = number.back(2), number.at(position - 3 + 2 * word(";"))
# The record two tokens before; and at a record, the other end of the edge before at its vertex, 0 at the first.
later, later_other = number.back(4), number.at(position - 3 - 2 * word(";"))
before = select(later, own).last(later_other)
father = select(current, current).first(previous)  # 0 at the root
edges = select(own, current) & select(thought, 0)
following, first = (edges & select(before, previous)).last(other), edges.first(other)
visited = [select(current, vertex).last(asked) == 1 for vertex in (following, first)]
to_following = choose(visited[0] & (following != father), "NO", following)
to_first = choose(visited[1] & (first != father), "NO", first)
end = choose(3 * (position - mark - 1) == 2 * (mark - 2), "YES", "NO")
step = choose(following == 0, choose((father == 0) | (first == 0), end, to_first), to_following)
tree = program(
    choose(word("?"), 1, choose(word("YES") | word("NO"), "END", step)),
    prompt=[many(either(numbers(), ";"), times=3), "?"],
    thought=[many(numbers(), times=2), either("YES", "NO")],
    stop="END",
    answer=lambda words: words[-1:],
    oracle=oracle,
    wrong=wrong,
    draw=draw,
    examples=[
        "1 2 ; 3 2 ; 4 1 ;",
        "2 1 ; 3 2 ; 1 3 ;",
        "2 3 ; 1 4 ;",
        "6 5 ; 1 2 ; 2 3 ; 5 2 ; 4 3 ;",
        "1 2 ; 3 4 ; 2 4 ; 1 3 ; 5 1 ;",
        "?",
    ],
    source="IsTree, Wen, Dang, Lyu (2024)",
)
