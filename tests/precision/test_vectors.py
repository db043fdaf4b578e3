"""Conformance vectors against a search through all elements, MPFR, and the casts of ml_dtypes where those round once."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from precision.format import BF16, FP4_E2M1, FP8_E4M3, FP16, FP32, FP64, Format, Rounding, fixed_point, parse_format
from precision.vectors import main, vectors
from tests.precision import mpfr
from tests.precision.oracle import magnitudes, round_by_search

SMALL = (FP4_E2M1, FP8_E4M3, fixed_point(9))
FORMATS = (*SMALL, FP16, BF16, FP32, fixed_point(17), fixed_point(33))


def numbers(texts: object) -> list[Fraction]:
    """The numbers that hexadecimal texts stand for."""
    assert isinstance(texts, list)
    return [Fraction(float.fromhex(text)) for text in texts]


@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)
def test_rounding_is_that_of_a_search_through_all_elements(fmt: Format) -> None:
    seen = set()
    for line in vectors(fmt):
        if line["operation"] != "round":
            continue
        (x,), (y,) = numbers([line["input"]]), numbers([line["output"]])
        assert round_by_search(x, fmt, Rounding(line["rounding"]))[0] == y
        seen.add(abs(x))
    elements = magnitudes(fmt)[:-1]  # the last one is the next after the format's end
    midpoints = {(a + b) / 2 for a, b in itertools.pairwise(elements)}
    assert midpoints <= seen
    assert {*elements} <= seen


@pytest.mark.parametrize(("fmt", "dtype"), [(FP16, np.float16), (BF16, ml_dtypes.bfloat16), (FP32, np.float32)])
def test_rounding_is_that_of_others(fmt: Format, dtype: type) -> None:
    """numpy rounds float64 once to fp32 and to fp16. ml_dtypes goes by way of fp32, so it is asked what fp32 holds."""
    asked = 0
    for line in vectors(fmt):
        x = float.fromhex(str(line["input"])) if line["operation"] == "round" else math.inf
        if line.get("rounding") == "nearest-even" and abs(x) < float(fmt.max_value):
            if dtype is ml_dtypes.bfloat16 and float(np.float32(x)) != x:
                continue
            assert float(np.float64(x).astype(dtype)) == float.fromhex(str(line["output"]))
            asked += 1
    assert asked > 400


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_exp_and_softmax_are_those_of_mpfr(fmt: Format) -> None:
    counts = {"exp": 0, "softmax": 0}
    for line in vectors(fmt):
        if line["operation"] == "exp":
            (x,), (y,) = numbers([line["input"]]), numbers([line["output"]])
            pairs = [(mpfr.exp(x) if x < 200 else fmt.max_value * 2, y)]
        elif line["operation"] == "softmax":
            scores, weights = numbers(line["input"]), numbers(line["output"])
            pairs = list(zip(mpfr.softmax(scores), weights, strict=True))
        else:
            continue
        for exact, rounded in pairs:
            quanta = exact / fmt.quantum
            step = 1 << max(0, math.floor(quanta).bit_length() - fmt.significand_bits)
            nearest = round(quanta / step) * step * fmt.quantum  # Python rounds a Fraction to even
            assert rounded == min(nearest, fmt.max_value)
        counts[str(line["operation"])] += 1
    assert counts["exp"] >= 8
    assert counts["softmax"] >= 40 or fmt.max_value < 1


def test_the_command_writes_a_line_for_each_vector(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["R_9", "fp8_e4m3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [*vectors(fixed_point(9)), *vectors(FP8_E4M3)]
    assert {*map(json.dumps, vectors(FP16))} != {*map(json.dumps, vectors(FP16, seed=1))}
    assert main(["fp7"]) == 2
    assert "unknown format 'fp7'" in capsys.readouterr().err
    assert main(["fp64"]) == 2
    assert "fp64 has 53 digits; vectors have at most 40" in capsys.readouterr().err
    assert parse_format("fp64") is FP64
