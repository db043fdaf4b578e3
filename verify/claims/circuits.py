"""A.2 in gates, and one step of an RNN as a circuit: exact on all inputs, small, and numbered as Theorem 4.8 has it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import strategies as st

from circuits.circuit import Circuit, GateKind
from circuits.compiler import compile_step
from circuits.models import SMALL, TURING, Rnn, find_models
from circuits.obvious import obvious
from circuits.operations import OPERATIONS
from circuits.reliance import self_reliant
from circuits.runs import embed
from constructions.engines.reference import ReferenceEngine
from precision.format import Discipline, fixed_point
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.oracles.circuits import computed_codes, expected_codes, run_on_every_input
from verify.oracles.counts import sequences

EVERY_INPUT, BY_SAT = (5, 7, 9, 11), tuple(range(5, 35, 2))
SAT_OF_PRODUCTS = 7
DRAWN = 1 << 16
DEPTH = 4  # words that are read one after the other, every sequence of them


@dataclass(frozen=True)
class Made:
    """An operation at p."""

    operation: str
    p: int


def operations_at(precisions: tuple[int, ...]) -> list[Made]:
    """Returns every operation at these precisions, the smallest first."""
    return [Made(name, p) for p in precisions for name in OPERATIONS]


@claim(
    "A.2/circuits",
    source="appendix A.2",
    statement="negate, compare, add, ReLU (odd p from 5 to 33) and multiply (p = 5, 7, 9, 11; random ones at p from 13 to 27) "
    "are circuits, bit for bit; −0 is never written.",
)
def test_operations(check: Check) -> None:
    ran: dict[Made, int] = {}

    def all_inputs(case: Made) -> Counterexample | None:
        found, ran[case] = run_on_every_input(case.operation, OPERATIONS[case.operation].circuit(case.p), case.p)
        return None if found is None else Counterexample(codes=found)

    def with_obvious(case: Made) -> tuple[Circuit, Circuit]:
        return OPERATIONS[case.operation].circuit(case.p), obvious(case.operation, case.p)

    check.exhaustive(
        operations_at(EVERY_INPUT),
        all_inputs,
        count=sum(2 * 2**p + 3 * 4**p for p in EVERY_INPUT),  # of two operations with one operand, and three with two
        range="run on every input, p = 5, 7, 9, 11",
        precision="p ≤ 11",
        inputs=ran.__getitem__,
    )
    by_sat = [case for case in operations_at(BY_SAT) if case.operation != "multiply" or case.p <= SAT_OF_PRODUCTS]
    text = f"equal to another form, odd p ≤ 33, products p ≤ {SAT_OF_PRODUCTS}"
    limit = f"odd p ≤ 33, of products p ≤ {SAT_OF_PRODUCTS}"
    check.equivalent(by_sat, with_obvious, range=text, limit=limit, precision="p ≤ 33")
    text = f"random products, {DRAWN:,} in each case, half of them of small numbers"
    check.sampled(products(), drawn_products, range=text, precision="13 ≤ p ≤ 27", max_examples=16)


@dataclass(frozen=True)
class DrawnPairs:
    """So many random pairs over R_p."""

    p: int
    seed: int


def products() -> st.SearchStrategy[DrawnPairs]:
    """Draws seeds of random pairs, at a p that is too large to try all pairs."""
    return st.builds(DrawnPairs, st.sampled_from([13, 17, 21, 27]), st.integers(0, 2**32 - 1))


def drawn_products(case: DrawnPairs) -> Counterexample | None:
    """Compares random products with those of precision/."""
    rng = np.random.default_rng(case.seed)
    shifts = rng.integers(0, case.p, DRAWN) * rng.integers(0, 2, DRAWN)
    a, b = (rng.integers(0, 1 << case.p, DRAWN) >> shifts for _ in "ab")
    found = computed_codes(OPERATIONS["multiply"].circuit(case.p), case.p, a, b)
    wrong = np.flatnonzero(found != expected_codes("multiply", fixed_point(case.p), a, b))
    return None if not len(wrong) else Counterexample(a=int(a[wrong[0]]), b=int(b[wrong[0]]), got=int(found[wrong[0]]))


@claim(
    "A.2/circuits-size",
    source="appendix A.2",
    statement="The circuits of negate, compare, add, multiply and ReLU have 2p, 6p, 12p − 4, 6p² − 12p + 10 and p − 1 gates, "
    "AND and XOR, less than the obvious circuits, for odd p from 5 to 33.",
)
def test_sizes(check: Check) -> None:
    def has_fewer_gates(case: Made) -> Counterexample | None:
        operation = OPERATIONS[case.operation]
        gates, plain = operation.circuit(case.p).operations, obvious(case.operation, case.p).operations
        if gates == operation.gates(case.p) < plain:
            return None
        return Counterexample(gates=gates, formula=operation.gates(case.p), obvious=plain)

    check.exhaustive(
        operations_at(BY_SAT),
        has_fewer_gates,
        count=5 * 15,
        range="counted for each operation and odd p from 5 to 33",
        precision="p ≤ 33",
    )


@dataclass(frozen=True)
class RnnReading:
    """An RNN at its least p for n, and the words that it reads one after the other."""

    rnn: str
    n: int
    discipline: Discipline
    words: tuple[int, ...]


def as_engine(case: RnnReading) -> Counterexample | None:
    """Returns whether the circuit's output is the reference engine's, after every word."""
    rnn = load(case.rnn, case.n, case.discipline)
    if rnn.wired is None:
        raise TypeError("there is no rnn.wired")
    engine = ReferenceEngine(rnn.wired.model, rnn.wired.arithmetic)
    state = [0] * len(rnn.step.states)
    columns = [i for i in range(rnn.wired.model.width) if rnn.wired.model.unembed[:, i].any()]
    for place, word in enumerate(case.words, start=1):
        output, state = rnn.step.run(state, embed(rnn, word, place))
        registers = engine.append(word).registers[-1]
        if output != [registers[i] for i in columns]:
            return Counterexample(word=place, expected=[registers[i] for i in columns], got=output)
    return None


@cache
def load(name: str, n: int, discipline: Discipline) -> Rnn:
    """Returns an RNN at its least p for n."""
    return find_models()[name].load(None, n, discipline)


def every_sequence() -> Iterator[RnnReading]:
    """Yields all words, one after the other, of the small linear RNNs at n = 1."""
    for length, name, discipline in itertools.product(range(1, DEPTH + 1), ("shift", "sum"), Discipline):
        words = range(len(load(name, 1, discipline).vocabulary))
        yield from (RnnReading(name, 1, discipline, sequence) for sequence in itertools.product(words, repeat=length))


def with_any_bits(name: str) -> tuple[Circuit, Circuit]:
    """Returns a step that relies on what can be read and does not leave it, and one that relies on nothing, made comparable."""
    rnn = load(name, 1, Discipline.FUSED)
    if rnn.wired is None:
        raise TypeError("there is no rnn.wired")
    whole = compile_step(rnn.wired.model, rnn.wired.registers, rnn.arithmetic)
    return self_reliant(rnn.step, rnn.reads, assured=True), self_reliant(whole, rnn.reads)


@st.composite
def reads(draw: st.DrawFn) -> RnnReading:
    """Draws a Linear RNN of the project, and up to six words that it reads."""
    name = draw(st.sampled_from(["shift", "sum", "index", "recall", "ngram", "counting", TURING]))
    n, discipline = draw(st.integers(1, 2)), draw(st.sampled_from(Discipline))
    last = len(load(name, n, discipline).vocabulary) - 1
    return RnnReading(name, n, discipline, tuple(draw(st.lists(st.integers(0, last), min_size=1, max_size=6))))


@claim(
    "4.8/step",
    source="Theorem 4.8, definitions 3.3 to 3.5",
    statement="A Linear RNN's step is a circuit: the first pΛ gates its state, the last pΛ the next one, the output before them.",
)
def test_step(check: Check) -> None:
    def numbered(name: str) -> Counterexample | None:
        step = SMALL[name].load(None, 1).step
        gates, state = step.circuit.gates, len(step.circuit.states)
        ends = (*step.circuit.outputs, *step.circuit.next_state)
        first, last = [gate[:2] for gate in gates[:state]], tuple(range(len(gates) - len(ends), len(gates)))
        in_order = first == [(GateKind.STATE, i) for i in range(state)] and ends == last
        return None if in_order else Counterexample(ends=ends)

    check.chosen(list(SMALL), numbered, range="the numbering of shift, sum and parity")
    check.exhaustive(
        every_sequence(),
        as_engine,
        count=2 * len(Discipline) * (sequences(DEPTH, 3) - 1),
        range=f"outputs after 1 to {DEPTH} words, shift and sum, n = 1, both disciplines",
        precision="least p",
    )
    text = "equal to the step on any bits, wherever the ranges of the state allow it, n = 1"
    names = ["shift", "sum", "index", "recall", TURING]
    limit = "five models at n = 1, that ranges change nothing"
    check.equivalent(names, with_any_bits, range=text, limit=limit, precision="least p")
    text = "outputs of recall, index, counting, ngram and a Turing machine, up to six words"
    check.sampled(reads(), as_engine, range=text, precision="least p", max_examples=30)
