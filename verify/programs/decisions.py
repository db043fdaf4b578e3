"""Whether a program says what a definition says: in each case of the definition the largest logit is the word that it names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from verify.certificates.domains import Undecided
from verify.certificates.model import Model
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.programs.terms import Above, Answer, Equal, If, Term, as_term
from verify.programs.text import Teller

Case = tuple[Term, bool]  # a bit, and whether it is 1


@dataclass(frozen=True)
class Mismatch:
    """cases: of the definition, in which the program is not seen to say `due`. what: what it says, or why that is not told."""

    cases: tuple[Case, ...]
    due: Answer
    what: Answer | str

    def text(self, teller: Teller, normal: Normalizer) -> str:
        """For people."""
        cases = [
            teller.condition(normal.term(bit)) if holds else f"not {teller.condition(normal.term(bit))}"
            for bit, holds in self.cases
        ]
        says = self.what if isinstance(self.what, str) else f"it says {teller.answer(self.what)}"
        return f"{says}; where {' and '.join(cases) or 'it is read'}, due is {teller.answer(self.due)}"


def first_mismatch(
    model: Model, registers: Mapping[int, Term], due: Answer, normal: Normalizer, cases: tuple[Case, ...] = ()
) -> Mismatch | None:
    """The first case in which the program is not seen to say what is due; None if it always does."""
    known = _knowing(normal, cases)
    if known is None:
        return None
    if isinstance(due, If):
        bit = known.term(due.bit)
        if bit.is_constant:
            return first_mismatch(model, registers, due.then if bit.constant else due.otherwise, normal, cases)
        then = first_mismatch(model, registers, due.then, normal, (*cases, (due.bit, True)))
        return then or first_mismatch(model, registers, due.otherwise, normal, (*cases, (due.bit, False)))
    due = normal_answer(due, known)
    try:
        found = answer_of(model, {i: known.term(value) for i, value in registers.items()}, known)
    except Undecided as undecided:
        return Mismatch(cases, due, undecided.what)
    return None if found == due else Mismatch(cases, due, found)


def _knowing(normal: Normalizer, cases: tuple[Case, ...]) -> Normalizer | None:
    """With what the cases say of single atoms; None if they exclude each other.

    All are read twice, as what a later one says may give an earlier one another form.
    """
    for bit, holds in cases * 2:
        found = normal.term(bit)
        if found.is_constant and found.constant != holds:
            return None
        normal = _with(normal, found, holds)
    return normal


def _with(normal: Normalizer, bit: Term, holds: bool) -> Normalizer:
    """bit: in normal form. Where it is no single atom, nothing is learnt from it."""
    if len(bit.items) == 2 and bit.constant == 1:  # 1 − b
        return _with(normal, (bit - 1) * -1, not holds)
    if len(bit.items) != 1 or len(bit.items[0][0]) != 1 or bit.items[0][1] != 1:
        return normal
    (a,) = bit.atoms
    if not normal.facts.is_bit(a):
        return normal
    normal = normal.knowing(a, Fraction(int(holds)), Fraction(int(holds)))
    if not isinstance(a, Equal | Above) or len(a.of.atoms) != 1:
        return normal
    (x,) = a.of.atoms
    value, facts = as_term(x), normal.facts
    slope = (a.of - a.of.constant).items[0][1]
    if a.of != value * slope + a.of.constant or not facts.is_integer(value):
        return normal
    low, high = facts.bounds(value)
    at = -a.of.constant / slope
    if isinstance(a, Equal):
        at += a.value / slope
        low, high = (at, at) if holds else (low + (low == at), high - (high == at))
    elif (slope > 0) == holds:  # x > at, or x ≥ at
        low = Fraction(math.floor(at) + 1 if holds else math.ceil(at))
    else:
        high = Fraction(math.ceil(at) - 1 if holds else math.floor(at))
    return normal.knowing(x, low, high)
