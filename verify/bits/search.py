"""The search: at every p up to the one that a model is wired for, is there a hard input on which it fails?

Each p is run by itself. Failure need not be monotone in p: a model may fail at 35 and 39 bits and not at 37.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from constructions.layers import Transformer
from constructions.wiring.wired import Wired
from precision.format import Arithmetic
from verify.bits.subjects import BitsSubject
from verify.dossiers.dossier import HardInput

LEAST_P = 5
TOGETHER = 20_000  # tokens of a batch, where an input has fewer
Argmax = Callable[[Sequence[Sequence[int]]], Sequence[Sequence[int]]]
"""From sequences to the argmax at each position of each."""


class PrecisionState(StrEnum):
    """What is known of a model at one n and p."""

    CERTIFIED = "certified"
    NO_FAILURE = "no failure found"
    FAILS = "fails"


@dataclass(frozen=True)
class PrecisionWitness:
    """A hard input on which a model fails: after `right` tokens of the answer it says `said`, not `expected`."""

    input: str
    right: int
    expected: str
    said: str


@dataclass(frozen=True)
class Point:
    """What was seen at one p. certified: by the static checker, for all inputs. tried: how many hard inputs there are.

    told_apart: whether no two numbers have the same embedding.
    """

    precision_bits: int
    certified: bool
    tried: int
    witness: PrecisionWitness | None
    told_apart: bool

    @property
    def state(self) -> PrecisionState:
        """A witness counts more than a certificate."""
        if self.witness is not None:
            return PrecisionState.FAILS
        return PrecisionState.CERTIFIED if self.certified else PrecisionState.NO_FAILURE


@dataclass(frozen=True)
class PrecisionRow:
    """A model at one n. wired_for: the p of its formula. points: every p from 5 on, up to that one."""

    subject: BitsSubject
    n: int
    wired_for: int
    points: tuple[Point, ...]

    @property
    def certified(self) -> int | None:
        """The least p from which on, up to `wired_for`, every p is certified for all inputs."""
        result = None
        for point in reversed(self.points):
            if point.state is not PrecisionState.CERTIFIED:
                break
            result = point.precision_bits
        return result

    @property
    def fails_at(self) -> Point | None:
        """The largest p at which a hard input fails."""
        return next((point for point in reversed(self.points) if point.witness), None)

    @property
    def passes_below(self) -> tuple[int, ...]:
        """Every smaller p at which none was seen to fail: where failure is not monotone."""
        last = self.fails_at.precision_bits if self.fails_at else 0
        return tuple(p.precision_bits for p in self.points if p.precision_bits < last and not p.witness)

    @property
    def floor(self) -> int:
        """The least p from which on no two numbers have the same embedding."""
        same = [point.precision_bits for point in self.points if not point.told_apart]
        return max(same, default=LEAST_P - 2) + 2

    @property
    def refuted(self) -> bool:
        """Returns whether it fails where it is certified, or is wired for and not as printed."""
        last = self.points[-1]
        wrong = any(point.certified and point.witness for point in self.points)
        return wrong or (last.witness is not None and self.subject.variant != "printed")


def search(subject: BitsSubject, n: int) -> PrecisionRow:
    """Returns every p."""
    wired_for, cases = subject.wired_for(n), subject.cases(n)
    points = tuple(_point(subject, n, p, cases) for p in range(LEAST_P, wired_for + 1, 2))
    return PrecisionRow(subject, n, wired_for, points)


def _point(subject: BitsSubject, n: int, precision_bits: int, cases: Sequence[HardInput]) -> Point:
    wired = subject.build(n, precision_bits)
    return Point(
        precision_bits,
        subject.is_certified(n, precision_bits),
        len(cases),
        first_failure(wired, cases, emulate(wired.model, wired.arithmetic)),
        numbers_differ(wired),
    )


def emulate(model: Transformer, arithmetic: Arithmetic) -> Argmax:
    """Runs the questions by the dense engine, which has the bits of the others."""
    from constructions.engines import dense

    def run(sequences: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
        return [found.tolist() for found in dense.run(model, arithmetic, sequences).next_tokens]

    return run


def first_failure(wired: Wired, cases: Sequence[HardInput], argmax: Argmax) -> PrecisionWitness | None:
    """Returns the first input on which the model fails; None if it is right about all. The shortest run first: most models fail
    there.
    """
    size = max(1, TOGETHER // max(len(case.tokens) for case in cases))
    for some in (cases[:1], *(cases[at : at + size] for at in range(1, len(cases), size))):
        for case, found in zip(some, argmax([case.tokens for case in some]), strict=True):
            if (place := case.first_other(found)) is not None:
                said = found[len(case.prompt) - 1 + place]
                return PrecisionWitness(case.text, place, wired.vocabulary[case.answer[place]], wired.vocabulary[said])
    return None


def numbers_differ(wired: Wired) -> bool:
    """Returns whether any two of the numbers 1 … n, of those that are tokens, have different embeddings.

    If two have the same, no weights after the embedding tell an input from the one with the two exchanged, and the output head,
    which is the embedding, gives both the same logit: whatever asks for the second is answered wrongly.
    """
    numbers = [wired.token[name] for i in range(1, wired.n + 1) if (name := str(i)) in wired.token]
    return len(np.unique(wired.model.words[numbers], axis=0)) == len(numbers)


def ladder(least: int, most: int) -> Iterator[int]:
    """Yields the least n, powers of two between, and the largest."""
    if least <= most:
        yield from sorted({least, most, *(1 << e for e in range(least.bit_length(), most.bit_length()))})
