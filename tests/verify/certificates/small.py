"""Every text of a small model's language, and its runs against what is certified of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constructions.wiring.wired import Wired
from tests.verify.certificates.runs import contradictions
from verify.automata.language import Language, State
from verify.certificates.document import Judged
from verify.certificates.small import Registers, Unit, Weights, judged

__all__ = ["Registers", "Text", "Unit", "Weights", "deviations", "judged", "texts"]
Text = tuple[tuple[int, State], ...]  # tokens, and their states


def texts(wired: Wired, language: Language) -> Iterator[Text]:
    """Every text that cannot go on."""

    def behind(text: Text, place: int) -> Iterator[Text]:
        here = language.places[place]
        for token in (here.word,) if here.word else map(str, range(here.numbers[0], here.numbers[1] + 1)):
            longer = (*text, (wired.token[token], here.state))
            following = [
                i
                for i, one in enumerate(language.places)
                if place in one.after and one.low <= len(longer) + 1 <= one.high
            ]
            if not following:
                yield longer
            for i in following:
                yield from behind(longer, i)

    yield from behind((), 0)


def deviations(wired: Wired, language: Language, found: Judged, some: Sequence[Text] = ()) -> list[str]:
    """Where a run of one of these texts, or of any, is not as certified."""
    assert found.report is not None
    wrong: list[str] = []
    for text in some or texts(wired, language):
        tokens, answers = [t for t, _ in text], {k for k, (_, state) in enumerate(text, 1) if state in language.answers}
        wrong += contradictions(wired, found.report, tokens, answers)
    return wrong
