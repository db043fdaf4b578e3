"""The door for an RNN: what it takes, what it refuses in one line, and what its keys tell apart."""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuits.builder import Builder
from circuits.rnn import RnnError, guard, key, load, load_circuit, load_object, own

STATES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
    max_leaves=8,
)


def shown(state: Any) -> str:
    """A text that is the same for the same types and values alone; of floats, the bits."""
    if isinstance(state, float):
        return struct.pack("<d", state).hex()
    if isinstance(state, list | tuple):
        return f"{type(state).__name__}({', '.join(map(shown, state))})"
    return f"{int(state)}" if isinstance(state, bool) else repr(state)  # 1 and True are one number


@given(STATES, STATES)
def test_keys_are_equal_for_equal_states_alone(one: Any, other: Any) -> None:
    assert (key(one) == key(other)) == (shown(one) == shown(other))
    assert hash(key(one)) == hash(key(own(one)))
    assert key(one) == key(own(one))


ALIKE_BUT_NOT_EQUAL: list[tuple[Any, Any]] = [
    (np.zeros(4, np.int8), np.zeros(4, np.uint8)),
    (np.zeros((2, 2)), np.zeros(4)),
    (np.array([0.0]), np.array([-0.0])),
    (np.float32(1), np.float64(1)),
    (torch.zeros(2), torch.zeros(2, dtype=torch.float64)),
    ((1, 2), [1, 2]),
    ((1, (2, 3)), (1, 2, 3)),
    (0.0, -0.0),
    ("1", b"1"),
    (1, 1.0),
]


@pytest.mark.parametrize(("one", "other"), ALIKE_BUT_NOT_EQUAL)
def test_states_that_look_alike_have_other_keys(one: Any, other: Any) -> None:
    assert key(one) == key(own(one))
    assert key(one) != key(other)


def test_a_state_of_another_kind_is_refused() -> None:
    for state in ({"a": 1}, {1, 2}, bytearray(b"1")):
        with pytest.raises(RnnError, match=f"not a {type(state).__name__}"):
            key(state)


@pytest.mark.parametrize("make", [lambda: np.zeros(3), lambda: torch.zeros(3), lambda: [0, [0, 0]], lambda: ([0],)])
def test_a_copy_shares_nothing(make: Callable[[], Any]) -> None:
    state = make()
    copy = own(state)
    part = copy[0] if isinstance(copy, tuple) else copy
    part[0] = 7
    assert key(state) == key(make()) != key(copy)


def test_the_position_is_given_to_a_step_that_takes_it() -> None:
    def three(state: Any, token: Any, place: int) -> Any:
        return (*state, place)

    def free(state: Any, token: Any, *, more: int = 0) -> Any:
        return (*state, token)

    assert load_object((tuple, three, len), 8, "three").state_after([5, 5, 5]) == (1, 2, 3)
    assert load_object((tuple, free, len), 8, "free").state_after([5, 6]) == (5, 6)


def test_a_thought_is_said_word_by_word_after_the_query_is_read() -> None:
    class Thinker:
        STATE_BITS = 9

        def start(self) -> int:
            return 0

        def step(self, state: int, token: int) -> int:
            return state * 10 + token

        def words(self, state: int) -> Any:
            yield from str(state)

    rnn = load_object(Thinker(), None, "thinker")
    assert (rnn.state_bits, rnn.answer(rnn.state_after([1, 2]), (3, 4))) == (9, ["1", "2", "3", "4"])


def test_a_thought_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuits.rnn.LONGEST_THOUGHT", 10)

    class Endless:
        STATE_BITS = 1
        start = staticmethod(lambda: 0)
        step = staticmethod(lambda state, token: state)
        words = staticmethod(lambda state: itertools.repeat("and"))

    with pytest.raises(RnnError, match="more than 10 words"):
        load_object(Endless(), None, "endless").answer(0, ())


STEP = (lambda: 0, lambda state, token: state, lambda state, query: 1)


