"""Programs: what rules mean, against a plain interpreter of the same rules; and refusals."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, decode_by_reference, find_engine
from constructions.layers import Transformer
from constructions.models.program import NUMBER, Words, Write, WriteRule, back, decide, window
from constructions.wiring.affine import reg
from constructions.wiring.numbered import Family
from constructions.wiring.wire import BlockPlan, constant, wire
from precision.format import Arithmetic, Discipline, Format, fixed_point

WORDS = Words((Family("plain", 0, 9), Family("signed", -9, 9, "@{}".format)), ("a", "b", "c", "end"))
MOST = 12


@dataclass(frozen=True)
class ProgramCase:
    """One rule for each special word that may be the latest token: what to write then."""

    word: str
    write: str | tuple[str, int, int]  # a special word, or (family, how many tokens back, added)


def program(cases: list[ProgramCase], fmt: Format) -> Transformer:
    """The wired rules; after a number of either family, the word before it is written again, or `end`."""
    rules = []
    for case in cases:
        write: str | Write
        if isinstance(case.write, str):
            write = case.write
        else:
            family, by, added = case.write
            write = Write(back(NUMBER, by) + added, family)
        rules.append(WriteRule(f"after {case.word}", (reg(case.word),), write))
    numeric = reg("plain") + reg("signed")
    rules += [
        WriteRule(f"number after {w}", (numeric, back(w, 1)), v) for w, v in (("a", "b"), ("b", "c"), ("c", "end"))
    ]
    rules.append(WriteRule("number after a number", (numeric, back("plain", 1) + back("signed", 1)), "end"))
    block = BlockPlan((), decide(rules, WORDS))
    embedding = WORDS.embedding()
    model, _ = wire(embedding, [BlockPlan((), block.gadgets, window([block]))], embedding.words, fmt)
    return model


def interpret(cases: list[ProgramCase], prompt: list[str]) -> list[str]:
    """The same rules, read by Python."""
    table = {case.word: case.write for case in cases}
    words, produced = list(prompt), list[str]()
    while len(produced) < MOST and (not produced or produced[-1] != "end"):
        last = words[-1]
        if last in table:
            write = table[last]
            if isinstance(write, tuple):
                family, by, added = write
                then = words[-1 - by] if by < len(words) else ""
                low, high = (0, 9) if family == "plain" else (-9, 9)
                value = number(then) + added
                assume(low <= value <= high)
                write = str(value) if family == "plain" else f"@{value}"
        else:
            before = words[-2] if len(words) > 1 else ""
            write = {"a": "b", "b": "c", "c": "end"}.get(before, "end")
        words.append(write)
        produced.append(write)
    return produced


def number(word: str) -> int:
    """0 for a special word or nothing."""
    return int(word.removeprefix("@")) if word.lstrip("@-").isdecimal() else 0


writes = st.one_of(
    st.sampled_from(("a", "b", "c", "end")),
    st.tuples(st.sampled_from(("plain", "signed")), st.integers(1, 4), st.integers(-3, 3)),
)


@settings(max_examples=60)
@given(st.tuples(writes, writes, writes), st.lists(st.sampled_from(WORDS.vocabulary[:-1]), max_size=5), st.data())
def test_rules_mean_what_they_say(
    written: tuple[str | tuple[str, int, int], ...], before: list[str], data: st.DataObject
) -> None:
    cases = [ProgramCase(word, write) for word, write in zip("abc", written, strict=True)]
    prompt = [*before, data.draw(st.sampled_from("abc"))]
    arithmetic = Arithmetic(fixed_point(21), data.draw(st.sampled_from(Discipline)))
    model = program(cases, arithmetic.format)
    tokens = [WORDS.vocabulary.index(word) for word in prompt]
    expected = interpret(cases, prompt)
    stop = {WORDS.special("end")}
    produced = decode_by_reference(Decoding(model, arithmetic, tokens, stop, MOST)).produced
    assert [WORDS.vocabulary[token] for token in produced] == expected
    assert find_engine("incremental")(Decoding(model, arithmetic, tokens, stop, MOST)).produced == produced


def test_the_tokens_of_words() -> None:
    assert WORDS.vocabulary[:11] == (*map(str, range(10)), "@-9")
    assert WORDS.vocabulary[WORDS.number("signed", -9)] == "@-9"
    assert WORDS.vocabulary[WORDS.special("end")] == "end"
    with pytest.raises(ValueError, match="10 is not among the plains 0 … 9"):
        WORDS.number("plain", 10)
    with pytest.raises(ValueError, match="no family 'other'"):
        WORDS.number("other", 1)
    with pytest.raises(ValueError, match="two tokens are spelled alike"):
        Words((Family("plain", 0, 3), Family("more", 3, 4)), ())


def test_the_window_is_as_deep_as_the_rules_look() -> None:
    gadgets = decide([WriteRule("r", (back("a", 3), reg("b-tree")), Write(back(NUMBER, 1), "plain"))], WORDS)
    units = window([BlockPlan((), gadgets)])
    assert {unit.name: len(unit.rows) for unit in units} == {"the last 4 of a": 4, "the last 2 of number": 2}


@pytest.mark.parametrize(
    ("families", "specials", "name"),
    [
        (("plain", "plain"), (), "plain"),
        (("plain",), ("plain",), "plain"),
        (("plain",), ("a", "number"), "number"),
        (("number_squared",), (), "number_squared"),
        (("position",), (), "position"),
        (("plain",), ("position",), "position"),
    ],
)
def test_words_and_families_have_names_of_their_own(
    families: tuple[str, ...], specials: tuple[str, ...], name: str
) -> None:
    made = tuple(Family(family, 0, 3, f"{place}:{{}}".format) for place, family in enumerate(families))
    with pytest.raises(ValueError, match=f"'{name}' names 2 registers"):
        Words(made, specials)


def test_a_word_with_the_name_of_a_helper_is_refused() -> None:
    """The shift register of `a` is called a-0, a-1, …, and a program may have helpers of its own."""
    for word, names in (("a-1", r"linear unit 1 \(the last 2 of a\)"), ("one", r"gadget 1 \(1\)")):
        words = Words((Family("plain", 0, 9),), ("a", word))
        block = BlockPlan((), decide([WriteRule("r", (back("a", 1),), "a")], words))
        embedding = words.embedding()
        plans = [BlockPlan((), (constant("1", {"one": 1}),), window([block])), block]
        with pytest.raises(ValueError, match=f"{names} writes register '{word}', which is that of a word"):
            wire(embedding, plans, embedding.words, fixed_point(21))


def test_rules_that_write_what_is_no_token() -> None:
    with pytest.raises(ValueError, match="rule 'r' writes 'bb', which is no special word"):
        decide([WriteRule("r", (reg("a"),), "bb")], WORDS)
    with pytest.raises(ValueError, match="rule 'r' writes a number of 'planes', which is no family"):
        decide([WriteRule("r", (reg("a"),), Write(reg(NUMBER), "planes"))], WORDS)
    with pytest.raises(ValueError, match="'nothing' is to be written where no rule fires, but it is no special word"):
        decide([], WORDS, idle="nothing")
