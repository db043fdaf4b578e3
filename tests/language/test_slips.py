"""A compiler with a slip: nothing wrong is certified, as the weights are read again. Some slips leave a right model."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from constructions.language.compiler import Compiler
from constructions.language.interpreter import Input
from constructions.language.passes import answer, comparisons, expand, facts, gates, heads, output
from constructions.language.passes.facts import TermFacts
from constructions.language.passes.operations import OutputRule, Ramps, Saying, Select, Share
from constructions.language.passes.registers import RegisterForms
from constructions.language.terms import Above, Atom, Comb, Equal, Pick, Say, SayNumber, Sum, Term
from constructions.parts.heads.copy import before
from constructions.wiring.affine import Affine, Number, reg
from constructions.wiring.part import Setting, least_gap
from constructions.wiring.plan import BlockPlan, Component, Gadget, Head, Unit
from tests.language.compiled import Compiled, every_text
from tests.language.programs import Written
from verify.certificates.mutants import CHANGES, mutant, places
from verify.rounding.model import described

AB, NUMBERS = 'some(words("a", "b"))', "some(numbers())"
COUNTS = Written('choose(select(word("a")).count() > select(word("b")).count(), "yes", "no")', AB)
EVEN = Written('choose(select(word("a")).count() == select(word("b")).count(), "yes", "no")', AB)
OFTEN = Written('choose(select(number, number).count() > 1, "again", number)', NUMBERS)
TWICE = Written('choose(select(number, number).count() == 2, "twice", "no")', NUMBERS)
RARE = Written('choose(select(number, number).count() < number, "yes", number)', NUMBERS)
SIGNED = Written('choose(select(number, number).count() > 2, "yes", "no")', NUMBERS)
NOT_MORE = Written('choose(select(number, number).count() < number, "yes", "no")', NUMBERS, "hybrid")
LESS = Written('choose(select(number, number).count() < select(number, number.back(1)).count(), "yes", "no")', NUMBERS)
SAME = Written('choose(select(number, number).count() == select(number, number.back(1)).count(), "yes", "no")', NUMBERS)
FIRST = Written('choose(select(word("a")).first(word("b").back(1)), "yes", "no")', AB)
LAST = Written('choose(select(word("a")).last(word("b").back(1)), "yes", "no")', AB)
BEFORE = Written('choose(word("a").back(2), "yes", "no")', AB)
KEPT = Written('choose(word("a").back(2), "yes", "no")', AB, "rnn")
BALANCED = Written('choose(running_sum(word("a") - word("b")) == 0, "yes", "no")', AB, "rnn")
AT = Written('choose(number.at(number) == 1, "yes", "no")', NUMBERS)
SECOND_TOKEN = Written('choose(number.at(2) == 1, "yes", "no")', NUMBERS)
FAR_OFF = Written('choose(number.at(3 * number - 4) == 1, "yes", "no")', NUMBERS)
PLACE = Written('choose(select(1 - word("a")).first(word("b").back(1)), "yes", "no")', AB)
EQUAL = Written('choose(number == 2, "yes", "no")', NUMBERS)
OLD = Written('choose(select(number, number).first(position) == position, "new", "old")', NUMBERS)
BOTH = Written('choose(word("a") & word("b").back(1), "yes", "no")', AB)
MORE = Written('choose(number > 1, "yes", "no")', NUMBERS)
START_BEFORE = Written('choose(word("<s>").back(2), "yes", "no")', AB)
SAID = Written("number", NUMBERS)
LEAD = Written('choose(alternating_sum(word("a")) > 0, "yes", "no")', AB, "rnn")
ODD = Written('choose(alternating_sum(1), "yes", "no")', AB, "rnn")
SECOND = Written('choose(running_sum(word("a"), every=2) > 1, "yes", "no")', AB, "rnn")
SIXTH = Written('choose(alternating_sum(1) & running_sum(word("<s>"), every=3), "yes", "no")', AB, "rnn")
WHERE_A = Written('choose(word("b") & (select(word("a")).first(position) == 2), "yes", "no")', AB, "hybrid")
KEY = Written('choose(select(number.back(1), number).last(number) == 1, "yes", number)', NUMBERS, "hybrid")
HIST = Written("select(number, number).count()", NUMBERS)
NEXT = Written('choose(select(number, number).count() > 2, "many", select(number, number).count() + 1)', NUMBERS)
ZERO = Written("select(number, number.back(1)).count()", "some(numbers(0))")
ALL = [
    *(LEAD, SECOND, SIXTH, COUNTS, EVEN, OFTEN, TWICE, RARE, SIGNED, NOT_MORE, FIRST, LAST, BEFORE, KEPT, BALANCED),
    *(AT, SECOND_TOKEN, FAR_OFF, PLACE, EQUAL, OLD, BOTH, MORE, START_BEFORE, SAID, WHERE_A, KEY, HIST, NEXT, ZERO),
]

Patch = Callable[[pytest.MonkeyPatch], None]


def a_quarter_of_a_gap(patch: pytest.MonkeyPatch) -> None:
    """The lead of a winner is two bits short."""
    patch.setattr(Setting, "gap", property(lambda s: least_gap(-s.format.quantum_exponent, s.length) // 4))


def a_flat_slope(bits: int) -> Patch:
    """Of thresholds on means and shares."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        right = comparisons.compare_counts

        def compare_counts(known: TermFacts, *given: Any) -> Ramps:
            return right(replace(known, length=max(1, known.length >> bits)), *given)

        patch.setattr(comparisons, "compare_counts", compare_counts)

    return slip