@pytest.mark.parametrize(
    ("given", "bits", "says"),
    [
        (STEP, None, "STATE_BITS is the number of bits of a state, not None"),
        (STEP, True, "not True"),
        (STEP, -1, "not -1"),
        (STEP, 2.5, "not 2.5"),
        (STEP[:2], 4, "a triple of functions"),
        ((*STEP[:2], 7), 4, "a triple of functions"),
        (object(), 4, "no start, step and answer, or words"),
        (len, 4, "no start, step and answer, or words"),
    ],
)
def test_what_is_no_rnn_is_refused(given: Any, bits: Any, says: str) -> None:
    with pytest.raises(RnnError, match=says):
        load_object(given, bits, "mine.py")


def test_a_file_is_read_with_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_the_rnn.py").write_text("BITS = 5\n")
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from beside_the_rnn import BITS as STATE_BITS\nRNN = other = (int, lambda s, t: s + t, lambda s, q: s)\n"
    )
    for name in ("", ":other"):
        rnn = load(f"{mine}{name}")
        assert (rnn.name, rnn.state_bits, rnn.state_after([1, 2]), rnn.answer(3, ())) == (f"{mine}{name}", 5, 3, ["3"])
    mine.write_text("RNN = 1 +\n")
    with pytest.raises(RnnError, match=r"mine.py: SyntaxError"):
        load(str(mine))
    mine.write_text("\nraise SystemExit(0)\n")
    with pytest.raises(RnnError, match=r"mine.py, line 2: SystemExit"):
        load(str(mine))


def latch() -> Any:
    """One bit, set by a word and never reset; the output is the bit before the word."""
    builder = Builder()
    word, kept = builder.input("word"), builder.state("kept")
    return builder.circuit({"said": kept}, [word | kept])


WORDS = {"inputs": {"a": "0", "b": "1"}, "outputs": {"0": "no", "1": "yes"}}


def test_a_circuit_is_its_latches() -> None:
    rnn = load_circuit(latch(), WORDS, "latch.aag")
    assert (rnn.state_bits, rnn.reads_words) == (1, True)
    for text in itertools.chain(*(itertools.product("ab", repeat=n) for n in range(5))):
        state = rnn.state_after(text)
        assert state == (int("b" in text),)
        assert rnn.answer(state, ("a",)) == ["yes" if "b" in text else "no"]
    with pytest.raises(RnnError, match="have no input 'c'"):
        rnn.step((0,), "c", 1)


@pytest.mark.parametrize(
    "words",
    [
        {},
        [],
        {"inputs": {"a": "0"}},
        {"inputs": {"a": "00"}, "outputs": {}},
        {"inputs": {"a": "2"}, "outputs": {}},
        {"inputs": {"a": "0"}, "outputs": {"01": "no"}},
        {"inputs": {"a": "x"}, "outputs": {}},
    ],
)
def test_words_that_do_not_fit_are_refused(words: Any) -> None:
    with pytest.raises(RnnError, match=r"words|each word has as many bits"):
        load_circuit(latch(), words, "latch.aag")


def test_the_guard_names_the_line_of_the_user_s_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "STATE_BITS = 1\nRNN = (int, lambda s, t: s, lambda s, q: 1)\n\ndef fails():\n    raise ValueError('a\\nb')\n"
    )
    names: dict[str, Any] = {}
    exec(compile(mine.read_text(), str(mine), "exec"), names)
    with pytest.raises(RnnError, match=rf"{mine}:fails, line 5: ValueError: a b"), guard(f"{mine}:fails"):
        names["fails"]()


def test_the_clock_is_wound_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuits.rnn.LONGEST_STEP", 0.2)
    with guard("mine") as wind:
        for _ in range(4):
            time.sleep(0.1)
            wind()
        wind(0)
        time.sleep(0.4)
    time.sleep(0.3)  # no clock is left
    with pytest.raises(RnnError, match=r"more than 0.2 s"), guard("mine"):
        time.sleep(5)
