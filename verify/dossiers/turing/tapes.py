"""The texts of the models that write a Turing machine's tape: a prompt of symbols, then steps of a fixed number of words.

Numbers are any that their family has: that a step does what the machine does is not assumed. What is assumed is the form: a step
follows only on one whose new state has a row, and a search returns a symbol or FAILED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from constructions.models.search import END_SEARCH, FAILED, START_SEARCH
from constructions.turing import rag
from constructions.turing.machine import LETTERS
from constructions.turing.rag import PLACE, TapeSearch
from constructions.turing.tape_models import CELL, START, STATE, SYMBOL, TO_LEFT, TO_RIGHT, AnyTapeTask, number_families
from verify.algebra.interval import as_form
from verify.algebra.polynomial import Polynomial, whole
from verify.automata.token_automaton import Bound, Label, State, TokenAutomaton

FAMILIES = {"hybrid": number_families, "rag": rag.families}
STEP, COPY, LAST_COPY, LAST = "a step", "a copy", "the last copy", "the last"  # parts of a text
CELLS = frozenset([CELL, SYMBOL, STATE, PLACE])


def _bound(value: int) -> Bound:
    """Returns a number, or a form of n where it was made of a symbol."""
    weight = as_form(value)
    return weight if isinstance(weight, Polynomial) else whole(weight)


@dataclass
class _TapeStates:
    """States of a text, written from left to right. ends: the states that the next one may follow."""

    numbers: dict[str, tuple[Bound, Bound]]
    states: list[State] = field(default_factory=list)
    ends: tuple[int, ...] = ()
    position: int = 0  # of the last word, in the first round

    def write(self, label: Label, choices: Sequence[str], every: int = 1, rounds: Bound = 1) -> tuple[int, ...]:
        """Returns the next word, or number of a family, one of `choices`."""
        self.position += 1
        ends = []
        for choice in choices:
            high = (rounds - 1) * every + self.position
            chosen = replace(label, case=choice) if label.number else replace(label, which=choice)
            state = State(chosen, self.position, high, self.ends, every=every)
            of_family = replace(state, numbers=self.numbers.get(choice, (0, 0)), family=choice)
            ends.append(len(self.states))
            self.states.append(of_family if choice in CELLS else replace(state, word=choice))
        self.ends = tuple(ends)
        return self.ends

    def repeat(self, part: str, items: Sequence[Sequence[str]], rounds: Bound) -> None:
        """Adds so many words a round, at most so many rounds."""
        written = [
            self.write(Label(part, number=i), choices, len(items), rounds) for i, choices in enumerate(items, start=1)
        ]
        for i in written[0]:
            self.states[i] = replace(self.states[i], after=(*self.states[i].after, *self.ends))
        if isinstance(rounds, int):  # else nothing comes after
            self.position += len(items) * (rounds - 1)

    def halt(self, rows: int, states: int) -> None:
        """Adds a state without a row after a last state; after its direction nothing stands."""
        state, *arrows = (i for i in range(len(self.states) - 3, len(self.states)))
        self.states[state] = replace(self.states[state], numbers=(0, rows - 1))
        last = replace(self.states[state], label=Label(LAST, STATE), numbers=(rows, states))
        self.states.append(last)
        behind = (len(self.states) - 1,)
        self.states += [replace(self.states[i], label=Label(LAST, self.states[i].word), after=behind) for i in arrows]


def turing(task: AnyTapeTask, model: str, search: TapeSearch, sizes: tuple[int, int]) -> TokenAutomaton:
    """Returns all texts of up to so many steps after a word as long as the task's. sizes: of the steps, perhaps a symbol."""
    text = _TapeStates({f.name: (_bound(f.low), _bound(f.high)) for f in FAMILIES[model](task)})
    text.write(Label("the"), [START])
    if task.tape:
        text.repeat("the word", [[SYMBOL]], len(task.tape))
    step = [[CELL], [SYMBOL], [CELL], [STATE], [TO_LEFT, TO_RIGHT]]
    if model == "rag":
        copy = [[START_SEARCH], [PLACE], [END_SEARCH]]
        if task.tape:
            text.repeat(COPY, [*copy, [SYMBOL], [CELL], [SYMBOL], [CELL]], len(task.tape))
        for i, choices in enumerate([*copy, [FAILED]], start=1):
            text.write(Label(LAST_COPY, number=i), choices)
        ask = [START_SEARCH, search.before, CELL, search.between, CELL, search.behind, END_SEARCH]
        step = [*([word] for word in ask), [SYMBOL, FAILED], *step]
    if task.steps:
        text.repeat(STEP, step, _bound(task.steps))
        if len(task.machine.rows) < len(LETTERS):
            text.halt(len(task.machine.rows), len(LETTERS) - 1)
    return TokenAutomaton(tuple(text.states), frozenset(state.label for state in text.states), sizes)


def copied(automaton: TokenAutomaton, length: int) -> TokenAutomaton:
    """Returns the texts of a machine that searches: a word of this length is copied first, as cells of the word."""
    return replace(
        automaton,
        states=tuple(
            replace(state, numbers=(0, length - 1))
            if state.label.part == COPY and state.family in (CELL, PLACE)
            else state
            for state in automaton.states
        ),
    )
