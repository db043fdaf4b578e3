"""Sentences of the paper beside its theorems: what models cost, what a text records, and what is open."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuits.models import find_models
from constructions.istree import rag
from constructions.measures import measure
from constructions.retrieval.task import START
from verify.framework.check import Check
from verify.framework.claim import Claim, Counterexample, Verdict, claim, claims
from verify.inputs.hard_graphs import FAMILIES, LEAST, HardGraph
from verify.inputs.turing_machines import Size, every_run
from verify.oracles.recall_oracle import FirstFollowers
from verify.oracles.tape_text import last_record, moments
from verify.runs.turing_runs import HYBRID

# What models cost


@dataclass(frozen=True)
class StepSize:
    """An RNN at n and its least p."""

    rnn: str
    n: int


RNNS = ("shift", "sum", *(name + of for of in ("", "-hybrid") for name in ("index", "recall", "ngram", "counting")))


@claim(
    "3.3/circuit-size",
    source="definition 3.3",
    statement="The circuit of a step, a recurrent model's third measure, has at most as many gates as the weights' bound says.",
)
def test_circuit_size(check: Check) -> None:
    def within(case: StepSize) -> Counterexample | None:
        rnn = find_models()[case.rnn].load(None, case.n)
        if rnn.wired is None:
            raise TypeError("there is no rnn.wired")
        gates = len(rnn.step.circuit.gates)
        bound = measure(rnn.wired.model, rnn.step.precision_bits).circuit_gates
        return None if gates <= bound else Counterexample(gates=gates, bound=bound)

    cases = [StepSize(name, n) for name in RNNS for n in (1, 2)]
    text = f"the steps of {', '.join(RNNS)} at n = 1, 2; larger ones: the claims that end in circuit"
    check.chosen(cases, within, range=text, size=lambda case: case.n, precision="least p")


@claim(
    "5.8/parameter-cost",
    source="Theorem 5.8",
    statement="The parameters have O(A·B²·log n) bits for B states and k symbols, at most (8,068 + 122·B·k)·p"
    " with p ≤ 6·(1 + log2 n) + 2·log2(B·k) + 25.",
)
def test_parameter_bits(check: Check) -> None:
    def within(size: Size) -> Counterexample | None:
        wired = HYBRID.solver(size.machine).build(size.steps)
        bits = measure(wired.model, wired.arithmetic.format.significand_bits + 1).parameter_bits
        entries = size.states * size.symbols
        bound = (8_068 + 122 * entries) * (6 * (1 + math.log2(size.steps)) + 2 * math.log2(entries) + 25)
        return None if bits <= bound else Counterexample(parameter_bits=bits, bound=bound)

    check.chosen(
        [Size(b, k, steps) for b in (1, 5) for k in (2, 10) for steps in (1, 100, 10_000)],
        within,
        range="machines of 1, 5 states and 2, 10 symbols, for 1, 100 and 10,000 steps",
        size=lambda size: size.steps,
        precision="p = least_precision(n)",
    )


@claim(
    "5.2/istree-steps",
    source="Theorems 5.2 and 5.3",
    statement="IsTree by searches takes O(n log n) steps (5.2) and O(n) steps (5.3): at most 64n − 43 tokens are both.",
)
def test_two_step_counts(check: Check) -> None:
    def within(hard: HardGraph) -> Counterexample | None:
        tokens, n = len(rag.expected_sequence(hard.graph())), hard.n
        bounds = (64 * n - 43, 64 * n * math.log2(n))
        return None if tokens <= min(bounds) else Counterexample(tokens=tokens, bounds=bounds)

    check.chosen(
        [HardGraph(family, n) for n in check.sizes(LEAST, ratio=20, cap=3000) for family in FAMILIES],
        within,
        range=f"{', '.join(FAMILIES)}; that the model writes this many: 5.3/istree-scale",
        size=lambda hard: hard.n,
    )


# Turing machines by searches


@dataclass(frozen=True)
class Run:
    """A machine from a word on the tape."""

    machine: str
    tape: str


def records(own_words: bool, limit: int = 50) -> Callable[[Run], Counterexample | None]:
    """Whether before each step the last record of the head's cell is what the cell holds."""

    def right(run: Run) -> Counterexample | None:
        for step, (words, place, held) in enumerate(moments(run.machine, run.tape, limit, own_words), 1):
            found = last_record(words, place)
            if found != held:
                return Counterexample(step=step, cell=place, holds=held, last_record=found)
        return None

    return right


LEMMA_31 = "The last i, x, i in the text gives the cell i of the tape, and there is none if the cell was never written."


