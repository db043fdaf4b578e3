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
from verify.bits.search import Argmax, Witness, emulated, first_failure
from verify.bits.subjects import Subject

FORMATS = (FP64, FP32, BF16, FP16, FP8_E4M3, FP8_E5M2)
NATIVE = {FP64: "float64", FP32: "float32", BF16: "bfloat16", FP16: "float16"}
"""Formats in which torch can add and multiply matrices. It stores the others."""


@dataclass(frozen=True)
class Reach:
    """How far a model goes. right: the largest n below the first failure, None if that is the least n. inputs: over all n tried.

    fails: the first n of the ladder with a failure, None if there is none.
    """

    right: int | None
    inputs: int
    fails: int | None
    witness: Witness | None


@dataclass(frozen=True)
class FormatRow:
    """A model in one format. native: None where torch has no such arithmetic."""

    subject: Subject
    format: Format
    native: Reach | None
    emulated: Reach


def native(wired: Wired, float_name: str) -> Argmax:
    """By the torch module of an export, in that float; one sequence at a time, as sums may depend on the batch."""
    import torch

    from constructions.exports.program import network

    module = network(Export(wired, float_name, wired.model.longest or 1, {}, (), 0))

    def run(sequences: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
        with torch.no_grad():
            return [module(torch.tensor([list(tokens)])).argmax(-1)[0].tolist() for tokens in sequences]

    return run


def reach(subject: Subject, sizes: Sequence[int], run: Callable[[Wired], Argmax]) -> Reach:
    """Up to the first n at which a hard input fails, by models that are wired for the least p of each n."""
    right, inputs = None, 0
    for n in sizes:
        wired, cases = subject.build(n), subject.cases(n)
        inputs += len(cases)
        if witness := first_failure(wired, cases, run(wired)):
            return Reach(right, inputs, n, witness)
        right = n
    return Reach(right, inputs, None, None)


def formats(subject: Subject, sizes: Sequence[int]) -> Iterator[FormatRow]:
    """Every format, the widest first."""
    for fmt in FORMATS:
        name = NATIVE.get(fmt)
        own = None if name is None else reach(subject, sizes, partial(native, float_name=name))
        yield FormatRow(subject, fmt, own, reach(subject, sizes, partial(_in_format, fmt=fmt)))


def _in_format(wired: Wired, fmt: Format) -> Argmax:
    return emulated(wired.model, Arithmetic(fmt))


def fine_ladder(least: int, most: int) -> list[int]:
    """Every n up to 32, then eight to a doubling: a first failure is known to an eighth."""
    steps = [n for n in range(least, most + 1) if n <= 32 or n % (1 << (n.bit_length() - 4)) == 0]
    return sorted({*steps, *([most] if most >= least else [])})
