"""Subjects of tests."""

from __future__ import annotations

from dataclasses import replace

from constructions.layers import Transformer
from constructions.wiring.wired import Wired
from verify.certificates.building import families_of
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel, described


def of_machine(subject: Subject, machine: str | None, tape: str | None) -> Subject:
    """For a machine, by its name, a file or its rules, and a word; None as of the command."""
    return replace(subject, dossier=subject.dossier.take({"machine": machine, "tape": tape}))


def as_model(subject: Subject, wired: Wired, weights: Transformer | None = None) -> ExactModel:
    """What the static checker reads of a model's matrices. weights: others than are wired."""
    families = families_of(subject)
    return described(weights or wired.model, wired.arithmetic, wired.registers, wired.vocabulary, families)
