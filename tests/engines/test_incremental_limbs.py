"""The arithmetic of compiled code against Python's integers."""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

WIDTHS = (1, 2, 3, 5)
MODES = range(3)


def words(number: int, limbs: int) -> Any:
    return np.frombuffer(number.to_bytes(8 * limbs, "little", signed=True), np.uint64).copy()


def integer(array: Any) -> int:
    return int.from_bytes(array.tobytes(), "little", signed=True)


@cache
def operations(limbs: int) -> Callable[..., Any]:
    """All of them in one function, as each costs time to be compiled. Results of several limbs go into `out`."""
    from numba import njit

    from constructions.engines.incremental.limbs import (
        OPTIONS,
        is_negative,
        is_zero,
        load,
        low_limb,
        product,
        quotient,
        remainder,
        resized,
        rounded,
        shifted_left,
        shifted_right,
        significant_bits,
        store,
        to_float,
        trailing_zeros,
    )

    def all_of_them(x, y, bound, factor, divisor, places, shape, out):  # type: ignore[no-untyped-def]
        a, b, largest = load(x, 0, shape.element), load(y, 0, shape.element), load(bound, 0, shape.element)
        ab = product(a, b, shape.exact)
        small = resized(a, shape.widest)
        element, exact = rounded(ab, places, largest, shape)
        store(out[0], 0, ab, shape.exact)
        store(out[1], 0, product(a, factor, shape.long), shape.long)
        store(out[2], 0, element, shape.element)
        store(out[3], 0, shifted_left(small, places), shape.widest)
        store(out[4], 0, shifted_right(ab, places), shape.exact)
        store(out[5], 0, quotient(-small if is_negative(a) else small, divisor), shape.widest)
        store(out[6], 0, resized(a - b, shape.element) + -a, shape.element)
        rest = remainder(-small if is_negative(a) else small, divisor)
        truths = exact, a < b, a == b, a != b, is_zero(a), is_negative(a)
        return truths, rest, low_limb(ab), trailing_zeros(ab), significant_bits(ab), to_float(ab)

    return njit(**OPTIONS)(all_of_them)


def numbers(rng: random.Random, bits: int) -> Iterator[int]:
    """Of any size below 2^bits, and those beside which carries, signs and ties change."""
    while True:
        near = rng.choice((1, -1)) * (1 << rng.randrange(bits)) + rng.choice((-1, 0, 0, 1))
        far = rng.randint(-(1 << bits - 1), 1 << bits - 1) >> rng.randrange(bits)
        yield rng.choice((0, near, far, far << rng.randrange(max(1, bits - far.bit_length()))))


def nearest(number: int, places: int, mode: int, largest: int) -> tuple[int, bool]:
    """`rounded`, by quotients."""
    whole, rest = divmod(abs(number), 1 << places)
    twice = 2 * rest - (1 << places)
    up = twice > 0 or (twice == 0 and (mode == 1 or whole % 2 == 1))
    whole += up and mode != 2
    return (-1 if number < 0 else 1) * min(whole, largest), rest == 0 and whole <= largest


@pytest.mark.parametrize("limbs", WIDTHS)
def test_wide_integers(limbs: int) -> None:
    """Every operation at numbers of all sizes; those of element size are below 2^(64W − 2), see program.py."""
    module = importlib.import_module("constructions.engines.incremental.limbs")
    lengths, rng = module.lengths(limbs), random.Random(limbs)
    element, long, exact, widest = lengths
    compiled, some = operations(limbs), numbers(rng, 64 * limbs - 2)
    for case in range(600):
        shape = module.shape_of(limbs, 0, MODES[case % 3])
        out = tuple(np.zeros(size, np.uint64) for size in (exact, long, element, widest, exact, widest, element))
        a, b, largest = next(some), next(some), abs(next(some)) + 1
        factor, divisor = (
            rng.choice((1, -1, rng.randint(-(2**62), 2**62))),
            rng.randrange(1, 2**32) >> rng.randrange(31) or 1,
        )
        places = rng.randrange(64 * limbs)
        found = compiled(words(a, limbs), words(b, limbs), words(largest, limbs), factor, divisor, places, shape, out)
        truths, rest, low, zeros, significant, real = found
        rounded, is_exact = nearest(a * b, places, MODES[case % 3], largest)
        expected = [a * b, a * factor, rounded, a << places, (a * b) >> places, abs(a) // divisor, -b]
        assert [integer(array) for array in out] == expected, (a, b, largest, factor, divisor, places)
        assert truths == (is_exact, a < b, a == b, a != b, a == 0, a < 0)
        assert (rest, low % 2**64) == (abs(a) % divisor, a * b % 2**64)
        assert zeros == module.ZEROS_OF_ZERO if a * b == 0 else (a * b) % 2**zeros == 0 and (a * b >> zeros) % 2 == 1
        assert significant == (abs(a * b).bit_length() - zeros if a * b else 0) == module.significant_bits(a * b)
        assert abs(real - a * b) <= abs(a * b) * 2.0**-49
        defined = [module.product(a, b, shape.exact), module.shifted_right(a * b, places), module.low_limb(a * b)]
        assert defined == [a * b, a * b >> places, low]
        assert (module.quotient(abs(a), divisor), module.remainder(abs(a), divisor)) == divmod(abs(a), divisor)
        assert module.trailing_zeros(a * b) == zeros


def test_floats_tell_their_lowest_bit_and_exact_quotients() -> None:
    from numba import njit

    from constructions.engines.incremental.limbs import OPTIONS

    module = importlib.import_module("constructions.engines.incremental.reals")
    lowest_bit, divides, float_of, bits_of = module.lowest_bit, module.divides, module.float_of, module.bits_of

    def all_of_them(x, s, r):  # type: ignore[no-untyped-def]
        return lowest_bit(x), divides(x, s, r), float_of(bits_of(x))

    compiled, rng, exact = njit(**OPTIONS)(all_of_them), random.Random(0), 0
    for case in range(600):
        x, s = (
            rng.choice((1, -1)) * rng.randint(1, 2 ** rng.randint(1, 53)) * 2.0 ** rng.randint(-99, 99) for _ in "xs"
        )
        r = x * s if case % 3 else math.nextafter(x * s, math.inf)
        bit, divided, same = compiled(x, s, r)
        assert same == x == module.float_of(module.bits_of(x))
        assert bit == module.lowest_bit(x)
        assert (Fraction(x) / Fraction(bit)).denominator == 1
        assert (Fraction(x) / Fraction(bit)).numerator % 2 == 1
        assert divided == module.divides.py_func(x, s, r)
        assert not divided or Fraction(x) * Fraction(s) == Fraction(r)
        exact += divided
    assert 100 < exact < 400
