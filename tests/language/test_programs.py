"""Known and random programs: compiled, certified, and run on every text of a small n, on hard texts and on random ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from constructions.language.program import NotCompiled
from precision.format import Discipline
from tests.language.compiled import Compiled, Words, every_text, tokens_of
from tests.language.programs import PROMPTS, Written, programs
from verify.rounding.checker import Report

AB, NUMBERS = 'some(words("a", "b"))', "some(numbers())"
TWO, TWO_BITS = 'numbers(0), "a", numbers(0)', 'numbers(0, 1), "a", numbers(0, 1)'
SHORT = '"a", some(numbers(0, 2)), optional("b"), some("c")'
HOP = "select(number.back(1), number)"
PAIR = f"{HOP}.first(number)"
OFTEN = "select(number, number).count()"
KNOWN = [
    Written('choose(select(word("a")).count() == select(word("b")).count(), "yes", "no")', AB),
    Written('choose(select(word("a")).count() > select(word("b")).count(), "yes", "no")', AB),
    Written('choose(select(word("a")).count() * 2 < 3, "yes", "no")', AB),
    Written('choose(2 * select(word("a")).count() == 3 * select(word("b")).count(), "yes", "no")', AB),
    Written('choose(select(word("a")).count() > 2, "yes", "no")', AB),
    Written('choose(running_sum(position) > 5, "yes", "no")', AB),
    Written('choose(word("a").at(2), "yes", "no")', AB),
    Written('choose(word("<s>").back(1), "yes", "no")', AB),
    Written('choose(word("a").back(2) & word("b").back(1) | ~word("a"), "yes", "no")', AB),
    Written('choose(word("a").back(1).back(1) & word("a").back(2), "yes", "no")', AB),
    Written('choose((word("a").back(1).named("x")).back(1) & word("a").back(2), "yes", "no")', AB),
    Written('choose(word("a").back(1).back(2), "yes", "no")', AB, "rnn"),
    Written('choose((word("a").back(1).named("x")).back(1), "yes", "no")', AB, "rnn"),
    Written('choose(running_sum(word("a") - word("b")) == 0, "yes", "no")', AB, "rnn"),
    Written('choose(running_sum(running_sum(word("a"))) == 3, "yes", "no")', AB, "rnn"),
    Written('choose(alternating_sum(word("a")) > 0, "yes", "no")', AB, "rnn"),
    Written('choose(alternating_sum(1).back(1), "yes", "no")', AB, "rnn"),
    Written('choose((alternating_sum(word("a"), every=2) == -1) & word("b"), "yes", "no")', AB, "rnn"),
    Written('choose(running_sum(word("a"), every=3).back(2) == 1, "yes", "no")', AB, "rnn"),
    Written('choose(running_sum(word("<s>"), every=2), "yes", number)', NUMBERS, "hybrid"),
    Written('choose(select(word("a")).last(word("b").back(1)), "yes", "no")', AB, "hybrid"),
    Written('choose(select(number.back(1), number).last(is_number), "old", "new")', NUMBERS, "hybrid"),
    Written('choose(select(number.back(1), number).last(number) == 1, "yes", number)', NUMBERS, "hybrid"),
    Written('choose(word("b") & (select(word("a")).first(position) == 2), "yes", "no")', AB, "hybrid"),
    *(
        Written(
            f'choose((select(number, number) & select(select(number == 1).count(), 0)).count() {sign}, "yes", "no")',
            NUMBERS,
            architecture,
        )
        for architecture, sign in (("transformer", "> number - 1"), ("hybrid", "> number - 1"), ("hybrid", "< number"))
    ),
    Written('choose((word("a") > -1) & (running_sum(word("b")) >= 0), "no", "no")', AB, "rnn"),
    Written('choose(word("a"), "yes", "no")', AB),
    Written('"yes"', AB),
    Written("number", NUMBERS),
    Written('choose(select(number, number).count() > 1, "again", "new")', NUMBERS),
    Written('choose(select(number, number).count() > select(number, number.back(1)).count(), "yes", "no")', NUMBERS),
    *(
        Written(
            f'choose(select(number, number).count() {sign} select(number, number.back(1)).count(), "yes", "no")',
            NUMBERS,
        )
        for sign in ("<", ">=", "<=")
    ),
    Written('choose(select(number, number).count() > number - 2, "yes", "no")', NUMBERS),
    Written(f'choose({HOP}.last({HOP}.last(number)) == 0, "none", {HOP}.last({HOP}.last(number)))', NUMBERS),
    Written('choose(table(number, {1: 2, 2: 3, 3: 1}) == 2, "yes", "no")', NUMBERS),
    Written('choose(number.at(number) == 1, "yes", "no")', NUMBERS),
    Written('choose(select(number, number).first(position) == position, "new", "old")', NUMBERS),
    Written('choose((number == 1) | (number.back(1) == 2), "yes", number)', NUMBERS),
    Written('choose((position == 2).at(number), "yes", "no")', NUMBERS),
    Written('choose(select(position, number).count() > 0, "yes", "no")', NUMBERS),
    Written('choose(select(~word("a")).count() == 2, "yes", "no")', AB),
    Written('choose(select(select(word("a")).count() > 1).count() < select(word("b")).count(), "yes", "no")', AB),
    Written('choose(select(word("a"), position - 3).count() > 1, "yes", "no")', AB),
    Written('choose(select(word("a")).count() == position - 1, "yes", "no")', AB),
    Written('choose(select(1).count() == position - 1, "yes", "no")', AB),
    Written('choose((running_sum(word("b")) < 0).back(1), "yes", "no")', AB, "rnn"),
    Written('choose(word("a") | word("a"), choose(word("a") | word("a"), "yes", "no"), "yes")', AB),
    Written(OFTEN, NUMBERS),
    Written(f'choose({OFTEN} > 2, "many", {OFTEN} + 1)', NUMBERS),
    Written(f'({OFTEN}.named("often") - 1).named("before")', "some(numbers(0))"),
    Written(f'choose(number == 1, number, choose(number == 2, "two", {OFTEN}))', NUMBERS),
    Written("select(number, number.back(1)).count()", "some(numbers(0))"),
    Written("select(number).count()", "some(numbers(0))", "hybrid"),
    Written(OFTEN, NUMBERS, "hybrid"),
    Written('choose(position == number + 1, "here", select(number.back(1), 1).count())', "some(numbers(0))"),
    # Ties of two that are as near; what a number has in common with its own position.
    Written('choose(select(number, number).nearest(position, number) == 2, "yes", "no")', NUMBERS),
    Written('choose(select(is_number).nearest(number, 2 * number - 1) == 1, "yes", "no")', NUMBERS),
    Written('choose(select(number, position).last(number) == 2, "yes", "no")', NUMBERS),
    Written('choose(select(number, position).first(position) == 2, "yes", "no")', NUMBERS),
    # A number after comparisons of counts and sums.
    Written('choose(select(number == 1).count() == select(position, number).count(), number, "no")', NUMBERS),
    Written('choose(running_sum(number) == 3, number, "no")', NUMBERS),
    Written('choose((running_sum(position) < 4) & (number > 1), number, "no")', NUMBERS),
    # Multiples of keys, of which none may match.
    Written('choose(select(2 * number, number).count() == 1, "yes", "no")', NUMBERS),
    Written('choose(select(2 * word("b"), word("a").back(1)).count() == 0, "yes", "no")', AB),
    # Where two cases together tell what stood before.
    Written('choose((number == 1) | (position > 2), choose(is_number.back(2), number, "no"), "no")', NUMBERS, "rnn"),
    Written('choose((running_sum(word("b")) > (word("b") & (position == 2))).back(1), "yes", "no")', AB, "rnn"),
    Written(
        'choose(3 * number + number.back(1) != 0, choose(number == 1, number, "yes"), "no")', "some(numbers(0))", "rnn"
    ),
]
# Sums of two numbers, of which some are bits.
SUMS = [
    Written('choose(number.back(2) + number == 0, "yes", choose(number.back(2) + number == 2, "both", "no"))', TWO),
    Written('choose(number.back(2) + number == 3, number.back(2), "no")', TWO),
    Written("choose(number.back(2) + number == 1, 1, 0)", TWO_BITS),
    Written("choose(number.back(2) + number == 1, 1, choose(number.back(2) + number == 0, 0, 1))", TWO_BITS),
]


def some_of(texts: Sequence[Words], count: int) -> list[Words]:
    """The first, the last, and some between."""
    step = max(1, len(texts) // count)
    return [*texts[::step], texts[-1]]


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("written", [*KNOWN, *SUMS], ids=lambda written: written.says[:60])
def test_known_programs_are_certified_and_say_what_is_due(written: Written, discipline: Discipline) -> None:
    """At the least p: every text of n = 3, and some against what is certified of each register."""
    compiled = Compiled(written.program, 3, discipline)
    texts = [*every_text(compiled.program.texts, 3)]
    assert isinstance(compiled.report, Report), compiled.report
    assert compiled.mismatches == []
    assert compiled.slips(texts) == []
    assert compiled.slips(some_of(texts, 2), by_lookups=True) == []
    assert compiled.strays(some_of(texts, 3)) == []


@pytest.mark.parametrize("written", KNOWN[::4], ids=lambda written: written.says[:60])
def test_long_texts_of_known_programs(written: Written) -> None:
    """Of n = 9: of one token, of the longest, with one token elsewhere at each place, and any."""
    compiled, n = Compiled(written.program, 9), 9
    assert compiled.certified
    (piece,) = compiled.program.texts.prompt
    tokens, rng = tokens_of(piece, n), random.Random(1)
    hard = [(token,) * n for token in (tokens[0], tokens[-1])]
    hard += [(*[tokens[0]] * i, tokens[-1], *[tokens[0]] * (n - 1 - i)) for i in (0, n // 2, n - 1)]
    hard += [tuple(rng.choice(tokens[:3]) for _ in range(n)) for _ in range(4)]
    assert compiled.slips([*hard, (tokens[0],), (tokens[-1],)]) == []
    assert compiled.slips(hard[:3], by_lookups=True) == []
    assert compiled.strays(hard[3:5]) == []


TEXTS = {prompt: some_of([*every_text(Written('"x"', prompt).program.texts, 3)], 12) for prompt in PROMPTS}


@example(Written('choose(word("a").back(2).back(2), "yes", "no")', AB, "rnn"), Discipline.FUSED, 3)
@example(
    Written('choose(select(number, number).count() + select(number, 1).count() > 2, "yes", "no")', NUMBERS),
    Discipline.FUSED,
    3,
)
@example(Written('choose(select(word("a")).count() < Fraction(5, 2), "yes", "no")', AB), Discipline.FUSED, 3)
@example(Written('choose(((number == 1) | (position > 2)).back(1), "yes", "no")', NUMBERS), Discipline.SEQUENTIAL, 3)
@example(
    Written(
        'choose((number == number).back(1).at(number), choose(select(number + position, select(word("a")).nearest(number, number))'
        '.count() == 0, "yes", "no"), "yes")',
        SHORT,
    ),
    Discipline.FUSED,
    3,
)
@example(
    Written('choose(running_sum(word("a")) >= 0, select(word("c")).count(), "no")', SHORT, "hybrid"),
    Discipline.FUSED,
    5,
)
@example(Written("select(number, position).nearest(number, number)", "some(numbers(0))"), Discipline.FUSED, 3)
@example(
    Written(
        "choose((select(number, number).nearest(select(is_number).nearest(number, number), positive(position)) < select("
        'word("?"), position).nearest(select(position, number).nearest(position, number), word("?").at(number))), number, "no")',
        'some(numbers()), "?", numbers()',
    ),
    Discipline.FUSED,
    5,
)
@example(
    Written('choose((number == position), number, "no")', 'many(words("a", "b")), "?", numbers(0)', "rnn"),
    Discipline.FUSED,
    3,
)
@example(
    Written('choose(word("a").at(select(word("b")).last(word("b") * position)), "no", "yes")', AB), Discipline.FUSED, 3
)
@example(
    Written(
        'choose(select(number, number).nearest(number, (position > 2) * number) == 3, "no", "yes")', "some(numbers(0))"
    ),
    Discipline.FUSED,
    3,
)
@example(
    Written('choose((~(number > 1)).back(2).back(1), number, "no")', "some(numbers(0))", "rnn"), Discipline.FUSED, 8
)
@example(
    Written(
        'choose((table(word("?").at(number), {1: 2, 2: 0, 3: 1}) < select((number > 1)).last(number.back(1))), choose(((word('
        '"?") > 1) >= 2), "yes", "no"), number)',
        'some(numbers()), "?", numbers()',
    ),
    Discipline.FUSED,
    8,
)
@example(Written('choose(running_sum(select(word("a")).first(position)) == 0, "no", "yes")', AB), Discipline.FUSED, 8)
@example(
    Written(
        'choose(((select((number > 1)).first((number * 2)) + 0) != select((select(is_number).count() >= word("c"))).nearest(select('
        'word("c"), position).last((word("c") * word("c"))), select(number, number).nearest((word("c") * number), select(('
        'number == 1)).nearest(word("c"), word("c"))))), "yes", "no")',
        SHORT,
    ),
    Discipline.SEQUENTIAL,
    5,
)
@example(
    Written('choose(select(number != 0).nearest(position, (number > 1) & word("c")) == 2, "yes", "no")', SHORT),
    Discipline.SEQUENTIAL,
    5,
)
@example(
    Written(
        'choose(((select(word("a")).first((number * 2)) + select(number, number).first((number + number))) == select((number != '
        'word("a"))).nearest(select(word("a"), word("a")).last(word("c")), ((running_sum(word("a")) >= 0) * (position == 2)))), '
        'select(number, word("a")).count(), "no")',
        SHORT,
    ),
    Discipline.SEQUENTIAL,
    5,
)
@example(
    Written(
        "choose((select((is_number | (number == 1)), positive(((position == 2) * number))).count() == select((running_sum(number) "
        '< 2)).count()), select((position == 2)).count(), "no")',
        NUMBERS,
    ),
    Discipline.FUSED,
    3,
)
@settings(max_examples=25)
@given(programs(), st.sampled_from(Discipline), st.sampled_from([3, 5, 8]))
def test_random_programs_say_what_is_due_and_nothing_wrong_is_certified(
    written: Written, discipline: Discipline, n: int
) -> None:
    """At the least p none is refused. `--fuzz 60` tries thousands."""
    compiled = Compiled(written.program, n, discipline)
    try:
        compiled.compiler.plan(compiled.compiler.setting(compiled.arithmetic.format))
    except NotCompiled as refusal:
        event(str(refusal)[:60])
        return
    assert compiled.refusal == ""
    event(f"certified: {compiled.certified}")
    texts = TEXTS[written.prompt]
    if compiled.certified:
        assert compiled.slips(texts) == []
        assert compiled.slips(texts[:1], by_lookups=True) == []
    if isinstance(compiled.report, Report):
        assert compiled.strays([texts[0], texts[-1]]) == []


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize(
    "keys", ["number, number", "number, position", "is_number", "number == 1", "number.back(1), number"]
)
@pytest.mark.parametrize("target", ["number", "position - 2", "2 * number - 3"])
def test_of_two_that_are_as_near_the_first_is_read(keys: str, target: str, discipline: Discipline) -> None:
    says = f'choose(select({keys}).nearest(position, {target}) == 2, "yes", "no")'
    compiled = Compiled(Written(says, NUMBERS).program, 4, discipline)
    its_own_number = (keys, target) == ("number, position", "2 * number - 3")
    if its_own_number and discipline is Discipline.SEQUENTIAL:  # no rule bounds its score
        assert not isinstance(compiled.report, Report)
        return
    assert compiled.certified
    texts = [*every_text(compiled.program.texts, 4)]
    assert compiled.slips(some_of(texts, 60)) == []


CHAINS = [
    Written(f'choose({PAIR} == 0, "END", {PAIR})', 'some(numbers()), "?"', thought="some(numbers())"),
    Written('choose(running_sum(is_number) > 3, "END", 1)', "some(numbers())", "rnn", "some(numbers(0))"),
    Written(
        'choose(number.at(2 * select(word("?")).first(position) - position - 1) == 0, "END", number.at(2 * select('
        'word("?")).first(position) - position - 1))',
        'some(numbers()), "?"',
        thought="some(numbers())",
    ),
]


@pytest.mark.parametrize("written", CHAINS, ids=["copying", "four", "reverse"])
def test_what_is_said_in_a_chain_of_thought_is_read_again(written: Written) -> None:
    """Texts of n = 3, whatever is said in them."""
    compiled = Compiled(written.program, 3)
    texts = [*itertools.islice(every_text(compiled.program.texts, 3), 0, None, 29)]
    assert compiled.certified
    assert compiled.slips(some_of(texts, 60)) == []
    assert compiled.strays(some_of(texts, 4)) == []


def test_all_texts_are_tried() -> None:
    texts = [*every_text(Written('"x"', 'many("a"), "?", numbers(0)').program.texts, 2)]
    assert texts == [(*["a"] * i, "?", v) for i, v in itertools.product(range(3), "012")]
