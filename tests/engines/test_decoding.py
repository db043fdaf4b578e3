"""Decoding after a guess: what is guessed changes how long it takes, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from constructions.engines import Decoding, Respond
from constructions.engines.decoding import decode_by_code, decode_by_reference, decode_with_guess
from constructions.istree import rag
from constructions.istree.graphs import Graph
from constructions.layers import Transformer
from constructions.models.request import Request
from constructions.recall import DOOR as RECALL
from constructions.retrieval.task import Question
from precision.format import Arithmetic
from tests.engines.cases import FIXED

VOCABULARY = 4
tokens = st.lists(st.integers(0, VOCABULARY - 1), max_size=9)


def follows(sequence: Sequence[int]) -> int:
    """A model in a line: the token after a sequence."""
    return (3 * sequence[-1] + len(sequence) + sum(sequence)) % VOCABULARY


def responding(every: int, response: Sequence[int]) -> tuple[Respond, list[list[int]]]:
    """Responds to every so-manieth length; and what it was told."""
    told: list[list[int]] = []

    def respond(sequence: Sequence[int]) -> Sequence[int]:
        told.append(list(sequence))
        return response if len(sequence) % every == 0 else ()

    return respond, told


def token_by_token(prompt: Sequence[int], stop: set[int], limit: int, respond: Respond) -> tuple[list[int], int]:
    """The definition: feed, write, let the surroundings respond. What is new, and how many tokens were fed."""
    sequence = list(prompt)
    while True:
        fed = len(sequence)
        sequence.append(follows(sequence))
        if sequence[-1] in stop:
            break
        sequence += respond(sequence)
        if len(sequence) - len(prompt) >= limit:
            break
    return sequence[len(prompt) :], fed


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
    longest=st.none() | st.integers(3, 20),
)
@example(prompt=[0], stop=set(), limit=6, every=1, response=[], other=[], place=0, longest=6)
@settings(max_examples=200, deadline=None)
def test_a_guess_changes_only_how_often_the_model_is_run(prompt, stop, limit, every, response, other, place, longest):
    respond, expected_told = responding(every, response)
    answer, expected_fed = token_by_token(prompt, stop, limit, respond)
    nothing = np.zeros((VOCABULARY, 0))
    model = Transformer(nothing, nothing[0], (), nothing, longest)  # `run` stands for it
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
            assert not draft or longest is None or len(fed) <= longest
            return [follows(fed[: end + 1]) for end in range(len(fed))]

        respond, told = responding(every, response)
        asked = Decoding(model, Arithmetic(FIXED[0]), prompt, stop, limit, guess, respond, lengths.append)
        assert decode_with_guess(run, asked) == (answer, expected_fed)
        assert told == expected_told
        assert len(lengths) == runs - 1
        assert lengths == sorted(lengths)
        readable = longest is None or len(prompt) + len(answer) <= longest + 1
        if guess[: len(answer)] == answer and len(answer) <= limit and readable:
            assert runs == 1
        assert runs <= len(told) + 1


def searching_requests() -> Sequence[Request]:
    """Returns a walk of a graph, with a search for each step, and a question that takes one search."""
    recall = RECALL.wirings["rag"]
    return (
        rag.RAG.request(rag.RAG.build(3), Graph(3, ((3, 1), (2, 1)))),
        recall.request(recall.build(6), Question((5, 2, 5, 6), (5,))),
    )


@pytest.mark.parametrize("request_of", [0, 1])
def test_a_decoder_that_stops_where_it_is_asked_gives_the_same(request_of: int) -> None:
    """Between searches the decoder runs alone. What it says is what it says if asked after each token, wherever the run ends."""
    request = searching_requests()[request_of]
    whole = decode_by_reference(request.decoding()).produced
    searches = sum(token in request.respond.asks for token in whole)  # type: ignore[attr-defined]
    assert searches == (1 if request_of else 14)
    other = [whole[-1], *whole[1:]]

    def asked(respond: Respond, limit: int, guess: Sequence[int], follow: bool) -> Decoding:
        model, arithmetic = request.wired.model, request.wired.arithmetic
        return Decoding(model, arithmetic, request.prompt, request.stop, limit, guess, respond, follow=follow)

    seen: list[int] = []

    def always(sequence: Sequence[int]) -> Sequence[int]:
        return request.respond(sequence)

    def counted(sequence: Sequence[int]) -> Sequence[int]:
        seen.append(len(sequence))
        return request.respond(sequence)

    counted.asks = request.respond.asks  # type: ignore[attr-defined]
    for limit in [*range(1, len(whole), 1 + len(whole) // 12), len(whole)]:
        for guess, follow in ((whole, False), (whole, True), (other, True), (whole[: limit // 2], True)):
            found, expected = (
                decode_by_code("incremental", asked(how, limit, guess, follow)) for how in (counted, always)
            )
            assert found == expected
    seen.clear()
    decoded, why = decode_by_code("incremental", asked(counted, request.limit, whole, follow=False))
    assert (decoded.produced, why) == (whole, "")
    assert len(seen) == searches
