"""The ideal hybrid for IsTree is a search in frames: the program that the weights are, against the step that is defined."""

from __future__ import annotations

from itertools import chain, product

from constructions.istree import hybrid
from constructions.istree.graphs import PAPER, Graph
from constructions.language.interpreter import Input
from verify.automata.token_automaton import Label
from verify.claims.models import ISTREE_HYBRID
from verify.claims.program import RANKS
from verify.claims.standard import FRAMES, explained, first_other, long_run_sizes
from verify.dossiers.dossier import LEAST
from verify.dossiers.istree.frames import Frames
from verify.dossiers.istree.lemmas.frames import N, theory
from verify.dossiers.istree.texts import SECOND
from verify.dossiers.istree.walks_in_frames import FAMILIES, Edges, labels, run, step, tokens_of
from verify.dossiers.registry import find_subject
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.runs.istree_walks import on_small_graphs


def as_defined(graph: Graph) -> Counterexample | None:
    """Returns where the defined words, each after the ones before, are not those that a search in lists of records expects."""
    words, right = PAPER.vocabulary(graph.n), hybrid.HYBRID.expected(graph)
    prompt = [words[token] for token in PAPER.prompt(graph)]
    read = Input(tokens_of([*prompt, *right]), FAMILIES)
    last = SECOND if graph.edges else Label(PAPER.start)
    return first_other(read, len(prompt), (step(graph.n, label) for label in (last, *labels(right[:-1]))))


@ISTREE_HYBRID.judges("program", f"IsTree, hybrid: {FRAMES}")
def test_program(check: Check) -> None:
    on_small_graphs(check, as_defined, "the defined words against the runs that are expected")
    check.sizes(LEAST)
    text = "the program against the definition: prompts of up to n(n − 1)/2 edges, after n − 1 any frames"
    explained(check, find_subject("istree", LEAST, model="hybrid"), (LEAST, 8, *long_run_sizes(check)), text)


def is_tree(n: int, edges: Edges) -> bool:
    """Returns whether n − 1 edges lead from vertex 1 to all others."""
    reached = {1}
    for _ in range(n):
        reached.update(*(edge for edge in edges if not reached.isdisjoint(edge)))
    return len(edges) == n - 1 and len(reached) == n


def as_right(edges: Edges) -> Counterexample | None:
    """Returns a run after n − 1 edges that does not end with the answer, or is longer than the model is wired for."""
    n = len(edges) + 1
    said, right = run(n, edges), PAPER.yes if is_tree(n, edges) else PAPER.no
    ends = said[-1] == right and len(said) <= hybrid.HYBRID.limit(n)
    return None if ends else Counterexample(n=n, expected=right, limit=hybrid.HYBRID.limit(n), found=said)


RIGHT = (
    "After a prompt of n − 1 edges, loops and repetitions among them, the defined words of frames, each after the ones before, "
    "are at most (8·bits(3n) + 14)(n − 1) + 4, and the last one is YES if and only if the graph is a tree, else NO, for every n "
    "from 2 on."
)


@ISTREE_HYBRID.judges("search", f"IsTree, hybrid: {RIGHT}")
def test_search(check: Check) -> None:
    few = (2, 3)
    check.exhaustive(
        chain.from_iterable(product(product(range(1, n + 1), range(1, n + 1)), repeat=n - 1) for n in few),
        as_right,
        count=sum((n * n) ** (n - 1) for n in few),
        range="the defined words against the answer: all n − 1 edges on 2 and 3 vertices, loops and repetitions among them",
        size=lambda edges: len(edges) + 1,
    )
    text = "what the heads find, invariants at the start and after each frame, that a word is due, how many, and what they answer"
    check.follows(theory(Frames(N)), range=f"{text}; every n from 2 on")
    check.argued(f"Induction over the frames. {RANKS} A loop is a cycle, and so is an edge that is there twice.")
