"""Conformance vectors: inputs with correctly rounded results, for a test of one's own library or hardware.

python -m precision.vectors fp16 > fp16.jsonl

Each line is a JSON object: `operation` (round, exp, softmax), `format`, `rounding` (nearest-even, nearest-away, toward-zero),
`input` and `output`. A number is a text as C's printf("%a") writes it, which strtod and float.fromhex read without loss. Inputs
of `round` are float64. Those of `exp` and `softmax` are elements of the format, and these two are rounded once, to the nearest,
ties to even. A softmax has a list of scores and a list of weights.

The inputs are those that go wrong: every midpoint of neighbours and the float64 beside it, the ends of the range, subnormal
numbers, exponentials next to a midpoint, ties of many keys, winners that lead by just too little.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

from precision.exponential import exp_quanta
from precision.format import FLOAT_FORMATS, Arithmetic, Format, Rounding, parse_format
from precision.rounding import round_fraction
from precision.softmax import softmax

ALL_ELEMENTS = 1 << 10  # a format with no more elements on one side has all of them tried
SOME_ELEMENTS = 256  # of larger formats, spread over all exponents
MOST_EXPONENTIALS = 1 << 16  # elements whose exponentials are looked through for those next to a midpoint
HARDEST = 64
ROUNDINGS = (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY, Rounding.TOWARD_ZERO)
MOST_BITS = 40  # of significand: midpoints must have neighbours in float64


def vectors(fmt: Format, seed: int = 0) -> Iterator[dict[str, object]]:
    """Yields the vectors of a format, the same for one seed. Raises ValueError for a format with more than 40 digits."""
    if fmt.significand_bits > MOST_BITS or float(fmt.max_value) == math.inf:
        raise ValueError(f"{fmt.name} has {fmt.significand_bits} digits; vectors have at most {MOST_BITS}")
    elements = _elements(fmt, random.Random(seed))
    for rounding in ROUNDINGS:
        for value in _to_round(fmt, elements):
            quanta = round_fraction(Fraction(value), fmt, rounding).quanta
            yield _line("round", fmt, rounding, value.hex(), _hex(quanta, fmt))
    for x in _exponents(fmt, elements):
        result = exp_quanta(x, fmt, Rounding.NEAREST_EVEN)
        yield _line("exp", fmt, Rounding.NEAREST_EVEN, _hex(x, fmt), _hex(result.quanta, fmt))
    if fmt.max_value >= 1 and fmt.quantum_exponent <= 0:
        for scores in _columns(fmt, random.Random(seed)):
            weights = softmax(scores, Arithmetic(fmt)).weights
            texts = ([_hex(quanta, fmt) for quanta in column] for column in (scores, weights))
            yield _line("softmax", fmt, Rounding.NEAREST_EVEN, *texts)


def _line(operation: str, fmt: Format, rounding: Rounding, given: object, result: object) -> dict[str, object]:
    return {"operation": operation, "format": fmt.name, "rounding": rounding.value, "input": given, "output": result}


def _hex(quanta: int, fmt: Format) -> str:
    return math.ldexp(quanta, fmt.quantum_exponent).hex()


def _elements(fmt: Format, generator: random.Random) -> list[int]:
    """Returns elements that are not negative, in quanta: all of a small format, else some around each power of two."""
    every = list(islice(fmt.magnitudes(), ALL_ELEMENTS + 1))
    if len(every) <= ALL_ELEMENTS:
        return every
    chosen = {0, 1, 2, 3, fmt.max_quanta}
    exponents = range(fmt.max_quanta.bit_length())
    for exponent in generator.sample(exponents, min(len(exponents), SOME_ELEMENTS // 4)):
        step = 1 << max(0, exponent + 1 - fmt.significand_bits)
        for quanta in (1 << exponent, (1 << exponent) + step, (2 << exponent) - step):
            chosen.add(quanta)
        chosen.add((1 << exponent) + step * generator.randrange(1 << min(exponent, fmt.significand_bits - 1)))
    return sorted(quanta for quanta in chosen if quanta <= fmt.max_quanta)


def _to_round(fmt: Format, elements: Sequence[int]) -> Iterator[float]:
    """Yields elements, the midpoints after them, and the float64 on either side of each."""
    places = [Fraction(fmt.max_quanta) * 2]
    for quanta in elements:
        step = 1 << max(0, quanta.bit_length() - fmt.significand_bits)
        places += [Fraction(quanta), quanta + Fraction(step, 2)]
    values = [float(place * fmt.quantum) for place in sorted(places)]
    near = (x for value in values for x in (math.nextafter(value, -1), value, math.nextafter(value, math.inf)))
    for x in dict.fromkeys(x for x in near if 0 <= x < math.inf):
        yield x
        if x:
            yield -x


def _exponents(fmt: Format, elements: Sequence[int]) -> Iterator[int]:
    """Yields arguments of exp, in quanta: elements of both signs, and those whose exponential lies nearest to a midpoint."""
    yield from elements
    yield from (-quanta for quanta in elements if quanta)
    scale = float(fmt.quantum)
    least = int(math.log(scale) / scale) - 1 if scale < 1 else 0
    candidates = range(max(least, -MOST_EXPONENTIALS), 0) if fmt.is_fixed_point else [-q for q in elements if q]
    yield from sorted(candidates, key=lambda x: _from_midpoint(math.exp(x * scale), fmt))[:HARDEST]


def _from_midpoint(value: float, fmt: Format) -> float:
    """Returns how far a number is from the nearest midpoint, in steps; for a choice only."""
    quanta = value / float(fmt.quantum)
    step = 2.0 ** max(0, math.frexp(quanta)[1] - fmt.significand_bits) if quanta else 1.0
    return abs(quanta / step % 1 - 0.5)


def _columns(fmt: Format, generator: random.Random) -> Iterator[list[int]]:
    """Yields columns of scores, in quanta."""
    one = int(1 / fmt.quantum)

    def element(value: float) -> int:
        return round_fraction(Fraction(value), fmt).quanta

    for ties in (1, 2, 3, 5, 6, 7, 15, 17, 100):
        yield [0] * ties
        yield [0] * ties + [element(-8)] * ties
    for lead in (0.5, 1, 2, 4, 6, 8, 10, 12, 16, 24, 32):  # from weights that differ to ones that vanish
        yield [element(lead), 0]
        yield [0, element(lead), 0, element(lead)]
        yield [element(lead), *[0] * 64]
    yield [fmt.max_quanta, -fmt.max_quanta]
    yield [fmt.max_quanta] * 3
    yield [0, 1]
    yield [one, one - 1 if one > 1 else 0, 0]
    for length in (2, 8, 64):
        for width in (0.5, 2, 8):
            yield [element(generator.gauss(0, width)) for _ in range(length)]


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the vectors of the formats that are named; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m precision.vectors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ", ".join(fmt.name for fmt in FLOAT_FORMATS)
    parser.add_argument("format", nargs="+", help=f"R_p with p odd, or one of {names}")
    parser.add_argument("--seed", type=int, default=0, help="fixes the random choices (default: 0)")
    arguments = parser.parse_args(argv)
    try:
        formats = [parse_format(name) for name in arguments.format]
        for fmt in formats:
            for line in vectors(fmt, arguments.seed):
                print(json.dumps(line))
    except ValueError as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