def last_for_first(patch: pytest.MonkeyPatch) -> None:
    right = heads.make_head

    def make_head(select: Select, *given: Any) -> Any:
        where = select.where
        other = Pick(where.matching, not where.last) if isinstance(where, Pick) else where
        return right(replace(select, where=other), *given)

    patch.setattr(heads, "make_head", make_head)


def one_farther_back(patch: pytest.MonkeyPatch) -> None:
    """By a head, and by a shift register."""
    patch.setattr(heads, "before", lambda steps: before(steps + 1))
    right = expand._back

    def back(known: TermFacts, atom: Atom, value: Term, steps: int) -> Any:
        return right(known, atom, value, steps if known.attends else steps + 1)

    patch.setattr(expand, "_back", back)


def constant(name: str, value: object) -> Patch:
    """Another number in the module."""
    return lambda patch: patch.setattr(output if name == "IDLE" else comparisons, name, value)


class _Zero(Input):
    def value(self, term: Term, k: int) -> int:
        return 0


def no_shift_at_the_start(patch: pytest.MonkeyPatch) -> None:
    """Keys of `<s>` are not 0."""
    patch.setattr(facts, "Input", _Zero)


def no_square(patch: pytest.MonkeyPatch) -> None:
    """A number itself where its square is due."""

    def unit(gate: Affine, up: Affine, into: dict[str, int]) -> Unit:
        return Unit(gate, Affine({}, Fraction(1)) if up == gate and gate.terms else up, into)

    for module in (gates, output):
        patch.setattr(module, "Unit", unit)


def one_too_much(patch: pytest.MonkeyPatch) -> None:
    """Each form that is compared."""
    right = comparisons.comparison

    def comparison(known: TermFacts, atom: Equal | Above) -> Any:
        return right(known, replace(atom, value=atom.value + 1) if isinstance(atom, Equal) else atom)

    for module in (answer, expand):
        patch.setattr(module, "comparison", comparison)


def any_condition_of_several(patch: pytest.MonkeyPatch) -> None:
    """A gate of several bits opens for one of them."""
    right = Compiler.plan

    def plan(self: Compiler, setting: Setting) -> tuple[BlockPlan, ...]:
        blocks = right(self, setting)
        for block in blocks:
            for gadget in block.gadgets:
                units = [
                    type(u)(u.gate + 1, u.up, u.into) if len(u.gate.terms) > 1 and u.gate.constant < 0 else u
                    for u in gadget.units
                ]
                object.__setattr__(gadget, "units", tuple(units))
        return blocks

    patch.setattr(Compiler, "plan", plan)


