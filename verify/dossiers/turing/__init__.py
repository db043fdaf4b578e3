"""Turing machines: each word of a run, behind those before."""

from verify.dossiers.turing.models import DOSSIERS

__all__ = ["DOSSIERS"]
