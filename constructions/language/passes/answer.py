"""Answer: from what a program says to rules, each a word or a number with the conditions under which it is due.

A count is said by logits that are exact, as x times an integer is a number of the format. With w = j + 1 number j has
2·w − x·w². For x = 1/(1 + m) that is (1 + m) − (w − 1 − m)²/(1 + m), so it is largest at j = m. From j to j + 1 it changes by
2 − x·(2·w + 1), then an odd number over 1 + m. A rounded x makes it rise and fall at the same j, if (1 + m)·(2·m + 3)·2^−q < 2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

from constructions.language.bounds import largest_of, least_of
from constructions.language.passes.comparisons import comparison, share
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.operations import BoundNeed, OutputRule, Ramps, Saying, Share, Signed, show_form
from constructions.language.program import NotCompiled
from constructions.language.terms import (
    ONE,
    ZERO,
    Above,
    Answer,
    Anything,
    Atom,
    Equal,
    If,
    Named,
    Say,
    SayNumber,
    Term,
    as_term,
)
from constructions.language.weights import IS_NUMBER, NUMBER
from constructions.wiring.affine import Number, reg
from constructions.wiring.register import squared

Case = tuple[tuple[Term, ...], Say | SayNumber]
"""Conditions, and what is said where all of them hold."""


def rules_of(facts: TermFacts, answer: Answer, pinned: Collection[Atom]) -> tuple[OutputRule, ...]:
    """Returns the rules of an answer. Raises NotCompiled for what cannot be said. pinned: comparisons that have a block."""
    return tuple(_rule(facts, conditions, leaf, pinned) for conditions, leaf in _cases(facts, answer, ()))


def _cases(facts: TermFacts, answer: Answer, conditions: tuple[Term, ...]) -> list[Case]:
    match answer:
        case If(bit, then, otherwise):
            if not facts.is_bit(bit):
                raise NotCompiled("choose asks for a comparison, a word, or some of them joined by &, | and ~")
            no = ONE - bit
            if bit in conditions or no in conditions:  # asked again: one of the answers is never due
                return _cases(facts, then if bit in conditions else otherwise, conditions)
            return [*_cases(facts, then, (*conditions, bit)), *_cases(facts, otherwise, (*conditions, no))]
        case Say():
            return [(conditions, answer)]
        case SayNumber(number):
            if not facts.has_numbers:
                raise NotCompiled("a number is said, but no number stands in the texts: name them as a piece")
            if not facts.has_count(number):
                facts.require_whole(number, "a number that is said")
            return [(conditions, answer)]
        case Anything():
            return []
    raise NotCompiled(f"the compiler has no rule for {answer}")


def _rule(
    facts: TermFacts, conditions: tuple[Term, ...], leaf: Say | SayNumber, pinned: Collection[Atom]
) -> OutputRule:
    compared, late = [], dict[Term, Ramps]()
    for bit in conditions:
        (atom,) = bit.atoms if len(bit.atoms) == 1 else (None,)
        if isinstance(atom, Equal | Above):
            ramps = comparison(facts, atom)
            compared.append(ramps)
            if isinstance(ramps, Ramps) and atom not in pinned and bit in (as_term(atom), ONE - as_term(atom)):
                late[bit] = ramps if bit == as_term(atom) else ramps.negation
    if isinstance(leaf, SayNumber) and facts.has_count(leaf.number):
        late = {}  # a share times what compares shares would be rounded
    return OutputRule(conditions, saying_of(facts, leaf), tuple(compared), late)


def saying_of(facts: TermFacts, leaf: Say | SayNumber) -> Saying:
    """Returns the units that output a word or a number, and the bounds that they need."""
    if isinstance(leaf, Say):
        return Saying(f"say {leaf.word}", (), (), ((ONE, {leaf.word: 1}),))
    if facts.has_count(leaf.number):
        return _saying_of_count(facts, leaf.number)
    said = leaf.number
    parts: tuple[tuple[Term, Mapping[str, Number]], ...] = ((said, {NUMBER: 2}), (ONE, {IS_NUMBER: 1}))
    return Saying("say the number {}", (said,), (said,), parts, _needs_of_number(facts, said))


def _needs_of_number(facts: TermFacts, said: Term) -> tuple[BoundNeed, ...]:
    """Returns what the logits need of a number that may lie outside of the texts' numbers: u has 2·u·said − u² + 1."""
    (low, high), largest = facts.bounds.term(said), facts.bounds.numbers[1]
    needs = []
    if high > largest:
        value = largest_of([2 * largest * high - largest**2 + 1, 2 * high])
        needs.append(BoundNeed("the logits of {}, from above", (said,), value))
    if low < 0:
        value = largest_of([-2 * largest * low + largest**2 - 1, -2 * low])
        needs.append(BoundNeed("the logits of {}, from below", (said,), value))
    return tuple(needs)


