"""The table of libraries' softmax: its inputs are hard as they say, and its errors are counted right."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from precision import BF16, FP8_E4M3, FP16, FP32, FP64, Format, round_fraction, round_values
from tests.bench import softmax as bench
from tests.bench.softmax import BEGIN, END, INPUTS, PAGE, Column, Inputs, Library
from tests.precision import mpfr

FORMATS = (FP16, BF16, FP32, FP64)
DOCS = Path(__file__).parents[2] / "docs"
by_name = {"ids": lambda item: str(item.name)}


@pytest.mark.parametrize("kind", INPUTS, **by_name)
def test_inputs_are_elements(kind: Inputs) -> None:
    for fmt in FORMATS:
        columns = list(kind.columns(fmt))
        assert columns or kind.name == "every lead"
        for column in columns[:: 1 + len(columns) // 200]:
            assert column.size
            assert round_values(column, fmt).tolist() == column.tolist()


def test_what_the_inputs_say_is_so() -> None:
    kinds = {kind.name: kind.columns for kind in INPUTS}
    for fmt in FORMATS:
        ends = [bench.right(column, fmt)[-1] for column in kinds["far behind"](fmt)]
        assert ends[-1] == 0
        assert any(0 < end < 2 ** (fmt.significand_bits - 1) for end in ends)
        (above,) = {math.exp(column[0]) > fmt.max_value for column in list(kinds["near overflow"](fmt))[:1]}
        assert not above
        for column in kinds["next to a midpoint"](fmt):
            lead = Fraction(column[0])
            halves = (Fraction(1, 2) + lead / 4) / (Fraction(1, 2) ** (fmt.significand_bits + 1))
            assert halves.denominator == 1
            assert halves.numerator % 2 == 1  # a midpoint of elements from 1/2 to 1
            winner = bench.right(column, fmt)[0] * fmt.quantum
            assert winner < Fraction(1, 2) + lead / 4
    assert sum(1 for _ in kinds["every lead"](FP16)) > 15_000
    assert not list(kinds["every lead"](FP32))


@pytest.mark.parametrize("fmt", [FP16, FP32], **by_name)
def test_the_right_weights_are_those_of_mpfr(fmt: Format) -> None:
    for kind in INPUTS:
        if kind.name not in ("a long tail", "every lead", "ties"):
            for column in list(kind.columns(fmt))[::7]:
                exact = mpfr.softmax([Fraction(score) for score in column.tolist()], 2000)
                assert len(set(column.tolist())) > 1 or exact == [Fraction(1, column.size)] * column.size
                assert bench.right(column, fmt) == [round_fraction(weight, fmt).quanta for weight in exact]
    assert bench.right(np.ones(3), fmt) == [round_fraction(Fraction(1, 3), fmt).quanta] * 3
    with pytest.raises(ValueError, match="no element of"):
        bench.right(np.array([fmt.quantum / 2], dtype=np.float64), fmt)


def test_errors_count_elements() -> None:
    assert [bench.place(quanta, FP8_E4M3) for quanta in FP8_E4M3.magnitudes()] == list(range(127))
    column, expected = np.array([0.0, -20.0]), bench.right(np.array([0.0, -20.0]), FP32)

    def error(change: Column) -> float:
        exact = np.array([float(weight * FP32.quantum) for weight in expected]).astype(np.float32)
        toward = np.where(change > 0, np.float32(2), np.float32(-1)).astype(np.float32)
        moved = np.where(change == 0, exact, np.nextafter(exact, toward))
        return bench.worst(Library("", FP32, lambda _: moved.astype(np.float64)), column, expected)

    assert [error(np.array(change)) for change in ([0, 0], [0, 1], [-1, 0], [1, -1])] == [0, 1, 1, 1]
    for weights, wanted in (([1.0, math.inf], math.inf), ([math.inf, math.nan], math.inf), ([math.nan, 0.0], math.nan)):
        library = Library("", FP32, lambda _, weights=weights: np.array(weights))
        assert str(bench.worst(library, column, expected)) == str(wanted)
    flushed = Library("", FP32, lambda _: np.array([1.0, 0.0]))
    assert bench.worst(flushed, column, expected) == bench.place(expected[1], FP32) > 10**8
    with pytest.raises(ValueError, match="no element of fp32"):
        bench.worst(Library("", FP32, lambda _: np.array([0.1, 0.0])), column, expected)


def test_a_table_is_made_of_the_libraries_that_are_here(tmp_path: Path) -> None:
    actual = bench.libraries()
    few = [kind for kind in INPUTS if kind.name in ("near overflow", "largest scores", "next to a midpoint")]
    results = bench.measure(actual, few)
    naive, shifted = actual[0], actual[2]
    assert (naive.format, shifted.format) == (FP32, FP32)
    assert math.isnan(results[naive, few[0]])
    assert math.isnan(results[naive, few[1]])
    assert results[shifted, few[0]] <= 4
    assert results[shifted, few[2]] >= 1  # what a single precision cannot decide
    (tmp_path / PAGE).write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    text = bench.report(actual, few, results)
    for _ in range(2):
        bench.write(tmp_path, text)
        assert (tmp_path / PAGE).read_text() == f"before\n{BEGIN}\n{text}{END}\nafter\n"
    assert text.count("\n| ") == 1 + len(actual)


def test_the_page_has_every_library_and_kind_of_inputs() -> None:
    table = (DOCS / PAGE).read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")]
    assert rows[0][2:] == [*(kind.name for kind in INPUTS[:-1]), f"{INPUTS[-1].name} |"]
    listed = [(row[0].removeprefix("| "), row[1]) for row in rows[1:]]
    assert set(listed) >= {(library.name, library.format.name) for library in bench.libraries()}
    for kind in INPUTS:
        assert f"- **{kind.name}**: {kind.why}" in table
