"""The tokens of Theorem 4.8's Transformer are those of the circuit: induction over gates and steps, for every circuit and length.

What is shown of the weights is each single token: right if those that it reads are (verify/dossiers/gates.py). The lines `says-…`
of gates.smt2 say this, and a solver decides that then all tokens are right, of an RNN that does not search.
"""

from __future__ import annotations

from verify.induction import theory as theories
from verify.induction.theory import Theory


def theory() -> Theory:
    """Returns the lemmas. They are about all circuits, so they need no circuit."""
    lemmas = Theory({})
    lemmas.add(theories.text_of("gates", __name__.rpartition(".")[0]))
    lemmas.runs = ("verify.dossiers.rnn.runs.gates",)
    return lemmas
