"""Throughput of the package's inner loops. Prints figures; asserts nothing about time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from precision import (
    BF16,
    FP32,
    Arithmetic,
    Discipline,
    exp_array,
    exp_quanta,
    fixed_point,
    round_array,
    round_ratio,
    round_values,
    softmax,
    softmax_array,
)

pytestmark = pytest.mark.benchmark


def best_seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few runs: the one that was disturbed least."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        durations.append(time.perf_counter() - start)
    return min(durations)


@pytest.mark.parametrize(
    "fmt", [fixed_point(17), fixed_point(33), fixed_point(53), BF16, FP32], ids=lambda f: str(f.name)
)
def test_rounding(fmt, capsys):
    x = np.random.default_rng(0).standard_normal(2_000_000) * 50
    out = np.empty_like(x)
    fast = x.size / best_seconds(lambda: round_values(x, fmt, out=out))
    flags = x.size / best_seconds(lambda: round_array(x, fmt), 1)
    ratios = range(100_000)
    scalar = len(ratios) / best_seconds(lambda: [round_ratio(n, 7, fmt) for n in ratios])
    with capsys.disabled():
        print(f"\n{fmt.name}: round_values {fast:.1e}/s, round_array {flags:.1e}/s, round_ratio {scalar:.1e}/s")


@pytest.mark.parametrize("precision_bits", [17, 33])
def test_exp_and_softmax(precision_bits, capsys):
    fmt = fixed_point(precision_bits)
    one = 2**-fmt.quantum_exponent
    rng = np.random.default_rng(0)
    near = rng.integers(0, 10 * one, (300, 300))
    far = near.copy()
    far[0] += 200 * one if precision_bits == 33 else 100 * one
    mask = np.ones(near.shape, dtype=bool)
    lines = [
        f"exp_array {near.size / best_seconds(lambda: exp_array(near / one, fmt)):.1e}/s",
        f"exp_quanta {1000 / best_seconds(lambda: [exp_quanta(-x, fmt) for x in range(1, 1001)]):.1e}/s",
    ]
    for discipline in Discipline:
        arithmetic = Arithmetic(fmt, discipline)
        for name, scores in (("clear winner", far), ("no winner", near)):
            column = scores[:, 0].tolist()
            alone = 1e6 * best_seconds(lambda c=column, a=arithmetic: softmax(c, a))
            together = 1e6 / 300 * best_seconds(lambda s=scores, a=arithmetic: softmax_array(s / one, mask, a, axis=0))
            lines.append(
                f"softmax of 300 scores, {discipline.value}, {name}: {alone:.0f} µs, as an array {together:.0f} µs"
            )
    with capsys.disabled():
        print(f"\n{fmt.name}: " + "\n      ".join(lines))
