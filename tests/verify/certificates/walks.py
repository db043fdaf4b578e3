"""The case that one n is in, of all n from 2^63 on; and what its numbers, weights and texts are at this n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.verify.numbers_at import Values, holds, parity, value, values_at
from verify.algebra.polynomial import Polynomial
from verify.algebra.quotients import text
from verify.algebra.symbolic import Symbolic, grows
from verify.algebra.walks import Walk
from verify.automata.token_automaton import Bound, TokenAutomaton
from verify.certificates.above import CasesSurvey, Judge, rounding
from verify.certificates.document import UNKNOWN
from verify.dossiers.dossier import Subject
from verify.rounding.model import ExactModel
from verify.trusted.growth import root

BITS = (64, 65, 66, 80, 127, 128, 200, 255, 1000)
SIZES = st.sampled_from(BITS).flatmap(
    lambda bits: st.one_of(st.integers(2 ** (bits - 1), 2**bits - 1), st.just(2**bits - 3))
)


@dataclass
class WalkAt(Walk):
    """A walk that turns at each split to where one n is. values: of the symbols at this n."""

    values: Values = field(default_factory=dict)

    def _turn(self, split: Any) -> bool:
        is_first = self.values["v"] == self.box.start if split == "v" else holds(split["question"], self.values)
        self.turns = (*(fork.answer for fork in self.forks), is_first)
        return super()._turn(split)


def walk_of(n: int, program: Callable[[Walk], Any], bits_of_bits: int = 7) -> tuple[Walk, Any]:
    """The walk of the case that this n is in, with what the program makes there: all its answers at splits are right for n."""
    assert n.bit_length().bit_length() >= bits_of_bits, "the case is about larger n"
    walk = WalkAt(root(bits_of_bits, parity(n)), values=values_at(n))
    return walk, program(walk)


def values_in(walk: Walk, n: int) -> dict[str, Fraction]:
    """The symbols at n, and the fractions of what the walk has rounded down."""
    fractions = {f"f{i}": at(Symbolic(of, walk), n) % 1 for i, of in enumerate(walk.floors)}
    return values_at(n) | fractions


def require_shown(walk: Walk, n: int) -> None:
    """The walk shows something on its way, and all of it is so at n."""
    values = values_in(walk, n)
    shown = [*walk.shown, *(item for fork in walk.forks for item in fork.shown)]
    assert shown
    assert all(holds((repr(Symbolic(p, walk)), relation), values) for p, relation, _, _ in shown)


def at(number: Any, n: int, values: Values | None = None) -> Fraction:
    """What it is at n. values: of the symbols, where there are more than those of n."""
    if not grows(number):
        return Fraction(number)
    top, under = (value(text(part), values or values_at(n)) for part in (number.top, number.under))
    assert under > 0
    return top / under


def weights(model: ExactModel, n: int) -> list[Fraction]:
    """All numbers of the model, at n."""
    own = [at(w, n) for layer in model.layers for w in layer.weights()]
    families = [end for family in model.families.values() for end in (at(family.low, n), at(family.high, n))]
    fmt = model.arithmetic.format
    return [*own, *families, *(at(x, n) for x in (fmt.significand_bits, fmt.quantum_exponent, fmt.max_quanta))]


def inputs_at(inputs: TokenAutomaton, n: int) -> list[object]:
    """What a text may be, at n."""
    return [
        (
            state.label,
            state.word,
            state.after,
            state.every,
            *(at(number_of(b), n) for b in (state.low, state.high, *state.numbers)),
        )
        for state in inputs.states
    ]


def number_of(bound: Bound) -> Any:
    return bound.constant if isinstance(bound, Polynomial) and bound.is_constant else bound


def surveyed(subject: Subject, *judges: Judge) -> CasesSurvey:
    """Every case, anew, with what is to be judged of it; rounding, if nothing else."""
    survey = CasesSurvey(subject, judges or (rounding,))
    survey.run()
    return survey


def require_unknown(subject: Subject, *judges: Judge) -> tuple[str, str]:
    """Not every case of this subject is certified: where and why."""
    survey = surveyed(subject, *judges)
    assert survey.about["verdict"] == UNKNOWN
    assert survey.theorem is None
    return survey.about["where"], survey.about["what"]
