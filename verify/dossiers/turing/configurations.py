"""The texts of the machine whose tape turns around: configurations, one after the other, each of cells with one head among them.

Digits are any of their kind, and a configuration has any number of cells. That one follows from the other is not said here but by
the invariant: each digit is the one in front of the queue. After OUT and HALT nothing is asked.
"""

from __future__ import annotations

from dataclasses import replace

from constructions.turing.configurations import BLANK, CELL, HALTED, HEAD, RUN, START, TURN, AnyTextTask, Code
from constructions.turing.cot import sequence_length
from verify.automata.token_automaton import Delayed, Label, State, TokenAutomaton

Order = dict[Label, tuple[str, tuple[Label, ...]]]  # a state's label → its word or family, and what it may follow
FIRST_HEAD, LAST_TURN = "the first head", "the last turn"
BEFORE_HEAD, BEHIND_HEAD = "the prompt, left of the head", "the prompt, right of the head"


def queue(cells: int) -> Delayed:
    """Assumes a chain of thought that the model has written itself."""
    return Delayed("the digit in front of the queue", "leaving", "entering", cells, passes(f"{cells}"))


def passes(cells: str) -> str:
    """Returns the same as a statement."""
    before = "a token" if cells == "1" else f"{cells} tokens"
    return f"after the prompt, a token's digit is the one that entered the queue {before} before; in it, none leaves"


def turing(task: AnyTextTask) -> TokenAutomaton:
    """Returns every text of at most so many steps."""
    order: Order = {Label(START): (START, ())}
    left = _cells(order, BEFORE_HEAD, Label(START))
    order[Label(FIRST_HEAD)] = (HEAD, left)
    order[Label(RUN)] = (RUN, _cells(order, BEHIND_HEAD, Label(FIRST_HEAD)))
    in_prompt = frozenset(order)
    left = _cells(order, "left of the head", Label(RUN), Label(TURN))
    for head, turn in ((HEAD, TURN), (HALTED, LAST_TURN)):
        order[Label(head)] = (head, left)
        order[Label(turn)] = (TURN, _cells(order, f"right of the {head}", Label(head)))

    prompt, end = task.cells + 2, sequence_length(task.cells, task.steps)
    code = Code(task.machine)
    numbers = {family.name: (family.low, family.high) for family in code.words.families}
    start = (code.first_head, code.first_head + task.machine.symbols - 1)  # in state A
    number = {label: i for i, label in enumerate(order)}
    states = []
    for label, (token, after) in order.items():
        low, high = (1, 1) if token == START else (2, prompt) if label in in_prompt else (4, end)
        behind = tuple(number[other] for other in after)
        if token in numbers:
            number_range = start if label.part == FIRST_HEAD else numbers[token]
            states.append(State(label, low, high, behind, numbers=number_range, family=token))
        else:
            states.append(State(label, low, high, behind, token))
    return TokenAutomaton(tuple(states), frozenset(order), (task.steps, task.steps), (queue(task.cells),))


def _cells(order: Order, where: str, *begin: Label) -> tuple[Label, ...]:
    """Adds any number of cells without a head after the states `begin`. Returns the states after which the next word stands."""
    labels = tuple(Label(kind, case=where) for kind in (BLANK, CELL))
    for label, kind in zip(labels, (BLANK, CELL), strict=True):
        order[label] = (kind, (*begin, *labels))
    return (*begin, *labels)


def spaced(automaton: TokenAutomaton, cells: int) -> TokenAutomaton:
    """Returns the texts of a tape that turns around: prompts of so many cells, and what is written after them."""
    run, end = next(i for i, state in enumerate(automaton.states) if state.word == RUN), cells + 2
    prompt = [replace(state, high=min(state.high, end - 1)) for state in automaton.states[:run]]  # type: ignore[type-var]
    written = [replace(state, low=end + 1) for state in automaton.states[run + 1 :]]
    return replace(automaton, states=(*prompt, replace(automaton.states[run], low=end), *written))
