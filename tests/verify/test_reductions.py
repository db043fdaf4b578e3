"""The reductions of the lower bounds: by oracles of our own, by every small machine, and by reductions that lose a bit."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.oracles.recall_oracle import INTERLEAVED, FirstFollowers, states_beside_oracle
from verify.oracles.reductions import (
    APPENDIX,
    COUNTING,
    COUNTING_PRINTED,
    INDEX,
    ISTREE,
    ISTREE_PRINTED,
    LIST,
    MAIN_TEXT,
    PARITY,
    PARITY_PRINTED,
    TURING,
    Bits,
    NoInstance,
    Reduction,
    inputs,
    ngrams,
    parities,
    read_last,
    recalls,
    split_blocks,
)

RETRIEVAL = {
    "index": INDEX,
    "recall": recalls(),
    "c=3": ngrams(3),
    "c=4": ngrams(4),
    "counting": COUNTING,
    "list": LIST,
}
TELLS_X = {**RETRIEVAL, "istree": ISTREE, "parity": PARITY, "turing": TURING, "interleaved": INTERLEAVED}
MOST = 6


def by_text(name: str, words: Sequence[str]) -> str:
    """What the retrieval tasks ask, as searches in the text of the prompt."""
    sequence, _, query = " ".join(words[1:]).partition(" ?" if words[1] != "?" else "?")
    asked = query.split()
    if name in ("index", "interleaved"):
        return sequence.split()[int(asked[0]) - 1]
    if name in ("counting", "list"):
        return "YES" if len(re.findall(rf"\b{asked[0]}\b", sequence)) > int(asked[1]) else "NO"
    found = re.search(rf"(?:^| ){' '.join(asked)} (\d+)", sequence)
    return found[1] if found else "FAILED"


def reaches_all(vertices: int, words: Sequence[str]) -> bool:
    """A tree by its definition: every vertex can be reached from 1, and not after any edge is taken away."""
    edges = [(int(words[i]), int(words[i + 2])) for i in range(1, len(words), 3)]

    def connected(some: Sequence[tuple[int, int]]) -> bool:
        seen, ahead = {1}, [1]
        while ahead:
            here = ahead.pop()
            for there in {b if a == here else a for a, b in some if here in (a, b)} - seen:
                seen.add(there)
                ahead.append(there)
        return len(seen) == vertices

    return connected(edges) and not any(connected(edges[:i] + edges[i + 1 :]) for i in range(len(edges)))


def told(reduction: Reduction, x: Bits, k: int) -> int:
    return reduction.tells(len(x), reduction.right_answer(x, k))


@pytest.mark.parametrize("name", [*RETRIEVAL, "interleaved"])
def test_right_answers_are_those_of_the_text(name: str) -> None:
    reduction = TELLS_X[name]
    for n in range(1, MOST):
        for x, k in itertools.product(inputs(n), reduction.ks(n)):
            words = reduction.words(x, k)
            numbers = [int(word) for word in words if word.isdecimal()]
            assert max(numbers) <= reduction.size(n)
            assert words.index("?") - 1 <= reduction.size(n)
            assert reduction.right_answer(x, k) == by_text(name, words)


@pytest.mark.parametrize("reduction", [ISTREE, APPENDIX, MAIN_TEXT], ids=["repaired", "appendix", "main text"])
def test_right_answers_are_those_of_the_graph(reduction: Reduction) -> None:
    for n in range(1, MOST):
        for x, k in itertools.product(inputs(n), reduction.ks(n)):
            words = reduction.words(x, k)
            assert max(int(word) for word in words if word.isdecimal()) <= reduction.size(n)
            assert (reduction.right_answer(x, k) == "YES") == reaches_all(reduction.size(n), words)


@pytest.mark.parametrize("name", TELLS_X)
def test_bob_learns_his_bit(name: str) -> None:
    reduction = TELLS_X[name]
    for n in range(1, MOST):
        for x in inputs(n):
            assert tuple(told(reduction, x, k) for k in range(1, n + 1)) == x


@pytest.mark.parametrize("name", [name for name in TELLS_X if name != "list"])
def test_states_and_lengths(name: str) -> None:
    reduction = TELLS_X[name]
    for n in range(1, MOST):
        assert len({len(reduction.alice(x)) for x in inputs(n)}) == 1
        assert reduction.states_needed(n) == reduction.states(n) == 2**n


def test_the_length_of_a_list_needs_no_state() -> None:
    assert [LIST.states_needed(n) for n in range(1, 7)] == [1, 2, 3, 6, 10, 20]
    assert [LIST.states(n) for n in range(1, 7)] == [1, 2, 3, 6, 10, 20]


def test_a_reduction_that_loses_a_bit_is_seen() -> None:
    forgets = replace(COUNTING, alice=lambda x: COUNTING.alice((*x[:-1], 0)))
    ignores_k = replace(COUNTING, bob=lambda n, k: COUNTING.bob(n, 1))
    says_nothing = replace(COUNTING, answer=lambda size, words: "NO")
    assert [forgets.states_needed(n) for n in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert [ignores_k.states_needed(n) for n in (1, 2, 3, 4)] == [2, 2, 2, 2]
    assert [says_nothing.states_needed(n) for n in (1, 2, 3, 4)] == [1, 1, 1, 1]


@pytest.mark.parametrize("reduction", [INDEX, ISTREE], ids=["index", "istree"])
def test_no_machine_with_fewer_states_is_right(reduction: Reduction) -> None:
    """The argument itself: every way to end in one of so many states, with every way to answer from there."""
    n, ks = 2, (1, 2)
    right = {x: tuple(told(reduction, x, k) for k in ks) for x in inputs(n)}

    def some_machine_is_right(states: int) -> bool:
        ends = itertools.product(range(states), repeat=len(right))
        answers = list(itertools.product(itertools.product((0, 1), repeat=len(ks)), repeat=states))
        return any(
            all(table[s] == right[x] for x, s in zip(right, end, strict=True)) for end in ends for table in answers
        )

    assert not some_machine_is_right(3)
    assert some_machine_is_right(4)


# As printed


def first_failure(reduction: Reduction, most: int = 4) -> tuple[Bits, int] | None:
    for n in range(1, most + 1):
        for x, k in itertools.product(inputs(n), reduction.ks(n)):
            try:
                if told(reduction, x, k) != reduction.wanted(x, k):
                    return x, k
            except NoInstance:
                return x, k
    return None


@pytest.mark.parametrize("c", [2, 3, 4])
def test_a_printed_value_is_taken_for_the_last_key(c: int) -> None:
    printed = recalls(printed=True) if c == 2 else ngrams(c, printed=True)
    assert first_failure(printed) == ((0, 1), 2)
    assert first_failure(replace(printed, ks=lambda n: range(1, n))) is None  # no other key collides


@pytest.mark.parametrize("c", [2, 3, 4])
def test_an_array_of_blocks_loses_no_bit(c: int) -> None:
    """By hand: the value after the last key; a block that is not aligned is no entry."""
    printed = recalls(printed=True) if c == 2 else ngrams(c, printed=True)
    blocks = split_blocks(printed, c)
    assert first_failure(blocks) is None
    assert [blocks.states_needed(n) for n in range(1, 6)] == [2, 4, 8, 16, 32]
    assert blocks.right_answer((0, 1), 2) == "3"
    assert printed.right_answer((0, 1), 2) == "2"
    text = ("<s>", *["1"] * (c - 1), "2", *["5"] * (c - 1), "4", "?", *["2"] * (c - 1))
    assert blocks.answer(9, text) == "FAILED"


@pytest.mark.parametrize("c", [2, 3, 4])
def test_the_last_occurrence_loses_no_bit(c: int) -> None:
    """By hand, and by the greedy search of a text."""
    printed = recalls(printed=True) if c == 2 else ngrams(c, printed=True)
    last = read_last(printed)
    assert first_failure(last) is None
    assert [last.states_needed(n) for n in range(1, 6)] == [2, 4, 8, 16, 32]
    assert last.right_answer((0, 1), 2) == "3"
    assert last.right_answer((0, 0), 2) == "2"
    assert last.answer(9, ("<s>", "1", "?", *["2"] * (c - 1))) == "FAILED"
    for x, k in ((x, k) for x in inputs(4) for k in range(1, 5)):
        sequence, _, query = " ".join(last.words(x, k)).partition(" ? ")
        found = re.search(rf".* {query} (\d+)", sequence)
        assert last.right_answer(x, k) == (found[1] if found else "FAILED")


def test_a_reading_as_an_array_says_how_long_its_blocks_are() -> None:
    statement = split_blocks(ngrams(3, printed=True), 3).statement
    assert statement.endswith("The sequence is an array of blocks of c tokens, a key of c − 1 and its value.")
    assert split_blocks(recalls(printed=True), 2).statement.endswith("The sequence is an array of keys and values.")


@pytest.mark.parametrize("n", [2, 4, 6])
def test_n_bits_with_values_from_half_of_n_collide_as_well(n: int) -> None:
    """The other reading: keys up to n."""

    def answer(x: Bits, k: int) -> int:
        sequence = [token for i, b in enumerate(x, 1) for token in (i, b + n // 2)]
        return sequence[sequence.index(k) + 1] - n // 2

    assert any(answer(x, k) != x[k - 1] for x in inputs(n) for k in range(1, n + 1))


def test_nothing_occurs_more_than_once_in_the_printed_list() -> None:
    assert first_failure(COUNTING_PRINTED) == ((1,), 1)
    assert {COUNTING_PRINTED.right_answer(x, k) for x in inputs(5) for k in range(1, 6)} == {"NO"}


@pytest.mark.parametrize("reduction", [PARITY_PRINTED, ISTREE_PRINTED], ids=["C.28", "IsTree"])
def test_the_first_bit_has_no_neighbour(reduction: Reduction) -> None:
    assert first_failure(reduction) == ((0,), 1)
    rest = replace(reduction, ks=lambda n: range(2, n + 1))
    assert first_failure(rest) is None
    assert [rest.states_needed(n) for n in range(1, 7)] == [2 ** (n - 1) for n in range(1, 7)]


def test_neighbours_of_the_complement_are_as_equal() -> None:
    for x in inputs(5):
        flipped = tuple(1 - b for b in x)
        assert [told(APPENDIX, x, k) for k in range(2, 6)] == [told(APPENDIX, flipped, k) for k in range(2, 6)]


def test_the_edge_behind_the_last_leaf_goes_to_a_centre() -> None:
    with pytest.raises(NoInstance, match="repeats edge"):
        MAIN_TEXT.right_answer((0,), 1)
    with pytest.raises(NoInstance, match="vertex 0"):
        APPENDIX.right_answer((0,), 1)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_parities(bits: list[int]) -> None:
    assert parities(tuple(bits)) == tuple(sum(bits[: i + 1]) % 2 for i in range(len(bits)))


# With an oracle for associative recall

WORDS = ("<s>", "1", "2", "3", "?")


@given(st.lists(st.sampled_from(WORDS)), st.lists(st.sampled_from(WORDS)), st.sampled_from(WORDS))
def test_the_oracle_answers_from_first_followers(before: list[str], after: list[str], key: str) -> None:
    known = FirstFollowers().read(before).read(after)
    text = before + after
    expected = next((there for here, there in itertools.pairwise(text) if here == key), "FAILED")
    assert known.follower(key, "FAILED") == expected


def test_what_the_oracle_knows() -> None:
    def known(reduction: Reduction, n: int) -> int:
        return len({FirstFollowers().read(reduction.alice(x)) for x in inputs(n)})

    assert [known(INTERLEAVED, n) for n in range(1, 8)] == [2, 4, 6, 6, 6, 6, 6]
    assert [known(recalls(), n) for n in range(1, 8)] == [2**n for n in range(1, 8)]  # where it helps, it knows all
    assert [states_beside_oracle(n) for n in range(1, 9)] == [1, 1, 2, 4, 8, 16, 32, 64]


@given(st.data())
def test_calls_of_an_oracle_do_not_tell_like_inputs_apart(data: st.DataObject) -> None:
    """Two inputs of which the oracle knows the same, and a caller that chooses each word and key by what it has heard."""
    n = data.draw(st.integers(3, 8))
    ends = [data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2)) for _ in range(2)]
    texts = [list(INTERLEAVED.alice((0, 1, *end))) for end in ends]
    heard: list[str] = []
    for _ in range(8):
        key, word = data.draw(st.sampled_from(WORDS)), data.draw(st.sampled_from(WORDS))
        answers = {next((b for a, b in itertools.pairwise(text) if a == key), "FAILED") for text in texts}
        assert len(answers) == 1
        heard += answers
        for text in texts:
            text += [key, word, heard[-1]]
