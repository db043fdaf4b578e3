"""Patterns as automata, against what Python's `re` finds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.istree.searches import SearchWords, searches
from constructions.turing.rag import tape_search
from verify.patterns.matching import FOUND, NO_GROUP, Open, advance
from verify.patterns.pattern import COUNT, MOST_REPEATED, NUMERALS, OTHER, PARSER, pattern
from verify.patterns.tally import NEAR, Tally


def match(written: str, text: str, marked: tuple[int, int], repeated: int = 0) -> int | None:
    """What the match has, if what stands between two places is marked, and each character is counted."""
    made, now, tally = pattern(written), {Open()}, Tally(left=min(repeated, NEAR))
    for i, char in enumerate([*text, ""]):
        flags = {"starts": i == marked[0], "ends": i == marked[1]}
        if char:
            left = max(-NEAR, min(repeated - i - 1, NEAR))
            (tally,) = (after for after in tally.advance(True) if after.left == left)
            now = {before.count_one() for before in now}
        now = {after for before in now for after in advance(made, before, char, tally=tally, **flags)}
    (end,) = now  # of all guesses one is right
    return end.match


def agree(written: str, text: str, right: re.Match[str] | None, of_letters: str = "", repeated: int = 0) -> None:
    """The same match, or none. of_letters: a text and a pattern with numerals in letters, of the same lengths."""
    span, letters = (-1, -1) if right is None else right.span(1), of_letters or text
    actual = match(written, letters, span, repeated)
    assert actual == (None if right is None else NO_GROUP if span[0] < 0 else FOUND), (written, text)


PATTERNS = (
    r"(?:(?<=\bb\s)|(?=a+\s))(a+)",
    r"\b(?:ab|ba)\b[^-]*?(?:(?<=a\s)|(?=b))([ab]+)",
    r"^.*b(a)",
    r"^.*?b(a).*?$",
    r"(a|ab)(?=b)",
    r"(?:a|(b))a",
    r"(a*?b+)",
)


@pytest.mark.parametrize("written", PATTERNS)
def test_small_texts(written: str) -> None:
    for n in range(5):
        for text in map("".join, itertools.product("ab -", repeat=n)):
            agree(written, text, re.search(written, text))


SINGLE = st.sampled_from(["a", "b", r"\s", "-", ".", r"\w", "[^-]", "[ab]", r"[^\s]"])
REPEATED = st.builds(
    "{}{}".format, SINGLE | st.just("(?:ab|b)"), st.sampled_from(["*", "+", "*?", "+?", "{2}", "{1,}"])
)
PIECE = SINGLE | REPEATED | st.sampled_from([r"\b", "^", "$", r"(?<=\ba)", r"(?<=-|b)", r"(?=a+\b)", "(?=b)", "(?= )"])
SEQUENCE = st.lists(PIECE, max_size=4).map("".join)
EITHER = st.lists(SEQUENCE, min_size=1, max_size=3).map("|".join)


@given(st.builds("(?:{}){}({}){}".format, EITHER, SEQUENCE, EITHER, SEQUENCE), st.text("ab -", max_size=8))
def test_any_pattern(written: str, text: str) -> None:
    agree(written, text, re.search(written, text))


def told(written: str, text: str, repeated: int = 0) -> bool:
    """Whether the match is told, and then it is the one of `re`. COUNT stands for a number of repetitions."""
    right = re.search(written.replace(str(COUNT), str(repeated)), text)
    try:
        agree(written, text, right, repeated=repeated)
    except ValueError as error:
        if not re.search("may go on|at once|counts far|count far|on and on", str(error)):
            raise
        return False
    return True


ATOMIC = st.builds("(?>{}{})".format, EITHER, st.sampled_from("ab -"))
AROUND = st.lists(PIECE | ATOMIC, max_size=2).map("".join)


@given(st.builds("{}{}{}({}){}".format, AROUND, ATOMIC, AROUND, EITHER, AROUND), st.text("ab -", max_size=8))
def test_an_atomic_group(written: str, text: str) -> None:
    told(written, text)


@pytest.mark.parametrize("written", ["^(?>a*?b)(.)", "(?>a|ab)(b)", "(?>b|ba)(a|-)", r"^(?:(?>[^-]*? b *?\b))+(.)"])
def test_atomic_groups_that_are_told(written: str) -> None:
    for n in range(6):
        assert all(told(written, "".join(text)) for text in itertools.product("ab -", repeat=n))


STEP = st.sampled_from(
    ["a", "b", ".", "[ab]", r"[^\s]", r"\b.", "(?:a|b)", "(?:[^-]|-)", "(?>.)", "(?>ab|.)", "(?:ab|.)", "..", ".+"]
)
FEW = st.sampled_from(["", "^", "^.", "a", "^(?:ab|b)", r"\b", ".*?"])


@given(
    st.builds(
        f"{{}}(?:{{}}){{{{{COUNT}}}}}{{}}({{}}){{}}".format, FEW, STEP, st.sampled_from(["", "?"]), EITHER, AROUND
    ),
    st.text("ab -", max_size=12),
    st.integers(0, 9),
)
def test_a_number_of_repetitions(written: str, text: str, repeated: int) -> None:
    told(written, text, repeated)


@pytest.mark.parametrize(
    ("step", "end", "most"),
    [*((step, "a", 8) for step in ("a", ".", r"\b.|.", "(?>a|b)")), ("ab|.", "b", 4)],  # the last: ways of one place
)
def test_repetitions(step: str, end: str, most: int) -> None:
    """As far as the text is counted step by step."""
    for n, repeated in itertools.product(range(most), range(most + (most == 8))):
        for text in map("".join, itertools.product("ab", repeat=n)):
            assert told(f"^(?:{step}){{{COUNT}}}({end})", text, repeated)


def test_numbers_of_repetitions_are_parsed_alike() -> None:
    def parsed(repeated: int) -> str:
        return repr(list(PARSER.parse(rf"^<s> (?:\S+ ){{{repeated}}}(?:a)"))).replace(
            f"({repeated}, {repeated},", "(K, K,"
        )

    for repeated in (0, 1, 2, 10, 2**16, 2**31, COUNT - 1, COUNT, MOST_REPEATED):
        assert parsed(repeated) == parsed(7)
    with pytest.raises(OverflowError):
        re.compile(f"(?:ab){{{MOST_REPEATED + 1}}}")


NUMBERS = ("1", "2", "11", "12", "21", "111", "112")


def lettered(words: Sequence[str], *numbers: str) -> str:
    """The words, one after the other, where a numeral's digits are letters: those of these numbers, or else OTHER."""
    chosen = dict(zip(numbers, NUMERALS, strict=False))
    return re.sub(r"\d+", lambda numeral: chosen.get(numeral[0], OTHER) * len(numeral[0]), " ".join(words))


