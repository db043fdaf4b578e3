"""Writes what a certificate of rounding is about: the format, n, the texts, what is assumed of runs, and the weights as exact rows.

Whoever relies on a certificate that was made here trusts this file beside the small checker: a text that it left out would have no
class. `accept` writes these parts itself, whatever the certificate says in their place.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from constructions.rows import HeadRows, Layer, Recurrent, Row, UnitRows
from verify.algebra.symbolic import grows
from verify.automata.token_automaton import Apart, Consecutive, Delayed, Invariant, Limited, TokenAutomaton
from verify.rounding.model import ExactModel
from verify.rounding.rows import as_polynomial
from verify.trusted import rounding
from verify.trusted.growing import Case, Growing
from verify.trusted.growth import root
from verify.trusted.kernel import Rejected
from verify.trusted.model import text_of
from verify.trusted.polynomials import Polynomial

Document = dict[str, Any]
NOWHERE = Case(root(2, 0))  # of numbers that are written, and not compared


def accept(certificate: Document, model: ExactModel, automaton: TokenAutomaton) -> int:
    """Returns how many classes the small checker accepts in a certificate of this model and these texts. Raises Rejected."""
    rows = json.dumps(rows_of(model)).encode()
    own = {**certificate, **statement_of(model, automaton), "weights": hashlib.sha256(rows).hexdigest()}
    return rounding.check(json.dumps(own).encode(), rows)


def terms(polynomial: Any) -> Polynomial:
    return {m: number_of(c) for m, c in as_polynomial(polynomial).terms.items()}


def number_of(value: Any) -> Any:
    """Returns a number, one of a case as the small checker writes it."""
    return Growing(NOWHERE, value.top, value.under) if grows(value) else value


def text_or_number(value: Any) -> Any:
    """Returns a whole number as a certificate has it: a text where it depends on n."""
    return str(number_of(value)) if grows(value) else int(value)


def text(polynomial: Any) -> str:
    return text_of(terms(polynomial))


def rows_of(model: ExactModel) -> Document:
    """Returns the model as a file of exact rows."""

    def row(items: Row) -> dict[str, str]:
        return {str(i): text(w) for i, w in items}

    def rows(items: Any) -> dict[str, dict[str, str]]:
        return {str(i): row(one) for i, one in items}

    def head(one: HeadRows) -> Document:
        return {part: [row(r) for r in getattr(one, part)] for part in ("query", "key", "value")}

    def unit(one: UnitRows) -> Document:
        biases = {"gate_bias": text(one.gate_bias), "up_bias": text(one.up_bias)}
        return {"gate": row(one.gate), "up": row(one.up), **biases}

    def block(layer: Layer) -> Document:
        recurrence = layer.recurrence or Recurrent((), ())
        return {
            "heads": [head(one) for one in layer.heads],
            "out": rows(layer.out),
            "units": [unit(one) for one in layer.feed_forward.units],
            "down": {str(i): [row(one), text(bias)] for i, one, bias in layer.feed_forward.down},
            "carry": rows(recurrence.carry),
            "feed": rows(recurrence.feed),
        }

    return {
        "families": {
            name: {
                "low": text_or_number(f.low),
                "high": text_or_number(f.high),
                "rows": {str(i): text(p) for i, p in f.rows.items()},
            }
            for name, f in model.families.items()
        },
        "words": {word: row(one) for word, one in model.specials.items()},
        "position": row(model.position),
        "blocks": [block(layer) for layer in model.layers],
    }


def statement_of(model: ExactModel, automaton: TokenAutomaton) -> Document:
    """Returns all that a certificate says but its classes and choices, and the digest of weights. Raises Rejected."""
    for one in automaton.states:
        if one.contents or one.same:
            raise Rejected(f"the format has no field for what a token holds, or repeats, at {one.label}")
    return {
        "p": text_or_number(model.arithmetic.format.significand_bits + 1),
        "discipline": model.arithmetic.discipline.value,
        "n": [*map(text_or_number, automaton.sizes)],
        "automaton": [
            {
                "label": str(state.label),
                "word": state.word,
                "family": state.family,
                "least": text(state.numbers[0]),
                "most": text(state.numbers[1]),
                "low": text(state.low),
                "high": text(state.high),
                "every": state.every,
                "ends": state.behind,
                "after": list(state.after),
                "answer": state.label in automaton.answers,
            }
            for state in automaton.states
        ],
        "invariants": [said for item in automaton.invariants if (said := invariant_of(item, model)) is not None],
    }


def invariant_of(item: Invariant, model: ExactModel) -> Document | None:
    """Returns an invariant, or None for one of registers that the model does not have."""
    said: Document = {"name": item.name, "statement": item.statement}
    named: dict[str, str] = {}
    match item:
        case Apart():
            said |= {"kind": "apart", "by": item.by}
            named = {"group": item.group}
        case Consecutive():
            said |= {"kind": "consecutive", "most": text(item.most)}
            named = {"group": item.group, "share": item.count}
        case Limited():
            said |= {"kind": "limited", "most": text(item.most)}
            named = {"sum": item.sum}
        case Delayed():
            said |= {"kind": "delayed", "by": item.by}
            named = {"late": item.late, "early": item.early}
        case _:
            raise Rejected(f"the format has no invariant such as {item.name}")
    if not set(named.values()) <= {*model.registers}:
        return None
    return said | {field: model.registers.index(name) for field, name in named.items()}
