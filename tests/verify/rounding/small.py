"""Every text of a small model's language, and its runs against what is certified of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from constructions.wiring.wired import Wired
from tests.verify.certificates.runs import contradictions, lost
from verify.automata.token_automaton import Label, TokenAutomaton
from verify.certificates.document import CERTIFIED, Judged
from verify.certificates.small import RegisterNames, Unit, Weights, judged

__all__ = [
    "RegisterNames",
    "Text",
    "Unit",
    "Weights",
    "deviations",
    "judged",
    "require_certified",
    "require_kept",
    "texts",
]
Text = tuple[tuple[int, Label], ...]  # tokens, and their states


def texts(wired: Wired, automaton: TokenAutomaton) -> Iterator[Text]:
    """Every text that cannot go on."""

    def behind(text: Text, state: int) -> Iterator[Text]:
        here = automaton.states[state]
        for token in (here.word,) if here.word else map(str, range(here.numbers[0], here.numbers[1] + 1)):
            longer = (*text, (wired.token[token], here.label))
            following = [
                i
                for i, one in enumerate(automaton.states)
                if state in one.after and one.low <= len(longer) + 1 <= one.high
            ]
            if not following:
                yield longer
            for i in following:
                yield from behind(longer, i)

    yield from behind((), 0)


def require_certified(wired: Wired, automaton: TokenAutomaton, some: Sequence[Text] = ()) -> None:
    """Checks that a model is certified, and is as certified on these texts, or any; and that no position of a text is lost."""
    found = judged(wired, automaton)
    assert found.verdict == CERTIFIED
    require_kept(wired, automaton, found, some)


def require_kept(wired: Wired, automaton: TokenAutomaton, found: Judged, some: Sequence[Text] = ()) -> None:
    """Checks the same of a verdict; of one that certifies nothing, nothing."""
    if found.verdict == CERTIFIED:
        assert deviations(wired, automaton, found, some) == []
        assert found.report is not None
        assert lost(wired, found.report, [*some] or [*texts(wired, automaton)], automaton.answers) == []


def deviations(wired: Wired, automaton: TokenAutomaton, found: Judged, some: Sequence[Text] = ()) -> list[str]:
    """Where a run of one of these texts, or of any, is not as certified."""
    assert found.report is not None
    wrong: list[str] = []
    for text in some or texts(wired, automaton):
        tokens, answers = (
            [t for t, _ in text],
            {k for k, (_, label) in enumerate(text, 1) if label in automaton.answers},
        )
        wrong += contradictions(wired, found.report, tokens, answers)
    return wrong
