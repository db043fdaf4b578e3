"""Of the rules of an answer exactly one holds at each position, and says what the program says there."""

from __future__ import annotations

from fractions import Fraction

import pytest

from constructions.language.passes.answer import share_to_say
from constructions.language.program import NotCompiled
from constructions.language.values import number, select
from constructions.language.weights import NUMBER
from tests.language.passes.passed import Passed, passed, value_of
from tests.language.test_slips import NOT_MORE, SIGNED


def check(one: Passed) -> None:
    for text, k in one.positions:
        due, value = text.spoken(one.weights.answer, k)
        for signed in [one.signed] if one.signed else []:
            ((share, weights),) = signed.saying.parts
            times = value_of(signed.factor, text, k) * value_of(share, text, k)
            logits = {word: Fraction(edge) + times * weights[word] for word, edge in signed.constants.items()}
            assert max(logits, key=lambda word: logits[word]) == due
        holding = [rule for rule in one.rules if all(value_of(bit, text, k) == 1 for bit in rule.conditions)]
        assert len(holding) == (0 if one.signed else 1)
        for saying in (rule.saying for rule in holding):
            logits = {}
            for up, into in saying.parts:
                for name, weight in into.items():
                    logits[name] = logits.get(name, Fraction(0)) + value_of(up, text, k) * weight
            if due:
                assert logits == {due: 1}
            elif saying.label.startswith("say the number"):
                assert logits[NUMBER] == 2 * value
            else:  # of a count: w = j + 1 has 2·w − x·w², but for what all numbers share
                squared = logits["number_squared"] - 1
                assert max(range(int(value) + 5), key=lambda j: logits[NUMBER] * j + squared * j * j) == value


def test_two_words_are_told_apart_by_a_sign() -> None:
    assert [passed(written).signed is not None for written in (SIGNED, NOT_MORE)] == [True, True]


def test_a_count_is_said_with_a_whole_number_added() -> None:
    count = select(number, number).count()
    for added in (-2, 0, 3):
        share, b = share_to_say((count.named("often") + added).term)
        assert (share.count, b) == (next(iter(count.term.atoms)), 1 - added)
    for no_count in (count * 2, count + Fraction(1, 2), count + number, count * number):
        with pytest.raises(NotCompiled, match="a count is said alone"):
            share_to_say(no_count.term)
