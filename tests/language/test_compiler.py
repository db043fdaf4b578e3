"""What the compiler makes of known programs: how deep, what is shared, what is refused and why."""

from __future__ import annotations

import pytest

from constructions.language.compiler import Compiler
from constructions.language.program import Architecture, NotCompiled, Pin, Program, program
from constructions.language.texts import numbers, some
from constructions.language.values import Output, choose, number, running_sum, select
from constructions.wiring.affine import reg
from constructions.wiring.lookup import Preference
from precision.format import Discipline, fixed_point
from tests.language.compiled import Compiled, every_text
from tests.language.programs import Written

AB, NUMBERS = 'some(words("a", "b"))', "some(numbers())"


def compiled(says: str, prompt: str = NUMBERS, architecture: Architecture = "transformer", n: int = 5) -> Compiler:
    compiler = Compiler(Written(says, prompt, architecture).program, n)
    compiler.plan(compiler.setting(Compiled(compiler.program, n).arithmetic.format))
    return compiler


def heads(compiler: Compiler) -> list[int]:
    """How many there are in each block."""
    return [len(compiler.blocks[i].heads) if i in compiler.blocks else 0 for i in range(1, compiler.depth + 1)]


def gadgets(compiler: Compiler, part: str) -> int:
    """How many have this in their names."""
    return sum(part in gadget.name for block in compiler.blocks.values() for gadget in block.gadgets)


@pytest.mark.parametrize(
    ("says", "architecture", "blocks", "in_blocks"),
    [
        ('"yes"', "transformer", 1, [0]),
        ('choose(number == 1, "yes", "no")', "transformer", 1, [0]),
        ('choose(is_number.back(1), "yes", "no")', "transformer", 2, [0, 1]),
        ('choose(is_number.back(1), "yes", "no")', "rnn", 1, [0]),
        ('choose(is_number.back(1).back(2), "yes", "no")', "rnn", 1, [0]),
        ('choose(is_number.back(1).back(2), "yes", "no")', "transformer", 2, [0, 1]),
        ('choose(number.back(1) == 1, "yes", "no")', "transformer", 2, [0, 1]),
        ('choose(select(number, number).count() > 2, "yes", "no")', "transformer", 1, [1]),
        ('choose(select(number, number).count() > 2, "yes", number)', "transformer", 2, [1, 0]),
        (
            'choose(word("<s>").back(1) & (select(number, number).count() > 2), "yes", "no")',
            "transformer",
            3,
            [1, 1, 0],
        ),
        ('choose(select(number == 1).count() > 2, "yes", "no")', "transformer", 2, [0, 1]),
        ('choose(select(number.back(1), number).last(number) == 1, "yes", "no")', "transformer", 3, [0, 1, 1]),
        ('choose(running_sum(number) > 2, "yes", "no")', "rnn", 1, [0]),
        ('choose(running_sum(running_sum(number)) > 2, "yes", "no")', "rnn", 2, [0, 0]),
        ("select(number, number).count()", "transformer", 1, [1]),
        ('choose(alternating_sum(1), "yes", "no")', "rnn", 1, [0]),
        ('choose(running_sum(word("<s>"), every=3).back(2), "yes", "no")', "rnn", 1, [0]),
        ('choose(running_sum(number, every=3).back(3) > 2, "yes", "no")', "rnn", 2, [0, 0]),
        ('choose(select(number.back(1), number).last(is_number), "yes", "no")', "hybrid", 2, [0, 1]),
        ('choose(select(number.back(1), number).last(number) == 1, "yes", number)', "hybrid", 2, [0, 1]),
        ('choose(select(number, number).count() < number, "yes", "no")', "hybrid", 1, [1]),
    ],
)
def test_depth_is_that_of_the_program(says: str, architecture: Architecture, blocks: int, in_blocks: list[int]) -> None:
    compiler = compiled(says, architecture=architecture)
    assert compiler.depth == blocks
    assert heads(compiler) == in_blocks


