"""AIGER files there and back, in both forms; files that are none are one clear line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuits import aiger
from circuits.aiger_read import AigerError, parse, read
from circuits.builder import Builder
from circuits.circuit import Circuit
from circuits.dot import dot_text
from circuits.equivalence import find_difference
from circuits.operations import OPERATIONS

HALF_ADDER = """aag 7 2 0 2 3
2
4
6
12
6 13 15
12 2 4
14 3 5
i0 x
i1 y
o0 s
o1 c
c
from the paper on the format
"""


def counter() -> Circuit:
    """A state bit that starts as 1 and is flipped by x."""
    b = Builder()
    x, s = b.input("x"), b.state("s", 1)
    return b.circuit({"o": ~s, "zero": b.zero}, [s ^ x])


@pytest.mark.parametrize("suffix", aiger.SUFFIXES)
@pytest.mark.parametrize("name", list(OPERATIONS))
def test_there_and_back(name: str, suffix: str, tmp_path: Path) -> None:
    circuit, path = OPERATIONS[name].circuit(9), tmp_path / f"x{suffix}"
    aiger.write(circuit, path, "a comment")
    again = read(path)
    assert (again.inputs, again.output_names) == (circuit.inputs, circuit.output_names)
    assert find_difference(circuit, again) is None
    assert again.operations <= circuit.operations + 9  # three ANDs are one XOR again; some negations move


@pytest.mark.parametrize("suffix", aiger.SUFFIXES)
def test_state_bits_are_latches_with_reset_values(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    aiger.write(counter(), path)
    again = read(path)
    assert (again.states, again.initial) == (("s",), (1,))
    assert find_difference(counter(), again) is None


def test_ascii_form_word_for_word() -> None:
    assert aiger.ascii_text(counter(), "made here") == (
        "aag 5 1 1 2 3\n2\n4 10 1\n5\n0\n6 4 2\n8 5 3\n10 9 7\ni0 x\nl0 s\no0 o\no1 zero\nc\nmade here\n"
    )


def test_binary_form_byte_for_byte() -> None:
    """From the format's own description: literals 14 and 300 as differences."""
    ands = b"\x02\x02\x03\x02\x01\x02"
    assert aiger.binary(counter()) == b"aig 5 1 1 2 3\n10 1\n5\n0\n" + ands + b"i0 x\nl0 s\no0 o\no1 zero\n"


def test_large_differences_take_several_bytes(tmp_path: Path) -> None:
    b = Builder()
    bits = [b.input(f"x{i}") for i in range(400)]
    both = b.circuit({"o": bits[0] & bits[399]})
    assert b"\x02\x9e\x06" in aiger.binary(both)  # 802 − 800, 800 − 2
    assert parse(aiger.binary(both)) == both


def test_a_file_of_others() -> None:
    """A half adder with the outputs on negated operands, ANDs out of order."""
    text = HALF_ADDER.replace("6 13 15\n12 2 4\n14 3 5", "14 3 5\n6 13 15\n12 2 4")
    for data in (HALF_ADDER, text, text.replace("\n", "\r\n")):
        circuit = parse(data.encode())
        assert circuit.operations == 2
        for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
            assert circuit.run([x, y])[0] == [x ^ y, x & y]


def test_bits_without_names() -> None:
    circuit = parse(b"aag 1 1 0 2 0\n2\n3\n1\n")
    assert (circuit.inputs, circuit.output_names) == (("i0",), ("o0", "o1"))
    assert circuit.run([1])[0] == [0, 1]