def _saying_of_count(facts: TermFacts, number: Term) -> Saying:
    count, b = share_to_say(number)
    low, high = facts.lowest, facts.bounds.numbers[1]
    # As x ≤ 1, the least number has 1 − (w − 1)² or more: with (w − 1)² added, it is above all words.
    lift = (low + b - 1) ** 2
    most = facts.bounds.length  # of 1 + m, and the steps of a share are fine enough for (1 + m)·(2·m + 3)
    x = as_term(count)
    needs = (
        BoundNeed("{}, as a number", (x,), (most * (2 * most + 1) + 1) * Fraction(1, 2) - 1),
        BoundNeed("the logit of {}", (x,), (high + abs(b) + 1) ** 2 + lift),
    )
    parts: list[tuple[Term, dict[str, Number]]] = [
        (ONE, {NUMBER: 2, squared(NUMBER): 1, IS_NUMBER: 2 * b + lift}),  # the square's 1 takes its −1 back
        (x, {NUMBER: -2 * b, squared(NUMBER): -1, IS_NUMBER: -b * b}),
    ]
    nonzero = tuple((up, {name: weight for name, weight in into.items() if weight}) for up, into in parts)
    return Saying(f"say {show_form(reg('1/{}') - b)}", (x,), (x,), nonzero, needs)


def share_to_say(said: Term) -> tuple[Share, Fraction]:
    """Returns 1/(1 + m) and b, where 1 + m − b is said, m a count."""
    ((monomial, factor), *others) = (said - said.constant).items
    if others or len(monomial) != 1 or factor != 1 or said.constant.denominator != 1:
        raise NotCompiled("a count is said alone, or with a whole number added to it")
    if isinstance(monomial[0], Named):
        count, b = share_to_say(monomial[0].of)
        return count, b - said.constant
    return share(monomial[0]), 1 - said.constant


def signed_of(facts: TermFacts, answer: Answer, pinned: Collection[Atom]) -> Signed | None:
    """Returns units that say one of two words by a count m and a number r; None for other answers.

    The one where m > r has the logit 1 − h − (r + 1)/(1 + m), the other one its negative: the output head compares, as no
    feed-forward compares a product that it computes itself.
    """
    match answer:
        case If(bit, Say(more), Say(less)) if more != less:
            above = next((a for a in bit.atoms if bit in (as_term(a), ONE - as_term(a))), None)
        case _:
            return None
    of = above.of if isinstance(above, Above) and above not in pinned else ZERO
    counts = [(m[0], c) for m, c in of.items if len(m) == 1 and facts.has_count(as_term(m[0]))]
    if above is None or [abs(c) for _, c in counts] != [1]:
        return None
    ((count, sign),) = counts
    factor = (of - as_term(count) * sign) * -sign + int(sign > 0)  # m − r > 0; or r − m > 0, which is not m > r − 1
    if not facts.is_whole(factor):
        return None
    if (bit.constant == 0) != (sign > 0):
        more, less = less, more
    # The product is at most 1 − 1/L or at least 1, but for L times half a step of the share, which is less than h.
    bits = facts.length.bit_length()
    most = least_of([facts.bounds.length, max(1, facts.bounds.term(factor)[1])])
    x = as_term(share(count))
    need = BoundNeed("{}, beside 1", (x,), (1 << bits) * most)
    edge = 1 - Fraction(1) / (2 << bits)
    saying = Saying("({})·{}", (factor, x), (x, factor), ((x, {more: -1, less: 1}),), (need,))
    return Signed(saying, factor, {more: edge, less: -edge})