def test_what_is_equal_is_computed_once() -> None:
    bit = "select(number == 2).last(is_number)"
    once = compiled(f'choose({bit}, "yes", "no")')
    for says in (
        f'choose({bit} & select(2 == number).last(is_number), "yes", "no")',
        f'choose({bit}, choose(select(3 * number == 6).last(is_number), "yes", "no"), "no")',
        f'choose(select(number - 2 == 0).last(is_number) | {bit}, "yes", "no")',
    ):
        compiler = compiled(says)
        assert gadgets(compiler, "1[") == gadgets(once, "1[") == 1
        assert compiler.depth == once.depth


def test_what_is_read_from_one_place_is_read_by_one_head() -> None:
    compiler = compiled("choose(select(number, number).last(is_number), select(number, number).last(position) - 1, 1)")
    assert heads(compiler) == [0, 1]
    assert heads(compiled('choose(is_number.back(1) & (position > 2).back(1), "yes", "no")')) == [0, 1]
    two = compiled('choose(is_number.back(1) & is_number.back(2), "yes", "no")')
    assert heads(two) == [0, 2]
    mean = compiled('choose((running_sum(number) > 2) & (running_sum(word("<s>") - is_number) == 0), "yes", "no")')
    assert heads(mean) == [1, 0]


def test_a_square_of_what_is_read_is_read() -> None:
    """One head reads both; no unit squares what stands at one position."""
    compiler = compiled('choose(select(number.back(1), number).last(is_number), "yes", "no")')
    assert gadgets(compiler, ")²") == gadgets(compiled('choose(is_number.back(1), "yes", "no")'), ")²") == 1


def test_a_square_that_is_not_there_before_is_computed_where_it_is_needed() -> None:
    """By the head that reads the number, or by a unit after it: never by another head, of which nobody knows what it reads."""
    read = 'select(word("b")).last(word("b") * position)'
    one = compiled(f'choose(word("a").at({read}), "no", "yes")', AB)
    reads = [sorted(head.reads) for block in one.plan(one.setting(fixed_point(15))) for head in block.heads]
    assert reads == [["read_1"], ["read_2"]]
    assert gadgets(one, "(read_1)²") == 1


@pytest.mark.parametrize("architecture", ["transformer", "rnn", "hybrid"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("number.back(1).back(1) * number.back(1).back(1)", "number.back(2) * number.back(2)"),
        (
            "(positive(number - 1) * positive(number - 1)).back(2)",
            "positive(number - 1).back(2) * positive(number - 1).back(2)",
        ),
        (
            "(positive(number - 1) * positive(number - 1)).back(1)",
            "positive(number - 1).back(1) * positive(number - 1).back(2)",
        ),
    ],
)
def test_squares_have_registers_of_their_own(one: str, other: str, architecture: Architecture) -> None:
    """Two parts that wrote the square of one value into one register would add up."""
    for first, second in ((one, other), (other, one)):
        says = f'choose({first} + {second} > 3, "yes", "no")'
        both = Compiled(Written(says, NUMBERS, architecture).program, 3)
        assert both.slips([*every_text(both.program.texts, 3)]) == []


def test_the_square_of_what_is_0_everywhere_is_0() -> None:
    """`c` and a number in one: no unit writes it, so nothing reads it."""
    short = '"a", some(numbers(0, 2)), optional("b"), some("c")'
    nothing = 'select(number).nearest(word("c") * number, word("c"))'
    one = compiled(f'choose(select(word("c")).nearest(number, {nothing}) > 0, "yes", "no")', short)
    one.plan(one.setting(fixed_point(31)))
    assert gadgets(one, "(read_") == 0


