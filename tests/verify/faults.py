"""Faults of builders, definitions and texts at some n alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from constructions.language.terms import Answer, Say
from constructions.parts.heads import match
from constructions.retrieval.task import FAILED
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.dossiers.dossier import Subject
from verify.dossiers.retrieval.tasks import Retrieval

Change: TypeAlias = Callable[[Any], bool]
"""Whether n is one of those."""


def change_scale(patch: pytest.MonkeyPatch, where: Change, change: Callable[[Any], Any] | None = None) -> None:
    """Heads take another scale, by default one at which position 1 costs more than other keys do."""
    own = match.match_scale

    def scale(setting: Any, printed: Any) -> Any:
        found = own(setting, printed)
        if printed or not where(setting.n):
            return found
        return found._replace(default=found.default * 8) if change is None else change(found)

    for module in [*sys.modules.values()]:
        if getattr(module, "match_scale", None) is own:
            patch.setattr(module, "match_scale", scale)


def take_fewer_bits(patch: pytest.MonkeyPatch, kind: type[Any], where: Change) -> None:
    """Models of this kind are built with two bits less than they need."""
    own = kind.least_precision

    def less(model: Any, n: Any, *more: Any, **options: Any) -> Any:
        return own(model, n, *more, **options) - (2 if where(n) else 0)

    patch.setattr(kind, "least_precision", less)


def define_failure(patch: pytest.MonkeyPatch, where: Change) -> None:
    """Nothing is ever to be found."""
    own = Retrieval.definition

    def failing(self: Retrieval, subject: Subject, label: Label) -> Answer | None:
        return Say(FAILED) if where(subject.n) else own(self, subject, label)

    patch.setattr(Retrieval, "definition", failing)


def leave_out_a_number(patch: pytest.MonkeyPatch, where: Change) -> None:
    """The number n stands in no text."""
    own = Retrieval.texts

    def texts(self: Retrieval, subject: Subject) -> TokenAutomaton:
        automaton, n = own(self, subject), subject.n
        if not where(n):
            return automaton
        states = (replace(one, numbers=(1, n - 1)) if one.numbers[1] else one for one in automaton.states)
        return replace(automaton, states=tuple(states))

    patch.setattr(Retrieval, "texts", texts)