def another_cycle(**changed: int) -> Patch:
    """Of another length, or with another sign."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        right = expand._sum

        def cycle(known: TermFacts, atom: Sum | Comb) -> Any:
            return right(known, replace(atom, **changed) if isinstance(atom, Comb) else atom)

        patch.setattr(expand, "_sum", cycle)

    return slip


def the_last_condition_alone(patch: pytest.MonkeyPatch) -> None:
    """What is said by a comparison is said whatever else is asked for."""
    right = output.say_where

    def say_where(rule: OutputRule, late: Term | None, registers: RegisterForms) -> Gadget:
        return right(rule if late is None else replace(rule, conditions=(late,)), late, registers)

    patch.setattr(output, "say_where", say_where)


def words_by_the_sign(change: Callable[[str, Number], Number]) -> Patch:
    """Other constants for two words that a count tells apart."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        right = output.say

        def say(saying: Saying, sums: Any, registers: RegisterForms, constants: Mapping[str, Number] = {}) -> Gadget:
            return right(saying, sums, registers, {word: change(word, edge) for word, edge in constants.items()})

        patch.setattr(output, "say", say)

    return slip


def a_weight_of_counts(share: bool, name: str, change: int) -> Patch:
    """Of what says a count, added to this register: its constant, or its share."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        right = answer.saying_of

        def saying_of(known: TermFacts, leaf: Say | SayNumber) -> Saying:
            saying = right(known, leaf)
            if isinstance(leaf, SayNumber) and known.has_count(leaf.number):
                parts = [*saying.parts]
                up, into = parts[share]
                parts[share] = up, {**into, name: into.get(name, 0) + change}
                return replace(saying, parts=tuple(parts))
            return saying

        patch.setattr(answer, "saying_of", saying_of)

    return slip


def one_count_too_many(patch: pytest.MonkeyPatch) -> None:
    right = answer.share_to_say

    def share_to_say(said: Term) -> tuple[Share, Fraction]:
        share, b = right(said)
        return share, b - 1

    patch.setattr(answer, "share_to_say", share_to_say)


def a_default_of(leads: int) -> Patch:
    """What position 1 has beside the one position that is looked for, in leads; right is 1."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        def single(name: str, found: Affine, reads: Mapping[str, Affine], gap: int) -> Head:
            key = 2 * found + leads * reg("first")
            return Head(name, (Component(key, gap * reg("one")),), reads)

        patch.setattr(heads, "single", single)

    return slip


def what_lies_outside(change: Callable[[Affine], Affine]) -> Patch:
    """Another number taken off of all scores of a head by position."""

    def slip(patch: pytest.MonkeyPatch) -> None:
        right = heads.distance_outside

        def distance_outside(select: Select, registers: RegisterForms) -> Affine | None:
            form = right(select, registers)
            return None if form is None else change(form)

        patch.setattr(heads, "distance_outside", distance_outside)

    return slip


def what_lies_outside_by_key(patch: pytest.MonkeyPatch) -> None:
    """Times the key's position: then it tells keys apart."""
    right = heads.nearest

    def nearest(*given: Any) -> Head:
        head, outside = right(*given), given[5] if len(given) > 5 else None
        first, second, *rest = head.components
        if outside is not None:
            second = Component(second.key, second.query + outside)
        return replace(head, components=(first, second, *rest), lookup=None)

    patch.setattr(heads, "nearest", nearest)


WRONG, UNCERTIFIED, CERTIFIED = "wrong, and not certified", "right, and not certified", "right, and certified"


