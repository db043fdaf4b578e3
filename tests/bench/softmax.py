"""How far the softmax of libraries lies from the correctly rounded one: `python -m tests.bench.softmax [--write docs]`.

A column of scores holds elements of a library's format. The right weights are the exact ones, rounded once: `precision.softmax`,
the definition. An error counts elements: 0 is right, 1 the neighbour of the right one, and below the normal numbers too. A result
that is infinite or a NaN is said to be one. The inputs are the functions of INPUTS, each with its name and what is hard in it.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from constructions.show.markdown import table
from precision import BF16, FP16, FP32, FP64, Arithmetic, Format, round_fraction, round_values, softmax
from tests.bench.engines import this_machine

PAGE = "numbers.md"
BEGIN, END = "<!-- softmax: begin -->", "<!-- softmax: end -->"
Column = npt.NDArray[np.float64]
DTYPES = {FP16: np.float16, FP32: np.float32, FP64: np.float64}


@dataclass(frozen=True)
class Library:
    """A softmax of somebody's in a format. apply: scores → weights, both of them elements of the format, as float64."""

    name: str
    format: Format
    apply: Callable[[Column], Column]


@dataclass(frozen=True)
class Inputs:
    """Columns that are hard for one reason. columns(format): arrays of elements."""

    name: str
    why: str
    columns: Callable[[Format], Iterator[Column]]


def _numpy(fmt: Format, shifted: bool) -> Library:
    def apply(scores: Column) -> Column:
        x = scores.astype(DTYPES[fmt])
        with np.errstate(all="ignore"):
            powers = np.exp(x - x.max() if shifted else x)
            return (powers / powers.sum()).astype(np.float64)

    formula = "e = exp(x − max); e / e.sum()" if shifted else "e = exp(x); e / e.sum()"
    return Library(f"numpy, `{formula}`", fmt, apply)


def _scipy(fmt: Format) -> Library:
    special = import_module("scipy.special")

    def apply(scores: Column) -> Column:
        with np.errstate(all="ignore"):
            return np.asarray(special.softmax(scores.astype(DTYPES[fmt])), dtype=np.float64)

    return Library("`scipy.special.softmax`", fmt, apply)


def _torch(fmt: Format) -> Library:
    import torch

    dtype = {BF16: torch.bfloat16, FP16: torch.float16, FP32: torch.float32, FP64: torch.float64}[fmt]

    def apply(scores: Column) -> Column:
        result: Column = torch.softmax(torch.from_numpy(scores).to(dtype), 0).to(torch.float64).numpy()
        return result

    return Library("`torch.softmax`", fmt, apply)


def libraries() -> list[Library]:
    """Those that are installed."""
    result = [_numpy(fmt, shifted) for shifted in (False, True) for fmt in (FP32, FP64)]
    if find_spec("scipy"):
        result += [_scipy(fmt) for fmt in (FP32, FP64)]
    if find_spec("torch"):
        result += [_torch(fmt) for fmt in (BF16, FP16, FP32, FP64)]
    return result


def _ties(fmt: Format) -> Iterator[Column]:
    for winners in (3, 7, 10, 49, 100, 1000, 4097):
        yield np.full(winners, 1.0)
        yield np.concatenate([np.full(winners, 1.0), np.zeros(winners)])


def _far(fmt: Format) -> Iterator[Column]:
    vanishing = (1 - fmt.quantum_exponent) * math.log(2)  # after this the weight rounds to 0
    for gap in round_values(np.linspace(vanishing / 64, vanishing * 1.02, 96), fmt):
        yield np.array([0.0, -gap])


def _overflow(fmt: Format) -> Iterator[Column]:
    limit = math.log(float(fmt.max_value))  # above this exp is no element
    for top in round_values(limit + np.array([-2.0, -0.5, -0.1, 0.1, 0.5, 2.0, 8.0]), fmt):
        yield round_values(np.array([top, top - 0.75, top - 1.5]), fmt)


def _largest(fmt: Format) -> Iterator[Column]:
    top = float(fmt.max_value)
    yield from (
        np.array(scores) for scores in ([top, top], [top, -top], [top, 0.0, -top], [top, top / 2], [-top, -top])
    )


def _subnormal(fmt: Format) -> Iterator[Column]:
    quantum = float(fmt.quantum)
    for scale in (1, 2 ** (fmt.significand_bits - 1) - 1, 2 ** (fmt.significand_bits + 1)):
        yield np.array([scale * quantum, 0.0])
        yield np.array([-scale * quantum, 0.0, 0.0])


def _midpoints(fmt: Format) -> Iterator[Column]:
    """A lead x = (2j + 1)·2^(1 − s) weighs 1/2 + x/4 − x³/48 + …, a trace below the midpoint 1/2 + x/4 of two elements."""
    for j in range(48):
        yield np.array([(2 * j + 1) * 2.0 ** (1 - fmt.significand_bits), 0.0])


def _tail(fmt: Format) -> Iterator[Column]:
    for keys, gap in ((256, 6.0), (1024, 8.0), (4096, 10.0), (16384, 12.0)):
        yield np.concatenate([[0.0], np.full(keys, -gap)])


