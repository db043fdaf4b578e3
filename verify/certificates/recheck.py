"""A certified model of which one sublayer is not what it was: the check from there on, until it goes on as before.

Up to the sublayer nothing is new. After it, if the states are those of the certified model, so is all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify.algebra.domains import Space
from verify.automata.token_automaton import TokenAutomaton
from verify.rounding.abstract_state import AbstractState
from verify.rounding.checker import Entry, Report, behind_sublayer, require_output, require_weights
from verify.rounding.model import ExactModel


def is_same_function(
    model: ExactModel, automaton: TokenAutomaton, own: ExactModel, certified: Report, changed: int
) -> bool:
    """Returns whether the ideal model is that of the certified one, as far as the first difference. Raises Refused or Undecided
    before it.

    own, certified: the model of which the weights of this sublayer were changed, and the report on it.
    """
    require_weights(model, automaton)
    if any(_keep(model, number) != _keep(own, number) for number in range(changed)):
        return False  # what is read after a sublayer is told there
    entry = certified.entries[changed]
    space = Space(model.arithmetic.format, entry.names)
    states = [replace(state, space=space) for state in entry.states]
    for number in range(changed, 2 * len(model.layers)):
        if number > changed and _goes_on(states, space, certified.entries[number]):
            return True
        report = Report(model.registers)
        states = behind_sublayer(model, automaton, number, states, report)
        before, behind = certified.entries[number : number + 2]
        if report.texts != certified.texts[before.trace : behind.trace]:
            return False
    require_output(model, states)
    return True


def _keep(model: ExactModel, number: int) -> frozenset[int]:
    """Returns the registers that are read after a sublayer."""
    return model.live(number // 2, feed_forward=number % 2 == 0)


def _goes_on(states: Sequence[AbstractState], space: Space, entry: Entry) -> bool:
    """Returns whether a check stands where another one stood."""
    return (
        space.given == entry.names and [replace(state, space=entry.states[0].space) for state in states] == entry.states
    )