SAME = "select(number, number)"
REFUSED: dict[tuple[str, Architecture], dict[str, str]] = {  # what a program says, and why it cannot be compiled
    (AB, "transformer"): {
        'choose(word("z"), "yes", "no")': "the program asks for 'z', which is no word of its texts",
        "number": "no number stands in the texts",
        f"{SAME}.count()": "no number stands in the texts",
    },
    (NUMBERS, "transformer"): {
        'choose(number, "yes", "no")': "choose asks for a comparison",
        "running_sum(number)": "a Transformer has a running sum as a mean",
        'choose(alternating_sum(1), "yes", "no")': "a Transformer has no recurrence",
        "running_sum(number, every=2)": "a Transformer has no recurrence",
        'choose(running_sum(number) * number > 2, "yes", "no")': "a count",
        'choose(running_sum(number * Fraction(1, 2)) > 2, "yes", "no")': "a running sum is for integers",
        f"{SAME}.count() * 2": "a count is said alone",
        f"{SAME}.count() + number": "a count is said alone",
        f"{SAME}.count() + Fraction(1, 2)": "a count is said alone",
        f"{SAME}.count() * number": "a count is said alone",
        f"number.at({SAME}.count())": r"a count m is known as 1/\(1 \+ m\) only",
        f'choose({SAME}.count() * 2 > 3, "yes", "no")': "a count is compared",
        f'choose({SAME}.count() + select(number, 1).count() > 3, "yes", "no")': "a count is compared",
        f'choose({SAME}.count() + select(number, number.back(1)).count() > 3, "yes", "no")': "a count is compared",
        f'choose(select(number, {SAME}.count()).last(is_number), "yes", "no")': "a count m",
    },
    (NUMBERS, "rnn"): {
        "alternating_sum(number * Fraction(1, 2))": "a running sum is for integers",
        'choose((number * Fraction(1, 2)).back(1) > 2, "yes", "no")': "what is read is for integers",
        "number * Fraction(1, 2)": "a number that is said is for integers",
        f"{SAME}.count()": "an RNN has no head",
        f'choose({SAME}.last(is_number), "yes", "no")': "an RNN has no head",
        'choose(is_number.at(2), "yes", "no")': "an RNN has no head",
    },
    (NUMBERS, "hybrid"): {
        f'choose({SAME}.last(number) * number == 1, "yes", "no")': "a hybrid has its heads in the last block: this program "
        "reads in block 2 of 3"
    },
}


@pytest.mark.parametrize(
    ("prompt", "architecture", "says", "reason"),
    [(*texts, says, reason) for texts, refused in REFUSED.items() for says, reason in refused.items()],
)
def test_what_cannot_be_compiled_is_refused_with_the_reason(
    prompt: str, architecture: Architecture, says: str, reason: str
) -> None:
    with pytest.raises(NotCompiled, match=reason):
        compiled(says, prompt, architecture)


@pytest.mark.parametrize("discipline", Discipline)
@pytest.mark.parametrize("n", [4, 8, 16])
def test_a_model_of_more_texts_takes_no_fewer_bits(n: int, discipline: Discipline) -> None:
    for says in ('choose(select(number, number).count() > 2, "yes", "no")', 'choose(number.back(1) == 1, "yes", "no")'):
        small, large = (Compiler(Written(says, NUMBERS).program, m).least_precision(discipline) for m in (n, 4 * n))
        assert small % 2 == large % 2 == 1
        assert small < large


def test_never_said_is_no_unit() -> None:
    """Cases that cannot be, with one word, once clashed."""
    never = '(running_sum(word("a")) == -1) | (running_sum(word("b")) < -1)'
    says = f'choose({never}, choose(running_sum(word("b")) > 1, "x", "y"), "no")'
    assert gadgets(compiled(says, AB, "rnn"), "say") == 1
    compiler = compiled('choose((word("a") > -1) & (running_sum(word("b")) >= 0), "no", "no")', AB, "rnn")
    assert gadgets(compiler, "say no") == 1


def test_registers_have_names_of_their_own() -> None:
    """A copy of a copy, and a copy from as far back."""
    for architecture in ("transformer", "rnn"):
        says = 'choose((is_number.back(1).named("x")).back(1) & is_number.back(2), "yes", "no")'
        plan = Compiled(Written(says, NUMBERS, architecture).program, 4).wired
        written = [
            name
            for block in plan.blocks
            for name in [*(n for h in block.heads for n in h.reads), *(n for u in block.linear_units for n in u.rows)]
        ]
        assert len({*written}) == len(written)