def _random(fmt: Format) -> Iterator[Column]:
    rng = np.random.default_rng(0)
    for spread in (0.1, 1.0, 4.0, 16.0):
        for keys in (2, 8, 64):
            yield round_values(rng.standard_normal(keys) * spread, fmt)


def _leads(fmt: Format) -> Iterator[Column]:
    if fmt in (FP16, BF16):
        largest = (1 - fmt.quantum_exponent) * math.log(2)
        leads = np.ldexp(np.array(list(fmt.magnitudes()), dtype=np.float64), fmt.quantum_exponent)
        yield from (np.array([0.0, -lead]) for lead in leads[leads <= largest])


INPUTS = (
    Inputs("ties", "3 to 4,097 keys of the same score, alone and before as many others", _ties),
    Inputs("far behind", "two keys; the second trails until its weight is subnormal, and then nothing", _far),
    Inputs("near overflow", "three scores around the logarithm of the largest element", _overflow),
    Inputs("largest scores", "the largest element, its negative, its half", _largest),
    Inputs("subnormal scores", "scores of one step above 0 to just above the subnormal numbers", _subnormal),
    Inputs(
        "next to a midpoint", "two keys that lead by (2j + 1)·2^(1 − s), j < 48, for s significand bits", _midpoints
    ),
    Inputs("every lead", "two keys, in the formats of 16 bits: every lead until the second weighs nothing", _leads),
    Inputs("a long tail", "one winner, and 256 to 16,384 keys that trail by 6 to 12", _tail),
    Inputs("normal scores", "2, 8 and 64 keys from a normal distribution of width 0.1 to 16", _random),
)


def right(scores: Column, fmt: Format) -> list[int]:
    """The exact weights, each rounded once: in quanta."""
    return softmax([in_quanta(score, fmt) for score in scores.tolist()], Arithmetic(fmt)).weights


def in_quanta(value: float, fmt: Format) -> int:
    """An element in quanta; ValueError if it is none."""
    quanta = round_fraction(Fraction(value), fmt).quanta
    if quanta * fmt.quantum != value:
        raise ValueError(f"{value} is no element of {fmt.name}")
    return quanta


def place(quanta: int, fmt: Format) -> int:
    """How many elements lie between 0 and this one, itself included; fewer than none on the other side."""
    magnitude = abs(quanta)
    binades = max(0, magnitude.bit_length() - fmt.significand_bits)
    steps = (binades << (fmt.significand_bits - 1)) + (magnitude >> binades)
    return -steps if quanta < 0 else steps


def worst(library: Library, column: Column, expected: Sequence[int]) -> float:
    """The largest error of a column, in elements of the format; infinite or NaN if a weight is."""
    weights = library.apply(column.copy())
    for weight in weights.tolist():
        if not math.isfinite(weight):
            return abs(weight)
    fmt, pairs = library.format, set(zip(weights.tolist(), expected, strict=True))
    return max(abs(place(in_quanta(weight, fmt), fmt) - place(wanted, fmt)) for weight, wanted in pairs)


def measure(found: Sequence[Library], inputs: Sequence[Inputs]) -> dict[tuple[Library, Inputs], float]:
    """The worst error of each library on each kind of inputs; a NaN is worse than all."""
    results: dict[tuple[Library, Inputs], float] = {}
    for fmt in dict.fromkeys(library.format for library in found):
        for kind in inputs:
            print(f"{fmt.name}, {kind.name} …", file=sys.stderr, flush=True)
            columns = [(column, right(column, fmt)) for column in kind.columns(fmt)]
            for library in found:
                if library.format is fmt and columns:
                    errors = [worst(library, column, expected) for column, expected in columns]
                    results[library, kind] = math.nan if any(map(math.isnan, errors)) else max(errors)
    return results


def report(found: Sequence[Library], inputs: Sequence[Inputs], results: dict[tuple[Library, Inputs], float]) -> str:
    """The table as Markdown, with an empty cell where a kind has no columns for a format."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "torch") if find_spec(name))
    rows = []
    for library in found:
        cells = [shown(results[library, kind]) if (library, kind) in results else "" for kind in inputs]
        rows.append((library.name, library.format.name, *cells))
    lines = [f"{this_machine()} {versions}.", "", *table(("softmax", "format", *(i.name for i in inputs)), rows)]
    return "\n".join([*lines, "", *(f"- **{kind.name}**: {kind.why}" for kind in inputs)]) + "\n"


def shown(error: float) -> str:
    return "NaN" if math.isnan(error) else "infinite" if math.isinf(error) else f"{int(error):,}"


def write(folder: Path, text: str) -> None:
    """Replaces what stands between the marks of the page."""
    page = folder / PAGE
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{text}{END}{rest.partition(END)[2]}", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.softmax", description=__doc__)
    parser.add_argument("--write", type=Path, help=f"a folder whose {PAGE} is rewritten")
    options = parser.parse_args(argv)
    if not find_spec("scipy"):
        print("scipy is not installed: its rows are left out", file=sys.stderr)
    found = libraries()
    text = report(found, INPUTS, measure(found, INPUTS))
    if options.write:
        write(options.write, text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
