"""Theorem 4.1 as a theorem with a hypothesis, PSPACE ⊄ P/poly, and the circuits that it speaks of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

from circuits.circuit import Circuit
from circuits.lanes import number_quanta
from circuits.models import Rnn, find_models
from circuits.runs import next_word, run_rnn
from verify.framework.check import Check
from verify.framework.claim import Counterexample, Verdict, claim
from verify.oracles.advice import unroll
from verify.runs.costs import RnnSize

SOURCE = "Theorem 4.1"
ADVICE = "4.1/advice"
RNNS = ("parity", "sum", "shift")  # those that read any bits
LONGEST = 64  # n


@cache
def rnn_of(name: str) -> Rnn:
    """Returns an RNN at its default size."""
    return find_models()[name].load(None, None)


@claim(
    ADVICE,
    statement="What a recurrent model without a chain of thought says to 0^(n − m)x, m = ⌊log2 n⌋, is a circuit of x with at most m"
    " times the gates of its step, and m more for each bit that a step reads; its state after the zeros is written into it.",
)
def test_advice(check: Check) -> None:
    def as_circuit(case: RnnSize) -> Counterexample | None:
        rnn, m = rnn_of(case.rnn), case.n.bit_length() - 1
        circuit, step = unroll(rnn, ("0", "1"), case.n - m, m), rnn.step
        most = m * (len(step.circuit.gates) + len(step.circuit.inputs))
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
        [RnnSize(name, n) for n in sizes for name in RNNS],
        as_circuit,
        range=f"{', '.join(RNNS)}: every x of m bits",
        precision="least p",
    )


def spoken(rnn: Rnn, circuit: Circuit, x: Sequence[int]) -> int:
    """Returns the word that the circuit's output says."""
    p, (bits, _) = rnn.step.precision_bits, circuit.run(x)
    return next_word(rnn, [number_quanta(bits[i : i + p]) for i in range(0, len(bits), p)])


@claim(
    "4.1/separation",
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
