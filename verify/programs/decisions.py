"""Whether a program says what a definition says: in each case of the definition the largest logit is the word that it names."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.language.terms import (
    Above,
    Answer,
    Anything,
    Atom,
    Back,
    Best,
    Count,
    Equal,
    If,
    Named,
    Next,
    Positive,
    Read,
    Reciprocal,
    SayNumber,
    Term,
    as_term,
    fraction,
)
from verify.algebra.domains import Undecided
from verify.algebra.polynomial import is_whole
from verify.programs.forms import alone, expanded
from verify.programs.implied import least_match, without
from verify.programs.normal import Normalizer
from verify.programs.output import answer_of, normal_answer
from verify.programs.text import TermPrinter
from verify.rounding.model import ExactModel

Case = tuple[Term, bool]  # a bit, and whether it is 1
MOST_SPLITS = 6  # bits that are told apart where no rule tells what is said
LONGEST = 20_000  # of logits for which bits are told apart, as text


@dataclass(frozen=True)
class Mismatch:
    """cases: of the definition, in which the program is not seen to say `due`. what: what it says, or why that is not told.

    written: `due` as the definition has it.
    """

    cases: tuple[Case, ...]
    due: Answer
    what: Answer | str
    written: Answer | None = None

    @property
    def terms(self) -> list[Term]:
        """Returns what the definition asks for there: the number that is due, then the bits of its cases, the last one first."""
        numbers = [self.written.number] if isinstance(self.written, SayNumber) else []
        return [*numbers, *(bit for bit, _ in self.cases[::-1])]

    def text(self, printer: TermPrinter, normal: Normalizer) -> str:
        """Writes a mismatch for people."""
        cases = [
            printer.condition(normal.term(bit)) if holds else f"not {printer.condition(normal.term(bit))}"
            for bit, holds in self.cases
        ]
        says = self.what if isinstance(self.what, str) else f"it says {printer.answer(self.what)}"
        return f"{says}; where {' and '.join(cases) or 'it is read'}, due is {printer.answer(self.due)}"


def first_mismatch(
    model: ExactModel, registers: Mapping[int, Term], due: Answer, normal: Normalizer, cases: tuple[Case, ...] = ()
) -> Mismatch | None:
    """Returns the first case in which the program is not shown to give the due answer; None if it always does.

    normal: where the cases hold.
    """
    if isinstance(due, If):
        bit = normal.term(due.bit)
        if bit.is_constant:
            return first_mismatch(model, registers, due.then if bit.constant else due.otherwise, normal, cases)
        if (
            first := _first_of_several(bit, normal)
        ) is not None:  # what is learnt of a product or a sum is learnt bit by bit
            for holds in (True, False):
                branch = _with(normal, first, holds)
                if not _contradicts(branch):
                    mismatch = first_mismatch(model, registers, due, branch, (*cases, (first, holds)))
                    if mismatch is not None:
                        return mismatch
            return None
        for holds, answer in ((True, due.then), (False, due.otherwise)):
            branch = _with(normal, bit, holds)
            if not _contradicts(branch):
                mismatch = first_mismatch(model, registers, answer, branch, (*cases, (due.bit, holds)))
                if mismatch is not None:
                    return mismatch
        return None
    if isinstance(due, Anything):
        return None
    said = {i: value for i, value in registers.items() if i in model.read_by_output}
    mismatch = _by_cases(model, said, due, normal, cases, MOST_SPLITS)
    return None if mismatch is None else replace(mismatch, written=due)


def _by_cases(
    model: ExactModel,
    registers: Mapping[int, Term],
    due: Answer,
    normal: Normalizer,
    cases: tuple[Case, ...],
    splits: int,
) -> Mismatch | None:
    """Finds a mismatch by cases: if no rule finds the answer, some bit is set to 1, then to 0.

    A bit is 1 or 0 at each position; so what is due is said, if it is in both cases, or in the one that can be.
    splits: so many bits are told apart at most.
    """
    where = _under(cases, normal)
    if where is None:
        return None
    due = normal_answer(due, where)
    registers = {i: where.term(value) for i, value in registers.items()}
    mismatch = _mismatch(model, registers, due, where, cases)
    if mismatch is None or not splits:
        return mismatch
    for bit in _open_bits(registers, due, where):
        branches = [(_with(where, bit, holds), holds) for holds in (True, False)]
        if all(branch.term(bit).is_constant for branch, _ in branches):
            for branch, holds in branches:
                part = (*cases, (bit, holds))
                if not _contradicts(branch) and _by_cases(model, registers, due, branch, part, splits - 1) is not None:
                    return mismatch
            return None
    return mismatch


def _under(cases: tuple[Case, ...], normal: Normalizer) -> Normalizer | None:
    """Returns a normaliser that knows what each case says; None if the cases exclude each other."""
    for case, holds in cases:
        bit = normal.term(case)
        if bit.is_constant and bit.constant != holds:
            return None
        normal = _with(normal, bit, holds)
    return None if _contradicts(normal) else normal


def _mismatch(
    model: ExactModel, registers: Mapping[int, Term], due: Answer, normal: Normalizer, cases: tuple[Case, ...]
) -> Mismatch | None:
    """Returns whether the word with the largest logit is not seen to be what is due. registers, due: in normal form."""
    try:
        says = answer_of(model, registers, normal)
    except Undecided as undecided:
        return Mismatch(cases, due, undecided.what)
    output = normal_answer(says, normal)  # which a case may settle
    return None if output == due or _spell(output, normal) == _spell(due, normal) else Mismatch(cases, due, output)


def _open_bits(registers: Mapping[int, Term], due: Answer, normal: Normalizer) -> Iterator[Term]:
    """Yields the undecided bits in logits and in the due number, the one in most products first; then those of cases."""
    terms = [*registers.values(), *([due.number] if isinstance(due, SayNumber) else [])]
    if sum(len(value.order) for value in terms) > LONGEST:
        return
    for values in (terms, [as_term(a) for a in normal.facts.given]):
        counted = Counter(a for value in values for a in _of_k(value))
        bits = [a for a in counted if normal.facts.is_bit(a) and not normal.term(as_term(a)).is_constant]
        yield from map(as_term, sorted(bits, key=lambda a: (-counted[a], len(a.order), a.order)))


def _of_k(value: Term) -> Iterator[Atom]:
    """Yields the atoms of each product, and those of k in these: not what is asked of other positions."""
    for monomial, _ in value.items:
        for a in monomial:
            yield a
            match a:
                case Named(_, of) | Positive(of) | Equal(of) | Above(of) | Reciprocal(of):
                    yield from _of_k(of)
                case Read(_, Best(rows)):
                    yield from itertools.chain.from_iterable(_of_k(query) for _, query in rows)


def _first_of_several(bit: Term, normal: Normalizer) -> Term | None:
    """Returns the first one of several bits that it is a polynomial of, if a case says what it is."""
    atoms = sorted(bit.atoms, key=lambda a: a.order)
    if len(atoms) < 2 or not all(map(normal.facts.is_bit, atoms)):
        return None
    first = as_term(atoms[0])
    told = all(normal_part.term(first).is_constant for normal_part in (_with(normal, first, x) for x in (True, False)))
    return first if told else None


def _spell(answer: Answer, normal: Normalizer) -> Answer:
    """Returns a number without names."""
    return SayNumber(normal.term(expanded(answer.number)), answer.family) if isinstance(answer, SayNumber) else answer


def _contradicts(normal: Normalizer) -> bool:
    """Returns whether no position can be like this."""
    facts = normal.facts
    if any(low > high for low, high in facts.given.values()) or (bool(facts.told) and not facts.states_back(0)):
        return True
    return facts.is_nowhere


def _with(normal: Normalizer, bit: Term, holds: bool) -> Normalizer:
    """Returns the normal form where a bit holds, or not. It learns nothing from a bit that is no single atom."""
    if len(bit.items) == 2 and bit.constant == 1:  # 1 − b
        return _with(normal, (bit - 1) * -1, not holds)
    if len(bit.items) != 1 or len(bit.items[0][0]) != 1 or bit.items[0][1] != 1:
        return normal
    (a,) = bit.atoms
    if not normal.facts.is_bit(a):
        return normal
    known = normal.knowing(a, Fraction(int(holds)), Fraction(int(holds)))
    if isinstance(a, Above) and normal.facts.is_integer(a.of):  # x > 0, or 1 − x > 0
        other = normal.term(as_term(Above(a.of * -1 + 1)))
        if len(other.items) == 1 and len(other.items[0][0]) == 1 and other.items[0][1] == 1:
            known = known.knowing(other.items[0][0][0], Fraction(int(not holds)), Fraction(int(not holds)))
    return _imply(_bound(_there(known, a, holds), a, holds), a, holds)


def _there(normal: Normalizer, a: Atom, holds: bool) -> Normalizer:
    """Adds what a bit that is read some steps back says of other atoms there; what is read where nothing stands is 0."""
    bit = alone(a.value) if isinstance(a, Read) and isinstance(a.where, Back) else None
    if bit is None or not isinstance(a, Read) or not isinstance(a.where, Back):
        return normal
    if not holds and normal.facts.here[0] <= a.where.steps:
        return normal
    there = Normalizer(normal.facts.facts_of_read(a.where), around=normal.everywhere)
    for other, ends in _with(there, as_term(bit), holds).facts.given.items():
        normal = normal.knowing(Read(as_term(other), a.where), *ends)
    return normal


def _bound(normal: Normalizer, a: Atom, holds: bool) -> Normalizer:
    """Adds what the comparison says of each integer in it, by the bounds of the others."""
    if not isinstance(a, Equal | Above):
        return normal
    for x in sorted(a.of.atoms, key=lambda atom: atom.order):
        value, facts = as_term(x), normal.facts
        slope = next((c for monomial, c in a.of.items if monomial == (x,)), Fraction(0))
        rest = a.of - value * slope
        alone = rest.is_constant
        if not (slope if alone else abs(slope) == 1) or not facts.is_integer(value):
            continue  # a quotient that is rounded is another one at each n
        low, high = facts.bounds(value)
        if isinstance(a, Above):
            at = -facts.bounds(rest)[holds] / slope
            if (slope > 0) == holds:  # x > at, or x ≥ at
                low = fraction(math.floor(at) + 1 if holds else math.ceil(at))
            else:
                high = fraction(math.ceil(at) - 1 if holds else math.floor(at))
        elif alone:
            at = (a.value - rest.constant) / slope
            step = int(is_whole(at))  # x is no other number anyway
            low, high = (at, at) if holds else (low + step * (low == at), high - step * (high == at))
        elif holds:  # x is what is left of the value
            ends = sorted((a.value - end) / slope for end in facts.bounds(rest))
            low, high = max(low, ends[0]), min(high, ends[1])
        normal = normal.knowing(x, low, high)
    return normal


def _imply(normal: Normalizer, a: Atom, holds: bool) -> Normalizer:
    """Adds what follows from a comparison of two atoms, or of an atom and 0."""
    if not isinstance(a, Equal | Above):
        return normal
    for x in a.of.atoms:
        if not isinstance(x, Read) or not isinstance(x.where, Next):
            continue
        nobody = Equal(as_term(Count(x.where.matching)), Fraction(0))
        if (
            isinstance(a, Above)
            and holds
            and normal.facts.bounds(without(a.of, x.where.matching, normal.facts.start))[1] <= 0
        ):
            normal = normal.knowing(nobody, Fraction(0), Fraction(0))
        if normal.facts.bounds(as_term(x))[1] < least_match(x.value, x.where.matching, normal.facts):
            normal = normal.knowing(nobody, Fraction(1), Fraction(1))
        if isinstance(a, Above) and not holds and x.value == x.where.key and a.of == as_term(x) - x.where.query:
            # Nothing has the key that is asked for, so x is the largest one, and what is behind x is that again.
            normal = normal.equating(Read(x.value, replace(x.where, query=as_term(x))), as_term(x))
    alone = [(m[0], c) for m, c in a.of.items if len(m) == 1]
    if isinstance(a, Equal) and holds and len(alone) == 2 and len(a.of.items) - bool(a.of.constant) == 2:
        (x, c), (y, d) = sorted(alone, key=lambda item: len(item[0].order))
        if abs(c) == abs(d):  # the simpler one stays
            return normal.equating(y, as_term(x) * (-c / d) + (a.value - a.of.constant) / d)
    return normal
