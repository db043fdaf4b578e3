"""Soundness of rounding, certified from the weights: at one n for every input, with no run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from constructions.engines.reference import ReferenceEngine
from constructions.istree import transformer
from constructions.istree.graphs import PAPER, Graph, expected_answer
from precision.format import Discipline
from verify.certificates.building import LEAST, RETRIEVERS, Subject
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, claim, claims
from verify.inputs.strategies import every_input, every_labelled_graph
from verify.oracles.counts import labelled_graphs, ordered_graphs

INVARIANT = "4.7/invariant-counts"
BEYOND = 10**12  # for the retrieval models, whose certificate takes as long at any n


def certify(
    check: Check, construction: str, sizes: Sequence[int], disciplines: Sequence[Discipline], text: str
) -> None:
    """Every size under every discipline."""
    check.certified(
        [Subject(construction, n, None, check.p_bits, discipline) for discipline in disciplines for n in sizes],
        range=text,
        precision=check.precision_text("p = the least that is certified for n"),
    )


WHAT = (
    "For every input, each register that is read is the ideal model's, rounded, or within the certificate's bound; "
    "the answer is the same."
)


@claims(
    "name",
    [(Claim.about("4.6", name, "rounding", "Theorem 4.6", f"{name}: {WHAT}"), name) for name in RETRIEVERS],
)
def test_retrieval(check: Check, name: str) -> None:
    sizes = (*check.sizes(LEAST, ratio=10), *([] if check.n_max < 10**4 else [BEYOND]))
    certify(
        check, name, sizes, list(Discipline), f"every sequence of up to n tokens, every query; n = {_listed(sizes)}"
    )


@claim(
    theorem="4.7",
    task="istree",
    aspect="rounding",
    source=transformer.SOURCE,
    statement=f"IsTree: {WHAT} Given the invariant of {INVARIANT}, for every graph and any vertices as chain of thought.",
)
def test_istree(check: Check) -> None:
    sizes = check.sizes(LEAST, ratio=100)
    certify(check, "istree", sizes, list(Discipline), f"every simple graph, any chain of thought; n = {_listed(sizes)}")


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in sizes)


@claim(
    INVARIANT,
    task="istree",
    source=transformer.SOURCE,
    statement="At each position, the incidence records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1.",
)
def test_counts(check: Check) -> None:
    def consecutive(graph: Graph) -> Counterexample | None:
        wired = transformer.build(graph.n)
        engine = ReferenceEngine(replace(wired.model, blocks=wired.model.blocks[:4]), wired.arithmetic)
        own, count = wired.registers.index("self"), wired.registers.index("edge_count")
        scale = 1 << -wired.arithmetic.format.quantum_exponent
        seen: dict[int, list[int]] = {}
        for token in [*PAPER.prompt(graph), *expected_answer(graph, PAPER)[:-1]]:
            registers = engine.append(token).registers[-1]
            if registers[own]:
                seen.setdefault(registers[own] // scale, []).append(round(scale / registers[count]))
                counts = seen[registers[own] // scale]
                if sorted(counts) != list(range(2, len(counts) + 2)) or len(counts) > graph.n - 1:
                    return Counterexample(vertex=registers[own] // scale, counts=counts)
        return None

    small = min(3, check.n_max)
    check.exhaustive(
        itertools.chain.from_iterable(map(every_input, range(1, small + 1))),
        consecutive,
        count=sum(map(ordered_graphs, range(1, small + 1))),
        range="every graph in every order and orientation of its edges, with its tour",
        size=lambda graph: graph.n,
    )
    if check.n_max >= 4:
        check.exhaustive(
            every_labelled_graph(4),
            consecutive,
            count=labelled_graphs([4]),
            range="every labelled graph on 4 vertices, with its tour",
            size=lambda graph: graph.n,
        )
