"""Sentences of the paper beside its theorems: what models cost, and which reductions carry over to other alphabets."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuits.models import find_models
from constructions.istree import rag
from constructions.measures import measure
from constructions.retrieval.task import START
from verify.framework.check import Check
from verify.framework.claim import Counterexample, claim
from verify.inputs.hard_graphs import FAMILIES, LEAST, HardGraph
from verify.inputs.turing_machines import Size
from verify.oracles.recall_oracle import FirstFollowers
from verify.runs.costs import RnnSize
from verify.runs.turing_runs import HYBRID

# What models cost


RNNS = ("shift", "sum", *(name + of for of in ("", "-hybrid") for name in ("index", "recall", "ngram", "counting")))


@claim(
    "3.3/circuit-size",
    source="definition 3.3",
    statement="The circuit of a step, a recurrent model's third measure, has at most as many gates as the weights' bound says.",
)
def test_circuit_size(check: Check) -> None:
    def within(case: RnnSize) -> Counterexample | None:
        rnn = find_models()[case.rnn].load(None, case.n)
        if rnn.wired is None:
            raise TypeError("there is no rnn.wired")
        gates = len(rnn.step.circuit.gates)
        bound = measure(rnn.wired.model, rnn.step.precision_bits).circuit_gates
        return None if gates <= bound else Counterexample(gates=gates, bound=bound)

    cases = [RnnSize(name, n) for name in RNNS for n in (1, 2)]
    text = f"the steps of {', '.join(RNNS)} at n = 1, 2; larger ones: the claims that end in circuit"
    check.chosen(cases, within, range=text, precision="least p")


@claim(
    "5.8/parameter-cost",
    statement="The parameters have O(B·k·(log n + log(B·k))) bits for n steps, B states and k symbols, which is O(A·B²·log n) for"
    " n^A steps of a machine that does not grow with n: at most (8,068 + 122·B·k)·p with p ≤ 6·(1 + log2 n) + 25"
    " or p ≤ 4·log2(B·k) + 19.",
)
def test_parameter_bits(check: Check) -> None:
    def within(size: Size) -> Counterexample | None:
        wired = HYBRID.solver(size.machine).build(size.n)
        p, entries = wired.arithmetic.format.significand_bits + 1, size.states * size.symbols
        most, bits = (
            max(6 * (1 + math.log2(size.n)) + 25, 4 * math.log2(entries) + 19),
            measure(wired.model, p).parameter_bits,
        )
        bound = (8_068 + 122 * entries) * p
        return None if p <= most and bits <= bound else Counterexample(p=p, most=most, parameter_bits=bits, bound=bound)

    check.chosen(
        [Size(b, k, steps) for b in (1, 5, 25) for k in (2, 10) for steps in (1, 100, 10_000)],
        within,
        range="machines of 1, 5, 25 states and 2, 10 symbols, for 1, 100 and 10,000 steps",
        precision="p = least_precision(n)",
    )


@claim(
    "5.2/istree-steps",
    source="Theorems 5.2 and 5.3",
    statement="IsTree by searches takes O(n log n) steps (5.2) and O(n) steps (5.3): at most 64n − 43 tokens are both.",
)
def test_two_step_counts(check: Check) -> None:
    def within(hard: HardGraph) -> Counterexample | None:
        tokens, n = len(rag.RAG.expected(hard.graph())), hard.n
        bounds = (64 * n - 43, 64 * n * math.log2(n))
        return None if tokens <= min(bounds) else Counterexample(tokens=tokens, bounds=bounds)

    check.chosen(
        [HardGraph(family, n) for n in check.sizes(LEAST, ratio=20, cap=3000) for family in FAMILIES],
        within,
        range=f"{', '.join(FAMILIES)}; that the model writes this many: 5.3/istree-scale",
    )


# Circuit families


@dataclass(frozen=True)
class Index:
    """Index over bits: 2^address of them."""

    address: int


def multiplexer(bits: list[int], address: Sequence[int]) -> tuple[int, int]:
    """Returns the bit at an address, the highest digit first, by a tree of gates; and how many gates it has."""
    if not address:
        return bits[0], 0
    half = len(bits) // 2
    (low, fewer), (high, more) = (multiplexer(some, address[1:]) for some in (bits[:half], bits[half:]))
    return low ^ (address[0] & (low ^ high)), fewer + more + 3


@claim(
    "4.1/circuit-families",
    source="section 4.1, the remark after Theorem 4.1",
    statement="A chain of thought does not let RNNs of o(n) bits simulate every circuit family of polynomial size: Index over"
    " n = 2^a bits has a circuit of 3(n − 1) gates, and by 4.6/lower-index needs a state of n bits.",
    variant="printed",
)
def test_index_is_a_small_circuit(check: Check) -> None:
    def small(case: Index) -> Counterexample | None:
        n = 2**case.address
        for bits in itertools.product((0, 1), repeat=n):
            for k, digits in enumerate(itertools.product((0, 1), repeat=case.address)):
                found, gates = multiplexer(list(bits), digits)
                if (found, gates) != (bits[k], 3 * (n - 1)):
                    return Counterexample(bits=bits, k=k, found=found, gates=gates)
        return None

    check.exhaustive(
        map(Index, range(4)),
        small,
        count=sum(2**n * n for n in (1, 2, 4, 8)),
        inputs=lambda case: 2**2**case.address * 2**case.address,
        range="all inputs of 1, 2, 4 and 8 bits, every address; that n bits are needed: 4.6/lower-index",
        size=lambda case: 2**case.address,
    )


# Lower bounds


@dataclass(frozen=True)
class Alphabet:
    """Sequences of so many tokens out of so many, a special one after each. distinct: no token twice, of as many as there are."""

    tokens: int
    length: int
    distinct: bool = False

    def inputs(self) -> list[tuple[int, ...]]:
        """Returns all of Alice's."""
        numbers = range(1, self.tokens + 1)
        some = itertools.permutations(numbers) if self.distinct else itertools.product(numbers, repeat=self.length)
        return list(some)


@claim(
    "5.1/any-alphabet",
    statement="Beside an associative-recall oracle, Index over σ tokens with a special one after each needs σ^n/(σ²·2^σ) states,"
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
    check.argued(
        "All σ and n: the oracle knows the first two tokens and which tokens occur, one of σ²·2^σ things; where all n differ, one"
        " of n(n − 1). Ω(n): two tokens of any alphabet already need 2^n/16 states."
    )