WRITTEN = searches(frozenset())
TURNS = st.lists(st.sampled_from(["<s>", "~", "-", "^", "FAILED", *WRITTEN.pieces, *NUMBERS]), max_size=12)


@pytest.mark.parametrize("search", [WRITTEN.father, WRITTEN.first, WRITTEN.next], ids=["father", "first", "next"])
@given(
    words=TURNS, edges=st.lists(st.tuples(*[st.sampled_from(NUMBERS)] * 2), max_size=5), pair=st.permutations(NUMBERS)
)
def test_a_letter_stands_for_a_numeral(
    search: SearchWords, words: list[str], edges: list[tuple[str, str]], pair: list[str]
) -> None:
    """Words in any order, after some edges."""
    text = ["<s>", *(word for a, b in edges for word in (a, "~", b)), *words]

    def spelled(v: str, u: str) -> str:
        return " ".join(item if isinstance(item, str) else {"v": v, "u": u}[item.value] for item in search.script)

    v, u, *_ = pair
    agree(spelled(*NUMERALS), " ".join(text), re.search(spelled(v, u), " ".join(text)), lettered(text, v, u))


@given(
    st.lists(st.sampled_from(["@1", "@11", "@-1", "@-11", "0", "1", "B", "→", "<s>"]), max_size=14),
    st.sampled_from("+-"),
)
def test_a_letter_stands_for_a_cell(words: list[str], sign: str) -> None:
    def spelled(numeral: str) -> str:
        found, cell = tape_search(frozenset()), f"@{sign.strip('+')}{numeral}"
        return " ".join((found.before, cell, found.between, cell, found.behind))

    text = " ".join(words)
    agree(spelled(NUMERALS[0]), text, re.search(spelled("1"), text), lettered(words, "1"))


ONE = NUMERALS[0]
REFUSED = {
    f"({ONE})": "a part of a numeral",
    rf"\d{ONE}\b()": "a part of a numeral",
    rf"(?:{ONE})+": "a part of a numeral",
    rf"(?<={ONE}\s)(a)": "a part of a numeral",
    rf"\s(?=\b{ONE})(a)": "a part of a numeral",
    "(3)": "tells digits apart",
    "([0-4])": "tells digits apart",
    "(a?)b": "bounded",
    "(?:a*)*(b)": "what may be empty",
    "(?=(a)b)a": "no meaning of SUBPATTERN",
    "(?=a(?=b))(a)": "no meaning of ASSERT",
    "(?!a)(b)": "no meaning of ASSERT_NOT",
    r"(a)\1": "no meaning of GROUPREF",
    "(?i:a)": "no meaning of SUBPATTERN",
    "(?i)(a)": "flags",
    r"(\D)": "no meaning of CATEGORY_NOT_DIGIT",
    "(?>a(?>b)c)(d)": "no meaning of ATOMIC_GROUP",
    "(?=(?>b)c)(d)": "no meaning of ATOMIC_GROUP",
    f"(?:a(?:b){{{COUNT}}}){{{COUNT}}}(d)": "counts within what it counts",
    f"(?=a{{{COUNT}}})(a)": "or looks for",
    f"(?:a{{{COUNT},}})(b)": "a number and more",
    f"(?:a{{2,{COUNT}}})(b)": "bounded",
}


@pytest.mark.parametrize(("written", "why"), REFUSED.items(), ids=REFUSED)
def test_a_pattern_without_a_meaning_is_refused(written: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pattern(written)


@pytest.mark.parametrize(
    ("written", "text", "why"),
    [
        ("(?>a[^b]*b)(c)", "a" * 20, "too many atomic groups"),
        ("^(?>ab|a)(b)", "ab", "an earlier way through it may go on"),
        (f"(?:b){{{COUNT - 1}}}(a)", "a", "less than no repetition"),
        (f"aaaa(?:a){{{COUNT}}}(b)", "a" * 20, "begins to count far"),
        (f"^(?:aa){{{COUNT + 3}}}(b)", "a" * 20, "counts far"),
        (f"^(?:a[^-]*-){{{COUNT + 1}}}(b)", "a" * 20, "on and on"),
    ],
)
def test_what_cannot_be_told_is_refused(written: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        match(written, text, (0, 1))


def test_another_assertion_is_refused() -> None:
    with pytest.raises(ValueError, match="AT_NON_BOUNDARY"):
        match(r"\B(a)", "a", (0, 1))