@claims(
    "own_words",
    [
        (Claim("C.31", "Lemma C.31", f"{LEMMA_31} Cells have words of their own."), True),
        (
            Claim(
                "C.31/printed",
                "Lemma C.31",
                f"{LEMMA_31} Cells, digits and states are numbers.",
                "printed",
                expected=Verdict.REFUTED,
            ),
            False,
        ),
    ],
)
def test_the_last_record(check: Check, own_words: bool) -> None:
    right = records(own_words)

    tapes = ("", "10", "0110")
    check.exhaustive(
        (Run(machine, tape) for tape in tapes for machine in every_run(50)),
        right,
        count=408 * len(tapes),
        range="a machine for each run of 2 states and 2 symbols, from a blank tape, from 10 and from 0110; 50 steps",
        size=50,
    )


# Lower bounds


@dataclass(frozen=True)
class Alphabet:
    """Sequences of so many tokens out of so many, a special one behind each. distinct: no token twice, of as many as there are."""

    tokens: int
    length: int
    distinct: bool = False

    def inputs(self) -> list[tuple[int, ...]]:
        """All of Alice's."""
        numbers = range(1, self.tokens + 1)
        some = itertools.permutations(numbers) if self.distinct else itertools.product(numbers, repeat=self.length)
        return list(some)


@claim(
    "5.1/any-alphabet",
    source="Theorem 5.1",
    statement="Beside an associative-recall oracle, Index over σ tokens with a special one behind each needs σ^n/(σ²·2^σ) states,"
    " and (n − 2)! over n tokens that all differ: Ω(n) bits for any alphabet.",
)
def test_index_over_any_alphabet(check: Check) -> None:
    def enough(alphabet: Alphabet) -> Counterexample | None:
        special = str(alphabet.tokens + 1)
        knows = Counter(
            FirstFollowers().read([START, *itertools.chain.from_iterable((str(t), special) for t in x)])
            for x in alphabet.inputs()
        )
        n, tokens, states = alphabet.length, alphabet.tokens, max(knows.values())
        bound = math.factorial(n - 2) if alphabet.distinct else Fraction(tokens**n, tokens**2 * 2**tokens)
        return None if states >= bound else Counterexample(states=states, bound=bound)

    most = {2: 9, 3: 7, 4: 6, 5: 5}
    check.exhaustive(
        (Alphabet(tokens, n) for tokens, longest in most.items() for n in range(2, longest + 1)),
        enough,
        count=sum(longest - 1 for longest in most.values()),
        range="how many of all sequences the oracle cannot tell apart: σ = 2, 3, 4, 5 and n up to 9, 7, 6, 5",
        size=lambda alphabet: alphabet.length,
    )
    check.exhaustive(
        (Alphabet(n, n, distinct=True) for n in range(2, 8)),
        enough,
        count=6,
        range="how many orders of n tokens it cannot tell apart",
        size=lambda alphabet: alphabet.length,
    )


# What is open here


@dataclass(frozen=True)
class Open:
    """A sentence that nothing here decides. missing: what it would take. argued, assumed: what it would rest on besides."""

    id: str
    source: str
    statement: str
    missing: str
    argued: str = ""
    assumed: str = ""


OPEN: Sequence[Open] = (
    Open(
        "4.1/three-tokens",
        "Theorem 4.1",
        "A step of the machine takes three tokens: the new state, the direction and the cell's value.",
        "the cell under the head would have to be changed in the state by one linear step whose matrix is fixed; what is wired"
        " here turns the tape through the state, m + 1 tokens a step, and neither weights of three tokens nor a proof against them"
        " are known to us",
    ),
    Open(
        "4.1/separation",
        "Theorem 4.1",
        "If PSPACE is not in P/poly, a chain of thought strictly helps Linear RNNs of constant size.",
        "the argument here is no proof object, and its assumption is open",
        argued="without a chain of thought the state behind the zeros is advice, and the m = log2 n steps behind it are circuits"
        " of poly(m) gates (3.3/circuit-size): P/poly; with one, any machine runs in space m (4.1), one for a PSPACE-complete"
        " problem too",
        assumed="PSPACE is not contained in P/poly",
    ),
    Open(
        "4.6/recall-special",
        "Theorems 4.6 and 5.1",
        "Associative recall answers keys that are no numbers: <s>, or the separator in front of the query.",
        "the task is defined for keys of [n] alone, and the models that are wired take no others; the oracle of 5.1 takes all",
    ),
)


@claims(
    "question",
    [
        (Claim(question.id, question.source, question.statement, "printed", expected=Verdict.UNKNOWN), question)
        for question in OPEN
    ],
)
def test_open_questions(check: Check, question: Open) -> None:
    if question.argued:
        check.argued(question.argued)
    if question.assumed:
        check.assumed(question.assumed)
    check.unknown(question.missing)
