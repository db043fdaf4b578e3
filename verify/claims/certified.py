"""Soundness of rounding, certified from the weights: at one n for every input, with no run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from constructions.engines.reference import ReferenceEngine
from constructions.istree import lean, transformer
from constructions.istree.graphs import EOS, LAYOUTS, PAPER, Graph, TokenLayout, expected_answer
from precision.format import Discipline
from verify.certificates.above import Judge, survey, unjudged
from verify.dossiers.dossier import ENDLESS, LEAST, About, Subject
from verify.dossiers.registry import find_subject
from verify.dossiers.retrieval.tasks import RETRIEVERS
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Json, claim, claims
from verify.inputs.strategies import every_input, every_labelled_graph
from verify.oracles.counts import labelled_graphs, ordered_graphs
from verify.stored import above as stored_above

INVARIANT = "4.7/invariant-counts"
BEYOND = 10**12  # where no model can be built; its certificate takes no longer
LAST = 1 << 64
GRAPHS = "every simple graph, any chain of thought"
PRECISION = "p = the least that is certified for n"
TOP = 1 << 63  # up to which the documents of all n go, but for lean's; above, numbers in place of n are followed


def certify(check: Check, subjects: Sequence[Subject], text: str) -> None:
    """Each subject under every discipline."""
    check.certified(
        [
            replace(subject, precision_bits=check.p_bits, discipline=discipline)
            for discipline in Discipline
            for subject in subjects
        ],
        range=text,
        precision=check.precision_text(PRECISION),
    )


def every_n(check: Check, about: About, subjects: Sequence[Subject], text: str) -> None:
    """Each subject for every n from 4 to its last, or to 2^63, as stored (verify/stored/), and a few intervals of it anew."""
    if check.n_max < 10**4 or check.p_bits is not None:
        return
    for subject in subjects:
        whole = replace(subject, n=LEAST, last=subject.last or TOP)
        precision = PRECISION if about == "rounding" else ""
        check.stored(whole, about, range=f"{text}; every n by intervals", precision=precision)


def both(subject: Subject) -> list[Subject]:
    """Under each discipline."""
    return [replace(subject, discipline=discipline) for discipline in Discipline]


WHAT = (
    "For every input, each register that is read is the ideal model's, rounded, or within the certificate's bound; "
    "the answer is the same."
)


@claims("name", RETRIEVERS, lambda name: Claim.about("4.6", name, "rounding", "Theorem 4.6", f"{name}: {WHAT}"))
def test_retrieval(check: Check, name: str) -> None:
    sizes = (*check.sizes(LEAST, ratio=10), *([] if check.n_max < 10**4 else [BEYOND]))
    text = "every sequence of up to n tokens, every query"
    certify(check, [find_subject(name, n) for n in sizes], f"{text}; n = {listed(sizes)}")
    every_n(check, "rounding", both(find_subject(name, LEAST)), text)


def above(check: Check, subjects: Sequence[Subject], text: str) -> None:
    """Every n from 2^63 on, in cases; the inequalities that decide them are stored. text: which inputs they are about."""
    check.sizes(10**4)
    if check.p_bits is not None:
        check.unknown("p grows with n")
    in_cases(check, subjects, "rounding", f"{text}; every n from 2^63 on, in cases of n and its bit length")


def in_cases(check: Check, subjects: Sequence[Subject], about: About, text: str) -> None:
    """As stored where that is of these weights, else all anew; and the inequalities."""
    precision, what = (PRECISION, "a certificate") if about == "rounding" else ("", "an explanation")
    theorems = [
        check.stored_above(
            subject, about, range=text + f"; {subject.discipline.value}" * (about == "rounding"), precision=precision
        )
        for subject in subjects
    ]
    anew = [subject for subject, theorem in zip(subjects, theorems, strict=True) if theorem is None]
    if anew and about == "rounding":
        disciplines = " and ".join(subject.discipline.value for subject in anew)
        check.certified(anew, range=f"{text}; {disciplines}", precision=precision)
    elif anew:
        check.explained(anew, range=text)
    answered(check, subjects, theorems, stored_above.judge_of(about), what)


def answered(
    check: Check, subjects: Sequence[Subject], theorems: Sequence[Json | None], judge: Judge, what: str
) -> None:
    """The inequalities by which such documents of every n from 2^63 on come to what they say. what: one of them, for people.

    theorems: of each subject the stored one, None where it is to be made now.
    """
    check.proved(
        (
            (survey(subject, judge).theorem if theorem is None else theorem, {})
            for subject, theorem in zip(subjects, theorems, strict=True)
        ),
        by="Bernstein coefficients, and powers of two above those of their exponents",
        range=f"each answer by which {what} comes to a case, or to its verdict there, for every n of the case",
        quickly=lambda: (survey(subject, unjudged).theorem for subject in subjects),
    )
    check.argued(
        f"Builder and checker calculate with a number that stands for each n of a case. Their comparisons are those inequalities, "
        f"so they do for each n what they did once. float64 has no such weights: {what} is about the weights as numbers."
    )


@claims(
    "of",
    [
        (
            Claim.about(theorem, name, "above", f"Theorem {theorem}", f"{name}, {model}: For every n ≥ 2^63: {WHAT}"),
            (name, model),
        )
        for theorem, model in (("4.6", "transformer"), ("5.2", "rag"), ("5.6", "hybrid"))
        for name in RETRIEVERS
    ],
)
def test_above(check: Check, of: tuple[str, str]) -> None:
    name, model = of
    subject = find_subject(name, LAST, model=model, last=ENDLESS)
    subjects = [replace(subject, discipline=discipline) for discipline in Discipline]
    above(check, subjects, "every sequence of up to n tokens, every query")


@claim(
    theorem="4.7",
    task="istree",
    aspect="rounding",
    source=transformer.SOURCE,
    statement=f"IsTree: {WHAT} Given the invariant of {INVARIANT}, for every graph and any vertices as chain of thought.",
)
def test_istree(check: Check) -> None:
    sizes = check.sizes(LEAST, ratio=10**4)
    subjects = [*(find_subject("istree", n) for n in sizes), find_subject("istree", sizes[-1], layout="eos")]
    text = f"every simple graph, any chain of thought; n = {listed(sizes)}, of the layout eos {sizes[-1]:,}"
    certify(check, subjects, text)
    own = find_subject("istree", LEAST)
    every_n(check, "rounding", [*both(own), own.with_options(layout="eos")], GRAPHS)


@claim(
    theorem="4.7",
    task="istree",
    aspect="lean-rounding",
    source=lean.SOURCE,
    statement=f"IsTree: {WHAT} For every graph and any vertices as chain of thought; no invariant is assumed.",
    variant="lean",
)
def test_lean(check: Check) -> None:
    sizes = (*check.sizes(LEAST, ratio=10**4), *([] if check.n_max < 10**4 else [BEYOND]))
    subjects = [find_subject("istree", n, lean=True) for n in sizes]
    subjects.append(subjects[-1].with_options(layout="eos"))
    text = f"every simple graph, any chain of thought; n = {listed(sizes)}, of the layout eos {sizes[-1]:,}"
    certify(check, subjects, text)
    own = find_subject("istree", LEAST, lean=True, last=LAST)
    every_n(check, "rounding", [*both(own), own.with_options(layout="eos")], GRAPHS)


@claim(
    theorem="4.7",
    task="istree",
    aspect="above",
    source=transformer.SOURCE,
    statement=f"IsTree: For every n ≥ 2^63: {WHAT} Given the invariant of {INVARIANT}, for every graph and any chain of thought.",
)
def test_istree_above(check: Check) -> None:
    above(
        check, [find_subject("istree", LAST, last=ENDLESS)], "every simple graph, any chain of thought, paper's layout"
    )


def listed(sizes: Sequence[int]) -> str:
    """Sizes in words."""
    return ", ".join(f"{n:,}" for n in sizes)


def _out_of_order(graph: Graph, layout: TokenLayout) -> Counterexample | None:
    wired = transformer.build(graph.n, layout=layout.name)
    engine = ReferenceEngine(replace(wired.model, blocks=wired.model.blocks[:4]), wired.arithmetic)
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


@claim(
    INVARIANT,
    task="istree",
    source=transformer.SOURCE,
    statement="At each position, the incidence records of a vertex so far have the counts 1/2, …, 1/(d + 1), each once, d ≤ n − 1.",
)
def test_counts(check: Check) -> None:
    def consecutive(graph: Graph) -> Counterexample | None:
        return _out_of_order(graph, PAPER) or _out_of_order(graph, EOS)

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
    for layout in LAYOUTS.values():
        made, lemmas = find_subject("istree", LEAST, layout=layout.name).dossier.invariants["counts of one vertex"]()
        check.follows(
            made,
            lemmas=lemmas,
            range=f"what 4.7/program finds in the registers, of prompts of any number of edges, layout {layout.name}; every n",
        )
    check.argued(
        "Integers from 2 on that differ, and with each but 2 the one before, are 2, …, d + 1. The records of a vertex have "
        "different other ends, none of them the vertex, so d ≤ n − 1."
    )
