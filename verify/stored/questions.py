"""The question that a stored document answers at some n, as one text: which texts, which definition, which options.

The text has what these are, never what they are called: the states of the token automaton with their bounds, the terms of the
definition at each state, the options of the model. n is a symbol in it. So one text stands for many n, and where texts or
definition have a case for some n, these have a text of their own. The text is the same in every process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

from constructions.language.terms import Atom, Term
from verify.algebra.interval import symbol
from verify.algebra.polynomial import Polynomial
from verify.algebra.quotients import text
from verify.algebra.symbolic import grows
from verify.automata.token_automaton import Consecutive, Delayed, TokenAutomaton
from verify.dossiers.dossier import About, Subject
from verify.rounding.model import ExactModel


def question_from(subject: Subject, about: About, low: int, high: int) -> tuple[int, str]:
    """Returns the last n, `high` at most, up to which one question stands for every n from low on, and this question.

    Raises TypeError where texts or definition ask what has another answer at each n.
    """
    from verify.programs.intervals import sized_texts

    n: Any = symbol(low, high) if low < high else low
    one = replace(subject, n=n, last=0)
    asked = question(one, about, sized_texts(one) if low < high else subject.dossier.texts(one))
    return (n.oracle.high if low < high else high), asked


def question(subject: Subject, about: About, texts: TokenAutomaton) -> str:
    """Returns the question at the subject's n, which may be a symbol."""
    dossier = subject.dossier
    lines: list[object] = [about, replace(subject, n=0, last=0).as_case(), dossier.is_stepwise]
    if about == "program":
        texts = dossier.compared_texts(subject, texts)
        due = [state.label for state in texts.states if dossier.is_stepwise or state.label in texts.answers]
        lines.append([(label, dossier.definition(subject, label)) for label in due])
        lines += [dossier.invariant_terms(subject) for one in texts.invariants if isinstance(one, Consecutive)]
        lines += [dossier.invariant_terms(subject)[0] for one in texts.invariants if isinstance(one, Delayed)]
    return "\n".join(map(canonical, (*lines, texts)))


def texts_of(model: ExactModel, texts: TokenAutomaton) -> str:
    """Returns what a certificate of this model is about: the texts, and the coordinates of the registers that they name."""
    named = {*texts.loose, *(str(getattr(one, field.name)) for one in texts.invariants for field in fields(one))}
    return canonical([texts, [(i, str(name)) for i, name in enumerate(model.registers) if name in named]])


def canonical(value: Any) -> str:
    """Writes a value so that two texts are the same only if the values are equal. Raises TypeError for an unknown kind."""
    kind: Any = type(value)
    if kind is str:  # most values are one of these; to ask what a value is an instance of takes longer
        return json.dumps(value)
    if kind is int:
        return str(value)
    if kind is tuple or kind is list:
        return f"[{' '.join(map(canonical, value))}]"
    if isinstance(value, Term | Atom):
        return value.order
    if isinstance(value, Enum):
        return canonical(value.value)
    if grows(value):
        return f"{text(value.top)}/{text(value.under)}"
    if value is None or isinstance(value, int | Fraction):
        return str(value)
    if isinstance(value, str):
        return json.dumps(str(value))
    if isinstance(value, Polynomial):
        return f"{{{' '.join(sorted(_pairs(value.terms)))}}}"
    if is_dataclass(value):
        pairs = [(name, getattr(value, name), is_always) for name, is_always in _fields(kind)]
        parts = [f"{name}={canonical(one)}" for name, one, is_always in pairs if one or is_always]
        return f"{kind.__name__}({' '.join(parts)})"
    if isinstance(value, Mapping):
        return f"{{{' '.join(sorted(_pairs(value)))}}}"
    if isinstance(value, AbstractSet):
        return f"{{{' '.join(sorted(map(canonical, value)))}}}"
    if isinstance(value, tuple | list):
        return f"[{' '.join(map(canonical, value))}]"
    raise TypeError(f"no text for {type(value).__name__}")


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """Returns the fields of a dataclass, and which of them are always written.

    What most values lack is left out of them, so that documents from before it stay as they are.
    """
    return tuple((field.name, "said" not in field.metadata) for field in fields(kind))


def _pairs(items: Mapping[Any, object]) -> Iterator[str]:
    return (f"{canonical(key)}:{canonical(item)}" for key, item in items.items())
