"""A run of a machine as a scene of the page: the tape, and what the words up to each position say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from constructions.show.trace import TokenTrace
from constructions.turing.base import TuringModel
from constructions.turing.configurations import BAR
from constructions.turing.simulator import TuringStep
from constructions.turing.tape_models import TO_LEFT, TO_RIGHT

ENDS = frozenset((TO_LEFT, TO_RIGHT, BAR))  # the last word of a step, in every model


class TapeScene:
    """The steps that a run's words spell out, and where each is complete."""

    def __init__(self, model: TuringModel, words: Sequence[str], prompt_length: int) -> None:
        self.word = model.machine.word(model.tape)
        self.steps = list(model.read_steps(words))
        self.done = _done(model, words, prompt_length, len(self.steps))

    def document(self) -> Mapping[str, object]:
        """Returns the run as scenes.js reads it: the word, a row for each move, and how far the run was after each token."""
        moves = [(s.state, s.head, s.written, s.head + s.move, s.next_state) for s in self.steps]
        return {"kind": "tape", "word": self.word, "moves": moves, "done": self.done}

    def says(self, token: TokenTrace) -> str:
        """Returns the machine's step that is being written, or the one that is complete with this token's successor."""
        number = self.done[token.position - 1]
        if number < len(self.steps):
            return f"Machine step {number + 1}: {_sentence(self.steps[number])}"
        return f"All {number} machine steps are written. Writes {token.produced}."


def _sentence(step: TuringStep) -> str:
    where = "right" if step.move > 0 else "left"
    return (
        f"in state {step.state} on cell {step.head} it reads {step.read}, writes {step.written}, goes {where}, "
        f"and is in state {step.next_state} then."
    )


def _done(model: TuringModel, words: Sequence[str], prompt_length: int, steps: int) -> list[int]:
    """Returns how many steps are complete, at each position."""
    ends = [place > prompt_length and word in ENDS for place, word in enumerate(words, start=1)]
    if sum(ends) == steps:
        return list(accumulate(map(int, ends)))
    done, number = [], 0  # what a search returned may look like an end
    for place, end in enumerate(ends, start=1):
        if end:
            number = sum(1 for _ in model.read_steps(words[:place]))
        done.append(number)
    return done
