"""The certificate of rounding that a small checker accepts: it says which texts a file of weights is asked about.

`verify/trusted/rounding.py` says what is proved of them. Nothing here is trusted but the automaton of the task's texts.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from constructions.exports.weights import file_bytes
from verify.automata.token_automaton import TokenAutomaton
from verify.certificates.building import automaton_of, wired_of
from verify.dossiers.dossier import Subject
from verify.trusted.rounding import Rejected, check


def certificate_of(automaton: TokenAutomaton, weights: bytes, precision_bits: int, discipline: str) -> dict[str, Any]:
    """The certificate. Raises Rejected, naming it, for what its format has no field for."""
    if automaton.invariants:
        raise Rejected(f"no rule for the invariant {automaton.invariants[0].name}")
    states = []
    for state in automaton.states:
        if state.every != 1 or state.same:
            raise Rejected(f"no rule for the state {state.label}: its positions or numbers depend on others")
        (low, _), (_, high) = map(automaton.range, state.numbers)
        positions = automaton.range(state.low)[0], automaton.range(state.high)[1]
        states.append(
            {
                "words": [state.word] if state.word else [str(i) for i in range(low, high + 1)],
                "low": positions[0],
                "high": positions[1],
                "after": list(state.after),
                "behind": state.behind,
                "answer": state.label in automaton.answers,
            }
        )
    digest = hashlib.sha256(weights).hexdigest()
    return {"p": precision_bits, "discipline": discipline, "weights": digest, "automaton": states}


def accepted_certificate(subject: Subject) -> dict[str, Any]:
    """The certificate of a model of one n, which the checker accepts. Raises Rejected where it has no rule."""
    wired = wired_of(subject)
    weights, discipline = file_bytes(wired.model), wired.arithmetic.discipline.value
    document = certificate_of(automaton_of(subject), weights, wired.arithmetic.format.significand_bits + 1, discipline)
    check(json.dumps(document).encode(), weights, json.dumps({"vocabulary": wired.vocabulary}).encode())
    return document
