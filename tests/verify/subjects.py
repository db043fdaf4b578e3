"""Subjects of tests."""

from __future__ import annotations

from dataclasses import replace

from verify.dossiers.dossier import Subject


def of_machine(subject: Subject, machine: str | None, tape: str | None) -> Subject:
    """For a machine, by its name, a file or its rules, and a word; None as of the command."""
    return replace(subject, dossier=subject.dossier.given({"machine": machine, "tape": tape}))
