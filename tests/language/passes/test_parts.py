"""Heads, gates and the output in exact arithmetic: they write what registers should hold, and say what is due."""

from __future__ import annotations

from fractions import Fraction

from constructions.language.passes.gates import gadgets_of
from constructions.language.passes.heads import heads_of, recurrences_of
from constructions.language.passes.output import output_gadgets
from constructions.wiring.affine import Affine
from constructions.wiring.plan import Gadget, Head, LinearUnit
from precision.format import fixed_point
from tests.language.compiled import due
from tests.language.passes.passed import Passed, form_value, passed
from tests.language.test_slips import FIRST, SECOND, SIXTH

Values = dict[str, Fraction]


def gadget_values(gadget: Gadget, values: Values) -> Values:
    """What a gadget adds to registers."""
    added = {name: Fraction(c) for name, c in gadget.constants.items()}
    for unit in gadget.units:
        amount = max(Fraction(0), form_value(unit.gate, values)) * form_value(unit.up, values)
        for name, weight in unit.into.items():
            added[name] = added.get(name, Fraction(0)) + amount * weight
    return added


def head_values(head: Head, columns: list[Values]) -> Values:
    """What a head writes at the last position, if the keys with the largest score share the attention."""
    query = columns[-1]
    scores = [
        sum(form_value(c.key, column) * form_value(c.query, query) for c in head.components) for column in columns
    ]
    winners = [column for column, score in zip(columns, scores, strict=True) if score == max(scores)]
    return {
        name: sum(form_value(form, w) for w in winners) / Fraction(len(winners)) for name, form in head.reads.items()
    }


def unit_values(unit: LinearUnit, columns: list[Values]) -> Values:
    """The state of a recurrence after the last position, from 0."""
    state: Values = dict.fromkeys(unit.rows, Fraction(0))
    for column in columns:
        state = {name: form_value(carry, state) + form_value(feed, column) for name, (carry, feed) in unit.rows.items()}
    return state


def check(one: Passed) -> None:
    setting = one.weights.setting(fixed_point(one.weights.least_precision()))
    written = set[str]()
    for text in one.texts:
        words = [word or str(number) for word, number in text.tokens[1:]]
        columns = [one.register_values(text, k) for k in range(1, len(text.tokens) + 1)]
        for k in range(1, len(columns) + 1):
            for number in one.schedule.blocks:
                heads = heads_of(one.schedule, one.registers, {}, number).values()
                added = [head_values(draft.head(setting), columns[:k]) for draft in heads]
                added += [
                    gadget_values(gadget, columns[k - 1]) for gadget in gadgets_of(one.schedule, one.registers, number)
                ]
                added += [
                    unit_values(unit, columns[:k]) for unit in recurrences_of(one.schedule, one.registers, number)
                ]
                for name, value in (item for values in added for item in values.items()):
                    written.add(name)
                    assert name not in columns[k - 1] or value == columns[k - 1][name], name
            if k in due(one.program.texts, words):
                tokens, word = logits_of(one, columns[k - 1]), text.word_at(one.weights.answer, k)
                is_no_token = word not in tokens and word.removeprefix("-").isdecimal()
                assert is_no_token or max(tokens, key=lambda token: tokens[token]) == word
    read = {name for form in one.registers.forms.values() for name in form.terms}
    assert read <= written | {*one.weights.embedding(1).registers, "number", "number_squared", "is_number"}


def logits_of(one: Passed, values: Values) -> Values:
    """Returns the logit of each token."""
    embedded = one.weights.embedding(1).registers[:-1]
    gadgets = output_gadgets(one.facts, one.schedule, one.registers, embedded, one.signed)
    logits: Values = {name: values.get(name, Fraction(0)) for name in embedded}
    for gadget in gadgets:
        for name, amount in gadget_values(gadget, values).items():
            logits[name] = logits.get(name, Fraction(0)) + amount
    low, high = one.weights.numbers
    numbers = range(low, high + 1) if one.weights.has_numbers else ()
    words = {word: logits[word] + logits["one"] for word in one.weights.words}
    words["<s>"] += logits["first"]
    tokens = {
        str(u): u * logits["number"] + u * u * logits["number_squared"] + logits["is_number"] + logits["one"]
        for u in numbers
    }
    return tokens | words


def test_a_cycle_has_one_register_for_each_position_that_it_goes_back() -> None:
    for written, sizes in ((SECOND, [2]), (SIXTH, [1, 3])):
        one = passed(written)
        units = [unit for number in one.schedule.blocks for unit in recurrences_of(one.schedule, one.registers, number)]
        assert sorted(len(unit.rows) for unit in units) == sizes


def test_a_head_has_no_constant() -> None:
    """Attention has no bias: a constant is a multiple of the register that is 1."""
    one = passed(FIRST)
    setting = one.weights.setting(fixed_point(one.weights.least_precision()))
    heads = [
        draft.head(setting)
        for n in one.schedule.blocks
        for draft in heads_of(one.schedule, one.registers, {}, n).values()
    ]
    forms: list[Affine] = [form for head in heads for c in head.components for form in (c.key, c.query)]
    assert forms
    assert not any(form.constant for form in forms)
