"""Circuits with a recurrent model's state written into them."""

from __future__ import annotations

from circuits.models import find_models
from verify.oracles.advice import unroll


def test_a_state_is_advice() -> None:
    """Parity after zeros: one output bit is x_1 ⊕ x_2 ⊕ x_3, whatever stands before."""
    rnn = find_models()["parity"].load(None, None)
    circuit = unroll(rnn, ("0", "1"), zeros=5, bits=3)
    said = [tuple(circuit.run([x >> i & 1 for i in range(3)])[0]) for x in range(8)]
    assert [said[x] == said[0] for x in range(8)] == [x.bit_count() % 2 == 0 for x in range(8)]