def test_bad_states_are_outputs() -> None:
    """Reads what model checkers write: no output, one bad state, a latch that toggles."""
    circuit = parse(b"aag 1 0 1 0 0 1\n2 3\n2\n")
    assert circuit.output_names == ("b0",)
    assert circuit.run([], [1]) == ([1], [0])
    named = parse(b"aag 2 2 0 1 0 1\n2\n4\n3\n4\nb0 wrong\n")
    assert named.output_names == ("o0", "wrong")
    assert named.run([1, 0])[0] == [0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file ends where the header"),
        ("aag 1 1\n", "line 1: the header has 2 numbers, not 5"),
        ("aog 0 0 0 0 0\n", "line 1: the header should be"),
        ("aag 1 x 0 0 0\n", "line 1: the header should be"),
        ("aag 1 2 0 0 0\n2\n4\n", "2 inputs, 0 state bits and 0 ANDs do not make 1 variables"),
        ("aag 0 0 0 0 0 0 1\n", "constraints, justice and fairness"),
        ("aag 0 0 0 0 0 1\n", "line 2: the file ends where an output should be"),
        ("aag 1 1 0 0 0\n2\ni0 x\ni0 y\n", "line 4: i0 has two names, 'x' and 'y'"),
        ("aag 1 1 0 1 0\n2\n2\nb0 x\n", "'b0 x' where a name"),
        ("aag 99999999 0 0 0 99999999\n", "more than 16777216 variables"),
        ("aag 1 1 0 1 0\n2\n", "line 3: the file ends where an output should be"),
        ("aag 1 1 0 0 0\n3\n", "line 2: input 3 is odd"),
        ("aag 2 2 0 0 0\n2\n2\n", "line 3: input 2 is odd, beyond 4 or there already"),
        ("aag 1 1 0 1 0\n2\n-2\n", "line 3: '-2' where an output should be"),
        ("aag 1 1 0 1 0\n2\n8\n", "literal 8 is read, and nothing defines it"),
        ("aag 3 1 0 1 1\n2\n6\n6 2 4\n", "literal 4 is read, and nothing defines it"),
        ("aag 2 1 0 1 1\n2\n4\n4 4 2\n", "AND 4 reads itself"),
        ("aag 3 1 0 1 2\n2\n4\n4 6 2\n6 5 2\n", "reads itself, directly or by way of others"),
        ("aag 1 0 1 0 0\n2 2 2\n", "line 2: state bit 2 starts as neither 0 nor 1"),
        ("aag 1 1 0 0 0\n2\ni1 x\n", "'i1 x' where a name"),
        ("aag 2 2 0 0 0\n2\n4\ni0 x\ni1 x\n", "two bits are called 'x'"),
        ("aag 0 0 0 2 0\n0\n1\no0 x\no1 x\n", "two outputs are called 'x'"),
        ("aig 3 1 0 0 1\n", "do not make 3 variables"),
        ("aig 2 1 0 0 1\n", "byte 14: the file ends within AND 1 of 1"),
        ("aig 2 1 0 0 1\n\x00\x00", "reads literals that are not before it"),
        ("aig 2 1 0 0 1\n\x05\x00", "reads literals that are not before it"),
    ],
)
def test_what_is_no_circuit_is_refused(text: str, message: str) -> None:
    with pytest.raises(AigerError, match=message) as caught:
        parse(text.encode("latin-1"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", [lambda c: aiger.ascii_text(c).encode(), aiger.binary])
def test_every_truncation_is_refused_or_only_loses_names(make: object) -> None:
    circuit = OPERATIONS["compare"].circuit(5)
    data = make(circuit)
    names = data.index(b"i0 a1")
    for end in range(names):
        with pytest.raises(AigerError):
            parse(data[:end])


@given(st.binary(max_size=60), st.integers(0, 200), st.sampled_from(["aag", "aig"]))
def test_noise_never_ends_in_another_error(noise: bytes, at: int, form: str) -> None:
    circuit = OPERATIONS["compare"].circuit(5)
    data = aiger.ascii_text(circuit).encode() if form == "aag" else aiger.binary(circuit)
    for broken in (noise, data[:at] + noise + data[at:], data[:at] + noise):
        with contextlib.suppress(AigerError):
            parse(broken)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"x\.txt: the name must end in \.aag or \.aig"):
        aiger.write(counter(), tmp_path / "x.txt")


def test_dot_draws_every_gate_and_every_end() -> None:
    text = dot_text(counter(), 'a "counter"')
    assert text.startswith('digraph "a \\"counter\\"" {\n')
    assert text.rstrip().endswith("}")
    assert text.count('label="⊕"') == 2  # s ⊕ x, and the 0 that is an output
    assert text.count('label="¬"') == 1
    for name in ("x", "s", "o", "zero", "next s"):
        assert f'label="{name}"' in text