# Pins

FOLLOWED = select(number.back(1), number).last(number)
OFTEN = select(number, number).count() > 1
FEW = running_sum(number) < 3


def pinned(*pins: Pin, says: Output | None = None, precision: int | None = None) -> Program:
    output = says or choose(FOLLOWED == 0, "none", FOLLOWED)
    some_numbers = [some(numbers())]
    return program(output, prompt=some_numbers, oracle=str, examples=["1"], pins=pins, precision=precision)


@pytest.mark.parametrize("block", [3, 4, 6])
@pytest.mark.parametrize("scale", [None, 64])
@pytest.mark.parametrize("discipline", Discipline)
def test_a_head_stands_where_it_is_pinned_to_and_has_that_scale(
    block: int, scale: int | None, discipline: Discipline
) -> None:
    made = Compiled(pinned(Pin(FOLLOWED, block, scale)), 4, discipline)
    assert heads(made.compiler) == [0, 1, *[0] * (block - 3), 1]
    (head,) = made.wired.blocks[block - 1].heads
    lead = scale or made.compiler.setting(made.arithmetic.format).gap
    assert head.lookup is not None
    assert head.lookup.prefer == Preference(reg("position"), lead * reg("one"))
    assert made.certified
    assert not made.slips([*every_text(made.program.texts, 3)])


def test_units_stand_where_they_are_pinned_to() -> None:
    assert heads(Compiled(pinned(Pin(OFTEN, 5), says=choose(OFTEN, "yes", "no")), 4).compiler) == [1, 0, 0, 0, 0, 0]
    assert Compiled(pinned(Pin(OFTEN, 5), says=choose(OFTEN, "yes", "no")), 4).certified
    assert Compiled(pinned(Pin(FEW, 3), says=choose(FEW, "yes", "no")), 4).certified


def test_a_lead_that_is_pinned_too_small_is_not_certified() -> None:
    assert Compiled(pinned(Pin(FOLLOWED, scale=16)), 4).certified
    assert not Compiled(pinned(Pin(FOLLOWED, scale=4)), 4).certified


def test_the_precision_is_the_pinned_one() -> None:
    assert Compiler(pinned(precision=41), 4).least_precision() == 41
    assert Compiled(pinned(precision=41), 4).certified
    with pytest.raises(NotCompiled, match=r"p = 9 is pinned, and these weights need p = \d+ \(fused\)"):
        Compiler(pinned(precision=9), 4).least_precision()


@pytest.mark.parametrize(
    ("pin", "reason"),
    [
        (Pin(FOLLOWED, 2), "block 2 is too early for what is pinned to it: that can stand in block 3"),
        (Pin(FOLLOWED != 0, 2), "block 2 is too early for what is pinned to it: that can stand in block 3"),
        (Pin(FOLLOWED + 1, 3), "what can be pinned is a value that is read or counted, or a comparison"),
        (Pin(number.back(2), 2), "a value is pinned for which nothing of its own is wired"),
    ],
)
def test_what_cannot_be_pinned_is_refused_with_the_reason(pin: Pin, reason: str) -> None:
    with pytest.raises(NotCompiled, match=reason):
        Compiler(pinned(pin), 5)


def test_a_scale_is_a_power_of_two() -> None:
    with pytest.raises(ValueError, match="a scale is a power of two, not 12"):
        pinned(Pin(FOLLOWED, scale=12))


@pytest.mark.parametrize("never", ['word("a") - 1', 'select(number, 1).last(word("a") - 1)'])
def test_what_is_never_positive_is_0(never: str) -> None:
    program = Written(
        f'choose(word("b").at(positive({never})), number, "no")', 'many(words("a", "b")), "?", numbers(0)'
    ).program
    assert Compiled(program, 6).certified
