"""Texts: what is a prompt, for which n, and the automaton that the checker walks, against all texts of a small n."""

from __future__ import annotations

import itertools

import pytest

from constructions.language.texts import Piece, Texts, either, many, numbers, optional, some, words
from tests.language.compiled import due, reads_as, tokens_of
from verify.automata.program_texts import text_automaton
from verify.automata.token_automaton import Label

A = words("a", "b")
SHAPES = [
    Texts((some(A),)),
    Texts((some("a"), words("b"))),
    Texts((many("a"), many("a"))),
    Texts((some("a"), optional("b"), some(numbers(0, 2)))),
    Texts((optional("a"), optional("b"), words("c"))),
    Texts((many(numbers()), words("?"), numbers(0))),
    Texts((some(A, times=2), words("?"))),
    Texts((many("a"), some("a"), optional("a"))),
    Texts((some(either("a", numbers())), words("?"))),
    Texts((many("a"), many("b"))),
]
THOUGHTS = [
    Texts((some("a"), words("?")), (some(A),)),
    Texts((some(numbers()), words("?")), (many("a"), words("b"), some(numbers(0)))),
    Texts((some(A),), (words("<EndSearch>"), some(A), many("<EndSearch>"))),
    Texts((some(numbers(plus=1)), words("?"))),
]


def every_word(texts: Texts, n: int) -> list[str]:
    return [*dict.fromkeys(token for piece in texts.pieces for token in tokens_of(piece, n)), "z"]


@pytest.mark.parametrize("texts", SHAPES, ids=str)
def test_a_prompt_is_read_or_refused_and_the_least_n_is_told(texts: Texts) -> None:
    """By all ways of laying its pieces out, n by n."""
    every = every_word(texts, 2)
    for length in range(6 if len(every) < 5 else 5):
        for tokens in itertools.product(every, repeat=length):
            fits = [n for n in range(1, 7) if reads_as(texts.prompt, tokens, n)]
            if not fits:
                with pytest.raises(ValueError, match=r"token \d+ is|ends too early"):
                    texts.read(tokens)
                continue
            spoken, least = texts.read(tokens)
            assert least == max(fits[0], 1), tokens
            assert spoken == [("<s>", 0), *(("", int(t)) if t.isdecimal() else (t, 0) for t in tokens)]


def test_numbers_up_to_a_bound_of_their_own_ask_for_no_n() -> None:
    """Once `9` asked for n = 9, though it is a digit."""
    texts = Texts((some(numbers(0, 9)), many(either("a", numbers()))))
    assert [texts.read(tokens)[1] for tokens in (["9"], ["9", "0"], ["9", "a", "3"])] == [1, 2, 3]


def test_the_least_n_of_what_can_be_read_in_two_ways() -> None:
    """Six are three and three; by the way that repeats least at each token they were once four and two."""
    texts = Texts((many("a"), many("a")))
    assert [texts.read(["a"] * k)[1] for k in range(1, 9)] == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("token", ["01", "+1", "-1", "1.0", "٣", "1" * 40, "0", "z", "", "<s>", "a b"])
def test_what_is_no_number_from_1(token: str) -> None:
    with pytest.raises(ValueError, match="token 1 is"):
        Texts((some(numbers()),)).read([token])


def test_what_is_told_of_a_bad_prompt() -> None:
    texts = Texts((some(numbers(0, 2)), optional("a"), words("?")))
    with pytest.raises(ValueError, match=r"token 1 is '3'; what can stand there is a number from 0 to 2$"):
        texts.read(["3"])
    with pytest.raises(ValueError, match=r"token 3 is 'a'; what can stand there is '\?'$"):
        texts.read(["1", "a", "a", "?"])
    with pytest.raises(ValueError, match=r"token 3 is '\?'; what can stand there is the end$"):
        texts.read(["1", "?", "?"])
    with pytest.raises(
        ValueError, match=r"ends too early; what can stand next is a number from 0 to 2 or 'a' or '\?'$"
    ):
        texts.read(["1"])


@pytest.mark.parametrize("wrong", ["", "a b", " a", "7", "<s>"])
def test_what_is_no_word(wrong: str) -> None:
    with pytest.raises(ValueError, match="is no word"):
        words("a", wrong)


@pytest.mark.parametrize(("low", "high"), [(-1, None), (2, 1), (0, -1)])
def test_what_are_no_numbers(low: int, high: int | None) -> None:
    with pytest.raises(ValueError, match="numbers are from 0 on"):
        numbers(low, high)


