"""What certificates assume of runs, each invariant a claim of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from constructions.engines.reference import ReferenceEngine
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph, Layout, TokenLayout, expected_answer
from constructions.istree.models import MODELS as GRAPH_MODELS
from constructions.turing.library import find
from constructions.wiring.wired import Wired
from verify.claims.models import ISTREE, ISTREE_HYBRID, ISTREE_RAG, TURING_COT
from verify.claims.turing import CHAMPIONS, champion
from verify.dossiers.dossier import LEAST, Subject
from verify.dossiers.istree.texts import records_apart, records_limited
from verify.dossiers.turing.configurations import queue
from verify.framework.check import Check
from verify.framework.claim import Counterexample
from verify.inputs.strategies import graphs
from verify.runs.istree_walks import ORDERS, build_model, every_graph
from verify.runs.registers import registers_after
from verify.runs.turing_runs import COT, SpaceCase, cases

QUEUE, COUNTS = "4.1/invariant-queue", "4.7/invariant-counts"
APART, RECORDS = "5.7/invariant-apart", "5.3/istree-invariant-records"
LONGEST = 64  # steps of a run
MOST_VERTICES = 8
SPACES, MOST_STEPS = (2, 5), 1000  # cells whose program is told, and steps


def follow(check: Check, subject: Subject, invariant: str, text: str) -> None:
    """Checks by its lemmas that an invariant holds in every run. text: of which texts."""
    theory, lemmas = subject.dossier.invariants[invariant]()
    check.follows(theory, lemmas=lemmas, range=text)


def _not_in_front(case: SpaceCase) -> Counterexample | None:
    """Returns a place where the digit that leaves is not the one that entered m tokens before, if there is one."""
    model = COT.solver_of(case)
    invariant = queue(case.cells)
    wired = model.build(case.steps)
    request = model.request(wired, case.steps)
    read = [*request.prompt, *map(int, request.guess[:-1])]  # after the last word, HALT perhaps, nothing is asked
    columns = registers_after(wired, read, block=2)
    early, late = columns[invariant.early], columns[invariant.late]
    for k in range(len(late)):
        entered = early[k - invariant.by] if k >= invariant.by else 0
        if late[k] != entered:
            return Counterexample(position=k + 1, entered=entered, leaves=late[k])
    return None


@TURING_COT.judges(
    "invariant-queue",
    "After the prompt, a token's digit is the one that entered the queue as many tokens before as there are cells; "
    "in the prompt none leaves, nor has one entered. For every text of bb2 that is due; for other machines on samples.",
)
def test_queue(check: Check) -> None:
    judged: Callable[[Any], Counterexample | None] = _not_in_front
    check.chosen(
        [champion(COT, find(name)) for name in CHAMPIONS if find(name).steps <= min(check.n_max, LONGEST)],
        judged,
        range=f"the champions that run up to {LONGEST} steps, and a step after their end",
        precision=COT.precision,
    )
    check.sampled(
        cases(COT, check.sizes(cap=LONGEST)),
        judged,
        range="random machines of up to 5 states and 4 symbols, words of up to 6, up to 8 cells besides",
        precision=COT.precision,
        max_examples=15,
    )
    subjects = [TURING_COT.subject(MOST_STEPS, machine=str(find("bb2").machine), cells=m) for m in SPACES]
    check.explained(
        subjects,
        range="what leaves is the token's digit, and what enters that of the token that is due as many positions later, if the "
        f"invariant holds up to then: bb2 on {' and '.join(map(str, SPACES))} cells",
    )
    for name in ("bb2", "bb5", "palindrome"):
        text = f"{name}: after a prompt, in any text whose words are those that are due; any number of cells and tokens"
        follow(check, subjects[0].with_options(machine=str(find(name).machine)), queue(1).name, text)
    check.argued(
        "Induction over the tokens: a word is the one that is due if the invariant holds up to the word before it."
    )


def _behind_first_block(model: str, graph: Graph) -> Mapping[str, Sequence[Fraction]]:
    """Returns every register after the first block, in the run that is due."""
    wired = build_model(model, PAPER.name, "repaired", graph.n)
    request = GRAPH_MODELS[model].request(wired, graph)
    return registers_after(wired, [*request.prompt, *map(int, request.guess[:-1])], block=1)


def _too_near(graph: Graph) -> Counterexample | None:
    """Returns two records of one vertex that are nearer to each other than they may be."""
    invariant = records_apart()
    own = _behind_first_block("hybrid", graph)[invariant.group]
    last: dict[Fraction, int] = {}
    for k in range(len(own)):
        vertex = own[k]
        if vertex and k - last.get(vertex, -invariant.by) < invariant.by:
            return Counterexample(vertex=vertex, positions=(last[vertex] + 1, k + 1))
        last[vertex] = k
    return None


@ISTREE_HYBRID.judges("invariant-apart", "Two incidence records of one vertex are at least 2 positions apart.")
def test_apart(check: Check) -> None:
    small = range(1, min(3, check.n_max) + 1)
    every_graph(check, small, _too_near, f"every graph {ORDERS}, with its search")
    text = "a record at an edge's last token and one after it, of prompts of any number of edges of a simple graph; every n"
    follow(check, ISTREE_HYBRID.subject(LEAST), "records of one vertex", text)


def _too_many(graph: Graph) -> Counterexample | None:
    """Returns a position at which more vertices are recorded than there are."""
    recorded = _behind_first_block("rag", graph)[records_limited(graph.n).sum]
    for k in range(len(recorded)):
        if recorded[k] > graph.n:
            return Counterexample(position=k + 1, recorded=recorded[k])
    return None


@ISTREE_RAG.judges("invariant-records", "At each position, no more vertices have been recorded than there are.")
def test_records(check: Check) -> None:
    small = range(1, min(3, check.n_max) + 1)
    text = "every labelled graph on up to 3 vertices, with its searches"
    every_graph(check, small, _too_many, text, kind="labelled")
    check.sampled(
        graphs(check.sizes(cap=MOST_VERTICES)),
        _too_many,
        range="random graphs of all families, with their searches",
        max_examples=10,
    )
    text = (
        "as many turns have the mark of a record as vertices are seen, so at most n, if searches find what is defined: the "
        "invariants at the start and after each turn; every n"
    )
    follow(check, ISTREE_RAG.subject(LEAST), "records", text)
    check.argued("Induction over the turns, which are the walk that is defined, one by one. Each record is of a turn.")


@cache
def _first_blocks(n: int, layout: Layout) -> tuple[Wired, ReferenceEngine]:
    """Returns the repaired Transformer, and an engine of its first four blocks that has read nothing."""
    wired = build_model("transformer", layout, "repaired", n)
    return wired, ReferenceEngine(replace(wired.model, blocks=wired.model.blocks[:4]), wired.arithmetic)


def _out_of_order(graph: Graph, layout: TokenLayout) -> Counterexample | None:
    wired, unread = _first_blocks(graph.n, layout.name)
    engine = unread.fork()
    own, count = wired.registers.index("self"), wired.registers.index("edge_count")
    scale = 1 << -wired.arithmetic.format.quantum_exponent
    seen: dict[int, list[int]] = {}
    for token in [*layout.prompt(graph), *expected_answer(graph, layout)[:-1]]:
        registers = engine.append(token).registers[-1]
        if registers[own]:
            seen.setdefault(registers[own] // scale, []).append(round(scale / registers[count]))
            counts = seen[registers[own] // scale]
            if sorted(counts) != list(range(2, len(counts) + 2)) or len(counts) > graph.n - 1:
                return Counterexample(layout=layout.name, vertex=registers[own] // scale, counts=counts)
    return None


@ISTREE.judges(
    "invariant-counts",
    "At each position, the incidence records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1.",
)
def test_counts(check: Check) -> None:
    def consecutive(graph: Graph) -> Counterexample | None:
        return _out_of_order(graph, PAPER) or _out_of_order(graph, EOS)

    every_graph(check, range(1, min(3, check.n_max) + 1), consecutive, f"every graph {ORDERS}, with its tour")
    if check.n_max >= 4:
        text = "every labelled graph on 4 vertices, with its tour"
        every_graph(check, (4,), consecutive, text, kind="labelled")
    for layout in LAYOUTS.values():
        text = (
            f"what 4.7/program finds in the registers, of prompts of any number of edges, layout {layout.name}; every n"
        )
        follow(check, ISTREE.subject(LEAST, layout=layout.name), "counts of one vertex", text)
    check.argued(
        "Integers from 2 on that differ, and with each but 2 the one before, are 2, …, d + 1. The records of a vertex have "
        "different other ends, none of them the vertex, so d ≤ n − 1."
    )
