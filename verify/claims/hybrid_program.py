"""The ideal hybrid for IsTree is a search in frames: the program that the weights are, against the step that is defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import TypeAlias

from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Edge, Graph
from constructions.istree.hybrid import MARKS, PLACE, VERTEX
from verify.certificates.building import ENDLESS, LEAST, Subject
from verify.claims.certified import BEYOND, LAST
from verify.claims.induction import RANKS
from verify.claims.program import above
from verify.claims.program_turns import on_small_graphs
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.induction.frames import N, theory
from verify.programs.frames import Frames, definition
from verify.programs.interpreter import Input, Spoken

FAMILIES = frozenset([VERTEX, PLACE])
FRAME = (
    "In exact arithmetic, with attention that averages ties, what is said behind every prompt, and any frames that stand behind "
    "n − 1 edges, is the next word of the defined search in frames, where one is due: at the end of a frame, whether the search "
    "goes down, passes over the edge to the father, looks further, goes up or ends; in a frame, to which vertex and from where on."
)
step = cache(definition)  # it is asked for at each word


def tokens_of(words: Sequence[str]) -> list[Spoken]:
    """The words of a text as programs read them."""
    return [(PLACE, int(w[1:])) if w[0] == "@" else (VERTEX, int(w)) if w.isdigit() else (w, 0) for w in words]


def places(said: Sequence[str]) -> Iterator[str]:
    """The names of the places where the words behind a prompt stand."""
    frame, number = "the first frame", 0
    for word in said:
        frame, number = (f"a frame {word}", 1) if word in MARKS else (frame, number + 1)
        yield f"{frame}, {number}"


def as_defined(graph: Graph) -> Counterexample | None:
    """Where the defined words, each behind the ones before, are not those that a search in lists of records expects."""
    words, right = PAPER.vocabulary(graph.n), hybrid.expected_sequence(graph)
    prompt = [words[token] for token in PAPER.prompt(graph)]
    read = Input(tokens_of([*prompt, *right]), FAMILIES)
    last = "second endpoint" if graph.edges else PAPER.start
    for k, (place, word) in enumerate(
        zip([last, *places(right[:-1])], tokens_of(right), strict=True), start=len(prompt)
    ):
        due = step(graph.n, place)
        if due is None or read.spoken(due, k) != word:
            found = "nothing" if due is None else str(read.spoken(due, k))
            return Counterexample(position=k, expected=str(word), due=found)
    return None


@claim(theorem="5.7", task="istree", aspect="program", source=hybrid.SOURCE, statement=f"IsTree, hybrid: {FRAME}")
def test_program(check: Check) -> None:
    on_small_graphs(check, as_defined, "the defined words against the runs that are expected")
    check.sizes(LEAST)
    model = "hybrid"
    subjects, sizes = [Subject("istree", n, model=model) for n in (LEAST, 8)], f"n = {LEAST}, 8"
    if check.n_max >= 10**4:
        subjects += [
            Subject("istree", BEYOND, model=model),
            Subject("istree", LAST - LAST // 32, model=model, last=LAST - 1),
        ]
        sizes = f"{sizes}, {BEYOND:,}, and every n from 2^64 − 2^59 to 2^64 − 1"
    check.explained(
        subjects,
        range=f"the program against the definition: prompts of up to n(n − 1)/2 edges, behind n − 1 any frames; {sizes}",
    )


@claim(
    theorem="5.7",
    task="istree",
    aspect="program-above",
    source=hybrid.SOURCE,
    statement=f"IsTree, hybrid: For every n ≥ 2^63: {FRAME}",
)
def test_program_above(check: Check) -> None:
    text = "prompts of up to n(n − 1)/2 edges, behind n − 1 any frames"
    above(check, Subject("istree", LAST, model="hybrid", last=ENDLESS), text)


Edges: TypeAlias = tuple[Edge, ...]


def run(n: int, edges: Edges) -> list[str]:
    """The defined words behind edges, each behind the ones before, up to a verdict, or to where no word is due."""
    tokens = tokens_of([PAPER.start, *(word for a, b in edges for word in (str(a), PAPER.joint, str(b)))])
    read, said = Input(tokens, FAMILIES), list[str]()
    for place in chain(["second endpoint"], places(said)):  # which looks at each word when it has been said
        due = step(n, place)
        if due is None:
            raise TypeError("there is no due")
        name, number = read.spoken(due, len(tokens))
        tokens.append((name, int(number)))
        said.append(f"@{number}" if name == PLACE else str(number) if name == VERTEX else name)
        if name not in (*FAMILIES, *MARKS):
            return said
    raise AssertionError("there is a place behind each word")


def is_tree(n: int, edges: Edges) -> bool:
    """Whether n − 1 edges lead from vertex 1 to all others."""
    reached = {1}
    for _ in range(n):
        reached.update(*(edge for edge in edges if not reached.isdisjoint(edge)))
    return len(edges) == n - 1 and len(reached) == n


def as_right(edges: Edges) -> Counterexample | None:
    """Where the run behind as many edges as a tree has does not end with the answer, or is longer than the model is wired for."""
    n = len(edges) + 1
    said, right = run(n, edges), PAPER.yes if is_tree(n, edges) else PAPER.no
    ends = said[-1] == right and len(said) <= hybrid.limit(n)
    return None if ends else Counterexample(n=n, expected=right, limit=hybrid.limit(n), found=said)


RIGHT = (
    "Behind a prompt of n − 1 edges, loops and repetitions among them, the defined words of frames, each behind the ones before, "
    "are at most (8·bits(3n) + 14)(n − 1) + 4, and the last one is YES if and only if the graph is a tree, else NO, for every n "
    "from 2 on."
)


@claim(theorem="5.7", task="istree", aspect="search", source=hybrid.SOURCE, statement=f"IsTree, hybrid: {RIGHT}")
def test_search(check: Check) -> None:
    few = (2, 3)
    check.exhaustive(
        chain.from_iterable(product(product(range(1, n + 1), range(1, n + 1)), repeat=n - 1) for n in few),
        as_right,
        count=sum((n * n) ** (n - 1) for n in few),
        range="the defined words against the answer: all n − 1 edges on 2 and 3 vertices, loops and repetitions among them",
        size=lambda edges: len(edges) + 1,
    )
    text = "what the heads find, invariants at the start and behind each frame, that a word is due, how many, and what they answer"
    check.follows(theory(Frames(N)), range=f"{text}; every n from 2 on")
    check.argued(f"Induction over the frames. {RANKS} A loop is a cycle, and so is an edge that is there twice.")
