"""One check for many n: between two n with the same weights, the inputs of the larger one contain those of all before it.

Constants are powers of two that grow with n, so weights that are equal at both ends of an interval are equal within. That they
grow is tested, not proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from verify.certificates.building import LEAST, Subject, build, precision_of
from verify.certificates.document import REFUSED, Judged, judge, weights_hash
from verify.certificates.kinds import Undecided
from verify.certificates.model import Model, Numbers

NOT_BUILT = "there are none"


@dataclass(frozen=True)
class Interval:
    """n from low to high have the same weights, at the same p."""

    low: int
    high: int
    precision_bits: int
    weights_sha256: str
    judged: Judged


def intervals(subject: Subject, bits: int) -> Iterator[Interval]:
    """Covers all n from the least one to 2^bits. Raises Undecided where n itself stands in the weights."""
    low, end = LEAST, 1 << bits
    while low <= end:
        first = blocks_hash(subject, low)
        if first.startswith(NOT_BUILT):
            yield Interval(low, low, precision_of(replace(subject, n=low)), "", Judged(REFUSED, "the weights", first))
            return
        reached, above = low, min(2 * low, end) + 1
        while above - reached > 1:
            middle = (reached + above) // 2
            if blocks_hash(subject, middle) == first:
                reached = middle
            else:
                above = middle
        if reached == low and low >= 2 * LEAST and blocks_hash(subject, low + 1) != first and _alone(subject, low):
            raise Undecided("the weights", f"they are different for every n near {low}: n itself stands in them")
        asked = replace(subject, n=reached)
        model, language = build(asked)
        yield Interval(low, reached, precision_of(asked), first, judge(model, language))
        low = reached + 1


def _alone(subject: Subject, n: int) -> bool:
    return all(blocks_hash(subject, n + i) != blocks_hash(subject, n + i + 1) for i in range(4))


def blocks_hash(subject: Subject, n: int) -> str:
    """Of all numbers of the model but the range of its vocabulary."""
    try:
        model, _ = build(replace(subject, n=n))
    except ValueError as error:
        return f"{NOT_BUILT}: {error}"
    return weights_hash(_same_vocabulary(model))


def _same_vocabulary(model: Model) -> Model:
    return replace(model, numbers=Numbers(1, 1, model.numbers.rows))
