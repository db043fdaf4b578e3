"""Theorem 4.1, the half that rests on PSPACE ⊄ P/poly, and the remark on circuit families behind it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from circuits.circuit import Circuit
from circuits.lanes import number_quanta
from circuits.models import Rnn, find_models
from circuits.runs import next_word, run_rnn
from verify.claims.reductions import STATES
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Verdict, claim
from verify.oracles import lower_bounds
from verify.oracles.advice import multiplexer, unrolled

SOURCE = "Theorem 4.1"
ADVICE = "4.1/advice"
RNNS = ("parity", "sum", "shift")  # those that read any bits
LONGEST, WIDEST = 64, 4  # n; bits of an address


@cache
def rnn_of(name: str) -> Rnn:
    """At its default size."""
    return find_models()[name].load(None, None)


@dataclass(frozen=True)
class Behind:
    """An RNN, and the length of 0^(n − m)x, where x has m = ⌊log2 n⌋ bits."""

    rnn: str
    n: int

    @property
    def bits(self) -> int:
        """m."""
        return self.n.bit_length() - 1


@claim(
    ADVICE,
    source=SOURCE,
    statement="What a recurrent model without a chain of thought says to 0^(n − m)x, m = ⌊log2 n⌋, is a circuit of x with at most m"
    " times the gates of its step, and m more for each bit that a step reads; its state behind the zeros is written into it.",
)
def test_advice(check: Check) -> None:
    def as_circuit(case: Behind) -> Counterexample | None:
        rnn, m = rnn_of(case.rnn), case.bits
        circuit, step = unrolled(rnn, ("0", "1"), case.n - m, m), rnn.step
        most = m * (len(step.circuit.gates) + 4 * len(step.circuit.inputs)) + 2
        if len(circuit.gates) > most:
            return Counterexample(gates=len(circuit.gates), bound=most)
        for x in itertools.product((0, 1), repeat=m):
            words = [rnn.vocabulary.index(str(bit)) for bit in (*(case.n - m) * (0,), *x)]
            said, found = run_rnn(rnn, words, 1)[-1].written, spoken(rnn, circuit, x)
            if said != found:
                return Counterexample(x=x, said=rnn.vocabulary[said], circuit=rnn.vocabulary[found])
        return None

    sizes = [n for n in (2, 3, 4, 7, 8, 15, 16, 33, LONGEST) if n <= check.n_max]
    check.chosen(
        [Behind(name, n) for n in sizes for name in RNNS],
        as_circuit,
        range=f"{', '.join(RNNS)}: every x of m bits",
        size=lambda case: case.n,
        precision="least p",
    )


def spoken(rnn: Rnn, circuit: Circuit, x: Sequence[int]) -> int:
    """The word that the circuit's output says."""
    p, (bits, _) = rnn.step.precision_bits, circuit.run(x)
    return next_word(rnn, [number_quanta(bits[i : i + p]) for i in range(0, len(bits), p)])


@claim(
    "4.1/separation",
    source=SOURCE,
    statement="Hypothesis: PSPACE is not contained in P/poly. Then a chain of thought strictly helps Linear RNNs of constant size.",
    variant="printed",
    expected=Verdict.UNKNOWN,
)
def test_separation(check: Check) -> None:
    check.assumed("PSPACE is not contained in P/poly: nobody has proved it.")
    check.argued(
        "Some language is decided in linear space and by no circuits of polynomial size: pad one of PSPACE outside P/poly up to its"
        " own space."
    )
    check.argued(
        f"Of 0^(n − m)x, a model without a chain of thought says a circuit of x ({ADVICE}). A step's circuit has poly(p) gates"
        " (3.3/circuit-size) and p = O(log n) = O(m), so these circuits are of polynomial size in m, one for each m."
    )
    check.argued(
        "With a chain of thought a Linear RNN of constant size runs any machine in space m (4.1 and the claims below it), in at"
        " most as many steps as it has configurations: 2^O(m) = poly(n)."
    )
    check.unknown("what is checked are its parts: the theorem rests on a hypothesis that is open, and on arguments")


@claim(
    "4.1/circuit-families",
    source="section 4.1, the remark behind Theorem 4.1",
    statement="A chain of thought does not let RNNs of o(n) bits simulate every family of circuits of polynomial size: fewer than"
    " 3·2^a gates compute Index on 2^a bits, for which an RNN needs 2^a bits of state, whatever it thinks.",
)
def test_circuit_families(check: Check) -> None:
    def is_index(address: int) -> Counterexample | None:
        """Every input at once: lane j has the bits of j."""
        circuit, n = multiplexer(address), 1 << address
        if circuit.operations >= 3 * n:
            return Counterexample(gates=circuit.operations, bound=3 * n)
        lanes = 1 << (n + address)
        inputs = [column(i, n + address) for i in range(n + address)]
        (found,), _ = circuit.run(inputs, lanes=lanes)
        x, k = inputs[:n], inputs[n:]
        expected, ones = 0, (1 << lanes) - 1
        for place in range(n):
            here = ones
            for i in range(address):
                bit = k[i]
                here &= bit if place >> i & 1 else ones ^ bit
            expected |= here & x[place]
        return None if found == expected else Counterexample(differ=(found ^ expected).bit_count())

    widest = [a for a in range(1, WIDEST + 1) if 1 << a <= check.n_max]
    check.exhaustive(
        widest,
        is_index,
        count=sum(1 << ((1 << a) + a) for a in widest),
        inputs=lambda a: 1 << ((1 << a) + a),
        range="every 2^a bits and every address of a bits",
        size=lambda a: 1 << a,
    )
    shown = lower_bounds.INDEX
    check.proved(
        [shown.with_proof()],
        by="an argument for each place of the words, whatever n is",
        range="the answer is that of x_k, and the two answers differ: every n ≥ 2, every x and k",
    )
    check.argued(STATES)
    check.argued("Any a: the circuit chooses 2^a − 1 times between two bits, by three gates each.")


def column(i: int, bits: int) -> int:
    """Bit i of each number below 2^bits, that of the number j at place j."""
    block = ((1 << (1 << i)) - 1) << (1 << i)  # 2^i zeros below 2^i ones
    repeat = ((1 << (1 << bits)) - 1) // ((1 << (2 << i)) - 1)
    return block * repeat
