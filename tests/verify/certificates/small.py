"""Runs of small models against what is certified of them."""

from __future__ import annotations

from collections.abc import Sequence

from constructions.wiring.wired import Wired
from tests.verify.certificates.runs import contradictions
from verify.certificates.document import Judged
from verify.certificates.language import Language
from verify.certificates.small import Registers, Text, Unit, Weights, judged, texts

__all__ = ["Registers", "Text", "Unit", "Weights", "deviations", "judged", "texts"]


def deviations(wired: Wired, language: Language, found: Judged, some: Sequence[Text] = ()) -> list[str]:
    """Where a run of one of these texts, or of any, is not as certified."""
    assert found.report is not None
    wrong: list[str] = []
    for text in some or texts(wired, language):
        tokens, answers = [t for t, _ in text], {k for k, (_, name) in enumerate(text, 1) if name in language.answers}
        wrong += contradictions(wired, found.report, tokens, answers)
    return wrong