@pytest.mark.parametrize(("high", "plus"), [(3, 1), (None, -1), (None, True), (None, 0.5)])
def test_what_is_nothing_beyond_n(high: int | None, plus: int) -> None:
    with pytest.raises(ValueError, match="plus is a whole number from 0 on"):
        numbers(1, high, plus=plus)


def test_numbers_beyond_n_are_bounded_by_it() -> None:
    texts = Texts((some(numbers(0, plus=2)),))
    assert [texts.read(tokens)[1] for tokens in (["2"], ["3"], ["4", "0"], ["0", "0", "0"])] == [1, 1, 2, 3]
    assert (str(texts.prompt[0]), texts.prompt[0].largest(5)) == ("a number from 0 to n + 2", 7)


def test_what_follows_a_piece() -> None:
    texts = Texts((some("a"), optional("b"), many("c")), (some("d"),))
    assert [[*texts.next_places(i, thought=False)] for i in range(-1, 3)] == [[0], [0, 1, 2, 3], [2, 3], [2, 3]]
    assert [[*texts.next_places(i)] for i in range(-1, 4)] == [[0], [0, 1, 2, 3], [2, 3], [2, 3], [3, 4]]


def test_sizes_of_texts() -> None:
    texts = Texts((some("a", times=3), optional(numbers(0, 9))), (many(numbers(2)),))
    assert texts.length(5) == 1 + 15 + 1 + 5
    assert texts.lowest == 0
    assert texts.words == ("a",)
    assert Texts((some("a"),)).lowest == 1


# The automaton


def accepted(texts: Texts, tokens: tuple[str, ...], n: int) -> set[Label] | None:
    """The labels of the states in which a text may end, None if it is no text; each state is taken as it says itself."""
    automaton = text_automaton(texts, n, (n, n))
    now = {0}
    for position, token in enumerate(tokens, start=2):
        now = {
            i
            for i, state in enumerate(automaton.states)
            if now & {*state.after}
            and automaton.range(state.low)[0] <= position <= automaton.range(state.high)[1]
            and (
                state.word == token
                if state.word
                else token.isdecimal() and state.numbers[0] <= int(token) <= state.numbers[1]
            )
        }
    return {automaton.states[i].label for i in now} if now else None


def begins(pieces: tuple[Piece, ...], tokens: tuple[str, ...], n: int = 10**9) -> bool:
    """Whether some text of these pieces begins so."""
    return any(reads_as(pieces[: i + 1], tokens, n) for i in range(len(pieces)))


@pytest.mark.parametrize("texts", [*SHAPES, *THOUGHTS], ids=str)
def test_the_automaton_accepts_each_text_and_nothing_that_no_n_has(texts: Texts) -> None:
    n, answers = 2, text_automaton(texts, 2, (2, 2)).answers
    every, texts_met = every_word(texts, n), 0
    longest = next(length for length in range(texts.length(n), 0, -1) if len(every) ** length <= 4000)
    for length in range(1, longest + 1):
        for tokens in itertools.product(every, repeat=length):
            last = accepted(texts, tokens, n)
            within = reads_as(texts.prompt, tokens, n) or any(
                reads_as(texts.prompt, tokens[:i], n) and begins(texts.thought, tokens[i:], n)
                for i in range(1, length)
                if texts.thought
            )
            if within and length < texts.length(n):
                texts_met += 1
                assert last is not None, tokens
                assert (length + 1 in due(texts, tokens)) <= bool(last & answers), tokens
            if last is not None:
                assert begins(texts.pieces, tokens), tokens
                assert length + 1 <= texts.length(n)
                if not any(reads_as(texts.prompt, tokens[:i]) for i in range(1, length + 1)):
                    assert not last & answers, tokens
    assert texts_met > 0


@pytest.mark.parametrize("texts", [*SHAPES, *THOUGHTS], ids=str)
def test_states_have_names_of_their_own_and_the_pieces_bounds(texts: Texts) -> None:
    automaton = text_automaton(texts, 3, (3, 3))
    assert len({str(state.label) for state in automaton.states}) == len(automaton.states)
    assert automaton.states[0].word == "<s>"
    for state in automaton.states:
        assert automaton.range(state.low)[0] <= automaton.range(state.high)[1] <= texts.length(3)
    assert automaton.states[1].low == 2
    assert automaton.answers <= {state.label for state in automaton.states}
