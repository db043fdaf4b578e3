"""Models that a person wired: by each part of the page's table they are certified for every n, and wrong ones are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pytest

from constructions.language import choose, number, numbers, position, program, select, some, word, words
from constructions.language.handwired import HandWired, architecture_of
from constructions.language.program import Program
from constructions.parts.gadgets.indicator import indicator
from constructions.parts.gadgets.product import square
from constructions.parts.heads.copy import copy, position_square_precision
from constructions.parts.heads.match import match, match_precision, pair
from constructions.parts.heads.match_close import match_close
from constructions.parts.heads.tight import nearest, single
from constructions.parts.recurrences.recent import recent
from constructions.wiring.affine import Affine, reg
from constructions.wiring.numbered import Family
from constructions.wiring.part import Setting
from constructions.wiring.plan import BlockPlan, Embedding, Gadget, Head, constant, linear
from constructions.wiring.register import squared
from precision.format import Arithmetic, Discipline, fixed_point
from verify.dossiers.dossier import ENDLESS, LEAST, Subject
from verify.dossiers.written import by_hand
from verify.rounding.model import planned
from verify.theorem import links

SETTING = Setting(8, 9, fixed_point(33))
PREPARE = BlockPlan((), (square(reg("position"), squared("position")),))
HOLDS = ["certified", "certified", "tried"]


def asked(task: Program, least: Callable[[int, int], int], *blocks: Callable[[Setting], BlockPlan]) -> HandWired:
    def least_bits(n: int, length: int, discipline: Discipline) -> int:
        return least(n, length)

    return HandWired(task, lambda setting: [block(setting) for block in blocks], least_bits)


def told(difference: Affine) -> tuple[Gadget, ...]:
    """Says yes where an integer is 0, else no; numbers are said nowhere."""
    clear = [linear(f"clear {name}", -reg(name), name) for name in ("number", squared("number"))]
    return (*clear, constant("no, unless", {"no": 2}), indicator(difference, 0, {"yes": 2, "no": -2}))


def by_numbers(make: Callable[[Setting], Head], difference: Affine) -> Callable[[Setting], BlockPlan]:
    return lambda setting: BlockPlan((make(setting),), told(difference))


def of_words(make: Callable[[Setting], Head], difference: Affine) -> Callable[[Setting], BlockPlan]:
    return lambda setting: BlockPlan((make(setting),), told(difference)[2:])


def task(condition: object, oracle: Callable[[Sequence[str]], bool], *letters: str) -> Program:
    return program(
        choose(condition, "yes", "no"),
        prompt=[some(words(*letters) if letters else numbers())],
        oracle=lambda tokens: "yes" if oracle(tokens) else "no",
        examples=["a b a" if letters else "1 2 1"],
        name="asked",
    )


def prepared(setting: Setting) -> BlockPlan:
    return PREPARE


MODELS: Mapping[str, HandWired] = {
    "copy": asked(
        task(number == number.back(1), lambda tokens: tokens[-2:-1] == tokens[-1:]),
        position_square_precision,
        prepared,
        by_numbers(lambda s: copy("before", 1, {"before": reg("number")}, s), reg("number") - reg("before")),
    ),
    "nearest": asked(
        task(word("a").at(2) == 1, lambda tokens: tokens[0] == "a", "a", "b"),
        position_square_precision,
        prepared,
        of_words(
            lambda s: nearest("second", 2 * reg("one"), 4 * reg("one"), {"begins": reg("a")}, s.gap),
            reg("begins") - reg("one"),
        ),
    ),
    "single": asked(
        task(word("a").at(2) == 1, lambda tokens: tokens[0] == "a", "a", "b"),
        position_square_precision,
        lambda s: BlockPlan((), (indicator(reg("position"), 2, {"second": 1}),)),
        of_words(lambda s: single("second", reg("second"), {"begins": reg("a")}, s.gap), reg("begins") - reg("one")),
    ),
    "match": asked(
        task(select(number, number).first(position) == position, lambda tokens: tokens[-1] not in tokens[:-1]),
        match_precision,
        prepared,
        by_numbers(
            lambda s: match("first", [pair("number", "number")], {"at": reg("position")}, s),
            reg("position") - reg("at"),
        ),
    ),
    "match_close": asked(
        task(
            select(number.back(1), number).last(number) == number,
            lambda tokens: [y for x, y in pairwise(tokens) if x == tokens[-1]][-1:] == tokens[-1:],
        ),
        match_precision,
        prepared,
        lambda s: BlockPlan((copy("before", 1, {"x": reg("number"), squared("x"): reg(squared("number"))}, s),), ()),
        by_numbers(
            lambda s: match_close("after", [pair("x", "number")], {"y": reg("number")}, s), reg("number") - reg("y")
        ),
    ),
}


def verdicts(model: HandWired, n: int, last: int = 0) -> list[str]:
    return [link.verdict for link in links(Subject(by_hand(model), n, last=last))]


@pytest.mark.parametrize("head", MODELS)
def test_it_is_certified_for_every_n(head: str) -> None:
    assert verdicts(MODELS[head], 8) == HOLDS
    assert verdicts(MODELS[head], LEAST, ENDLESS) == [*HOLDS, "certified"]


def test_a_wrong_one_is_refuted() -> None:
    wrong = MODELS["copy"]
    head = by_numbers(lambda s: copy("before", 2, {"before": reg("number")}, s), reg("number") - reg("before"))
    assert verdicts(asked(wrong.program, position_square_precision, prepared, head), 8) == ["certified", "refused"]
    few = asked(wrong.program, lambda n, length: 13, *(lambda s, i=i: wrong.blocks(s)[i] for i in range(2)))
    assert verdicts(few, 8) == ["refused"]


def test_families_that_an_embedding_has_not_are_named() -> None:
    plain = Embedding(("a",), ({"a": 1},), "position")  # rows of words alone need not be `Numbered`
    arithmetic = Arithmetic(fixed_point(5), Discipline.FUSED)
    assert set(planned(plain, [], arithmetic, [], rounded=False).specials) == {"a"}
    with pytest.raises(ValueError, match=r"0 families of numbers .*has 1"):
        planned(plain, [], arithmetic, [Family("", 1, 4)], rounded=False)


def test_what_it_is_is_read_off_its_blocks() -> None:
    unit, head, gadgets = (
        recent("recent", ("number",), 2),
        copy("before", 1, {"x": reg("number")}, SETTING),
        told(reg("number")),
    )
    recurrent, attending = BlockPlan((), (), (unit,)), BlockPlan((head,), gadgets)
    assert architecture_of([attending, attending]) == "transformer"
    assert architecture_of([recurrent, BlockPlan((), gadgets)]) == "rnn"
    assert architecture_of([recurrent, attending]) == "hybrid"
    for mixed in ([attending, recurrent], [recurrent, attending, attending], [BlockPlan((head,), (), (unit,))]):
        with pytest.raises(ValueError, match="a hybrid has heads in its last block alone"):
            architecture_of(mixed)


def test_it_is_the_same_at_every_n() -> None:
    def blocks(setting: Setting) -> list[BlockPlan]:
        heads = (copy("before", 1, {"x": reg("number")}, setting),) if setting.n > 20 else ()
        return [PREPARE, BlockPlan(heads, told(reg("number")), () if heads else (recent("recent", ("number",), 2),))]

    model = HandWired(task(number == 1, lambda tokens: False), blocks, lambda n, length, discipline: 41)
    assert model.model == "rnn"
    with pytest.raises(ValueError, match="asked is wired as rnn at n = 16, and as transformer here"):
        model.build(30)