SLIPS: dict[str, tuple[Patch, dict[Written, str]]] = {
    "a quarter of a gap": (
        a_quarter_of_a_gap,
        {COUNTS: CERTIFIED, LAST: UNCERTIFIED, BEFORE: UNCERTIFIED, SIGNED: UNCERTIFIED, AT: UNCERTIFIED},
    ),
    "a slope one bit short": (a_flat_slope(1), {COUNTS: CERTIFIED, EVEN: CERTIFIED, TWICE: CERTIFIED, RARE: CERTIFIED}),
    "a slope two bits short": (a_flat_slope(2), {COUNTS: WRONG, EVEN: WRONG, TWICE: UNCERTIFIED, RARE: UNCERTIFIED}),
    "a slope three bits short": (a_flat_slope(3), {COUNTS: WRONG, EVEN: WRONG, OFTEN: CERTIFIED, TWICE: UNCERTIFIED}),
    "last for first": (last_for_first, {FIRST: WRONG, LAST: WRONG, OLD: WRONG, OFTEN: CERTIFIED}),
    "one farther back": (one_farther_back, {BEFORE: WRONG, KEPT: WRONG, BOTH: WRONG, FIRST: WRONG, OLD: CERTIFIED}),
    "a step for a hat": (
        constant("HAT", comparisons.STEP),
        {SAME: WRONG, BALANCED: WRONG, EQUAL: WRONG, TWICE: CERTIFIED},
    ),
    "a hat for a step": (constant("STEP", comparisons.HAT), {LESS: WRONG, MORE: WRONG, EVEN: CERTIFIED}),
    "a step for what is past": (constant("PAST", comparisons.FALLING), {COUNTS: WRONG, LESS: CERTIFIED}),
    "a plateau for what is past": (constant("PAST", comparisons.PLATEAU), {COUNTS: WRONG, EVEN: CERTIFIED}),
    "a step for what is 0": (constant("PLATEAU", comparisons.STEP), {EVEN: WRONG}),
    "a step one later": (constant("STEP", ((-1, 1), (-2, -1))), {MORE: WRONG, LESS: CERTIFIED, COUNTS: CERTIFIED}),
    "a wide hat": (constant("HAT", comparisons.PLATEAU), {BALANCED: WRONG, EQUAL: WRONG, SAME: CERTIFIED}),
    "rising for falling": (constant("FALLING", comparisons.RISING), {OFTEN: WRONG, RARE: WRONG, TWICE: CERTIFIED}),
    "falling early": (
        constant("FALLING", ((1, -1), (0, 1))),
        {OFTEN: UNCERTIFIED, RARE: UNCERTIFIED, SIGNED: CERTIFIED},
    ),
    "a hat for a plateau": (constant("PLATEAU", comparisons.HAT), {TWICE: WRONG}),
    "a plateau without an end": (constant("PLATEAU", comparisons.RISING), {TWICE: WRONG}),
    "no shift at the start": (no_shift_at_the_start, {START_BEFORE: WRONG, PLACE: UNCERTIFIED, FIRST: CERTIFIED}),
    "no square": (no_square, {FIRST: WRONG, LAST: WRONG, BEFORE: WRONG, AT: WRONG, OLD: CERTIFIED, KEPT: CERTIFIED}),
    "no default beside one position": (a_default_of(0), {SECOND_TOKEN: UNCERTIFIED, AT: CERTIFIED}),
    "a default as high as the position": (a_default_of(2), {SECOND_TOKEN: WRONG}),
    "a default above the position": (a_default_of(4), {SECOND_TOKEN: WRONG}),
    "nothing is taken off": (what_lies_outside(lambda form: Affine()), {FAR_OFF: WRONG}),
    "too much is taken off": (what_lies_outside(lambda form: form * 4), {FAR_OFF: WRONG}),
    "the distance is taken off by each key": (what_lies_outside_by_key, {FAR_OFF: UNCERTIFIED}),
    "one too much": (one_too_much, {EVEN: WRONG, TWICE: WRONG, BALANCED: WRONG, EQUAL: WRONG, AT: WRONG}),
    "any of several conditions": (any_condition_of_several, {BOTH: WRONG, OLD: CERTIFIED, EQUAL: CERTIFIED}),
    "a cycle without its sign": (another_cycle(sign=1), {LEAD: WRONG, ODD: WRONG, SIXTH: WRONG, SECOND: CERTIFIED}),
    "a cycle with a sign": (another_cycle(sign=-1), {SECOND: WRONG, SIXTH: UNCERTIFIED, LEAD: CERTIFIED}),
    "a cycle of one": (another_cycle(steps=1), {SECOND: WRONG, SIXTH: WRONG, ODD: CERTIFIED}),
    "the last condition alone": (the_last_condition_alone, {WHERE_A: WRONG, KEY: CERTIFIED}),
    "never the other bit": (
        lambda patch: patch.setattr(Ramps, "negation", property(lambda ramps: ramps)),
        {WHERE_A: WRONG, KEY: WRONG, SIGNED: CERTIFIED},
    ),
    "no margin below 1": (words_by_the_sign(lambda word, edge: round(edge)), {SIGNED: UNCERTIFIED, NOT_MORE: WRONG}),
    "a margin as wide as 1": (
        words_by_the_sign(lambda word, edge: 0),
        {SIGNED: WRONG, NOT_MORE: WRONG, OFTEN: CERTIFIED},
    ),
    "a word where nothing is due": (constant("IDLE", Fraction(2)), {COUNTS: WRONG, KEPT: WRONG, SAID: UNCERTIFIED}),
    "one count too many": (one_count_too_many, {HIST: WRONG, NEXT: WRONG, ZERO: WRONG, SAID: CERTIFIED}),
    "a steeper line": (a_weight_of_counts(False, "number", 1), {HIST: WRONG, NEXT: WRONG, ZERO: WRONG}),
    "a square that stays": (a_weight_of_counts(False, "number_squared", -1), {HIST: WRONG, NEXT: WRONG, ZERO: WRONG}),
    "numbers below words": (a_weight_of_counts(False, "is_number", -4), {HIST: WRONG, NEXT: WRONG, ZERO: WRONG}),
    "a line that bends away": (
        a_weight_of_counts(True, "number", 1),
        {HIST: UNCERTIFIED, NEXT: UNCERTIFIED, ZERO: UNCERTIFIED},
    ),
    "twice the bend": (a_weight_of_counts(True, "number_squared", -1), {HIST: WRONG, NEXT: WRONG, ZERO: WRONG}),
    "a share with each number": (a_weight_of_counts(True, "is_number", 1), {HIST: UNCERTIFIED, NEXT: UNCERTIFIED}),
}


