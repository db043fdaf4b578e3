"""Decoding behind a guess: what is guessed changes how long it takes, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.engines import Respond, decode_by_reference, decode_with_guess, find_engine
from precision.format import Discipline
from tests.engines.cases import FIXED, ROUNDINGS, match_like, unstructured

VOCABULARY = 4
tokens = st.lists(st.integers(0, VOCABULARY - 1), max_size=9)


def follows(sequence: Sequence[int]) -> int:
    """A model in a line: the token behind a sequence."""
    return (3 * sequence[-1] + len(sequence) + sum(sequence)) % VOCABULARY


def responding(every: int, response: Sequence[int]) -> tuple[Respond, list[list[int]]]:
    """Responds to every so-manieth length; and what it was told."""
    told: list[list[int]] = []

    def respond(sequence: Sequence[int]) -> Sequence[int]:
        told.append(list(sequence))
        return response if len(sequence) % every == 0 else ()

    return respond, told


def token_by_token(prompt: Sequence[int], stop: set[int], limit: int, respond: Respond) -> list[int]:
    """The definition: feed, write, let the surroundings respond."""
    sequence = list(prompt)
    while True:
        sequence.append(follows(sequence))
        if sequence[-1] in stop:
            break
        sequence += respond(sequence)
        if len(sequence) - len(prompt) >= limit:
            break
    return sequence[len(prompt) :]


def guesses(answer: Sequence[int], other: Sequence[int], place: int) -> list[list[int]]:
    """None, the right one, too short and too long ones, one that is right up to a place, and one that is shifted."""
    place = min(place, len(answer) - 1)
    changed = [*answer[:place], (answer[place] + 1) % VOCABULARY, *answer[place + 1 :]]
    return [
        [],
        list(answer),
        list(answer[:place]),
        [*answer, *other],
        changed,
        [*answer[:place], *other],
        [*answer[1:]],
    ]


@given(
    prompt=st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=3),
    stop=st.sets(st.integers(0, VOCABULARY - 1), max_size=1),
    limit=st.integers(0, 12),
    every=st.integers(1, 4),
    response=st.lists(st.integers(0, VOCABULARY - 1), max_size=3),
    other=tokens,
    place=st.integers(0, 12),
)
@settings(max_examples=200, deadline=None)
def test_a_guess_changes_only_how_often_the_model_is_run(prompt, stop, limit, every, response, other, place):
    respond, expected_told = responding(every, response)
    answer = token_by_token(prompt, stop, limit, respond)
    for guess in guesses(answer, other, place):
        known, runs, lengths = len(prompt), 0, list[int]()

        def run(sequence: Sequence[int], draft: Sequence[int], behind: Sequence[int] = guess) -> list[int]:
            nonlocal known, runs
            assert list(sequence) == [*prompt, *answer][: len(sequence)]
            assert runs == 0 or len(sequence) > known
            written = list(sequence[len(prompt) :])
            assert list(draft) == list(behind[len(written) :][: len(draft)])
            assert not draft or written == list(behind[: len(written)])
            known, runs = len(sequence), runs + 1
            fed = [*sequence, *draft]
            assert len(fed) < len(prompt) + max(limit, len(answer))
            return [follows(fed[: end + 1]) for end in range(len(fed))]

        respond, told = responding(every, response)
        assert decode_with_guess(run, prompt, stop, limit, guess, respond, lengths.append) == answer
        assert told == expected_told
        assert len(lengths) == runs - 1
        assert lengths == sorted(lengths)
        if guess[: len(answer)] == answer and len(answer) <= limit:
            assert runs == 1
        assert runs <= len(told) + 1


@given(
    rng=st.randoms(use_true_random=False),
    limit=st.integers(0, 8),
    every=st.integers(1, 3),
    response=st.booleans(),
    place=st.integers(0, 8),
)
@settings(max_examples=40, deadline=None)
def test_indexed_decodes_what_the_reference_does(rng, limit, every, response, place):
    if rng.random() < 0.3:
        case = match_like(rng, longest=5)
    else:
        fmt, rounding = rng.choice(FIXED), rng.choice(ROUNDINGS)
        case = unstructured(rng, fmt=fmt, rounding=rounding, discipline=rng.choice(tuple(Discipline)))
    size = len(case.model.words)
    stop, words = {rng.randrange(size)}, [rng.randrange(size)] if response else []
    respond, expected_told = responding(every, words)
    answer = decode_by_reference(case.model, case.arithmetic, case.tokens, stop, limit, respond=respond).produced
    for guess in guesses(answer, [rng.randrange(size) for _ in range(4)], place):
        if max(guess, default=0) < size:
            respond, told = responding(every, words)
            actual = find_engine("indexed")(
                case.model, case.arithmetic, case.tokens, stop, limit, guess=guess, respond=respond
            )
            assert actual.produced == answer
            assert told == expected_told
