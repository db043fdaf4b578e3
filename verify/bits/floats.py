"""The same weights in floating point: in native torch, and with each operator rounded once to the same format.

Native arithmetic is not the emulated one: sums are rounded in an order of torch's choosing, softmax is not correctly rounded, and
what is too large is infinite. So nothing here is certified; what is found is a failure, or none among so many inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from constructions.exports.writing import Export
from constructions.wiring.wired import Wired
from precision.format import BF16, FP8_E4M3, FP8_E5M2, FP16, FP32, FP64, Arithmetic, Format
from verify.bits.search import Argmax, PrecisionWitness, emulate, first_failure
from verify.bits.subjects import LONGEST, BitsSubject

FORMATS = (FP64, FP32, BF16, FP16, FP8_E4M3, FP8_E5M2)
NATIVE = {FP64: "float64", FP32: "float32", BF16: "bfloat16", FP16: "float16"}
"""Formats in which torch can add and multiply matrices. It stores the others."""


@dataclass(frozen=True)
class Reach:
    """How far a model goes. right: the largest n that was tried without a failure, None if there is none. inputs: of all n tried.

    fails: the first n of the ladder with a failure, None if there is none.
    """

    right: int | None
    inputs: int
    fails: int | None
    witness: PrecisionWitness | None


@dataclass(frozen=True)
class FormatRow:
    """A model in one format. native: None where torch has no such arithmetic."""

    subject: BitsSubject
    format: Format
    native: Reach | None
    emulated: Reach


def native(wired: Wired, float_name: str) -> Argmax:
    """Returns the argmax by an export's torch module in that float, one sequence at a time: sums may depend on the batch."""
    import torch

    from constructions.exports.program import network

    module = network(Export(wired, float_name, wired.model.longest or 1, {}, (), 0))

    def run(sequences: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
        with torch.no_grad():
            return [module(torch.tensor([list(tokens)])).argmax(-1)[0].tolist() for tokens in sequences]

    return run


def reach(subject: BitsSubject, sizes: Sequence[int], digits: int, run: Callable[[Wired], Argmax]) -> Reach:
    """Measures up to the first n at which a hard input fails.

    digits: of the format. Models are wired for their least p, or for 2·digits + 1 if that is more: what R_p rounds to 0 in a
    softmax column is then below the last digit as well. At the least p alone, Counting at n = 24 takes NO for YES in fp64.
    """
    right, inputs = None, 0
    for n in sizes:
        wired, cases = subject.build(n, max(subject.wired_for(n), 2 * digits + 1)), subject.cases(n, LONGEST)
        if not cases:  # each prompt is longer
            break
        inputs += len(cases)
        if witness := first_failure(wired, cases, run(wired)):
            return Reach(right, inputs, n, witness)
        right = n
    return Reach(right, inputs, None, None)


def formats(subject: BitsSubject, sizes: Sequence[int]) -> Iterator[FormatRow]:
    """Yields every format, the widest first."""
    for fmt in FORMATS:
        name, digits = NATIVE.get(fmt), fmt.significand_bits
        own = None if name is None else reach(subject, sizes, digits, partial(native, float_name=name))
        yield FormatRow(subject, fmt, own, reach(subject, sizes, digits, partial(_convert, fmt=fmt)))


def _convert(wired: Wired, fmt: Format) -> Argmax:
    return emulate(wired.model, Arithmetic(fmt))


def fine_ladder(least: int, most: int) -> list[int]:
    """Returns every n up to 16, then four to a doubling, and the largest."""
    steps = [n for n in range(least, most + 1) if n <= 16 or n % (1 << (n.bit_length() - 3)) == 0]
    return sorted({*steps, most})