@pytest.mark.parametrize("name", SLIPS)
def test_nothing_wrong_is_certified(name: str) -> None:
    """At the least p that the compiler with the slip claims; every text of n = 3."""
    slip, programs = SLIPS[name]
    actual = {}
    with pytest.MonkeyPatch.context() as patch:
        slip(patch)
        for written in programs:
            compiled = Compiled(written.program, 3)
            slips = compiled.slips([*every_text(compiled.program.texts, 3)])
            assert not (compiled.certified and slips), (written, slips[:3])
            actual[written] = WRONG if slips else CERTIFIED if compiled.certified else UNCERTIFIED
    assert actual == programs


@pytest.mark.parametrize("written", ALL, ids=lambda written: written.says[:60])
@pytest.mark.parametrize("fewer", [2, 4])
def test_fewer_bits_than_the_least(written: Written, fewer: int) -> None:
    """By the constants of so few bits: what is certified of it is right, by the word and by each register."""
    compiled = Compiled(written.program, 3)
    p = compiled.compiler.least_precision() - fewer
    if p < 5:
        return
    narrow = Compiled(written.program, 3, p=p)
    try:
        narrow.wired  # noqa: B018
    except ValueError:  # a weight is no number of these
        return
    texts = [*every_text(compiled.program.texts, 3)]
    if narrow.certified:
        assert narrow.slips(texts) == []
        assert narrow.strays(texts[::9]) == []


def test_each_weight_of_a_cycle() -> None:
    """Changed in every way: what is certified nevertheless says what is due."""
    right, texts = Compiled(SIXTH.program, 7), [("a",) * 7, ("b",) * 7, tuple("abbabba")]
    recurrent = [
        place for place in places(right.wired.model) if place[:2] in ((0, "recurrence.A"), (0, "recurrence.B"))
    ]
    assert (len(recurrent), right.certified, right.slips(texts)) == (6, True, [])
    verdicts = Counter[str]()
    for place, change in itertools.product(recurrent, CHANGES):
        model = mutant(right.wired.model, place, change, float(right.arithmetic.format.quantum))
        other = Compiled(SIXTH.program, 7)
        other.__dict__["wired"] = wired = replace(right.wired, model=model)
        other.__dict__["model"] = described(model, right.arithmetic, wired.registers, wired.vocabulary, [])
        slips = other.slips(texts)
        assert not (other.certified and slips), (place, change, slips)
        verdicts[WRONG if slips else CERTIFIED if other.certified else UNCERTIFIED] += 1
    assert verdicts == {WRONG: 28, UNCERTIFIED: 13, CERTIFIED: 1}  # certified: 2 in place of 1 in a gate with a bit
